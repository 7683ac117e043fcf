//! Memory regions.

use std::ptr::NonNull;
use std::sync::Arc;

use weft_engine::Access;

use super::pd::Pd;
use super::wr::Sge;
use super::VerbsError;
use crate::card::MappedMemory;
use crate::device::Device;
use crate::dma::{DmaBuffer, OutOfBounds, SharedMemory, PAGE_SIZE};
use crate::error::DeviceError;
use crate::transport::Transport;

/// A memory region. Clones are the same region; it is deregistered when the last one is gone and no
/// work under way uses it.
///
/// The bytes are read and written by copy, because the card and the peer may write them at any
/// time. Bytes that work under way sends must be left alone until its completion.
#[derive(Clone)]
pub struct Mr {
    inner: Arc<MrInner>,
}

struct MrInner {
    pd: Pd,
    memory: Arc<dyn MappedMemory>,
    /// Where in the memory the region begins.
    start: usize,
    len: usize,
    addr: u64,
    stag: u32,
    access: Access,
}

/// What a peer must know of a region to read or write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteRegion {
    /// Address (tagged offset) of the first byte.
    pub addr: u64,
    /// The region's STag.
    pub rkey: u32,
    /// Bytes.
    pub length: u64,
}

impl RemoteRegion {
    /// Bytes of its form on the wire.
    pub const SIZE: usize = 20;

    /// The part that begins `offset` bytes in.
    pub fn offset(self, offset: u64) -> Self {
        Self {
            addr: self.addr.wrapping_add(offset),
            length: self.length.saturating_sub(offset),
            ..self
        }
    }

    /// As bytes to send to the peer, big-endian: address, STag, length.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.addr.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        bytes[12..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }

    /// Reads them back.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| -> [u8; 8] { std::array::from_fn(|i| bytes[at + i]) };
        Self {
            addr: u64::from_be_bytes(word(0)),
            rkey: u32::from_be_bytes(std::array::from_fn(|i| bytes[8 + i])),
            length: u64::from_be_bytes(word(12)),
        }
    }
}

impl MappedMemory for DmaBuffer {
    fn iova(&self) -> u64 {
        DmaBuffer::iova(self)
    }
    fn memory(&self) -> &SharedMemory {
        DmaBuffer::memory(self)
    }
}

/// Memory of the caller's, mapped.
struct ForeignMemory {
    memory: SharedMemory,
    iova: u64,
    transport: Arc<dyn Transport>,
}

impl MappedMemory for ForeignMemory {
    fn iova(&self) -> u64 {
        self.iova
    }
    fn memory(&self) -> &SharedMemory {
        &self.memory
    }
}

impl Drop for ForeignMemory {
    fn drop(&mut self) {
        if let Err(error) = self.transport.unmap(self.iova, self.memory.len()) {
            tracing::warn!(%error, "memory stays mapped");
        }
    }
}

impl Mr {
    pub(super) fn allocate(
        pd: &Pd,
        len: usize,
        addr: Option<u64>,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let memory = pd
            .device()
            .mmio()
            .dma_alloc(len)
            .map_err(DeviceError::from)?;
        Self::register(pd, Arc::new(memory), 0, len, addr, access)
    }

    /// # Safety
    /// See [`Pd::reg_mr`].
    pub(super) unsafe fn register_foreign(
        pd: &Pd,
        ptr: NonNull<u8>,
        len: usize,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let start = ptr.as_ptr() as usize % PAGE_SIZE;
        let too_long = VerbsError::InvalidSize {
            what: "the length of the region",
            given: len as u64,
            allowed: "less than the address space",
        };
        let pages = start
            .checked_add(len.max(1))
            .and_then(|end| end.checked_next_multiple_of(PAGE_SIZE))
            .ok_or(too_long)?;
        // SAFETY: the page that `ptr` lies in belongs to the memory the caller vouches for.
        let (base, transport) = unsafe { (ptr.sub(start), pd.device().mmio().transport.clone()) };
        // SAFETY: valid and without references until unmapped, by the caller's promise.
        let iova = unsafe { transport.map(base, pages) }.map_err(DeviceError::from)?;
        // SAFETY: as above.
        let memory = unsafe { SharedMemory::new(base, pages) };
        let memory = ForeignMemory {
            memory,
            iova,
            transport,
        };
        Self::register(pd, Arc::new(memory), start, len, None, access)
    }

    fn register(
        pd: &Pd,
        memory: Arc<dyn MappedMemory>,
        start: usize,
        len: usize,
        addr: Option<u64>,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let iova = memory.iova() + start as u64;
        let addr = addr.unwrap_or(iova);
        let device = pd.device();
        let mut state = device.lock();
        state.check_fault()?;
        let stag = device.turn(&mut state, |engine, _, card| {
            engine.register(pd.id(), addr, iova, len as u64, access, card)
        })?;
        state.card.memory.add(&memory);
        let region = Self {
            inner: Arc::new(MrInner {
                pd: pd.clone(),
                memory,
                start,
                len,
                addr,
                stag,
                access,
            }),
        };
        let turn = state.finish_turn();
        // The region's drop wants the lock.
        drop(state);
        turn?;
        tracing::debug!(
            device = device.name(),
            stag = format_args!("{stag:#010x}"),
            addr = format_args!("{addr:#x}"),
            len,
            access = access.bits(),
            "region"
        );
        Ok(region)
    }

    /// Registers a part of this region's memory once more: another STag, other rights, perhaps another
    /// domain of the same device.
    pub fn reg_part(
        &self,
        pd: &Pd,
        offset: usize,
        len: usize,
        access: Access,
    ) -> Result<Mr, VerbsError> {
        if !pd.device().is(self.pd().device()) {
            return Err(VerbsError::WrongDevice { what: "region" });
        }
        self.check(offset, len)?;
        let memory = self.inner.memory.clone();
        Self::register(pd, memory, self.inner.start + offset, len, None, access)
    }

    /// Its domain.
    pub fn pd(&self) -> &Pd {
        &self.inner.pd
    }

    /// Address (tagged offset) of its first byte.
    pub fn addr(&self) -> u64 {
        self.inner.addr
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.inner.len
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.inner.len == 0
    }

    /// The key for local work: the STag.
    pub fn lkey(&self) -> u32 {
        self.inner.stag
    }

    /// The key for the peer: the STag (iWARP has one for both).
    pub fn rkey(&self) -> u32 {
        self.inner.stag
    }

    /// Its rights.
    pub fn access(&self) -> Access {
        self.inner.access
    }

    /// What the peer must know of it.
    pub fn remote(&self) -> RemoteRegion {
        RemoteRegion {
            addr: self.addr(),
            rkey: self.rkey(),
            length: self.len() as u64,
        }
    }

    /// `length` bytes that begin `offset` bytes in, for a work request (which checks them).
    pub fn sge(&self, offset: u64, length: u32) -> Sge {
        Sge {
            mr: self.clone(),
            offset,
            length,
        }
    }

    fn check(&self, offset: usize, count: usize) -> Result<usize, OutOfBounds> {
        match offset.checked_add(count) {
            Some(end) if end <= self.len() => Ok(self.inner.start + offset),
            _ => Err(OutOfBounds {
                offset,
                count,
                len: self.len(),
            }),
        }
    }

    /// Copies bytes out.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), VerbsError> {
        let at = self.check(offset, to.len())?;
        Ok(self.inner.memory.memory().read(at, to)?)
    }

    /// Copies bytes out into a new vector.
    pub fn to_vec(&self, offset: usize, count: usize) -> Result<Vec<u8>, VerbsError> {
        let at = self.check(offset, count)?;
        Ok(self.inner.memory.memory().to_vec(at, count)?)
    }

    /// Copies bytes in.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), VerbsError> {
        let at = self.check(offset, from.len())?;
        Ok(self.inner.memory.memory().write(at, from)?)
    }

    /// Sets bytes.
    pub fn fill(&self, offset: usize, count: usize, value: u8) -> Result<(), VerbsError> {
        let at = self.check(offset, count)?;
        Ok(self.inner.memory.memory().fill(at, count, value)?)
    }
}

impl std::fmt::Debug for Mr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mr")
            .field("stag", &format_args!("{:#010x}", self.inner.stag))
            .field("addr", &format_args!("{:#x}", self.inner.addr))
            .field("len", &self.inner.len)
            .field("access", &self.inner.access)
            .finish()
    }
}

impl MrInner {
    fn device(&self) -> &Device {
        self.pd.device()
    }
}

impl Drop for MrInner {
    fn drop(&mut self) {
        let device = self.device();
        let mut state = device.lock();
        // After a Send with Invalidate the engine no longer knows it; that is as good.
        let gone = device.turn(&mut state, |engine, _, card| {
            engine.deregister(self.stag, card)
        });
        tracing::debug!(
            stag = format_args!("{:#010x}", self.stag),
            ?gone,
            "region removed"
        );
        state.card.memory.remove(&self.memory);
        // A packet that was checked before may still be on its way into the memory.
        state.bury(self.memory.clone());
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "region removed from a device that failed");
        }
    }
}
