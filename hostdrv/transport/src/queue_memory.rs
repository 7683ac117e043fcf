//! The memory that queues lie in: this process's own, or a file that another process maps as well.

mod rooms;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use memmap2::MmapRaw;
use rustix::fs::{
    fallocate, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create, FallocateFlags,
    MemfdFlags, SealFlags,
};
use rustix::io::retry_on_intr;

pub use self::rooms::Rooms;

use self::rooms::Room;
use crate::dma::{page_size, Pages};
use crate::fork::Blank;

/// Memory of one queue: words, accessed by atomic operations only. Clones are the same memory.
#[derive(Clone)]
pub struct QueueMemory {
    words: NonNull<AtomicU64>,
    count: usize,
    /// Its pages, mapped as long as any clone lives.
    kept: Arc<Kept>,
}

enum Kept {
    /// A part of memory that a card reaches.
    Part {
        _room: Room,
    },
    Own {
        _pages: Pages,
    },
    /// Another process may have it, too.
    File {
        // In this order: it is forgotten before it is unmapped.
        _blank: Blank,
        _map: MmapRaw,
        file: OwnedFd,
    },
}

// SAFETY: it is an address, and what is done with it is atomic.
unsafe impl Send for QueueMemory {}
// SAFETY: likewise.
unsafe impl Sync for QueueMemory {}

/// A new file of so many bytes, zero at first, whose size nobody changes: whoever it is given to cannot take pages away from who mapped it. Its pages are
/// there: where there are none this fails, and not who touches them first.
#[inline]
pub fn sealed_file(name: &str, bytes: u64) -> io::Result<File> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, bytes)?;
    if bytes > 0 {
        retry_on_intr(|| fallocate(&file, FallocateFlags::empty(), 0, bytes))?;
    }
    let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, size)?;
    Ok(file.into())
}

/// Fails if who has the file can make it shorter.
#[inline]
pub fn check_sealed(file: impl AsFd) -> io::Result<()> {
    let seals = fcntl_get_seals(file).unwrap_or(SealFlags::empty());
    if seals.contains(SealFlags::SHRINK) {
        return Ok(());
    }
    let why = "who gave the file can take its pages away: it is not sealed";
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

impl QueueMemory {
    /// Zeroed memory; `None`: there is none.
    #[inline]
    pub fn new(bytes: usize, shareable: bool) -> Option<Self> {
        if shareable {
            let file = sealed_file("weft-queue", bytes as u64);
            return file.and_then(|file| Self::map(file.into())).ok();
        }
        let pages = Pages::new(bytes)?;
        let (start, len) = (pages.memory().as_ptr(), pages.memory().len());
        Self::over(start, len, Kept::Own { _pages: pages })
    }

    /// Maps all of a file that nobody can make shorter. The other side may do what it likes with what is in it: this side reads each word once, and believes
    /// nothing.
    #[inline]
    pub fn map(file: OwnedFd) -> io::Result<Self> {
        check_sealed(&file)?;
        let file = File::from(file);
        let map = MmapRaw::map_raw(&file)?;
        let (start, len) = (map.as_mut_ptr(), map.len());
        let first = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        let whole = len.next_multiple_of(page_size());
        let kept = Kept::File {
            // SAFETY: the map's pages, to the end of the last one.
            _blank: unsafe { Blank::in_children(first, whole) },
            _map: map,
            file: file.into(),
        };
        Self::over(start, len, kept).ok_or(io::ErrorKind::OutOfMemory.into())
    }

    /// `kept` has whole pages from `start` on.
    fn over(start: *mut u8, len: usize, kept: Kept) -> Option<Self> {
        Some(Self {
            words: NonNull::new(start.cast())?,
            count: len / size_of::<AtomicU64>(),
            kept: Arc::new(kept),
        })
    }

    /// Is there room for what is to lie in it?
    #[inline]
    pub fn check_room(&self, needed: usize) -> io::Result<()> {
        let there = size_of_val(self.words());
        match there >= needed {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("memory of {there} bytes for a queue of {needed}"),
            )),
        }
    }

    /// Its words.
    #[inline(always)]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: words of memory that `kept` keeps, which has at least so many bytes; nobody has a reference to them but by this.
        unsafe { slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }

    /// The file, if it can be lent.
    #[inline]
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        match &*self.kept {
            Kept::Own { .. } | Kept::Part { .. } => None,
            Kept::File { file, .. } => Some(file.as_fd()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    const BYTES: u64 = 5 * 4096;

    /// A first touch asks for no page that there may not be (SIGBUS).
    #[test]
    fn pages_of_a_file_are_there() {
        let file = sealed_file("weft-test", BYTES).expect("memory");
        assert!(file.metadata().expect("asked").blocks() * 512 >= BYTES);
        assert!(ftruncate(&file, 0).is_err() && ftruncate(&file, 2 * BYTES).is_err());
        sealed_file("weft-test", 0).expect("of nothing");
    }

    /// Who maps it would be killed by whoever made it shorter.
    #[test]
    fn a_file_that_may_be_made_shorter_is_not_mapped() {
        let file = memfd_create("weft-test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let file = file.expect("a file");
        ftruncate(&file, BYTES).expect("longer");
        let again = || file.try_clone().expect("a descriptor");
        let refused = QueueMemory::map(again()).err().map(|error| error.kind());
        assert_eq!(refused, Some(io::ErrorKind::InvalidData));
        fcntl_add_seals(&file, SealFlags::SHRINK).expect("sealed");
        assert!(QueueMemory::map(again()).is_ok());
    }
}
