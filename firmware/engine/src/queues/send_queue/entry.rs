//! Work in the queue: an entry of the index, and its words.

use alloc::vec::Vec;

use weft_layout::WqeOpcode;
use weft_queues::{Message, Operation};

use super::action::{operand_count, Action, MAX_OPERANDS};
use crate::interface::verbs::{Access, Sge, Status, MAX_INLINE};
use crate::memory::job_data::{copy_out, gather, Data};
use crate::memory::region::IovaRange;

/// A piece of a region that a work request names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// Its STag.
    pub stag: u32,
    /// Bytes; never 0 in a list.
    pub length: u32,
    /// Its TO; of a Send or Write that has begun its IOVA.
    pub at: u64,
}

/// What a work request carries, as it is posted.
#[derive(Clone, Copy, Debug)]
pub enum WorkPayload<'a> {
    /// These pieces; those without length are left out.
    Sges(&'a [Sge]),
    /// These bytes.
    Inline(&'a [u8]),
    /// These 8 bytes, most significant first.
    Value(u64),
}

/// Work to be posted. Its checks are done.
#[derive(Clone, Copy, Debug)]
pub struct NewWork<'a> {
    /// The application's number.
    pub id: u64,
    /// What to do.
    pub action: Action,
    /// With what.
    pub carried: WorkPayload<'a>,
    /// Bytes of the message.
    pub length: u32,
    /// Complete on success too.
    pub signalled: bool,
    /// Wait for earlier Reads.
    pub fence: bool,
    /// It has failed already: this is how it ends.
    pub outcome: Option<Status>,
}

/// An entry of the index.
#[derive(Clone, Copy, Debug)]
pub struct SendEntry {
    /// The application's number.
    pub id: u64,
    /// Its first word.
    pub(super) at: u32,
    /// Bytes of the message.
    pub length: u32,
    /// Bytes sent (Send, Write).
    pub sent: u32,
    /// What it is.
    pub opcode: WqeOpcode,
    /// A Send's opcode on the wire.
    pub(super) wire: u8,
    /// Its pieces of memory.
    pub(super) pieces: u8,
    /// Read Requests sent.
    pub requested: u8,
    /// Read Responses still missing.
    pub missing: u8,
    /// How it ended.
    pub outcome: Option<Status>,
    /// Complete on success too.
    pub signalled: bool,
    /// Wait for earlier Reads.
    pub fence: bool,
    /// It was issued: its memory was found, and stays what it is.
    pub begun: bool,
    /// Its payload are bytes.
    pub(super) inline: bool,
    /// The STags of its operands are counted.
    pub(super) named: [bool; 2],
}

/// The rights of these bits.
pub fn rights(bits: u8) -> Access {
    Access::from_bits(bits).unwrap_or(Access::NONE)
}

const _: () = assert!(size_of::<SendEntry>() <= 32);

impl SendEntry {
    pub(super) const NONE: SendEntry = SendEntry {
        id: 0,
        at: 0,
        length: 0,
        sent: 0,
        opcode: WqeOpcode::Send,
        wire: 0,
        pieces: 0,
        requested: 0,
        missing: 0,
        outcome: None,
        signalled: false,
        fence: false,
        begun: false,
        inline: false,
        named: [false; 2],
    };

    /// It takes a place among the Reads in flight (ORD).
    pub fn is_read(&self) -> bool {
        Operation::of(self.opcode).is_request()
    }

    /// Its bytes are a message's.
    pub fn is_message(&self) -> bool {
        let message = Operation::of(self.opcode).message;
        matches!(message, Message::Untagged(_) | Message::Tagged)
    }

    /// The right that its pieces need.
    pub fn needs(&self) -> Access {
        rights(Operation::of(self.opcode).needs)
    }

    /// Its first piece's word.
    pub(super) fn payload_at(&self) -> u32 {
        self.at.wrapping_add(operand_count(self.opcode))
    }
}

/// An entry, and its words.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    pub(super) entry: &'a SendEntry,
    pub(super) words: &'a [u64],
}

impl core::ops::Deref for Work<'_> {
    type Target = SendEntry;
    fn deref(&self) -> &SendEntry {
        self.entry
    }
}

impl Work<'_> {
    #[inline]
    fn word(&self, at: u32) -> u64 {
        self.words[at as usize & (self.words.len() - 1)]
    }

    /// What it does.
    pub fn action(&self) -> Action {
        let mut operands = [0; MAX_OPERANDS];
        for (place, at) in operands.iter_mut().zip(0..operand_count(self.opcode)) {
            *place = self.word(self.at.wrapping_add(at));
        }
        Action::put_together(self.opcode, self.wire, operands)
    }

    /// STag and TO of a Write.
    fn target(&self) -> (u32, u64) {
        (
            self.word(self.at) as u32,
            self.word(self.at.wrapping_add(1)),
        )
    }

    #[inline]
    fn piece(&self, number: u8) -> Local {
        let at = self.payload_at().wrapping_add(2 * u32::from(number));
        let rest = self.word(at.wrapping_add(1));
        Local {
            stag: (rest >> 32) as u32,
            length: rest as u32,
            at: self.word(at),
        }
    }

    /// Its pieces of memory.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Local> + '_ {
        (0..self.pieces).map(|number| self.piece(number))
    }

    /// STag and TO of a Write of one piece, and that piece.
    #[inline]
    pub fn one_piece_write(&self) -> Option<(u32, u64, Local)> {
        if self.opcode != WqeOpcode::Write || self.pieces != 1 {
            return None;
        }
        let at = self.at as usize & (self.words.len() - 1);
        if let Some(&[target, to, at, rest]) = self.words.get(at..at + 4) {
            let (stag, length) = ((rest >> 32) as u32, rest as u32);
            return Some((target as u32, to, Local { stag, length, at }));
        }
        // Over the end of the ring.
        let (stag, to) = self.target();
        Some((stag, to, self.piece(0)))
    }

    /// Its bytes, if it has some of its own.
    pub fn inline(&self) -> Option<Vec<u8>> {
        let bytes = || {
            let words = self.length.div_ceil(8);
            let words = (0..words).map(|word| self.word(self.payload_at().wrapping_add(word)));
            let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            bytes.truncate(self.length as usize);
            bytes
        };
        self.inline.then(bytes)
    }

    /// What one job can have of what is not sent, and how many bytes that are.
    pub fn rest(&self) -> (Data, u32) {
        let (offset, length) = (self.sent, self.length - self.sent);
        if !self.inline {
            let piece = |local: Local| IovaRange {
                iova: local.at,
                length: local.length,
            };
            return gather(self.pieces().map(piece), offset, length);
        }
        let mut bytes = [0; MAX_INLINE];
        let first = self.payload_at();
        for (word, place) in bytes.chunks_exact_mut(8).enumerate() {
            if word as u32 * 8 < self.length {
                let word = self.word(first.wrapping_add(word as u32));
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        copy_out(&bytes[..self.length as usize], offset, length)
    }

    /// Where the Read Response goes that is asked for next; `None`: all were asked for. A Read of no bytes has one that is nowhere.
    pub fn next_sink(&self) -> Option<Local> {
        let none = (self.pieces == 0 && self.requested == 0).then(Local::default);
        let next = self.requested < self.pieces;
        next.then(|| self.piece(self.requested)).or(none)
    }

    /// Bytes that were asked for.
    pub fn requested_bytes(&self) -> u64 {
        let asked = self.pieces().take(usize::from(self.requested));
        asked.map(|piece| u64::from(piece.length)).sum()
    }
}
