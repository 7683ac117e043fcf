//! Payload of a detached flow that stays in the raw slots in which the card left it. Of the stream only ranges are kept; what is in order
//! the card walks over again (replay jobs, `docs/card.md`), a few pieces a job and several jobs in flight. What cannot be replayed is
//! copied into pages after all, and the engine frames it.

use core::ops::Range;

use weft_layout::{refusal, JobKind, ReplayJob, ReplayOutcome, ReplayReport, SegmentReport};
use weft_wire::ethernet::HEADER as ETHERNET;
use weft_wire::ipv4::HEADER as IPV4;
use weft_wire::tcp::{flag, HEADER as TCP};

use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase, TcpState};
use crate::connection::link::Link;
use crate::handover::out_of_order::{Next, Piece, Replay, MAX_PIECES};
use crate::rdmap::fault::Fault;
use weft_tcp::seq;
use weft_wire::terminate::TerminateCode;

impl Conn {
    /// Replays do not get to the end of a stream without a gap: what comes is copied until the card has the flow.
    fn is_overtaken(&self) -> bool {
        self.handover.is_overtaken(self.reassembly.has_gap())
    }
}

impl<P: Port> Link<'_, P> {
    /// The payload of a segment that may stay in its slot, or what the card has not done of it: apart from everything that is there.
    pub fn may_stay_in_slot(&mut self, report: &SegmentReport) -> Option<Piece> {
        let standing = self.conn.tcp == TcpState::Open
            && matches!(self.conn.phase, Phase::Established | Phase::Closing);
        let places = self.qp.as_ref().is_some_and(|qp| qp.software.is_none());
        let bare = report.raw()
            && !report.attached()
            && !report.raw_failed()
            && report.status & SegmentReport::REFUSAL_MASK == refusal::NONE
            && report.done_len < report.payload_len
            && report.tcp_flags & (flag::SYN | flag::RST | flag::FIN | flag::URG) == 0;
        let conn = &*self.conn;
        let length = report.payload_len.saturating_sub(report.done_len);
        let first = report.seq.wrapping_add(report.done_len.into());
        let end = first.wrapping_add(length.into());
        if self.shared.config.replay == 0
            || !standing
            || !places
            || !bare
            || report.epoch != conn.handover.epoch()
            || conn.handover.needs_frame()
            || conn.byte_stream.is_some()
            || conn.peer_fin.is_some()
            || !conn.committed
            || !conn.handover.may_stay_in_slot(
                conn.reassembly.holds_nothing(),
                first == conn.reassembly.next(),
            )
            || !conn.reassembly.has_none(first, end)
        {
            return None;
        }
        // From the IPv4 header to TCP's data offset.
        let mut head = [0; IPV4 + 13];
        self.port
            .copy_slot(report.raw_slot, ETHERNET, &mut head)
            .ok()?;
        let header = usize::from(head[IPV4 + 12] >> 4) * 4;
        let at = ETHERNET + IPV4 + header + usize::from(report.done_len);
        // TCP's options that the card has not read are read here: those behind IP options, or with one of an impossible length.
        let read = header == TCP || report.timestamps() || report.sack_count() > 0;
        let is_there = at + usize::from(length) <= usize::from(report.raw_len);
        (head[0] == 0x45 && read && is_there).then_some(Piece {
            seq: first,
            length,
            slot: report.raw_slot,
            at: at as u16,
        })
    }

    /// A segment's payload stays in its slot.
    pub fn keep(&mut self, piece: Piece) {
        if self.conn.reassembly.note(piece.seq, piece.end()) {
            self.conn.handover.out_of_order.put(piece);
            self.shared.stats.segments_held += 1;
        }
    }

    /// What is in order goes to the card again, or is copied. True: the stream waits.
    pub fn replay(&mut self) -> bool {
        if self.is_element_foreign() || self.conn.is_overtaken() {
            // The card is asked no more; the rest is copied when it is through.
            if self.conn.handover.out_of_order.is_replaying() {
                return true;
            }
            self.spill();
        }
        while !self.conn.handover.out_of_order.is_empty() {
            let posted = match self.next_replay() {
                Next::Wait => return true,
                Next::Post(pieces, start, end) => self.post_replay(pieces, start, end),
                Next::Spill => false,
            };
            if !posted {
                // Not before the card is through with what it was asked.
                if self.conn.handover.out_of_order.is_replaying() {
                    return true;
                }
                self.spill();
            }
        }
        self.conn.handover.out_of_order.is_replaying()
    }

    /// What comes next of what is in order.
    fn next_replay(&self) -> Next {
        let stream = &self.conn.reassembly;
        let in_order = (stream.base(), stream.available_to());
        let most = self.shared.config.replay.into();
        self.conn.handover.out_of_order.next(in_order, most)
    }

    /// Asks the card to walk over these pieces, from the first octet to the second, behind what it was asked before.
    fn post_replay(&mut self, pieces: Range<usize>, start: u32, end: u32) -> bool {
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        let conn = &*self.conn;
        let count = pieces.len();
        let mut sges = [(0, 0); MAX_PIECES];
        for (sge, piece) in sges
            .iter_mut()
            .zip(conn.handover.out_of_order.range(pieces))
        {
            let Some(slot) = self.port.slot_at(piece.slot) else {
                return false;
            };
            *sge = (slot + u64::from(piece.at), u32::from(piece.length));
        }
        let length = end.wrapping_sub(start);
        let follows = conn.handover.out_of_order.is_replaying();
        let job = ReplayJob {
            kind: JobKind::Replay.raw(),
            flow: qp.id.flow(),
            seq: start,
            flags: if follows { ReplayJob::FOLLOWS } else { 0 },
            msn: qp.expected.msn,
            mo: qp.expected.mo,
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
            ..ReplayJob::default()
        };
        let Ok(number) = self.port.post_job(&job.to_bytes()) else {
            return false;
        };
        self.shared.stats.jobs += 1;
        self.shared.stats.replays += 1;
        self.conn.handover.out_of_order.asked(Replay {
            seq: start,
            length,
            job: number,
        });
        true
    }

    /// All that lies in slots is copied into pages, and the slots are free. What of it is whole is taken on the way, so that it needs no more memory than one
    /// FPDU and one piece; what lies beyond a gap and finds none comes again.
    pub fn spill(&mut self) {
        if self.conn.handover.out_of_order.is_empty() {
            return;
        }
        let mut good = true;
        while let Some(piece) = self.conn.handover.out_of_order.take_front() {
            good &= self.spill_piece(&piece);
            self.shared.slots.give(&piece, self.conn);
            if self.conn.handover.out_of_order.is_replaying() {
                // The card may have placed what is whole of it: its report says so.
                continue;
            }
            let upto = seq::min(piece.end(), self.conn.reassembly.next());
            while self.conn.phase.receives() && self.software_fpdu(upto) {}
        }
        if !good {
            self.fault(&Fault::of(TerminateCode::RDMAP_LOCAL));
        }
    }

    /// False: what was acknowledged cannot be had.
    fn spill_piece(&mut self, piece: &Piece) -> bool {
        let conn = &mut *self.conn;
        if !conn.phase.receives() || !conn.reassembly.has(piece.seq, piece.end()) {
            // Nobody wants it any more, or it was given up.
            return true;
        }
        let mut good = true;
        let port = &mut *self.port;
        let mut at = usize::from(piece.at);
        let copy = |out: &mut [u8]| {
            good &= port.copy_slot(piece.slot, at, out).is_ok();
            at += out.len();
        };
        let (length, pool) = (usize::from(piece.length), &mut self.shared.buffers.pool);
        if conn.reassembly.fill(piece.seq, length, copy, pool) {
            self.shared.stats.bytes_copied += u64::from(piece.length);
            self.shared.stats.segments_spilled += 1;
            return good;
        }
        if seq::lt(piece.seq, conn.reassembly.next()) {
            self.shared.stats.streams_without_memory += 1;
            return false;
        }
        conn.reassembly.give_up_from(piece.seq, pool);
        self.shared.stats.segments_without_memory += 1;
        true
    }

    /// The card has walked over what it was asked to.
    pub fn replay_report(&mut self, report: &ReplayReport) {
        let for_engine = self.conn.handover.take_for_engine();
        let Some(replay) = self.conn.handover.out_of_order.answered(report.seq) else {
            return;
        };
        let done = u32::from(report.done_len).min(replay.length);
        let stands = self.conn.reassembly.base() == replay.seq
            && self.conn.reassembly.available() >= done as usize;
        if for_engine && stands && self.conn.phase.receives() {
            self.take_framed(replay.seq, done as usize);
        }
        if stands {
            self.conn
                .reassembly
                .consume(done as usize, &mut self.shared.buffers.pool);
        }
        self.shared.slots.free_done(self.conn);
        self.shared.stats.bytes_replayed += u64::from(done);
        match report.outcome() {
            Ok(ReplayOutcome::Whole) => {}
            Ok(ReplayOutcome::Partial) => {
                self.conn.handover.out_of_order.ended_inside(replay.end())
            }
            // One before it was not whole: it is asked again from there.
            Ok(ReplayOutcome::Refused) if !stands => {}
            Ok(ReplayOutcome::Error | ReplayOutcome::Refused) | Err(_) => self.replay_ended_badly(),
        }
        let gap = self.conn.reassembly.has_gap();
        self.conn.handover.replay_ended(gap);
        self.stream();
        self.take_fin();
    }

    /// The job failed: its report says so, and there is no other.
    pub fn replay_failed(&mut self, job: u32) -> bool {
        if !self.conn.handover.out_of_order.failed(job) {
            return false;
        }
        self.replay_ended_badly();
        self.stream();
        self.take_fin();
        true
    }

    fn replay_ended_badly(&mut self) {
        self.shared.stats.replays_failed += 1;
        self.spill();
    }

    /// FPDUs for the engine are among those that the card has checked.
    fn take_framed(&mut self, start: u32, length: usize) {
        let mut wire = core::mem::take(&mut self.shared.buffers.wire);
        let mut good = length <= wire.len();
        let octets = wire.get_mut(..length).unwrap_or_default();
        if self.conn.handover.out_of_order.is_empty() {
            self.conn.reassembly.copy_front(octets);
        } else {
            let mut rest = &mut octets[..];
            for piece in self.conn.handover.out_of_order.pieces() {
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
        self.shared.buffers.wire = wire;
    }
}
