//! Memory of the segments that software makes, by flow.

use std::sync::Arc;

use super::{MappedMemory, MemoryMap};
use crate::error::DeviceError;
use crate::mmio::Mmio;

pub(super) struct SendBuffers {
    /// By flow; memory is kept when a queue pair goes, for the next one on the flow.
    memory: Vec<Option<Arc<dyn MappedMemory>>>,
}

impl SendBuffers {
    pub(super) fn new(flows: u32) -> Self {
        Self {
            memory: (0..flows).map(|_| None).collect(),
        }
    }

    /// Memory of so many bytes at least, in which the engine may write: its IOVA. `None`: no such flow.
    pub(super) fn provide(
        &mut self,
        mmio: &Mmio,
        map: &mut MemoryMap,
        flow: u16,
        bytes: u32,
    ) -> Result<Option<u64>, DeviceError> {
        let Some(slot) = self.memory.get_mut(usize::from(flow)) else {
            return Ok(None);
        };
        let fits = |old: &&Arc<dyn MappedMemory>| old.memory().len() >= bytes as usize;
        if let Some(old) = slot.as_ref().filter(fits) {
            return Ok(Some(old.iova()));
        }
        let new: Arc<dyn MappedMemory> = Arc::new(mmio.dma_alloc(bytes as usize)?);
        map.add(&new);
        if let Some(old) = slot.replace(new.clone()) {
            map.remove(&old);
        }
        Ok(Some(new.iova()))
    }
}
