//! Memory of the program's that is a part of what was lent, page by page: runs of pages that overlap have the pages that they share once.
//!
//! A block is a range of the program's addresses that lies in one piece of a lender's, each page where it would lie. A run that lies in one block is reached
//! there; one of several is reached by a range that the lender joins of their parts.

use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use super::arenas::{Arenas, Piece};
use super::CardLender;
use crate::dma::page_size;
use crate::exchange;
use crate::still::Still;

/// Parts of which a lender joins a range at most.
pub const MOST_PARTS: usize = 3;

/// A block has room for neighbours of the pages that it is made for, up to multiples of so many bytes: what else a program's allocator has there.
const NEIGHBOURS: usize = 64 << 10;

/// A range of the program's addresses, and where it lies.
struct Block {
    piece: Piece,
    /// Mappings of each page. One with none is the program's own.
    uses: Vec<u32>,
}

/// A run that is mapped.
struct Run {
    first: usize,
    /// How often.
    times: usize,
    /// It is a range that the lender has joined.
    joined: bool,
}

/// All that is converted.
#[derive(Default)]
pub(super) struct Converted {
    /// By first address.
    blocks: BTreeMap<usize, Block>,
    /// By the card's address and bytes.
    runs: BTreeMap<(u64, usize), Run>,
}

impl Block {
    fn len(&self) -> usize {
        self.uses.len() * page_size()
    }
}

impl Converted {
    /// The block that has this page, and where it begins.
    fn block_of(&self, page: usize) -> Option<(usize, &Block)> {
        let (start, block) = self.blocks.range(..=page).next_back()?;
        (page < start + block.len()).then_some((*start, block))
    }

    /// Where the first block from this address on begins.
    fn next_block(&self, from: usize) -> Option<usize> {
        self.blocks.range(from..).next().map(|(start, _)| *start)
    }

    /// A block for the pages from `first` to `end`, which are in none. It has room for neighbours, if there is room.
    fn make_block(&mut self, arenas: &Arenas, first: usize, end: usize) -> io::Result<()> {
        let before = self.blocks.range(..first).next_back();
        let before = before.map_or(0, |(start, block)| start + block.len());
        let wide = (first / NEIGHBOURS * NEIGHBOURS).max(before);
        let wide_end = end.checked_next_multiple_of(NEIGHBOURS).unwrap_or(end);
        let wide_end = wide_end.min(self.next_block(end).unwrap_or(usize::MAX));
        let (start, piece) = match arenas.take(wide_end - wide) {
            Ok(piece) => (wide, piece),
            Err(_) => (first, arenas.take(end - first)?),
        };
        let uses = vec![0; piece.len() / page_size()];
        self.blocks.insert(start, Block { piece, uses });
        Ok(())
    }

    /// Spans of pages that are exchanged.
    pub(super) fn live(&self) -> Vec<(NonNull<u8>, usize)> {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (start, block) in &self.blocks {
            let pages = (*start..).step_by(page_size()).zip(&block.uses);
            for (page, _) in pages.filter(|(_, uses)| **uses > 0) {
                match spans.last_mut() {
                    Some((start, bytes)) if *start + *bytes == page => *bytes += page_size(),
                    _ => spans.push((page, page_size())),
                }
            }
        }
        let spans = spans.into_iter();
        spans
            .filter_map(|(at, bytes)| Some((pointer(at).ok()?, bytes)))
            .collect()
    }

    /// The parts of a run: addresses and bytes, each in one block.
    fn parts(&self, first: usize, len: usize) -> Vec<(usize, usize)> {
        let (mut parts, mut at) = (Vec::new(), first);
        while let Some((start, block)) = self.block_of(at).filter(|_| at < first + len) {
            let end = (start + block.len()).min(first + len);
            parts.push((at, end - at));
            at = end;
        }
        parts
    }

    /// Where the card sees a page that is in a block.
    fn iova(&self, page: usize) -> u64 {
        let block = self.block_of(page);
        block.map_or(0, |(start, block)| {
            block.piece.iova() + (page - start) as u64
        })
    }

    /// Blocks without a page that is mapped are no more.
    fn sweep(&mut self) {
        self.blocks
            .retain(|_, block| block.uses.iter().any(|uses| *uses > 0));
    }

    /// Maps a run of pages; the card's address of its first byte.
    ///
    /// # Safety
    /// As for [`Transport::lend`](crate::Transport::lend).
    pub(super) unsafe fn map(
        &mut self,
        (first, len): (NonNull<u8>, usize),
        arenas: &Arenas,
        lender: &Arc<dyn CardLender>,
    ) -> io::Result<u64> {
        let start = first.as_ptr() as usize;
        let end = start.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?;
        let private = self.private(start, len);
        for (at, bytes) in &private {
            exchange::check_exchangeable(pointer(*at)?, *bytes)?;
        }
        // SAFETY: the caller vouches.
        let mapped = unsafe { self.map_checked((start, end), arenas, lender) };
        if mapped.is_err() {
            self.sweep();
        }
        mapped
    }

    /// Spans of a run whose pages are the program's own.
    fn private(&self, first: usize, len: usize) -> Vec<(usize, usize)> {
        let is_private = |page: usize| {
            let block = self.block_of(page);
            block.is_none_or(|(start, block)| block.uses[(page - start) / page_size()] == 0)
        };
        let pages = (first..first + len).step_by(page_size());
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for page in pages.filter(|page| is_private(*page)) {
            match spans.last_mut() {
                Some((start, bytes)) if *start + *bytes == page => *bytes += page_size(),
                _ => spans.push((page, page_size())),
            }
        }
        spans
    }

    /// # Safety
    /// As for [`map`](Self::map), and what is not converted may be.
    unsafe fn map_checked(
        &mut self,
        (start, end): (usize, usize),
        arenas: &Arenas,
        lender: &Arc<dyn CardLender>,
    ) -> io::Result<u64> {
        let mut at = start;
        while at < end {
            at = match self.block_of(at) {
                Some((start, block)) => start + block.len(),
                None => {
                    let until = self.next_block(at).unwrap_or(end).min(end);
                    self.make_block(arenas, at, until)?;
                    until
                }
            };
        }
        let parts = self.parts(start, end - start);
        let joined = parts.len() > 1;
        let iova = match joined {
            false => self.iova(start),
            true => {
                let places = parts
                    .iter()
                    .map(|(at, bytes)| (self.iova(*at), *bytes as u64));
                lender.join(&places.collect::<Vec<_>>())?
            }
        };
        // SAFETY: the caller vouches.
        if let Err(error) = unsafe { self.convert(start, end - start) } {
            if joined {
                let _ = lender.leave(iova);
            }
            return Err(error);
        }
        self.count(start, end - start, |uses| *uses += 1);
        let run = Run {
            first: start,
            times: 0,
            joined,
        };
        self.runs.entry((iova, end - start)).or_insert(run).times += 1;
        Ok(iova)
    }

    /// Exchanges the pages of a run that are the program's own. If one fails, all are as they were.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    unsafe fn convert(&self, first: usize, len: usize) -> io::Result<()> {
        let spans = self.private(first, len);
        let mut done = Vec::new();
        for (at, bytes) in spans.iter().flat_map(|(at, bytes)| self.parts(*at, *bytes)) {
            // SAFETY: the caller vouches.
            let exchanged = unsafe { self.exchange(at, bytes) };
            if let Err(error) = exchanged {
                for (at, bytes) in done {
                    // SAFETY: it was exchanged just now.
                    if let Err(error) = unsafe { take_back(at, bytes) } {
                        tracing::warn!(%error, "memory stays shared with the broker");
                    }
                }
                return Err(error);
            }
            done.push((at, bytes));
        }
        Ok(())
    }

    /// # Safety
    /// As for [`map`](Self::map), of pages in one block that were checked.
    unsafe fn exchange(&self, at: usize, bytes: usize) -> io::Result<()> {
        let (start, block) = self.block_of(at).ok_or(io::ErrorKind::NotFound)?;
        let (file, offset) = (block.piece.file(), block.piece.offset());
        let (first, offset) = (pointer(at)?, offset + (at - start) as u64);
        // SAFETY: the caller's pages; from here to the end nothing is written but to the copy and the stack.
        let still = unsafe { Still::begin(first, bytes) }?;
        // SAFETY: likewise; other threads that write wait.
        match unsafe { exchange::make_part_of(first, bytes, file, offset) } {
            Ok(()) => Ok(()),
            Err(error) => {
                // SAFETY: the same pages, which nothing has replaced.
                unsafe { still.give_up(first, bytes) };
                Err(error)
            }
        }
    }

    /// Counts the pages of a run.
    fn count(&mut self, first: usize, len: usize, change: impl Fn(&mut u32)) {
        for (at, bytes) in self.parts(first, len) {
            let Some((start, block)) = self.blocks.range_mut(..=at).next_back() else {
                continue;
            };
            let from = (at - start) / page_size();
            let pages = &mut block.uses[from..from + bytes / page_size()];
            pages.iter_mut().for_each(&change);
        }
    }

    /// Ends a mapping; `None`: there is none. Pages that no other run has are the program's own again.
    ///
    /// # Safety
    /// The card has done with it.
    pub(super) unsafe fn unmap(
        &mut self,
        (iova, len): (u64, usize),
        lender: &Arc<dyn CardLender>,
    ) -> Option<io::Result<()>> {
        let run = self.runs.get_mut(&(iova, len))?;
        run.times -= 1;
        let (first, joined) = (run.first, run.joined);
        if run.times == 0 {
            self.runs.remove(&(iova, len));
        }
        let left = match joined {
            true => lender.leave(iova),
            false => Ok(()),
        };
        let before = self.private(first, len);
        self.count(first, len, |uses| *uses -= 1);
        let mut ended = left;
        for (at, bytes) in self.private(first, len) {
            debug_assert!(!before.contains(&(at, bytes)));
            // SAFETY: no mapping has it any more.
            if let Err(error) = unsafe { take_back(at, bytes) } {
                ended = Err(error);
            }
        }
        self.sweep();
        Some(ended)
    }
}

fn pointer(at: usize) -> io::Result<NonNull<u8>> {
    NonNull::new(at as *mut u8).ok_or(io::ErrorKind::InvalidInput.into())
}

/// Makes exchanged pages the program's own.
///
/// # Safety
/// They are, and the card has done with them.
unsafe fn take_back(at: usize, bytes: usize) -> io::Result<()> {
    let first = pointer(at)?;
    // SAFETY: whole pages; from here to the end nothing is written but to the copy and the stack.
    let still = unsafe { Still::begin(first, bytes) }?;
    // SAFETY: likewise; other threads that write wait.
    match unsafe { exchange::make_private(first, bytes) } {
        Ok(()) => Ok(()),
        Err(error) => {
            // SAFETY: the same pages, which nothing has replaced.
            unsafe { still.give_up(first, bytes) };
            Err(error)
        }
    }
}
