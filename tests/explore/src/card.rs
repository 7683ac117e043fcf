//! The card: segments and replays, by the rules of docs/card.md.

use crate::faults::Fault;
use crate::model::Sizes;
use crate::stream::{is_boundary, whole_until, Octets};

/// Numbers of raw slots are kept modulo this.
pub const NUMBERS: u8 = 8;

/// A raw slot of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Its report is on its way.
    Unseen,
    /// The engine has it.
    Lent,
    /// The engine needs it no more, and a job may still read it.
    Waits(u8),
    /// Free, behind one that is not.
    Free,
}

/// What the card reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Report {
    /// A segment of the flow.
    Segment(SegmentReport),
    /// A frame that is not of the flow, in a raw slot.
    Foreign {
        /// The slot's number.
        slot: u8,
    },
    /// A replay.
    Replay {
        /// The binding's.
        epoch: u8,
        /// Where it began.
        seq: u32,
        /// Octets walked.
        done: u32,
        /// How it ended.
        outcome: Outcome,
        /// Its job.
        job: u8,
    },
}

/// A segment of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentReport {
    /// The binding's.
    pub epoch: u8,
    /// First octet.
    pub seq: u32,
    /// Octets.
    pub length: u32,
    /// Of these the card has placed.
    pub done: u32,
    /// The slot's number, if it came up raw.
    pub slot: Option<u8>,
    /// The flow is attached behind it.
    pub attached: bool,
    /// The FIN is in it.
    pub fin: bool,
    /// Raw payload segments, as they were counted before.
    pub count: u8,
}

/// How a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// All of it was walked.
    Whole,
    /// It ends inside an FPDU.
    Partial,
    /// Nothing was done.
    Refused,
}

/// A replay job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    /// Its number.
    pub number: u8,
    /// The slots that it reads, as bits of their numbers.
    pub slots: u16,
    /// First octet.
    pub seq: u32,
    /// Behind the last.
    pub end: u32,
    /// It goes on where the one before it ended.
    pub follows: bool,
    /// Of this binding.
    pub epoch: u8,
}

/// The flow's rows and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Card {
    /// Its key is in the lookup.
    pub bound: bool,
    /// It frames and places.
    pub attached: bool,
    /// The binding's.
    pub epoch: u8,
    /// The next octet expected; of a detached flow where the last replay ended.
    pub rcv: u32,
    /// So many octets before `rcv` are of an FPDU that its segment did not end: they go before the next one.
    pub carried: u32,
    /// What is placed beyond `rcv`.
    pub islands: Octets,
    /// Its position is one number further, behind the FIN: nothing of the stream is in sequence.
    pub behind_fin: bool,
    /// The number of the slot of the last payload segment that came up raw.
    pub mark: u8,
    /// How many have, as it was counted before.
    pub count: u8,
}

/// A piece of the stream that was walked: what was placed, and where it ended.
pub struct Walked {
    /// From here.
    pub from: u32,
    /// To here.
    pub to: u32,
}

impl Card {
    /// Whether every raw payload segment of the flow is among the `seen` slots. As many slots as the ring has may be unseen, so a mark
    /// further ahead is one of long ago.
    pub fn all_seen(&self, seen: u8, slots: usize) -> bool {
        let ahead = self.mark.wrapping_sub(seen) % NUMBERS;
        usize::from(ahead) >= slots
    }

    /// An ATTACH with a position: whether it is applied.
    pub fn attach(&mut self, rcv: u32, (seen, count): (u8, u8), sizes: &Sizes) -> bool {
        let fault = sizes.fault;
        let seen = match fault {
            Some(Fault::AttachUnseen) => true,
            Some(Fault::CountsWrap | Fault::FreshenWritesCount) => self.count == count,
            _ => self.all_seen(seen, sizes.slots),
        };
        if !seen || self.attached {
            return false;
        }
        (self.attached, self.rcv, self.behind_fin) = (true, rcv, false);
        if fault != Some(Fault::CarriedTwice) {
            self.carried = 0;
        }
        self.islands = Octets::default();
        true
    }

    /// Walks what is carried and `[seq, end)` behind it.
    pub fn walk_on(&mut self, seq: u32, end: u32) -> Walked {
        let from = seq.saturating_sub(self.carried);
        self.carried = 0;
        self.walk(from, end)
    }

    /// The segment that ends at `end` is taken whole: what was not walked of it is carried.
    pub fn carry(&mut self, end: u32) {
        self.carried = end - self.rcv;
        self.rcv = end;
    }

    /// A segment beyond a gap meets no island, and touches one or is one more that the card can keep.
    pub fn has_room_for(&self, seq: u32, end: u32, sizes: &Sizes) -> bool {
        let mut with = self.islands;
        with.add(seq, end);
        let again = sizes.fault == Some(Fault::IslandPlacedTwice);
        (again || !self.islands.meets(seq, end)) && with.stretches() <= sizes.islands
    }

    /// Walks a segment beyond a gap. The position stays; an island if all of it was walked. One that does not begin with an FPDU has a marker that
    /// says so.
    pub fn walk_beyond(&mut self, seq: u32, end: u32) -> Walked {
        let to = match is_boundary(seq) {
            true => whole_until(seq, end),
            false => seq,
        };
        if to == end {
            self.islands.add(seq, end);
        }
        Walked { from: seq, to }
    }

    /// A walk in order has ended: behind an island that begins there.
    pub fn pass_islands(&mut self) {
        self.rcv = self.islands.end_from(self.rcv);
        self.islands.forget_before(self.rcv);
    }

    /// Walks `[from, end)`, which begins at an FPDU.
    pub fn walk(&mut self, from: u32, end: u32) -> Walked {
        let to = whole_until(from, end);
        self.rcv = to;
        Walked { from, to }
    }

    /// Counts anew, from `by` octets later.
    pub fn rebase(&mut self, by: u32) {
        self.rcv = self.rcv.saturating_sub(by);
        self.islands.rebase(by);
    }
}

/// What was placed, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Placed {
    /// By the card.
    pub card: Octets,
    /// By the engine.
    pub engine: Octets,
}

impl Placed {
    /// `[from, to)` is placed now. False: some of it was before.
    pub fn place(&mut self, by_card: bool, from: u32, to: u32) -> bool {
        let fresh = !self.card.meets(from, to) && !self.engine.meets(from, to);
        match by_card {
            true => self.card.add(from, to),
            false => self.engine.add(from, to),
        }
        fresh
    }

    /// All of it was placed.
    pub fn has(&self, from: u32, to: u32) -> bool {
        (from..to).all(|at| self.card.has(at, at + 1) || self.engine.has(at, at + 1))
    }
}
