//! Memory regions.

use std::any::Any;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use memmap2::{MmapMut, MmapRaw};
use weft_engine::{commands, Access};

use super::pd::Pd;
use super::wr::Sge;
use super::VerbsError;
use crate::card::MappedMemory;
use crate::device::{DeferredDeregistration, Device};
use crate::error::DeviceError;
use weft_card_transport::dma::{page_size, DmaBuffer, OutOfBounds, Pages, SharedMemory};
use weft_card_transport::queue_memory::sealed_file;
use weft_card_transport::{Transport, TransportError};

/// A memory region. Clones are the same region; it is deregistered when the last one is gone and the work that was posted
/// before is done.
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
    /// Of memory that was mapped for this region.
    outcome: Option<Outcome>,
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

/// How an unmapping ended, for the one who asked.
type Outcome = Arc<OnceLock<Result<(), TransportError>>>;

/// Memory that did not come from the transport, mapped.
struct ForeignMemory {
    memory: SharedMemory,
    iova: u64,
    transport: Arc<dyn Transport>,
    outcome: Outcome,
    /// What owns it, if the region does; never freed while it is mapped.
    owner: Option<Box<dyn Any + Send + Sync>>,
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
        let unmapped = self.transport.unmap(self.iova, self.memory.len());
        if let Err(error) = &unmapped {
            // That a card is gone is said once, not for each region.
            if self.transport.lost().is_none() {
                tracing::error!(%error, "memory stays mapped");
            }
            // The card may still reach it: it is never used for anything else.
            std::mem::forget(self.owner.take());
        }
        let _ = self.outcome.set(unmapped);
    }
}

/// Whole pages that a region can own: nothing else is in them, and nothing else has a reference to them.
///
/// [`Pages`] are, and so are anonymous maps ([`MmapMut`], huge pages included). A `Vec` is not: it shares its pages with
/// whatever the allocator put beside it.
#[derive(Debug)]
pub struct OwnedMemory(Owned);

#[derive(Debug)]
enum Owned {
    Pages(Pages),
    Map(MmapRaw),
}

impl From<Pages> for OwnedMemory {
    fn from(pages: Pages) -> Self {
        Self(Owned::Pages(pages))
    }
}

impl From<MmapMut> for OwnedMemory {
    fn from(map: MmapMut) -> Self {
        Self(Owned::Map(map.into()))
    }
}

impl OwnedMemory {
    /// A new file of so many bytes, zero at first, whose size nobody changes, for another process to map as well.
    pub fn sealed(name: &str, bytes: u64) -> io::Result<(Self, File)> {
        let file = sealed_file(name, bytes)?;
        let map = MmapRaw::map_raw(&file)?;
        Ok((Self(Owned::Map(map)), file))
    }

    fn start(&self) -> Option<NonNull<u8>> {
        NonNull::new(match &self.0 {
            Owned::Pages(pages) => pages.memory().as_ptr(),
            Owned::Map(map) => map.as_mut_ptr(),
        })
    }

    /// Bytes that the caller asked for; the pages may be more.
    fn len(&self) -> usize {
        match &self.0 {
            Owned::Pages(pages) => pages.memory().len(),
            Owned::Map(map) => map.len(),
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

    /// Registers memory that the region owns from now on.
    pub(super) fn register_owned(
        pd: &Pd,
        owned: OwnedMemory,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let len = owned.len();
        let start = owned.start().ok_or(VerbsError::NotWholePages {
            address: 0,
            len,
            page: page_size(),
        })?;
        let whole = len.next_multiple_of(page_size());
        // SAFETY: whole pages that nothing else is in (a map has them to its last page's end), without references; they live
        // until they are unmapped, as `owner` does.
        unsafe { Self::map(pd, start, len, whole, access, Some(Box::new(owned))) }
    }

    /// # Safety
    /// See [`Pd::reg_mr`].
    pub(super) unsafe fn register_foreign(
        pd: &Pd,
        ptr: NonNull<u8>,
        len: usize,
        access: Access,
    ) -> Result<Self, VerbsError> {
        // SAFETY: the same contract.
        unsafe { Self::map(pd, ptr, len, len, access, None) }
    }

    /// # Safety
    /// `ptr..ptr + whole` is memory as [`Pd::reg_mr`] asks for; `owner`, if there is one, keeps it valid.
    unsafe fn map(
        pd: &Pd,
        ptr: NonNull<u8>,
        len: usize,
        whole: usize,
        access: Access,
        owner: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Self, VerbsError> {
        let page = page_size();
        let address = ptr.as_ptr() as usize;
        if len == 0 || whole % page != 0 || address % page != 0 {
            return Err(VerbsError::NotWholePages { address, len, page });
        }
        let device = pd.device();
        let held = || device.lock().holds(address, whole);
        if held() {
            // Perhaps by a region that is gone.
            device.progress()?;
        }
        if held() {
            return Err(VerbsError::AlreadyRegistered { address, len });
        }
        let transport = device.mmio().transport.clone();
        // SAFETY: valid and without references until unmapped, by the caller's promise.
        let iova = unsafe { transport.map(ptr, whole) }.map_err(DeviceError::from)?;
        // SAFETY: as above; whole pages begin and end with whole words.
        let memory = unsafe { SharedMemory::new(ptr, whole) };
        let outcome = Outcome::default();
        let memory = ForeignMemory {
            memory,
            iova,
            transport,
            outcome: outcome.clone(),
            owner,
        };
        let mut region = Self::register(pd, Arc::new(memory), 0, len, None, access)?;
        if let Some(inner) = Arc::get_mut(&mut region.inner) {
            inner.outcome = Some(outcome);
        }
        Ok(region)
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
        let register = commands::register(pd.id(), addr, iova, len as u64, access);
        let stag = device.command_in(&mut state, &register, &[])?.stag;
        state.place.memory_mut().add(&memory);
        let region = Self {
            inner: Arc::new(MrInner {
                pd: pd.clone(),
                memory,
                start,
                len,
                addr,
                stag,
                access,
                outcome: None,
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

    /// Where the card sees its first byte.
    pub(super) fn iova(&self) -> u64 {
        self.inner.memory.iova() + self.inner.start as u64
    }

    /// Registers a part of this region's memory once more: another STag, other rights, perhaps another
    /// domain of the same device. This is how one mapped block becomes many small regions: a region of its own for each
    /// buffer would cost a mapping and whole pages.
    #[tracing::instrument(name = "reg_part", level = "debug", skip_all, fields(device = pd.device().name(), pd = pd.id().number(), of = self.lkey(), offset = offset, len = len))]
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

    /// Deregisters the region and waits until its memory is unmapped (`ibv_dereg_mr`): the card reaches it no more when this
    /// answers `Ok`. Memory that other regions have as well ([`reg_part`](Self::reg_part)) stays mapped for them.
    ///
    /// Without it the same happens some time after the last handle is dropped, and nobody hears how it ended.
    #[tracing::instrument(name = "dereg_mr", level = "debug", skip_all, fields(device = self.pd().device().name(), lkey = self.lkey()))]
    pub fn dereg(self) -> Result<(), VerbsError> {
        /// A fence takes less than a microsecond of the card's: one that has not ended in so long is stuck.
        const LIMIT_NS: u64 = 1_000_000_000;
        /// How often it is looked at.
        const LOOK_NS: u64 = 20_000;
        let inner = match Arc::try_unwrap(self.inner) {
            Ok(inner) => inner,
            Err(inner) => {
                return Err(VerbsError::RegionInUse {
                    lkey: inner.stag,
                    uses: Arc::strong_count(&inner) - 1,
                })
            }
        };
        let device = inner.device().clone();
        let (lkey, iova) = (inner.stag, inner.memory.iova());
        let (memory, outcome) = (Arc::downgrade(&inner.memory), inner.outcome.clone());
        drop(inner);
        if device.lock().is_leaving(lkey) {
            return Err(VerbsError::RegionInUse { lkey, uses: 0 });
        }
        let shared = || device.lock().place.memory().is_registered(iova);
        let limit = device.now().saturating_add(LIMIT_NS);
        while memory.strong_count() > 0 && !shared() {
            let look = device.now().saturating_add(LOOK_NS);
            let gone = || (memory.strong_count() == 0).then_some(());
            if device.wait_for(Some(look), gone)?.is_none() && device.now() >= limit {
                return Err(VerbsError::StaysMapped { lkey });
            }
        }
        match outcome.as_deref().and_then(OnceLock::get) {
            Some(Err(error)) => Err(DeviceError::from(error.clone()).into()),
            _ => Ok(()),
        }
    }

    /// Registers the same memory with other rights or in another domain of the device, and deregisters this region (`ibv_rereg_mr`): the new one has the same
    /// address and another STag. `RegionInUse`: another handle, or work that is not done, has this one, which stays what it was; a handle that was given is used
    /// up all the same.
    #[tracing::instrument(name = "rereg_mr", level = "debug", skip_all, fields(device = self.pd().device().name(), lkey = self.lkey(), pd = pd.id().number()))]
    pub fn rereg(self, pd: &Pd, access: Access) -> Result<Mr, VerbsError> {
        if !pd.device().is(self.pd().device()) {
            return Err(VerbsError::WrongDevice { what: "region" });
        }
        let (memory, start) = (self.inner.memory.clone(), self.inner.start);
        let (len, addr) = (self.len(), Some(self.addr()));
        let mut region = Self::register(pd, memory, start, len, addr, access)?;
        if let Some(inner) = Arc::get_mut(&mut region.inner) {
            inner.outcome = self.inner.outcome.clone();
        }
        self.dereg()?;
        Ok(region)
    }

    /// First byte, as the host sees it. It is valid while the region is registered, and what is read and written by way of it is
    /// shared with the card, with the peer and with other threads: no reference may be made of it, other than to
    /// atomics of 8 bytes at multiples of 8 (as [`SharedMemory`](weft_card_transport::dma::SharedMemory) accesses it), unless the program knows that
    /// neither work under way nor the peer uses these bytes meanwhile.
    pub fn as_ptr(&self) -> *mut u8 {
        self.inner
            .memory
            .memory()
            .as_ptr()
            .wrapping_add(self.inner.start)
    }

    /// Its domain.
    #[inline]
    pub fn pd(&self) -> &Pd {
        &self.inner.pd
    }

    /// Address (tagged offset) of its first byte.
    #[inline]
    pub fn addr(&self) -> u64 {
        self.inner.addr
    }

    /// Bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.inner.len
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.inner.len == 0
    }

    /// The key for local work: the STag.
    #[inline]
    pub fn lkey(&self) -> u32 {
        self.inner.stag
    }

    /// The key for the peer: the STag (iWARP has one for both).
    pub fn rkey(&self) -> u32 {
        self.inner.stag
    }

    /// Its rights.
    #[inline]
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
    #[inline]
    pub fn sge(&self, offset: u64, length: u32) -> Sge<'_> {
        Sge {
            mr: self,
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
        state.leave(DeferredDeregistration {
            stag: self.stag,
            memory: Some(self.memory.clone()),
            keeps: Box::new(self.pd.clone()),
        });
        if let Err(error) = state.finish_turn() {
            tracing::debug!(%error, "region removed from a device that failed");
        }
    }
}
