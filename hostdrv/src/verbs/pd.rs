//! Protection domains.

use std::ptr::NonNull;
use std::sync::Arc;

use weft_engine::{commands, Access, PdId};

use super::mr::{Mr, OwnedMemory};
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
    pub(crate) fn is(&self, other: &Pd) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
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

    /// Registers memory of the caller's (`ibv_reg_mr`). `ptr` and `len` are multiples of [`page_size`](weft_card_transport::dma::page_size),
    /// because the card reaches pages: what else were in them would be in its reach. A buffer that begins or ends inside a
    /// page is a [part](Mr::reg_part) of the region of its pages. Pages that are registered already are refused. The
    /// address is the IOVA.
    ///
    /// # Safety
    /// From this call until [`Mr::dereg`] answered `Ok`, or until the device and everything of it is gone,
    /// 1. the pages stay allocated: readable, writable, not freed, moved or mapped over;
    /// 2. there is no reference to their bytes, and they are read and written by no other means than [`Mr`]'s or a pointer that
    ///    follows the rules of [`Mr::as_ptr`];
    ///
    /// and nobody accesses them during this call, and during the end of the region
    /// ([`Transport::map`](weft_card_transport::Transport::map)).
    #[tracing::instrument(name = "reg_mr", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number(), len = len))]
    pub unsafe fn reg_mr(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        access: Access,
    ) -> Result<Mr, VerbsError> {
        // SAFETY: the same contract.
        unsafe { Mr::register_foreign(self, ptr, len, access) }
    }

    /// A new queue pair.
    #[tracing::instrument(name = "create_qp", level = "debug", skip_all, fields(device = self.device().name(), pd = self.id().number()))]
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
