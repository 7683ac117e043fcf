//! Memory for DMA: huge pages when the host has some, ordinary ones when not.

use std::io;
use std::ptr::NonNull;

use memmap2::{Advice, MmapMut, MmapOptions, MmapRaw};

use super::numa::{self, Node};

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
    /// At least `len` bytes, of which `granule` is a divisor, near `node` where there is room.
    pub(super) fn new(len: usize, granule: usize, node: Option<Node>) -> io::Result<Self> {
        let find_pages = |pages: &MmapMut, _huge| numa::find_pages(pages);
        Self::of_pages(len, granule, node, &find_pages)
    }

    /// `find_pages` fails where the kernel has not what it has mapped; it hears whether they are huge.
    fn of_pages(
        len: usize,
        granule: usize,
        node: Option<Node>,
        find_pages: &dyn Fn(&MmapMut, bool) -> io::Result<()>,
    ) -> io::Result<Self> {
        let too_long = || io::Error::from(io::ErrorKind::OutOfMemory);
        let len = len
            .max(1)
            .checked_next_multiple_of(granule)
            .ok_or_else(too_long)?;
        let there = |pages: MmapMut, huge| {
            near(node, &pages);
            find_pages(&pages, huge).map(|()| Self::keep(pages, huge))
        };
        // Where at most half a huge page is wasted. There may be none left, or none for this node or control group: then ordinary pages do.
        if len > HUGE_PAGE / 2 {
            let whole = len
                .checked_next_multiple_of(HUGE_PAGE)
                .ok_or_else(too_long)?;
            let huge = MmapOptions::new()
                .len(whole)
                .huge(Some(HUGE_PAGE_BITS))
                .map_anon();
            if let Ok(memory) = huge.and_then(|pages| there(pages, true)) {
                return Ok(memory);
            }
        }
        let pages = MmapOptions::new().len(len).map_anon()?;
        // Whole huge pages if the kernel likes to; it says no where it does not know them.
        if len >= HUGE_PAGE {
            let _ = pages.advise(Advice::HugePage);
        }
        there(pages, false)
    }

    fn keep(pages: MmapMut, huge: bool) -> Self {
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

/// Slower, and right all the same, where the kernel says no.
fn near(node: Option<Node>, pages: &MmapMut) {
    if let Some(Err(error)) = node.map(|node| node.prefer(pages)) {
        tracing::debug!(?node, %error, "DMA memory wherever there is some");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_long_enough() {
        for len in [0, 1, 4096, 4097, 1 << 20, (1 << 20) + 1, 5 << 20] {
            let memory = Memory::new(len, 4096, Some(Node(0))).expect("memory");
            assert!(memory.len() >= len.max(1) && memory.len() % 4096 == 0);
            assert_eq!(memory.ptr() as usize % 4096, 0);
            assert_eq!(numa::policy_of(memory.ptr()), (libc::MPOL_PREFERRED, 1));
            if memory.huge {
                assert_eq!(memory.ptr() as usize % HUGE_PAGE, 0);
            }
            for at in [0, memory.len() / 2, memory.len() - 1] {
                // SAFETY: inside the memory, which nobody else knows.
                assert_eq!(unsafe { memory.ptr().add(at).read_volatile() }, 0);
            }
        }
        assert!(Memory::new(usize::MAX, 4096, None).is_err());
    }

    /// A control group, or a node, may have none of the huge pages that were reserved: touching them would be SIGBUS.
    #[test]
    fn ordinary_pages_where_huge_ones_are_not_to_be_had() {
        let none = || io::Error::from(io::ErrorKind::OutOfMemory);
        let ordinary = |_: &MmapMut, huge: bool| (!huge).then_some(()).ok_or_else(none);
        let memory = Memory::of_pages(HUGE_PAGE, 4096, None, &ordinary).expect("memory");
        assert!(!memory.huge && memory.len() == HUGE_PAGE);
        let nothing = Memory::of_pages(4096, 4096, None, &|_, _| Err(none()));
        assert_eq!(
            nothing.err().map(|error| error.kind()),
            Some(io::ErrorKind::OutOfMemory)
        );
    }

    /// All of it is there when it is given away.
    #[test]
    fn memory_is_there() {
        let memory = Memory::new(3 * 4096, 4096, None).expect("memory");
        let mut there = [0u8; 3];
        // SAFETY: pages of the mapping, and a byte for each.
        let asked = unsafe { libc::mincore(memory.ptr().cast(), memory.len(), there.as_mut_ptr()) };
        assert_eq!((asked, there.map(|page| page & 1)), (0, [1; 3]));
    }
}
