//! Pieces of a received stream that lie in raw slots: the account of them.

use alloc::collections::VecDeque;

use weft_tcp::seq;

/// What became of a report whose frame may stay in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing was done: it is another one, for [`Engine::on_report`](crate::Engine::on_report).
    No,
    /// The report is handled, and nobody needs its frame.
    Done,
    /// The report is handled, and the slot is lent until [`Engine::poll_slot`](crate::Engine::poll_slot) gives it back.
    Held,
}

/// A piece of the stream in a raw slot.
#[derive(Clone, Copy, Debug)]
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

/// A replay that is under way. Each begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
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

/// What of a connection's stream lies in slots. As long as something does, nothing of it lies in pages.
#[derive(Debug, Default)]
pub struct Held {
    /// In their order, apart from one another.
    pub pieces: VecDeque<Piece>,
    /// What the card has been asked to walk over, in their order.
    pub replays: VecDeque<Replay>,
    /// A replay as far as here ended inside an FPDU.
    pub partial: Option<u32>,
    /// Replays since there was a gap, at the end of which more lay in slots.
    pub overtaken: u8,
}

impl Held {
    /// No slot at all.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The card is walking over some of it.
    pub fn is_replaying(&self) -> bool {
        !self.replays.is_empty()
    }

    /// A replay is over, and more had come meanwhile, behind which there is no gap; or not.
    pub fn note_end(&mut self, overtaken: bool) {
        self.overtaken = match overtaken {
            true => self.overtaken.saturating_add(1),
            false => 0,
        };
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

    /// One more.
    pub fn put(&mut self, piece: Piece) {
        let at = self.pieces.partition_point(|p| seq::lt(p.seq, piece.seq));
        self.pieces.insert(at, piece);
    }
}
