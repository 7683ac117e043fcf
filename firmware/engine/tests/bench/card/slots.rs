//! The raw ring: slots in order, freed in order, and what the engine has of them.

/// IOVA of the first one.
pub const SLOTS: u64 = 1 << 44;
const SIZE: usize = 2048;
const COUNT: usize = 1024;

/// The slot in which a byte lies.
pub fn slot_at(iova: u64) -> u16 {
    ((iova - SLOTS) / SIZE as u64) as u16
}

/// Whose a slot is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Card,
    /// A report speaks of it.
    Host,
    /// The engine has it, until it gives it back.
    Engine,
}

/// The ring.
pub struct Slots {
    memory: Vec<u8>,
    of: Vec<Of>,
    next: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Slots {
            memory: vec![0; SIZE * COUNT],
            of: vec![Of::Card; COUNT],
            next: 0,
        }
    }
}

impl Slots {
    /// So many, before the first is used.
    pub fn resize(&mut self, count: usize) {
        self.memory = vec![0; SIZE * count];
        self.of = vec![Of::Card; count];
    }

    /// The ring is full: a frame is dropped. What is behind a slot waits with it.
    pub fn is_full(&self) -> bool {
        self.of[self.next] != Of::Card
    }

    /// Slots between the oldest one that waits and the next one.
    fn waiting(&self) -> usize {
        let before =
            |n: &usize| self.of[(self.next + self.of.len() - n) % self.of.len()] != Of::Card;
        (1..=self.of.len()).filter(before).max().unwrap_or(0)
    }

    pub fn is_half_full(&self) -> bool {
        self.waiting() >= self.of.len() / 2
    }

    /// With three quarters waiting, the oldest one that the engine has.
    pub fn wanted(&self) -> Option<u16> {
        let waiting = self.waiting();
        let oldest = (self.next + self.of.len() - waiting) % self.of.len();
        let lent = self.of[oldest] == Of::Engine;
        (waiting >= self.of.len() * 3 / 4 && lent).then_some(oldest as u16)
    }

    /// The slot that the engine has had longest.
    pub fn oldest_lent(&self) -> Option<u16> {
        let count = self.of.len();
        let mut from_oldest = (0..count).map(|n| (self.next + n) % count);
        let lent = from_oldest.find(|slot| self.of[*slot] == Of::Engine);
        lent.map(|slot| slot as u16)
    }

    pub fn put(&mut self, frame: &[u8]) -> u16 {
        let slot = self.next;
        assert!(self.of[slot] == Of::Card, "a slot that is not free");
        // What was there is gone for good.
        let memory = &mut self.memory[slot * SIZE..][..SIZE];
        memory.fill(0xee);
        // Longer ones are for hosts that get them with the report.
        let length = frame.len().min(SIZE);
        memory[..length].copy_from_slice(&frame[..length]);
        self.of[slot] = Of::Host;
        self.next = (slot + 1) % self.of.len();
        slot as u16
    }

    pub fn lend(&mut self, slot: u16) {
        self.of[usize::from(slot)] = Of::Engine;
    }

    pub fn free(&mut self, slot: u16) {
        assert!(self.of[usize::from(slot)] != Of::Card, "free already");
        self.of[usize::from(slot)] = Of::Card;
    }

    /// A host has copied what is in it. (A test may have put it there without a slot.)
    pub fn copied(&mut self, slot: u16) {
        self.of[usize::from(slot)] = Of::Card;
    }

    /// Slots that the engine has.
    pub fn lent_out(&self) -> usize {
        self.of.iter().filter(|of| **of == Of::Engine).count()
    }

    pub fn at(&self, slot: u16) -> Option<u64> {
        Some(SLOTS + u64::from(slot) * SIZE as u64)
    }

    pub fn bytes(&mut self, iova: u64, length: usize) -> Option<&mut [u8]> {
        let at = (iova - SLOTS) as usize;
        self.memory.get_mut(at..at.checked_add(length)?)
    }

    /// Bytes of a slot that the engine may read.
    pub fn lent(&self, slot: u16, at: usize, length: usize) -> &[u8] {
        assert!(self.of[usize::from(slot)] != Of::Card, "not lent");
        &self.memory[usize::from(slot) * SIZE + at..][..length]
    }
}
