//! The memory that the host shares with the firmware, as the queues see it: words, of which the ones used last are kept here.
//!
//! It may be larger than this processor's memory. What is stored goes out in one run, and that ends with a word that is stored last: a burst goes front to back.
//! What is loaded comes with the 64 bytes that it is in, or with all that is expected to be loaded, and is good until a word is loaded first.

use core::cell::{Cell, UnsafeCell};
use core::ptr;

use weft_queues::Memory;

use crate::dma;

/// Words that come at once, and the most that do: four WQEs of a block.
const LINE: usize = 8;
const LINES: usize = 4 * LINE;
/// Words that go out at once: an answer or an event with the longest private data.
const RUN: usize = 80;

/// A word of the host's: it has no bytes here.
#[derive(Clone, Copy)]
struct Place;

/// Words of the memory, from one of them on. Nothing is behind the reference: its address is the first word's number and one more, so that none is 0.
#[repr(transparent)]
pub struct Words([Place]);

/// What all of them have in common.
#[repr(align(8))]
struct Whole {
    /// The line that was loaded, of one piece or several, and what was stored and is still to go out.
    line: [Cell<u64>; LINES],
    run: [Cell<u64>; RUN],
    /// The line's first word, and how many it has.
    line_at: Cell<(usize, usize)>,
    /// The run's first word, and how many it has.
    run_at: Cell<(usize, usize)>,
    /// Where the memory is, and its words.
    iova: Cell<u64>,
    words: Cell<usize>,
    failed: Cell<bool>,
}

struct Only(UnsafeCell<Whole>);

// SAFETY: the processor has one thread, and nothing interrupts it.
unsafe impl Sync for Only {}

static WHOLE: Only = Only(UnsafeCell::new(Whole {
    line: [const { Cell::new(0) }; LINES],
    run: [const { Cell::new(0) }; RUN],
    line_at: Cell::new((0, 0)),
    run_at: Cell::new((0, 0)),
    iova: Cell::new(0),
    words: Cell::new(0),
    failed: Cell::new(false),
}));

fn whole() -> &'static Whole {
    // SAFETY: only shared references, of cells; one thread.
    unsafe { &*WHOLE.0.get() }
}

/// So many words from this one on.
fn words(first: usize, count: usize) -> &'static Words {
    let place = ptr::without_provenance(first + 1);
    // SAFETY: values of no bytes, at an address that is not 0; the other is transparent.
    unsafe { &*(ptr::slice_from_raw_parts::<Place>(place, count) as *const Words) }
}

/// The memory of so many bytes at `iova`. There is one.
pub fn open(iova: u64, bytes: usize) -> &'static Words {
    let whole = whole();
    whole.iova.set(iova);
    whole.words.set(bytes / 8);
    words(0, bytes / 8)
}

/// Host memory refused an access since this was asked last.
pub fn take_failed() -> bool {
    whole().failed.replace(false)
}

/// Sends what was stored.
pub fn flush() {
    let whole = whole();
    let (from, count) = whole.run_at.replace((0, 0));
    move_words(weft_layout::proc_port::DMA_WRITE, from, &whole.run[..count]);
}

/// Moves words between here and the host's memory.
fn move_words(port: u8, from: usize, here: &[Cell<u64>]) {
    if here.is_empty() {
        return;
    }
    let whole = whole();
    let iova = whole.iova.get() + 8 * from as u64;
    if dma::run(port, iova, here.as_ptr() as u32, 8 * here.len() as u32).is_err() {
        whole.failed.set(true);
    }
}

/// A word of the line that was loaded, if it is there.
fn in_line(place: usize) -> Option<&'static Cell<u64>> {
    let whole = whole();
    let (first, count) = whole.line_at.get();
    let at = place.checked_sub(first)?;
    whole.line[..count].get(at)
}

/// Loads so many words of the whole, which are there.
fn load_line(first: usize, count: usize) {
    let whole = whole();
    flush();
    move_words(
        weft_layout::proc_port::DMA_READ,
        first,
        &whole.line[..count],
    );
    whole.line_at.set((first, count));
}

impl Words {
    /// Which word of the whole one of these is.
    fn place(&self, word: usize) -> Option<usize> {
        let first = self.0.as_ptr().addr() - 1;
        (word < self.0.len()).then_some(first + word)
    }

    fn keep(place: usize, value: u64) {
        let whole = whole();
        let (from, count) = whole.run_at.get();
        if count > 0 && (place != from + count || count == RUN) {
            flush();
        }
        let (from, count) = whole.run_at.get();
        let from = if count == 0 { place } else { from };
        whole.run[count].set(value);
        whole.run_at.set((from, count + 1));
        if let Some(word) = in_line(place) {
            word.set(value);
        }
    }
}

impl Memory for Words {
    fn part(&self, word: usize, count: usize) -> Option<&Self> {
        let end = word.checked_add(count)?;
        let first = self.0.as_ptr().addr() - 1;
        (end <= self.0.len()).then(|| words(first + word, count))
    }

    fn load(&self, word: usize) -> u64 {
        let Some(place) = self.place(word) else {
            return 0;
        };
        let whole = whole();
        if in_line(place).is_none() {
            let line = place / LINE * LINE;
            load_line(line, LINE.min(whole.words.get() - line));
        }
        in_line(place).map_or(0, Cell::get)
    }

    fn store(&self, word: usize, value: u64) {
        if let Some(place) = self.place(word) {
            Self::keep(place, value);
        }
    }

    fn load_first(&self, word: usize) -> u64 {
        whole().line_at.set((0, 0));
        self.load(word)
    }

    /// They come in one burst if they are in one line.
    fn load_first_two(&self, word: usize) -> [u64; 2] {
        let first = self.load_first(word);
        let place = self.place(word + 1);
        match place.is_some_and(|place| place % LINE != 0) {
            true => [first, self.load(word + 1)],
            false => [first, self.load_first(word + 1)],
        }
    }

    fn expect(&self, word: usize, words: usize) {
        let count = words.min(LINES).min(self.0.len().saturating_sub(word));
        if let (Some(place), true) = (self.place(word), count > 0) {
            if in_line(place).is_none() {
                load_line(place, count);
            }
        }
    }

    /// A word is written whole by the bus, and behind all that was written before: as the last one of a burst with those, if it lies behind them.
    fn store_last(&self, word: usize, value: u64) {
        if let Some(place) = self.place(word) {
            Self::keep(place, value);
            flush();
        }
    }

    /// Not by the bus, which has nothing that reads and writes at once: only the host sets bits.
    fn set(&self, word: usize, bits: u64) {
        let before = self.load_first(word);
        self.store_last(word, before | bits);
    }

    /// As [`set`](Self::set): what is set between reading and writing is lost. So it may be used only where whoever finds bits set tells the other side, which
    /// looks and sets them again.
    fn take(&self, word: usize) -> u64 {
        let before = self.load_first(word);
        if before != 0 {
            self.store_last(word, 0);
        }
        before
    }
}
