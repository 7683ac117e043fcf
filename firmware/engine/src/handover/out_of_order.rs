//! Pieces of a received stream that lie in raw slots: the account of them, and which the card is to walk over again.

use alloc::collections::VecDeque;
use core::ops::Range;

use weft_tcp::seq;

/// Pieces that a job can name.
pub const MAX_PIECES: usize = 4;
/// Replays in flight on a connection.
const MAX_REPLAYS: usize = 8;

/// What became of the slot of a report whose frame may stay in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// Nothing was done: it is another report, for [`Engine::on_report`](crate::Engine::on_report).
    Untouched,
    /// The report is handled, and nobody needs its frame.
    Free,
    /// The report is handled, and the slot is lent until [`Engine::poll_slot`](crate::Engine::poll_slot) gives it back.
    Lent,
}

/// A piece of the stream in a raw slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its first octet.
    pub seq: u32,
    /// Octets.
    pub length: u16,
    /// Its slot.
    pub slot: u16,
    /// Where it begins in it.
    pub at: u16,
}

impl Piece {
    /// Behind its last octet.
    pub fn end(&self) -> u32 {
        self.seq.wrapping_add(u32::from(self.length))
    }
}

/// A replay in flight. Each begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replay {
    /// Its first octet.
    pub seq: u32,
    /// Octets.
    pub length: u32,
    /// Its job.
    pub job: u32,
}

impl Replay {
    /// Behind its last octet.
    pub fn end(&self) -> u32 {
        self.seq.wrapping_add(self.length)
    }
}

/// What is to be done with the ranges that lie in slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing now: a report or another segment comes.
    Wait,
    /// The card is to walk over these pieces, from the first octet to the second.
    Post(Range<usize>, u32, u32),
    /// The card cannot: all of it is to be copied.
    Spill,
}

/// The out-of-order ranges of a connection's stream, as they lie in slots. As long as something does, nothing of it lies in pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OutOfOrder {
    /// In their order, apart from one another.
    pieces: VecDeque<Piece>,
    /// What the card has been asked to walk over, in their order.
    replays: VecDeque<Replay>,
    /// A replay as far as here ended inside an FPDU.
    partial: Option<u32>,
}

impl OutOfOrder {
    /// No slot at all.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The card is walking over some of it.
    pub fn is_replaying(&self) -> bool {
        !self.replays.is_empty()
    }

    /// A piece of it is in this slot.
    pub fn has(&self, slot: u16) -> bool {
        self.pieces.iter().any(|piece| piece.slot == slot)
    }

    /// Where the next replay begins, when what is not done with begins there.
    pub fn goes_on_at(&self, base: u32) -> u32 {
        self.replays.back().map_or(base, Replay::end)
    }

    /// The job that reads this piece.
    pub fn job_of(&self, piece: &Piece) -> Option<u32> {
        let reads =
            |replay: &&Replay| seq::lt(piece.seq, replay.end()) && seq::lt(replay.seq, piece.end());
        self.replays
            .iter()
            .rev()
            .find(reads)
            .map(|replay| replay.job)
    }

    /// The last job that walks over any of it.
    pub fn last_job(&self) -> Option<u32> {
        self.replays.back().map(|replay| replay.job)
    }

    /// The pieces, in their order.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter()
    }

    /// These of them.
    pub fn range(&self, pieces: Range<usize>) -> impl Iterator<Item = &Piece> {
        self.pieces.range(pieces)
    }

    /// A piece more.
    pub fn put(&mut self, piece: Piece) {
        let at = self.pieces.partition_point(|p| seq::lt(p.seq, piece.seq));
        self.pieces.insert(at, piece);
    }

    /// The first piece, whose slot the engine has done with: it was copied, or nobody wants it.
    pub fn take_front(&mut self) -> Option<Piece> {
        let piece = self.pieces.pop_front();
        if self.pieces.is_empty() {
            // No memory while no slot is lent.
            self.pieces = VecDeque::new();
            self.partial = None;
        }
        piece
    }

    /// The card was asked to walk over some of it.
    pub fn asked(&mut self, replay: Replay) {
        self.replays.push_back(replay);
    }

    /// The oldest replay, if it begins there, has its report.
    pub fn answered(&mut self, seq: u32) -> Option<Replay> {
        let first = self.replays.front().filter(|replay| replay.seq == seq);
        first.is_some().then(|| self.replays.pop_front())?
    }

    /// A replay's job has failed, and it has no report. False: it is none of these.
    pub fn failed(&mut self, job: u32) -> bool {
        let at = self.replays.iter().position(|replay| replay.job == job);
        at.is_some_and(|at| self.replays.remove(at).is_some())
    }

    /// A replay as far as here ended inside an FPDU.
    pub fn ended_inside(&mut self, end: u32) {
        self.partial = Some(end);
    }

    /// Counts octets anew, from `by` later: for models whose runs have no end.
    pub fn rebase(&mut self, by: u32) {
        let anew = |seq: &mut u32| *seq = seq.saturating_sub(by);
        self.pieces
            .iter_mut()
            .for_each(|piece| anew(&mut piece.seq));
        self.replays
            .iter_mut()
            .for_each(|replay| anew(&mut replay.seq));
        self.partial.iter_mut().for_each(anew);
    }

    /// Counts slots anew: for the same models.
    pub fn renumber(&mut self, anew: impl Fn(u16) -> u16) {
        self.pieces
            .iter_mut()
            .for_each(|piece| piece.slot = anew(piece.slot));
    }

    /// What comes next of a stream whose octets from `base` to `next` are in order, in replays of so many octets at most.
    pub fn next(&self, (base, next): (u32, u32), most: u32) -> Next {
        let start = self.goes_on_at(base);
        let replays = self.replays.len();
        if start == next || replays >= MAX_REPLAYS {
            return Next::Wait;
        }
        let first = self.pieces.partition_point(|p| seq::le(p.end(), start));
        let in_order = self.pieces.partition_point(|p| seq::lt(p.seq, next));
        let fits = |piece: &&Piece| piece.end().wrapping_sub(start) <= most;
        let count = self.pieces.range(first..in_order).take(MAX_PIECES);
        let count = count.take_while(fits).count();
        let last = count.checked_sub(1);
        let Some(end) = last.and_then(|last| self.pieces.get(first + last)) else {
            return if replays > 0 { Next::Wait } else { Next::Spill };
        };
        let end = end.end();
        let is_full = count == MAX_PIECES || first + count < in_order;
        if self.partial == Some(end) {
            // An FPDU that goes on behind it, or is too much for a job.
            return if is_full { Next::Spill } else { Next::Wait };
        }
        if replays > 0 && !is_full {
            // More may come while the card is busy.
            return Next::Wait;
        }
        Next::Post(first..first + count, start, end)
    }

    /// The pieces before `base` are done with, or all of them. What is done of the first one that is left is cut off.
    pub fn done_before(&mut self, base: u32, all: bool) -> Option<Piece> {
        if self.partial.is_some_and(|end| seq::le(end, base)) {
            self.partial = None;
        }
        let first = self.pieces.front_mut()?;
        if !all && seq::lt(base, first.end()) {
            let gone = seq::diff(base, first.seq).clamp(0, first.length.into()) as u16;
            first.seq = first.seq.wrapping_add(gone.into());
            first.length -= gone;
            first.at += gone;
            return None;
        }
        self.take_front()
    }
}
