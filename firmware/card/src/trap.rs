//! The end: a dump of the registers, and word to the host.

use core::arch::{asm, global_asm};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use weft_layout::{proc_end, proc_port, ProcDump};

use crate::{info, log, ports, start};

/// RISC-V's causes.
const BREAKPOINT: u32 = 3;
const LOAD_FAULT: u32 = 5;
const STORE_FAULT: u32 = 7;
const INTERRUPT: u32 = 1 << 31;

/// Stack of the handler: the other one may be why it runs.
#[repr(C, align(16))]
struct TrapStack([u8; 1024]);

#[no_mangle]
static mut trap_stack: TrapStack = TrapStack([0; 1024]);

/// Words of a [`ProcDump`], as the host reads them.
#[repr(C, align(4))]
struct Dump([AtomicU32; ProcDump::SIZE / 4]);

#[no_mangle]
static trap_dump: Dump = Dump([const { AtomicU32::new(0) }; ProcDump::SIZE / 4]);

static PANICKED: AtomicBool = AtomicBool::new(false);

// x1 to x31 to the dump, from its byte 20 on; the stack pointer by way of mscratch, which has the dump's address while nothing is wrong.
global_asm!(
    ".section .text",
    ".global trap_entry",
    "trap_entry:",
    "csrrw sp, mscratch, sp",
    "sw x1, 20(sp)",
    "sw x3, 28(sp)",
    "sw x4, 32(sp)",
    "sw x5, 36(sp)",
    "sw x6, 40(sp)",
    "sw x7, 44(sp)",
    "sw x8, 48(sp)",
    "sw x9, 52(sp)",
    "sw x10, 56(sp)",
    "sw x11, 60(sp)",
    "sw x12, 64(sp)",
    "sw x13, 68(sp)",
    "sw x14, 72(sp)",
    "sw x15, 76(sp)",
    "sw x16, 80(sp)",
    "sw x17, 84(sp)",
    "sw x18, 88(sp)",
    "sw x19, 92(sp)",
    "sw x20, 96(sp)",
    "sw x21, 100(sp)",
    "sw x22, 104(sp)",
    "sw x23, 108(sp)",
    "sw x24, 112(sp)",
    "sw x25, 116(sp)",
    "sw x26, 120(sp)",
    "sw x27, 124(sp)",
    "sw x28, 128(sp)",
    "sw x29, 132(sp)",
    "sw x30, 136(sp)",
    "sw x31, 140(sp)",
    "csrr t0, mscratch",
    "sw t0, 24(sp)",
    "csrw mscratch, sp",
    "csrr a0, mcause",
    "csrr a1, mepc",
    "csrr a2, mtval",
    "la sp, trap_stack + 1024",
    "j trap_end",
);

const _: () = assert!(ProcDump::RA_AT == 20 && ProcDump::T6_AT == 140);

/// Where the dump is.
pub fn dump_at() -> u32 {
    &raw const trap_dump as u32
}

#[no_mangle]
extern "C" fn trap_end(mcause: u32, pc: u32, value: u32) -> ! {
    let guard = start::guard_at();
    let stack = guard..guard + start::GUARD_BYTES;
    let cause = match mcause {
        LOAD_FAULT | STORE_FAULT if stack.contains(&value) => u32::from(proc_end::STACK),
        BREAKPOINT if PANICKED.load(Ordering::Relaxed) => u32::from(proc_end::ASSERT),
        cause if cause & INTERRUPT != 0 => u32::from(proc_end::WATCHDOG),
        cause => cause,
    };
    let head = [
        cause,
        pc,
        value,
        ports::read(proc_port::TIME_LO),
        info::last_command(),
    ];
    for (word, value) in trap_dump.0.iter().zip(head) {
        word.store(value, Ordering::Relaxed);
    }
    ports::write(proc_port::END, cause);
    loop {
        core::hint::spin_loop(); // stopped already
    }
}

#[panic_handler]
fn panic(panic: &PanicInfo<'_>) -> ! {
    log!("{panic}");
    PANICKED.store(true, Ordering::Relaxed);
    loop {
        // SAFETY: a trap, which does not return.
        unsafe { asm!("ebreak", options(nomem, nostack)) }
    }
}
