//! The fence: when it has ended, nothing is under way any more that the card checked before it began.

use weft_layout::registers;

use super::Card;
use crate::error::DeviceError;

/// Numbers of the fences: the last one begun, and the last one known to have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fence {
    begun: u32,
    ended: u32,
}

impl Card {
    /// Begins a fence, unless one is under way. `Some(number)`: it covers all table writes before this call.
    pub(crate) fn begin_fence(&mut self) -> Result<Option<u32>, DeviceError> {
        if self.fence.begun != self.fence.ended {
            return Ok(None);
        }
        let number = self.fence.begun.wrapping_add(1);
        self.mmio.write(registers::FENCE, number)?;
        self.fence.begun = number;
        Ok(Some(number))
    }

    /// Asks for the fence under way, if there is one.
    pub(crate) fn ask_fence(&mut self) -> Result<(), DeviceError> {
        let Fence { begun, ended } = self.fence;
        if begun == ended {
            return Ok(());
        }
        let done = self.mmio.read(registers::FENCE_DONE)?;
        if done != begun && done != ended {
            self.check_presence("FENCE_DONE")?;
            return Err(DeviceError::Register {
                register: "FENCE_DONE",
                wrote: begun,
                read: done,
            });
        }
        self.fence.ended = done;
        Ok(())
    }

    /// Has this fence ended, as far as is known?
    pub(crate) fn fence_passed(&self, number: u32) -> bool {
        self.fence.ended.wrapping_sub(number) as i32 >= 0
    }

    /// Fails if the card could not write a report: what it did since then nobody knows.
    pub(crate) fn check_reports(&self) -> Result<(), DeviceError> {
        if self.status()?.report_failed() {
            return Err(DeviceError::ReportFailed {
                reports: self.reports.taken(),
            });
        }
        Ok(())
    }
}
