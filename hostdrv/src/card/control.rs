//! CTRL and STATUS: what is on, and how the card is.

use weft_layout::reg;

use super::{Card, STATUS_QUIESCENT};
use crate::device::Device;
use crate::error::DeviceError;
use crate::mmio::{Mmio, ALL_ONES};
use crate::transport::TransportError;

/// CTRL bit 0: job fetch.
const CTRL_JOBS: u32 = 1;
/// CTRL bit 1: receive.
const CTRL_RECEIVE: u32 = 2;
/// CTRL bit 2: MAC loopback.
const CTRL_LOOPBACK: u32 = 4;
/// STATUS bits 1 and 2: DMA was answered with an error.
const STATUS_READ_ERROR: u32 = 2;
const STATUS_WRITE_ERROR: u32 = 4;

/// The STATUS register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Nothing is in flight.
    pub quiescent: bool,
    /// A DMA read was answered with an error since the device was opened.
    pub dma_read_error: bool,
    /// A DMA write was answered with an error since the device was opened.
    pub dma_write_error: bool,
}

/// What the driver has written to CTRL, and the error bits that writing it cleared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    loopback: bool,
    errors: u32,
}

impl Control {
    /// Turns jobs and receive on.
    pub(super) fn start(mmio: &Mmio) -> Result<Self, TransportError> {
        mmio.write(reg::CTRL, CTRL_JOBS | CTRL_RECEIVE)?;
        Ok(Self::default())
    }
}

impl Card {
    /// MAC loopback: what the card sends comes back to it.
    fn set_mac_loopback(&mut self, on: bool) -> Result<(), DeviceError> {
        if on == self.control.loopback {
            return Ok(());
        }
        let status = self.status()?;
        self.control.errors |= status & (STATUS_READ_ERROR | STATUS_WRITE_ERROR);
        let loopback = if on { CTRL_LOOPBACK } else { 0 };
        self.mmio
            .write(reg::CTRL, CTRL_JOBS | CTRL_RECEIVE | loopback)?;
        self.control.loopback = on;
        tracing::info!(device = %self.name, on, "MAC loopback");
        Ok(())
    }

    pub(crate) fn health(&self) -> Result<Health, DeviceError> {
        let status = self.status()? | self.control.errors;
        Ok(Health {
            quiescent: status & STATUS_QUIESCENT != 0,
            dma_read_error: status & STATUS_READ_ERROR != 0,
            dma_write_error: status & STATUS_WRITE_ERROR != 0,
        })
    }

    fn status(&self) -> Result<u32, DeviceError> {
        let status = self.mmio.read(reg::STATUS)?;
        if status == ALL_ONES {
            self.check_presence("STATUS")?;
        }
        Ok(status)
    }
}

impl Device {
    /// With `on`, what the card sends goes to its own receive path instead of the wire, and what comes from the
    /// wire is ignored (counted in `rx_drop_loopback`). Frames must then be for this station to arrive.
    pub fn set_mac_loopback(&self, on: bool) -> Result<(), DeviceError> {
        self.lock().card.set_mac_loopback(on)
    }
}
