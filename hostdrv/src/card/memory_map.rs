//! Which IOVA is which memory: for the bytes that the engine moves itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_card_transport::dma::SharedMemory;

/// Memory that is mapped for the card.
pub(crate) trait MappedMemory: Send + Sync {
    /// Where the card sees its first byte.
    fn iova(&self) -> u64;
    /// The host's side of it.
    fn memory(&self) -> &SharedMemory;
}

/// Registered memory by IOVA. Mappings do not overlap; one may be registered several times.
#[derive(Default)]
pub(crate) struct MemoryMap {
    by_iova: BTreeMap<u64, (Arc<dyn MappedMemory>, usize)>,
}

impl MemoryMap {
    pub(crate) fn add(&mut self, memory: &Arc<dyn MappedMemory>) {
        self.by_iova
            .entry(memory.iova())
            .or_insert_with(|| (memory.clone(), 0))
            .1 += 1;
    }

    pub(crate) fn remove(&mut self, memory: &Arc<dyn MappedMemory>) {
        if let Some((_, uses)) = self.by_iova.get_mut(&memory.iova()) {
            *uses -= 1;
            if *uses == 0 {
                self.by_iova.remove(&memory.iova());
            }
        }
    }

    /// Is the memory at this IOVA registered?
    pub(crate) fn is_registered(&self, iova: u64) -> bool {
        self.by_iova.contains_key(&iova)
    }

    /// The same, to be kept: [`find`](Self::find).
    pub(crate) fn keep(&self, iova: u64, len: usize) -> Option<(Arc<dyn MappedMemory>, usize)> {
        let (_, offset) = self.find(iova, len)?;
        let (_, (memory, _)) = self.by_iova.range(..=iova).next_back()?;
        Some((memory.clone(), offset))
    }

    /// The memory that holds `len` bytes from `iova`, and where in it they begin.
    pub(crate) fn find(&self, iova: u64, len: usize) -> Option<(&SharedMemory, usize)> {
        let (start, (memory, _)) = self.by_iova.range(..=iova).next_back()?;
        let memory = memory.memory();
        let offset = usize::try_from(iova - start).ok()?;
        (offset.checked_add(len)? <= memory.len()).then_some((memory, offset))
    }
}
