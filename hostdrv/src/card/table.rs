//! The card's tables: one row at a time through TABLE_DATA and TABLE_CMD.

use weft_layout::{reg::TableCmd, registers, table, TableOperation};

use super::{Card, Sharing};
use crate::error::DeviceError;
use crate::mmio::ALL_ONES;
use crate::stats::add;

fn command(operation: TableOperation, number: u8, index: u32) -> TableCmd {
    TableCmd::default()
        .with_operation(operation)
        .with_table(number)
        .with_index(index)
}

impl Card {
    /// Waits for its turn at the tables, which the other port's owner has for as long as a row takes.
    fn take_turn(&self) -> Result<(), DeviceError> {
        const LOOKS: u32 = 1_000_000;
        for _ in 0..LOOKS {
            match self.mmio.read(registers::TABLE_LOCK)? {
                0 => {}
                ALL_ONES => self.check_presence("TABLE_LOCK")?,
                _ => return Ok(()),
            }
        }
        let why = "the other port's owner does not give the tables back";
        Err(DeviceError::SecondPort { why })
    }

    /// Does something with the tables, in turns where they are shared.
    fn in_turn<T>(
        &self,
        access: impl FnOnce(&Self) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        if matches!(self.sharing, Sharing::Alone) {
            return access(self);
        }
        self.take_turn()?;
        let done = access(self);
        self.mmio.write(registers::TABLE_LOCK, 0)?;
        done
    }

    /// Writes a row; false if it was not applied, which only an ATTACH may answer.
    pub(crate) fn write_row(
        &mut self,
        number: u8,
        index: u32,
        row: &[u8; 64],
    ) -> Result<bool, DeviceError> {
        // What was posted before must be known to the card before a row changes under it.
        self.ring_doorbells()?;
        add(&self.mmio.counts.table_accesses, 1);
        let refused = self.in_turn(|card| {
            for (register, word) in registers::TABLE_DATA.words().zip(row.chunks_exact(4)) {
                let mut bytes = [0; 4];
                bytes.copy_from_slice(word);
                card.mmio.write(register, u32::from_le_bytes(bytes))?;
            }
            let command = command(TableOperation::Write, number, index);
            card.mmio.write(registers::TABLE_CMD, command)?;
            card.refused()
        })?;
        tracing::debug!(table = number, index, refused, "table row written");
        if refused && number != table::ATTACH {
            return Err(self.table_refused("write", number, index));
        }
        Ok(!refused)
    }

    pub(super) fn read_row(&mut self, number: u8, index: u32) -> Result<[u8; 64], DeviceError> {
        self.ring_doorbells()?;
        add(&self.mmio.counts.table_accesses, 1);
        self.in_turn(|card| {
            let command = command(TableOperation::Read, number, index);
            card.mmio.write(registers::TABLE_CMD, command)?;
            if card.refused()? {
                return Err(card.table_refused("read", number, index));
            }
            let mut row = [0; 64];
            for (register, word) in registers::TABLE_DATA.words().zip(row.chunks_exact_mut(4)) {
                word.copy_from_slice(&card.mmio.read(register)?.to_le_bytes());
            }
            Ok(row)
        })
    }

    fn refused(&self) -> Result<bool, DeviceError> {
        let answer = self.mmio.read(registers::TABLE_CMD)?;
        if answer.0 == ALL_ONES {
            self.check_presence("TABLE_CMD")?;
        }
        Ok(answer.refused())
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
