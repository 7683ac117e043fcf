//! Parts of files as one range of memory.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::mm::{mmap, mmap_anonymous, munmap, MapFlags, ProtFlags};

use crate::dma::page_size;

/// A mapping of parts of files, one behind the other. Nobody has a reference to it.
#[derive(Debug)]
pub struct JoinedMapping {
    first: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address, and nothing is done with it here but to unmap it.
unsafe impl Send for JoinedMapping {}
// SAFETY: likewise.
unsafe impl Sync for JoinedMapping {}

impl JoinedMapping {
    /// Maps these parts: file, first byte and bytes, whole pages. The files are sealed against being made shorter.
    pub fn map<'f>(parts: &[(BorrowedFd<'f>, u64, usize)]) -> io::Result<Self> {
        let page = page_size();
        let whole = |(_, offset, len): &(BorrowedFd<'f>, u64, usize)| {
            *len > 0 && len % page == 0 && offset % page as u64 == 0
        };
        let mut lens = parts.iter().map(|(_, _, len)| *len);
        let all = lens.try_fold(0usize, usize::checked_add);
        let all = all.filter(|all| *all > 0 && parts.iter().all(whole));
        let len = all.ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping wherever the system likes.
        let place = unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) }?;
        let first = NonNull::new(place.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let joined = Self { first, len };
        let mut at = 0;
        for (file, offset, len) in parts {
            let flags = MapFlags::SHARED | MapFlags::FIXED;
            let to = first.as_ptr().wrapping_add(at).cast();
            // SAFETY: pages of the mapping that was made above, which nobody knows.
            unsafe { mmap(to, *len, access, flags, file, *offset) }?;
            at += len;
        }
        Ok(joined)
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.first
    }

    /// Bytes.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for JoinedMapping {
    fn drop(&mut self) {
        // SAFETY: all that was mapped, once.
        let unmapped = unsafe { munmap(self.first.as_ptr().cast(), self.len) };
        if let Err(error) = unmapped {
            tracing::warn!(%error, "memory stays mapped");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::dma::SharedMemory;
    use crate::queue_memory::{sealed_file, QueueMemory};

    #[test]
    fn parts_lie_one_behind_the_other() {
        let page = page_size();
        let files = [2, 3].map(|pages| sealed_file("weft-test", (pages * page) as u64));
        let files = files.map(|file| file.expect("a file"));
        let [a, b] = [files[0].as_fd(), files[1].as_fd()];
        let joined =
            JoinedMapping::map(&[(b, 2 * page as u64, page), (a, 0, 2 * page)]).expect("pages");
        assert_eq!(joined.len(), 3 * page);
        // SAFETY: the mapping, as long as it lives.
        let memory = unsafe { SharedMemory::new(joined.start(), joined.len()) };
        memory.write(0, &[1; 8]).expect("inside");
        memory.write(2 * page, &[2; 8]).expect("inside");
        let read = |file: BorrowedFd<'_>, at: usize| {
            let map = QueueMemory::map(file.try_clone_to_owned().expect("a file")).expect("sealed");
            map.words()[at / 8].load(std::sync::atomic::Ordering::SeqCst)
        };
        assert_eq!(read(b, 2 * page), 0x0101_0101_0101_0101);
        assert_eq!(read(a, page), 0x0202_0202_0202_0202);
        for parts in [&[][..], &[(a, 0, 0)], &[(a, 1, page)], &[(a, 0, page - 1)]] {
            assert!(JoinedMapping::map(parts).is_err(), "{parts:?}");
        }
    }
}
