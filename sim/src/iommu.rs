//! Host memory as a card reaches it: through an IOMMU that faults on everything not mapped.
//!
//! I/O virtual addresses are handed out upwards from a seeded start, with an unmapped gap of at least
//! a page behind each mapping, and are never used again: an overrun or a late access always faults.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::Rng;
use thiserror::Error;
use weft_hostdrv::dma::{Pages, SharedMemory, PAGE_SIZE};

use crate::seed::{generator, Stream};

/// An access the IOMMU refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("card {card}: {} of {len} bytes at IOVA {iova:#x}, at {time} ns: not mapped", if *.write { "write" } else { "read" })]
pub struct Fault {
    /// The card.
    pub card: usize,
    /// When, in simulated nanoseconds.
    pub time: u64,
    /// First byte.
    pub iova: u64,
    /// Bytes.
    pub len: usize,
    /// A write?
    pub write: bool,
}

/// What a card may do to its host's memory.
pub trait HostMemory {
    /// Reads; on error the bytes are unchanged.
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault>;
    /// Writes; on error nothing is written.
    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault>;
}

/// Memory behind a mapping.
#[derive(Debug)]
enum Target {
    /// The mapping keeps it alive.
    Pages(Arc<Pages>),
    /// The one who mapped it keeps it alive until it is unmapped.
    Foreign(SharedMemory),
}

impl Target {
    fn memory(&self) -> &SharedMemory {
        match self {
            Target::Pages(pages) => pages.memory(),
            Target::Foreign(memory) => memory,
        }
    }
}

/// One card's IOMMU domain.
#[derive(Debug)]
pub struct Iommu {
    card: usize,
    next: u64,
    mappings: BTreeMap<u64, Target>,
    faults: Vec<Fault>,
    /// Time of the accesses to come, for the fault records.
    pub time: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl Iommu {
    /// An empty domain.
    pub fn new(card: usize, seed: u64) -> Self {
        // 2^40 and up: an address cut to 32 bits cannot hit anything.
        let page = generator(seed, Stream::Iommu(card as u32)).random_range(1u64 << 28..1 << 32);
        Self {
            card,
            next: page * PAGE_SIZE as u64,
            mappings: BTreeMap::new(),
            faults: Vec::new(),
            time: 0,
            read_bytes: 0,
            written_bytes: 0,
        }
    }

    /// Maps pages and answers their IOVA, which is aligned to the length's next power of two up to 2 MiB.
    pub fn map(&mut self, pages: Arc<Pages>) -> u64 {
        self.insert(Target::Pages(pages))
    }

    /// Maps memory that somebody else owns.
    pub fn map_foreign(&mut self, memory: SharedMemory) -> u64 {
        self.insert(Target::Foreign(memory))
    }

    fn insert(&mut self, target: Target) -> u64 {
        let len = target.memory().len();
        let align = (len.next_power_of_two() as u64).clamp(PAGE_SIZE as u64, 2 << 20);
        let iova = self.next.next_multiple_of(align);
        self.next = (iova + len as u64).next_multiple_of(PAGE_SIZE as u64) + PAGE_SIZE as u64;
        self.mappings.insert(iova, target);
        iova
    }

    /// Ends a mapping; `false` if there is none that begins there.
    pub fn unmap(&mut self, iova: u64) -> bool {
        self.mappings.remove(&iova).is_some()
    }

    /// The faults so far.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Takes the faults, for a test that expects them.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// Bytes the card read and wrote so far.
    pub fn bytes(&self) -> (u64, u64) {
        (self.read_bytes, self.written_bytes)
    }

    fn find(&self, iova: u64, len: usize) -> Option<(&SharedMemory, usize)> {
        let (start, target) = self.mappings.range(..=iova).next_back()?;
        let memory = target.memory();
        let offset = (iova - start) as usize;
        offset
            .checked_add(len)
            .is_some_and(|end| end <= memory.len())
            .then_some((memory, offset))
    }

    fn fault(&mut self, iova: u64, len: usize, write: bool) -> Fault {
        let fault = Fault {
            card: self.card,
            time: self.time,
            iova,
            len,
            write,
        };
        // A card in a loop must not fill the machine's memory.
        if self.faults.len() < 4096 {
            self.faults.push(fault);
        }
        fault
    }
}

impl HostMemory for Iommu {
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault> {
        if self
            .find(iova, to.len())
            .is_some_and(|(memory, offset)| memory.read(offset, to).is_ok())
        {
            self.read_bytes += to.len() as u64;
            return Ok(());
        }
        Err(self.fault(iova, to.len(), false))
    }

    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault> {
        if self
            .find(iova, from.len())
            .is_some_and(|(memory, offset)| memory.write(offset, from).is_ok())
        {
            self.written_bytes += from.len() as u64;
            return Ok(());
        }
        Err(self.fault(iova, from.len(), true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_mapped_can_be_reached() {
        let (a, b) = (
            Arc::new(Pages::new(2 * PAGE_SIZE).unwrap()),
            Arc::new(Pages::new(PAGE_SIZE).unwrap()),
        );
        let mut iommu = Iommu::new(0, 1);
        let (at, other) = (iommu.map(Arc::clone(&a)), iommu.map(b));
        assert!(other > at + 2 * PAGE_SIZE as u64, "no gap between mappings");
        iommu.write(at + 4095, b"over a page border").unwrap();
        let mut back = [0; 18];
        iommu.read(at + 4095, &mut back).unwrap();
        assert_eq!(&back, b"over a page border");
        assert!(iommu.write(at + 2 * PAGE_SIZE as u64 - 1, &[1, 2]).is_err());
        assert!(iommu.read(at - 1, &mut back).is_err());
        assert!(iommu.faults()[0].write && !iommu.faults()[1].write);
        assert!(iommu.unmap(at));
        assert!(iommu.read(at, &mut back).is_err());
        assert!(
            iommu.map(Arc::clone(&a)) > other,
            "an address was used again"
        );
        assert!(!iommu.unmap(at));
    }
}
