//! The memory that a card at a serial line may reach: there is no IOMMU, so every address is looked up here.

use std::collections::BTreeMap;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

use super::super::iova::IovaAllocator;
use crate::dma::{page_size, Pages, SharedMemory};

/// Addresses for DMA: above 2^40, so that one cut to 32 bits hits nothing.
const ADDRESSES: std::ops::RangeInclusive<u64> = 1 << 40..=(1 << 47) - 1;
/// What the card writes as a whole, at most: a report. Its last bytes are the ones that the driver looks at.
const BLOCK: usize = 64;
const LAST: usize = 8;

/// One mapping.
enum Region {
    /// Of the driver.
    Own(Arc<Pages>),
    /// Of a program, which vouches for it until it is unmapped.
    Foreign(SharedMemory),
}

impl Region {
    fn memory(&self) -> &SharedMemory {
        match self {
            Region::Own(pages) => pages.memory(),
            Region::Foreign(memory) => memory,
        }
    }
}

/// All mappings of a card.
pub(super) struct Memory {
    addresses: IovaAllocator,
    regions: BTreeMap<u64, Region>,
}

impl Memory {
    pub(super) fn new() -> Self {
        Self {
            addresses: IovaAllocator::new([ADDRESSES], page_size() as u64, 64),
            regions: BTreeMap::new(),
        }
    }

    pub(super) fn map(&mut self, pages: Arc<Pages>) -> Option<u64> {
        self.insert(Region::Own(pages))
    }

    /// The caller vouches for the memory until it is unmapped.
    pub(super) fn map_foreign(&mut self, memory: SharedMemory) -> Option<u64> {
        self.insert(Region::Foreign(memory))
    }

    fn insert(&mut self, region: Region) -> Option<u64> {
        let iova = self.addresses.allocate(region.memory().len() as u64)?;
        self.regions.insert(iova, region);
        Some(iova)
    }

    /// `false`: there was no such mapping.
    pub(super) fn unmap(&mut self, iova: u64, len: usize) -> bool {
        if self
            .regions
            .get(&iova)
            .is_none_or(|r| r.memory().len() != len)
        {
            return false;
        }
        self.regions.remove(&iova);
        self.addresses.release(iova, len as u64)
    }

    /// The memory that has all of these bytes, and where in it they are.
    fn find(&self, address: u64, count: usize) -> Option<(&SharedMemory, usize)> {
        let (start, region) = self.regions.range(..=address).next_back()?;
        let offset = usize::try_from(address - start).ok()?;
        let memory = region.memory();
        let inside = offset.checked_add(count)? <= memory.len();
        inside.then_some((memory, offset))
    }

    /// `None`: not all of it is the card's.
    pub(super) fn read(&self, address: u64, count: usize) -> Option<Vec<u8>> {
        let (memory, offset) = self.find(address, count)?;
        // Behind what came before the frame that asks.
        fence(Ordering::SeqCst);
        memory.to_vec(offset, count).ok()
    }

    /// Front to back: of each block of 64 bytes the end is seen last. `false`: not all of it is the card's, and nothing was written.
    pub(super) fn write(&self, address: u64, data: &[u8]) -> bool {
        let Some((memory, offset)) = self.find(address, data.len()) else {
            return false;
        };
        let mut at = 0;
        while at < data.len() {
            let end = (at + BLOCK - (offset + at) % BLOCK).min(data.len());
            let tail = end.saturating_sub(LAST).max(at);
            let front = memory.write(offset + at, &data[at..tail]);
            fence(Ordering::Release);
            let back = memory.write(offset + tail, &data[tail..end]);
            debug_assert!(front.is_ok() && back.is_ok(), "inside, as was found");
            at = end;
        }
        fence(Ordering::SeqCst);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_mapped_is_reached() {
        let mut memory = Memory::new();
        let page = page_size();
        let map = |memory: &mut Memory| {
            let pages = Pages::new(2 * page).expect("memory");
            memory.map(Arc::new(pages)).expect("room")
        };
        let (a, b) = (map(&mut memory), map(&mut memory));
        let end = a + 2 * page as u64;
        assert!(memory.write(a + 5, &[7; 200]));
        assert_eq!(memory.read(a + 4, 3), Some(vec![0, 7, 7]));
        assert_eq!(memory.read(a + 204, 2), Some(vec![7, 0]));
        assert!(memory.write(end - 1, &[1]));
        for (address, count) in [
            (end - 1, 2),
            (end, 1),
            (a - 1, 1),
            (a - 1, 2),
            (0, 1),
            (u64::MAX, 2),
        ] {
            assert!(!memory.write(address, &vec![9; count]), "{address:#x}");
            assert_eq!(memory.read(address, count), None, "{address:#x}");
        }
        assert!(!memory.unmap(a, page), "half of it");
        assert!(memory.unmap(a, 2 * page));
        assert!(!memory.unmap(a, 2 * page), "twice");
        assert_eq!(memory.read(a, 1), None);
        assert_eq!(memory.read(b, 1), Some(vec![0]));
    }
}
