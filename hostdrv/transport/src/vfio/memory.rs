//! Memory for DMA: huge pages when the host has some, ordinary ones when not.

use std::io;
use std::ptr::NonNull;

use memmap2::{Advice, MmapOptions, MmapRaw};

/// A huge page: 2 MiB.
const HUGE_PAGE: usize = 2 << 20;
/// Its log2.
const HUGE_PAGE_BITS: u8 = 21;

/// Zeroed memory of this process alone.
pub(super) struct Memory {
    pages: MmapRaw,
    /// Is it of huge pages?
    pub(super) huge: bool,
}

impl Memory {
    /// At least `len` bytes, of which `granule` is a divisor.
    pub(super) fn new(len: usize, granule: usize) -> io::Result<Self> {
        let too_long = || io::Error::from(io::ErrorKind::OutOfMemory);
        let len = len
            .max(1)
            .checked_next_multiple_of(granule)
            .ok_or_else(too_long)?;
        // Where at most half a huge page is wasted. There may be none left: then ordinary pages do.
        if len > HUGE_PAGE / 2 {
            let whole = len
                .checked_next_multiple_of(HUGE_PAGE)
                .ok_or_else(too_long)?;
            let huge = MmapOptions::new()
                .len(whole)
                .huge(Some(HUGE_PAGE_BITS))
                .map_anon();
            if let Ok(pages) = huge {
                return Ok(Self::keep(pages, true));
            }
        }
        let pages = MmapOptions::new().len(len).map_anon()?;
        // Whole huge pages if the kernel likes to; it says no where it does not know them.
        if len >= HUGE_PAGE {
            let _ = pages.advise(Advice::HugePage);
        }
        Ok(Self::keep(pages, false))
    }

    fn keep(pages: memmap2::MmapMut, huge: bool) -> Self {
        // A child has no business with the card's memory, and must not make the parent copy pages the card writes.
        if let Err(error) = pages.advise(Advice::DontFork) {
            tracing::debug!(%error, "DMA memory is visible in forked children");
        }
        Self {
            pages: MmapRaw::from(pages),
            huge,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn ptr(&self) -> *mut u8 {
        self.pages.as_mut_ptr()
    }

    /// The first byte; mappings do not begin at 0.
    pub(super) fn start(&self) -> NonNull<u8> {
        // SAFETY: mmap never answers a null pointer without MAP_FIXED.
        unsafe { NonNull::new_unchecked(self.ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_long_enough() {
        for len in [0, 1, 4096, 4097, 1 << 20, (1 << 20) + 1, 5 << 20] {
            let memory = Memory::new(len, 4096).expect("memory");
            assert!(memory.len() >= len.max(1) && memory.len() % 4096 == 0);
            assert_eq!(memory.ptr() as usize % 4096, 0);
            if memory.huge {
                assert_eq!(memory.ptr() as usize % HUGE_PAGE, 0);
            }
            for at in [0, memory.len() / 2, memory.len() - 1] {
                // SAFETY: inside the memory, which nobody else knows.
                assert_eq!(unsafe { memory.ptr().add(at).read_volatile() }, 0);
            }
        }
        assert!(Memory::new(usize::MAX, 4096).is_err());
    }
}
