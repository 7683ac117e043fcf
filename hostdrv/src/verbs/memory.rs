//! The memory that queues lie in: this process's own, or a file that another process maps as well.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;

use memmap2::MmapRaw;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};

use super::VerbsError;
use crate::dma::{Pages, SharedMemory};

/// Zeroed memory of one queue.
pub(super) enum QueueMemory {
    Own(Pages),
    Lendable(MappedFile),
}

/// A file in memory, mapped.
pub(super) struct MappedFile {
    memory: SharedMemory,
    file: OwnedFd,
    _map: MmapRaw,
}

impl MappedFile {
    /// Maps all of a file. The other side may do what it likes with it: this side reads each word once, and believes nothing.
    pub(super) fn map(file: OwnedFd) -> std::io::Result<Self> {
        let file = File::from(file);
        let map = MmapRaw::map_raw(&file)?;
        let start = NonNull::new(map.as_mut_ptr()).ok_or(std::io::ErrorKind::OutOfMemory)?;
        // SAFETY: mapped as long as `_map` lives, which is as long as `memory` does, and without references; another process has
        // it at other addresses. (One that makes the file shorter ends this process by SIGBUS: lending is to whom one trusts so far.)
        let memory = unsafe { SharedMemory::new(start, map.len()) };
        Ok(Self {
            memory,
            file: file.into(),
            _map: map,
        })
    }

    pub(super) fn memory(&self) -> &SharedMemory {
        &self.memory
    }
}

impl QueueMemory {
    pub(super) fn new(bytes: usize, lendable: bool) -> Result<Self, VerbsError> {
        let none = VerbsError::NoMemory { bytes };
        if !lendable {
            return Pages::new(bytes).map(Self::Own).ok_or(none);
        }
        let file = || -> std::io::Result<MappedFile> {
            let file = memfd_create("weft-queue", MemfdFlags::CLOEXEC)?;
            ftruncate(&file, bytes as u64)?;
            MappedFile::map(file)
        };
        file().map(Self::Lendable).map_err(|_| none)
    }

    #[inline]
    pub(super) fn memory(&self) -> &SharedMemory {
        match self {
            Self::Own(pages) => pages.memory(),
            Self::Lendable(file) => file.memory(),
        }
    }

    /// The file, if it can be lent.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Own(_) => None,
            Self::Lendable(file) => Some(file.file.as_fd()),
        }
    }
}
