//! The firmware of the card's control processor.
//!
//! It takes one command after the other from the host, and sleeps in between: nothing here is interrupted, an interrupt only ends the sleep. What
//! ends the firmware (a trap, a panic, a stack that is used up, a loop without a beat) leaves a dump and a log that the host reads in its memory.
//! `firmware/build-riscv.sh` builds it for riscv32imc; on a host it is empty. What the host sees is in `docs/registers.md`, how it works together in
//! `docs/processor.md`.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod commands;
#[cfg(target_os = "none")]
mod info;
#[cfg(target_os = "none")]
mod log;
#[cfg(target_os = "none")]
mod ports;
#[cfg(target_os = "none")]
mod start;
#[cfg(target_os = "none")]
mod trap;

/// Goes through what is to be done, for ever.
#[cfg(target_os = "none")]
fn run() -> ! {
    log!("weft firmware {} {}", info::VERSION, info::BUILD);
    let mut beats = 0_u32;
    loop {
        beats = beats.wrapping_add(1);
        ports::write(weft_layout::proc_port::BEAT, beats);
        match ports::waiting() {
            waiting if waiting.command => commands::take(),
            waiting if waiting.alarm => commands::alarm(),
            _ => ports::sleep(),
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
