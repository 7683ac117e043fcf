//! RDMAP (RFC 5040 §4, RFC 7306).

use crate::bytes::{u32_at, u64_at, Writer};

/// The version's place in the control byte, bits 7:6 = 1.
pub const VERSION: u8 = 0x40;
/// The version's bits.
pub const VERSION_MASK: u8 = 0xc0;

/// Opcodes.
pub mod opcode {
    /// Write.
    pub const WRITE: u8 = 0;
    /// Read Request.
    pub const READ_REQUEST: u8 = 1;
    /// Read Response.
    pub const READ_RESPONSE: u8 = 2;
    /// Send.
    pub const SEND: u8 = 3;
    /// Send with Invalidate.
    pub const SEND_INVALIDATE: u8 = 4;
    /// Send with Solicited Event.
    pub const SEND_SE: u8 = 5;
    /// Send with Solicited Event and Invalidate.
    pub const SEND_SE_INVALIDATE: u8 = 6;
    /// Terminate.
    pub const TERMINATE: u8 = 7;
    /// Immediate Data.
    pub const IMMEDIATE: u8 = 8;
    /// Immediate Data with Solicited Event.
    pub const IMMEDIATE_SE: u8 = 9;
    /// Atomic Request.
    pub const ATOMIC_REQUEST: u8 = 10;
    /// Atomic Response.
    pub const ATOMIC_RESPONSE: u8 = 11;
}

/// Untagged queue numbers.
pub mod queue {
    /// Sends.
    pub const SEND: u32 = 0;
    /// Read Requests.
    pub const READ_REQUEST: u32 = 1;
    /// Terminates.
    pub const TERMINATE: u32 = 2;
    /// Atomic Responses.
    pub const ATOMIC_RESPONSE: u32 = 3;
}

/// Bytes of Immediate Data (RFC 7306 §6.3).
pub const IMMEDIATE: usize = 8;

/// The control byte of an opcode.
pub fn control(opcode: u8) -> u8 {
    VERSION | opcode & 0x0f
}

/// The opcode of a control byte.
pub fn opcode_of(control: u8) -> u8 {
    control & 0x0f
}

/// The name of an opcode.
pub fn opcode_name(opcode: u8) -> &'static str {
    match opcode {
        opcode::WRITE => "Write",
        opcode::READ_REQUEST => "Read Request",
        opcode::READ_RESPONSE => "Read Response",
        opcode::SEND => "Send",
        opcode::SEND_INVALIDATE => "Send with Invalidate",
        opcode::SEND_SE => "Send with SE",
        opcode::SEND_SE_INVALIDATE => "Send with SE and Invalidate",
        opcode::TERMINATE => "Terminate",
        opcode::IMMEDIATE => "Immediate Data",
        opcode::IMMEDIATE_SE => "Immediate Data with SE",
        opcode::ATOMIC_REQUEST => "Atomic Request",
        opcode::ATOMIC_RESPONSE => "Atomic Response",
        _ => "unknown opcode",
    }
}

/// True if an opcode may stand in a tagged segment.
pub fn is_tagged_opcode(opcode: u8) -> bool {
    matches!(opcode, opcode::WRITE | opcode::READ_RESPONSE)
}

/// True if an opcode may stand on an untagged queue.
pub fn is_queue_opcode(qn: u32, opcode: u8) -> bool {
    match qn {
        queue::SEND => matches!(opcode, 3..=6 | 8 | 9),
        queue::READ_REQUEST => matches!(opcode, opcode::READ_REQUEST | opcode::ATOMIC_REQUEST),
        queue::TERMINATE => opcode == opcode::TERMINATE,
        queue::ATOMIC_RESPONSE => opcode == opcode::ATOMIC_RESPONSE,
        _ => false,
    }
}

/// A Read Request's payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRequest {
    /// Where the data goes: STag.
    pub sink_stag: u32,
    /// Tagged offset.
    pub sink_to: u64,
    /// Bytes.
    pub size: u32,
    /// Where the data is: STag.
    pub source_stag: u32,
    /// Tagged offset.
    pub source_to: u64,
}

impl ReadRequest {
    /// Bytes of it.
    pub const SIZE: usize = 28;

    /// Reads the payload of the untagged segment.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(ReadRequest {
            sink_stag: u32_at(payload, 0)?,
            sink_to: u64_at(payload, 4)?,
            size: u32_at(payload, 12)?,
            source_stag: u32_at(payload, 16)?,
            source_to: u64_at(payload, 20)?,
        })
    }

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        Writer::new(&mut bytes)
            .u32(self.sink_stag)
            .u64(self.sink_to)
            .u32(self.size)
            .u32(self.source_stag)
            .u64(self.source_to);
        bytes
    }
}
