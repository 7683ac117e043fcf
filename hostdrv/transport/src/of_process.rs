//! A transport for the process that opened it, and not for its children.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::monotonic;
use super::{Bar, Transport, TransportError};
use crate::dma::DmaBuffer;
use crate::fork::{Birthplace, Blank};
use crate::turns::Turns;

/// The same transport; in a child of this process it does nothing but say so ([`TransportError::Inherited`]), and its end neither resets the
/// card nor unmaps memory.
pub struct OfProcess {
    /// Not dropped in a child.
    inner: ManuallyDrop<Arc<dyn Transport>>,
    born: Birthplace,
    name: String,
    /// Memory of the program's that is blank in children, by IOVA.
    blank: Mutex<BTreeMap<u64, Blank>>,
}

impl OfProcess {
    /// For this process.
    pub fn new(inner: Arc<dyn Transport>) -> Self {
        Self {
            name: inner.name(),
            inner: ManuallyDrop::new(inner),
            born: Birthplace::here(),
            blank: Mutex::default(),
        }
    }

    #[inline]
    fn here(&self) -> Result<&dyn Transport, TransportError> {
        match self.born.is_here() {
            true => Ok(&**self.inner),
            false => Err(self.inherited()),
        }
    }

    #[cold]
    fn inherited(&self) -> TransportError {
        let device = self.name.clone();
        TransportError::Inherited { device }
    }

    fn blank(&self) -> MutexGuard<'_, BTreeMap<u64, Blank>> {
        self.blank.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer that is left alone in a child.
struct Kept {
    buffer: ManuallyDrop<DmaBuffer>,
    blank: Option<Blank>,
    born: Birthplace,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.born.is_here() {
            self.blank = None;
            // SAFETY: once, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

impl Transport for OfProcess {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        self.here()?.read32(bar, offset)
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.here()?.write32(bar, offset, value)
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.here()?.write_block(bar, offset, bytes)
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.here()?.config_read32(offset)
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let buffer = self.here()?.dma_alloc(len)?;
        let Some(first) = NonNull::new(buffer.as_ptr()) else {
            return Ok(buffer);
        };
        let (iova, len) = (buffer.iova(), buffer.len());
        let kept = Kept {
            // SAFETY: whole pages of the transport's, which go with the buffer, after this.
            blank: Some(unsafe { Blank::in_children(first, len) }),
            buffer: ManuallyDrop::new(buffer),
            born: self.born,
        };
        // SAFETY: `kept` has the buffer.
        Ok(unsafe { DmaBuffer::new(first, iova, len, Box::new(kept)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        let iova = unsafe { self.here()?.map(ptr, len) }?;
        // SAFETY: whole pages that nobody but the card and their owner uses, until `unmap`.
        self.blank()
            .insert(iova, unsafe { Blank::in_children(ptr, len) });
        Ok(iova)
    }

    unsafe fn map_file(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
    ) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        let iova = unsafe { self.here()?.map_file(ptr, len, file) }?;
        // SAFETY: as in `map`.
        self.blank()
            .insert(iova, unsafe { Blank::in_children(ptr, len) });
        Ok(iova)
    }

    unsafe fn lend(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's promise is this one's.
        unsafe { self.here()?.lend(ptr, len) }
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        let here = self.here()?;
        self.blank().remove(&iova);
        here.unmap(iova, len)
    }

    fn now(&self) -> u64 {
        self.here()
            .map_or_else(|_| monotonic::now(), |here| here.now())
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.here()?.wait(vector, deadline)
    }

    fn wake(&self, vector: u16) {
        if let Ok(here) = self.here() {
            here.wake(vector);
        }
    }

    fn drives(&self, on: bool) {
        if let Ok(here) = self.here() {
            here.drives(on);
        }
    }

    fn turns(&self) -> Option<Arc<dyn Turns>> {
        self.here().ok()?.turns()
    }

    fn lost(&self) -> Option<String> {
        match self.here() {
            Ok(here) => here.lost(),
            Err(inherited) => Some(inherited.to_string()),
        }
    }

    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        self.here().ok()?.lost_fd()
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.here().ok()?.interrupt_fd(vector)
    }

    fn has_card(&self) -> bool {
        self.here().map_or(true, |here| here.has_card())
    }

    fn reset(&self) -> Result<(), TransportError> {
        self.here()?.reset()
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Drop for OfProcess {
    fn drop(&mut self) {
        if self.born.is_here() {
            // SAFETY: once, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}
