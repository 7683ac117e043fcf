//! What comes in: TCP segments (RFC 9293 §3.10.7), whether the card or the engine parsed them.

mod data;
mod handshake;
mod seen;

use weft_wire::tcp::flag;

use crate::card::port::Port;
use crate::connection::conn::{Phase, Role, Startup, TcpState};
use crate::connection::in_flight::Origin;
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::interface::cm::{ConnectFailure, DisconnectReason};
use crate::interface::verbs::Status;
use crate::tcp::acceptance::{judge, timestamp, DropReason, Verdict};
use weft_tcp::sender::{Ack, Acked};
use weft_tcp::seq;

pub use seen::{is_marked, Seen};

/// Answers in a second to segments without data that were received before: window probes, keepalive.
const ANSWERS: u32 = 100;

/// Where an acceptable segment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// It has something new, or nothing, at a place in the window.
    New,
    /// All of it was received before.
    Old,
    /// Before that: nobody would send it again.
    Ancient,
}

impl<P: Port> Link<'_, P> {
    /// A segment has arrived.
    pub fn segment(&mut self, seen: &Seen<'_>) {
        self.shared.stats.segments += 1;
        self.shared.stats.segments_slow += 1;
        match self.conn.tcp {
            TcpState::Closed | TcpState::Dead => {}
            TcpState::SynSent => self.in_syn_sent(seen),
            TcpState::SynReceived => self.in_syn_received(seen),
            TcpState::Open => self.in_open(seen),
            TcpState::TimeWait => self.in_time_wait(seen),
        }
    }

    /// The peer's window, scaled.
    fn window_of(&self, seen: &Seen<'_>) -> u32 {
        let shift = match self.conn.peer_scale {
            u8::MAX => 0,
            shift => shift,
        };
        u32::from(seen.window) << shift
    }

    fn in_open(&mut self, seen: &Seen<'_>) {
        if seen.flags & (flag::SYN | flag::RST) != 0 {
            self.reset_or_syn(seen);
            return;
        }
        let rcv_nxt = self.conn.rcv_nxt();
        let fit = match self.fit(seen) {
            Ok(fit) => fit,
            Err(refusal) => {
                self.refused(refusal);
                return;
            }
        };
        match fit {
            Fit::New => {}
            Fit::Old => {
                self.answer_old(seen);
                return;
            }
            Fit::Ancient => {
                self.shared.stats.duplicates += 1;
                self.challenge();
                return;
            }
        }
        // Of several segments that one acknowledgment answers, the first one's timestamp (RFC 7323 §4.3).
        let first = self.conn.ack.pending == 0 && seq::le(seen.seq, rcv_nxt);
        // Nothing of the segment is used before its acknowledgment number is judged.
        if self.take_acknowledgment(seen) {
            self.alive();
            if first {
                self.take_timestamp(seen);
            }
            self.data(seen);
            self.fin(seen);
        } else {
            self.shared.stats.acks_unacceptable += 1;
            self.challenge();
            // RFC 5961 §5.2 drops its data. The card has taken them at RCV.NXT before the number was seen; nowhere else are they taken.
            if seen.is_taken() || seen.seq == rcv_nxt {
                self.data(seen);
            }
        }
        self.freshen_card();
    }

    /// All of a segment lies before the window: a probe, or something sent again. The answer says where this side is. But that the
    /// peer is there, nothing of it is used (RFC 9293 §3.10.7.4).
    fn answer_old(&mut self, seen: &Seen<'_>) {
        self.shared.stats.duplicates += 1;
        self.alive();
        if seen.length > 0 {
            let end = seen.seq.wrapping_add(seen.length);
            self.conn.reassembly.arrived_twice(seen.seq, end);
            self.conn.ack.beside |= self.conn.sack;
        }
        if seen.length > 0 || self.conn.answers.allow(self.now, ANSWERS) {
            self.conn.ack.now = true;
        }
    }

    /// RFC 9293 §3.10.7.4 (RFC 5961 §3, §4): only an exact RST is believed.
    fn reset_or_syn(&mut self, seen: &Seen<'_>) {
        let rcv_nxt = self.conn.rcv_nxt();
        if seen.flags & flag::RST == 0 {
            self.challenge();
        } else if seen.seq == rcv_nxt {
            self.shared.stats.resets_received += 1;
            self.lost(ConnectFailure::Closed, DisconnectReason::Reset);
        } else if seq::lt(rcv_nxt, seen.seq) && seq::lt(seen.seq, self.conn.right_edge()) {
            self.challenge();
        }
    }

    /// The rule of acceptance; for a segment without payload as far as it applies.
    fn fit(&self, seen: &Seen<'_>) -> Result<Fit, DropReason> {
        if let Some(refusal) = seen.refused {
            return Err(refusal);
        }
        let position = self.conn.position(self.now);
        let rcv_nxt = position.rcv_nxt;
        let fin = u32::from(seen.flags & flag::FIN != 0);
        let end = seen.seq.wrapping_add(seen.length).wrapping_add(fin);
        let old = if seq::lt(rcv_nxt, end) {
            // Its data were received before, its FIN was not.
            Fit::New
        } else if seq::diff(rcv_nxt, seen.seq) as u32 <= position.window {
            Fit::Old
        } else {
            Fit::Ancient
        };
        if seen.is_taken() {
            return Ok(Fit::New);
        }
        if seen.duplicate {
            return Ok(old);
        }
        if seen.length > 0 {
            return match judge(&seen.arriving(), &position) {
                Verdict::InSequence | Verdict::ByHand => Ok(Fit::New),
                Verdict::Duplicate | Verdict::Nobody => Ok(old),
                Verdict::Refused(refusal) => Err(refusal),
            };
        }
        if seen.flags & flag::ACK == 0 {
            return Err(DropReason::NoAck);
        }
        if let Some(refusal) = timestamp(seen.timestamps.map(|(value, _)| value), &position) {
            return Err(refusal);
        }
        let limit = rcv_nxt.wrapping_add(position.window);
        if seq::lt(limit, end) {
            Err(DropReason::Window)
        } else if seq::lt(seen.seq, rcv_nxt) {
            Ok(old)
        } else {
            Ok(Fit::New)
        }
    }

    fn refused(&mut self, refusal: DropReason) {
        let stats = &mut self.shared.stats;
        match refusal {
            DropReason::NoAck => stats.refused_no_ack += 1,
            DropReason::NoTimestamp => stats.refused_no_timestamp += 1,
            DropReason::Window => {
                stats.refused_window += 1;
                self.challenge();
            }
            DropReason::Timestamp => {
                stats.refused_timestamp += 1;
                self.challenge();
                self.freshen_card();
            }
        }
    }

    /// An acknowledgment for somebody who may be anybody (RFC 5961 §7: not many of them).
    fn challenge(&mut self) {
        if self
            .conn
            .challenges
            .allow(self.now, self.shared.config.challenge_acks)
        {
            self.shared.stats.challenge_acks += 1;
            self.conn.ack.now = true;
        } else {
            self.shared.stats.challenge_acks_withheld += 1;
        }
    }

    /// TS.Recent does not go back (RFC 7323 §4.3).
    fn take_timestamp(&mut self, seen: &Seen<'_>) {
        let Some((value, _)) = seen.timestamps.filter(|_| self.conn.timestamps) else {
            return;
        };
        let valid = self.conn.ts_is_valid(self.now);
        if !valid || seq::le(self.conn.ts_recent, value) {
            self.conn.ts_recent = value;
            self.conn.ts_recent_at = self.now;
        }
        if seen.is_taken() {
            self.conn.card.ts_recent = self.conn.ts_recent;
            self.conn.card.ts_recent_at = self.now;
        }
    }

    /// Takes the acknowledgment, the window and the SACK blocks; false if the number is unacceptable
    /// (RFC 5961 §5).
    fn take_acknowledgment(&mut self, seen: &Seen<'_>) -> bool {
        let length = seen.length + u32::from(seen.flags & flag::FIN != 0);
        let window = self.window_of(seen);
        let ack = Ack {
            seq: seen.seq,
            ack: seen.ack,
            window,
            is_pure: length == 0,
            sack: seen.sack.as_slice(),
            echo: self.conn.ecn.agreed && seen.flags & flag::ECE != 0,
            arrived: self.shared.times.word(self.now),
            departed: self.shared.departed(self.conn, seen.ack),
        };
        match self.conn.sender.acknowledge(self.now, &ack) {
            Acked::Unacceptable => return false,
            Acked::New(_) => {
                self.arm_drain();
                self.retire();
                if let Some(start) = self.conn.startup.seq {
                    let end = start.wrapping_add(self.conn.startup.length as u32);
                    if seq::le(end, self.conn.sender.una) {
                        self.conn.startup = Startup::default();
                    }
                }
            }
            Acked::Nothing => {}
        }
        true
    }

    /// The next acknowledgment is to tell of what arrived twice.
    pub fn tells_twice(&self) -> bool {
        self.conn.sack && self.conn.reassembly.twice().is_some()
    }

    fn alive(&mut self) {
        self.conn.tries = 0;
        let keepalive = self.shared.config.keepalive;
        self.conn.timers.set(
            Timer::Keepalive,
            keepalive.map(|t| self.now.saturating_add(t)),
        );
    }

    /// Forgets the segments that are acknowledged and whose memory the card has read, and completes
    /// the work requests that end with them. True: there is room for segments again where there was none.
    pub fn retire(&mut self) -> bool {
        let full = self.conn.in_flight_is_full();
        let draining = self.conn.phase == Phase::Draining;
        while let Some(segment) = self.conn.in_flight.front() {
            let acked = seq::le(segment.end, self.conn.sender.una) || draining;
            if !acked {
                break;
            }
            if !self.is_done(segment.job) {
                if !self.conn.timers.is_set(Timer::JobsDone) {
                    let at = self.now.saturating_add(crate::connection::link::POLL);
                    self.conn.timers.set(Timer::JobsDone, Some(at));
                }
                break;
            }
            let origin = segment.origin;
            self.conn.in_flight.pop_front();
            if let (Origin::Request(number, true), Some(qp), false) =
                (origin, self.qp.as_mut(), draining)
            {
                if let Some(entry) = qp.sq.get_mut(number) {
                    entry.outcome.get_or_insert(Status::Success);
                }
            }
        }
        if let Some(qp) = self.qp.as_mut() {
            qp.complete_sends(
                &mut self.shared.regions,
                &mut self.shared.queues.completions,
            );
        }
        full && !self.conn.in_flight_is_full()
    }

    /// True for the side that connects.
    pub fn is_initiator(&self) -> bool {
        self.conn.role == Role::Initiator
    }
}
