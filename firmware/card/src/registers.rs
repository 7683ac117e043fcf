//! The card's own registers, doorbells and tables. A host that has not the card's other port must not use the tables meanwhile: their rows go through
//! registers that there are once.

use core::ptr::{read_volatile, write_volatile};

#[cfg(feature = "engine")]
use weft_layout::Doorbell;
use weft_layout::{reg, registers, table, Register, TableOperation};

/// Where the card's registers are; its doorbells are behind them.
const CARD: usize = 0x2002_0000;

#[cfg(feature = "engine")]
const DOORBELLS: u32 = 0x1_0000;

/// Reads a word of the card.
fn load(offset: u32) -> u32 {
    // SAFETY: a register of the card, a word; it is no memory of ours.
    unsafe { read_volatile((CARD + offset as usize) as *const u32) }
}

/// Writes a word of the card.
fn store(offset: u32, value: u32) {
    // SAFETY: as in `load`.
    unsafe { write_volatile((CARD + offset as usize) as *mut u32, value) }
}

/// Reads a register.
pub fn read<A, W, R: From<u32>>(register: Register<A, W, R>) -> R {
    load(register.offset()).into()
}

/// Writes a register.
pub fn write<A: weft_layout::Writable, W: Into<u32>, R>(register: Register<A, W, R>, value: W) {
    store(register.offset(), value.into());
}

/// The registers of the rings of the card's port that is the firmware's.
#[cfg(feature = "engine")]
mod of_port {
    use core::cell::Cell;

    use weft_layout::{Doorbell, Register, Writable, PORT_DOORBELLS, PORT_REGISTERS};

    use super::{load, store, DOORBELLS};

    /// Its number.
    struct Port(Cell<u32>);

    // SAFETY: the processor has one thread, and nothing interrupts it.
    unsafe impl Sync for Port {}

    static PORT: Port = Port(Cell::new(0));

    /// The firmware has the second port, and shares the tables with who has the first one.
    pub fn use_second_port() {
        PORT.0.set(1);
    }

    /// Does it?
    pub fn is_second() -> bool {
        PORT.0.get() != 0
    }

    /// Reads a register of the port's rings.
    pub fn read_of_port<A, W, R: From<u32>>(register: Register<A, W, R>) -> R {
        load(register.offset() + PORT.0.get() * PORT_REGISTERS).into()
    }

    /// Writes a register of the port's rings.
    pub fn write_of_port<A: Writable, W: Into<u32>, R>(register: Register<A, W, R>, value: W) {
        let offset = register.offset() + PORT.0.get() * PORT_REGISTERS;
        store(offset, value.into());
    }

    /// Rings a doorbell of the port's rings.
    pub fn ring_of_port(doorbell: Doorbell, value: u32) {
        let offset = doorbell.offset() + PORT.0.get() * PORT_DOORBELLS;
        store(DOORBELLS + offset, value);
    }
}
#[cfg(feature = "engine")]
pub use of_port::{is_second, read_of_port, ring_of_port, use_second_port, write_of_port};

/// It is the firmware's turn at the tables, until this is dropped. The other port's owner has them for as long as a row takes.
struct Turn;

impl Turn {
    fn take() -> Self {
        #[cfg(feature = "engine")]
        if is_second() {
            while read_of_port(registers::TABLE_LOCK) == 0 {}
        }
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        #[cfg(feature = "engine")]
        if is_second() {
            write_of_port(registers::TABLE_LOCK, 0);
        }
    }
}

/// Rings a doorbell.
#[cfg(feature = "engine")]
pub fn ring(doorbell: Doorbell, value: u32) {
    store(DOORBELLS + doorbell.offset(), value);
}

/// A row was not written or read.
#[derive(Debug)]
pub struct Refused;

/// Runs a table access.
fn access(operation: TableOperation, number: u8, index: u32) -> Result<(), Refused> {
    let command = reg::TableCmd::default()
        .with_operation(operation)
        .with_table(number)
        .with_index(index);
    write(registers::TABLE_CMD, command);
    match read(registers::TABLE_CMD).refused() {
        true => Err(Refused),
        false => Ok(()),
    }
}

/// Writes a row of a table.
pub fn write_row(number: u8, index: u32, row: &[u8; 64]) -> Result<(), Refused> {
    let _turn = Turn::take();
    for (register, word) in registers::TABLE_DATA.words().zip(row.chunks_exact(4)) {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(word);
        write(register, u32::from_le_bytes(bytes));
    }
    access(TableOperation::Write, number, index)
}

/// Reads a row of a table.
pub fn read_row(number: u8, index: u32) -> Result<[u8; 64], Refused> {
    let _turn = Turn::take();
    access(TableOperation::Read, number, index)?;
    let mut row = [0; 64];
    for (register, word) in registers::TABLE_DATA.words().zip(row.chunks_exact_mut(4)) {
        word.copy_from_slice(&read(register).to_le_bytes());
    }
    Ok(row)
}

/// The number of a STAG row that nobody uses: the last.
pub fn last_stag() -> (u8, u32) {
    (table::STAG, (1 << read(registers::CAPS).stags_log2()) - 1)
}
