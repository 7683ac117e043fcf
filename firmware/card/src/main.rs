//! The firmware of the card's control processor.
//!
//! It takes one command after the other from the host, and sleeps in between: nothing here is interrupted, an interrupt only ends the sleep. What
//! ends the firmware (a trap, a panic, a stack that is used up, a loop without a beat) leaves a dump and a log that the host reads in its memory.
//! With the feature `engine` it has the engine, and works for the host by queues in memory: that takes 1 MiB, without it 64 KiB are enough.
//! `firmware/build-riscv.sh` builds both for riscv32imc; on a host it is empty. What the host sees is in `docs/registers.md`, how it works together in
//! `docs/processor.md`.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", feature = "engine"))]
extern crate alloc;

#[cfg(all(target_os = "none", feature = "engine"))]
mod card;
#[cfg(target_os = "none")]
mod commands;
#[cfg(target_os = "none")]
mod debug;
#[cfg(all(target_os = "none", feature = "engine"))]
mod dma;
#[cfg(all(target_os = "none", feature = "engine"))]
mod engine;
#[cfg(all(target_os = "none", feature = "engine"))]
mod heap;
#[cfg(all(target_os = "none", feature = "engine"))]
mod host_memory;
#[cfg(target_os = "none")]
mod info;
#[cfg(target_os = "none")]
mod log;
#[cfg(target_os = "none")]
mod ports;
#[cfg(all(target_os = "none", feature = "engine"))]
mod queues;
#[cfg(target_os = "none")]
mod registers;
#[cfg(all(target_os = "none", feature = "engine"))]
mod rings;
#[cfg(target_os = "none")]
mod start;
#[cfg(target_os = "none")]
mod trap;

/// Goes through what is to be done, for ever.
#[cfg(target_os = "none")]
fn run() -> ! {
    use weft_layout::proc_port;

    #[cfg(feature = "engine")]
    heap::begin();
    log!("weft firmware {} {}", info::VERSION, info::BUILD);
    loop {
        ports::beat();
        let waiting = ports::waiting();
        // Before what they ask for is looked at.
        if waiting.reports {
            ports::read(proc_port::REPORTS);
        }
        let bells = match waiting.bell {
            true => ports::read(proc_port::BELL),
            false => 0,
        };
        if waiting.command {
            commands::take();
        }
        if waiting.alarm {
            commands::alarm();
        }
        #[cfg(feature = "engine")]
        if !waiting.none() {
            engine::turn(bells);
        }
        #[cfg(not(feature = "engine"))]
        let _ = bells;
        if waiting.none() {
            ports::sleep();
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
