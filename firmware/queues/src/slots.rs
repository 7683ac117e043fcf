//! Slots of one size in a ring: a record, and bytes behind it.

use crate::memory::Memory;

/// Bytes of private data that a command or an event holds.
pub const MAX_PRIVATE_DATA: usize = 512;
/// Slots of a ring at most.
const MAX_SLOTS: usize = 1 << 16;

/// A ring of a power of two of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Its first word.
    pub first: usize,
    /// Words of a slot.
    pub words: usize,
    /// Slots, less one.
    pub mask: u32,
}

impl Slots {
    /// At least so many slots of so many bytes; `None`: no ring is like that.
    pub fn new(first: usize, bytes: usize, slots: usize) -> Option<Self> {
        (1..=MAX_SLOTS).contains(&slots).then(|| Slots {
            first,
            words: bytes / 8,
            mask: slots.next_power_of_two() as u32 - 1,
        })
    }

    /// The word behind it.
    pub fn end(&self) -> usize {
        self.first + self.words * (self.mask as usize + 1)
    }

    /// Slots.
    pub fn count(&self) -> u32 {
        self.mask + 1
    }

    /// The first word of the slot of this number.
    pub fn at(&self, number: u32) -> usize {
        self.first + self.words * (number & self.mask) as usize
    }

    /// The phase bit of the record of this number.
    pub fn phase(&self, number: u32) -> bool {
        number & self.count() == 0
    }
}

/// Writes bytes as words; the last word may have fewer.
pub(crate) fn put<M: Memory + ?Sized>(memory: &M, at: usize, bytes: &[u8]) {
    for (index, bytes) in bytes.chunks(8).enumerate() {
        memory.store(at + index, word(bytes));
    }
}

/// The same for a whole record, whose last word has the phase bit.
pub(crate) fn put_record<M: Memory + ?Sized>(memory: &M, at: usize, bytes: &[u8]) {
    let (before, last) = bytes.split_at(bytes.len() - 8);
    put(memory, at, before);
    memory.store_last(at + before.len() / 8, word(last));
}

/// Reads words as bytes, each once.
pub(crate) fn get<M: Memory + ?Sized>(memory: &M, at: usize, bytes: &mut [u8]) {
    for (index, bytes) in bytes.chunks_mut(8).enumerate() {
        let word = memory.load(at + index).to_le_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

/// A record of `SIZE` bytes, if its last word has this phase bit.
pub(crate) fn get_record<const SIZE: usize, M: Memory + ?Sized>(
    memory: &M,
    at: usize,
    (phase_at, phase): (usize, u8),
    wanted: bool,
) -> Option<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    let (before, end) = bytes.split_at_mut(SIZE - 8);
    let last = memory.load_first(at + before.len() / 8).to_le_bytes();
    if (last[phase_at % 8] & phase != 0) != wanted {
        return None;
    }
    end.copy_from_slice(&last);
    get(memory, at, before);
    Some(bytes)
}

/// Up to 8 bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
