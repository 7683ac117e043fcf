//! What the host asks for.

use core::arch::asm;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use weft_layout::{proc_command, proc_crash, proc_port, ProcCopy, ProcInfo, StagRow};

use crate::{info, log, ports, registers};

/// Most bytes of a copy.
const COPY_BYTES: u32 = 1024;

#[repr(C, align(4))]
struct Words<const N: usize>([AtomicU32; N]);

/// A [`ProcCopy`], which the host writes.
static COPY: Words<{ ProcCopy::SIZE / 4 }> =
    Words([const { AtomicU32::new(0) }; ProcCopy::SIZE / 4]);

/// A word more, for a copy that begins in the middle of one.
static BUFFER: Words<{ COPY_BYTES as usize / 4 + 1 }> =
    Words([const { AtomicU32::new(0) }; COPY_BYTES as usize / 4 + 1]);

/// Where the [`ProcCopy`] is.
pub fn copy_at() -> u32 {
    &raw const COPY as u32
}

/// Takes the command that waits.
pub fn take() {
    let command = ports::read(proc_port::COMMAND);
    info::count(ProcInfo::COMMANDS_AT);
    info::set_last_command(command);
    let argument = command >> 8;
    match command as u8 {
        proc_command::PING => ports::write(proc_port::ANSWER, argument + 1),
        proc_command::COPY => ports::write(proc_port::ANSWER, u32::from(copy(argument).is_err())),
        proc_command::CRASH => crash(argument as u8),
        proc_command::ALARM => {
            ports::write(proc_port::ALARM, argument);
            ports::write(proc_port::ANSWER, 0);
        }
        proc_command::TABLES => ports::write(proc_port::ANSWER, tables(argument)),
        proc_command::RAISE => {
            ports::write(proc_port::INTERRUPT, 0);
            ports::write(proc_port::ANSWER, 0);
        }
        proc_command::ENGINE => ports::write(proc_port::ANSWER, engine()),
        proc_command::QUEUES => ports::write(proc_port::ANSWER, queues()),
        other => log!("command {other:#x} is not known"),
    }
}

/// The engine takes the card.
#[cfg(feature = "engine")]
fn engine() -> u32 {
    crate::engine::start()
}

#[cfg(feature = "engine")]
fn queues() -> u32 {
    u32::from(crate::engine::add_queues().is_none())
}

#[cfg(not(feature = "engine"))]
fn queues() -> u32 {
    1
}

#[cfg(not(feature = "engine"))]
fn engine() -> u32 {
    weft_layout::proc_started::NO_ENGINE.into()
}

/// Writes a row and reads it back, again and again: how often it was another one.
fn tables(rounds: u32) -> u32 {
    let (table, index) = registers::last_stag();
    let mut wrong = 0;
    let mut state = 0x9e37_79b9_u32;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    for _ in 0..rounds {
        let row = StagRow {
            valid: 0,
            pd: word(),
            base: u64::from(word()) << 32 | u64::from(word()),
            length: u64::from(word()),
            iova: u64::from(word()) << 32 | u64::from(word()),
            ..StagRow::default()
        };
        let row = row.to_bytes();
        let written = registers::write_row(table, index, &row);
        let read = written.and_then(|()| registers::read_row(table, index));
        wrong += u32::from(!matches!(read, Ok(read) if read == row));
    }
    wrong
}

/// The timer went off.
pub fn alarm() {
    ports::write(proc_port::ALARM, 0);
    info::count(ProcInfo::ALARMS_AT);
}

/// A copy that could not be made.
struct CopyError;

/// Copies so many bytes between the places of [`COPY`].
fn copy(bytes: u32) -> Result<(), CopyError> {
    if bytes > COPY_BYTES {
        log!("a copy of {bytes} bytes cannot be had");
        return Err(CopyError);
    }
    let place = |at: usize| {
        (
            COPY.0[at / 4].load(Ordering::Relaxed),
            COPY.0[at / 4 + 1].load(Ordering::Relaxed),
        )
    };
    move_bytes(proc_port::DMA_READ, place(ProcCopy::SOURCE_AT), bytes)?;
    move_bytes(proc_port::DMA_WRITE, place(ProcCopy::DESTINATION_AT), bytes)?;
    info::count(ProcInfo::COPIES_AT);
    Ok(())
}

/// Moves bytes between `BUFFER` and host memory, the way that `port` is for, and waits for the end.
fn move_bytes(port: u8, (low, high): (u32, u32), bytes: u32) -> Result<(), CopyError> {
    ports::write(proc_port::DMA_HOST_LO, low);
    ports::write(proc_port::DMA_HOST_HI, high);
    ports::write(proc_port::DMA_LOCAL, &raw const BUFFER as u32);
    ports::write(port, bytes);
    loop {
        let state = ports::read(proc_port::DMA_READ);
        match (state & 1, state & 2) {
            (0, 0) => return Ok(()),
            (0, _) => {
                log!("host memory at {high:08x}{low:08x} answered in error");
                return Err(CopyError);
            }
            _ => {}
        }
    }
}

/// Ends as the host asks, to see what is told of it. A function of its own in the dump.
#[inline(never)]
fn crash(how: u8) {
    match how {
        proc_crash::ASSERT => assert_ne!(how, proc_crash::ASSERT, "asked for"),
        // SAFETY: a trap, which does not return.
        proc_crash::ILLEGAL => unsafe { asm!(".insn 0xffffffff", options(nostack)) },
        proc_crash::FAULT => {
            // SAFETY: nothing is there: a trap, which does not return.
            unsafe { core::ptr::read_volatile(0x2000_0000 as *const u32) };
        }
        proc_crash::STACK => {
            black_box(deeper(1));
        }
        proc_crash::SPIN => spin(),
        proc_crash::DEAF => {
            // SAFETY: the watchdog's vector becomes a jump to itself. Nothing works after that, which is what was asked for.
            unsafe { core::ptr::write_volatile(0x7c as *mut u32, 0x0000_006f) };
            spin()
        }
        other => log!("a crash of kind {other} is not known"),
    }
}

#[inline(never)]
fn spin() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Calls itself for ever: what comes after the call is needed.
#[inline(never)]
fn deeper(level: u32) -> u32 {
    // On the stack, and by no call of the compiler's.
    let here = level;
    if *black_box(&here) == 0 {
        return 0;
    }
    deeper(level + 1).wrapping_add(*black_box(&here))
}
