//! What comes in: TCP segments (RFC 9293 §3.10.7), whether the card or the engine parsed them.

mod handshake;

use weft_layout::SegmentReport;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, Options, SackBlocks, TcpSegment};

use crate::cm::{ConnectFailure, DisconnectReason};
use crate::conn::{Phase, Role, TcpState};
use crate::link::Link;
use crate::part::Origin;
use crate::port::Port;
use crate::tcp::sender::{Ack, Acked};
use crate::tcp::seq;
use crate::timers::Timer;
use crate::verbs::Status;

const REPORT_RAW: u8 = 1;
const REPORT_TIMESTAMPS: u8 = 2;

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
        }
    }

    /// From the card's report and the raw frame it may have.
    pub fn of_report(report: &SegmentReport, raw: Option<&'a [u8]>) -> Self {
        let mut sack = SackBlocks::default();
        let blocks = [
            (report.sack0_left, report.sack0_right),
            (report.sack1_left, report.sack1_right),
            (report.sack2_left, report.sack2_right),
        ];
        for (left, right) in blocks.iter().take(usize::from(report.flags >> 4)) {
            sack.push(*left, *right);
        }
        let mut seen = Seen {
            seq: report.seq,
            ack: report.ack,
            flags: report.tcp_flags,
            window: report.window,
            timestamps: (report.flags & REPORT_TIMESTAMPS != 0)
                .then_some((report.ts_val, report.ts_ecr)),
            sack,
            options: Options::default(),
            length: u32::from(report.payload_len),
            done: u32::from(report.done_len.min(report.payload_len)),
            payload: &[],
        };
        let raw = raw.filter(|_| report.flags & REPORT_RAW != 0);
        if let Some(segment) = raw.and_then(segment_of_frame) {
            seen.options = segment.options;
            // The report and its frame speak of the same segment.
            if segment.payload.len() as u32 == seen.length {
                seen.payload = segment.payload;
            }
        }
        seen
    }
}

/// The TCP segment of a frame whose checksums the card has checked.
fn segment_of_frame(frame: &[u8]) -> Option<TcpSegment<'_>> {
    let (_, packet) = EthernetHeader::parse(frame)?;
    let packet = Ipv4Packet::parse(packet).ok()?;
    TcpSegment::parse_unchecked(packet.payload).ok()
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
        let rcv_nxt = self.conn.rcv_nxt();
        let length = seen.length + u32::from(seen.flags & flag::FIN != 0);
        let end = seen.seq.wrapping_add(length);
        let limit = seq::max(self.conn.reassembly.limit(), rcv_nxt);
        let acceptable = if length == 0 {
            seq::le(rcv_nxt, seen.seq) && seq::le(seen.seq, limit)
        } else {
            seq::lt(rcv_nxt, end) && seq::lt(seen.seq, limit) || seen.done > 0
        };
        if seen.flags & flag::RST != 0 {
            // RFC 9293 §3.10.7.4 (RFC 5961): only an exact RST is believed.
            if seen.seq == rcv_nxt {
                self.shared.stats.resets_received += 1;
                self.lost(ConnectFailure::Closed, DisconnectReason::Reset);
            } else if acceptable {
                self.conn.ack.now = true;
            }
            return;
        }
        self.alive();
        if seen.flags & flag::SYN != 0 {
            self.conn.ack.now = true;
            return;
        }
        if !acceptable {
            // A probe, or something old: the answer says where we are. Its acknowledgment counts.
            self.shared.stats.duplicates += 1;
            self.conn.ack.now = true;
        }
        if seen.flags & flag::ACK == 0 {
            return;
        }
        if let Some((value, _)) = seen.timestamps {
            // PAWS (RFC 7323 §5) for what the card has not taken already.
            if self.conn.timestamps && seq::lt(value, self.conn.ts_recent) && seen.done == 0 {
                self.conn.ack.now = true;
                return;
            }
            if seq::le(seen.seq, rcv_nxt) && acceptable {
                self.conn.ts_recent = value;
            }
        }
        let window = self.window_of(seen);
        let ack = Ack {
            seq: seen.seq,
            ack: seen.ack,
            window,
            is_pure: length == 0,
            sack: seen.sack.as_slice(),
        };
        let recoveries = self.conn.sender.recoveries;
        match self.conn.sender.acknowledge(self.now, &ack) {
            Acked::Unsent => {
                self.conn.ack.now = true;
                return;
            }
            Acked::New(_) => {
                self.retire();
                if let Some(start) = self.conn.startup.seq {
                    let end = start.wrapping_add(self.conn.startup.length as u32);
                    if seq::le(end, self.conn.sender.una) {
                        self.conn.startup.length = 0;
                        self.conn.startup.seq = None;
                    }
                }
            }
            Acked::Nothing => {}
        }
        self.shared.stats.fast_recoveries += self.conn.sender.recoveries - recoveries;
        if acceptable {
            self.data(seen);
        }
        self.fin(seen);
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
        let before = self.conn.reassembly.next();
        let had_gap = self.conn.reassembly.has_gap();
        if seen.done > 0 {
            let end = seen.seq.wrapping_add(seen.done);
            if seq::le(seen.seq, before) {
                self.conn.reassembly.skip_to(end);
            }
        }
        if seen.done < seen.length {
            self.shared.stats.segments_raw += 1;
            if let Some(rest) = seen.payload.get(seen.done as usize..) {
                let at = seen.seq.wrapping_add(seen.done);
                // What lies behind a FIN is not data.
                let rest = match self.conn.peer_fin {
                    Some(fin) => {
                        let room = seq::diff(fin, at).max(0) as usize;
                        &rest[..rest.len().min(room)]
                    }
                    None => rest,
                };
                self.conn.reassembly.insert(at, rest);
            }
        }
        if self.conn.reassembly.next() == before || had_gap || self.conn.reassembly.has_gap() {
            // RFC 5681 §4.2: beyond a gap, filling one, or old.
            self.conn.ack.now = true;
        } else {
            self.conn.ack.pending = self.conn.ack.pending.saturating_add(1);
            if !self.conn.timers.is_set(Timer::DelayedAck) {
                let at = self.now.saturating_add(self.shared.config.delayed_ack);
                self.conn.timers.set(Timer::DelayedAck, Some(at));
            }
        }
        self.stream();
    }

    /// The segment's FIN, or an earlier one whose turn has come.
    fn fin(&mut self, seen: &Seen<'_>) {
        if seen.flags & flag::FIN != 0 && self.conn.peer_fin.is_none() {
            let at = seen.seq.wrapping_add(seen.length);
            if seq::le(self.conn.reassembly.next(), at) && seq::le(at, self.conn.reassembly.limit())
            {
                self.conn.peer_fin = Some(at);
            }
        }
        if self.conn.peer_fin != Some(self.conn.reassembly.next()) || self.conn.peer_fin_done {
            return;
        }
        self.conn.peer_fin_done = true;
        self.conn.ack.now = true;
        match self.conn.phase {
            Phase::Resolving
            | Phase::Handshake
            | Phase::AwaitReply
            | Phase::AwaitRequest
            | Phase::AwaitAnswer => {
                self.give_up(ConnectFailure::Closed);
            }
            Phase::AwaitFirst => {
                // The initiator closed before it said anything.
                self.give_up(ConnectFailure::NoRtr);
            }
            Phase::Established => self.finish(DisconnectReason::Peer),
            Phase::Closing => self.finish(DisconnectReason::Local),
            Phase::Finishing | Phase::Ending | Phase::Finished => self.conn.fin_queued = true,
        }
    }

    /// Forgets the parts that are acknowledged and whose memory the card has read, and completes
    /// the work requests that end with them.
    pub fn retire(&mut self) {
        let ending = self.conn.phase == Phase::Ending;
        while let Some(part) = self.conn.parts.front() {
            let acked = seq::le(part.end, self.conn.sender.una) || ending;
            if !acked {
                break;
            }
            if !self.is_done(part.job) {
                if !self.conn.timers.is_set(Timer::JobsDone) {
                    let at = self.now.saturating_add(crate::link::POLL);
                    self.conn.timers.set(Timer::JobsDone, Some(at));
                }
                break;
            }
            let origin = part.origin;
            self.conn.parts.pop_front();
            if let (Origin::Request(number, true), Some(qp), false) =
                (origin, self.qp.as_mut(), ending)
            {
                if let Some(entry) = qp.sq.get_mut(number) {
                    entry.outcome.get_or_insert(Status::Success);
                }
            }
        }
        if let Some(qp) = self.qp.as_mut() {
            qp.complete_sends(&mut self.shared.completions);
        }
    }

    /// True for the side that connects.
    pub fn is_initiator(&self) -> bool {
        self.conn.role == Role::Initiator
    }
}
