//! Protection domains.

use std::ptr::NonNull;
use std::sync::Arc;

use weft_engine::{commands, Access, PdId};

use super::mr::Mr;
use super::owned_memory::OwnedMemory;
use super::qp::{Qp, QpInit};
use super::VerbsError;
use crate::device::Device;

/// A protection domain: queue pairs reach only regions of their own. Clones are the same domain.
#[derive(Clone, Debug)]
pub struct Pd {
    inner: Arc<PdInner>,
}

#[derive(Debug)]
struct PdInner {
    device: Device,
    id: PdId,
}

impl Device {
    /// A new protection domain.
    #[tracing::instrument(name = "alloc_pd", level = "debug", skip_all, fields(device = self.name()))]
    #[doc(alias("ibv_alloc_pd", "ibv_dealloc_pd"))]
    pub fn alloc_pd(&self) -> Result<Pd, VerbsError> {
        let answer = self.command(&commands::alloc_pd(), &[])??;
        let id = PdId::from_number(answer.pd);
        tracing::debug!(device = self.name(), pd = id.number(), "protection domain");
        Ok(Pd {
            inner: Arc::new(PdInner {
                device: self.clone(),
                id,
            }),
        })
    }
}

impl Pd {
    /// Its device.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    pub(crate) fn id(&self) -> PdId {
        self.inner.id
    }

    /// Are the two the same domain?
    #[inline]
    pub fn is(&self, other: &Pd) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// How many have it: clones, and what is in it and has a handle.
    pub fn handles(&self) -> usize {
        Arc::strong_count(&self.inner)
    }

    /// New zeroed memory of `len` bytes, registered. Its address is its IOVA.
    #[tracing::instrument(name = "alloc_mr", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), len = len))]
    pub fn alloc_mr(&self, len: usize, access: Access) -> Result<Mr, VerbsError> {
        Mr::allocate(self, len, None, access)
    }

    /// The same, with an address (the tagged offset of the first byte) of the caller's choice, often 0.
    #[tracing::instrument(name = "alloc_mr_at", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), len = len, addr = addr))]
    pub fn alloc_mr_at(&self, len: usize, addr: u64, access: Access) -> Result<Mr, VerbsError> {
        Mr::allocate(self, len, Some(addr), access)
    }

    /// Registers memory that the region owns from now on: it is freed when it is unmapped. Its address is its IOVA.
    ///
    /// ```
    /// # use weft_hostdrv::{dma::Pages, verbs::*};
    /// # fn example(pd: &Pd) -> Result<(), Box<dyn std::error::Error>> {
    /// let block = pd.reg_owned(Pages::new(1 << 20).ok_or("no memory")?, Access::LOCAL_WRITE)?;
    /// // Many small regions of one mapping.
    /// let parts: Result<Vec<Mr>, _> = (0..256)
    ///     .map(|n| block.reg_part(pd, n * 4096, 100, Access::LOCAL_WRITE))
    ///     .collect();
    /// # drop(parts?);
    /// # Ok(())
    /// # }
    /// ```
    #[tracing::instrument(name = "reg_owned", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
    pub fn reg_owned(
        &self,
        memory: impl Into<OwnedMemory>,
        access: Access,
    ) -> Result<Mr, VerbsError> {
        Mr::register_owned(self, memory.into(), access)
    }

    /// Registers any bytes of the program's, wherever they begin and end, as often as wanted (`ibv_reg_mr`). Its address is the program's.
    ///
    /// The card maps the pages around them, each run of pages once; it reaches the bytes alone. How they are reached depends on the
    /// [transport](weft_card_transport::Transport::lend); but for a lent device the pages are never exchanged or copied behind the program's back.
    ///
    /// # Safety
    /// From this call until [`Mr::dereg`] answered `Ok`, or until the device and everything of it is gone,
    /// 1. the pages around the bytes stay allocated: readable, writable, not freed, moved or mapped over;
    /// 2. there is no reference to the bytes, and they are read and written by no other means than [`Mr`]'s or a pointer that
    ///    follows the rules of [`Mr::as_ptr`];
    /// 3. on a device that a broker lends, nobody accesses the pages around the bytes during this call and while the region goes: they are exchanged for
    ///    lent ones, and back.
    #[tracing::instrument(name = "reg_raw", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), len = len))]
    #[doc(alias = "ibv_reg_mr")]
    pub unsafe fn reg_raw(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        access: Access,
    ) -> Result<Mr, VerbsError> {
        // SAFETY: the same contract.
        unsafe { Mr::register_raw(self, ptr, len, ptr.as_ptr() as u64, access) }
    }

    /// The same with an address of the caller's choice (`ibv_reg_mr_iova`).
    ///
    /// # Safety
    /// As for [`reg_raw`](Self::reg_raw).
    #[tracing::instrument(name = "reg_raw_at", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), len = len, addr = addr))]
    #[doc(alias = "ibv_reg_mr_iova")]
    pub unsafe fn reg_raw_at(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        addr: u64,
        access: Access,
    ) -> Result<Mr, VerbsError> {
        // SAFETY: the same contract.
        unsafe { Mr::register_raw(self, ptr, len, addr, access) }
    }

    /// A new queue pair.
    #[tracing::instrument(name = "create_qp", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
    #[doc(alias("ibv_create_qp", "ibv_create_qp_ex"))]
    pub fn create_qp(&self, init: &QpInit) -> Result<Qp, VerbsError> {
        Qp::create(self, init)
    }
}

impl Drop for PdInner {
    fn drop(&mut self) {
        let id = self.id;
        let _span = tracing::debug_span!("dealloc_pd", pd = id.number()).entered();
        let now = self.device.now();
        let gone = self.device.lock().leave_domain(now, id);
        if let Err(error) = gone {
            tracing::debug!(pd = id.number(), %error, "protection domain not removed");
        }
    }
}
