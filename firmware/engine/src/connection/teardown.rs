//! How connections end: in order, by a Terminate, by RST, by silence.

use alloc::boxed::Box;

use weft_wire::mpa::{Extensions, RtrKinds};
use weft_wire::terminate::{Terminate, TerminateCode, MAX_TERMINATE};

use crate::card::port::Port;
use crate::connection::conn::{OutgoingTerminate, Phase, Role, TcpState, TeardownReport};
use crate::connection::in_flight::Origin;
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, DisconnectReason, Event, PrivateData, Revision};
use crate::interface::verbs::{status_of, QpState, Status};
use crate::mpa::negotiation::Proposal;
use crate::rdmap::fault::Fault;

impl<P: Port> Link<'_, P> {
    /// The peer broke a rule: one Terminate, then close.
    pub fn fault(&mut self, fault: &Fault) {
        let ddp = fault.ddp.as_ref();
        let ddp = ddp.map(|(length, header, used)| (*length, &header[..usize::from(*used)]));
        let read_request = fault.read_request.as_ref().map(|request| &request[..]);
        self.send_terminate(fault.code, ddp, read_request);
    }

    /// Queues the Terminate, unless there has been one, and closes behind it.
    pub fn send_terminate(
        &mut self,
        code: TerminateCode,
        ddp: Option<(u16, &[u8])>,
        read_request: Option<&[u8]>,
    ) {
        if self.conn.terminated.is_some() || !self.conn.committed {
            return;
        }
        let mut bytes = [0; MAX_TERMINATE];
        let terminate = Terminate {
            code,
            ddp,
            read_request,
            siw_layout: false,
        };
        let length = terminate.write(&mut bytes).unwrap_or(0);
        self.conn.terminate = Some(Box::new(OutgoingTerminate { bytes, length }));
        self.conn.terminated = Some(code);
        self.conn.may_send = true;
        self.stop(Some(code), false);
    }

    /// The peer says that this side broke a rule.
    pub fn terminated_by_peer(&mut self, code: Option<TerminateCode>) {
        if self.conn.terminated.is_some() {
            return;
        }
        self.conn.terminated = Some(code.unwrap_or(TerminateCode::RDMAP_UNSPECIFIED));
        // Where nothing stands yet, the start-up failed for the reason that the peer says.
        let failure = match code {
            Some(TerminateCode::MPA_NO_MATCHING_RTR) => ConnectFailure::NoMatchingRtr,
            Some(TerminateCode::MPA_INSUFFICIENT_IRD) => ConnectFailure::InsufficientReads,
            _ => ConnectFailure::Closed,
        };
        self.conclude(failure, DisconnectReason::Terminated);
        self.conn.first_status = code.map(status_of);
        self.stop(code, true);
    }

    /// The card could not read the memory of a message: it can never be sent, and nothing behind
    /// it can, not even a Terminate.
    pub fn local_failure(&mut self, job: u32) {
        if self.replay_failed(job) {
            return;
        }
        let Some(segment) = self
            .conn
            .in_flight
            .iter()
            .find(|segment| segment.job == job)
        else {
            return;
        };
        self.unreadable(segment.origin);
    }

    /// The memory of a message could not be read.
    pub fn unreadable(&mut self, origin: Origin) {
        if let (Origin::Request(number, _), Some(qp)) = (origin, self.qp.as_mut()) {
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.outcome = Some(Status::LocalProtection);
            }
        }
        if self.conn.terminated.is_none() {
            self.conn.terminated = Some(TerminateCode::RDMAP_LOCAL);
            self.stop(None, false);
        }
        self.reset(ConnectFailure::Closed, DisconnectReason::Terminated);
    }

    /// A segment of a Read Response was lost whose source is no longer registered. It cannot be sent again, so
    /// nothing behind it can arrive, not even a Terminate.
    pub fn source_gone_for_good(&mut self) {
        self.shared.stats.reads_revoked += 1;
        if self.conn.terminated.is_none() {
            self.conn.terminated = Some(TerminateCode::RDMAP_STAG);
            self.stop(None, false);
        }
        self.reset(ConnectFailure::Closed, DisconnectReason::Terminated);
    }

    fn stop(&mut self, terminate: Option<TerminateCode>, received: bool) {
        self.detach();
        if let Some(qp) = self.qp.as_mut() {
            qp.state = QpState::Terminating;
            let qp = qp.id;
            self.tell(Event::QpFatal {
                qp,
                terminate,
                received,
            });
        }
        self.finish(DisconnectReason::Terminated);
    }

    /// Nothing new is sent or taken; FIN follows what was sent.
    pub fn finish(&mut self, reason: DisconnectReason) {
        if matches!(
            self.conn.phase,
            Phase::Finishing | Phase::Draining | Phase::Finished
        ) {
            return;
        }
        self.conclude(ConnectFailure::NoRtr, reason);
        self.conn.phase = Phase::Finishing;
        self.conn.fin_queued = true;
        self.arm_close();
        self.conn
            .reassembly
            .consume(usize::MAX, &mut self.shared.buffers.pool);
    }

    /// The start-up cannot go on: TCP is closed in order.
    pub fn give_up(&mut self, failure: ConnectFailure) {
        if self.can_fall_back(failure) {
            self.conn.teardown_report = TeardownReport::Failed(failure);
            self.lost(failure, DisconnectReason::Peer);
            return;
        }
        self.conclude(failure, DisconnectReason::Peer);
        self.finish(DisconnectReason::Peer);
    }

    /// A peer that knows only revision 1 closes instead of replying (RFC 6581 §5).
    fn can_fall_back(&self, failure: ConnectFailure) -> bool {
        self.conn.fall_back
            && failure == ConnectFailure::Closed
            && self.conn.phase == Phase::AwaitReply
    }

    /// TCP is gone.
    pub fn lost(&mut self, failure: ConnectFailure, reason: DisconnectReason) {
        if self.can_fall_back(failure) {
            // The engine sees it and connects again.
            self.conn.tcp = TcpState::Dead;
            self.conn.timers.clear();
            return;
        }
        self.conclude(failure, reason);
        self.conn.tcp = TcpState::Dead;
        self.conn.timers.clear();
        self.detach();
        if self.conn.phase != Phase::Finished {
            self.conn.phase = Phase::Draining;
        }
    }

    /// True if the connection is to be tried again with revision 1.
    pub fn wants_fall_back(&self) -> bool {
        self.conn.tcp == TcpState::Dead && self.can_fall_back(ConnectFailure::Closed)
    }

    /// RST, and TCP is gone.
    pub fn reset(&mut self, failure: ConnectFailure, reason: DisconnectReason) {
        if matches!(self.conn.tcp, TcpState::Open | TcpState::SynReceived) {
            self.send_reset();
        }
        self.conn.fall_back = false;
        self.lost(failure, reason);
    }

    /// Decides what the application will hear, unless that is decided already.
    fn conclude(&mut self, failure: ConnectFailure, reason: DisconnectReason) {
        if !matches!(self.conn.teardown_report, TeardownReport::Silent) {
            return;
        }
        self.conn.teardown_report = match self.conn.phase {
            Phase::Finished | Phase::Finishing | Phase::Draining => return,
            // The application has not heard of it, unless it was its stream.
            Phase::AwaitRequest if self.conn.qp.is_none() => TeardownReport::Silent,
            Phase::Handshake if !self.is_initiator() => TeardownReport::Silent,
            Phase::AwaitBacklog => TeardownReport::Silent,
            // It said no.
            Phase::AwaitAnswer if reason == DisconnectReason::Local => TeardownReport::Silent,
            _ if self.conn.reported => TeardownReport::Disconnected(reason),
            _ => TeardownReport::Failed(failure),
        };
    }

    /// The application closes in order.
    pub fn disconnect(&mut self) {
        match self.conn.phase {
            Phase::Established if self.conn.byte_stream.is_some() => self.close_byte_stream(),
            Phase::Established => {
                self.conn.phase = Phase::Closing;
                self.arm_drain();
                if let Some(qp) = self.qp.as_mut() {
                    qp.state = QpState::Closing;
                    qp.sq.limit = Some(qp.sq.posted);
                }
            }
            Phase::Closing | Phase::Finishing | Phase::Draining | Phase::Finished => {}
            _ => {
                // Nothing stands yet, and the application does not want to hear more.
                self.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
                self.conn.teardown_report = TeardownReport::Silent;
            }
        }
    }

    /// Connects once more, with revision 1.
    pub fn fall_back(&mut self, local_port: Option<u16>) {
        self.unbind();
        let Some(port) = local_port else {
            self.conn.fall_back = false;
            self.lost(ConnectFailure::Closed, DisconnectReason::Peer);
            self.housekeeping();
            return;
        };
        let old = &mut *self.conn;
        let mut local = old.local;
        local.port = port;
        let between = (local, old.remote);
        let mut conn = self
            .shared
            .new_conn(old.id, Role::Initiator, between, self.now);
        conn.qp = old.qp;
        conn.reassembly.accept(&mut self.shared.buffers.pool);
        (conn.routed, conn.remote_mac, conn.mtu) = (old.routed, old.remote_mac, old.mtu);
        conn.set_tos(old.tos);
        conn.private_data = core::mem::take(&mut old.private_data);
        conn.proposal = old.proposal.map(|proposal| Proposal {
            revision: Revision::Rev1,
            rtr: RtrKinds::NONE,
            extensions: Extensions::NONE,
            ..proposal
        });
        self.shared.buffers.take_back(self.conn);
        self.conn.reassembly.release(&mut self.shared.buffers.pool);
        self.shared.slots.free_all(self.conn);
        *self.conn = conn;
        self.start();
        self.housekeeping();
    }

    /// Nor does one that has something left to do, if nothing comes of it.
    pub fn arm_drain(&mut self) {
        if self.conn.phase == Phase::Closing && !self.conn.fin_queued {
            let at = self.now.saturating_add(self.shared.config.drain_timeout);
            self.conn.timers.set(Timer::Phase, Some(at));
        }
    }

    /// A closing connection does not wait for ever.
    pub fn arm_close(&mut self) {
        let at = self.now.saturating_add(self.shared.config.close_timeout);
        self.conn.timers.set(Timer::Phase, Some(at));
    }

    /// IdlePolls whether the connection can take the next step towards its end. Called after
    /// everything else.
    pub fn housekeeping(&mut self) {
        self.retire();
        self.try_stream_to_mpa();
        self.refuse_impossible_read();
        if self.conn.phase == Phase::Closing && !self.conn.fin_queued {
            let drained = match self.conn.byte_stream {
                Some(_) => self.stream_is_sent(),
                None => self.qp.as_ref().is_none_or(|qp| {
                    qp.sq.is_drained() && qp.reads.is_empty() && qp.responses.is_empty()
                }),
            };
            if drained && !self.conn.rtr_pending {
                self.conn.fin_queued = true;
                self.arm_close();
                self.transmit();
            }
        }
        let ends = match self.conn.phase {
            Phase::Finishing => self.conn.in_flight.is_empty() && self.conn.terminate.is_none(),
            Phase::Draining => self.conn.in_flight.is_empty(),
            _ => false,
        };
        if ends {
            self.end();
        }
        if self.conn.tcp == TcpState::Open && self.conn.fin_acked() && self.conn.peer_fin_done {
            if self.conn.closed_first {
                self.conn.tcp = TcpState::TimeWait;
                self.conn.timers.clear();
                let at = self.now.saturating_add(self.shared.config.time_wait);
                self.conn.timers.set(Timer::Phase, Some(at));
                self.transmit();
            } else {
                self.conn.tcp = TcpState::Dead;
                self.conn.timers.clear();
            }
            // Jobs may still have to be waited for.
            self.retire();
        }
        if self.stream_is_over() {
            self.conclude(ConnectFailure::Closed, self.who_closed());
            self.end();
        }
    }

    /// A Read that was posted before it was known that the peer takes none.
    fn refuse_impossible_read(&mut self) {
        let sends = matches!(self.conn.phase, Phase::Established | Phase::Closing);
        if !sends || self.conn.agreed.ord > 0 {
            return;
        }
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        if qp.sq.next().is_some_and(|work| work.is_read()) {
            let number = qp.sq.started;
            if let Some(entry) = qp.sq.get_mut(number) {
                entry.outcome = Some(Status::RemoteOperation);
            }
            self.send_terminate(TerminateCode::RDMAP_LOCAL, None, None);
            self.transmit();
        }
    }

    /// The queue pair is flushed and leaves, and the application hears of it. TCP may live on for
    /// its last segments.
    fn end(&mut self) {
        self.unbind();
        let mut name = None;
        if let Some(qp) = self.qp.as_mut() {
            name = Some(qp.id);
            qp.conn = None;
            for read in qp.reads.drain(..).filter(|read| read.open) {
                self.shared.regions.close_sink(read.stag, self.port);
            }
            if self.conn.committed {
                let first = self.conn.first_status;
                qp.flush(
                    first,
                    &mut self.shared.regions,
                    &mut self.shared.queues.completions,
                );
                self.shared.outbox.last_wqe(qp.receives, qp.id);
            } else {
                // Nothing was sent or received for it: it may be connected again.
                qp.state = QpState::Idle;
            }
        }
        self.conn.qp = None;
        self.conn.early.forget();
        let stream = self.conn.byte_stream.take();
        let stream = stream.map(|bytes| bytes.end(&mut self.shared.regions));
        let stream = stream.is_some();
        self.conn.phase = Phase::Finished;
        let conn = self.conn.id;
        match (core::mem::take(&mut self.conn.teardown_report), name) {
            (TeardownReport::Silent, _) => {}
            (TeardownReport::Failed(reason), _) => self.tell(Event::ConnectError { conn, reason }),
            (TeardownReport::Rejected { ird, ord }, _) => {
                let private_data = PrivateData::new(&self.conn.private_data);
                self.tell(Event::Rejected {
                    conn,
                    private_data,
                    ird,
                    ord,
                });
            }
            (TeardownReport::Disconnected(reason), Some(qp)) if stream => {
                self.tell(Event::StreamClosed { conn, qp, reason });
            }
            (TeardownReport::Disconnected(reason), Some(qp)) => {
                self.tell(Event::Disconnected { conn, qp, reason });
            }
            (TeardownReport::Disconnected(_), None) => {}
        }
    }
}
