//! What a connection in stream mode has of its own: the ring of bytes that its user has written.

use alloc::vec::Vec;

use crate::interface::cm::Agreed;
use crate::memory::region::{IovaRange, Regions};
use crate::mpa::negotiation::Proposal;
use weft_tcp::seq;

/// What a connection in stream mode has of its own: the bytes that the user has written and the peer has not acknowledged. They
/// lie in a ring in a region of the user's.
#[derive(Debug, Default)]
pub struct ByteStream {
    /// The ring's memory; none before the user has accepted.
    memory: IovaRange,
    /// Its region.
    pub stag: u32,
    /// Where in the ring the oldest byte kept lies.
    head: u32,
    /// Its sequence number.
    front: u32,
    /// Bytes kept.
    kept: u32,
    /// Of these, sent.
    sent: u32,
    /// A small segment does not wait for the acknowledgment of the one before (RFC 9293 §3.7.4).
    pub no_delay: bool,
    /// It stands: what `resume` is to do when the neighbour is known.
    pub adopted: bool,
    /// What follows when everything is acknowledged; nothing more is written or read.
    pub stream_to_mpa: Option<StreamToMpa>,
}

/// How RDMA begins behind the last byte.
#[derive(Clone, Debug)]
pub enum StreamToMpa {
    /// This side sends the request, with these private data.
    Active(Proposal, Vec<u8>),
    /// The peer does.
    Passive,
    /// There is no start-up: this is agreed.
    Past(Agreed),
}

impl ByteStream {
    /// The ring's memory.
    pub fn begin(&mut self, memory: IovaRange, stag: u32) {
        (self.memory, self.stag) = (memory, stag);
    }

    /// The ring is not used any more.
    pub fn end(&self, regions: &mut Regions) {
        if self.memory.length > 0 {
            regions.complete(self.stag);
        }
    }

    /// Written elsewhere, so many bytes lie at the begin of the ring, `front` the first; `sent` of them were sent.
    pub fn resume(&mut self, front: u32, kept: u32, sent: u32) {
        (self.front, self.kept, self.sent, self.adopted) = (front, kept, sent, true);
    }

    /// The stream begins at this sequence number.
    pub fn start_at(&mut self, front: u32) {
        self.front = front;
    }

    /// The sequence number of the oldest byte kept.
    pub fn front(&self) -> u32 {
        self.front
    }

    /// So many more were written, into room that there was.
    pub fn written(&mut self, count: u32) {
        self.kept += count;
    }

    /// So many more of what was written were sent.
    pub fn sent_more(&mut self, count: u32) {
        self.sent += count;
    }

    /// Bytes written and not sent.
    pub fn unsent(&self) -> u32 {
        self.kept - self.sent
    }

    /// Bytes written and not acknowledged, and how many of them were sent.
    pub fn kept(&self) -> (u32, u32) {
        (self.kept, self.sent)
    }

    /// Bytes that the ring has room for.
    pub fn room(&self) -> u32 {
        self.memory.length - self.kept
    }

    /// How far behind the oldest byte kept this one lies, and how many are kept from there on.
    pub fn from(&self, seq: u32) -> (u32, u32) {
        let skip = seq::diff(seq, self.front).clamp(0, self.sent as i32) as u32;
        (skip, self.kept - skip)
    }

    /// The sequence number behind what was sent.
    pub fn sent_end(&self) -> u32 {
        self.front.wrapping_add(self.sent)
    }

    /// Nobody needs what lies before this sequence number.
    pub fn release(&mut self, before: u32) {
        let gone = seq::diff(before, self.front).clamp(0, self.sent as i32) as u32;
        if gone > 0 {
            self.head = self.at(gone);
            self.front = self.front.wrapping_add(gone);
            self.kept -= gone;
            self.sent -= gone;
        }
    }

    /// Where in the ring the byte lies that is so far behind the oldest.
    fn at(&self, offset: u32) -> u32 {
        let at = u64::from(self.head) + u64::from(offset);
        (at % u64::from(self.memory.length.max(1))) as u32
    }

    /// The pieces of memory that `length` bytes lie in, `offset` behind the oldest.
    pub fn pieces(&self, offset: u32, length: u32) -> [IovaRange; 2] {
        let at = self.at(offset);
        let first = length.min(self.memory.length - at);
        [
            IovaRange {
                iova: self.memory.iova.wrapping_add(u64::from(at)),
                length: first,
            },
            IovaRange {
                iova: self.memory.iova,
                length: length - first,
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(length: u32, front: u32) -> ByteStream {
        let iova = 0x1000;
        let mut bytes = ByteStream::default();
        bytes.begin(IovaRange { iova, length }, 1);
        bytes.front = front;
        bytes
    }

    #[test]
    fn a_ring_of_any_size_over_the_end_of_the_sequence_numbers() {
        let mut bytes = ring(100, u32::MAX - 29);
        (bytes.kept, bytes.sent) = (90, 80);
        assert_eq!((bytes.room(), bytes.unsent()), (10, 10));
        bytes.release(10);
        assert_eq!((bytes.front, bytes.head, bytes.kept()), (10, 40, (50, 40)));
        let [first, second] = bytes.pieces(50, 20);
        assert_eq!((first.iova, first.length), (0x1000 + 90, 10));
        assert_eq!((second.iova, second.length), (0x1000, 10));
        // No further than what was sent, and never back.
        bytes.release(5);
        assert_eq!(bytes.front, 10);
        bytes.release(1000);
        assert_eq!((bytes.front, bytes.kept()), (50, (10, 0)));
    }
}
