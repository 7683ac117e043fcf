//! Registers and doorbells, counted.

use std::fmt::Debug;
use std::sync::Arc;

use weft_layout::{doorbell, Doorbell, Job, ReadWrite, Register, Writable};

use crate::stats::{add, HostCounts};
use weft_card_transport::dma::{before_doorbell, DmaBuffer};
use weft_card_transport::{Bar, RegisterAccess, Transport, TransportError};

/// All ones: what a bus answers for a device that does not.
pub const ALL_ONES: u32 = u32::MAX;

/// A card's registers and doorbells. Clones count together.
#[derive(Clone)]
pub struct Mmio {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) counts: Arc<HostCounts>,
}

impl Mmio {
    /// Those of the card behind `transport`, with counts of their own.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self {
            transport,
            counts: Arc::default(),
        }
    }

    /// The way to the card.
    pub fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// Reads a register.
    pub fn read<A, W, R: From<u32> + Debug>(
        &self,
        register: Register<A, W, R>,
    ) -> Result<R, TransportError> {
        add(&self.counts.mmio_reads, 1);
        let value = self.transport.read(register)?;
        tracing::trace!(
            register = register.name(),
            value = format_args!("{value:x?}"),
            "read"
        );
        Ok(value)
    }

    /// Writes a register.
    pub fn write<A: Writable, W: Into<u32> + Debug, R>(
        &self,
        register: Register<A, W, R>,
        value: W,
    ) -> Result<(), TransportError> {
        add(&self.counts.mmio_writes, 1);
        tracing::trace!(
            register = register.name(),
            value = format_args!("{value:x?}"),
            "write"
        );
        self.transport.write(register, value)
    }

    /// Writes an address register pair.
    pub fn write_address(
        &self,
        low: Register<ReadWrite, u32>,
        high: Register<ReadWrite, u32>,
        iova: u64,
    ) -> Result<(), TransportError> {
        self.write(low, iova as u32)?;
        self.write(high, (iova >> 32) as u32)
    }

    /// DMA memory, counted.
    pub fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let buffer = self.transport.dma_alloc(len)?;
        add(&self.counts.dma_bytes_allocated, buffer.len() as u64);
        tracing::debug!(
            len = buffer.len(),
            iova = format_args!("{:#x}", buffer.iova()),
            "DMA memory"
        );
        Ok(buffer)
    }

    /// Writes a job into the card's push window, behind all accesses of DMA memory before it.
    pub(crate) fn push_job(&self, slot: u32, job: &[u8; Job::SIZE]) -> Result<(), TransportError> {
        add(&self.counts.mmio_writes, Job::SIZE as u64 / 8);
        add(&self.counts.jobs_pushed, 1);
        tracing::trace!(slot, "push");
        before_doorbell();
        let at = doorbell::JOB_PUSH + slot * Job::SIZE as u32;
        self.transport.write_block(Bar::Doorbells, at, job)
    }

    /// Rings a doorbell, behind all accesses of DMA memory before it.
    pub fn ring(&self, doorbell: Doorbell, value: u32) -> Result<(), TransportError> {
        add(&self.counts.mmio_writes, 1);
        add(&self.counts.doorbells, 1);
        tracing::trace!(doorbell = doorbell.name(), value, "ring");
        before_doorbell();
        self.transport.ring(doorbell, value)
    }
}
