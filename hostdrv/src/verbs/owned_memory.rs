//! Memory that a region owns.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use memmap2::{MmapMut, MmapRaw};
use weft_card_transport::dma::Pages;
use weft_card_transport::joined::JoinedMapping;
use weft_card_transport::queue_memory::{check_sealed, sealed_file};

use crate::device::Mapping;

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
    /// Of a file that another process has as well; it is wanted until it is mapped for the card.
    File(MmapRaw, Option<File>),
    Joined(JoinedMapping),
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

impl From<JoinedMapping> for OwnedMemory {
    fn from(joined: JoinedMapping) -> Self {
        Self(Owned::Joined(joined))
    }
}

impl OwnedMemory {
    /// A new file of so many bytes, zero at first, whose size nobody changes, for another process to map as well.
    pub fn sealed(name: &str, bytes: u64) -> io::Result<(Self, File)> {
        let file = sealed_file(name, bytes)?;
        let map = MmapRaw::map_raw(&file)?;
        let also = file.try_clone()?;
        Ok((Self(Owned::File(map, Some(also))), file))
    }

    /// All of a file that nobody can make shorter, whoever else has it mapped. A broker takes it of a client that it trusts.
    pub fn of_file(file: File) -> io::Result<Self> {
        check_sealed(&file)?;
        let map = MmapRaw::map_raw(&file)?;
        Ok(Self(Owned::File(map, Some(file))))
    }

    pub(super) fn start(&self) -> Option<NonNull<u8>> {
        NonNull::new(match &self.0 {
            Owned::Joined(joined) => joined.start().as_ptr(),
            Owned::Pages(pages) => pages.memory().as_ptr(),
            Owned::Map(map) | Owned::File(map, _) => map.as_mut_ptr(),
        })
    }

    /// Bytes that the caller asked for; the pages may be more.
    pub(super) fn len(&self) -> usize {
        match &self.0 {
            Owned::Joined(joined) => joined.len(),
            Owned::Pages(pages) => pages.memory().len(),
            Owned::Map(map) | Owned::File(map, _) => map.len(),
        }
    }

    /// How it is mapped; the map keeps the bytes of a file without it.
    pub(super) fn mapping(&mut self) -> Mapping {
        match &mut self.0 {
            Owned::File(_, file) => file.take().map_or(Mapping::Own, Mapping::File),
            Owned::Joined(_) => Mapping::Lent,
            Owned::Pages(_) | Owned::Map(_) => Mapping::Own,
        }
    }
}
