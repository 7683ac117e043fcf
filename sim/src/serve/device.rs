//! A served card as a client sees it: what each command does to the PCI function and to the card.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use weft_layout::{pci, reg};

use super::config_space::{self, ConfigSpace};
use super::connection::{lock, Message, SharedConnection};
use super::lending::Client;
use super::memory::{FileMemory, Files};
use super::message::{command, error_reply, name, reply, Errno, Fields, Payload};
use super::msix::Msix;
use super::version;
use crate::card::DOORBELLS;
use crate::iommu::{Access, Lender, RangeError};
use crate::world::{World, WorldError};

/// Regions of a PCI device (`VFIO_PCI_*_REGION_INDEX`): the BARs are 0 to 5.
mod region {
    pub const CONFIG: u32 = 7;
    pub const COUNT: u32 = 9;
    /// It can be read and written.
    pub const READ_WRITE: u32 = 3;
}

/// Interrupts of a PCI device (`VFIO_PCI_*_IRQ_INDEX`).
mod irq {
    pub const MSIX: u32 = 2;
    pub const COUNT: u32 = 5;
    /// It is told by event descriptors, and all vectors are set up at once.
    pub const EVENTFD_NORESIZE: u32 = 1 | 8;

    pub const DATA_NONE: u32 = 1;
    pub const DATA_BOOL: u32 = 2;
    pub const DATA_EVENTFD: u32 = 4;
    pub const ACTION_MASK: u32 = 8;
    pub const ACTION_UNMASK: u32 = 16;
    pub const ACTION_TRIGGER: u32 = 32;
}

/// `VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI`.
const DEVICE_FLAGS: u32 = 3;
/// `VFIO_DMA_UNMAP_FLAG_ALL`.
const UNMAP_ALL: u32 = 2;
/// Most mappings of a client.
pub const MAX_MAPPINGS: usize = 32_768;
/// Granularity of mappings.
const PAGE: u64 = 4096;

/// A command that was not carried out.
struct Refused {
    error: Errno,
    why: String,
}

impl Refused {
    fn new(error: Errno, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { error, why }
    }

    fn short() -> Self {
        Self::new(Errno::Invalid, "the message is too short for its fields")
    }
}

impl From<RangeError> for Refused {
    fn from(error: RangeError) -> Self {
        let number = match error {
            RangeError::Overlap { .. } => Errno::Exists,
            RangeError::NoRange { .. } | RangeError::Cut { .. } => Errno::Invalid,
        };
        Self::new(number, error.to_string())
    }
}

/// Why a command has no reply payload: it was refused, or the world has ended.
enum Failed {
    Refused(Refused),
    World(WorldError),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Failed::Refused(refused)
    }
}

impl From<RangeError> for Failed {
    fn from(error: RangeError) -> Self {
        Failed::Refused(error.into())
    }
}

/// What happened at a card so far, by clients' doing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Commands carried out or refused.
    pub commands: u64,
    /// Commands refused.
    pub malformed: u64,
    /// Mappings made.
    pub maps: u64,
    /// Mappings ended by the client.
    pub unmaps: u64,
    /// Requests to end mappings where there were none.
    pub unmaps_of_nothing: u64,
    /// Resets of the card.
    pub resets: u64,
    /// Register reads that the card did not answer.
    pub unanswered: u64,
}

/// The PCI function around a card.
pub struct Device {
    card: usize,
    space: ConfigSpace,
    msix: Msix,
    files: Files,
    /// Asked for memory without a descriptor; there once the version is agreed upon.
    client: Option<Arc<dyn Lender>>,
    receiving: bool,
    counters: Counters,
}

impl Device {
    /// The function of a card; its MSI-X vectors are as many as the card says.
    pub fn new(card: usize, world: &mut World) -> Result<Self, WorldError> {
        let vectors = (world.read(card, reg::CAPS)? >> 24) as u16;
        world.iommu(card).set_master(false);
        Ok(Self {
            card,
            space: ConfigSpace::new(vectors),
            msix: Msix::new(vectors),
            files: Files::default(),
            client: None,
            receiving: false,
            counters: Counters::default(),
        })
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Interrupts raised, and those whose descriptor did not take them.
    pub fn interrupts(&self) -> (u64, u64) {
        self.msix.counts()
    }

    /// Has the driver switched the receive side on?
    pub fn is_receiving(&self) -> bool {
        self.receiving
    }

    /// A client is there, or none any more: nothing of the one before is left.
    pub fn start_over(&mut self, world: &mut World) -> usize {
        self.client = None;
        self.msix.clear();
        let dropped = world.iommu(self.card).clear();
        self.files = Files::default();
        self.function_reset(world);
        dropped
    }

    /// Function-level reset: card and configuration space as at power-on. Mappings and event descriptors are
    /// the IOMMU's and the client's.
    fn function_reset(&mut self, world: &mut World) {
        self.space = ConfigSpace::new(self.msix.count() as u16);
        self.card_reset(world);
    }

    fn card_reset(&mut self, world: &mut World) {
        self.counters.resets += 1;
        self.receiving = false;
        world.reset(self.card);
        world.iommu(self.card).set_master(self.space.is_master());
    }

    /// Tells the client the card's interrupts.
    pub fn deliver(&mut self, world: &mut World) {
        let pending = world.pending(self.card);
        for vector in 0..64 {
            if pending >> vector & 1 != 0 && world.take_interrupt(self.card, vector) {
                self.msix.raise(usize::from(vector));
            }
        }
    }

    /// Carries out a command and replies.
    pub fn handle(
        &mut self,
        world: &mut World,
        connection: &SharedConnection,
        message: Message,
    ) -> Result<(), WorldError> {
        let header = message.header;
        self.counters.commands += 1;
        let answer = match self.carry_out(world, connection, message) {
            Ok(payload) => reply(&header, &payload),
            Err(Failed::World(error)) => return Err(error),
            Err(Failed::Refused(Refused { error, why })) => {
                self.counters.malformed += 1;
                tracing::warn!(
                    "card {}: {} ({}) refused: {why}",
                    self.card,
                    name(header.command),
                    header.command
                );
                error_reply(&header, error)
            }
        };
        if !header.no_reply() {
            lock(connection).send(&answer);
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        world: &mut World,
        connection: &SharedConnection,
        message: Message,
    ) -> Result<Vec<u8>, Failed> {
        let Message {
            header,
            payload,
            fds,
            fds_lost,
        } = message;
        if fds_lost {
            return Err(
                Refused::new(Errno::BadDescriptor, "too many descriptors came with it").into(),
            );
        }
        let takes_fds = matches!(header.command, command::DMA_MAP | command::DEVICE_SET_IRQS);
        if !fds.is_empty() && !takes_fds {
            let why = format!("{} descriptors came with it", fds.len());
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        let fields = Fields::new(&payload);
        if header.command == command::VERSION {
            return self.version(connection, fields);
        }
        if self.client.is_none() {
            return Err(Refused::new(Errno::Protocol, "VERSION has to come first").into());
        }
        match header.command {
            command::DMA_MAP => self.dma_map(world, fields, fds),
            command::DMA_UNMAP => self.dma_unmap(world, fields),
            command::DEVICE_GET_INFO => device_info(fields),
            command::DEVICE_GET_REGION_INFO => region_info(fields),
            command::DEVICE_GET_IRQ_INFO => self.irq_info(fields),
            command::DEVICE_SET_IRQS => self.set_irqs(fields, fds),
            command::REGION_READ => self.region_read(world, fields),
            command::REGION_WRITE => self.region_write(world, fields),
            command::REGION_WRITE_MULTI => self.region_write_multi(world, fields),
            command::DEVICE_RESET => {
                self.card_reset(world);
                Ok(Vec::new())
            }
            command::DMA_READ | command::DMA_WRITE => {
                Err(Refused::new(Errno::Invalid, "only a server sends this").into())
            }
            command::DEVICE_GET_REGION_IO_FDS => {
                Err(Refused::new(Errno::NotSupported, "no region has such descriptors").into())
            }
            _ => Err(Refused::new(Errno::NotImplemented, "there is no such command").into()),
        }
    }

    fn version(
        &mut self,
        connection: &SharedConnection,
        mut fields: Fields<'_>,
    ) -> Result<Vec<u8>, Failed> {
        if self.client.is_some() {
            return Err(Refused::new(Errno::Invalid, "the version is agreed upon").into());
        }
        let (Some(major), Some(minor)) = (fields.u16(), fields.u16()) else {
            return Err(Refused::short().into());
        };
        let proposal = version::Proposal::parse(major, minor, fields.rest())
            .map_err(|error| Refused::new(Errno::Invalid, error.to_string()))?;
        lock(connection).lending.set_max_data(proposal.max_data);
        self.client = Some(Arc::new(Client::new(connection)));
        Ok(proposal.answer())
    }

    fn dma_map(
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
    fn dma_unmap(&mut self, world: &mut World, mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
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

    fn irq_info(&self, mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
        let (_argsz, _flags) = (fields.u32(), fields.u32());
        let index = fields.u32().ok_or_else(Refused::short)?;
        if index >= irq::COUNT {
            return Err(Refused::new(Errno::Invalid, format!("no interrupts {index}")).into());
        }
        let (flags, count) = match index {
            irq::MSIX => (irq::EVENTFD_NORESIZE, self.msix.count() as u32),
            _ => (0, 0),
        };
        Ok(Payload::new()
            .u32(16)
            .u32(flags)
            .u32(index)
            .u32(count)
            .done())
    }

    fn set_irqs(&mut self, mut fields: Fields<'_>, fds: Vec<OwnedFd>) -> Result<Vec<u8>, Failed> {
        let (_argsz, flags) = (fields.u32(), fields.u32());
        let (Some(flags), Some(index), Some(start), Some(count)) =
            (flags, fields.u32(), fields.u32(), fields.u32())
        else {
            return Err(Refused::short().into());
        };
        let invalid = |why: String| Err(Failed::from(Refused::new(Errno::Invalid, why)));
        let data = flags & (irq::DATA_NONE | irq::DATA_BOOL | irq::DATA_EVENTFD);
        let action = flags & !data;
        // "None from 0 on" takes all descriptors of any kind of interrupt away.
        if data == irq::DATA_NONE && action == irq::ACTION_TRIGGER && count == 0 && start == 0 {
            if index >= irq::COUNT {
                return invalid(format!("no interrupts {index}"));
            }
            if index == irq::MSIX {
                self.msix.clear();
            }
            return Ok(Vec::new());
        }
        let end = u64::from(start) + u64::from(count);
        if index != irq::MSIX || end > self.msix.count() as u64 {
            return invalid(format!("{count} interrupts {index} from {start} on"));
        }
        let vectors = start as usize..end as usize;
        let chosen: Vec<bool> = match data {
            irq::DATA_NONE => vec![true; vectors.len()],
            irq::DATA_BOOL if fields.rest().len() >= vectors.len() => fields.rest()
                [..vectors.len()]
                .iter()
                .map(|b| *b != 0)
                .collect(),
            irq::DATA_EVENTFD if action == irq::ACTION_TRIGGER => {
                return self.set_events(vectors, fds);
            }
            _ => return invalid(format!("flags {flags:#x}")),
        };
        for (vector, _) in vectors.zip(chosen).filter(|(_, chosen)| *chosen) {
            match action {
                irq::ACTION_TRIGGER => self.msix.raise(vector),
                irq::ACTION_MASK => self.msix.set_masked(vector, true),
                irq::ACTION_UNMASK => self.msix.set_masked(vector, false),
                _ => return invalid(format!("flags {flags:#x}")),
            }
        }
        Ok(Vec::new())
    }

    /// No descriptors at all: the vectors lose theirs.
    fn set_events(&mut self, vectors: Range<usize>, fds: Vec<OwnedFd>) -> Result<Vec<u8>, Failed> {
        if !fds.is_empty() && fds.len() != vectors.len() {
            let why = format!("{} descriptors for {} vectors", fds.len(), vectors.len());
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        let mut fds = fds.into_iter();
        for vector in vectors {
            self.msix.set_event(vector, fds.next());
        }
        Ok(Vec::new())
    }

    fn region_read(
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

    fn region_write(
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

    fn region_write_multi(
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
                    let value = u32::from_le_bytes([0, 1, 2, 3].map(|i| word[i]));
                    let address = address + 4 * n as u32;
                    if address == reg::CTRL {
                        self.receiving = value & 2 != 0;
                    }
                    world.write(self.card, address, value);
                }
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

fn device_info(mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
    fields.u32().ok_or_else(Refused::short)?;
    Ok(Payload::new()
        .u32(16)
        .u32(DEVICE_FLAGS)
        .u32(region::COUNT)
        .u32(irq::COUNT)
        .done())
}

fn region_info(mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
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
