//! Where things lie in the memories: bytes.

/// Doorbells and what else comes before the rings.
pub const TAIL: usize = 0;
pub const TAKEN: usize = 0;
pub const RECV_TAIL: usize = 8;
pub const ARMED: usize = 8;
pub const DOORBELL: usize = 64;

/// A slot of a command ring, of which 512 bytes are private data; behind all of them the answers.
pub const COMMAND: usize = 128;
pub const COMMAND_SLOT: usize = 128 + 512;
pub const ANSWER: usize = 128;
/// A slot of an event ring.
pub const EVENT: usize = 64;
pub const EVENT_SLOT: usize = 64 + 512;
/// A completion queue's entry.
pub const CQE: usize = 32;
/// A queue pair's memory: doorbells, status, the send queue's blocks, the receive queue's elements.
pub const SEND_QUEUE: usize = 128;
pub const BLOCK: usize = 64;

/// The last byte of answers, events and CQEs: 1 on the first pass through the ring, then alternating.
pub fn phase(number: usize, count: usize) -> u8 {
    u8::from(number & count == 0)
}

pub mod command {
    pub const REGISTER: u8 = 3;
    pub const CONNECT: u8 = 11;
    pub const DISCONNECT: u8 = 14;
    pub const QUERY_QP: u8 = 8;
}

pub mod status {
    pub const DONE: u8 = 0;
    pub const MALFORMED: u8 = 1;
    pub const UNKNOWN_QP: u8 = 3;
    pub const UNKNOWN_CONNECTION: u8 = 4;
}

pub mod event {
    pub const ESTABLISHED: u8 = 2;
    pub const DISCONNECTED: u8 = 5;
    /// Why.
    pub const CLOSED: u8 = 1;
}

/// WQEs and CQEs.
pub const WRITE: u8 = 2;
pub const SIGNALED: u8 = 1;

pub fn u32_at(record: &[u8], at: usize) -> u32 {
    record[at..at + 4].try_into().map_or(0, u32::from_le_bytes)
}

pub fn u64_at(record: &[u8], at: usize) -> u64 {
    record[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
}

pub fn put(record: &mut [u8], at: usize, bytes: &[u8]) {
    record[at..at + bytes.len()].copy_from_slice(bytes);
}
