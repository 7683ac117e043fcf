//! Bringing the card back to where it was at power-on: by its own register, and when that does not do it, by the transport.

use weft_layout::{reg, registers};

use super::reset_wait::ResetWait;
use crate::checks::check_identity;
use crate::error::DeviceError;
use crate::mmio::{Mmio, ALL_ONES};

/// Soft reset; else whatever the transport has. The error says what became of each.
pub(super) fn reset(mmio: &Mmio, name: &str) -> Result<(), DeviceError> {
    let soft = match soft_reset(mmio, name) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    tracing::debug!(device = name, error = %soft, "no soft reset");
    let Err(error) = mmio.transport.reset() else {
        return Ok(());
    };
    Err(DeviceError::Reset {
        device: name.to_owned(),
        soft: soft.to_string(),
        transport: error,
    })
}

/// A device that does not answer as a card of this version is not written to.
fn soft_reset(mmio: &Mmio, name: &str) -> Result<(), DeviceError> {
    check_identity(mmio, name)?;
    mmio.write(registers::CTRL, reg::Ctrl::default().with_reset(true))?;
    let mut wait = ResetWait::begin(mmio)?;
    loop {
        let status = mmio.read(registers::STATUS)?;
        if status.0 == ALL_ONES {
            return Err(DeviceError::Gone {
                device: name.to_owned(),
                register: "STATUS",
            });
        }
        if !status.resetting() {
            // An interrupt that was asked for before has nobody to go to.
            mmio.transport.wait(0, Some(0))?;
            return Ok(());
        }
        if !wait.goes_on()? {
            return Err(DeviceError::StillResetting {
                status: status.0,
                waited_ns: wait.waited_ns(),
            });
        }
    }
}
