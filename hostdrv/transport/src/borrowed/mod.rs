//! A card that another process has: what it lends is memory that both map. There are no registers but the fence, and no interrupts but the lender's bell.
//!
//! Memory of the program's is converted in place: its pages become a part of what was lent, with the same bytes at the same addresses. They are a copy for
//! a moment: who writes them then waits.

mod arenas;
mod converted;
mod forked;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_layout::reg;

use self::arenas::Arenas;
use self::converted::Converted;
pub use self::converted::MOST_PARTS;
use super::monotonic;
use super::vectors::Vectors;
use super::{Bar, Transport, TransportError};
use crate::dma::{page_size, DmaBuffer};

/// Memory that a lender has given: the file that both map, and where the card sees its first byte.
#[derive(Debug)]
pub struct LentMemory {
    /// All of it.
    pub file: OwnedFd,
    /// The card's address.
    pub iova: u64,
}

/// Who has the card.
pub trait CardLender: Send + Sync {
    /// New zeroed memory of so many bytes, whole pages, that the card reads and writes.
    fn memory(&self, bytes: u64) -> io::Result<LentMemory>;
    /// A range that the card reads and writes of parts of such memory, one behind the other: the card's addresses and bytes of each, whole pages, no more
    /// than [`MOST_PARTS`]. The card's address of the first byte.
    fn join(&self, parts: &[(u64, u64)]) -> io::Result<u64>;
    /// A range that the card reads and writes of all of a file of the borrower's, whose size is sealed. An error: the lender does not trust it so far.
    fn map_file(&self, file: BorrowedFd<'_>, bytes: u64) -> io::Result<u64>;
    /// Such a range is wanted no more, joined or of a file.
    fn leave(&self, joined: u64) -> io::Result<()>;
    /// Asks that everything the card was still busy with be waited for, by this number.
    fn begin_fence(&self, number: u32);
    /// The last number that was waited for.
    fn fence_done(&self) -> u32;
    /// Why nothing comes from it any more; `None`: it is there.
    fn lost(&self) -> Option<String>;
}

/// Who borrows a card. Its lender wakes it by a [`Bell`].
pub struct BorrowedCard {
    name: String,
    lender: Arc<dyn CardLender>,
    vectors: Arc<Vectors>,
    arenas: Arenas,
    converted: Arc<Mutex<Converted>>,
    /// The bytes of files that the lender has mapped, by the card's address.
    files: Mutex<BTreeMap<u64, usize>>,
}

/// The lender's bell, for whoever hears it.
#[derive(Clone)]
pub struct Bell(Arc<Vectors>);

impl Bell {
    /// A bell that nobody listens to yet.
    ///
    /// # Errors
    /// If the system gives no eventfds.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(Vectors::new(1)?)))
    }

    /// Wakes who sleeps on the card, now or as soon as it does.
    pub fn ring(&self) {
        for event in self.0.events() {
            // One that is full rings already.
            let _ = event.write(1);
        }
    }
}

impl BorrowedCard {
    /// The card of this lender, which rings this bell.
    pub fn new(name: String, lender: Arc<dyn CardLender>, bell: Bell) -> Self {
        let converted = Arc::default();
        forked::register(&converted);
        Self {
            name,
            arenas: Arenas::new(lender.clone()),
            lender,
            vectors: bell.0,
            converted,
            files: Mutex::default(),
        }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<u64, usize>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn converted(&self) -> MutexGuard<'_, Converted> {
        let converted = self.converted.lock();
        converted.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for BorrowedCard {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        match (bar, offset) {
            (Bar::Registers, reg::FENCE_DONE) => Ok(self.lender.fence_done()),
            _ => Err(TransportError::Unsupported("a register of a lent card")),
        }
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        match (bar, offset) {
            (Bar::Registers, reg::FENCE) => {
                self.lender.begin_fence(value);
                Ok(())
            }
            _ => Err(TransportError::Unsupported("a register of a lent card")),
        }
    }

    fn config_read32(&self, _: u16) -> Result<u32, TransportError> {
        Err(TransportError::Unsupported("configuration space"))
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        let piece = self.arenas.take(len);
        let piece = piece.map_err(|error| failed(error.to_string()))?;
        piece.clear();
        let (ptr, iova, whole) = (piece.ptr(), piece.iova(), piece.len());
        let ptr = ptr.ok_or_else(|| failed("no address".to_owned()))?;
        // SAFETY: the piece is this buffer's alone, and is mapped as long as it lives.
        Ok(unsafe { DmaBuffer::new(ptr, iova, whole, Box::new(piece)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        if ptr.as_ptr() as usize % page_size() != 0 || len % page_size() != 0 || len == 0 {
            return Err(failed("not whole pages".to_owned()));
        }
        let _changing = forked::changing();
        // SAFETY: the caller vouches: whole pages, valid until `unmap`.
        let mapped = unsafe { self.converted().map((ptr, len), &self.arenas, &self.lender) };
        mapped.map_err(|error| match (error.kind(), error.to_string()) {
            (io::ErrorKind::Unsupported, reason) => TransportError::Unmappable { len, reason },
            (_, reason) => failed(reason),
        })
    }

    unsafe fn map_file(
        &self,
        _: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
    ) -> Result<u64, TransportError> {
        let mapped = self.lender.map_file(file, len as u64);
        let iova = mapped.map_err(|error| TransportError::Unmappable {
            len,
            reason: error.to_string(),
        })?;
        self.files().insert(iova, len);
        Ok(iova)
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        let failed = |reason: String| TransportError::Unmap { iova, len, reason };
        if self.files().get(&iova) == Some(&len) {
            self.files().remove(&iova);
            let left = self.lender.leave(iova);
            return left.map_err(|error| failed(error.to_string()));
        }
        let _changing = forked::changing();
        // SAFETY: the card has done with it, as whoever unmaps it says.
        let unmapped = unsafe { self.converted().unmap((iova, len), &self.lender) };
        let none = || failed("nothing is mapped there".to_owned());
        let unmapped = unmapped.ok_or_else(none)?;
        unmapped.map_err(|error| failed(error.to_string()))
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.vectors.wait(vector, deadline, None, String::new)
    }

    fn wake(&self, vector: u16) {
        self.vectors.wake(vector);
    }

    fn lost(&self) -> Option<String> {
        self.lender.lost()
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.vectors.fd(vector)
    }

    fn reset(&self) -> Result<(), TransportError> {
        Err(TransportError::Unsupported("a reset of a lent card"))
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
