//! How long a card is waited for after a reset. Its own clock decides: that of a simulated card is slow where the machine is busy.

use weft_layout::registers;

use crate::error::DeviceError;
use crate::mmio::Mmio;

/// Host memory answers what it was asked within 50 ms, or the root port gives up.
const LIMIT_NS: u64 = 100_000_000;
/// Cycles in which the largest tables are cleared, five times over.
const LIMIT_CYCLES: u32 = 100_000;
/// A card whose clock stands still is given up by the host's.
const LONGEST_NS: u64 = 10_000_000_000;
/// Between two looks.
const STEP_NS: u64 = LIMIT_NS / 64;

/// A wait for one card.
pub(super) struct ResetWait<'a> {
    mmio: &'a Mmio,
    began_ns: u64,
    began_cycle: u32,
    next_ns: u64,
}

impl<'a> ResetWait<'a> {
    pub(super) fn begin(mmio: &'a Mmio) -> Result<Self, DeviceError> {
        let began_ns = mmio.transport.now();
        Ok(Self {
            mmio,
            began_ns,
            began_cycle: mmio.read(registers::TIME_LO)?,
            next_ns: began_ns,
        })
    }

    /// Waits a little; false: both clocks say that the card has had its time.
    pub(super) fn goes_on(&mut self) -> Result<bool, DeviceError> {
        let waited = self.waited_ns();
        if waited >= LIMIT_NS {
            let now = self.mmio.read(registers::TIME_LO)?;
            let cycles = now.wrapping_sub(self.began_cycle);
            if cycles >= LIMIT_CYCLES || waited >= LONGEST_NS {
                return Ok(false);
            }
        }
        self.next_ns += STEP_NS;
        self.mmio.transport.wait(0, Some(self.next_ns))?;
        Ok(true)
    }

    pub(super) fn waited_ns(&self) -> u64 {
        self.mmio.transport.now().saturating_sub(self.began_ns)
    }
}
