//! Which slots of the raw ring are still needed. Frames come in the ring's order, are let go in any, and the card is told in the ring's.

use alloc::vec;
use alloc::vec::Vec;
use weft_layout::RAW_SHARE_PART;

/// A ring has so many quarters of what one flow may take (card.md, *Reports, interrupts, back-pressure*).
const QUARTERS: u32 = 4 * RAW_SHARE_PART;

/// The account of a raw ring's slots.
#[derive(Debug)]
pub struct RawSlots {
    /// Slots, a power of two.
    count: u32,
    /// Frames taken, those in front that nobody needs any more, and of these what the card has been told of: modulo 2^32.
    taken: u32,
    free: u32,
    told: u32,
    /// Slots of frames that were taken and are still needed.
    lent: Vec<bool>,
}

impl RawSlots {
    /// Of a ring of `2^log2` slots in which there is no frame.
    pub fn new(log2: u8) -> Self {
        Self {
            count: 1 << log2,
            taken: 0,
            free: 0,
            told: 0,
            lent: vec![false; 1 << log2],
        }
    }

    /// The next frame is taken, which must be in this slot: it is needed until [`free`](Self::free). False: it is not the next one.
    pub fn take(&mut self, slot: u16) -> bool {
        if u32::from(slot) != self.taken & (self.count - 1) {
            return false;
        }
        self.taken = self.taken.wrapping_add(1);
        self.set_lent(slot, true);
        true
    }

    /// Frames taken since the ring was set up, modulo 2^32.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Nobody needs the frame any more.
    pub fn free(&mut self, slot: u16) {
        self.set_lent(slot, false);
        while self.free != self.taken && !self.is_lent(self.free) {
            self.free = self.free.wrapping_add(1);
        }
    }

    fn set_lent(&mut self, slot: u16, lent: bool) {
        if let Some(entry) = self.lent.get_mut(usize::from(slot)) {
            *entry = lent;
        }
    }

    fn is_lent(&self, number: u32) -> bool {
        let slot = number & (self.count - 1);
        self.lent.get(slot as usize).copied().unwrap_or(false)
    }

    /// Slots from the first one that is still needed to the last one taken.
    fn waiting(&self) -> u32 {
        self.taken.wrapping_sub(self.free)
    }

    /// A frame may stay in its slot: half of what one flow has credit for, so that what fills its gap finds a slot.
    pub fn may_lend(&self) -> bool {
        self.waiting() <= 2 * self.count / QUARTERS
    }

    /// The slot that has to be free soon: the credit of whoever has it ends before all that were used after it wait for it.
    pub fn wanted(&self) -> Option<u16> {
        let slot = self.free & (self.count - 1);
        (self.waiting() >= self.count / QUARTERS * 3 && self.count > 4).then_some(slot as u16)
    }

    /// What the card is to be told (RAW_HEAD), if it is time: of slots that nobody needs, a quarter of a flow's credit at a time.
    /// With it, and with what [`wanted`](Self::wanted) takes back, no flow waits for slots that the card has not heard of.
    pub fn take_room(&mut self) -> Option<u32> {
        if self.free.wrapping_sub(self.told) < self.count.div_ceil(QUARTERS) {
            return None;
        }
        self.told = self.free;
        Some(self.free)
    }
}
