//! Memory of a lender's, given away in pieces of whole pages. An arena stays for good: the next pieces come out of it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::CardLender;
use crate::dma::page_size;
use crate::queue_memory::QueueMemory;
use crate::IovaAllocator;

/// Bytes of an arena at least, if its lender gives so many.
const ARENA: usize = 1 << 20;

/// Where places in an arena begin, in the numbers of its allocator.
const FIRST: u64 = 2 << 20;

/// All arenas of a card.
pub(super) struct Arenas {
    lender: Arc<dyn CardLender>,
    all: Mutex<Vec<Arc<Arena>>>,
}

struct Arena {
    memory: QueueMemory,
    file: OwnedFd,
    iova: u64,
    pieces: Mutex<IovaAllocator>,
}

/// A part of an arena, its owner's alone. When it is dropped, nobody has it.
pub(super) struct Piece {
    arena: Arc<Arena>,
    place: u64,
    len: usize,
}

impl Arenas {
    pub(super) fn new(lender: Arc<dyn CardLender>) -> Self {
        Self {
            lender,
            all: Mutex::default(),
        }
    }

    /// A piece of so many bytes, rounded up to pages. What is in it is whatever was there.
    pub(super) fn take(&self, len: usize) -> io::Result<Piece> {
        let none = || io::Error::new(io::ErrorKind::InvalidInput, "no memory is so long");
        let len = len.max(1).checked_next_multiple_of(page_size());
        let len = len.ok_or_else(none)?;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(piece) = all.iter().find_map(|arena| arena.take(len)) {
            return Ok(piece);
        }
        // The allocator keeps a page behind each piece.
        let whole = len.checked_add(page_size()).ok_or_else(none)?;
        let arena = match self.arena(whole.max(ARENA)) {
            Err(_) if whole < ARENA => self.arena(whole),
            arena => arena,
        }?;
        let piece = arena.take(len);
        all.push(arena);
        piece.ok_or_else(none)
    }

    fn arena(&self, bytes: usize) -> io::Result<Arc<Arena>> {
        let lent = self.lender.memory(bytes as u64)?;
        let memory = QueueMemory::map(lent.file.try_clone()?)?;
        memory.check_room(bytes)?;
        if lent.iova.checked_add(bytes as u64).is_none() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // The page behind the last piece lies inside, too.
        let last = FIRST + (bytes - page_size()) as u64 - 1;
        Ok(Arc::new(Arena {
            memory,
            file: lent.file,
            iova: lent.iova,
            pieces: Mutex::new(IovaAllocator::new([FIRST..=last], 0, 64)),
        }))
    }
}

impl Arena {
    fn pieces(&self) -> MutexGuard<'_, IovaAllocator> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(self: &Arc<Self>, len: usize) -> Option<Piece> {
        let place = self.pieces().allocate(len as u64)?;
        Some(Piece {
            arena: self.clone(),
            place,
            len,
        })
    }
}

impl Piece {
    /// Where the card sees it.
    pub(super) fn iova(&self) -> u64 {
        self.arena.iova + self.offset()
    }

    /// Bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The file that it is in.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.arena.file.as_fd()
    }

    /// Where in the file it begins.
    pub(super) fn offset(&self) -> u64 {
        self.place - FIRST
    }

    /// Where this process sees it; `None`: the lender gave less than it said.
    pub(super) fn ptr(&self) -> Option<NonNull<u8>> {
        let words = self.words()?;
        Some(NonNull::from(words).cast())
    }

    fn words(&self) -> Option<&[AtomicU64]> {
        let first = usize::try_from(self.offset()).ok()? / 8;
        self.arena.memory.words().get(first..first + self.len / 8)
    }

    /// Fills it with zeros.
    pub(super) fn clear(&self) {
        for word in self.words().unwrap_or_default() {
            word.store(0, Ordering::Relaxed);
        }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.arena.pieces().release(self.place, self.len as u64);
    }
}
