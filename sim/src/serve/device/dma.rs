//! `DMA_MAP` and `DMA_UNMAP`: what of the client's memory the card may reach.

use std::os::fd::OwnedFd;

use super::{Device, Failed, Refused};
use crate::iommu::Access;
use crate::serve::memory::FileMemory;
use crate::serve::message::{Errno, Fields, Payload};
use crate::world::World;

/// `VFIO_DMA_UNMAP_FLAG_ALL`.
const UNMAP_ALL: u32 = 2;
/// Most mappings of a client.
pub const MAX_MAPPINGS: usize = 32_768;
/// Granularity of mappings.
const PAGE: u64 = 4096;

impl Device {
    pub(super) fn dma_map(
        &mut self,
        world: &mut World,
        mut fields: Fields<'_>,
        mut fds: Vec<OwnedFd>,
    ) -> Result<Vec<u8>, Failed> {
        let (_argsz, flags) = (fields.u32(), fields.u32());
        let (Some(offset), Some(iova), Some(len)) = (fields.u64(), fields.u64(), fields.u64())
        else {
            return Err(Refused::short().into());
        };
        let flags = flags.unwrap_or(0);
        let access = Access {
            read: flags & 1 != 0,
            write: flags & 2 != 0,
        };
        if flags & !3 != 0 || flags == 0 {
            let why = format!("flags {flags:#x}: neither read nor write, or unknown ones");
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        if (iova | len | offset) % PAGE != 0 {
            let why = format!("{len:#x} bytes at {iova:#x} from {offset:#x}: not whole pages");
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        let iommu = world.iommu(self.card);
        if iommu.mappings() >= MAX_MAPPINGS {
            let why = format!("there are {MAX_MAPPINGS} mappings");
            return Err(Refused::new(Errno::NoSpace, why).into());
        }
        // Before the file is mapped: an overlap is the commoner mistake, and the cheaper to find.
        iommu.free(iova, len)?;
        match (fds.pop(), fds.is_empty(), &self.client) {
            (Some(fd), true, _) => {
                let file = FileMemory::map(&mut self.files, fd, offset, len, access.write)
                    .map_err(|error| Refused::new(Errno::Invalid, error.to_string()))?;
                iommu.map_at(iova, len, access, Box::new(file))?;
            }
            (None, _, Some(client)) => iommu.map_lent(iova, len, access, client)?,
            _ => return Err(Refused::new(Errno::Invalid, "more than one descriptor").into()),
        }
        self.counters.maps += 1;
        Ok(Vec::new())
    }

    /// A range without a mapping is no error: QEMU unmaps more than it has mapped.
    pub(super) fn dma_unmap(
        &mut self,
        world: &mut World,
        mut fields: Fields<'_>,
    ) -> Result<Vec<u8>, Failed> {
        let (argsz, flags) = (fields.u32(), fields.u32());
        let (Some(argsz), Some(flags), Some(iova), Some(len)) =
            (argsz, flags, fields.u64(), fields.u64())
        else {
            return Err(Refused::short().into());
        };
        let iommu = world.iommu(self.card);
        let ended = match flags {
            UNMAP_ALL => iommu.clear(),
            0 => iommu.unmap_range(iova, len)?,
            _ => {
                let why = format!("flags {flags:#x}");
                return Err(Refused::new(Errno::NotSupported, why).into());
            }
        };
        self.counters.unmaps += ended as u64;
        self.counters.unmaps_of_nothing += u64::from(ended == 0);
        Ok(Payload::new()
            .u32(argsz)
            .u32(flags)
            .u64(iova)
            .u64(len)
            .done())
    }
}
