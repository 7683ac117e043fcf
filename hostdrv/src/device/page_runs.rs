//! Runs of pages of the program's that are mapped for the card.
//!
//! A run is mapped once for all regions that have exactly its pages, and unmapped with the last of them. Runs that only overlap are mappings
//! of their own: who registered some of another's pages has promised nothing of the rest.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use weft_card_transport::dma::{page_size, SharedMemory};
use weft_card_transport::fork::Birthplace;
use weft_card_transport::{Transport, TransportError};

use crate::card::MappedMemory;

/// How an unmapping ended, for the one who asked.
pub(crate) type Outcome = Arc<OnceLock<Result<(), TransportError>>>;

/// Runs by address of their first page and bytes.
type Runs = Mutex<BTreeMap<(usize, usize), Weak<PageRun>>>;

/// The runs that a device has lent to its card.
#[derive(Clone, Default)]
pub(crate) struct PageRuns(Arc<Runs>);

/// How pages come to be mapped for the card.
pub(crate) enum Mapping {
    /// They are exchanged where the transport has to.
    Own,
    /// They are all of this file.
    File(File),
    /// They are of several files, and stay in use.
    Lent,
}

/// Whole pages that are mapped as long as this lives.
pub(crate) struct PageRun {
    memory: SharedMemory,
    iova: u64,
    transport: Arc<dyn Transport>,
    outcome: Outcome,
    /// What owns it, if the region does; never freed while it is mapped.
    owner: Option<Box<dyn Any + Send + Sync>>,
    /// Where it is found again.
    runs: PageRuns,
    born: Birthplace,
}

/// First byte and bytes of the pages that `len` bytes at `ptr` lie in, and how many bytes of them come before. `None`: no memory can be there.
pub(crate) fn pages_around(ptr: NonNull<u8>, len: usize) -> Option<(NonNull<u8>, usize, usize)> {
    let before = ptr.as_ptr() as usize % page_size();
    let first = NonNull::new(ptr.as_ptr().wrapping_sub(before))?;
    let whole = before
        .checked_add(len)?
        .checked_next_multiple_of(page_size())?;
    let inside = (first.as_ptr() as usize).checked_add(whole).is_some();
    (len > 0 && inside).then_some((first, whole, before))
}

impl PageRuns {
    fn listed(&self) -> MutexGuard<'_, BTreeMap<(usize, usize), Weak<PageRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Maps pages that are in use, unless this run is mapped already.
    ///
    /// # Safety
    /// As for [`Transport::lend`], until the run is dropped.
    pub(crate) unsafe fn lend(
        &self,
        transport: &Arc<dyn Transport>,
        first: NonNull<u8>,
        len: usize,
    ) -> Result<Arc<PageRun>, TransportError> {
        let name = (first.as_ptr() as usize, len);
        let mut runs = self.listed();
        if let Some(run) = runs.get(&name).and_then(Weak::upgrade) {
            return Ok(run);
        }
        // SAFETY: the caller vouches.
        let iova = unsafe { transport.lend(first, len) }?;
        // SAFETY: as above.
        let run = Arc::new(unsafe { self.run(transport, first, len, iova, None) });
        runs.insert(name, Arc::downgrade(&run));
        Ok(run)
    }

    /// Maps pages that `owner` keeps, and nobody else has but by files that they are of.
    ///
    /// # Safety
    /// As for [`Transport::map`], as long as `owner` lives.
    pub(crate) unsafe fn own(
        &self,
        transport: &Arc<dyn Transport>,
        (first, len, how): (NonNull<u8>, usize, &Mapping),
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Arc<PageRun>, TransportError> {
        // SAFETY: the caller vouches, of each.
        let iova = unsafe {
            match how {
                Mapping::Own => transport.map(first, len),
                Mapping::File(file) => transport.map_file(first, len, file.as_fd()),
                Mapping::Lent => transport.lend(first, len),
            }
        }?;
        // SAFETY: as above.
        Ok(Arc::new(unsafe {
            self.run(transport, first, len, iova, Some(owner))
        }))
    }

    /// # Safety
    /// The pages are mapped at `iova`, and valid until the run is dropped.
    unsafe fn run(
        &self,
        transport: &Arc<dyn Transport>,
        first: NonNull<u8>,
        len: usize,
        iova: u64,
        owner: Option<Box<dyn Any + Send + Sync>>,
    ) -> PageRun {
        PageRun {
            // SAFETY: the caller vouches; whole pages begin and end with whole words.
            memory: unsafe { SharedMemory::new(first, len) },
            iova,
            transport: transport.clone(),
            outcome: Outcome::default(),
            owner,
            runs: self.clone(),
            born: Birthplace::here(),
        }
    }
}

impl PageRun {
    /// How its unmapping ended, when it has.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }
}

impl MappedMemory for PageRun {
    fn iova(&self) -> u64 {
        self.iova
    }
    fn memory(&self) -> &SharedMemory {
        &self.memory
    }
}

impl Drop for PageRun {
    fn drop(&mut self) {
        let name = (self.memory.as_ptr() as usize, self.memory.len());
        // In a child nobody looks for it, and the list may be locked for good.
        if self.born.is_here() {
            let mut runs = self.runs.listed();
            // The same pages may have been mapped anew since the last handle went.
            if runs.get(&name).is_some_and(|run| run.strong_count() == 0) {
                runs.remove(&name);
            }
        }
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
