//! The MPA start-up of a connection (RFC 5044 §7.1, RFC 6581).

use alloc::vec;
use alloc::vec::Vec;

use weft_wire::fpdu::Markers;
use weft_wire::mpa::{
    Enhanced, Extensions, FrameError, FrameKind, RtrKinds, StartupFrame, MAX_FRAME,
};
use weft_wire::terminate::TerminateCode;

use crate::card::port::Port;
use crate::connection::conn::{Phase, TeardownReport};
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, DisconnectReason, Event, PrivateData, BUSY};
use crate::interface::verbs::QpState;
use crate::mpa::negotiation::{judge, ReplyVerdict, Request, Terms, RTR_FRAME};

impl<P: Port> Link<'_, P> {
    /// Initiator: queues the request.
    pub fn send_request(&mut self) {
        let Some(proposal) = self.conn.proposal else {
            return;
        };
        let data = core::mem::take(&mut self.conn.private_data);
        self.queue_startup(&proposal.request(&data));
        if self.conn.fall_back {
            self.conn.private_data = data;
        }
    }

    fn queue_startup(&mut self, frame: &StartupFrame<'_>) {
        let startup = &mut self.conn.startup;
        startup.bytes = vec![0; MAX_FRAME];
        startup.length = frame.write(&mut startup.bytes).unwrap_or(0);
        startup.bytes = startup.bytes[..startup.length].to_vec();
        startup.seq = None;
        startup.sent = 0;
    }

    /// A start-up frame may be at the front of the stream. False if more bytes are needed.
    pub fn startup_frame(&mut self) -> bool {
        let mut bytes = [0; MAX_FRAME];
        let count = self.conn.reassembly.copy_front(&mut bytes);
        count > 0 && self.take_startup(&bytes[..count]) > 0
    }

    /// These octets have just arrived, in order and with nothing before them that waits: a start-up frame that is whole need not be kept. How many
    /// octets it has.
    pub fn startup_at_hand(&mut self, octets: &[u8]) -> usize {
        let starts = matches!(self.conn.phase, Phase::AwaitReply | Phase::AwaitRequest);
        match starts && self.conn.byte_stream.is_none() {
            true => self.take_startup(octets),
            false => 0,
        }
    }

    /// Takes the start-up frame that these octets at the front of the stream begin with; how many of them it has.
    fn take_startup(&mut self, octets: &[u8]) -> usize {
        let wanted = match self.conn.phase {
            Phase::AwaitReply => FrameKind::Reply,
            Phase::AwaitFirst => FrameKind::Rtr,
            _ => FrameKind::Request,
        };
        match StartupFrame::parse(octets) {
            Err(FrameError::Incomplete(_)) => 0,
            Ok((frame, length)) if frame.kind == wanted => {
                let end = self.conn.reassembly.base().wrapping_add(length as u32);
                self.conn
                    .reassembly
                    .skip_to(end, &mut self.shared.buffers.pool);
                match wanted {
                    FrameKind::Reply => self.reply_arrived(&frame),
                    FrameKind::Request => self.request_arrived(&frame),
                    FrameKind::Rtr => self.rtr_frame_arrived(),
                }
                length
            }
            Err(FrameError::Revision(_)) => {
                self.refuse_revision();
                0
            }
            // Malformed: close TCP (RFC 5044 §7.1.1).
            Ok(_) | Err(_) => {
                self.refuse();
                0
            }
        }
    }

    /// The peer does not speak MPA.
    fn refuse(&mut self) {
        self.give_up(match self.conn.phase {
            Phase::AwaitFirst => ConnectFailure::NoRtr,
            _ => ConnectFailure::InvalidReply,
        });
    }

    /// The peer speaks a revision that this side does not: close TCP and say so here (RFC 5044 §7.1.1).
    fn refuse_revision(&mut self) {
        self.shared.stats.revisions_refused += 1;
        self.give_up(ConnectFailure::UnsupportedRevision);
    }

    /// The responder waits for a frame behind its reply, and FPDUs begin behind that.
    pub(crate) fn awaits_rtr_frame(&self) -> bool {
        self.conn.phase == Phase::AwaitFirst && self.conn.agreed.rtr == Some(RtrKinds::FRAME)
    }

    /// It is there.
    fn rtr_frame_arrived(&mut self) {
        let conn = &mut *self.conn;
        let first = conn.reassembly.base();
        conn.rx_markers = Markers(conn.agreed.markers_received.then_some(first));
        if conn.rx_markers != Markers::OFF {
            // The row has them from the reply on.
            self.write_receive_row();
        }
        self.responder_established();
    }

    /// The initiator's first message has come.
    pub fn responder_established(&mut self) {
        self.established(PrivateData::default(), self.conn.request.enhanced);
    }

    fn request_arrived(&mut self, frame: &StartupFrame<'_>) {
        let Some(request) = Request::of(frame) else {
            self.refuse();
            return;
        };
        if frame.revision == 0 {
            // The RDMA Consortium's, whose DDP and RDMAP are version 0. It hears which one is spoken here.
            self.queue_startup(&request.reject(&[]));
            self.refuse_revision();
            return;
        }
        self.conn.request = request;
        self.conn.private_data = frame.private_data.to_vec();
        if self.conn.qp.is_some() {
            // The application's stream, which it has asked for its start-up.
            self.tell_request();
        } else {
            self.await_backlog();
        }
    }

    /// Responder: who connects has said all that is to be known, and waits until the backlog has room. For half as long as a start-up
    /// may take at most: then it still hears that it is rejected.
    pub(crate) fn await_backlog(&mut self) {
        self.conn.phase = Phase::AwaitBacklog;
        let wait = self.shared.config.mpa_timeout / 2;
        let at = self.now.saturating_add(wait);
        self.conn.timers.set(Timer::Phase, Some(at));
        self.shared.admission.asking.push_back(self.conn.id);
    }

    /// The application hears of a request.
    pub fn tell_request(&mut self) {
        self.conn.phase = Phase::AwaitAnswer;
        self.conn.timers.set(Timer::Phase, None);
        self.conn.known = true;
        let (conn, port, remote) = (self.conn.id, self.conn.listener, self.conn.remote);
        if self.conn.byte_stream.is_some() {
            self.tell(Event::StreamRequest { conn, port, remote });
            return;
        }
        let private_data = core::mem::take(&mut self.conn.private_data);
        let request = self.conn.request;
        self.tell(Event::ConnectRequest {
            conn,
            port,
            remote,
            private_data: PrivateData::new(&private_data),
            ird: request.enhanced.map(|e| e.ird),
            ord: request.enhanced.map(|e| e.ord),
            rtr: request.rtr(),
            revision: request.revision,
            xrc: request.extensions().contains(Extensions::XRC),
        });
    }

    /// The backlog had no room for it in time.
    pub fn reject_busy(&mut self) {
        self.shared.stats.requests_rejected += 1;
        match self.conn.byte_stream {
            None => self.reject(BUSY),
            Some(_) => self.reset(ConnectFailure::Closed, DisconnectReason::Local),
        }
    }

    fn reply_arrived(&mut self, frame: &StartupFrame<'_>) {
        let Some(proposal) = self.conn.proposal else {
            self.refuse();
            return;
        };
        let private_data = PrivateData::new(frame.private_data);
        let (agreed, wrong) = match judge(&proposal, frame) {
            ReplyVerdict::Invalid => {
                self.refuse();
                return;
            }
            ReplyVerdict::Unsupported => {
                self.refuse_revision();
                return;
            }
            ReplyVerdict::Rejected => {
                self.conn.private_data = private_data.to_vec();
                self.conn.teardown_report = TeardownReport::Rejected {
                    ird: frame.enhanced.map(|e| e.ird),
                    ord: frame.enhanced.map(|e| e.ord),
                };
                self.finish(DisconnectReason::Local);
                return;
            }
            ReplyVerdict::Accepted(agreed) => (agreed, None),
            ReplyVerdict::Terminate(agreed, code) => (agreed, Some(code)),
        };
        let by_frame = agreed.rtr == Some(RtrKinds::FRAME) && wrong.is_none();
        if by_frame {
            self.queue_startup(&RTR_FRAME);
        }
        self.agree(agreed);
        self.conn.timers.set(Timer::Phase, None);
        self.conn.may_send = true;
        if let Some(code) = wrong {
            let failure = match code {
                TerminateCode::MPA_NO_MATCHING_RTR => ConnectFailure::NoMatchingRtr,
                TerminateCode::MPA_INVALID_FRAME => ConnectFailure::NoXrc,
                _ => ConnectFailure::InsufficientReads,
            };
            self.conn.teardown_report = TeardownReport::Failed(failure);
            self.send_terminate(code, None, None);
            return;
        }
        self.conn.rtr_pending = agreed.rtr.is_some() && !by_frame;
        self.established(private_data, frame.enhanced);
    }

    /// Both sides know what holds from the next byte on, in both directions. The card has had the flow before: nothing is left
    /// that this side might not have (RFC 6581 §9.3, Terminate 2005).
    pub(crate) fn agree(&mut self, agreed: crate::interface::cm::Agreed) {
        debug_assert!(self.conn.handover.is_bound());
        let conn = &mut *self.conn;
        conn.agreed = agreed;
        conn.committed = true;
        conn.rx_markers = Markers(agreed.markers_received.then_some(conn.reassembly.base()));
        // The reply, if it is not sent yet, comes first.
        let first = conn.sender.nxt.wrapping_add(conn.startup.unsent() as u32);
        conn.tx_markers = Markers(agreed.markers_sent.then_some(first));
        if let Some(qp) = self.qp.as_mut() {
            qp.reserve_reads(agreed.ird, agreed.ord);
        }
        self.bind();
    }

    /// Responder: the application says yes; the queue pair is the link's.
    pub fn accept(&mut self, terms: &Terms, private_data: &[u8]) {
        let request = self.conn.request;
        if !self.bind() {
            // No Terminate: the responder sends no FPDU before the initiator's first (RFC 5044 §7.1.2). So it says no.
            self.conn.teardown_report = TeardownReport::Failed(ConnectFailure::NoResources);
            self.reject(&[]);
            return;
        }
        let (reply, agreed) = request.accept(terms, private_data);
        self.queue_startup(&reply);
        self.conn.phase = Phase::AwaitFirst;
        if agreed.rtr == Some(RtrKinds::SEND) {
            self.reserve_rtr_send();
        }
        self.agree(agreed);
        let config = &self.shared.config;
        let limit = match agreed.rtr {
            Some(_) => config.mpa_timeout,
            None => config.first_message_timeout,
        };
        self.conn
            .timers
            .set(Timer::Phase, Some(self.now.saturating_add(limit)));
        self.stream();
    }

    /// Responder: the application says no.
    pub fn reject(&mut self, private_data: &[u8]) {
        let request = self.conn.request;
        self.queue_startup(&request.reject(private_data));
        self.finish(DisconnectReason::Local);
    }

    /// The peer's RTR will be a Send: it takes MSN 1, but no element of the application's.
    fn reserve_rtr_send(&mut self) {
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        qp.rq.shift = 1;
        if qp.software.is_some() {
            return;
        }
        let flow = qp.id.flow();
        let mut number = qp.rq.completed;
        while let Some(entry) = qp.rq.get(number) {
            let element = crate::queues::work_request::element(entry);
            self.port.write_element(flow, qp.rq.slot(number), &element);
            number = number.wrapping_add(1);
        }
        self.port.rq_tail(flow, qp.rq.tail());
    }

    /// The connection stands; `theirs` is what the peer's start-up frame said.
    pub fn established(&mut self, private_data: PrivateData, theirs: Option<Enhanced>) {
        let Some(qp) = self.qp.as_mut() else {
            return;
        };
        qp.state = QpState::Rts;
        let qp = qp.id;
        self.conn.phase = Phase::Established;
        self.conn.private_data = Vec::new();
        self.conn.reported = true;
        self.conn.may_send = true;
        self.conn.timers.set(Timer::Phase, None);
        self.tell(Event::Established {
            conn: self.conn.id,
            qp,
            private_data,
            agreed: self.conn.agreed,
            ird: theirs.map(|theirs| theirs.ird),
            ord: theirs.map(|theirs| theirs.ord),
        });
    }
}
