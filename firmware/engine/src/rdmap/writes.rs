//! Writes, as the control octets of their FPDUs tell them. The card places them, and they mean nothing more to this side.

use weft_wire::ddp;
use weft_wire::rdmap::{control, opcode};

/// The last segment of a Write.
#[inline]
pub fn ends_write(ddp_control: u8, rdmap_control: u8) -> bool {
    ddp_control & (ddp::TAGGED | ddp::LAST) == ddp::TAGGED | ddp::LAST
        && rdmap_control == control(opcode::WRITE)
}

/// An FPDU of a Write: where it was placed nothing follows but, at its end, an acknowledgment.
#[inline]
pub fn is_write(ddp_control: u8, rdmap_control: u8) -> bool {
    ddp_control & ddp::TAGGED != 0 && rdmap_control == control(opcode::WRITE)
}
