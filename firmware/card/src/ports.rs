//! The processor's ports and its sleep.

use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};

/// Where the ports are.
const PORTS: usize = 0x1000_0000;

/// Bits of mip and mie.
const TIMER: usize = 1 << 7;
const EXTERNAL: usize = 1 << 11;

/// Reads a port of `proc_port`.
pub fn read(port: u8) -> u32 {
    // SAFETY: a port of the processor, a word, aligned; it is no memory of ours.
    unsafe { read_volatile((PORTS + 4 * usize::from(port)) as *const u32) }
}

/// Writes a port of `proc_port`.
pub fn write(port: u8, value: u32) {
    // SAFETY: as in `read`.
    unsafe { write_volatile((PORTS + 4 * usize::from(port)) as *mut u32, value) }
}

/// What asks for the firmware.
pub struct Waiting {
    /// A command of the host.
    pub command: bool,
    /// The timer.
    pub alarm: bool,
}

/// What asks for the firmware now.
pub fn waiting() -> Waiting {
    let pending: usize;
    // SAFETY: reads a register.
    unsafe { asm!("csrr {}, mip", out(reg) pending, options(nomem, nostack)) }
    Waiting {
        command: pending & EXTERNAL != 0,
        alarm: pending & TIMER != 0,
    }
}

/// What ends a sleep. Interrupts stay disabled: they are looked at, and interrupt nothing.
pub fn wake_for_all() {
    // SAFETY: mie alone, without MIE of mstatus, lets nothing interrupt.
    unsafe { asm!("csrw mie, {}", in(reg) TIMER | EXTERNAL, options(nomem, nostack)) }
}

/// Sleeps until something asks; not at all if something does.
pub fn sleep() {
    // SAFETY: waits.
    unsafe { asm!("wfi", options(nomem, nostack)) }
}
