//! Regions: the card's registers and doorbells, MSI-X, configuration space.

use weft_layout::{pci, reg};

use super::{Device, Failed, Refused};
use crate::card::DOORBELLS;
use crate::serve::config_space;
use crate::serve::message::{Errno, Fields, Payload};
use crate::world::{World, WorldError};

/// Regions of a PCI device (`VFIO_PCI_*_REGION_INDEX`): the BARs are 0 to 5.
pub(super) mod region {
    pub const CONFIG: u32 = 7;
    pub const COUNT: u32 = 9;
    /// It can be read and written.
    pub const READ_WRITE: u32 = 3;
}

impl Device {
    pub(super) fn region_read(
        &mut self,
        world: &mut World,
        mut fields: Fields<'_>,
    ) -> Result<Vec<u8>, Failed> {
        let (Some(offset), Some(region), Some(count)) = (fields.u64(), fields.u32(), fields.u32())
        else {
            return Err(Refused::short().into());
        };
        let wanted = count as usize;
        let data = match place(region, offset, wanted)? {
            Place::Card(address) => self.read_card(world, address, wanted)?,
            Place::Msix => self.msix.read(offset, wanted).unwrap_or_default(),
            Place::Config => self.space.read(offset, wanted).unwrap_or_default().to_vec(),
        };
        Ok(Payload::new()
            .u64(offset)
            .u32(region)
            .u32(count)
            .bytes(&data)
            .done())
    }

    /// Reads the words that have these bytes. A card that does not answer reads as all ones, as on PCIe.
    fn read_card(
        &mut self,
        world: &mut World,
        address: u32,
        count: usize,
    ) -> Result<Vec<u8>, Failed> {
        let skip = (address % 4) as usize;
        let mut bytes = Vec::with_capacity(skip + count + 3);
        while bytes.len() < skip + count {
            let word = match world.read(self.card, address - skip as u32 + bytes.len() as u32) {
                Ok(word) => word,
                Err(error @ WorldError::NoAnswer { .. }) => {
                    tracing::warn!("{error}");
                    self.counters.unanswered += 1;
                    u32::MAX
                }
                Err(error) => return Err(Failed::World(error)),
            };
            bytes.extend(word.to_le_bytes());
        }
        Ok(bytes[skip..skip + count].to_vec())
    }

    pub(super) fn region_write(
        &mut self,
        world: &mut World,
        mut fields: Fields<'_>,
    ) -> Result<Vec<u8>, Failed> {
        let (Some(offset), Some(region), Some(count)) = (fields.u64(), fields.u32(), fields.u32())
        else {
            return Err(Refused::short().into());
        };
        if fields.rest().len() != count as usize {
            let why = format!("{} bytes came, {count} are announced", fields.rest().len());
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        self.write(world, region, offset, fields.rest())?;
        Ok(Payload::new().u64(offset).u32(region).u32(count).done())
    }

    pub(super) fn region_write_multi(
        &mut self,
        world: &mut World,
        mut fields: Fields<'_>,
    ) -> Result<Vec<u8>, Failed> {
        let count = fields.u64().ok_or_else(Refused::short)?;
        for _ in 0..count {
            let (Some(offset), Some(region), Some(bytes), Some(data)) =
                (fields.u64(), fields.u32(), fields.u32(), fields.eight())
            else {
                return Err(Refused::short().into());
            };
            let data = data
                .get(..bytes as usize)
                .ok_or_else(|| Refused::new(Errno::Invalid, format!("a write of {bytes} bytes")))?;
            self.write(world, region, offset, data)?;
        }
        Ok(Payload::new().u64(count).done())
    }

    fn write(
        &mut self,
        world: &mut World,
        region: u32,
        offset: u64,
        data: &[u8],
    ) -> Result<(), Refused> {
        match place(region, offset, data.len())? {
            Place::Card(address) => {
                let words = data.chunks_exact(4);
                if address % 4 != 0 || !words.remainder().is_empty() {
                    let why = format!("{} bytes at {address:#x}: not whole words", data.len());
                    return Err(Refused::new(Errno::Invalid, why));
                }
                for (n, word) in words.enumerate() {
                    if address + 4 * n as u32 == reg::CTRL {
                        self.receiving = word[0] & reg::Ctrl::RECEIVE as u8 != 0;
                    }
                }
                world.write_block(self.card, address, data);
            }
            Place::Msix => {
                let _ = self.msix.write(offset, data);
            }
            Place::Config => {
                if self.space.write(offset, data) == Some(true) {
                    self.function_reset(world);
                }
                world.iommu(self.card).set_master(self.space.is_master());
            }
        }
        Ok(())
    }
}

/// What is at a place of a region.
enum Place {
    /// The card, at this address.
    Card(u32),
    Msix,
    Config,
}

fn region_size(region: u32) -> u64 {
    match region {
        region::CONFIG => config_space::SIZE as u64,
        _ if region == u32::from(pci::REGISTERS_BAR) => pci::REGISTERS_SIZE,
        _ if region == u32::from(pci::DOORBELLS_BAR) => pci::DOORBELLS_SIZE,
        _ if region == u32::from(pci::MSIX_BAR) => pci::MSIX_SIZE,
        _ => 0,
    }
}

/// Checks that an access is inside its region, so that nothing behind has to.
fn place(region: u32, offset: u64, count: usize) -> Result<Place, Refused> {
    let size = region_size(region);
    let inside = offset
        .checked_add(count as u64)
        .is_some_and(|end| end <= size);
    if !inside || count == 0 {
        let why = format!("{count} bytes at {offset:#x} of region {region}, which has {size:#x}");
        return Err(Refused::new(Errno::Invalid, why));
    }
    Ok(match region {
        region::CONFIG => Place::Config,
        _ if region == u32::from(pci::MSIX_BAR) => Place::Msix,
        _ if region == u32::from(pci::DOORBELLS_BAR) => Place::Card(DOORBELLS + offset as u32),
        _ => Place::Card(offset as u32),
    })
}

/// `DEVICE_GET_REGION_INFO`.
pub(super) fn region_info(mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
    let (_argsz, _flags) = (fields.u32(), fields.u32());
    let index = fields.u32().ok_or_else(Refused::short)?;
    if index >= region::COUNT {
        return Err(Refused::new(Errno::Invalid, format!("no region {index}")).into());
    }
    let size = region_size(index);
    let flags = if size == 0 { 0 } else { region::READ_WRITE };
    // No capabilities: nothing can be mapped, since every access has to reach the card.
    Ok(Payload::new()
        .u32(32)
        .u32(flags)
        .u32(index)
        .u32(0)
        .u64(size)
        .u64(0)
        .done())
}
