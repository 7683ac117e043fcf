//! The bytes of messages between queue pairs inside the host: from memory to memory, one copy.

use std::sync::Arc;

use weft_engine::Carried;

use super::State;
use crate::card::MappedMemory;

/// Bytes copied at a time.
const PART: usize = 4096;

/// Where the bytes of a message are. It keeps their memory.
pub(crate) enum MessageBytes {
    Pieces(Vec<Piece>),
    Inline(Vec<u8>),
}

pub(crate) struct Piece {
    memory: Arc<dyn MappedMemory>,
    offset: usize,
    len: usize,
}

impl State {
    /// Keeps what these pieces are in; `None`: some of it is mapped no more.
    pub(crate) fn keep_pieces(&self, pieces: &[(u64, u32)]) -> Option<MessageBytes> {
        let keep = |(iova, len): &(u64, u32)| {
            let len = *len as usize;
            let (memory, offset) = self.place.memory().keep(*iova, len)?;
            Some(Piece {
                memory,
                offset,
                len,
            })
        };
        let pieces: Option<Vec<_>> = pieces.iter().map(keep).collect();
        pieces.map(MessageBytes::Pieces)
    }

    /// The same of a message.
    pub(crate) fn keep(&self, carried: &Carried) -> Option<MessageBytes> {
        match carried {
            Carried::Inline(bytes) => Some(MessageBytes::Inline(bytes.clone())),
            Carried::Pieces(pieces) => self.keep_pieces(pieces),
        }
    }
}

impl MessageBytes {
    /// Copies from the first byte on, as far as both reach. Into inline bytes nothing is copied.
    pub(crate) fn copy_to(&self, to: &MessageBytes) -> Option<()> {
        let MessageBytes::Pieces(places) = to else {
            return Some(());
        };
        let mut source = Source {
            from: self,
            piece: 0,
            at: 0,
        };
        let mut part = [0; PART];
        for place in places {
            let mut done = 0;
            while done < place.len {
                let wanted = PART.min(place.len - done);
                let count = source.read(&mut part[..wanted])?;
                if count == 0 {
                    return Some(());
                }
                let at = place.offset + done;
                place.memory.memory().write(at, &part[..count]).ok()?;
                done += count;
            }
        }
        Some(())
    }

    /// The first 8 bytes, if they are inline.
    pub(crate) fn immediate(&self) -> Option<u64> {
        match self {
            MessageBytes::Inline(bytes) => bytes.first_chunk().copied().map(u64::from_be_bytes),
            MessageBytes::Pieces(_) => None,
        }
    }
}

/// How far a message was read.
struct Source<'a> {
    from: &'a MessageBytes,
    piece: usize,
    at: usize,
}

impl Source<'_> {
    /// The next bytes, of one piece; 0: that was all.
    fn read(&mut self, to: &mut [u8]) -> Option<usize> {
        let pieces = match self.from {
            MessageBytes::Inline(bytes) => {
                let left = bytes.get(self.at..)?;
                let count = left.len().min(to.len());
                to[..count].copy_from_slice(&left[..count]);
                self.at += count;
                return Some(count);
            }
            MessageBytes::Pieces(pieces) => pieces,
        };
        while let Some(piece) = pieces.get(self.piece) {
            let count = (piece.len - self.at).min(to.len());
            if count > 0 {
                let at = piece.offset + self.at;
                piece.memory.memory().read(at, &mut to[..count]).ok()?;
                self.at += count;
                return Some(count);
            }
            (self.piece, self.at) = (self.piece + 1, 0);
        }
        Some(0)
    }
}
