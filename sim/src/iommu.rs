//! Host memory as a card reaches it: through an IOMMU that faults on everything not mapped.
//!
//! [`Iommu::map`] chooses I/O virtual addresses: upwards from a seeded start, with an unmapped gap of at least
//! a page behind each mapping, and never used again, so that an overrun or a late access always faults.
//! [`Iommu::map_at`] takes the address that another process has chosen, and refuses an overlap. An access may
//! go over several mappings that lie side by side, as pages of a guest's IOMMU do; it happens as a whole or
//! not at all.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rand::Rng;
use thiserror::Error;
use weft_hostdrv::dma::{Pages, SharedMemory, PAGE_SIZE};

use crate::seed::{generator, Stream};

/// Why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such address.
    NotMapped,
    /// The mapping is for the other direction only.
    NotAllowed,
    /// The function may not access memory at all (Bus Master Enable is 0).
    NotMaster,
    /// The memory's owner did not give it.
    Unreachable,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NotMapped => "not mapped",
            Refusal::NotAllowed => "not allowed by the mapping",
            Refusal::NotMaster => "the function is not a bus master",
            Refusal::Unreachable => "the memory's owner did not give it",
        })
    }
}

/// An access the IOMMU refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("card {card}: {} of {len} bytes at IOVA {iova:#x}, at {time} ns: {why}", if *.write { "write" } else { "read" })]
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
    /// Why.
    pub why: Refusal,
}

/// What a card may do to its host's memory.
pub trait HostMemory {
    /// Reads; on error the bytes are unchanged.
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault>;
    /// Writes; on error nothing is written.
    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault>;
}

/// Memory of another process: what [`Iommu::map_at`] maps.
pub trait Window: fmt::Debug + Send + Sync {
    /// Copies bytes out, `offset` bytes behind the mapping's begin. `false`: the memory cannot be had.
    fn read(&self, offset: u64, to: &mut [u8]) -> bool;
    /// Copies bytes in.
    fn write(&self, offset: u64, from: &[u8]) -> bool;
}

/// What a card may do with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
}

/// Why [`Iommu::map_at`] or [`Iommu::unmap_range`] did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RangeError {
    /// No bytes, or beyond the end of the address space.
    #[error("{len} bytes at IOVA {iova:#x} are no range of addresses")]
    NoRange {
        /// First byte.
        iova: u64,
        /// Bytes.
        len: u64,
    },
    /// A mapping has some of these addresses.
    #[error("IOVA {iova:#x} is taken by a mapping of {len} bytes")]
    Overlap {
        /// First byte of that mapping.
        iova: u64,
        /// Its bytes.
        len: u64,
    },
    /// A mapping is inside the range with a part only, and mappings are not cut.
    #[error("the mapping of {len} bytes at IOVA {iova:#x} is not wholly inside the range")]
    Cut {
        /// First byte of that mapping.
        iova: u64,
        /// Its bytes.
        len: u64,
    },
}

/// Memory behind a mapping.
#[derive(Debug)]
enum Target {
    /// The mapping keeps it alive.
    Pages(Arc<Pages>),
    /// The one who mapped it keeps it alive until it is unmapped.
    Foreign(SharedMemory),
    /// Another process has it.
    Window(Box<dyn Window>),
}

#[derive(Debug)]
struct Mapping {
    len: u64,
    access: Access,
    target: Target,
}

impl Mapping {
    fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        match &self.target {
            Target::Pages(pages) => pages.memory().read(offset as usize, to).is_ok(),
            Target::Foreign(memory) => memory.read(offset as usize, to).is_ok(),
            Target::Window(window) => window.read(offset, to),
        }
    }

    fn write(&self, offset: u64, from: &[u8]) -> bool {
        match &self.target {
            Target::Pages(pages) => pages.memory().write(offset as usize, from).is_ok(),
            Target::Foreign(memory) => memory.write(offset as usize, from).is_ok(),
            Target::Window(window) => window.write(offset, from),
        }
    }
}

/// One card's IOMMU domain.
#[derive(Debug)]
pub struct Iommu {
    card: usize,
    next: u64,
    mappings: BTreeMap<u64, Mapping>,
    faults: Vec<Fault>,
    refused: u64,
    master: bool,
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
            refused: 0,
            master: true,
            time: 0,
            read_bytes: 0,
            written_bytes: 0,
        }
    }

    /// Maps pages and answers their IOVA, which is aligned to the length's next power of two up to 2 MiB.
    pub fn map(&mut self, pages: Arc<Pages>) -> u64 {
        let len = pages.memory().len();
        self.insert(len, Target::Pages(pages))
    }

    /// Maps memory that somebody else owns.
    pub fn map_foreign(&mut self, memory: SharedMemory) -> u64 {
        self.insert(memory.len(), Target::Foreign(memory))
    }

    fn insert(&mut self, len: usize, target: Target) -> u64 {
        let align = (len.next_power_of_two() as u64).clamp(PAGE_SIZE as u64, 2 << 20);
        let iova = self.next.next_multiple_of(align);
        self.next = (iova + len as u64).next_multiple_of(PAGE_SIZE as u64) + PAGE_SIZE as u64;
        let mapping = Mapping {
            len: len as u64,
            access: Access {
                read: true,
                write: true,
            },
            target,
        };
        self.mappings.insert(iova, mapping);
        iova
    }

    /// Maps another process's memory where that process wants it.
    pub fn map_at(
        &mut self,
        iova: u64,
        len: u64,
        access: Access,
        window: Box<dyn Window>,
    ) -> Result<(), RangeError> {
        self.free(iova, len)?;
        let mapping = Mapping {
            len,
            access,
            target: Target::Window(window),
        };
        self.mappings.insert(iova, mapping);
        Ok(())
    }

    /// Is this range of addresses free?
    pub fn free(&self, iova: u64, len: u64) -> Result<(), RangeError> {
        let last = last(iova, len)?;
        match self.mappings.range(..=last).next_back() {
            Some((start, mapping)) if start + (mapping.len - 1) >= iova => {
                Err(RangeError::Overlap {
                    iova: *start,
                    len: mapping.len,
                })
            }
            _ => Ok(()),
        }
    }

    /// Ends a mapping; `false` if there is none that begins there.
    pub fn unmap(&mut self, iova: u64) -> bool {
        self.mappings.remove(&iova).is_some()
    }

    /// Ends all mappings in a range and answers how many there were. None may lie across its ends.
    pub fn unmap_range(&mut self, iova: u64, len: u64) -> Result<usize, RangeError> {
        let last = last(iova, len)?;
        let across = |(start, mapping): (&u64, &Mapping)| RangeError::Cut {
            iova: *start,
            len: mapping.len,
        };
        let end = |(start, mapping): (&u64, &Mapping)| start + (mapping.len - 1);
        if let Some(before) = self.mappings.range(..iova).next_back() {
            if end(before) >= iova {
                return Err(across(before));
            }
        }
        if let Some(inside) = self.mappings.range(iova..=last).next_back() {
            if end(inside) > last {
                return Err(across(inside));
            }
        }
        let inside: Vec<u64> = self.mappings.range(iova..=last).map(|(s, _)| *s).collect();
        for start in &inside {
            self.mappings.remove(start);
        }
        Ok(inside.len())
    }

    /// Ends all mappings and answers how many there were.
    pub fn clear(&mut self) -> usize {
        let count = self.mappings.len();
        self.mappings.clear();
        count
    }

    /// How many mappings there are.
    pub fn mappings(&self) -> usize {
        self.mappings.len()
    }

    /// May the function access memory at all? A new domain's may.
    pub fn set_master(&mut self, master: bool) {
        self.master = master;
    }

    /// The faults so far, the first few thousand of them.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Takes the faults, for a test that expects them.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// How many accesses were refused so far.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Bytes the card read and wrote so far.
    pub fn bytes(&self) -> (u64, u64) {
        (self.read_bytes, self.written_bytes)
    }

    /// The mapping at an address, and where in it that is.
    fn at(&self, iova: u64) -> Option<(&Mapping, u64)> {
        let (start, mapping) = self.mappings.range(..=iova).next_back()?;
        let offset = iova - start;
        (offset < mapping.len).then_some((mapping, offset))
    }

    /// Goes over the mappings under an access, first to look, then to do `each` with a mapping, the offset in
    /// it, and the range of the access's bytes. No mapping is reached unless all are there.
    fn walk(
        &self,
        iova: u64,
        len: usize,
        allowed: impl Fn(Access) -> bool,
        mut each: impl FnMut(&Mapping, u64, Range<usize>) -> bool,
    ) -> Result<(), Refusal> {
        if !self.master {
            return Err(Refusal::NotMaster);
        }
        for look in [true, false] {
            let mut done = 0;
            while done < len {
                let at = iova.checked_add(done as u64).ok_or(Refusal::NotMapped)?;
                let (mapping, offset) = self.at(at).ok_or(Refusal::NotMapped)?;
                let there = mapping.len - offset;
                let count = usize::try_from(there).unwrap_or(usize::MAX).min(len - done);
                if look && !allowed(mapping.access) {
                    return Err(Refusal::NotAllowed);
                }
                if !look && !each(mapping, offset, done..done + count) {
                    return Err(Refusal::Unreachable);
                }
                done += count;
            }
        }
        Ok(())
    }

    fn fault(&mut self, iova: u64, len: usize, write: bool, why: Refusal) -> Fault {
        let fault = Fault {
            card: self.card,
            time: self.time,
            iova,
            len,
            write,
            why,
        };
        self.refused += 1;
        // A card in a loop must not fill the machine's memory.
        if self.faults.len() < 4096 {
            self.faults.push(fault);
        }
        fault
    }
}

/// The last address of a range.
fn last(iova: u64, len: u64) -> Result<u64, RangeError> {
    len.checked_sub(1)
        .and_then(|more| iova.checked_add(more))
        .ok_or(RangeError::NoRange { iova, len })
}

impl HostMemory for Iommu {
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), Fault> {
        let done = self.walk(
            iova,
            to.len(),
            |access| access.read,
            |mapping, offset, range| mapping.read(offset, &mut to[range]),
        );
        match done {
            Ok(()) => {
                self.read_bytes += to.len() as u64;
                Ok(())
            }
            Err(why) => Err(self.fault(iova, to.len(), false, why)),
        }
    }

    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), Fault> {
        let done = self.walk(
            iova,
            from.len(),
            |access| access.write,
            |mapping, offset, range| mapping.write(offset, &from[range]),
        );
        match done {
            Ok(()) => {
                self.written_bytes += from.len() as u64;
                Ok(())
            }
            Err(why) => Err(self.fault(iova, from.len(), true, why)),
        }
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

    /// Another process's memory, which may be gone.
    #[derive(Debug)]
    struct Lent(Arc<Pages>, bool);

    impl Window for Lent {
        fn read(&self, offset: u64, to: &mut [u8]) -> bool {
            self.1 && self.0.memory().read(offset as usize, to).is_ok()
        }
        fn write(&self, offset: u64, from: &[u8]) -> bool {
            self.1 && self.0.memory().write(offset as usize, from).is_ok()
        }
    }

    fn lent(there: bool) -> Box<Lent> {
        Box::new(Lent(Arc::new(Pages::new(PAGE_SIZE).unwrap()), there))
    }

    const BOTH: Access = Access {
        read: true,
        write: true,
    };

    #[test]
    fn an_access_goes_over_mappings_side_by_side_or_happens_not_at_all() {
        let mut iommu = Iommu::new(0, 1);
        for page in [0u64, 1, 3] {
            iommu
                .map_at(0x1000 + page * 4096, 4096, BOTH, lent(true))
                .unwrap();
        }
        let mut back = [0; 6];
        iommu.write(0x1ffd, b"across").unwrap();
        iommu.read(0x1ffd, &mut back).unwrap();
        assert_eq!(&back, b"across");
        // The second half is missing: the first is not written.
        assert_eq!(
            iommu.write(0x2ffd, b"across").unwrap_err().why,
            Refusal::NotMapped
        );
        iommu.read(0x2ffa, &mut back).unwrap();
        assert_eq!(back, [0; 6]);
        assert_eq!(iommu.refused(), 1);
    }

    #[test]
    fn a_mapping_s_direction_and_the_master_bit_are_respected() {
        let mut iommu = Iommu::new(0, 1);
        let read_only = Access {
            read: true,
            write: false,
        };
        iommu.map_at(0, 4096, read_only, lent(true)).unwrap();
        iommu.map_at(4096, 4096, BOTH, lent(false)).unwrap();
        let mut byte = [0];
        iommu.read(0, &mut byte).unwrap();
        assert_eq!(iommu.write(0, &[1]).unwrap_err().why, Refusal::NotAllowed);
        assert_eq!(
            iommu.read(4096, &mut byte).unwrap_err().why,
            Refusal::Unreachable
        );
        iommu.set_master(false);
        assert_eq!(
            iommu.read(0, &mut byte).unwrap_err().why,
            Refusal::NotMaster
        );
        iommu.set_master(true);
        iommu.read(0, &mut byte).unwrap();
        // The last byte of the address space belongs to a range too.
        iommu
            .map_at(u64::MAX - 4095, 4096, BOTH, lent(true))
            .unwrap();
        iommu.read(u64::MAX, &mut byte).unwrap();
        assert!(iommu.read(u64::MAX, &mut [0; 2]).is_err());
    }

    #[test]
    fn overlaps_and_cuts_are_refused() {
        let mut iommu = Iommu::new(0, 1);
        iommu.map_at(0x2000, 0x2000, BOTH, lent(true)).unwrap();
        iommu.map_at(0x6000, 0x1000, BOTH, lent(true)).unwrap();
        for (iova, len) in [
            (0x1000, 0x2000),
            (0x3000, 0x1000),
            (0x3fff, 1),
            (0, 0x10000),
        ] {
            assert!(
                matches!(
                    iommu.map_at(iova, len, BOTH, lent(true)),
                    Err(RangeError::Overlap { .. })
                ),
                "{iova:#x}"
            );
        }
        for (iova, len) in [(0, 0), (u64::MAX, 2)] {
            assert!(matches!(
                iommu.map_at(iova, len, BOTH, lent(true)),
                Err(RangeError::NoRange { .. })
            ));
            assert!(iommu.unmap_range(iova, len).is_err());
        }
        for (iova, len) in [(0x3000, 0x10000), (0, 0x3000), (0x2001, 0x1000)] {
            assert!(
                matches!(iommu.unmap_range(iova, len), Err(RangeError::Cut { .. })),
                "{iova:#x}"
            );
        }
        assert_eq!(iommu.mappings(), 2);
        assert_eq!(iommu.unmap_range(0x10000, 1 << 40), Ok(0));
        assert_eq!(iommu.unmap_range(0, u64::MAX), Ok(2));
        assert_eq!(iommu.mappings(), 0);
    }
}
