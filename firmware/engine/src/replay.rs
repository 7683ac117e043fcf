//! Payload beyond a gap that stays in the raw slot in which the card left it. Of the stream only ranges are kept; when the gap is filled
//! the card walks over the slots again (a replay job, `docs/card.md`), a few pieces at a time. What cannot go this way is copied
//! into pages after all, and the engine frames it.

use alloc::collections::VecDeque;

use weft_layout::{refusal, Job, JobKind, ReplayOutcome, ReplayReport, SegmentReport};
use weft_wire::ethernet::HEADER as ETHERNET;
use weft_wire::ipv4::HEADER as IPV4;
use weft_wire::tcp::flag;

use crate::conn::{Conn, Phase, TcpState};
use crate::held::{Held, Piece, Replay};
use crate::link::{Link, Shared};
use crate::port::Port;
use crate::rdmap::Fault;
use weft_tcp::seq;
use weft_wire::terminate::TerminateCode;

/// Pieces that a job can name.
const PIECES: usize = 4;

impl Shared {
    /// The slots of what was done with are free, all of them when nobody takes FPDUs any more.
    pub fn free_done(&mut self, conn: &mut Conn) {
        if conn.held.is_empty() {
            return;
        }
        let base = conn.reassembly.base();
        let all = !conn.phase.receives();
        while let Some(first) = conn.held.pieces.front_mut() {
            if !all && seq::lt(base, first.end()) {
                // What was done of it is gone.
                let gone = seq::diff(base, first.seq).clamp(0, first.length.into()) as u16;
                first.seq = first.seq.wrapping_add(gone.into());
                first.length -= gone;
                first.at += gone;
                return;
            }
            let slot = first.slot;
            conn.held.pieces.pop_front();
            self.give_slot(slot, conn);
        }
        conn.held.pieces = VecDeque::new();
    }

    /// The connection is gone, or begins anew.
    pub fn free_all(&mut self, conn: &mut Conn) {
        while let Some(piece) = conn.held.pieces.pop_front() {
            self.give_slot(piece.slot, conn);
        }
        conn.held = Held::default();
    }

    /// Not before the card has read what it was asked to read.
    fn give_slot(&mut self, slot: u16, conn: &Conn) {
        let job = conn.held.replay.map(|replay| replay.job);
        self.slots.push((slot, job));
    }

    /// A slot that is free again.
    pub fn poll_slot<P: Port>(&mut self, port: &P) -> Option<u16> {
        let done = |job: u32| seq::lt(job, port.jobs_done());
        let at = self
            .slots
            .iter()
            .position(|(_, job)| job.is_none_or(done))?;
        Some(self.slots.swap_remove(at).0)
    }
}

impl<P: Port> Link<'_, P> {
    /// The payload of a segment that may stay in its slot: beyond a gap, or before what is held, and apart from everything that is there.
    pub fn may_hold(&mut self, report: &SegmentReport) -> Option<Piece> {
        let standing = self.conn.tcp == TcpState::Open
            && matches!(self.conn.phase, Phase::Established | Phase::Closing);
        let places = self.qp.as_ref().is_some_and(|qp| qp.software.is_none());
        let bare = report.raw()
            && !report.raw_failed()
            && report.status & SegmentReport::REFUSAL_MASK == refusal::NONE
            && report.done_len == 0
            && report.payload_len > 0
            && report.tcp_flags & (flag::SYN | flag::RST | flag::FIN | flag::URG) == 0;
        let conn = &*self.conn;
        let (first, length) = (report.seq, u32::from(report.payload_len));
        let end = first.wrapping_add(length);
        if self.shared.config.replay == 0
            || !standing
            || !places
            || !bare
            || report.epoch != conn.card.epoch
            || conn.card.for_engine
            || conn.bytes.is_some()
            || conn.peer_fin.is_some()
            || !conn.committed
            || conn.held.is_empty() && !conn.reassembly.is_empty()
            || conn.held.is_empty() && first == conn.reassembly.next()
            || !conn.reassembly.has_none(first, end)
        {
            return None;
        }
        // From the IPv4 header to TCP's data offset.
        let mut head = [0; IPV4 + 13];
        self.port
            .copy_slot(report.raw_slot, ETHERNET, &mut head)
            .ok()?;
        let at = ETHERNET + IPV4 + usize::from(head[IPV4 + 12] >> 4) * 4;
        // Behind IP options the card has not read those of TCP.
        (head[0] == 0x45 && at + length as usize <= usize::from(report.raw_len)).then_some(Piece {
            seq: first,
            length: report.payload_len,
            slot: report.raw_slot,
            at: at as u16,
        })
    }

    /// A segment's payload stays in its slot.
    pub fn keep(&mut self, piece: Piece) {
        if self.conn.reassembly.note(piece.seq, piece.end()) {
            self.conn.held.put(piece);
            self.shared.stats.segments_held += 1;
        }
    }

    /// What is in order goes to the card again, or is copied. True: the stream waits.
    pub fn replay(&mut self) -> bool {
        if self.conn.held.replay.is_some() {
            return true;
        }
        let foreign = self.is_element_foreign();
        let conn = &*self.conn;
        if conn.held.is_empty() {
            return false;
        }
        let (base, next) = (conn.reassembly.base(), conn.reassembly.next());
        if base == next {
            return true;
        }
        let pieces = &conn.held.pieces;
        let in_order = pieces.partition_point(|piece| seq::lt(piece.seq, next));
        let most = u32::from(self.shared.config.replay);
        let fits = |piece: &&Piece| piece.end().wrapping_sub(base) <= most;
        let count = pieces
            .iter()
            .take(in_order.min(PIECES))
            .take_while(fits)
            .count();
        // What comes behind it comes by hand anyway, until the card is attached: the sooner the better.
        let rest = in_order <= PIECES && !conn.reassembly.has_gap();
        let Some(last) = count.checked_sub(1).and_then(|at| pieces.get(at)) else {
            self.spill();
            return false;
        };
        let end = last.end();
        if conn.held.partial == Some(end) && end == next && count < PIECES && !rest {
            // The FPDU goes on behind the gap.
            return true;
        }
        if rest || foreign || conn.held.partial == Some(end) || !self.post_replay(count, end) {
            self.spill();
            return false;
        }
        true
    }

    fn post_replay(&mut self, count: usize, end: u32) -> bool {
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        let base = self.conn.reassembly.base();
        let mut sges = [(0, 0); PIECES];
        for (sge, piece) in sges
            .iter_mut()
            .zip(self.conn.held.pieces.iter().take(count))
        {
            let Some(slot) = self.port.slot_at(piece.slot) else {
                return false;
            };
            *sge = (slot + u64::from(piece.at), u32::from(piece.length));
        }
        let length = end.wrapping_sub(base);
        let job = Job {
            kind: JobKind::Replay.raw(),
            flow: qp.id.flow(),
            seq: base,
            ts_val: qp.expected.msn,
            ts_ecr: qp.expected.mo,
            length,
            sge_count: count as u8,
            sge0_iova: sges[0].0,
            sge0_length: sges[0].1,
            sge1_iova: sges[1].0,
            sge1_length: sges[1].1,
            sge2_iova: sges[2].0,
            sge2_length: sges[2].1,
            sge3_iova: sges[3].0,
            sge3_length: sges[3].1,
            ..Job::default()
        };
        let Ok(number) = self.port.post_job(&job.to_bytes()) else {
            return false;
        };
        self.shared.stats.jobs += 1;
        self.shared.stats.replays += 1;
        self.conn.held.replay = Some(Replay {
            seq: base,
            length,
            job: number,
        });
        true
    }

    /// All that is held is copied into pages, and the slots are free.
    pub fn spill(&mut self) {
        let conn = &mut *self.conn;
        if conn.held.is_empty() {
            return;
        }
        let mut good = true;
        while let Some(piece) = conn.held.pieces.pop_front() {
            let port = &mut *self.port;
            let mut at = usize::from(piece.at);
            let copy = |out: &mut [u8]| {
                good &= port.copy_slot(piece.slot, at, out).is_ok();
                at += out.len();
            };
            let length = usize::from(piece.length);
            conn.reassembly
                .fill(piece.seq, length, copy, &mut self.shared.pool);
            self.shared.stats.bytes_copied += u64::from(piece.length);
            self.shared.stats.segments_spilled += 1;
            self.shared.give_slot(piece.slot, conn);
        }
        conn.held.pieces = VecDeque::new();
        conn.held.partial = None;
        if !good {
            self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
        }
    }

    /// The card has walked over what it was asked to.
    pub fn replay_report(&mut self, report: &ReplayReport) {
        let for_engine = core::mem::take(&mut self.conn.card.for_engine);
        let Some(replay) = self.conn.held.replay.filter(|r| r.seq == report.seq) else {
            return;
        };
        let done = u32::from(report.done_len).min(replay.length);
        let stands = self.conn.reassembly.base() == replay.seq
            && self.conn.reassembly.available() >= done as usize;
        if for_engine && stands && self.conn.phase.receives() {
            self.take_framed(replay.seq, done as usize);
        }
        self.conn.held.replay = None;
        if stands {
            self.conn
                .reassembly
                .consume(done as usize, &mut self.shared.pool);
        }
        self.shared.free_done(self.conn);
        self.shared.stats.bytes_replayed += u64::from(done);
        match report.outcome() {
            Ok(ReplayOutcome::Whole) => {}
            Ok(ReplayOutcome::Partial) => {
                self.conn.held.partial = Some(replay.seq.wrapping_add(replay.length));
            }
            Ok(ReplayOutcome::Error | ReplayOutcome::Refused) | Err(_) => self.replay_ended_badly(),
        }
        self.stream();
    }

    /// The job failed: its report says so, and there is no other.
    pub fn replay_failed(&mut self, job: u32) -> bool {
        if self.conn.held.replay.is_none_or(|replay| replay.job != job) {
            return false;
        }
        self.conn.held.replay = None;
        self.replay_ended_badly();
        self.stream();
        true
    }

    fn replay_ended_badly(&mut self) {
        self.shared.stats.replays_failed += 1;
        self.spill();
    }

    /// FPDUs for the engine are among those that the card has checked.
    fn take_framed(&mut self, start: u32, length: usize) {
        let mut wire = core::mem::take(&mut self.shared.wire);
        let mut good = length <= wire.len();
        let octets = wire.get_mut(..length).unwrap_or_default();
        if self.conn.held.is_empty() {
            self.conn.reassembly.copy_front(octets);
        } else {
            let mut rest = &mut octets[..];
            for piece in &self.conn.held.pieces {
                let count = rest.len().min(piece.length.into());
                let (now, later) = core::mem::take(&mut rest).split_at_mut(count);
                let copied = self.port.copy_slot(piece.slot, piece.at.into(), now);
                good &= copied.is_ok();
                rest = later;
            }
        }
        self.shared.stats.bytes_copied += length as u64;
        if good {
            self.framed_by_card(start, octets);
        } else {
            self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
        }
        self.shared.wire = wire;
    }
}
