//! The fence: when it has ended, nothing is under way any more that the card checked before it began.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_layout::registers;

use super::check_presence;
use crate::error::DeviceError;
use crate::mmio::Mmio;

/// The card's fences: clones are the same ones, for the devices of all its ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fence(Arc<Mutex<Numbers>>);

/// Numbers of the last one begun, and the last one known to have ended.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    begun: u32,
    ended: u32,
}

impl Fence {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins one, unless one is under way. `Some(number)`: it covers all table writes before this call.
    pub(crate) fn begin(&self, mmio: &Mmio) -> Result<Option<u32>, DeviceError> {
        let mut numbers = self.numbers();
        if numbers.begun != numbers.ended {
            return Ok(None);
        }
        let number = numbers.begun.wrapping_add(1);
        mmio.write(registers::FENCE, number)?;
        numbers.begun = number;
        Ok(Some(number))
    }

    /// Asks for the one under way, if there is one.
    pub(crate) fn ask(&self, mmio: &Mmio) -> Result<(), DeviceError> {
        let mut numbers = self.numbers();
        let Numbers { begun, ended } = *numbers;
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
        numbers.ended = done;
        Ok(())
    }

    /// Has this one ended, as far as is known?
    pub(crate) fn has_passed(&self, number: u32) -> bool {
        self.numbers().ended.wrapping_sub(number) as i32 >= 0
    }
}
