//! The messages of the loop: taken from one queue pair, checked at the other, copied from region to region.

use weft_engine::{ConnId, DisconnectReason, LoopbackEvent, Message, MessageKind, TerminateCode};

use super::{lock, End, Exchange};
use crate::device::{Device, MessageBytes, State};

impl Exchange {
    /// Does what the members' queue pairs have to say, unless another thread is at it: then that one does.
    pub(super) fn look(&self, member: usize) {
        {
            let mut work = lock(&self.work);
            if !work.members.contains(&member) {
                work.members.push_back(member);
            }
            if work.taken {
                return;
            }
            work.taken = true;
        }
        while let Some(number) = self.next_member() {
            if let Some(device) = self.member(number) {
                self.serve(&device);
            }
        }
    }

    /// Who is to be looked at next; `None`: nobody, and no thread is at it.
    fn next_member(&self) -> Option<usize> {
        let mut work = lock(&self.work);
        let next = work.members.pop_front();
        work.taken = next.is_some();
        next
    }

    fn serve(&self, device: &Device) {
        loop {
            let mut state = device.lock();
            let here = state.place.here();
            let news = here.and_then(|(engine, _)| engine.poll_loopback());
            drop(state);
            match news {
                None => return,
                Some(LoopbackEvent::Posted(conn)) => self.move_messages(conn),
                Some(LoopbackEvent::Closing(conn)) => {
                    self.move_messages(conn);
                    self.end(conn, None, DisconnectReason::Local);
                }
                Some(LoopbackEvent::Gone(conn)) => self.end(conn, None, DisconnectReason::Aborted),
            }
        }
    }

    /// Moves all that a queue pair has to send.
    fn move_messages(&self, conn: ConnId) {
        while let Some((from, to)) = self.up(conn) {
            let Some((sender, receiver)) = self.member(from.member).zip(self.member(to.member))
            else {
                return self.end(conn, None, DisconnectReason::Reset);
            };
            if !self.move_one(conn, (&sender, &from), (&receiver, &to)) {
                return;
            }
        }
    }

    /// Moves a message; true: there may be more.
    fn move_one(
        &self,
        conn: ConnId,
        (sender, from): (&Device, &End),
        (receiver, to): (&Device, &End),
    ) -> bool {
        let (Some(from), Some(to)) = (from.qp, to.qp) else {
            return false;
        };
        let taken = {
            let mut state = sender.lock();
            let Some((engine, card)) = state.place.here() else {
                return false;
            };
            match engine.next_message(from, card) {
                None => return false,
                Some(Err(status)) => Err(status),
                Some(Ok(message)) => match state.keep(&message.carried) {
                    Some(held) => Ok((message, held)),
                    None => Err(weft_engine::Status::LocalProtection),
                },
            }
        };
        let (message, held) = match taken {
            Ok(taken) => taken,
            Err(status) => {
                let mut state = sender.lock();
                if let Some((engine, _)) = state.place.here() {
                    engine.part_failed(from, status);
                }
                state.finish_foreign_turn();
                drop(state);
                self.end(conn, None, DisconnectReason::Aborted);
                return false;
            }
        };
        let arrived = match receiver.check_fault() {
            Err(_) => {
                self.end(conn, None, DisconnectReason::Reset);
                return false;
            }
            Ok(()) => {
                let mut state = receiver.lock();
                // Receives that were posted before this.
                let now = receiver.now();
                state.take_posted(now);
                let arrived = place(&mut state, to, &message, &held);
                state.finish_foreign_turn();
                arrived
            }
        };
        match arrived {
            Ok(()) => {
                let mut state = sender.lock();
                if let Some((engine, _)) = state.place.here() {
                    engine.message_done(from, message.number);
                }
                state.finish_foreign_turn();
                true
            }
            Err(code) => {
                tracing::debug!(?conn, ?code, "a message was refused");
                self.end(conn, Some(code), DisconnectReason::Terminated);
                false
            }
        }
    }
}

/// Checks a message at the receiver's and copies it.
fn place(
    state: &mut State,
    qp: weft_engine::QpId,
    message: &Message,
    held: &MessageBytes,
) -> Result<(), TerminateCode> {
    let (engine, card) = state.place.here().ok_or(TerminateCode::DDP_LOCAL)?;
    if let MessageKind::Atomic { stag, to, atomic } = message.kind {
        let before = engine.receive_atomic(qp, (stag, to), &atomic, card)?;
        let before = MessageBytes::Inline(before.to_le_bytes().into());
        return before.copy_to(held).ok_or(TerminateCode::DDP_LOCAL);
    }
    let places = engine.receive(qp, message, card)?;
    let there = state.keep_pieces(&places);
    let copied = there.and_then(|there| match message.kind {
        MessageKind::Read { .. } => there.copy_to(held),
        _ => held.copy_to(&there),
    });
    copied.ok_or(TerminateCode::DDP_LOCAL)?;
    let immediate = match message.kind {
        MessageKind::Send {
            immediate: true, ..
        } => held.immediate(),
        _ => None,
    };
    let (engine, card) = state.place.here().ok_or(TerminateCode::DDP_LOCAL)?;
    engine.received(qp, message, immediate, card)
}
