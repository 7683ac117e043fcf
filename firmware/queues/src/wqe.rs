//! WQEs: as they are posted, and as they are found.

use weft_layout::{SendWqe, WqeOpcode};

use crate::memory::Memory;
use crate::operation::Operation;
use crate::BLOCK_WORDS;

/// SGEs of a WQE at most.
pub const MAX_SGE: usize = 16;
/// SGEs of a receive element at most.
pub const MAX_RECV_SGE: usize = 4;
/// Bytes that a WQE holds itself at most.
pub const MAX_INLINE: usize = 256;
/// Blocks of a WQE at most.
pub const MAX_BLOCKS: u32 = 5;
/// SGEs in the first block.
const FIRST_SGES: usize = 2;
/// SGEs in each block behind it.
const BLOCK_SGES: usize = 4;
/// Where payload and SGEs begin in the first block, in words.
const HEADER_WORDS: usize = SendWqe::SGE0_TO_AT / 8;
/// Inline bytes in the first block.
const FIRST_INLINE: usize = 8 * (BLOCK_WORDS - HEADER_WORDS);

/// A piece of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sge {
    /// Tagged offset of its first byte.
    pub to: u64,
    /// Bytes.
    pub length: u32,
    /// STag of the region.
    pub stag: u32,
}

impl Sge {
    /// Its words: TO, then length and STag.
    #[inline]
    pub(crate) fn words(self) -> [u64; 2] {
        [self.to, u64::from(self.length) | u64::from(self.stag) << 32]
    }

    #[inline]
    pub(crate) fn from_words([to, rest]: [u64; 2]) -> Self {
        Sge {
            to,
            length: rest as u32,
            stag: (rest >> 32) as u32,
        }
    }
}

/// Where a message comes from (or, for a Read, goes to).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Registered memory; SGEs beyond [`MAX_SGE`] are left out.
    Sges(&'a [Sge]),
    /// These bytes; those beyond [`MAX_INLINE`] are left out.
    Inline(&'a [u8]),
}

/// A WQE to be posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wqe<'a> {
    /// What to do.
    pub opcode: WqeOpcode,
    /// The bits of [`SendWqe::flags`] but INLINE_PAYLOAD.
    pub flags: u8,
    /// Write, Read: the peer's TO; of what carries a value the value.
    pub to: u64,
    /// Write, Read: the peer's STag; Send: what to invalidate.
    pub stag: u32,
    /// With what.
    pub payload: Payload<'a>,
}

/// Blocks that a WQE with so many SGEs or inline bytes takes.
#[inline]
pub(crate) fn blocks(sges: usize, inline: usize) -> u32 {
    let behind = sges.saturating_sub(FIRST_SGES).div_ceil(BLOCK_SGES);
    let inline_behind = inline
        .saturating_sub(FIRST_INLINE)
        .div_ceil(8 * BLOCK_WORDS);
    1 + behind.max(inline_behind) as u32
}

/// Blocks that a WQE takes in a send queue.
pub fn blocks_of(wqe: &Wqe<'_>) -> u32 {
    match wqe.payload {
        Payload::Sges(sges) => blocks(sges.len().min(MAX_SGE), 0),
        Payload::Inline(bytes) => blocks(0, bytes.len().min(MAX_INLINE)),
    }
}

/// Words of a WQE from its first block on, as they lie in the ring.
pub(crate) struct Place {
    /// The ring's first word.
    pub ring: usize,
    /// Blocks of the ring, less one.
    pub mask: u32,
    /// The WQE's first block.
    pub block: u32,
}

impl Place {
    /// Where a word is in the memory.
    #[inline(always)]
    fn at(&self, word: usize) -> usize {
        let block = self.block.wrapping_add((word / BLOCK_WORDS) as u32) & self.mask;
        self.ring + block as usize * BLOCK_WORDS + word % BLOCK_WORDS
    }

    /// Writes a WQE; its blocks, 0: there is no such memory.
    #[inline(always)]
    pub fn put<M: Memory + ?Sized>(&self, memory: &M, wqe: &Wqe<'_>) -> u32 {
        match wqe.payload {
            Payload::Sges(list) => self.put_list(memory, wqe, &list[..list.len().min(MAX_SGE)]),
            Payload::Inline(bytes) => {
                self.put_inline(memory, wqe, &bytes[..bytes.len().min(MAX_INLINE)])
            }
        }
    }

    #[inline(always)]
    fn put_list<M: Memory + ?Sized>(&self, memory: &M, wqe: &Wqe<'_>, list: &[Sge]) -> u32 {
        let blocks = blocks(list.len(), 0);
        let Some(first) = self.block(memory, 0) else {
            return 0;
        };
        let header = SendWqe {
            sge_count: list.len() as u8,
            ..SendWqe::default()
        };
        put_header(first, wqe, blocks, header);
        for (index, sge) in list.iter().take(FIRST_SGES).enumerate() {
            put_sge(first, HEADER_WORDS + 2 * index, *sge);
        }
        if let Some((_, behind)) = list.split_at_checked(FIRST_SGES) {
            if !behind.is_empty() {
                self.put_list_behind(memory, behind);
            }
        }
        blocks
    }

    #[inline(always)]
    fn put_inline<M: Memory + ?Sized>(&self, memory: &M, wqe: &Wqe<'_>, bytes: &[u8]) -> u32 {
        let blocks = blocks(0, bytes.len());
        let Some(first) = self.block(memory, 0) else {
            return 0;
        };
        let header = SendWqe {
            length: bytes.len() as u32,
            ..SendWqe::default()
        };
        put_header(first, wqe, blocks, header.with_inline_payload(true));
        match bytes.split_at_checked(FIRST_INLINE) {
            Some((here, behind)) => {
                put_bytes(first, HEADER_WORDS, here);
                if !behind.is_empty() {
                    self.put_inline_behind(memory, behind);
                }
            }
            None => put_bytes(first, HEADER_WORDS, bytes),
        }
        blocks
    }

    /// One of the WQE's blocks.
    #[inline(always)]
    fn block<'m, M: Memory + ?Sized>(&self, memory: &'m M, number: usize) -> Option<&'m M> {
        memory.part(self.at(number * BLOCK_WORDS), BLOCK_WORDS)
    }

    /// The SGEs that have no place in the first block.
    #[inline(never)]
    fn put_list_behind<M: Memory + ?Sized>(&self, memory: &M, sges: &[Sge]) {
        for (number, sges) in sges.chunks(BLOCK_SGES).enumerate() {
            let Some(block) = self.block(memory, 1 + number) else {
                return;
            };
            for (index, sge) in sges.iter().enumerate() {
                put_sge(block, 2 * index, *sge);
            }
        }
    }

    /// The same of inline bytes.
    #[inline(never)]
    fn put_inline_behind<M: Memory + ?Sized>(&self, memory: &M, bytes: &[u8]) {
        for (number, bytes) in bytes.chunks(8 * BLOCK_WORDS).enumerate() {
            let Some(block) = self.block(memory, 1 + number) else {
                return;
            };
            put_bytes(block, 0, bytes);
        }
    }

    /// Reads a WQE; `posted`: blocks from here on that are posted. Each word is read once: what the poster does to it
    /// afterwards changes nothing.
    pub fn take<M: Memory + ?Sized>(&self, memory: &M, posted: u32) -> Result<Taken, BadWqe> {
        let mut header = [0; SendWqe::SIZE];
        for (word, bytes) in header.chunks_exact_mut(8).take(HEADER_WORDS).enumerate() {
            bytes.copy_from_slice(&memory.load(self.at(word)).to_le_bytes());
        }
        let wqe = SendWqe::from_bytes(&header);
        let opcode = wqe.opcode().map_err(|_| BadWqe::Opcode(wqe.opcode))?;
        let (sges, inline) = (usize::from(wqe.sge_count), wqe.length as usize);
        let is_inline = wqe.inline_payload();
        if sges > MAX_SGE || is_inline && sges > 0 {
            return Err(BadWqe::Sges(wqe.sge_count));
        }
        if inline > MAX_INLINE || !is_inline && inline > 0 {
            return Err(BadWqe::Length(wqe.length));
        }
        let blocks = blocks(sges, inline);
        if blocks != u32::from(wqe.blocks) || blocks > posted {
            return Err(BadWqe::Blocks(wqe.blocks));
        }
        let mut taken = Taken {
            opcode,
            flags: wqe.flags,
            to: wqe.to,
            stag: wqe.stag,
            blocks,
            sges: [Sge::default(); MAX_SGE],
            sge_count: sges,
            inline: [0; MAX_INLINE],
            inline_length: is_inline.then_some(inline),
        };
        for (index, sge) in taken.sges[..sges].iter_mut().enumerate() {
            let at = HEADER_WORDS + 2 * index;
            *sge = Sge::from_words([memory.load(self.at(at)), memory.load(self.at(at + 1))]);
        }
        for (index, bytes) in taken.inline[..inline].chunks_mut(8).enumerate() {
            let word = memory.load(self.at(HEADER_WORDS + index)).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        Ok(taken)
    }
}

/// Writes an SGE.
#[inline(always)]
pub(crate) fn put_sge<M: Memory + ?Sized>(memory: &M, at: usize, sge: Sge) {
    let [to, rest] = sge.words();
    memory.store(at, to);
    memory.store(at + 1, rest);
}

/// Writes the header of a WQE of so many blocks; `header` says what is in it.
#[inline(always)]
fn put_header<M: Memory + ?Sized>(first: &M, wqe: &Wqe<'_>, blocks: u32, header: SendWqe) {
    let header = SendWqe {
        opcode: wqe.opcode as u8,
        flags: wqe.flags & !SendWqe::INLINE_PAYLOAD | header.flags,
        blocks: blocks as u8,
        to: wqe.to,
        stag: wqe.stag,
        ..header
    }
    .to_bytes();
    for (word, bytes) in header.chunks_exact(8).take(HEADER_WORDS).enumerate() {
        first.store(word, le(bytes));
    }
}

/// Words that are written without a look at each.
const GROUP: usize = 4;

/// Writes bytes as words.
#[inline(always)]
fn put_bytes<M: Memory + ?Sized>(memory: &M, at: usize, bytes: &[u8]) {
    let groups = bytes.chunks_exact(8 * GROUP);
    let rest = groups.remainder();
    let behind = at + (bytes.len() - rest.len()) / 8;
    for (number, group) in groups.enumerate() {
        let Some(place) = memory.part(at + GROUP * number, GROUP) else {
            return;
        };
        for (index, word) in group.chunks_exact(8).enumerate() {
            place.store(index, le(word));
        }
    }
    for (index, word) in rest.chunks(8).enumerate() {
        memory.store(behind + index, le(word));
    }
}

/// Up to 8 bytes as a word.
#[inline]
fn le(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// A WQE as it was found, checked for its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What to do.
    pub opcode: WqeOpcode,
    flags: u8,
    /// Write, Read: the peer's TO; of what carries a value the value.
    pub to: u64,
    /// Write, Read: the peer's STag; Send: what to invalidate.
    pub stag: u32,
    /// Blocks that it takes.
    pub blocks: u32,
    sges: [Sge; MAX_SGE],
    sge_count: usize,
    inline: [u8; MAX_INLINE],
    inline_length: Option<usize>,
}

impl Taken {
    /// What its opcode is.
    #[inline]
    pub fn operation(&self) -> &'static Operation {
        Operation::of(self.opcode)
    }

    /// It has a flag that its opcode may not have.
    pub fn has_misplaced_flags(&self) -> bool {
        let checked = SendWqe::SOLICITED | SendWqe::INVALIDATE;
        self.flags & checked & !self.operation().flags != 0
    }

    /// A flag, as [`SendWqe::SIGNALED`] and the others.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// With what.
    pub fn payload(&self) -> Payload<'_> {
        match self.inline_length {
            Some(length) => Payload::Inline(&self.inline[..length]),
            None => Payload::Sges(&self.sges[..self.sge_count]),
        }
    }
}

/// Why a WQE cannot be understood. Where the next one begins is not known: nothing more can be taken from this queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadWqe {
    /// No such opcode.
    Opcode(u8),
    /// More SGEs than there can be, or SGEs and inline payload.
    Sges(u8),
    /// More inline bytes than there can be, or some without the flag.
    Length(u32),
    /// Not the blocks that its content takes, or more than were posted.
    Blocks(u8),
}

impl core::fmt::Display for BadWqe {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            BadWqe::Opcode(opcode) => write!(f, "WQE of opcode {opcode}"),
            BadWqe::Sges(count) => write!(
                f,
                "WQE of {count} SGEs: at most {MAX_SGE}, none if it is inline"
            ),
            BadWqe::Length(length) => {
                write!(
                    f,
                    "WQE of {length} bytes inline: at most {MAX_INLINE}, none without the flag"
                )
            }
            BadWqe::Blocks(blocks) => {
                write!(
                    f,
                    "WQE of {blocks} blocks: not what its content takes, or not all posted"
                )
            }
        }
    }
}

impl core::error::Error for BadWqe {}
