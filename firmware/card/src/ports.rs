//! The processor's ports and its sleep.

use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicU32, Ordering};

/// Where the ports are.
const PORTS: usize = 0x1000_0000;

/// What was beaten last.
static BEATS: AtomicU32 = AtomicU32::new(0);

/// Bits of mip and mie.
const TIMER: usize = 1 << 7;
const EXTERNAL: usize = 1 << 11;
const REPORTS: usize = 1 << 16;
const BELL: usize = 1 << 17;

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

/// A beat for the watchdog.
pub fn beat() {
    let beats = BEATS.load(Ordering::Relaxed).wrapping_add(1);
    BEATS.store(beats, Ordering::Relaxed);
    write(weft_layout::proc_port::BEAT, beats);
}

/// What asks for the firmware.
pub struct Waiting {
    /// A command of the host.
    pub command: bool,
    /// The timer.
    pub alarm: bool,
    /// The card, by its interrupt.
    pub reports: bool,
    /// The host's bell.
    pub bell: bool,
}

impl Waiting {
    /// Nothing does.
    pub fn none(&self) -> bool {
        !(self.command || self.alarm || self.reports || self.bell)
    }
}

/// What asks for the firmware now.
pub fn waiting() -> Waiting {
    let pending: usize;
    // SAFETY: reads a register.
    unsafe { asm!("csrr {}, mip", out(reg) pending, options(nomem, nostack)) }
    Waiting {
        command: pending & EXTERNAL != 0,
        alarm: pending & TIMER != 0,
        reports: pending & REPORTS != 0,
        bell: pending & BELL != 0,
    }
}

/// Instructions since the start, low half.
#[cfg(feature = "engine")]
pub fn instructions() -> u32 {
    let count: u32;
    // SAFETY: reads a register.
    unsafe { asm!("csrr {}, minstret", out(reg) count, options(nomem, nostack)) }
    count
}

/// What ends a sleep. Interrupts stay disabled: they are looked at, and interrupt nothing.
pub fn wake_for_all() {
    // SAFETY: mie alone, without MIE of mstatus, lets nothing interrupt.
    unsafe {
        asm!("csrw mie, {}", in(reg) TIMER | EXTERNAL | REPORTS | BELL, options(nomem, nostack))
    }
}

/// Sleeps until something asks; not at all if something does.
pub fn sleep() {
    // SAFETY: waits.
    unsafe { asm!("wfi", options(nomem, nostack)) }
}
