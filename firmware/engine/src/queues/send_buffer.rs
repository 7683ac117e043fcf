//! The send buffer of a queue pair of which the card frames nothing: software writes its FPDUs there, and each is one segment.
//!
//! ```text
//!   send buffer, of a power of two bytes: the octet with sequence number s is at s modulo its size
//!
//!        acknowledged,        sent              sent next
//!        its jobs done   (segments, by seq)        (one FPDU)
//!   ─────────────────────┬─────────────────────┬───────────┬───── ...
//!                        oldest segment           SND.NXT     no further than oldest segment + size
//! ```

use weft_layout::{Job, JobKind};
use weft_wire::fpdu;

/// Memory that the card reads a queue pair's segments from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendBuffer {
    /// IOVA.
    pub iova: u64,
    /// Bytes, a power of two.
    pub size: u32,
}

/// The smallest send buffer: a jumbo segment and its predecessor.
const SMALLEST: u32 = 1 << 15;

impl SendBuffer {
    /// Bytes that one of about `wanted` has.
    pub fn size(wanted: u32) -> u32 {
        wanted.clamp(SMALLEST, 1 << 29).next_power_of_two()
    }

    /// The two pieces, of which the second may be empty, that `length` octets from `seq` on lie in.
    pub fn pieces(&self, seq: u32, length: u32) -> [(u64, u32); 2] {
        let at = seq & (self.size - 1);
        let first = length.min(self.size - at);
        [
            (self.iova + u64::from(at), first),
            (self.iova, length - first),
        ]
    }

    /// There is room for `length` octets behind what was sent, up to `next`, where nobody needs what lies before `oldest`.
    pub fn has_room(&self, oldest: u32, next: u32, length: u32) -> bool {
        next.wrapping_sub(oldest).saturating_add(length) <= self.size
    }

    /// The job that sends what lies between two sequence numbers; `tcp` has the rest of it. With `append_crc` the card does not read
    /// the last four octets: it puts the CRC of all before them there.
    pub fn job(&self, flow: u16, (seq, end): (u32, u32), append_crc: bool, tcp: Job) -> Job {
        let mut length = end.wrapping_sub(seq);
        let mut flags = tcp.flags;
        if append_crc {
            length = length.saturating_sub(fpdu::CRC as u32);
            flags |= Job::APPEND_CRC;
        }
        let [(first, first_length), (second, second_length)] = self.pieces(seq, length);
        Job {
            kind: JobKind::Segment.raw(),
            flags,
            flow,
            seq,
            length,
            sge_count: if second_length > 0 { 2 } else { 1 },
            sge0_iova: first,
            sge0_length: first_length,
            sge1_iova: if second_length > 0 { second } else { 0 },
            sge1_length: second_length,
            ..tcp
        }
    }
}
