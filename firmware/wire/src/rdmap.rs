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

/// What an Atomic Request does (RFC 7306 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Adds. A bit of `mask` ends a field: no carry leaves it. 0: one field of 64 bits.
    FetchAdd {
        /// What is added.
        add: u64,
        /// The most significant bit of each field.
        mask: u64,
    },
    /// Compares some bits, and stores some if they are the same.
    CmpSwap {
        /// What is compared.
        compare: u64,
        /// Which bits of it.
        compare_mask: u64,
        /// What is stored.
        swap: u64,
        /// Which bits of it.
        swap_mask: u64,
    },
}

impl Atomic {
    /// What is there afterwards, if `value` was there.
    pub fn apply(self, value: u64) -> u64 {
        match self {
            Atomic::FetchAdd { add, mask } => {
                // Without the fields' highest bits no carry leaves one; those are added without carry.
                let low = (value & !mask).wrapping_add(add & !mask);
                match mask {
                    0 => low,
                    _ => low ^ (value ^ add) & mask,
                }
            }
            Atomic::CmpSwap {
                compare,
                compare_mask,
                swap,
                swap_mask,
            } => match (compare ^ value) & compare_mask {
                0 => value & !swap_mask | swap & swap_mask,
                _ => value,
            },
        }
    }
}

/// An Atomic Request's payload (RFC 7306 §5.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRequest {
    /// Comes back in the response.
    pub identifier: u32,
    /// Of the 8 bytes: STag.
    pub stag: u32,
    /// Tagged offset.
    pub to: u64,
    /// What to do.
    pub atomic: Atomic,
}

impl AtomicRequest {
    /// Bytes of it.
    pub const SIZE: usize = 52;
    const FETCH_ADD: u32 = 0;
    const CMP_SWAP: u32 = 2;

    /// Reads the payload of the untagged segment; `None`: it is short, or nobody knows the operation.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let word = |at| u64_at(payload, at);
        let (data, mask) = (word(20)?, word(28)?);
        let (compare, compare_mask) = (word(36)?, word(44)?);
        Some(AtomicRequest {
            identifier: u32_at(payload, 4)?,
            stag: u32_at(payload, 8)?,
            to: word(12)?,
            atomic: match u32_at(payload, 0)? & 0xf {
                Self::FETCH_ADD => Atomic::FetchAdd { add: data, mask },
                Self::CMP_SWAP => Atomic::CmpSwap {
                    compare,
                    compare_mask,
                    swap: data,
                    swap_mask: mask,
                },
                _ => return None,
            },
        })
    }

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let (code, data, mask, compare, compare_mask) = match self.atomic {
            Atomic::FetchAdd { add, mask } => (Self::FETCH_ADD, add, mask, 0, u64::MAX),
            Atomic::CmpSwap {
                compare,
                compare_mask,
                swap,
                swap_mask,
            } => (Self::CMP_SWAP, swap, swap_mask, compare, compare_mask),
        };
        let mut bytes = [0; Self::SIZE];
        Writer::new(&mut bytes)
            .u32(code)
            .u32(self.identifier)
            .u32(self.stag)
            .u64(self.to)
            .u64(data)
            .u64(mask)
            .u64(compare)
            .u64(compare_mask);
        bytes
    }
}

/// An Atomic Response's payload (RFC 7306 §5.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicResponse {
    /// Of the request.
    pub identifier: u32,
    /// What was there before.
    pub value: u64,
}

impl AtomicResponse {
    /// Bytes of it.
    pub const SIZE: usize = 12;

    /// Reads the payload of the untagged segment.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(AtomicResponse {
            identifier: u32_at(payload, 0)?,
            value: u64_at(payload, 4)?,
        })
    }

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        Writer::new(&mut bytes).u32(self.identifier).u64(self.value);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pseudocode of RFC 7306 §5.1.1.
    fn masked_add(value: u64, add: u64, mask: u64) -> u64 {
        let (mut carry, mut result) = (0, 0);
        for bit in 0..64 {
            let location = 1u64 << bit;
            let sum = carry + (value >> bit & 1) + (add >> bit & 1);
            carry = sum >> 1 & 1;
            result |= (sum & 1) << bit;
            carry &= u64::from(mask & location == 0);
        }
        result
    }

    #[test]
    fn atomics_are_those_of_the_rfc() {
        let mut random = 7u64;
        let mut next = || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(99);
            random.rotate_left(29)
        };
        for round in 0..10_000 {
            let (value, add) = (next(), next());
            let mask = [0, 1 << 63, 0x8000_8000_8000_8000, u64::MAX, next()][round % 5];
            let added = Atomic::FetchAdd { add, mask }.apply(value);
            assert_eq!(
                added,
                masked_add(value, add, mask),
                "{value:x} {add:x} {mask:x}"
            );
            let compare_mask = next() & next() & next();
            let swap = Atomic::CmpSwap {
                compare: value ^ (next() & !compare_mask),
                compare_mask,
                swap: add,
                swap_mask: mask,
            };
            assert_eq!(swap.apply(value), value & !mask | add & mask);
            let other = value ^ compare_mask;
            let kept = if compare_mask == 0 {
                swap.apply(other)
            } else {
                other
            };
            assert_eq!(swap.apply(other), kept);
        }
    }

    #[test]
    fn atomics_are_read_back() {
        let fetch = Atomic::FetchAdd { add: 1, mask: 2 };
        let swap = Atomic::CmpSwap {
            compare: 3,
            compare_mask: 4,
            swap: 5,
            swap_mask: 6,
        };
        for atomic in [fetch, swap] {
            let request = AtomicRequest {
                identifier: 7,
                stag: 8,
                to: 9,
                atomic,
            };
            let bytes = request.to_bytes();
            assert_eq!(AtomicRequest::parse(&bytes), Some(request));
            assert_eq!(AtomicRequest::parse(&bytes[..51]), None);
            let mut unknown = bytes;
            unknown[3] = 1;
            assert_eq!(AtomicRequest::parse(&unknown), None);
        }
        let response = AtomicResponse {
            identifier: 1,
            value: 2,
        };
        assert_eq!(AtomicResponse::parse(&response.to_bytes()), Some(response));
    }
}
