//! What a segment carries: data, marks, the peer's FIN.

use weft_wire::tcp::flag;

use crate::card::port::Port;
use crate::connection::conn::Phase;
use crate::connection::link::Link;
use crate::interface::cm::{ConnectFailure, DisconnectReason};
use crate::rdmap::fault::Fault;
use weft_tcp::seq;
use weft_wire::terminate::TerminateCode;

use super::Seen;

impl<P: Port> Link<'_, P> {
    /// The segment's data: what the card has done, and what is left for the engine.
    pub(super) fn data(&mut self, seen: &Seen<'_>) {
        if seen.length == 0 {
            return;
        }
        self.arm_drain();
        self.window_used();
        self.take_mark(seen);
        if seen.slot_piece.is_none() {
            self.spill();
        }
        let before = self.conn.reassembly.next();
        let had_gap = self.conn.reassembly.has_gap();
        if seen.done > 0 {
            let end = seen.seq.wrapping_add(seen.done);
            if seq::le(seen.seq, before) {
                self.conn
                    .reassembly
                    .skip_to(end, &mut self.shared.buffers.pool);
            } else {
                self.conn.reassembly.note_placed(seen.seq, end);
                self.shared.stats.segments_beyond += 1;
            }
        }
        if seen.duplicate {
            // In what the card has placed beyond a gap.
            let end = seen.seq.wrapping_add(seen.length);
            self.conn.reassembly.arrived_twice(seen.seq, end);
        } else if seen.done < seen.length {
            self.shared.stats.segments_raw += 1;
            if let Some(piece) = seen.slot_piece {
                self.keep(piece);
            } else if let Some(rest) = seen.payload.get(seen.done as usize..) {
                let at = seen.seq.wrapping_add(seen.done);
                // What lies behind a FIN is not data.
                let rest = match self.conn.peer_fin {
                    Some(fin) => {
                        let room = seq::diff(fin, at).max(0) as usize;
                        &rest[..rest.len().min(room)]
                    }
                    None => rest,
                };
                let at_hand = at == before && self.conn.reassembly.is_empty();
                let mut done = if at_hand {
                    self.startup_at_hand(rest)
                } else {
                    0
                };
                if at_hand {
                    done += self.fpdus_at_hand(&rest[done..]);
                }
                let (at, rest) = (at.wrapping_add(done as u32), &rest[done..]);
                if !rest.is_empty() {
                    self.shared.stats.bytes_copied += rest.len() as u64;
                    let pool = &mut self.shared.buffers.pool;
                    let kept = self.conn.reassembly.insert(at, rest, pool);
                    self.shared.stats.segments_without_memory += u64::from(!kept);
                    let end = seen.seq.wrapping_add(seen.length);
                    let ends = !self.conn.phase.receives() || self.conn.peer_fin.is_some();
                    if seen.carried && !ends && seq::lt(self.conn.reassembly.next(), end) {
                        // The card has moved on, and these octets are nowhere.
                        self.shared.stats.streams_without_memory += 1;
                        self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
                    }
                }
            }
        }
        if self.conn.reassembly.next() == before || had_gap || self.conn.reassembly.has_gap() {
            // RFC 5681 §4.2: beyond a gap, filling one, or old.
            self.conn.ack.now = true;
            self.conn.ack.beside |= self.conn.reassembly.has_gap() || self.tells_twice();
        } else {
            let delayed = self.shared.config.delayed_ack;
            self.conn.owe_ack(self.now, delayed);
        }
        self.stream();
    }

    /// What the segment's data tells of congestion.
    fn take_mark(&mut self, seen: &Seen<'_>) {
        self.shared.stats.marked += u64::from(seen.marked && self.conn.ecn.agreed);
        if self.conn.ecn.differs(seen.marked) && self.conn.ack.pending > 0 {
            let ended = self.conn.ack.ended;
            self.conn.ack.now = true;
            self.acknowledge();
            self.conn.ack.ended = ended;
        }
        self.conn.ecn.data(seen.marked, seen.flags & flag::CWR != 0);
    }

    /// The segment's FIN, or an earlier one that is in order now.
    pub(super) fn fin(&mut self, seen: &Seen<'_>) {
        if seen.flags & flag::FIN != 0 && self.conn.peer_fin.is_none() {
            let at = seen.seq.wrapping_add(seen.length);
            if seq::le(self.conn.reassembly.next(), at) && seq::le(at, self.conn.reassembly.limit())
            {
                self.conn.peer_fin = Some(at);
            }
        }
        self.take_fin();
    }

    /// The peer's FIN, if it is in order: behind all data, and not before the card has walked over what of them lies in slots.
    pub fn take_fin(&mut self) {
        if self.conn.peer_fin != Some(self.conn.reassembly.next()) || self.conn.peer_fin_done {
            return;
        }
        if self.conn.handover.out_of_order.is_replaying() {
            return;
        }
        if !self.conn.handover.out_of_order.is_empty() {
            // Half an FPDU, and nothing comes behind it.
            self.spill();
            self.stream();
        }
        self.conn.peer_fin_done = true;
        self.conn.ack.now = true;
        if self.conn.byte_stream.is_some() {
            // Its user finds out, and may have more to say.
            return;
        }
        match self.conn.phase {
            Phase::Resolving
            | Phase::Handshake
            | Phase::AwaitReply
            | Phase::AwaitRequest
            | Phase::AwaitBacklog
            | Phase::AwaitAnswer => {
                self.give_up(ConnectFailure::Closed);
            }
            Phase::AwaitFirst => {
                // The initiator closed before it said anything.
                self.give_up(ConnectFailure::NoRtr);
            }
            Phase::Established => self.finish(DisconnectReason::Peer),
            Phase::Closing => self.finish(DisconnectReason::Local),
            Phase::Finishing | Phase::Draining | Phase::Finished => self.conn.fin_queued = true,
        }
    }
}
