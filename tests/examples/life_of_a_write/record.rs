//! A card with an observer around it: everything that goes in or out, with its time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use weft_sim::card::{Card, Event};
use weft_sim::iommu::{Fault, HostMemory};

/// Something crossed the card's boundary.
#[derive(Clone, Debug)]
pub enum What {
    /// The host wrote a register or a doorbell.
    Write { address: u32, value: u32 },
    /// The host wrote into the push window.
    Push(Vec<u8>),
    /// A beat of host memory was read.
    Read { iova: u64, bytes: Vec<u8> },
    /// A beat was written to host memory: the bytes with a strobe.
    Place { iova: u64, bytes: Vec<u8> },
    /// The first beat of a frame comes in.
    Arrives(Vec<u8>),
    /// The last beat of a frame went out.
    Sent(Vec<u8>),
    /// An interrupt was asked for.
    Interrupt,
}

/// With when and where.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The clock cycle, since the start of the world.
    pub cycle: u64,
    /// The card.
    pub card: usize,
    /// What.
    pub what: What,
}

/// What all cards did, in order.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Mutex<Vec<Entry>>>);

impl Record {
    /// The entries from a cycle on.
    pub fn since(&self, cycle: u64) -> Vec<Entry> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries
            .iter()
            .filter(|e| e.cycle >= cycle)
            .cloned()
            .collect()
    }

    fn push(&self, cycle: u64, card: usize, what: What) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(Entry { cycle, card, what });
    }
}

/// A card under observation.
pub struct Observed {
    card: Box<dyn Card>,
    number: usize,
    record: Record,
    /// What came in since the last cycle: it counts from the next one on.
    came_in: Vec<What>,
}

impl Observed {
    /// Card `number` of a world.
    pub fn new(card: Box<dyn Card>, number: usize, record: &Record) -> Self {
        Self {
            card,
            number,
            record: record.clone(),
            came_in: Vec::new(),
        }
    }
}

impl Card for Observed {
    fn name(&self) -> String {
        self.card.name()
    }

    fn write(&mut self, address: u32, value: u32) {
        self.came_in.push(What::Write { address, value });
        self.card.write(address, value);
    }

    fn push(&mut self, offset: u32, bytes: &[u8]) {
        self.came_in.push(What::Push(bytes.to_vec()));
        self.card.push(offset, bytes);
    }

    fn read(&mut self, address: u32) {
        self.card.read(address);
    }

    fn receive(&mut self, frame: Vec<u8>, bad: bool) {
        self.came_in.push(What::Arrives(frame.clone()));
        self.card.receive(frame, bad);
    }

    fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        let from = events.len();
        let mut seen = std::mem::take(&mut self.came_in);
        let mut watched = Watched {
            memory,
            seen: &mut seen,
        };
        self.card.cycle(now, &mut watched, events);
        for event in &events[from..] {
            match event {
                Event::Frame(frame) => seen.push(What::Sent(frame.clone())),
                Event::Interrupt(_) => seen.push(What::Interrupt),
                Event::Read(_) => {}
            }
        }
        for what in seen.drain(..) {
            self.record.push(now, self.number, what);
        }
        self.came_in = seen;
    }

    fn idle(&self) -> bool {
        self.card.idle()
    }

    fn reset(&mut self) {
        self.card.reset();
    }

    fn resetting(&self) -> bool {
        self.card.resetting()
    }

    fn record_waves(&mut self, path: &Path, cycles: u64) -> bool {
        self.card.record_waves(path, cycles)
    }

    fn failure(&self) -> Option<String> {
        self.card.failure()
    }
}

struct Watched<'a> {
    memory: &'a mut dyn HostMemory,
    seen: &'a mut Vec<What>,
}

impl HostMemory for Watched<'_> {
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(iova, to)?;
        self.seen.push(What::Read {
            iova,
            bytes: to.to_vec(),
        });
        Ok(())
    }

    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault> {
        self.memory.write(iova, from)?;
        self.seen.push(What::Place {
            iova,
            bytes: from.to_vec(),
        });
        Ok(())
    }
}
