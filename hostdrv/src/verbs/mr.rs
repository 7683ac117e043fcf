//! Memory regions.

use std::ops::RangeBounds;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use weft_card_transport::dma::{DmaBuffer, OutOfBounds, SharedMemory};
use weft_engine::{commands, Access};

use super::owned_memory::OwnedMemory;
use super::pd::Pd;
use super::refused::Refused;
use super::region_slice::MrSlice;
use super::remote_region::RemoteRegion;
use super::wr::Sge;
use super::VerbsError;
use crate::card::MappedMemory;
use crate::device::{pages_around, DeferredDeregistration, Device, Outcome, PageRun, State};
use crate::error::DeviceError;

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
    /// It is deregistered.
    left: bool,
    /// Lives until nothing reaches the memory by this region any more.
    whole: Arc<()>,
}

impl MappedMemory for DmaBuffer {
    fn iova(&self) -> u64 {
        DmaBuffer::iova(self)
    }
    fn memory(&self) -> &SharedMemory {
        DmaBuffer::memory(self)
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
        mut owned: OwnedMemory,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let len = owned.len();
        let how = owned.mapping();
        let (first, whole, before) = Self::pages(owned.start(), len)?;
        let mmio = pd.device().mmio();
        let runs = pd.device().page_runs();
        // SAFETY: whole pages that nothing else is in (a map has them to its last page's end), without references; they live
        // until they are unmapped, as `owner` does.
        let run = unsafe { runs.own(&mmio.transport, (first, whole, &how), Box::new(owned)) };
        Self::of_run(
            pd,
            run.map_err(DeviceError::from)?,
            before,
            len,
            None,
            access,
        )
    }

    /// # Safety
    /// See [`Pd::reg_raw`].
    pub(super) unsafe fn register_raw(
        pd: &Pd,
        ptr: NonNull<u8>,
        len: usize,
        addr: u64,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let (first, whole, before) = Self::pages(Some(ptr), len)?;
        let mmio = pd.device().mmio();
        // SAFETY: the caller vouches for the pages, which stay where they are and in use.
        let run = unsafe { pd.device().page_runs().lend(&mmio.transport, first, whole) };
        let run = run.map_err(DeviceError::from)?;
        Self::of_run(pd, run, before, len, Some(addr), access)
    }

    /// The pages around bytes, as [`pages_around`] finds them.
    fn pages(
        ptr: Option<NonNull<u8>>,
        len: usize,
    ) -> Result<(NonNull<u8>, usize, usize), VerbsError> {
        let address = ptr.map_or(0, |ptr| ptr.as_ptr() as usize);
        let pages = ptr.and_then(|ptr| pages_around(ptr, len));
        pages.ok_or(VerbsError::NoSuchMemory { address, len })
    }

    fn of_run(
        pd: &Pd,
        run: Arc<PageRun>,
        start: usize,
        len: usize,
        addr: Option<u64>,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let outcome = run.outcome();
        let mut region = Self::register(pd, run, start, len, addr, access)?;
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
                left: false,
                whole: Arc::default(),
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

    /// Deregisters the region and waits until its memory is unmapped (`ibv_dereg_mr`): the card reaches it by this region no more when this
    /// answers `Ok`. Pages that other regions have as well ([`reg_part`](Self::reg_part)) stay mapped for them.
    ///
    /// `RegionInUse`: another handle, or work that is not done, has it; it stays what it was, and its handle comes back.
    ///
    /// Without this call the same happens some time after the last handle is dropped, and nobody hears how it ended.
    #[tracing::instrument(name = "dereg_mr", level = "debug", skip_all, fields(device = self.pd().device().name(), lkey = self.lkey()))]
    #[doc(alias = "ibv_dereg_mr")]
    pub fn dereg(self) -> Result<(), Refused<Mr>> {
        /// A fence takes less than a microsecond of the card's: one that has not ended in so long is stuck.
        const LIMIT_NS: u64 = 1_000_000_000;
        /// How often it is looked at.
        const LOOK_NS: u64 = 20_000;
        let mut inner = match Arc::try_unwrap(self.inner) {
            Ok(inner) => inner,
            Err(inner) => {
                let (lkey, uses) = (inner.stag, Arc::strong_count(&inner) - 1);
                let error = VerbsError::RegionInUse { lkey, uses };
                return Err(Refused::back(Mr { inner }, error));
            }
        };
        let device = inner.device().clone();
        let (lkey, iova) = (inner.stag, inner.memory.iova());
        if !inner.leave_unless_used() {
            let inner = Arc::new(inner);
            let error = VerbsError::RegionInUse { lkey, uses: 0 };
            return Err(Refused::back(Mr { inner }, error));
        }
        let (whole, memory) = (Arc::downgrade(&inner.whole), Arc::downgrade(&inner.memory));
        let outcome = inner.outcome.clone();
        drop(inner);
        let shared = || device.lock().place.memory().is_registered(iova);
        let is_over = || whole.strong_count() == 0 && (memory.strong_count() == 0 || shared());
        let limit = device.now().saturating_add(LIMIT_NS);
        while !is_over() {
            let look = device.now().saturating_add(LOOK_NS);
            let gone = || (whole.strong_count() == 0).then_some(());
            device.wait_for(Some(look), gone).map_err(Refused::gone)?;
            if !is_over() && device.now() >= limit {
                return Err(Refused::gone(VerbsError::StaysMapped { lkey }));
            }
        }
        match outcome.as_deref().and_then(OnceLock::get) {
            Some(Err(error)) => Err(Refused::gone(DeviceError::from(error.clone()))),
            _ => Ok(()),
        }
    }

    /// Registers the same memory with other rights or in another domain of the device, and deregisters this region (`ibv_rereg_mr`): the new one has the same
    /// address and another STag. `RegionInUse`: another handle, or work that is not done, has this one, which stays what it was; its handle comes back.
    #[tracing::instrument(name = "rereg_mr", level = "debug", skip_all, fields(device = self.pd().device().name(), lkey = self.lkey(), pd = pd.id().number()))]
    #[doc(alias = "ibv_rereg_mr")]
    pub fn rereg(self, pd: &Pd, access: Access) -> Result<Mr, Refused<Mr>> {
        if !pd.device().is(self.pd().device()) {
            return Err(Refused::back(
                self,
                VerbsError::WrongDevice { what: "region" },
            ));
        }
        let (memory, start) = (self.inner.memory.clone(), self.inner.start);
        let (len, addr) = (self.len(), Some(self.addr()));
        let mut region = match Self::register(pd, memory, start, len, addr, access) {
            Ok(region) => region,
            Err(error) => return Err(Refused::back(self, error)),
        };
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

    /// Its bytes in this range.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<MrSlice<'_>, VerbsError> {
        Ok(MrSlice::new(self, range)?)
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

    fn leaving(&self) -> DeferredDeregistration {
        DeferredDeregistration {
            stag: self.stag,
            memory: Some((self.memory.clone(), self.whole.clone())),
            keeps: Box::new(self.pd.clone()),
        }
    }

    /// Deregisters it, unless work uses it. Is it gone?
    fn leave_unless_used(&mut self) -> bool {
        let device = self.device().clone();
        let mut state = device.lock();
        self.left = state.leave_unless_used(self.leaving());
        finish(&mut state);
        self.left
    }
}

impl Drop for MrInner {
    fn drop(&mut self) {
        if !self.left {
            let mut state = self.device().lock();
            state.leave(self.leaving());
            finish(&mut state);
        }
    }
}

fn finish(state: &mut State) {
    if let Err(error) = state.finish_turn() {
        tracing::debug!(%error, "region removed from a device that failed");
    }
}
