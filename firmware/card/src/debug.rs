//! The debug monitor: where the processor is while a debugger of the host has halted it. `docs/processor.md`.
//!
//! RISC-V's debug mode begins here, at 0x180. The registers go to a record that the host reads and writes by its window to this memory, and come back from
//! there when it says so. Nothing else of the firmware is touched, and no interrupt is taken meanwhile, the watchdog's neither.

use core::arch::global_asm;
use core::sync::atomic::AtomicU32;

use weft_layout::ProcDebug;

/// Words of a [`ProcDebug`].
#[repr(C, align(4))]
struct Debug([AtomicU32; ProcDebug::SIZE / 4]);

#[no_mangle]
static debug_record: Debug = Debug([const { AtomicU32::new(0) }; ProcDebug::SIZE / 4]);

// x1 to x31 from byte 20 on, x5 by way of dscratch0 (0x7b2); dcsr is 0x7b0, dpc 0x7b1.
global_asm!(
    ".section .monitor, \"ax\"",
    ".global debug_monitor",
    "debug_monitor:",
    "csrw 0x7b2, t0",
    "la t0, debug_record",
    "sw x1, 20(t0)",
    "sw x2, 24(t0)",
    "sw x3, 28(t0)",
    "sw x4, 32(t0)",
    "sw x6, 40(t0)",
    "sw x7, 44(t0)",
    "sw x8, 48(t0)",
    "sw x9, 52(t0)",
    "sw x10, 56(t0)",
    "sw x11, 60(t0)",
    "sw x12, 64(t0)",
    "sw x13, 68(t0)",
    "sw x14, 72(t0)",
    "sw x15, 76(t0)",
    "sw x16, 80(t0)",
    "sw x17, 84(t0)",
    "sw x18, 88(t0)",
    "sw x19, 92(t0)",
    "sw x20, 96(t0)",
    "sw x21, 100(t0)",
    "sw x22, 104(t0)",
    "sw x23, 108(t0)",
    "sw x24, 112(t0)",
    "sw x25, 116(t0)",
    "sw x26, 120(t0)",
    "sw x27, 124(t0)",
    "sw x28, 128(t0)",
    "sw x29, 132(t0)",
    "sw x30, 136(t0)",
    "sw x31, 140(t0)",
    "csrr t1, 0x7b2",
    "sw t1, 36(t0)",
    "csrr t1, 0x7b1",
    "sw t1, 8(t0)",
    "csrr t1, 0x7b0",
    "sw t1, 12(t0)",
    "li t1, 1",
    "sw t1, 0(t0)",
    "1: lw t1, 4(t0)",
    "beqz t1, 1b",
    "sw zero, 4(t0)",
    "sw zero, 0(t0)",
    "lw t1, 8(t0)",
    "csrw 0x7b1, t1",
    "lw t1, 12(t0)",
    "csrw 0x7b0, t1",
    "lw x1, 20(t0)",
    "lw x2, 24(t0)",
    "lw x3, 28(t0)",
    "lw x4, 32(t0)",
    "lw x6, 40(t0)",
    "lw x7, 44(t0)",
    "lw x8, 48(t0)",
    "lw x9, 52(t0)",
    "lw x10, 56(t0)",
    "lw x11, 60(t0)",
    "lw x12, 64(t0)",
    "lw x13, 68(t0)",
    "lw x14, 72(t0)",
    "lw x15, 76(t0)",
    "lw x16, 80(t0)",
    "lw x17, 84(t0)",
    "lw x18, 88(t0)",
    "lw x19, 92(t0)",
    "lw x20, 96(t0)",
    "lw x21, 100(t0)",
    "lw x22, 104(t0)",
    "lw x23, 108(t0)",
    "lw x24, 112(t0)",
    "lw x25, 116(t0)",
    "lw x26, 120(t0)",
    "lw x27, 124(t0)",
    "lw x28, 128(t0)",
    "lw x29, 132(t0)",
    "lw x30, 136(t0)",
    "lw x31, 140(t0)",
    "lw t0, 36(t0)",
    ".insn 0x7b200073", // dret
);

const _: () = assert!(
    ProcDebug::HALTED_AT == 0
        && ProcDebug::GO_AT == 4
        && ProcDebug::PC_AT == 8
        && ProcDebug::DCSR_AT == 12
        && ProcDebug::RA_AT == 20
        && ProcDebug::T6_AT == 140
);

/// Where the record is.
pub fn at() -> u32 {
    &raw const debug_record as u32
}
