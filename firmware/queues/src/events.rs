//! The memory of an event ring: doorbells and events.

use weft_layout::{EventDoorbell, EventEntry};

use crate::memory::Memory;
use crate::slots::{self, Slots, MAX_PRIVATE_DATA};

const TAKEN: usize = EventDoorbell::TAKEN_AT / 8;
const ARMED: usize = EventDoorbell::ARMED_AT / 8;
const EVENTS: usize = EventDoorbell::SIZE / 8;
/// Where private data begins in a slot.
const DATA: usize = EventEntry::SIZE / 8;
const PHASE: (usize, u8) = (EventEntry::PHASE_AT, EventEntry::PHASE);

/// Where an event ring's parts lie in its memory; the same value on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRing {
    events: Slots,
}

/// An event as it was found. Nothing of it was checked but for the bounds of its private data.
#[derive(Clone, Debug)]
pub struct TakenEvent {
    /// Its fields.
    pub entry: EventEntry,
    data: [u8; MAX_PRIVATE_DATA],
}

impl TakenEvent {
    /// Its private data.
    pub fn private_data(&self) -> &[u8] {
        &self.data[..usize::from(self.entry.length).min(MAX_PRIVATE_DATA)]
    }
}

impl EventRing {
    /// Room for so many events: a power of two. `None` if that is none, or more than 2^16.
    pub fn new(events: usize) -> Option<Self> {
        let bytes = EventEntry::SIZE + MAX_PRIVATE_DATA;
        Some(EventRing {
            events: Slots::new(EVENTS, bytes, events)?,
        })
    }

    /// Bytes of memory that it takes, zero at first.
    pub fn bytes(&self) -> usize {
        8 * self.events.end()
    }

    /// Events that it holds.
    pub fn capacity(&self) -> u32 {
        self.events.count()
    }

    // ------------------------------------------------------------------ whose events they are

    /// Is there room for the event of this number? What has none is kept back until one was taken: no event is lost.
    pub fn has_room<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> bool {
        number.wrapping_sub(memory.load_first(TAKEN) as u32) < self.capacity()
    }

    /// Writes the event of this number with its private data, at most [`MAX_PRIVATE_DATA`] bytes; the word with its phase bit last.
    pub fn put<M: Memory + ?Sized>(
        &self,
        memory: &M,
        number: u32,
        entry: EventEntry,
        private_data: &[u8],
    ) {
        let at = self.events.at(number);
        let length = private_data.len().min(MAX_PRIVATE_DATA);
        slots::put(memory, at + DATA, &private_data[..length]);
        let entry = EventEntry {
            length: length as u16,
            ..entry
        }
        .with_phase(self.events.phase(number));
        slots::put_record(memory, at, &entry.to_bytes());
    }

    /// Takes away what the taker [armed](Self::arm), behind the events that were put before: true: it is to be woken.
    pub fn disarm<M: Memory + ?Sized>(&self, memory: &M) -> bool {
        memory.take(ARMED) != 0
    }

    // ------------------------------------------------------------------ who takes

    /// The event of this number, if it is there.
    pub fn get<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> Option<TakenEvent> {
        let (at, phase) = (self.events.at(number), self.events.phase(number));
        let bytes = slots::get_record(memory, at, PHASE, phase)?;
        let entry = EventEntry::from_bytes(&bytes);
        let mut data = [0; MAX_PRIVATE_DATA];
        let length = usize::from(entry.length).min(MAX_PRIVATE_DATA);
        slots::get(memory, at + DATA, &mut data[..length]);
        Some(TakenEvent { entry, data })
    }

    /// Doorbell: so many events were taken.
    pub fn taken<M: Memory + ?Sized>(&self, memory: &M, count: u32) {
        memory.store_last(TAKEN, count.into());
    }

    /// Asks to be woken by the next event. Look once more afterwards.
    pub fn arm<M: Memory + ?Sized>(&self, memory: &M) {
        memory.set(ARMED, EventDoorbell::ANY.into());
    }
}
