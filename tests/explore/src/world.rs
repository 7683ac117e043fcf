//! One flow, from its peer to the engine, with everything that is on its way between.

use std::collections::VecDeque;

use crate::card::{Card, Job, Outcome, Placed, Report, SegmentReport, Slot, NUMBERS};
use crate::faults::Fault;
use crate::host::Host;
use crate::model::Sizes;
use crate::stream::{is_boundary, Octets, PERIOD};

/// An invariant that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// Octets were placed twice.
    PlacedTwice,
    /// Octets were passed over that nobody has placed.
    Lost,
    /// Something behind the FIN was placed.
    BehindFin,
    /// The card walks octets that are not the flow's.
    ForeignOctets,
    /// The card takes the middle of an FPDU for the beginning of one.
    Misframed,
}

/// A peer: what it may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// The right edge that it was told.
    pub edge: u32,
    /// Behind the last octet ever sent.
    pub sent: u32,
    /// The stream ends here: its FIN was sent.
    pub fin: Option<u32>,
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// The peer.
    pub peer: Peer,
    /// The card's half.
    pub card: Card,
    /// The raw ring from its oldest slot that is not free on.
    pub ring: VecDeque<Slot>,
    /// The number of that slot.
    pub head: u8,
    /// Reports on their way.
    pub reports: VecDeque<Report>,
    /// Replays on their way.
    pub jobs: VecDeque<Job>,
    /// Jobs that are done, of which the host has not heard.
    pub unheard: Vec<u8>,
    /// The engine.
    pub host: Host,
    /// What was placed.
    pub placed: Placed,
    /// The first invariant that did not hold.
    pub broken: Option<Broken>,
    /// What has been done in the event that is coming about: empty between events.
    pub done: Vec<Done>,
}

/// What is done in an event, and can be seen from without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// The host offers the flow at this octet.
    Attach {
        /// Octet.
        at: u32,
        /// The card has it.
        applied: bool,
    },
    /// The host posts a replay.
    Post(Job),
    /// The slots run short, and the engine copies what it keeps in some.
    Want,
    /// Octets are placed.
    Place {
        /// By the card.
        by_card: bool,
        /// From here.
        from: u32,
        /// To here.
        to: u32,
    },
}

impl World {
    /// A flow that was bound just now.
    pub fn new(sizes: &Sizes) -> Self {
        let mut world = World {
            peer: Peer {
                edge: PERIOD + sizes.window,
                sent: PERIOD,
                fin: None,
            },
            card: Card {
                bound: true,
                attached: false,
                epoch: 1,
                rcv: 0,
                carried: 0,
                islands: Octets::default(),
                behind_fin: false,
                mark: NUMBERS - 1,
                count: 0,
            },
            ring: VecDeque::new(),
            head: 0,
            reports: VecDeque::new(),
            jobs: VecDeque::new(),
            unheard: Vec::new(),
            host: Host::new(PERIOD, 1, sizes.policy),
            placed: Placed::default(),
            broken: None,
            done: Vec::new(),
        };
        world.placed.engine.add(0, PERIOD);
        world
    }

    fn breaks(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
    }

    /// Octets are placed.
    pub fn place(&mut self, by_card: bool, from: u32, to: u32) {
        if from < to {
            self.done.push(Done::Place { by_card, from, to });
        }
        if !self.placed.place(by_card, from, to) {
            self.breaks(Broken::PlacedTwice);
        }
        if self.peer.fin.is_some_and(|fin| to > fin) {
            self.breaks(Broken::BehindFin);
        }
    }

    /// The stream goes on behind these octets.
    pub fn pass(&mut self, from: u32, to: u32) {
        if !self.placed.has(from, to) {
            self.breaks(Broken::Lost);
        }
    }

    // ------------------------------------------------------------------ the raw ring

    /// A slot's number, taken for a frame.
    fn take_slot(&mut self, sizes: &Sizes) -> Option<u8> {
        if self.ring.len() >= sizes.slots {
            return None;
        }
        self.ring.push_back(Slot::Unseen);
        Some((self.head + self.ring.len() as u8 - 1) % NUMBERS)
    }

    /// Where a slot is in the ring.
    pub fn slot_at(&mut self, number: u8) -> Option<&mut Slot> {
        let at = number.wrapping_sub(self.head) % NUMBERS;
        self.ring.get_mut(usize::from(at))
    }

    /// Slots whose reports were handled, counted from the first ever.
    pub fn seen(&self) -> u8 {
        let unseen = self.ring.iter().position(|slot| *slot == Slot::Unseen);
        let before = unseen.unwrap_or(self.ring.len()) as u8;
        self.head.wrapping_add(before) % NUMBERS
    }

    /// The engine keeps a slot.
    pub fn share(&mut self, number: u8) {
        if let Some(slot) = self.slot_at(number) {
            *slot = Slot::Lent;
        }
    }

    /// A slot is needed no more, but by a job.
    pub fn give(&mut self, number: u8, job: Option<u8>) {
        if let Some(slot) = self.slot_at(number) {
            *slot = job.map_or(Slot::Free, Slot::Waits);
        }
        self.return_slots();
    }

    /// The host hears that this job is done.
    pub fn hear(&mut self, job: u8) {
        for slot in &mut self.ring {
            if *slot == Slot::Waits(job) {
                *slot = Slot::Free;
            }
        }
        self.return_slots();
    }

    /// Free slots go back to the card in the ring's order.
    fn return_slots(&mut self) {
        while self.ring.front() == Some(&Slot::Free) {
            self.ring.pop_front();
            self.head = (self.head + 1) % NUMBERS;
        }
    }

    // ------------------------------------------------------------------ what happens

    /// A frame that is not of the flow comes up raw.
    pub fn foreign(&mut self, sizes: &Sizes) {
        if let Some(slot) = self.take_slot(sizes) {
            self.reports.push_back(Report::Foreign { slot });
        }
    }

    /// A segment of the peer arrives.
    pub fn segment(&mut self, seq: u32, length: u32, fin: bool, sizes: &Sizes) {
        let fault = sizes.fault;
        let end = seq + length;
        self.peer.sent = self.peer.sent.max(end);
        let mut report = SegmentReport {
            epoch: self.card.epoch,
            seq,
            length,
            done: 0,
            slot: None,
            attached: self.card.attached,
            fin,
            count: self.card.count,
        };
        let in_order = seq == self.card.rcv;
        let inside = !in_order && !fin && self.card.islands.has(seq, end);
        let known = end <= self.card.rcv || inside;
        let old = self.card.attached && known && length > 0;
        if length > 0 && !old {
            // In sequence or not: a segment that may come up raw needs a slot.
            if self.ring.len() >= sizes.slots {
                return;
            }
            if fin {
                self.peer.fin = Some(end);
            }
            let mut whole = false;
            let takes = self.card.attached && !self.card.behind_fin;
            let beyond = takes && seq > self.card.rcv && sizes.islands > 0 && !fin;
            if beyond && self.card.has_room_for(seq, end, sizes) {
                let walked = self.card.walk_beyond(seq, end);
                self.place(true, walked.from, walked.to);
                report.done = walked.to - seq;
                whole = walked.to == end;
            }
            if takes && in_order && !self.card.islands.meets(seq, end) {
                let walked = self.card.walk_on(seq, end);
                if !is_boundary(walked.from) {
                    self.breaks(Broken::Misframed);
                }
                self.place(true, walked.from, walked.to);
                report.done = walked.to.saturating_sub(seq);
                whole = walked.to == end;
                if whole {
                    self.card.pass_islands();
                }
                if !whole && sizes.carry && !fin {
                    // The engine needs the octets if the card cannot finish the FPDU.
                    self.card.carry(end);
                    report.slot = self.take_slot(sizes);
                    whole = true;
                }
            }
            if !whole {
                report.slot = self.take_slot(sizes);
                report.attached = false;
                (self.card.attached, self.card.behind_fin) = (false, false);
                self.card.islands = Octets::default();
                self.card.mark = report.slot.unwrap_or(self.card.mark);
                self.card.count = (self.card.count + 1) % sizes.counts;
                report.count = self.card.count;
            }
        }
        // Whatever comes behind a FIN is nobody's.
        let at_fin = self.card.attached && fin && end == self.card.rcv;
        if at_fin && !old && fault != Some(Fault::PlacesBehindFin) {
            self.card.behind_fin = true;
        }
        self.reports.push_back(Report::Segment(report));
    }

    /// The card does the next replay.
    pub fn replay(&mut self, sizes: &Sizes) {
        let Some(job) = self.jobs.pop_front() else {
            return;
        };
        // A slot of it may hold something else by now.
        let mut gone = false;
        for number in (0..NUMBERS).filter(|n| job.slots >> n & 1 == 1) {
            gone |= !matches!(self.slot_at(number), Some(Slot::Lent | Slot::Waits(_)));
        }
        if gone || job.epoch != self.card.epoch {
            self.breaks(Broken::ForeignOctets);
            return;
        }
        self.unheard.push(job.number);
        if !self.card.bound {
            // It is dropped, and nobody is told.
            return;
        }
        let elsewhere = job.follows && self.card.rcv != job.seq;
        let ignores = sizes.fault == Some(Fault::FollowsPartial);
        let (outcome, done) = if self.card.attached || elsewhere && !ignores {
            (Outcome::Refused, 0)
        } else {
            if !is_boundary(job.seq) {
                self.breaks(Broken::Misframed);
            }
            let walked = self.card.walk(job.seq, job.end);
            self.place(true, walked.from, walked.to);
            let done = walked.to - walked.from;
            match walked.to == job.end {
                true => (Outcome::Whole, done),
                false => (Outcome::Partial, done),
            }
        };
        self.reports.push_back(Report::Replay {
            epoch: job.epoch,
            seq: job.seq,
            done,
            outcome,
            job: job.number,
        });
    }

    /// The connection has ended: the flow's key is gone.
    pub fn leave(&mut self, sizes: &Sizes) {
        (self.card.bound, self.card.attached, self.card.behind_fin) = (false, false, false);
        self.spill(sizes);
    }

    /// Another connection has the flow. Reports of the one before may still be on their way.
    pub fn bind_anew(&mut self, sizes: &Sizes) {
        let epoch = (self.card.epoch + 1) % 2;
        self.card = Card {
            bound: true,
            attached: false,
            epoch,
            rcv: 0,
            carried: 0,
            islands: Octets::default(),
            behind_fin: false,
            mark: (self.seen() + NUMBERS - 1) % NUMBERS,
            count: 0,
        };
        self.host = Host::new(PERIOD, epoch, sizes.policy);
        self.placed = Placed::default();
        self.placed.engine.add(0, PERIOD);
        self.peer = Peer {
            edge: PERIOD + sizes.window,
            sent: PERIOD,
            fin: None,
        };
    }

    /// The engine looks at JOB_DONE: it has a timer for as long as slots wait for a job.
    pub fn look_at_jobs(&mut self) {
        for job in core::mem::take(&mut self.unheard) {
            self.hear(job);
        }
    }

    /// Counts octets anew, so that runs without end have finitely many worlds.
    pub fn rebase(&mut self) {
        self.done.clear();
        let by = PERIOD;
        let queued = self.reports.iter().filter_map(|report| match report {
            Report::Segment(segment) => Some(segment.seq),
            Report::Replay { seq, .. } => Some(*seq),
            Report::Foreign { .. } => None,
        });
        let queued = queued.chain(self.jobs.iter().map(|job| job.seq)).min();
        while self.host.base >= 2 * PERIOD && queued.is_none_or(|seq| seq >= 2 * PERIOD) {
            self.host.rebase(by);
            self.card.rebase(by);
            self.peer.edge -= by;
            self.peer.sent -= by;
            self.peer.fin = self.peer.fin.map(|fin| fin - by);
            self.placed.card.rebase(by);
            self.placed.engine.rebase(by);
            for report in &mut self.reports {
                match report {
                    Report::Segment(segment) => segment.seq -= by,
                    Report::Replay { seq, .. } => *seq -= by,
                    Report::Foreign { .. } => {}
                }
            }
            for job in &mut self.jobs {
                (job.seq, job.end) = (job.seq - by, job.end - by);
            }
            if queued.is_some() {
                break;
            }
        }
        let kept = self.host.base.saturating_sub(PERIOD);
        self.placed.card.forget_before(kept);
        self.placed.engine.forget_before(kept);
        if !self.card.attached
            && self.jobs.is_empty()
            && !self.host.handover.out_of_order.is_replaying()
        {
            // Nothing asks for the position of a flow that is detached.
            self.card.rcv = 0;
        }
        // Only differences of numbers count.
        self.renumber();
    }

    /// The oldest slot becomes number 0.
    fn renumber(&mut self) {
        let head = core::mem::take(&mut self.head);
        let anew = |number: u8| number.wrapping_sub(head) % NUMBERS;
        self.card.mark = anew(self.card.mark);
        for report in &mut self.reports {
            match report {
                Report::Segment(segment) => segment.slot = segment.slot.map(anew),
                Report::Foreign { slot } => *slot = anew(*slot),
                Report::Replay { .. } => {}
            }
        }
        for job in &mut self.jobs {
            job.slots = job.slots.rotate_right(head.into());
        }
        let ranges = &mut self.host.handover.out_of_order;
        ranges.renumber(|slot| anew(slot as u8).into());
    }
}
