//! The card's tables: one row at a time through TABLE_DATA and TABLE_CMD.

use weft_layout::{reg, table};

use super::Card;
use crate::error::DeviceError;
use crate::mmio::ALL_ONES;
use crate::stats::add;

const WRITE: u32 = 1;
const READ: u32 = 2;

fn command(operation: u32, number: u8, index: u32) -> u32 {
    operation << 28 | (u32::from(number) & 0xf) << 24 | index & 0xff_ffff
}

impl Card {
    /// Writes a row; false if it was not applied, which only an ATTACH may answer.
    pub(super) fn write_row(
        &mut self,
        number: u8,
        index: u32,
        row: &[u8; 64],
    ) -> Result<bool, DeviceError> {
        // What was posted before must be known to the card before a row changes under it.
        self.ring_doorbells()?;
        add(&self.mmio.counts.table_accesses, 1);
        for (offset, word) in (reg::TABLE_DATA..).step_by(4).zip(row.chunks_exact(4)) {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(word);
            self.mmio.write(offset, u32::from_le_bytes(bytes))?;
        }
        self.mmio
            .write(reg::TABLE_CMD, command(WRITE, number, index))?;
        let refused = self.refused()?;
        tracing::debug!(table = number, index, refused, "table row written");
        if refused && number != table::ATTACH {
            return Err(self.table_refused("write", number, index));
        }
        Ok(!refused)
    }

    pub(super) fn read_row(&mut self, number: u8, index: u32) -> Result<[u8; 64], DeviceError> {
        self.ring_doorbells()?;
        add(&self.mmio.counts.table_accesses, 1);
        self.mmio
            .write(reg::TABLE_CMD, command(READ, number, index))?;
        if self.refused()? {
            return Err(self.table_refused("read", number, index));
        }
        let mut row = [0; 64];
        for (offset, word) in (reg::TABLE_DATA..).step_by(4).zip(row.chunks_exact_mut(4)) {
            word.copy_from_slice(&self.mmio.read(offset)?.to_le_bytes());
        }
        Ok(row)
    }

    fn refused(&self) -> Result<bool, DeviceError> {
        let answer = self.mmio.read(reg::TABLE_CMD)?;
        if answer == ALL_ONES {
            self.check_presence("TABLE_CMD")?;
        }
        Ok(answer & 1 != 0)
    }

    fn table_refused(&self, access: &'static str, number: u8, index: u32) -> DeviceError {
        DeviceError::TableRefused {
            access,
            table: number,
            index,
            flows: self.caps.flows,
            stags: self.caps.stags,
        }
    }
}
