//! The raw ring: frames that the card does not finish.

use weft_layout::{RAW_SHARE_LEAST, RAW_SHARE_PART};

use crate::iommu::HostMemory;

/// The raw ring.
#[derive(Clone, Debug, Default)]
pub struct RawRing {
    /// IOVA, as it was written last.
    pub base: u64,
    /// That of the ring as it was set up.
    ring: u64,
    slot_log2: u8,
    count_log2: u8,
    tail: u32,
    head: u32,
    /// Where the present generation of slots began.
    begin: u32,
    /// Slots that frames of no flow leave free.
    pub reserve: u32,
}

impl RawRing {
    /// RAW_LOG2 was written: a new ring.
    pub fn set_log2(&mut self, value: u32) {
        *self = Self {
            base: self.base,
            ring: self.base,
            reserve: self.reserve,
            slot_log2: (value as u8).clamp(11, 14),
            count_log2: ((value >> 8) as u8).clamp(1, 12),
            ..Self::default()
        };
    }

    /// RAW_LOG2 as written.
    pub fn log2(&self) -> u32 {
        u32::from(self.count_log2) << 8 | u32::from(self.slot_log2)
    }

    /// Frames written.
    pub fn tail(&self) -> u32 {
        self.tail
    }

    /// The host has consumed so many.
    pub fn set_head(&mut self, head: u32) {
        self.head = head;
        // One of the present generation came back.
        if self.head.wrapping_sub(self.begin) as i16 > 0 {
            self.begin = self.tail;
        }
    }

    pub(super) fn slot_bytes(&self) -> usize {
        1usize
            .checked_shl(self.slot_log2.into())
            .unwrap_or(usize::MAX)
    }

    fn used(&self) -> u64 {
        self.tail.wrapping_sub(self.head).into()
    }

    /// For a segment that is walked.
    pub(super) fn has_room_for_walk(&self) -> bool {
        self.used() < 1 << self.count_log2
    }

    /// For one that is not: beside an eighth.
    pub(super) fn has_room(&self) -> bool {
        let slots = 1 << self.count_log2;
        self.used() + slots / 8 < slots
    }

    /// What a flow has of its credit, by its mark and what it has taken: a share of the present generation.
    pub(super) fn taken(&self, mark: u32, taken: u32) -> u32 {
        let (begin, tail) = (self.begin as u16, self.tail as u16);
        let is_of_it = (mark as u16).wrapping_sub(begin).wrapping_sub(1) < tail.wrapping_sub(begin);
        if is_of_it {
            taken
        } else {
            0
        }
    }

    /// Slots that a flow may take of a generation.
    pub(super) fn share(&self) -> u32 {
        ((1 << self.count_log2) / RAW_SHARE_PART).max(RAW_SHARE_LEAST)
    }

    /// For a frame of no flow.
    pub(super) fn has_room_for_junk(&self) -> bool {
        self.used() + u64::from(self.reserve) < 1 << self.count_log2
    }

    /// Writes a frame; answers its slot, and whether the write was good.
    pub(super) fn put(&mut self, frame: &[u8], memory: &mut dyn HostMemory) -> (u16, bool) {
        let slot = self.tail & ((1 << self.count_log2) - 1);
        let good = memory
            .write(self.ring + (u64::from(slot) << self.slot_log2), frame)
            .is_ok();
        self.tail = self.tail.wrapping_add(1);
        (slot as u16, good)
    }
}
