//! CTRL and STATUS: what is on, and how the card is.

use weft_layout::{reg, registers};

use super::{check_presence, Card, Sharing};
use crate::error::DeviceError;
use crate::mmio::{Mmio, ALL_ONES};
use weft_card_transport::TransportError;

/// What is on while the card is up.
const UP: reg::Ctrl = reg::Ctrl(0).with_jobs(true).with_receive(true);

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

/// What the driver has written to CTRL, and the errors that writing it cleared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    loopback: bool,
    read_error: bool,
    write_error: bool,
}

impl Control {
    /// Turns jobs and receive on.
    pub(super) fn start(mmio: &Mmio) -> Result<Self, TransportError> {
        mmio.write(registers::CTRL, UP)?;
        Ok(Self::default())
    }
}

impl Card {
    /// MAC loopback: what the card sends comes back to it.
    pub(crate) fn set_mac_loopback(&mut self, on: bool) -> Result<(), DeviceError> {
        if on == self.control.loopback {
            return Ok(());
        }
        let status = self.status()?;
        self.control.read_error |= status.read_error();
        self.control.write_error |= status.write_error();
        self.mmio.write(registers::CTRL, UP.with_loopback(on))?;
        self.control.loopback = on;
        tracing::info!(device = %self.name, on, "MAC loopback");
        Ok(())
    }

    pub(crate) fn health(&self) -> Result<Health, DeviceError> {
        let status = self.status()?;
        Ok(Health {
            quiescent: status.quiescent(),
            dma_read_error: status.read_error() || self.control.read_error,
            dma_write_error: status.write_error() || self.control.write_error,
        })
    }

    pub(super) fn status(&self) -> Result<reg::Status, DeviceError> {
        status(&self.mmio)
    }

    /// Fails if the card could not write a report: what it did since then nobody knows.
    pub(crate) fn check_reports(&self) -> Result<(), DeviceError> {
        let status = self.status()?;
        let failed = match self.sharing {
            Sharing::Second(_) => status.port1_failed(),
            Sharing::Alone | Sharing::First(_) => status.report_failed(),
        };
        if failed {
            return Err(DeviceError::ReportFailed {
                reports: self.reports.taken(),
            });
        }
        Ok(())
    }
}

fn status(mmio: &Mmio) -> Result<reg::Status, DeviceError> {
    let status = mmio.read(registers::STATUS)?;
    if status.0 == ALL_ONES {
        check_presence(mmio, "STATUS")?;
    }
    Ok(status)
}

/// How a card is whose CTRL another one writes.
pub(crate) fn health(mmio: &Mmio) -> Result<Health, DeviceError> {
    let status = status(mmio)?;
    Ok(Health {
        quiescent: status.quiescent(),
        dma_read_error: status.read_error(),
        dma_write_error: status.write_error(),
    })
}
