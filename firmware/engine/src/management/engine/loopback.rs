//! The loopback, queue pairs that are connected inside a host: no TCP, no MPA, no card. The engine keeps their domains, regions and queues, and checks; who
//! runs the engine moves the bytes, and has the connection's name and its events.
//!
//! ```text
//!   sender's engine                                      receiver's engine
//!   poll_loopback    a queue pair has something to send
//!   next_message   what, and where its bytes are    ──►  receive    where they go, or the Terminate
//!                                                        received   the receive is completed
//!   message_done   the send is completed             ◄──
//! ```

use alloc::vec::Vec;

use weft_wire::checks::{self, Violation};
use weft_wire::rdmap::Atomic;
use weft_wire::terminate::TerminateCode;

use super::Engine;
use crate::card::port::Port;
use crate::interface::cm::{ConnId, DisconnectReason, Event};
use crate::interface::error::Error;
use crate::interface::verbs::{status_of, Access, QpId, QpState, Status};
use crate::memory::region::IovaRange;
use crate::queues::issue::{issue_next, Issued};
use crate::queues::loopback::{message_kind, Carried, LoopbackEvent, Message, MessageKind};
use crate::queues::qp::{Loopback, Qp, Received, Receives};

impl Engine {
    fn loopback_qp(&mut self, qp: QpId) -> Result<&mut Qp, Error> {
        let found = self.qps.get_mut(usize::from(qp.flow));
        let found = found.and_then(|found| found.as_deref_mut());
        found.filter(|found| found.id == qp).ok_or(Error::UnknownQp)
    }

    /// May this queue pair ask for a connection by the loopback? Whether an XRC target has to accept it.
    pub fn check_loopback_caller(&self, qp: QpId) -> Result<bool, Error> {
        self.check_loopback(qp)?;
        match self.qp(qp)?.receives {
            Receives::Domain(..) => Err(Error::WrongQpKind),
            receives => Ok(receives == Receives::Nowhere),
        }
    }

    /// May this queue pair accept a connection by the loopback, of an XRC initiator or of none?
    pub fn check_loopback_accepter(&self, qp: QpId, xrc: bool) -> Result<(), Error> {
        self.check_loopback(qp)?;
        let receives = self.qp(qp)?.receives;
        let is_target = matches!(receives, Receives::Domain(..));
        match receives != Receives::Nowhere && is_target == xrc {
            true => Ok(()),
            false => Err(Error::WrongQpKind),
        }
    }

    /// The connection that a queue pair has by the loopback.
    pub fn loopback_of(&self, qp: QpId) -> Option<ConnId> {
        let loopback = self.qp(qp).ok()?.loopback?;
        Some(loopback.conn)
    }

    /// Has this queue pair no connection yet?
    fn check_loopback(&self, qp: QpId) -> Result<(), Error> {
        let qp = self.qp(qp)?;
        match qp.state == QpState::Idle && qp.conn.is_none() && qp.loopback.is_none() {
            true => Ok(()),
            false => Err(Error::WrongQpState),
        }
    }

    /// Makes a queue pair one end of a connection that is not the engine's: it may send, also what was posted before, and so many Reads at a time (0: none).
    pub fn connect_loopback(&mut self, qp: QpId, conn: ConnId, ord: u16) -> Result<(), Error> {
        self.check_loopback(qp)?;
        let queue = self.loopback_qp(qp)?;
        queue.state = QpState::Rts;
        queue.loopback = Some(Loopback {
            conn,
            reads: ord > 0,
            told: true,
            waits: false,
        });
        let posted = LoopbackEvent::Posted(conn);
        self.shared.outbox.loopback_events.push_back(posted);
        Ok(())
    }

    /// An event of a connection that is not the engine's, for the same reader.
    pub fn tell(&mut self, event: Event) {
        self.shared.outbox.events.push_back(event);
    }

    /// Has a queue pair on the loopback something to say?
    #[inline]
    pub fn has_loopback_events(&self) -> bool {
        !self.shared.outbox.loopback_events.is_empty() || self.shared.regions.has_freed()
    }

    /// What has become of queue pairs on the loopback, the oldest first.
    pub fn poll_loopback(&mut self) -> Option<LoopbackEvent> {
        if self.shared.regions.take_freed() {
            self.wake_waiting();
        }
        self.shared.outbox.loopback_events.pop_front()
    }

    /// A queue pair on the loopback has something new.
    pub(super) fn loopback_posted(&mut self, qp: QpId) {
        let Ok(queue) = self.loopback_qp(qp) else {
            return;
        };
        if let Some(loopback) = queue.loopback.as_mut().filter(|loopback| !loopback.told) {
            loopback.told = true;
            let conn = loopback.conn;
            self.shared
                .outbox
                .loopback_events
                .push_back(LoopbackEvent::Posted(conn));
        }
    }

    /// Issues the entries of a queue pair on the loopback, up to the first one that sends. False: there is none, or it waits.
    fn issue_entries<P: Port>(&mut self, qp: QpId, port: &mut P) -> Result<bool, Status> {
        let shared = &mut self.shared;
        while let Some(queue) = self.qps[usize::from(qp.flow)].as_deref_mut() {
            let is_next = queue.sq.next().is_some();
            if let Some(loopback) = queue.loopback.as_mut() {
                (loopback.told, loopback.waits) = (is_next, false);
            }
            if !is_next {
                break;
            }
            match issue_next(queue, &mut shared.regions, port) {
                Issued::Done => {
                    queue.complete_sends(&mut shared.regions, &mut shared.queues.completions)
                }
                Issued::Begun => return Ok(true),
                Issued::Waits => {
                    if let Some(loopback) = queue.loopback.as_mut() {
                        loopback.waits = true;
                    }
                    break;
                }
                Issued::Failed(status) => return Err(status),
            }
        }
        Ok(false)
    }

    /// What waits until a region is let go may be tried again: one was.
    fn wake_waiting(&mut self) {
        for queue in self.qps.iter_mut().flatten() {
            if let Some(loopback) = queue.loopback.as_mut().filter(|loopback| loopback.waits) {
                loopback.waits = false;
                self.shared
                    .outbox
                    .loopback_events
                    .push_back(LoopbackEvent::Posted(loopback.conn));
            }
        }
    }

    /// The next message that a queue pair on the loopback sends; it is in flight then. What sends nothing and is before it is done.
    /// `Err`: it cannot be had (its memory is gone, the connection has no Reads), and nothing behind it can be sent.
    pub fn next_message<P: Port>(
        &mut self,
        qp: QpId,
        port: &mut P,
    ) -> Option<Result<Message, Status>> {
        self.loopback_qp(qp).ok()?.loopback?;
        match self.issue_entries(qp, port) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(status) => return Some(Err(status)),
        }
        let regions = &self.shared.regions;
        let queue = self.qps.get_mut(usize::from(qp.flow))?.as_deref_mut()?;
        if queue.id != qp {
            return None;
        }
        let loopback = queue.loopback?;
        let work = queue.sq.next()?;
        let number = queue.sq.started;
        let Some(kind) = message_kind(work.action()) else {
            return Some(Err(Status::RemoteOperation));
        };
        if work.is_read() && !loopback.reads {
            return Some(Err(Status::RemoteOperation));
        }
        let (pd, needs) = (queue.config.pd, work.needs());
        let carried = match work.inline() {
            Some(bytes) => Some(Carried::Inline(bytes)),
            None => work
                .pieces()
                .map(|piece| {
                    if !work.is_read() {
                        return Some((piece.at, piece.length));
                    }
                    let place = regions.local(pd, piece.stag, piece.at, piece.length, needs);
                    place.ok().map(|place| (place.iova, place.length))
                })
                .collect::<Option<_>>()
                .map(Carried::Pieces),
        };
        let Some(carried) = carried else {
            return Some(Err(Status::LocalProtection));
        };
        let length = work.length;
        queue.sq.started = number.wrapping_add(1);
        Some(Ok(Message {
            number,
            kind,
            length,
            carried,
        }))
    }

    /// Checks a message that comes to a queue pair on the loopback as the card and RDMAP would, and says where its bytes go (of a Read: where they are):
    /// IOVA and bytes; an atomic's are [`Self::receive_atomic`]'s. `Err`: the Terminate. Nothing is completed yet.
    /// A Send takes an element of the shared queue, if there is one.
    pub fn receive<P: Port>(
        &mut self,
        qp: QpId,
        message: &Message,
        port: &mut P,
    ) -> Result<Vec<(u64, u32)>, TerminateCode> {
        let mut of_element = None;
        if let MessageKind::Send { srq, .. } = message.kind {
            let queue = self.qps.get_mut(usize::from(qp.flow));
            let queue = queue.and_then(|queue| queue.as_deref_mut());
            if let Some(queue) = queue.filter(|queue| queue.id == qp) {
                let event = self.shared.take_shared(queue, srq, port);
                let event = event.map_err(Violation::of_segment)?;
                self.shared.outbox.events.extend(event);
                of_element = self.shared.queues.element_pd(queue);
            }
        }
        let regions = &self.shared.regions;
        let qp = self.qp(qp).map_err(|_| TerminateCode::DDP_LOCAL)?;
        let (pd, id, length) = (qp.config.pd, qp.id, message.length);
        let one = |piece: IovaRange| Vec::from([(piece.iova, piece.length)]);
        match message.kind {
            // Without a byte neither STag nor TO is looked at.
            MessageKind::Write { .. } | MessageKind::Read { .. } if length == 0 => Ok(Vec::new()),
            MessageKind::Write { stag, to } => regions
                .remote((pd, id), stag, to, length, Access::REMOTE_WRITE)
                .map(one)
                .map_err(Violation::of_segment),
            MessageKind::Read { stag, to } => regions
                .remote((pd, id), stag, to, length, Access::REMOTE_READ)
                .map(one)
                .map_err(Violation::of_read_source),
            MessageKind::Atomic { .. } => Ok(Vec::new()),
            MessageKind::Send { .. } => {
                let violation = |violation: Violation| violation.of_segment();
                let element = qp.rq.get(qp.rq.completed);
                let element = element.ok_or(violation(Violation::NoBuffer))?;
                // The shared queue of an XRC domain may be of another protection domain than the target.
                let pd = of_element.ok_or(violation(Violation::Element))?;
                if element.fault.is_some() {
                    return Err(violation(Violation::Element));
                }
                checks::fit(0, length as usize, element.length.into()).map_err(violation)?;
                let lengths = element.sges.iter().map(|sge| sge.length);
                checks::scatter(lengths, 0, length as usize)
                    .map(|run| {
                        let (sge, count) = (element.sges[run.sge], run.bytes.len() as u32);
                        let needs = Access::LOCAL_WRITE;
                        let piece = regions.local(pd, sge.stag, sge.to, count, needs);
                        let piece = piece.map_err(|_| violation(Violation::Element))?;
                        Ok((piece.iova, piece.length))
                    })
                    .collect()
            }
        }
    }

    /// Does an atomic that comes to a queue pair on the loopback; what was there before.
    pub fn receive_atomic<P: Port>(
        &mut self,
        qp: QpId,
        (stag, to): (u32, u64),
        atomic: &Atomic,
        port: &mut P,
    ) -> Result<u64, TerminateCode> {
        let queue = self.qps.get(usize::from(qp.flow));
        let queue = queue.and_then(|queue| queue.as_deref());
        let queue = queue.filter(|queue| queue.id == qp);
        let queue = queue.ok_or(TerminateCode::DDP_LOCAL)?;
        self.shared.do_atomic(queue, (stag, to), atomic, port)
    }

    /// The bytes of a message are in their place. `immediate`: its 8 bytes, if it is one of the 8 bytes that a completion has (RFC 7306 §6).
    pub fn received<P: Port>(
        &mut self,
        qp: QpId,
        message: &Message,
        immediate: Option<u64>,
        port: &mut P,
    ) -> Result<(), TerminateCode> {
        let MessageKind::Send {
            solicited,
            invalidate,
            ..
        } = message.kind
        else {
            return Ok(());
        };
        let pd = self.qp(qp).map_err(|_| TerminateCode::DDP_LOCAL)?.config.pd;
        if let Some(stag) = invalidate {
            self.shared.regions.invalidate(pd, qp, stag, port)?;
        }
        if let Some(queue) = self.qps[usize::from(qp.flow)].as_deref_mut() {
            queue.complete_recv(
                &Received {
                    byte_len: message.length,
                    solicited,
                    invalidated: invalidate,
                    immediate,
                    status: Status::Success,
                },
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
        }
        Ok(())
    }

    /// A message has arrived.
    pub fn message_done(&mut self, qp: QpId, number: u32) {
        let Some(queue) = self.qps.get_mut(usize::from(qp.flow)) else {
            return;
        };
        if let Some(queue) = queue.as_deref_mut().filter(|queue| queue.id == qp) {
            if let Some(entry) = queue.sq.get_mut(number) {
                entry.outcome = Some(Status::Success);
            }
            queue.complete_sends(
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
        }
    }

    /// Its connection is over, and with it the queue pair: what is left in it is flushed. `terminate`: why, if a rule was broken, and whether
    /// the peer says so; of what the peer refuses, the oldest work request ends with its status.
    pub fn part_qp(
        &mut self,
        qp: QpId,
        terminate: Option<(TerminateCode, bool)>,
        reason: DisconnectReason,
    ) {
        let first = terminate.filter(|(_, received)| *received);
        let first = first.map(|(code, _)| status_of(code));
        let fatal = terminate.map(|(code, received)| (Some(code), received));
        self.part(qp, first, fatal, reason);
    }

    /// The same for work whose own side is at fault.
    pub fn part_failed(&mut self, qp: QpId, status: Status) {
        let fatal = Some((None, false));
        self.part(qp, Some(status), fatal, DisconnectReason::Terminated);
    }

    fn part(
        &mut self,
        qp: QpId,
        first: Option<Status>,
        fatal: Option<(Option<TerminateCode>, bool)>,
        reason: DisconnectReason,
    ) {
        let shared = &mut self.shared;
        let queue = self.qps.get_mut(usize::from(qp.flow));
        let queue = queue.and_then(|queue| queue.as_deref_mut());
        let Some(queue) = queue.filter(|queue| queue.id == qp) else {
            return;
        };
        let Some(loopback) = queue.loopback.take() else {
            return;
        };
        queue.flush(first, &mut shared.regions, &mut shared.queues.completions);
        let receives = queue.receives;
        shared.outbox.last_wqe(receives, qp);
        if let Some((terminate, received)) = fatal {
            shared.outbox.events.push_back(Event::QpFatal {
                qp,
                terminate,
                received,
            });
        }
        let conn = loopback.conn;
        shared
            .outbox
            .events
            .push_back(Event::Disconnected { conn, qp, reason });
    }

    /// A queue pair on the loopback fails by command, or goes. True: it was one.
    pub(super) fn abandon_loopback(&mut self, qp: QpId) -> bool {
        let Ok(queue) = self.loopback_qp(qp) else {
            return false;
        };
        let Some(conn) = queue.loopback.as_ref().map(|loopback| loopback.conn) else {
            return false;
        };
        self.part(qp, None, None, DisconnectReason::Aborted);
        self.shared
            .outbox
            .loopback_events
            .push_back(LoopbackEvent::Gone(conn));
        true
    }

    /// A queue pair on the loopback is to be closed in order. True: it is one.
    pub fn close_loopback(&mut self, qp: QpId) -> bool {
        let Ok(queue) = self.loopback_qp(qp) else {
            return false;
        };
        let Some(conn) = queue.loopback.as_ref().map(|loopback| loopback.conn) else {
            return false;
        };
        queue.state = QpState::Closing;
        queue.sq.limit = Some(queue.sq.posted);
        self.shared
            .outbox
            .loopback_events
            .push_back(LoopbackEvent::Closing(conn));
        true
    }
}
