//! BARs and configuration space of an open device.

use std::io;
use std::mem::size_of;
use std::os::fd::BorrowedFd;
use std::slice;

use memmap2::{MmapOptions, MmapRaw};
use rustix::io::{pread, pwrite};
use vfio_bindings::bindings::vfio::{
    VFIO_REGION_INFO_FLAG_MMAP, VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE,
};
use vfio_ioctls::{VfioRegionInfoCap, VfioRegionSparseMmapArea};
use volatile_register::RW;

use super::domain::Domain;

/// One region: what of it may be mapped is, the rest goes through the kernel.
pub(super) struct Region {
    size: u64,
    /// Where it begins in the device's file.
    offset: u64,
    writable: bool,
    readable: bool,
    windows: Vec<Window>,
}

/// A part that is mapped.
struct Window {
    start: u64,
    memory: MmapRaw,
}

impl Window {
    /// Its registers. PCI is little-endian.
    fn registers(&self) -> &[RW<u32>] {
        // SAFETY: a word of 32 bits has no invalid values.
        unsafe { self.cells() }
    }

    /// The same in words of 64 bits, for the push window.
    fn words(&self) -> &[RW<u64>] {
        // SAFETY: a word of 64 bits has no invalid values.
        unsafe { self.cells() }
    }

    /// # Safety
    /// `T` is a word of at most 64 bits of which every value is valid.
    unsafe fn cells<T: Copy>(&self) -> &[RW<T>] {
        // SAFETY: the mapping is page-aligned, so long, and lives as long as `self`; the kernel maps it uncached, and
        // `RW` (a volatile cell) makes no assumption about what is there.
        unsafe {
            slice::from_raw_parts(
                self.memory.as_mut_ptr().cast(),
                self.memory.len() / size_of::<T>(),
            )
        }
    }
}

impl Region {
    /// The region with this VFIO index; it has size 0 if the function has it not.
    pub(super) fn new(domain: &Domain, index: u32) -> Self {
        let device = domain.device();
        let flags = device.get_region_flags(index);
        let mut region = Self {
            size: device.get_region_size(index),
            offset: device.get_region_offset(index),
            readable: flags & VFIO_REGION_INFO_FLAG_READ != 0,
            writable: flags & VFIO_REGION_INFO_FLAG_WRITE != 0,
            windows: Vec::new(),
        };
        let access = region.readable && region.writable;
        if access && flags & VFIO_REGION_INFO_FLAG_MMAP != 0 {
            let sparse = device.get_region_caps(index).into_iter().find_map(|cap| {
                let VfioRegionInfoCap::SparseMmap(sparse) = cap else {
                    return None;
                };
                Some(sparse.areas)
            });
            let whole = vec![VfioRegionSparseMmapArea {
                offset: 0,
                size: region.size,
            }];
            for area in sparse.unwrap_or(whole) {
                match region.map(domain, &area) {
                    Ok(window) => region.windows.push(window),
                    // Slower, and right all the same.
                    Err(error) => {
                        tracing::info!(index, %error, "not mapped: read and written through the kernel");
                    }
                }
            }
        }
        region
    }

    fn map(&self, domain: &Domain, area: &VfioRegionSparseMmapArea) -> io::Result<Window> {
        let outside = || io::Error::other("the kernel names an area outside the region");
        let end = area.offset.checked_add(area.size).ok_or_else(outside)?;
        if area.size == 0 || end > self.size || area.offset % 4 != 0 {
            return Err(outside());
        }
        let memory = MmapOptions::new()
            .offset(self.offset + area.offset)
            .len(area.size as usize)
            .map_raw(domain.device())?;
        Ok(Window {
            start: area.offset,
            memory,
        })
    }

    /// Bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Is any of it mapped?
    pub(super) fn is_mapped(&self) -> bool {
        !self.windows.is_empty()
    }

    fn register(&self, offset: u64) -> Option<&RW<u32>> {
        self.windows.iter().find_map(|window| {
            let at = offset.checked_sub(window.start)? / size_of::<u32>() as u64;
            window.registers().get(usize::try_from(at).ok()?)
        })
    }

    /// So many words of 64 bits from here on, if they are mapped.
    fn words(&self, offset: u64, count: usize) -> Option<&[RW<u64>]> {
        self.windows.iter().find_map(|window| {
            let from = offset.checked_sub(window.start)?;
            let first = usize::try_from(from / size_of::<u64>() as u64).ok()?;
            let aligned = from % size_of::<u64>() as u64 == 0;
            window
                .words()
                .get(first..first.checked_add(count)?)
                .filter(|_| aligned)
        })
    }

    fn check(&self, offset: u64, allowed: bool) -> io::Result<()> {
        if !allowed || self.size == 0 {
            return Err(io::Error::other("the function has no such region"));
        }
        if offset % 4 != 0 || offset.checked_add(4).is_none_or(|end| end > self.size) {
            return Err(io::Error::other(format!(
                "the region has {:#x} bytes, in words of 4",
                self.size
            )));
        }
        Ok(())
    }

    pub(super) fn read32(&self, device: BorrowedFd<'_>, offset: u64) -> io::Result<u32> {
        self.check(offset, self.readable)?;
        if let Some(register) = self.register(offset) {
            return Ok(u32::from_le(register.read()));
        }
        let mut bytes = [0; 4];
        match pread(device, &mut bytes, self.offset + offset)? {
            4 => Ok(u32::from_le_bytes(bytes)),
            n => Err(io::Error::other(format!("the kernel read {n} of 4 bytes"))),
        }
    }

    pub(super) fn write32(
        &self,
        device: BorrowedFd<'_>,
        offset: u64,
        value: u32,
    ) -> io::Result<()> {
        self.check(offset, self.writable)?;
        if let Some(register) = self.register(offset) {
            // SAFETY: it is a register of the device that this transport was asked to write. DMA reaches only what is mapped.
            unsafe { register.write(value.to_le()) };
            return Ok(());
        }
        self.write(device, offset, &value.to_le_bytes())
    }

    /// Writes words of 64 bits one behind the other.
    pub(super) fn write_block(
        &self,
        device: BorrowedFd<'_>,
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.check(offset, self.writable)?;
        self.check(
            offset + (bytes.len() as u64).saturating_sub(4),
            self.writable,
        )?;
        if let Some(cells) = self.words(offset, bytes.len() / size_of::<u64>()) {
            for (cell, word) in cells.iter().zip(bytes.chunks_exact(size_of::<u64>())) {
                let word = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| word[n]);
                // SAFETY: as for a word of 32 bits.
                unsafe { cell.write(u64::from_ne_bytes(word)) };
            }
            return Ok(());
        }
        self.write(device, offset, bytes)
    }

    /// Writes a half word (PCI command).
    pub(super) fn write16(
        &self,
        device: BorrowedFd<'_>,
        offset: u64,
        value: u16,
    ) -> io::Result<()> {
        self.check(offset & !3, self.writable)?;
        self.write(device, offset, &value.to_le_bytes())
    }

    fn write(&self, device: BorrowedFd<'_>, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match pwrite(device, bytes, self.offset + offset)? {
            n if n == bytes.len() => Ok(()),
            n => Err(io::Error::other(format!("the kernel wrote {n} bytes"))),
        }
    }
}
