//! Memory that a region owns.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use memmap2::{MmapMut, MmapRaw};
use weft_card_transport::dma::Pages;
use weft_card_transport::queue_memory::sealed_file;

/// Whole pages that a region can own: nothing else is in them, and nothing else has a reference to them.
///
/// [`Pages`] are, and so are anonymous maps ([`MmapMut`], huge pages included). A `Vec` is not: it shares its pages with
/// whatever the allocator put beside it.
#[derive(Debug)]
pub struct OwnedMemory(Owned);

#[derive(Debug)]
enum Owned {
    Pages(Pages),
    Map(MmapRaw),
}

impl From<Pages> for OwnedMemory {
    fn from(pages: Pages) -> Self {
        Self(Owned::Pages(pages))
    }
}

impl From<MmapMut> for OwnedMemory {
    fn from(map: MmapMut) -> Self {
        Self(Owned::Map(map.into()))
    }
}

impl OwnedMemory {
    /// A new file of so many bytes, zero at first, whose size nobody changes, for another process to map as well.
    pub fn sealed(name: &str, bytes: u64) -> io::Result<(Self, File)> {
        let file = sealed_file(name, bytes)?;
        let map = MmapRaw::map_raw(&file)?;
        Ok((Self(Owned::Map(map)), file))
    }

    pub(super) fn start(&self) -> Option<NonNull<u8>> {
        NonNull::new(match &self.0 {
            Owned::Pages(pages) => pages.memory().as_ptr(),
            Owned::Map(map) => map.as_mut_ptr(),
        })
    }

    /// Bytes that the caller asked for; the pages may be more.
    pub(super) fn len(&self) -> usize {
        match &self.0 {
            Owned::Pages(pages) => pages.memory().len(),
            Owned::Map(map) => map.len(),
        }
    }
}
