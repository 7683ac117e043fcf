//! Protection domains.

use std::ptr::NonNull;
use std::sync::Arc;

use weft_engine::{Access, PdId};

use super::mr::Mr;
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
    pub fn alloc_pd(&self) -> Result<Pd, VerbsError> {
        let id = self.with_engine(|engine, _, _| engine.alloc_pd())?;
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
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    pub(crate) fn id(&self) -> PdId {
        self.inner.id
    }

    /// Are the two the same domain?
    pub(crate) fn is(&self, other: &Pd) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// New zeroed memory of `len` bytes, registered. Its address is its IOVA.
    pub fn alloc_mr(&self, len: usize, access: Access) -> Result<Mr, VerbsError> {
        Mr::allocate(self, len, None, access)
    }

    /// The same, with an address (the tagged offset of the first byte) of the caller's choice, often 0.
    pub fn alloc_mr_at(&self, len: usize, addr: u64, access: Access) -> Result<Mr, VerbsError> {
        Mr::allocate(self, len, Some(addr), access)
    }

    /// Registers memory of the caller's: the pages that it touches are mapped for the card. Its address is
    /// its IOVA.
    ///
    /// # Safety
    /// The pages that `ptr..ptr + len` touches are valid for reads and writes until the region is gone (the
    /// last [`Mr`] is dropped, no work under way uses it, *and* the device is dropped or has made
    /// progress at rest), and while that is so there is no reference to the bytes: the card and the peer may
    /// change them at any time. While this call and the region's end run nobody touches the pages at all
    /// ([`Transport::map`](crate::transport::Transport::map)).
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
    pub fn create_qp(&self, init: &QpInit) -> Result<Qp, VerbsError> {
        Qp::create(self, init)
    }
}

impl Drop for PdInner {
    fn drop(&mut self) {
        let id = self.id;
        if let Err(error) = self.device.lock().engine.dealloc_pd(id) {
            tracing::debug!(pd = id.number(), %error, "protection domain not removed");
        }
    }
}
