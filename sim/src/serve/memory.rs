//! A client's memory, mapped from the file that it gave.
//!
//! A mapped file that becomes shorter than the mapping kills the process that touches the missing part (SIGBUS). So a
//! mapping must be inside the file when it is made, and a file that is not sealed against shrinking is asked
//! for its length before every access. A client that cuts its file between that question and the access still wins the
//! race, as does one whose file system has no room for a page of a sparse file: give the clients one does
//! not trust a process of their own.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{fcntl_get_seals, fstat, FileType, SealFlags, Stat};
use thiserror::Error;
use weft_card_transport::dma::SharedMemory;

use crate::iommu::Window;

/// Why a client's file was not mapped.
#[derive(Debug, Error)]
pub enum MapError {
    /// The descriptor is not one of a file that can be mapped.
    #[error("the descriptor is not a regular file's")]
    NotAFile,
    /// The file ends before the mapping does.
    #[error("bytes {offset}..+{len} are not inside a file of {size}")]
    Outside {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
        /// Of the file.
        size: u64,
    },
    /// The kernel refused.
    #[error("mmap: {0}")]
    Kernel(#[from] std::io::Error),
}

/// The files of mappings that could shrink: one descriptor for each, however often it is mapped.
#[derive(Debug, Default)]
pub struct Files {
    open: HashMap<(u64, u64), Weak<OwnedFd>>,
}

impl Files {
    /// The descriptor kept for a file.
    fn keep(&mut self, stat: &Stat, fd: OwnedFd) -> Arc<OwnedFd> {
        let key = (stat.st_dev, stat.st_ino);
        if let Some(kept) = self.open.get(&key).and_then(Weak::upgrade) {
            return kept;
        }
        self.open.retain(|_, kept| kept.strong_count() > 0);
        let kept = Arc::new(fd);
        self.open.insert(key, Arc::downgrade(&kept));
        kept
    }
}

/// A file, or a part of one, mapped.
#[derive(Debug)]
pub struct FileMemory {
    memory: SharedMemory,
    writable: bool,
    /// A file that could shrink, and the length it must have.
    unsealed: Option<(Arc<OwnedFd>, u64)>,
    _map: MmapRaw,
}

impl FileMemory {
    /// Maps `len` bytes of a client's file.
    pub fn map(
        files: &mut Files,
        fd: OwnedFd,
        offset: u64,
        len: u64,
        writable: bool,
    ) -> Result<Self, MapError> {
        let stat = fstat(&fd).map_err(std::io::Error::from)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(MapError::NotAFile);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let outside = MapError::Outside { offset, len, size };
        let Some(end) = offset.checked_add(len).filter(|end| *end <= size) else {
            return Err(outside);
        };
        let Ok(bytes) = usize::try_from(len) else {
            return Err(outside);
        };
        let mut options = MmapOptions::new();
        options.offset(offset).len(bytes);
        let map = if writable {
            options.map_raw(&fd)?
        } else {
            options.map_raw_read_only(&fd)?
        };
        let start = NonNull::new(map.as_mut_ptr()).ok_or(MapError::NotAFile)?;
        // SAFETY: the mapping lives as long as `_map`, beside it in this value, and nothing has a reference into it.
        // Writes happen only if it is writable (`Window::write` below), and only while the file is long enough.
        let memory = unsafe { SharedMemory::new(start, bytes) };
        let sealed = fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        Ok(Self {
            memory,
            writable,
            unsealed: (!sealed).then(|| (files.keep(&stat, fd), end)),
            _map: map,
        })
    }

    fn is_there(&self) -> bool {
        match &self.unsealed {
            None => true,
            Some((file, end)) => {
                fstat(file).is_ok_and(|s| u64::try_from(s.st_size).unwrap_or(0) >= *end)
            }
        }
    }
}

impl Window for FileMemory {
    fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        self.is_there() && self.memory.read(offset as usize, to).is_ok()
    }

    fn write(&self, offset: u64, from: &[u8]) -> bool {
        self.writable && self.is_there() && self.memory.write(offset as usize, from).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags};

    use super::*;

    fn memory(len: u64) -> OwnedFd {
        let fd = memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&fd, len).unwrap();
        fd
    }

    #[test]
    fn only_what_the_file_has_is_mapped() {
        let mut files = Files::default();
        let fd = memory(8192);
        for (offset, len) in [(0, 8193), (4096, 8192), (u64::MAX - 1, 4096), (8192, 1)] {
            assert!(
                FileMemory::map(&mut files, fd.try_clone().unwrap(), offset, len, true).is_err(),
                "{offset} {len}"
            );
        }
        let (pipe, _other) = rustix::pipe::pipe().unwrap();
        assert!(matches!(
            FileMemory::map(&mut files, pipe, 0, 4096, true),
            Err(MapError::NotAFile)
        ));
        let map = FileMemory::map(&mut files, fd.try_clone().unwrap(), 4096, 4096, true).unwrap();
        assert!(map.write(0, b"weft"));
        let mut back = [0; 4];
        rustix::io::pread(&fd, &mut back, 4096).unwrap();
        assert_eq!(&back, b"weft");
        assert!(!map.write(4093, b"weft"));
    }

    #[test]
    fn a_file_that_was_cut_is_not_touched() {
        let mut files = Files::default();
        let fd = memory(8192);
        let map = FileMemory::map(&mut files, fd.try_clone().unwrap(), 0, 8192, true).unwrap();
        ftruncate(&fd, 4096).unwrap();
        assert!(!map.read(0, &mut [0; 4]));
        assert!(!map.write(8000, &[0; 4]));
    }

    #[test]
    fn a_sealed_file_is_not_asked_again() {
        let mut files = Files::default();
        let fd = memory(4096);
        fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
        let map = FileMemory::map(&mut files, fd.try_clone().unwrap(), 0, 4096, false).unwrap();
        assert!(map.unsealed.is_none());
        assert!(map.read(0, &mut [0; 4]));
        assert!(!map.write(0, &[0; 4]), "a mapping to read only");
        let (a, b) = (memory(4096), memory(4096));
        let maps: Vec<_> = [&a, &a, &b]
            .map(|fd| FileMemory::map(&mut files, fd.try_clone().unwrap(), 0, 4096, true).unwrap())
            .into();
        assert_eq!(files.open.len(), 2);
        drop(maps);
    }
}
