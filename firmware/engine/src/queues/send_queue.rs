//! The send queue: an index of a few bytes an entry, over the words of what was posted.
//!
//! ```text
//!   index   completed .. started    in flight        started .. posted    wait to be issued
//!              │                                        │
//!   words   operands │ pieces: TO, length and STag │ operands │ inline bytes │ ..          (a ring)
//! ```
//! A piece's TO becomes its IOVA when a Send or Write is issued. An entry's words are free when it is completed.

mod action;
mod entry;

use alloc::vec;
use alloc::vec::Vec;

use crate::interface::error::Error;
use crate::interface::verbs::{Access, PdId, Status, MAX_INLINE, MAX_SGE};
use crate::memory::region::{IovaRange, Regions};
use action::operand_count;
pub use action::Action;
pub(crate) use action::MAX_OPERANDS;
pub use entry::{rights, NewWork, SendEntry, Work, WorkPayload};

/// Words for inline bytes beside an entry's pieces, on average.
const SPARE: usize = 6;
/// Words of the largest entry, rounded up.
const LARGEST: usize = (MAX_OPERANDS + MAX_INLINE / 8).next_power_of_two();

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
