//! What can go wrong with the device itself. `verbs` and `cm` have the errors of their callers.

use thiserror::Error;

use crate::processor::ProcessorError;
use weft_card_transport::dma::OutOfBounds;
use weft_card_transport::TransportError;

/// The device did not do what it should, or cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The way to the device failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// ID reads as all ones.
    #[error(
        "{device} does not answer: register ID reads as all ones; check that the card is powered and configured, \
         that memory space is enabled (PCI command bit 1), and that the link is up"
    )]
    NoAnswer {
        /// Where.
        device: String,
    },
    /// ID is something else.
    #[error("{device} is not a Weft card: register ID reads {found:#010x}, expected {expected:#010x} ('WEFT'); check BAR0 and the bitstream")]
    NotWeft {
        /// Where.
        device: String,
        /// What was read.
        found: u32,
        /// What a Weft card has.
        expected: u32,
    },
    /// The card speaks another version of the interface.
    #[error("{device} has interface version {found}, this driver has {expected}; load a bitstream and a driver of the same release")]
    WrongVersion {
        /// Where.
        device: String,
        /// What was read.
        found: u32,
        /// What the driver was built for.
        expected: u32,
    },
    /// CAPS makes no sense.
    #[error("{device} reports impossible capabilities (CAPS {caps:#010x}): {why}")]
    Capabilities {
        /// Where.
        device: String,
        /// The register.
        caps: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// SCRATCH does not hold what was written.
    #[error(
        "register SCRATCH was written {wrote:#010x} and reads {read:#010x}: writes do not reach the card, or reads come from elsewhere; \
         check the BAR mapping and the clock of the register block"
    )]
    Scratch {
        /// Written.
        wrote: u32,
        /// Read back.
        read: u32,
    },
    /// A ring register does not hold what was written.
    #[error("register {register} was written {wrote:#x} and reads {read:#x}")]
    Register {
        /// Its name.
        register: &'static str,
        /// Written.
        wrote: u32,
        /// Read back.
        read: u32,
    },
    /// Neither the card nor its transport could reset it.
    #[error("{device} cannot be reset: by its register, {soft}; {transport}")]
    Reset {
        /// Where it is.
        device: String,
        /// What became of the soft reset.
        soft: String,
        /// What became of the transport's.
        transport: TransportError,
    },
    /// A soft reset does not end.
    #[error("a soft reset does not end within {waited_ns} ns (STATUS {status:#x}); the MAC does not take a frame, or host memory does not answer")]
    StillResetting {
        /// The register.
        status: u32,
        /// How long the driver waited.
        waited_ns: u64,
    },
    /// The card does not come to rest after reset.
    #[error("the card is still busy {waited_ns} ns after reset with job fetch and receive off (STATUS {status:#x}); its clock or its DMA is stuck")]
    NotQuiescent {
        /// The register.
        status: u32,
        /// How long the driver waited.
        waited_ns: u64,
    },
    /// A setting is out of range.
    #[error("setting {setting} is {value}, it must be {allowed}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What is possible.
        allowed: &'static str,
    },
    /// A table access was refused.
    #[error("the card refused the {access} of table {table} row {index}; its tables have {flows} flows and {stags} STags")]
    TableRefused {
        /// "write" or "read".
        access: &'static str,
        /// Table number.
        table: u8,
        /// Row.
        index: u32,
        /// NUM_FLOWS.
        flows: u32,
        /// NUM_STAGS.
        stags: u32,
    },
    /// The device was there and is no longer.
    #[error("{device} stopped answering: register {register} reads as all ones; it was reset, removed or lost power")]
    Gone {
        /// Where.
        device: String,
        /// The register read.
        register: &'static str,
    },
    /// The way to the device ended for good: its server died, the host wants it back, it was removed.
    #[error("{device} is lost: {why}")]
    Lost {
        /// Where.
        device: String,
        /// What is known of it.
        why: String,
    },
    /// Jobs are not fetched or not finished.
    #[error(
        "the card has done nothing for {waited_ns} ns with {outstanding} jobs posted (JOB_DONE {done}, STATUS {status:#x}); \
         read its counters, then reset it"
    )]
    Stuck {
        /// How long.
        waited_ns: u64,
        /// Jobs not done.
        outstanding: u32,
        /// JOB_DONE.
        done: u32,
        /// STATUS.
        status: u32,
    },
    /// The report ring has a hole.
    #[error(
        "the card could not write a report to host memory (STATUS bit 4), {reports} were handled; look for IOMMU faults in the \
         kernel log, then open the device anew"
    )]
    ReportFailed {
        /// Reports that came before.
        reports: u32,
    },
    /// A report contradicts the interface.
    #[error("report {number} of the card is impossible: {why} ({report:02x?})")]
    BadReport {
        /// Its number since the ring was set up.
        number: u32,
        /// What is wrong.
        why: &'static str,
        /// The report.
        report: Vec<u8>,
    },
    /// A captured frame contradicts the interface.
    #[error("captured frame {number} is impossible: {captured} of {length} bytes are said to be in its slot")]
    BadCapture {
        /// Its number since the capture was started.
        number: u32,
        /// What its header says.
        captured: u16,
        /// What its header says.
        length: u16,
    },
    /// The card has one capture ring.
    #[error("a capture is running on this device; end it first")]
    CaptureRunning,
    /// The bitstream was made without trace and capture.
    #[error("{device} is without trace and capture: its bitstream left them out for want of room (parameter OBSERVE); counters and registers are there (`weft regs`)")]
    NotObserved {
        /// Where.
        device: String,
    },
    /// The driver left one of its own buffers: a bug in the driver.
    #[error("a ring access left its buffer: {0}")]
    RingBounds(#[from] OutOfBounds),
    /// No thread to drive the device by.
    #[error("no thread to drive the device by: {reason}")]
    NoThread {
        /// What the system said.
        reason: String,
    },
    /// No memory for the rings of commands and events.
    #[error("no memory for a ring of {bytes} bytes of commands or events")]
    ControlMemory {
        /// How much.
        bytes: usize,
    },
    /// A command of the driver's was not done as a command is: a bug in the driver, or in the engine.
    #[error("a command of the driver's to the engine went wrong: {0}")]
    Command(String),
    /// The card's processor, which has the engine of this device.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
    /// What a lender does not lend.
    #[error("the broker does not lend it: {reason}")]
    NotLent {
        /// What it said.
        reason: String,
    },
    /// A borrower asks for what only who has the device has.
    #[error("{what} is not to be had of a device that a broker lends; its owner has it")]
    OfLender {
        /// What was asked for.
        what: &'static str,
    },
    /// What only the owner of the card's first port has.
    #[error("{what} is not to be had of a device by the card's second port; the device that has the first one has it")]
    OfFirstPort {
        /// What was asked for.
        what: &'static str,
    },
    /// The engine is on the card's processor, and does not have this there.
    #[error("the engine of this device is on the card's processor (rung firmware), where there is no {what}")]
    OnCard {
        /// What was asked for.
        what: &'static str,
    },
    /// There is no second device on this card.
    #[error("no device by the card's second port: {why}")]
    SecondPort {
        /// Why.
        why: &'static str,
    },
    /// The port for raw frames is open already.
    #[error("the port for raw frames of {device} is open already; there is one: drop it first")]
    RawPortTaken {
        /// Where.
        device: String,
    },
    /// A server of streams is there already.
    #[error("{device} has a server of streams already; there is one: drop it first")]
    StreamServerTaken {
        /// Where.
        device: String,
    },
    /// No counter has this name.
    #[error("the card has no counter {0:?}; `weft regs` and docs/registers.md list them")]
    NoSuchCounter(String),
}

impl DeviceError {
    /// Is the device gone, so that there is nothing to do but to close it?
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::Gone { .. }
                | Self::Lost { .. }
                | Self::NoAnswer { .. }
                | Self::Transport(TransportError::Mmio { .. })
        )
    }
}
