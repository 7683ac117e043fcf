//! A served card as a client sees it: what each command does to the PCI function and to the card.

mod dma;
mod irqs;
mod regions;

use std::sync::Arc;

use weft_layout::reg;

use self::irqs::irq;
use self::regions::{region, region_info};
use super::config_space::ConfigSpace;
use super::connection::{lock, Message, SharedConnection};
use super::lending::Client;
use super::memory::Files;
use super::message::{command, error_reply, name, reply, Errno, Fields, Payload};
use super::msix::Msix;
use super::version;
use crate::iommu::{Lender, RangeError};
use crate::world::{World, WorldError};

pub use self::dma::MAX_MAPPINGS;

/// `VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI`.
const DEVICE_FLAGS: u32 = 3;

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
