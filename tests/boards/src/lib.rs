//! What boards need besides the card, under test: the models, reference CRCs, and a whole simulated board behind a pseudo-terminal.

mod board;

rtl_sim::include_model!("serial_host");
rtl_sim::include_model!("serial_uart");
rtl_sim::include_model!("gmii");
rtl_sim::include_model!("serial_board");

pub use board::{Boards, Damage};

/// Polynomial of the Ethernet FCS, reflected.
pub const FCS: u32 = 0xedb8_8320;
/// Polynomial of the serial line's frames, reflected.
pub const CRC32C: u32 = 0x82f6_3b78;

/// A reflected CRC of 32 bits, bit by bit.
pub fn crc32(polynomial: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { polynomial } else { 0 }
        })
    })
}

/// Puts a design in reset with an edge of it, as its registers are random before. It stays in reset.
pub fn enter_reset<M: rtl_sim::Model>(sim: &mut rtl_sim::Sim<M>) {
    for asserted in [false, true] {
        M::set_reset(&mut sim.inputs, asserted);
        sim.settle();
    }
}
