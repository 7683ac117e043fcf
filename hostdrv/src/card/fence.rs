//! The fence: when it has ended, nothing is under way any more that the card checked before it began.

use weft_layout::registers;

use super::check_presence;
use crate::error::DeviceError;
use crate::mmio::Mmio;

/// Numbers of the fences: the last one begun, and the last one known to have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fence {
    begun: u32,
    ended: u32,
}

impl Fence {
    /// Begins one, unless one is under way. `Some(number)`: it covers all table writes before this call.
    pub(crate) fn begin(&mut self, mmio: &Mmio) -> Result<Option<u32>, DeviceError> {
        if self.begun != self.ended {
            return Ok(None);
        }
        let number = self.begun.wrapping_add(1);
        mmio.write(registers::FENCE, number)?;
        self.begun = number;
        Ok(Some(number))
    }

    /// Asks for the one under way, if there is one.
    pub(crate) fn ask(&mut self, mmio: &Mmio) -> Result<(), DeviceError> {
        let Fence { begun, ended } = *self;
        if begun == ended {
            return Ok(());
        }
        let done = mmio.read(registers::FENCE_DONE)?;
        if done != begun && done != ended {
            check_presence(mmio, "FENCE_DONE")?;
            return Err(DeviceError::Register {
                register: "FENCE_DONE",
                wrote: begun,
                read: done,
            });
        }
        self.ended = done;
        Ok(())
    }

    /// Has this one ended, as far as is known?
    pub(crate) fn has_passed(&self, number: u32) -> bool {
        self.ended.wrapping_sub(number) as i32 >= 0
    }
}
