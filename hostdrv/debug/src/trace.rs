//! The card's own record of what it did: the trace ring, read through registers.
//!
//! It works on a bare [`Transport`], so a card can be examined on which nothing else works any more: no DMA, no
//! [`Device`]. The card records all the time, and a reset leaves what it recorded; nothing has to be turned on.
//!
//! ```
//! # use std::sync::Arc;
//! # use weft_debug::trace::TraceReader;
//! # use weft_hostdrv::{transport::Transport, DeviceError};
//! fn post_mortem(card: Arc<dyn Transport>) -> Result<(), DeviceError> {
//!     let trace = TraceReader::open(card)?.snapshot()?;
//!     for event in &trace.events {
//!         println!("{event}");
//!     }
//!     Ok(())
//! }
//! ```

mod event;
mod names;

use std::sync::Arc;

use weft_layout::{reg::TraceCtrl, registers, TraceEntry};

use weft_card_transport::Transport;
use weft_hostdrv::checks::{check_identity, trace_ring_size};
use weft_hostdrv::mmio::Mmio;
use weft_hostdrv::{Device, DeviceError};

pub use event::{DropReason, JobEnd, ReportKind, TraceEvent, TraceKind, Verdict};

/// TRACE_CTRL that records events of every kind.
const EVERYTHING: u16 = u16::MAX;
/// Words of an entry.
const ENTRY_WORDS: u32 = TraceEntry::SIZE as u32 / 4;
/// The register window has room for so many entries.
const MAX_SIZE: u32 = registers::TRACE.count() / ENTRY_WORDS;

/// Events as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// In the order of their times.
    pub events: Vec<TraceEvent>,
    /// Events that were overwritten before they were read, since the last call.
    pub missed: u32,
    /// Events that the card could not record (TRACE_LOST), since the ring was emptied.
    pub lost: u32,
    /// The card's clock when they were read, in cycles.
    pub now: u64,
}

/// Reads a card's trace ring.
#[derive(Clone)]
pub struct TraceReader {
    mmio: Mmio,
    size: u32,
    /// The first event not yet read; `None`: whatever is there.
    next: Option<u32>,
}

impl TraceReader {
    /// The trace of the card behind `transport`, which is not disturbed in any way.
    pub fn open(transport: Arc<dyn Transport>) -> Result<Self, DeviceError> {
        let mmio = Mmio::new(transport);
        let name = mmio.transport().name();
        check_identity(&mmio, &name)?;
        Self::new(mmio)
    }

    /// The trace of a device in use.
    pub fn of(device: &Device) -> Result<Self, DeviceError> {
        Self::new(device.mmio().clone())
    }

    fn new(mmio: Mmio) -> Result<Self, DeviceError> {
        let size = trace_ring_size(&mmio)?;
        if !size.is_power_of_two() || size > MAX_SIZE {
            return Err(DeviceError::Gone {
                device: mmio.transport().name(),
                register: "TRACE_SIZE",
            });
        }
        Ok(Self {
            mmio,
            size,
            next: None,
        })
    }

    /// Leaves out what was recorded before: [`poll`](Self::poll) answers what comes from now on.
    pub fn skip(&mut self) -> Result<(), DeviceError> {
        self.next = Some(self.mmio.read(registers::TRACE_HEAD)?);
        Ok(())
    }

    /// How many events the ring holds.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The events since the last call (at first, all that are there), while the card goes on.
    pub fn poll(&mut self) -> Result<Trace, DeviceError> {
        let head = self.mmio.read(registers::TRACE_HEAD)?;
        let first = head.wrapping_sub(head.min(self.size));
        let new = self.next.map_or(0, |next| head.wrapping_sub(next));
        let mut missed = 0;
        let from = match self.next {
            // Some are gone, or the ring was emptied meanwhile.
            Some(_) if new > self.size => {
                if new <= i32::MAX as u32 {
                    missed = new - self.size;
                }
                first
            }
            Some(next) => next,
            None => first,
        };
        let now = self.now()?;
        let mut events = Vec::new();
        let mut number = from;
        while number != head {
            events.push((number, self.entry(number)?));
            number = number.wrapping_add(1);
        }
        // What was overwritten while it was read.
        let end = self.mmio.read(registers::TRACE_HEAD)?;
        let read = events.len();
        events.retain(|(number, _)| end.wrapping_sub(*number) <= self.size);
        missed += (read - events.len()) as u32;
        self.next = Some(head);
        let mut events: Vec<_> = events
            .into_iter()
            .map(|(number, entry)| TraceEvent::decode(number, &entry, now))
            .collect();
        events.sort_by_key(|event| event.time);
        Ok(Trace {
            events,
            missed,
            lost: self.mmio.read(registers::TRACE_LOST)?,
            now,
        })
    }

    /// All events that are there. The ring is frozen while they are read: what happens meanwhile is not recorded.
    pub fn snapshot(&mut self) -> Result<Trace, DeviceError> {
        let control = self.control()?;
        self.mmio
            .write(registers::TRACE_CTRL, control.with_freeze(true))?;
        self.next = None;
        let trace = self.poll();
        self.mmio.write(registers::TRACE_CTRL, control)?;
        trace
    }

    /// Stops recording, or goes on.
    pub fn freeze(&self, on: bool) -> Result<(), DeviceError> {
        let control = self.control()?.with_freeze(on);
        Ok(self.mmio.write(registers::TRACE_CTRL, control)?)
    }

    /// Records only events of these kinds (numbers of `weft_layout::trace_kind`).
    pub fn only(&self, kinds: &[u8]) -> Result<(), DeviceError> {
        let mask = kinds.iter().fold(0, |mask, kind| mask | 1 << (kind & 15));
        let control = self.control()?.with_kinds(mask);
        Ok(self.mmio.write(registers::TRACE_CTRL, control)?)
    }

    /// Records events of every kind.
    pub fn everything(&self) -> Result<(), DeviceError> {
        let control = self.control()?.with_kinds(EVERYTHING);
        Ok(self.mmio.write(registers::TRACE_CTRL, control)?)
    }

    /// Empties the ring.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        let control = self.control()?.with_clear(true);
        self.next = Some(0);
        Ok(self.mmio.write(registers::TRACE_CTRL, control)?)
    }

    fn control(&self) -> Result<TraceCtrl, DeviceError> {
        Ok(self.mmio.read(registers::TRACE_CTRL)?)
    }

    /// The card's clock, in cycles.
    pub fn now(&self) -> Result<u64, DeviceError> {
        let low = self.mmio.read(registers::TIME_LO)?;
        let high = self.mmio.read(registers::TIME_HI)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    fn entry(&self, number: u32) -> Result<TraceEntry, DeviceError> {
        let at = ENTRY_WORDS * (number & (self.size - 1));
        let mut bytes = [0; TraceEntry::SIZE];
        for (n, word) in (at..).zip(bytes.chunks_exact_mut(4)) {
            word.copy_from_slice(&self.mmio.read(registers::TRACE.word(n))?.to_le_bytes());
        }
        Ok(TraceEntry::from_bytes(&bytes))
    }
}
