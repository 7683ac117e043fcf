//! Where the payload of a job comes from: pieces of host memory, or bytes in the job itself.

use crate::memory::region::IovaRange;

/// Pieces of memory that a job gathers at most.
pub const JOB_PIECES: usize = 4;
/// Bytes that a job holds itself at most.
pub const JOB_INLINE: usize = 64;

/// Where a job's payload comes from: as much as one job can have. A message with more is cut there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// These pieces of host memory, one after the other.
    Gather([IovaRange; JOB_PIECES]),
    /// These bytes.
    Inline([u8; JOB_INLINE]),
}

/// What a job can have of `length` bytes from `offset` on of pieces that lie one after the other, and how many bytes that are.
pub fn gather(pieces: impl Iterator<Item = IovaRange>, offset: u32, length: u32) -> (Data, u32) {
    let mut out = [IovaRange::default(); JOB_PIECES];
    let (mut skip, mut taken, mut used) = (offset, 0, 0);
    for piece in pieces {
        let skipped = skip.min(piece.length);
        skip -= skipped;
        let take = (piece.length - skipped).min(length - taken);
        if take == 0 {
            continue;
        }
        let Some(place) = out.get_mut(used) else {
            break;
        };
        *place = IovaRange {
            iova: piece.iova.wrapping_add(u64::from(skipped)),
            length: take,
        };
        used += 1;
        taken += take;
    }
    (Data::Gather(out), taken)
}

/// The same of bytes.
pub fn copy_out(bytes: &[u8], offset: u32, length: u32) -> (Data, u32) {
    let mut out = [0; JOB_INLINE];
    let from = (offset as usize).min(bytes.len());
    let count = (bytes.len() - from).min(length as usize).min(JOB_INLINE);
    out[..count].copy_from_slice(&bytes[from..from + count]);
    (Data::Inline(out), count as u32)
}

impl Data {
    /// `length` bytes from `offset`.
    pub fn slice(&self, offset: u32, length: u32) -> Data {
        let (data, _) = match self {
            Data::Gather(pieces) => gather(pieces.iter().copied(), offset, length),
            Data::Inline(bytes) => copy_out(bytes, offset, length),
        };
        data
    }
}
