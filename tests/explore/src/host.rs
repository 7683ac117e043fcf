//! The engine: its hand-over, and of its stream what bears on it.

use weft_engine::handover::{
    FlowHandover, Next, Opening, Piece, Replay, ReplayPolicy, Stream, Told,
};

use crate::card::{Job, Outcome, Report, SegmentReport, Slot, NUMBERS};
use crate::faults::Fault;
use crate::model::Sizes;
use crate::stream::{end_of, is_boundary, Octets};
use crate::world::{Done, World};

/// Octets in a segment at most; a peer with less room may wait for more.
pub const SEGMENT: u32 = 3;

/// The engine's half.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// The one that is explored.
    pub handover: FlowHandover,
    /// The first octet that is not done with.
    pub base: u32,
    /// What has arrived from there on.
    pub got: Octets,
    /// What of it, beyond a gap when it came, the card has placed.
    pub placed: Octets,
    /// The peer's FIN lies here.
    pub fin: Option<u32>,
    /// Raw payload segments, as they were counted before.
    pub count: u8,
}

impl Host {
    /// A connection whose stream begins there.
    pub fn new(base: u32, epoch: u8, policy: ReplayPolicy) -> Self {
        let mut handover = FlowHandover::default();
        handover.bind(epoch, policy);
        Host {
            handover,
            base,
            got: Octets::default(),
            placed: Octets::default(),
            fin: None,
            count: 0,
        }
    }

    /// The next octet in order.
    pub fn next(&self) -> u32 {
        self.got.end_from(self.base)
    }

    /// Octets beyond a gap.
    fn has_gap(&self) -> bool {
        let next = self.next();
        self.got.meets(next, 64)
    }

    /// Behind what is in order, up to what the card has placed.
    fn available_to(&self) -> u32 {
        let placed = self.placed.first().unwrap_or(u32::MAX);
        self.next().min(placed)
    }

    /// All before `to` is done with, and what the card has placed behind that.
    fn consume(&mut self, to: u32) {
        self.base = self.placed.end_from(to);
        self.got.forget_before(self.base);
        self.placed.forget_before(self.base);
    }

    /// Counts anew, from `by` octets later.
    pub fn rebase(&mut self, by: u32) {
        self.base -= by;
        self.got.rebase(by);
        self.placed.rebase(by);
        self.fin = self.fin.map(|fin| fin - by);
        self.handover.out_of_order.rebase(by);
    }
}

impl World {
    /// What the stream is like, for the hand-over.
    pub fn stream(&self) -> Stream {
        let host = &self.host;
        let next = host.next();
        Stream {
            between: host.got.is_empty() && !host.handover.out_of_order.is_replaying(),
            more: false,
            gap: host.has_gap(),
            room: self.peer.edge.saturating_sub(next),
            enough: SEGMENT,
        }
    }

    /// The host handles the oldest report.
    pub fn handle(&mut self, sizes: &Sizes) {
        let Some(report) = self.reports.pop_front() else {
            return;
        };
        match report {
            Report::Foreign { slot } => self.give(slot, None),
            Report::Segment(report) => self.handle_segment(&report, sizes),
            Report::Replay {
                epoch,
                seq,
                done,
                outcome,
                job,
            } => {
                self.unheard.retain(|number| *number != job);
                self.hear(job);
                if epoch == self.host.handover.epoch() || sizes.fault == Some(Fault::OldBinding) {
                    self.handle_replay(seq, done, outcome, sizes);
                }
            }
        }
        if sizes.fault != Some(Fault::SlotsWaitForReports) {
            self.look_at_jobs();
        }
        self.want_slot(sizes);
        self.tell_window(sizes);
    }

    /// A slot that was lent to the engine keeps too many others back: what lies in slots is copied.
    fn want_slot(&mut self, sizes: &Sizes) {
        let many = 4 * self.ring.len() >= 3 * sizes.slots;
        if many && self.ring.front() == Some(&Slot::Lent) {
            self.done.push(Done::Want);
            self.spill(sizes);
            self.go_on(sizes);
            self.try_attach(sizes);
        }
    }

    /// Its acknowledgment tells the peer of the window.
    fn tell_window(&mut self, sizes: &Sizes) {
        let stream = self.stream();
        let opening = match sizes.fault {
            Some(Fault::NeverOpens) => Opening::No,
            Some(Fault::GivesUp) if self.host.handover.edge_stands() => self.host.handover.open(),
            _ => self.host.handover.open_if_stuck(&stream),
        };
        if opening == Opening::ToFpdu {
            self.peer.edge = self.peer.edge.max(end_of(self.host.base));
        }
        self.move_edge(sizes);
    }

    fn move_edge(&mut self, sizes: &Sizes) {
        if !self.host.handover.edge_stands() {
            self.peer.edge = self.peer.edge.max(self.host.base + sizes.window);
        }
    }

    /// The engine's timers: JOB_DONE is looked at for as long as slots wait for a job, and a window that stands before a sender that may
    /// wait for it opens.
    pub fn timer(&mut self, sizes: &Sizes) {
        if sizes.fault != Some(Fault::SlotsWaitForReports) {
            self.look_at_jobs();
        }
        let holds_up = self.host.handover.holds_up(&self.stream());
        if sizes.fault != Some(Fault::NeverOpens) && holds_up {
            self.host.handover.open();
            self.move_edge(sizes);
        }
    }

    fn handle_segment(&mut self, report: &SegmentReport, sizes: &Sizes) {
        let current = report.epoch == self.host.handover.epoch();
        if !current && sizes.fault != Some(Fault::OldBinding) {
            if let Some(slot) = report.slot {
                self.give(slot, None);
            }
            return;
        }
        self.host.count = report.count;
        self.host.handover.segment(Told {
            payload: report.length > 0,
            raw: report.slot.is_some() || sizes.fault == Some(Fault::BelievesOldReports),
            attached: report.attached,
            cut: false,
        });
        if sizes.fault == Some(Fault::BelievesOldReports) && report.length == 0 {
            self.host.handover.segment(Told {
                payload: true,
                raw: true,
                attached: report.attached,
                cut: false,
            });
        }
        let (at, end) = (report.seq + report.done, report.seq + report.length);
        let piece = self.may_stay_in_slot(report, sizes);
        // Old data changes nothing (RFC 9293 §3.10.7.4).
        let old = report.done == 0 && end <= self.host.next();
        if let (true, Some(slot)) = (old, report.slot) {
            self.give(slot, None);
        }
        if report.length > 0 && !old {
            if piece.is_none() {
                self.spill(sizes);
            }
            if report.done > 0 && report.seq <= self.host.next() {
                self.pass_card(at);
            } else if report.done > 0 && sizes.fault != Some(Fault::IslandForgotten) {
                self.host.got.add(report.seq, at);
                if sizes.fault != Some(Fault::IslandFramed) {
                    self.host.placed.add(report.seq, at);
                }
            }
            if at < end {
                match (piece, report.slot) {
                    (Some(piece), _) => {
                        self.share(piece.slot as u8);
                        self.host.got.add(piece.seq, piece.end());
                        self.host.handover.out_of_order.put(piece);
                    }
                    (None, Some(slot)) => {
                        let carried = report.attached;
                        if !carried || sizes.fault != Some(Fault::CarriedForgotten) {
                            self.take_by_hand(at, end);
                        }
                        self.give(slot, None);
                    }
                    // An old one, or refused.
                    (None, None) => {}
                }
            }
        }
        if report.fin && self.host.fin.is_none() {
            self.host.fin = Some(end);
        }
        self.go_on(sizes);
        self.take_fin(sizes);
        self.try_attach(sizes);
    }

    /// The card has dealt with everything before `to`.
    fn pass_card(&mut self, to: u32) {
        if to > self.host.base {
            let from = self.host.base;
            self.host.consume(to);
            self.pass(from, self.host.base);
        }
    }

    fn may_stay_in_slot(&self, report: &SegmentReport, sizes: &Sizes) -> Option<Piece> {
        let host = &self.host;
        let (at, end) = (report.seq + report.done, report.seq + report.length);
        let slot = report.slot?;
        let fresh = at >= host.next() && !host.got.meets(at, end);
        let apart = host
            .handover
            .may_stay_in_slot(host.got.but(host.placed).is_empty(), at == host.next());
        let room = 2 * self.ring.len() <= sizes.slots + 1;
        let may = sizes.replay
            && !report.attached
            && self.card.bound
            && host.fin.is_none()
            && !report.fin
            && at < end;
        (may && fresh && apart && room).then_some(Piece {
            seq: at,
            length: (end - at) as u16,
            slot: slot.into(),
            at: 0,
        })
    }

    /// Octets that arrived raw are kept, as far as they are new.
    fn take_by_hand(&mut self, at: u32, end: u32) {
        let limit = self.host.fin.unwrap_or(u32::MAX);
        let (at, end) = (at.max(self.host.base), end.min(limit));
        if at < end {
            self.host.got.add(at, end);
        }
    }

    /// All that lies in slots is copied, and the slots are free when no job reads them.
    pub fn spill(&mut self, sizes: &Sizes) {
        while let Some(piece) = self.host.handover.out_of_order.take_front() {
            let job = self.host.handover.out_of_order.job_of(&piece);
            let job = job.filter(|_| sizes.fault != Some(Fault::SlotFreeTooSoon));
            self.give(piece.slot as u8, job.map(|job| job as u8));
        }
    }

    /// Slots before the front of the stream are free.
    fn free_done(&mut self) {
        let base = self.host.base;
        while let Some(piece) = self.host.handover.out_of_order.done_before(base, false) {
            let job = self.host.handover.out_of_order.job_of(&piece);
            self.give(piece.slot as u8, job.map(|job| job as u8));
        }
    }

    /// What is in order is walked by the card again, or framed by hand.
    fn go_on(&mut self, sizes: &Sizes) {
        self.free_done();
        if self.is_overtaken() && !self.host.handover.out_of_order.is_replaying() {
            self.spill(sizes);
        }
        while !self.host.handover.out_of_order.is_empty() {
            let stream = (self.host.base, self.host.available_to());
            let posted = match self.host.handover.out_of_order.next(stream, SEGMENT) {
                Next::Wait => return,
                Next::Post(pieces, start, end) if self.jobs.len() < sizes.jobs => {
                    self.post(pieces, start, end);
                    true
                }
                Next::Post(..) | Next::Spill => false,
            };
            if !posted {
                if self.host.handover.out_of_order.is_replaying() {
                    return;
                }
                self.spill(sizes);
            }
        }
        let beside = sizes.fault == Some(Fault::FramesBesideReplay);
        if self.host.handover.out_of_order.is_replaying() && !beside {
            return;
        }
        while end_of(self.host.base) <= self.host.available_to() {
            let (from, to) = (self.host.base, end_of(self.host.base));
            debug_assert!(is_boundary(from));
            self.place(false, from, to);
            self.host.consume(to);
            self.pass(from, self.host.base);
        }
    }

    fn post(&mut self, pieces: core::ops::Range<usize>, start: u32, end: u32) {
        let ranges = &mut self.host.handover.out_of_order;
        let in_use = |number: &u8| {
            let job = self.jobs.iter().any(|job| job.number == *number);
            let told =
                |report: &Report| matches!(report, Report::Replay { job, .. } if job == number);
            job || self.unheard.contains(number)
                || self.reports.iter().any(told)
                || self.ring.contains(&Slot::Waits(*number))
        };
        let number = (0..).find(|number| !in_use(number)).unwrap_or(0);
        let slots = ranges.range(pieces);
        let slots = slots.fold(0, |bits, piece| {
            bits | 1 << (piece.slot % u16::from(NUMBERS))
        });
        let follows = ranges.is_replaying();
        ranges.asked(Replay {
            seq: start,
            length: end - start,
            job: number.into(),
        });
        let job = Job {
            number,
            slots,
            seq: start,
            end,
            follows,
            epoch: self.host.handover.epoch(),
        };
        self.done.push(Done::Post(job));
        self.jobs.push_back(job);
    }

    fn handle_replay(&mut self, seq: u32, done: u32, outcome: Outcome, sizes: &Sizes) {
        let Some(replay) = self.host.handover.out_of_order.answered(seq) else {
            return;
        };
        let stands = self.host.base == seq && self.host.next() >= seq + done;
        if stands {
            self.pass_card(seq + done);
        }
        self.free_done();
        match outcome {
            Outcome::Whole => {}
            Outcome::Partial => self.host.handover.out_of_order.ended_inside(replay.end()),
            Outcome::Refused if !stands => {}
            Outcome::Refused => self.spill(sizes),
        }
        let gap = self.host.has_gap();
        self.host.handover.replay_ended(gap);
        self.go_on(sizes);
        self.take_fin(sizes);
        self.try_attach(sizes);
    }

    /// What comes is copied.
    fn is_overtaken(&self) -> bool {
        self.host.handover.is_overtaken(self.host.has_gap())
    }

    /// Behind the FIN nothing comes: what is left in slots is copied.
    fn take_fin(&mut self, sizes: &Sizes) {
        if self.host.fin == Some(self.host.next())
            && !self.host.handover.out_of_order.is_replaying()
        {
            self.spill(sizes);
            self.go_on(sizes);
        }
    }

    fn try_attach(&mut self, sizes: &Sizes) {
        let mut stream = self.stream();
        if sizes.fault == Some(Fault::AttachesBeforeIsland) {
            stream.between |= self.host.got == self.host.placed;
        }
        if self.host.fin.is_some() || !self.host.handover.may_attach(&stream) {
            return;
        }
        let (rcv, told) = (self.host.next(), (self.seen(), self.host.count));
        let applied = self.card.attach(rcv, told, sizes);
        self.done.push(Done::Attach { at: rcv, applied });
        self.host.handover.attach_answered(applied);
    }

    /// The engine freshens the card's timestamp. It is no more than a word beside the position; before, the flow was taken away for it.
    pub fn freshen(&mut self, sizes: &Sizes) {
        if sizes.fault == Some(Fault::FreshenWritesCount) && self.host.handover.is_attached() {
            self.card.attached = false;
            self.card.count = (self.host.count + 1) % sizes.counts;
            self.host.handover.segment(Told {
                payload: true,
                raw: true,
                attached: false,
                cut: false,
            });
        }
    }
}
