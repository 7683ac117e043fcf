//! What the world knows of a card: a box with a host side (MMIO, memory, interrupts) and a wire side
//! (Ethernet frames), advanced one clock cycle at a time.

use std::path::Path;

use crate::iommu::HostMemory;

/// Nanoseconds of a clock cycle: 250 MHz.
pub const CYCLE_NS: u64 = 4;

/// Where the doorbells begin in the card's one address space (bit 16 selects BAR2).
pub const DOORBELLS: u32 = 0x1_0000;

/// The push window's bytes, from `doorbell::JOB_PUSH` on.
pub const PUSH_WINDOW: u32 = 4096;

/// What a card did in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last beat of a frame left.
    Frame(Vec<u8>),
    /// An interrupt was asked for.
    Interrupt(u8),
    /// The oldest MMIO read is answered.
    Read(u32),
}

/// One card.
pub trait Card: Send {
    /// What it is, for messages.
    fn name(&self) -> String;

    /// Posts a write of a 32-bit word; runs after all accesses before it.
    fn write(&mut self, address: u32, value: u32);

    /// Posts a write of whole words into the push window, `offset` from the start of the doorbells. It may overtake accesses before it,
    /// and they may overtake it.
    fn push(&mut self, offset: u32, bytes: &[u8]);

    /// Asks for a read; its answer comes as [`Event::Read`].
    fn read(&mut self, address: u32);

    /// A frame begins to arrive now, behind those that are still arriving. `bad`: the MAC's verdict.
    fn receive(&mut self, frame: Vec<u8>, bad: bool);

    /// Clock cycle number `now` (cycles may have been left out before it). Its events are appended to
    /// `events`.
    fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>);

    /// Nothing is in flight, and nothing happens before the next call of `write`, `read` or
    /// `receive`, or before its [`alarm`](Self::alarm): cycles may be left out.
    fn idle(&self) -> bool;

    /// The clock cycle at which an idle card will do something by itself, if nothing else comes before.
    fn alarm(&self) -> Option<u64> {
        None
    }

    /// A function-level reset: asked for now, done when [`resetting`](Self::resetting) says so. What is around the card
    /// lives on, and may answer late.
    fn reset(&mut self);

    /// A function-level reset is under way.
    fn resetting(&self) -> bool {
        false
    }

    /// Records waves of the last cycles, at least so many of them, to files whose names begin with
    /// `path`. `false`: this card has none.
    fn record_waves(&mut self, path: &Path, cycles: u64) -> bool {
        let _ = (path, cycles);
        false
    }

    /// Whether there are waves to record.
    fn has_waves(&self) -> bool {
        false
    }

    /// Something went wrong inside that no event tells (a protocol checker, an assertion).
    fn failure(&self) -> Option<String> {
        None
    }
}
