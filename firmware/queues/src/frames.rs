//! The memory of a frame ring: Ethernet frames that the owner of a card's first port has for the owner of the second one.

use crate::memory::Memory;
use crate::slots::{self, Slots};

/// Bytes of a frame at most: one of 1500 bytes of IPv4.
pub const MAX_FRAME: usize = 1514;
/// Frames that were taken: the first word.
const TAKEN: usize = 0;
/// The first slot, at the begin of 64 bytes.
const FRAMES: usize = 8;
/// The record before a frame: its bytes, and the phase bit in the last byte.
const RECORD: usize = 8;
const PHASE: (usize, u8) = (RECORD - 1, 1);

/// Where a frame ring's parts lie in its memory; the same value on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRing {
    frames: Slots,
}

impl FrameRing {
    /// Room for so many frames: a power of two. `None`: no ring is like that.
    pub fn new(frames: usize) -> Option<Self> {
        let bytes = RECORD + MAX_FRAME.next_multiple_of(8);
        Some(FrameRing {
            frames: Slots::new(FRAMES, bytes, frames)?,
        })
    }

    /// Bytes of memory that it takes, zero at first.
    pub fn bytes(&self) -> usize {
        (8 * self.frames.end()).next_multiple_of(64)
    }

    /// Frames that it holds.
    pub fn capacity(&self) -> u32 {
        self.frames.count()
    }

    /// Writes the frame of this number. False: there is no room, or it is too long; then it is as if the wire had lost it.
    pub fn put<M: Memory + ?Sized>(&self, memory: &M, number: u32, frame: &[u8]) -> bool {
        let under_way = number.wrapping_sub(memory.load_first(TAKEN) as u32);
        if under_way >= self.capacity() || frame.len() > MAX_FRAME {
            return false;
        }
        let at = self.frames.at(number);
        slots::put(memory, at + 1, frame);
        let mut record = (frame.len() as u64).to_le_bytes();
        record[PHASE.0] = u8::from(self.frames.phase(number));
        slots::put_record(memory, at, &record);
        true
    }

    /// The frame of this number, if it is there: its bytes, of which there are no more than the frame's and no more than `frame` has room for.
    pub fn get<M: Memory + ?Sized>(
        &self,
        memory: &M,
        number: u32,
        frame: &mut [u8],
    ) -> Option<usize> {
        let (at, phase) = (self.frames.at(number), self.frames.phase(number));
        let record: [u8; RECORD] = slots::get_record(memory, at, PHASE, phase)?;
        let length = usize::from(u16::from_le_bytes([record[0], record[1]]));
        let length = length.min(MAX_FRAME).min(frame.len());
        memory.expect(at + 1, length.div_ceil(8));
        slots::get(memory, at + 1, &mut frame[..length]);
        Some(length)
    }

    /// So many frames were taken.
    pub fn taken<M: Memory + ?Sized>(&self, memory: &M, count: u32) {
        memory.store_last(TAKEN, count.into());
    }
}
