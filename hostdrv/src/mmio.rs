//! Registers and doorbells, counted.

use std::sync::Arc;

use weft_layout::{doorbell, reg};

use crate::dma::DmaBuffer;
use crate::stats::{add, HostCounts};
use crate::transport::{Bar, Transport, TransportError};

/// All ones: what a bus answers for a device that does not.
pub(crate) const ALL_ONES: u32 = u32::MAX;

/// A card's registers and doorbells.
#[derive(Clone)]
pub(crate) struct Mmio {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) counts: Arc<HostCounts>,
}

impl Mmio {
    pub(crate) fn read(&self, offset: u32) -> Result<u32, TransportError> {
        add(&self.counts.mmio_reads, 1);
        let value = self.transport.read32(Bar::Registers, offset)?;
        tracing::trace!(
            register = register_name(offset),
            value = format_args!("{value:#x}"),
            "read"
        );
        Ok(value)
    }

    pub(crate) fn write(&self, offset: u32, value: u32) -> Result<(), TransportError> {
        add(&self.counts.mmio_writes, 1);
        tracing::trace!(
            register = register_name(offset),
            value = format_args!("{value:#x}"),
            "write"
        );
        self.transport.write32(Bar::Registers, offset, value)
    }

    /// Writes an address register pair.
    pub(crate) fn write_address(
        &self,
        low: u32,
        high: u32,
        iova: u64,
    ) -> Result<(), TransportError> {
        self.write(low, iova as u32)?;
        self.write(high, (iova >> 32) as u32)
    }

    /// DMA memory, counted.
    pub(crate) fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let buffer = self.transport.dma_alloc(len)?;
        add(&self.counts.dma_bytes_allocated, buffer.len() as u64);
        tracing::debug!(
            len = buffer.len(),
            iova = format_args!("{:#x}", buffer.iova()),
            "DMA memory"
        );
        Ok(buffer)
    }

    /// Rings a doorbell. Stores to DMA memory that it announces come first: `dma::publish`.
    pub(crate) fn ring(&self, offset: u32, value: u32) -> Result<(), TransportError> {
        add(&self.counts.mmio_writes, 1);
        add(&self.counts.doorbells, 1);
        tracing::trace!(doorbell = doorbell_name(offset), value, "ring");
        self.transport.write32(Bar::Doorbells, offset, value)
    }
}

/// The register at this offset.
pub(crate) fn register_name(offset: u32) -> &'static str {
    reg::ALL
        .iter()
        .find(|(_, at, words)| (*at..at + 4 * words).contains(&offset))
        .map_or("(reserved)", |(name, _, _)| name)
}

/// The doorbell at this offset.
pub(crate) fn doorbell_name(offset: u32) -> &'static str {
    match offset {
        doorbell::JOB_TAIL => "JOB_TAIL",
        doorbell::REPORT_HEAD => "REPORT_HEAD",
        doorbell::RAW_HEAD => "RAW_HEAD",
        doorbell::REPORT_ARM => "REPORT_ARM",
        doorbell::CAPTURE_HEAD => "CAPTURE_HEAD",
        _ => "RQ_TAIL",
    }
}
