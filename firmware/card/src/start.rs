//! From the processor's reset to Rust.

use core::arch::global_asm;

use crate::{info, ports, trap};

// Vectors: exceptions and the watchdog, which cannot be masked; nothing else is ever enabled.
global_asm!(
    ".section .vectors, \"ax\"",
    ".option push",
    ".option norvc",
    ".rept 32",
    "j trap_entry",
    ".endr",
    ".option pop",
    ".section .reset, \"ax\"",
    ".global _start",
    "_start:",
    "la gp, trap_dump",
    "csrw mscratch, gp",
    "la sp, stack_high",
    "la t0, bss_low",
    "la t1, bss_high",
    "1: bgeu t0, t1, 2f",
    "sw zero, 0(t0)",
    "addi t0, t0, 4",
    "j 1b",
    "2: la t0, stack_low",
    "li t1, 0x5a5a5a5a",
    "3: bgeu t0, sp, 4f",
    "sw t1, 0(t0)",
    "addi t0, t0, 4",
    "j 3b",
    "4: j start",
);

extern "C" {
    static stack_low: u8;
    static stack_high: u8;
    static guard: u8;
}

/// The bytes of which no instruction may touch one.
pub const GUARD_BYTES: u32 = 256;

/// Where the guard is.
pub fn guard_at() -> u32 {
    &raw const guard as u32
}

#[no_mangle]
extern "C" fn start() -> ! {
    info::set_places(
        &raw const stack_low as u32,
        &raw const stack_high as u32,
        trap::dump_at(),
    );
    ports::write(weft_layout::proc_port::GUARD, guard_at());
    ports::wake_for_all();
    crate::run()
}
