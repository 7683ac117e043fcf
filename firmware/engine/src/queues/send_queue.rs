//! The send queue: an index of a few bytes an entry, over the words of what was posted.
//!
//! ```text
//!   index   completed .. started    in flight        started .. posted    wait to be issued
//!              │                                        │
//!   words   operands │ pieces: TO, length and STag │ operands │ inline bytes │ ..          (a ring)
//! ```
//! A piece's TO becomes its IOVA when a Send or Write is issued. An entry's words are free when it is completed.

mod action;

use alloc::vec;
use alloc::vec::Vec;

use weft_layout::WqeOpcode;
use weft_queues::{Message, Operation};

use crate::interface::error::Error;
use crate::interface::verbs::{Access, PdId, Sge, Status, MAX_INLINE, MAX_SGE};
use crate::memory::job_data::{copy_out, gather, Data};
use crate::memory::region::{IovaRange, Regions};
use action::operand_count;
pub use action::Action;
pub(crate) use action::MAX_OPERANDS;

/// Words for inline bytes beside an entry's pieces, on average.
const SPARE: usize = 6;
/// Words of the largest entry, rounded up.
const LARGEST: usize = (MAX_OPERANDS + MAX_INLINE / 8).next_power_of_two();

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
    at: u32,
    /// Bytes of the message.
    pub length: u32,
    /// Bytes sent (Send, Write).
    pub sent: u32,
    /// What it is.
    pub opcode: WqeOpcode,
    /// A Send's opcode on the wire.
    wire: u8,
    /// Its pieces of memory.
    pieces: u8,
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
    inline: bool,
    /// The STags of its operands are counted.
    named: [bool; 2],
}

/// The rights of these bits.
pub fn rights(bits: u8) -> Access {
    Access::from_bits(bits).unwrap_or(Access::NONE)
}

const _: () = assert!(size_of::<SendEntry>() <= 32);

impl SendEntry {
    const NONE: SendEntry = SendEntry {
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
    fn payload_at(&self) -> u32 {
        self.at.wrapping_add(operand_count(self.opcode))
    }
}

/// An entry, and its words.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    entry: &'a SendEntry,
    words: &'a [u64],
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

/// The send queue. The numbers only grow.
#[derive(Debug)]
pub struct SendQueue {
    index: Vec<SendEntry>,
    depth: u32,
    words: Vec<u64>,
    /// Behind the last word that is used.
    end: u32,
    /// Entries whose completion is done.
    pub completed: u32,
    /// First entry not wholly sent.
    pub started: u32,
    /// Entries posted.
    pub posted: u32,
    /// Entries from here on are not sent any more (orderly close).
    pub limit: Option<u32>,
}

impl SendQueue {
    /// Words of a queue of so many entries of so many pieces.
    pub fn words(depth: u32, pieces: u8) -> usize {
        let room = depth as usize * (2 * usize::from(pieces) + SPARE);
        room.next_power_of_two().max(LARGEST)
    }

    /// Room for so many entries of so many pieces.
    pub fn new(depth: u32, pieces: u8) -> Self {
        SendQueue {
            index: vec![SendEntry::NONE; depth.next_power_of_two() as usize],
            depth,
            words: vec![0; Self::words(depth, pieces)],
            end: 0,
            completed: 0,
            started: 0,
            posted: 0,
            limit: None,
        }
    }

    fn index(&self, number: u32) -> usize {
        number as usize & (self.index.len() - 1)
    }

    /// No room for one more.
    pub fn is_full(&self) -> bool {
        self.posted.wrapping_sub(self.completed) >= self.depth
    }

    /// Nothing is left to send.
    pub fn is_drained(&self) -> bool {
        self.started == self.limit.unwrap_or(self.posted)
    }

    /// Words that are free.
    fn room(&self) -> usize {
        let oldest = match self.completed == self.posted {
            true => self.end,
            false => self.index[self.index(self.completed)].at,
        };
        self.words.len() - self.end.wrapping_sub(oldest) as usize
    }

    fn put(&mut self, word: u64) {
        let at = self.end as usize & (self.words.len() - 1);
        self.words[at] = word;
        self.end = self.end.wrapping_add(1);
    }

    /// Appends work of a queue pair of this domain: what it names stays registered. `Error::QueueFull`: there is no place for it, or none for its bytes.
    pub fn push(
        &mut self,
        work: &NewWork<'_>,
        pd: PdId,
        regions: &mut Regions,
    ) -> Result<(), Error> {
        let (opcode, wire, operands) = work.action.take_apart();
        let operand_count = operand_count(opcode) as usize;
        let payload = match work.carried {
            WorkPayload::Sges(sges) => 2 * sges.len(),
            WorkPayload::Inline(bytes) => bytes.len().div_ceil(8),
            WorkPayload::Value(_) => 1,
        };
        if self.is_full() || operand_count + payload > self.room() {
            return Err(Error::QueueFull);
        }
        let mut entry = SendEntry {
            id: work.id,
            at: self.end,
            length: work.length,
            opcode,
            wire,
            outcome: work.outcome,
            signalled: work.signalled,
            fence: work.fence,
            ..SendEntry::NONE
        };
        for word in operands.into_iter().take(operand_count) {
            self.put(word);
        }
        match work.carried {
            WorkPayload::Sges(sges) => {
                for sge in sges.iter().filter(|sge| sge.length > 0) {
                    regions.post(sge.stag);
                    self.put(sge.to);
                    self.put(u64::from(sge.length) | u64::from(sge.stag) << 32);
                    entry.pieces += 1;
                }
            }
            WorkPayload::Inline(bytes) => {
                entry.inline = true;
                for bytes in bytes.chunks(8) {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    self.put(u64::from_le_bytes(word));
                }
            }
            WorkPayload::Value(value) => {
                entry.inline = true;
                self.put(value.swap_bytes());
            }
        }
        let counted = |stag: Option<u32>| stag.is_some_and(|stag| regions.post_if_of(pd, stag));
        entry.named = work.action.names().map(counted);
        let at = self.index(self.posted);
        self.index[at] = entry;
        self.posted = self.posted.wrapping_add(1);
        Ok(())
    }

    /// An entry that is not completed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut SendEntry> {
        let ahead = number.wrapping_sub(self.completed);
        let at = self.index(number);
        (ahead < self.posted.wrapping_sub(self.completed)).then(|| &mut self.index[at])
    }

    /// The same with its words.
    pub fn work(&self, number: u32) -> Option<Work<'_>> {
        let ahead = number.wrapping_sub(self.completed);
        let work = || Work {
            entry: &self.index[self.index(number)],
            words: &self.words,
        };
        (ahead < self.posted.wrapping_sub(self.completed)).then(work)
    }

    /// All that a Read brings was asked for.
    pub fn has_asked_all(&self, number: u32) -> bool {
        self.work(number)
            .is_none_or(|work| work.next_sink().is_none())
    }

    /// The entry to send next, if there is one.
    #[inline]
    pub fn next(&self) -> Option<Work<'_>> {
        let entry = self.next_entry()?;
        let words = &self.words;
        Some(Work { entry, words })
    }

    /// The same without its words.
    #[inline]
    pub fn next_entry(&self) -> Option<&SendEntry> {
        match self.is_drained() {
            true => None,
            false => self.index.get(self.index(self.started)),
        }
    }

    /// The same, to be moved on.
    #[inline]
    pub fn next_mut(&mut self) -> Option<&mut SendEntry> {
        let at = self.index(self.started);
        match self.is_drained() {
            true => None,
            false => self.index.get_mut(at),
        }
    }

    /// Issues the next entry: finds its memory, which stays what it is until it is completed. One that fails keeps nothing.
    pub fn begin_next(&mut self, pd: PdId, regions: &mut Regions) -> Result<(), Error> {
        let Some(work) = self.next() else {
            return Ok(());
        };
        let (needs, first) = (work.needs(), work.payload_at());
        let count = work.pieces().len();
        let mut places = [IovaRange::default(); MAX_SGE];
        for (place, piece) in places.iter_mut().zip(work.pieces()) {
            *place = regions.local(pd, piece.stag, piece.at, piece.length, needs)?;
        }
        work.pieces().for_each(|piece| regions.pin(piece.stag));
        if needs == Access::NONE {
            for (number, place) in places.iter().enumerate().take(count) {
                let at = first.wrapping_add(2 * number as u32) as usize & (self.words.len() - 1);
                self.words[at] = place.iova;
            }
        }
        let at = self.index(self.started);
        self.index[at].begun = true;
        Ok(())
    }

    /// Completes the oldest entry, if it has an outcome: all that it named is free.
    pub fn complete(&mut self, regions: &mut Regions) -> Option<(SendEntry, Status)> {
        let work = self.work(self.completed)?;
        let (entry, status) = (*work, work.outcome?);
        for piece in work.pieces() {
            if entry.begun {
                regions.unpin(piece.stag);
            }
            regions.complete(piece.stag);
        }
        if entry.named != [false; 2] {
            let names = work.action().names().into_iter().zip(entry.named);
            let counted = names.filter_map(|(stag, counted)| stag.filter(|_| counted));
            counted.for_each(|stag| regions.complete(stag));
        }
        self.completed = self.completed.wrapping_add(1);
        Some((entry, status))
    }
}
