//! A card that another process has: what it lends is memory that both map. There are no registers but the fence, and no interrupts but the lender's bell.
//!
//! Memory of the program's is converted in place: its pages become a part of what was lent, with the same bytes at the same addresses. They are a copy for
//! a moment, so nobody may write them during the calls that begin and end it.

mod arenas;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_layout::reg;

use self::arenas::{Arenas, Piece};
use super::vectors::Vectors;
use super::{exchange, monotonic};
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
    /// Asks that everything the card was still busy with be waited for, by this number.
    fn begin_fence(&self, number: u32);
    /// The last number that was waited for.
    fn fence_done(&self) -> u32;
    /// Why nothing comes from it any more; `None`: it is there.
    fn lost(&self) -> Option<String>;
}

/// Memory of the program's that is a part of what was lent.
struct Converted {
    ptr: NonNull<u8>,
    len: usize,
    piece: Piece,
    /// Mappings of it, wholly or in part.
    uses: usize,
}

// SAFETY: an address; what may be done with it is in the contract of `Transport::map`.
unsafe impl Send for Converted {}

/// Who borrows a card. Its lender wakes it by a [`Bell`].
pub struct BorrowedCard {
    name: String,
    lender: Arc<dyn CardLender>,
    vectors: Arc<Vectors>,
    arenas: Arenas,
    /// By the card's address of the first byte.
    converted: Mutex<BTreeMap<u64, Converted>>,
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
        Self {
            name,
            arenas: Arenas::new(lender.clone()),
            lender,
            vectors: bell.0,
            converted: Mutex::default(),
        }
    }

    fn converted(&self) -> MutexGuard<'_, BTreeMap<u64, Converted>> {
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
        let mut all = self.converted();
        let first = ptr.as_ptr() as usize;
        let holds = |of: &Converted| {
            let start = of.ptr.as_ptr() as usize;
            start <= first && first + len <= start + of.len
        };
        if let Some((iova, of)) = all.iter_mut().find(|(_, of)| holds(of)) {
            of.uses += 1;
            return Ok(iova + (first - of.ptr.as_ptr() as usize) as u64);
        }
        let piece = self.arenas.take(len);
        let piece = piece.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the caller vouches: whole pages, valid until `unmap`, and left alone during this call.
        let moved = unsafe { exchange::make_part_of(ptr, len, piece.file(), piece.offset()) };
        moved.map_err(|error| failed(error.to_string()))?;
        let iova = piece.iova();
        let uses = 1;
        all.insert(
            iova,
            Converted {
                ptr,
                len,
                piece,
                uses,
            },
        );
        Ok(iova)
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        let unknown = || TransportError::Unmap {
            iova,
            len,
            reason: "nothing is mapped there".to_owned(),
        };
        let mut all = self.converted();
        let found = all.range_mut(..=iova).next_back();
        let (first, of) = found.ok_or_else(unknown)?;
        let (first, whole) = (*first, of.len);
        let inside = (iova - first).checked_add(len as u64);
        if inside.is_none_or(|end| end > whole as u64) {
            return Err(unknown());
        }
        of.uses -= 1;
        if of.uses > 0 {
            return Ok(());
        }
        // SAFETY: as vouched for when it was mapped; the card has done with it.
        unsafe { exchange::make_private(of.ptr, whole) }.map_err(|error| {
            let reason = error.to_string();
            TransportError::Unmap { iova, len, reason }
        })?;
        let over = all.remove(&first);
        drop(over.map(|of| of.piece));
        Ok(())
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.vectors.wait(vector, deadline, None, String::new)
    }

    fn wake(&self) {
        self.vectors.wake();
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
