//! An image that calls everything the engine offers, with a card and a heap that are next to nothing: what is left when it is linked is the
//! engine. `firmware/build-riscv.sh` builds it for riscv32imc, and `firmware/image/measure.py` says how large it is and how much stack each
//! call takes. Nobody runs it; on a host it is empty.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod calls;
#[cfg(target_os = "none")]
mod runtime;

#[cfg(not(target_os = "none"))]
fn main() {}
