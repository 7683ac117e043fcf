//! Whose sender waits for an acknowledgment, as the control octets of an FPDU tell it.

use weft_wire::ddp::{self, DdpHeader};
use weft_wire::rdmap::{control, is_queue_opcode, opcode, opcode_of, queue};

use crate::card::port::Port;
use crate::connection::link::Link;
use crate::connection::owed::Ended;
use crate::interface::config::EngineConfig;

/// What this FPDU ends, as far as it is acknowledged promptly.
#[inline]
pub fn ended(config: &EngineConfig, ddp_control: u8, rdmap_control: u8) -> Ended {
    if !config.prompt_ack || ddp_control & ddp::LAST == 0 {
        Ended::Nothing
    } else if is_write(ddp_control, rdmap_control) {
        Ended::Write
    } else if ddp_control & ddp::TAGGED == 0
        && is_queue_opcode(queue::SEND, opcode_of(rdmap_control))
    {
        Ended::Send
    } else {
        Ended::Nothing
    }
}

/// An FPDU of a Write: where it was placed nothing follows but, at its end, an acknowledgment.
#[inline]
pub fn is_write(ddp_control: u8, rdmap_control: u8) -> bool {
    ddp_control & ddp::TAGGED != 0 && rdmap_control == control(opcode::WRITE)
}

impl<P: Port> Link<'_, P> {
    /// This FPDU was placed: the acknowledgment hears what it ends.
    pub fn ends(&mut self, header: &DdpHeader) {
        let ended = ended(&self.shared.config, header.control, header.rdmap_control);
        self.conn.ack.ends(ended);
    }
}
