//! What comes in: TCP segments (RFC 9293 §3.10.7), whether the card or the engine parsed them.

mod handshake;

use weft_layout::{refusal, SegmentReport};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, Options, SackBlocks, TcpSegment};

use crate::card::port::Port;
use crate::connection::conn::{Phase, Role, Startup, TcpState};
use crate::connection::in_flight::Origin;
use crate::connection::link::Link;
use crate::connection::timers::Timer;
use crate::handover::out_of_order::Piece;
use crate::interface::cm::{ConnectFailure, DisconnectReason};
use crate::interface::verbs::Status;
use crate::tcp::acceptance::{judge, timestamp, Arriving, DropReason, Verdict};
use weft_tcp::sender::{Ack, Acked};
use weft_tcp::seq;

/// Answers in a second to segments without data that were received before: window probes, keepalive.
const ANSWERS: u32 = 100;

/// A segment.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// MSS, window scale, SACK permitted: only if the engine parsed it.
    pub options: Options,
    /// Bytes of data.
    pub length: u32,
    /// Of these, from the front, what the card has dealt with.
    pub done: u32,
    /// The data, if it is at hand.
    pub payload: &'a [u8],
    /// A switch has marked it (CE).
    pub marked: bool,
    /// The IP header has options (of a segment that the card looked up).
    pub ip_options: bool,
    /// The payload, if it stays in its raw slot.
    pub slot_piece: Option<Piece>,
    /// The card has refused it.
    pub refused: Option<DropReason>,
    /// The card has seen that all of it is old.
    pub duplicate: bool,
}

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

impl<'a> Seen<'a> {
    /// From a segment that the engine parsed.
    pub fn of_segment(segment: &TcpSegment<'a>) -> Self {
        Seen {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            timestamps: segment.options.timestamps,
            sack: segment.options.sack,
            options: segment.options,
            length: segment.payload.len() as u32,
            done: 0,
            payload: segment.payload,
            marked: false,
            ip_options: false,
            slot_piece: None,
            refused: None,
            duplicate: false,
        }
    }

    /// From the card's report and the raw frame it may have. `None` if they make no sense, or what is needed of the frame
    /// was not written.
    pub fn of_report(report: &SegmentReport, raw: Option<&'a [u8]>) -> Option<Self> {
        let refused = match report.status & SegmentReport::REFUSAL_MASK {
            refusal::NONE => None,
            refusal => Some(DropReason::of_card(refusal)?),
        };
        let mut sack = SackBlocks::default();
        let blocks = [
            (report.sack0_left, report.sack0_right),
            (report.sack1_left, report.sack1_right),
            (report.sack2_left, report.sack2_right),
        ];
        for (left, right) in blocks
            .iter()
            .take(usize::from(report.flags >> SegmentReport::SACK_COUNT_SHIFT))
        {
            sack.push(*left, *right);
        }
        let mut seen = Seen {
            seq: report.seq,
            ack: report.ack,
            flags: report.tcp_flags,
            window: report.window,
            timestamps: report
                .timestamps()
                .then_some((report.ts_val, report.ts_ecr)),
            sack,
            options: Options::default(),
            length: u32::from(report.payload_len),
            done: u32::from(report.done_len.min(report.payload_len)),
            payload: &[],
            marked: is_marked(report.status),
            ip_options: false,
            slot_piece: None,
            refused,
            duplicate: report.duplicate(),
        };
        let written = report.raw() && !report.raw_failed();
        if let Some((segment, ip_options)) = raw.filter(|_| written).and_then(segment_of_frame) {
            seen.options = segment.options;
            seen.timestamps = segment.options.timestamps;
            seen.sack = segment.options.sack;
            seen.ip_options = ip_options;
            // The report and its frame speak of the same segment.
            if segment.payload.len() as u32 == seen.length {
                seen.payload = segment.payload;
            }
        } else if seen.flags & flag::SYN != 0 {
            // Without its options it says nothing.
            return None;
        }
        Some(seen)
    }

    fn arriving(&self) -> Arriving {
        Arriving {
            seq: self.seq,
            length: self.length,
            flags: self.flags,
            ts_val: self.timestamps.map(|(value, _)| value),
            ip_options: self.ip_options,
        }
    }
}

/// A report's status says that a switch has met congestion (CE, RFC 3168 §5).
pub fn is_marked(status: u8) -> bool {
    status & SegmentReport::IP_ECN_MASK == SegmentReport::IP_ECN_MASK
}

/// The TCP segment of a frame whose checksums the card has checked, and whether its IP header has options.
fn segment_of_frame(frame: &[u8]) -> Option<(TcpSegment<'_>, bool)> {
    let (_, packet) = EthernetHeader::parse(frame)?;
    let packet = Ipv4Packet::parse(packet).ok()?;
    let segment = TcpSegment::parse_unchecked(packet.payload).ok()?;
    Some((segment, packet.has_options))
}

impl<P: Port> Link<'_, P> {
    /// A segment has arrived.
    pub fn segment(&mut self, seen: &Seen<'_>) {
        self.shared.stats.segments += 1;
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
            if seen.done > 0 || seen.seq == rcv_nxt {
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
        if seen.done > 0 {
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
        if seen.done > 0 {
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

    /// The segment's data: what the card has done, and what is left for the engine.
    fn data(&mut self, seen: &Seen<'_>) {
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
            }
        }
        if seen.done < seen.length {
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
            let prompt = self.conn.ack.prompt;
            self.conn.ack.now = true;
            self.acknowledge();
            self.conn.ack.prompt = prompt;
        }
        self.conn.ecn.data(seen.marked, seen.flags & flag::CWR != 0);
    }

    /// The segment's FIN, or an earlier one that is in order now.
    fn fin(&mut self, seen: &Seen<'_>) {
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
