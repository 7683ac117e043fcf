//! The card's control processor with its firmware, in RTL: what the tests have in common.
//!
//! It is compiled only where `WEFT_IBEX` says where the core's sources are (`make processor`); elsewhere there is nothing here.

#[cfg(ibex)]
rtl_sim::include_model!("control_processor_128");
#[cfg(ibex)]
rtl_sim::include_model!("control_processor_512");
#[cfg(ibex)]
rtl_sim::include_model!("control_processor_128_slow");
#[cfg(ibex)]
rtl_sim::include_model!("control_processor_512_slow");

#[cfg(ibex)]
mod card;
#[cfg(ibex)]
pub mod connection;
#[cfg(ibex)]
pub use card::{Card128, Card128Slow, Card512, Card512Slow, Host, HOST, HOST_BYTES};

/// The firmware that `WEFT_FIRMWARE` names, as the build made it.
#[cfg(ibex)]
pub fn firmware() -> weft_hostdrv::processor::Image {
    // Environment (tests): `WEFT_FIRMWARE`: tests of the control processor: its firmware, as `firmware/build-riscv.sh card` makes it. Without it:
    // `make processor` sets it.
    image("WEFT_FIRMWARE")
}

/// The one with the engine, which `WEFT_FIRMWARE_ENGINE` names.
#[cfg(ibex)]
pub fn firmware_with_engine() -> weft_hostdrv::processor::Image {
    image("WEFT_FIRMWARE_ENGINE")
}

/// The functions of the first.
#[cfg(ibex)]
pub fn functions() -> weft_debug::Symbols {
    symbols("WEFT_FIRMWARE")
}

/// The functions of the one with the engine.
#[cfg(ibex)]
pub fn functions_with_engine() -> weft_debug::Symbols {
    symbols("WEFT_FIRMWARE_ENGINE")
}

#[cfg(ibex)]
fn image(variable: &str) -> weft_hostdrv::processor::Image {
    weft_hostdrv::processor::Image::parse(&file(variable)).expect("a firmware")
}

#[cfg(ibex)]
fn symbols(variable: &str) -> weft_debug::Symbols {
    weft_debug::Symbols::parse(&file(variable)).expect("a firmware")
}

#[cfg(ibex)]
fn file(variable: &str) -> Vec<u8> {
    let path = std::env::var_os(variable)
        .unwrap_or_else(|| panic!("{variable} names a firmware: `make processor` sets it"));
    std::fs::read(&path).expect("the firmware can be read")
}
