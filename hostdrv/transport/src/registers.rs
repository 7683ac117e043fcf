//! Registers and doorbells by their type, on any transport.

use weft_layout::{Doorbell, Register, Writable};

use super::{Bar, Transport, TransportError};

/// Typed access to a card: a register takes and gives the value that is in it, one that is read-only cannot be
/// written, and a doorbell can only be rung.
///
/// ```
/// use weft_card_transport::{RegisterAccess, Transport, TransportError};
/// use weft_layout::{doorbells, reg::Ctrl, registers};
///
/// fn turn_off(card: &dyn Transport) -> Result<bool, TransportError> {
///     card.write(registers::CTRL, Ctrl::default())?;
///     Ok(card.read(registers::STATUS)?.quiescent())
/// }
/// ```
///
/// What the host may only read cannot be written:
///
/// ```compile_fail,E0277
/// # use weft_card_transport::{RegisterAccess, Transport, TransportError};
/// # use weft_layout::{reg::Status, registers};
/// fn wrong(card: &dyn Transport) -> Result<(), TransportError> {
///     card.write(registers::STATUS, Status::default())
/// }
/// ```
///
/// A register takes no value of another one:
///
/// ```compile_fail,E0308
/// # use weft_card_transport::{RegisterAccess, Transport, TransportError};
/// # use weft_layout::{reg::RawLog2, registers};
/// fn wrong(card: &dyn Transport) -> Result<(), TransportError> {
///     card.write(registers::CAPTURE_LOG2, RawLog2::default())
/// }
/// ```
///
/// A doorbell cannot be read:
///
/// ```compile_fail,E0308
/// # use weft_card_transport::{RegisterAccess, Transport, TransportError};
/// # use weft_layout::doorbells;
/// fn wrong(card: &dyn Transport) -> Result<u32, TransportError> {
///     card.read(doorbells::JOB_TAIL)
/// }
/// ```
pub trait RegisterAccess: Transport {
    /// Reads a register.
    fn read<A, W, R: From<u32>>(&self, register: Register<A, W, R>) -> Result<R, TransportError> {
        self.read32(Bar::Registers, register.offset()).map(R::from)
    }

    /// Writes a register.
    fn write<A: Writable, W: Into<u32>, R>(
        &self,
        register: Register<A, W, R>,
        value: W,
    ) -> Result<(), TransportError> {
        self.write32(Bar::Registers, register.offset(), value.into())
    }

    /// Rings a doorbell. Stores to DMA memory that it announces come first: [`dma::publish`](crate::dma::publish).
    fn ring(&self, doorbell: Doorbell, value: u32) -> Result<(), TransportError> {
        self.write32(Bar::Doorbells, doorbell.offset(), value)
    }
}

impl<T: Transport + ?Sized> RegisterAccess for T {}
