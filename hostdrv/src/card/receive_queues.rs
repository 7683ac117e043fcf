//! The flows' receive queues: their memory and their doorbells.

use weft_layout::{doorbells, ReceiveElement};

use crate::error::DeviceError;
use crate::mmio::Mmio;
use weft_card_transport::dma::{publish, DmaBuffer};

pub(super) struct ReceiveQueues {
    /// By flow; memory is kept when a queue pair goes, for the next one on the flow.
    memory: Vec<Option<DmaBuffer>>,
    /// Doorbells not rung yet: flow and count.
    pending: Vec<(u16, u32)>,
}

impl ReceiveQueues {
    pub(super) fn new(flows: u32) -> Self {
        Self {
            memory: (0..flows).map(|_| None).collect(),
            pending: Vec::new(),
        }
    }

    /// Zeroed memory for 2^log2 elements: its IOVA.
    pub(super) fn provide(
        &mut self,
        mmio: &Mmio,
        flow: u16,
        log2: u8,
    ) -> Result<Option<u64>, DeviceError> {
        let Some(slot) = self.memory.get_mut(usize::from(flow)) else {
            return Ok(None);
        };
        let len = ReceiveElement::SIZE << log2.min(16);
        if let Some(old) = slot.as_ref().filter(|old| old.len() >= len) {
            old.fill(0, len, 0)?;
            return Ok(Some(old.iova()));
        }
        let new = mmio.dma_alloc(len)?;
        Ok(Some(slot.insert(new).iova()))
    }

    pub(super) fn write(
        &mut self,
        flow: u16,
        slot: u32,
        element: &ReceiveElement,
    ) -> Result<bool, DeviceError> {
        let Some(Some(memory)) = self.memory.get(usize::from(flow)) else {
            return Ok(false);
        };
        memory.write(slot as usize * ReceiveElement::SIZE, &element.to_bytes())?;
        Ok(true)
    }

    /// Remembers a doorbell; the last count of a flow is the one that matters.
    pub(super) fn note_tail(&mut self, flow: u16, posted: u32) {
        match self.pending.iter_mut().find(|(f, _)| *f == flow) {
            Some((_, count)) => *count = posted,
            None => self.pending.push((flow, posted)),
        }
    }

    pub(super) fn ring(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        publish();
        for (flow, posted) in self.pending.drain(..) {
            mmio.ring(doorbells::RQ_TAIL.of(flow), posted)?;
        }
        Ok(())
    }
}
