//! The memory that the host shares with the firmware, as the queues see it: words, of which the ones used last are kept here.
//!
//! A word's place is a place of this memory, where a copy of it may lie. What is stored goes out in one run when something is stored last, or elsewhere; what
//! is loaded comes with the 64 bytes that it is in, and is good until a word is loaded first.

use core::cell::{Cell, UnsafeCell};

use alloc::boxed::Box;
use alloc::vec::Vec;

use weft_queues::Memory;

use crate::dma;

/// Words that come at once.
const LINE: usize = 8;

/// Words of the memory, from one of them on.
#[repr(transparent)]
pub struct Words([Cell<u64>]);

/// What all of them have in common.
struct Whole {
    /// Where the first word's copy is, and where it is in the host's memory.
    first: Cell<usize>,
    iova: Cell<u64>,
    words: Cell<usize>,
    /// The line that was loaded, by its first word.
    line: Cell<Option<usize>>,
    /// Words that were stored and are still to go out.
    stored: Cell<(usize, usize)>,
    failed: Cell<bool>,
}

struct Only(UnsafeCell<Whole>);

// SAFETY: the processor has one thread, and nothing interrupts it.
unsafe impl Sync for Only {}

static WHOLE: Only = Only(UnsafeCell::new(Whole {
    first: Cell::new(0),
    iova: Cell::new(0),
    words: Cell::new(0),
    line: Cell::new(None),
    stored: Cell::new((0, 0)),
    failed: Cell::new(false),
}));

fn whole() -> &'static Whole {
    // SAFETY: only shared references, of cells; one thread.
    unsafe { &*WHOLE.0.get() }
}

/// The memory of so many bytes at `iova`. There is one.
pub fn open(iova: u64, bytes: usize) -> &'static Words {
    let words: Vec<Cell<u64>> = (0..bytes / 8).map(|_| Cell::new(0)).collect();
    let words: &'static [Cell<u64>] = Box::leak(words.into_boxed_slice());
    let whole = whole();
    whole.first.set(words.as_ptr() as usize);
    whole.iova.set(iova);
    whole.words.set(words.len());
    // SAFETY: transparent.
    unsafe { &*(words as *const [Cell<u64>] as *const Words) }
}

/// Host memory refused an access since this was asked last.
pub fn take_failed() -> bool {
    whole().failed.replace(false)
}

/// Sends what was stored.
pub fn flush() {
    let whole = whole();
    let (from, to) = whole.stored.replace((0, 0));
    if from < to {
        move_words(weft_layout::proc_port::DMA_WRITE, from, to - from);
    }
}

/// Moves words between the copy and the host's memory.
fn move_words(port: u8, from: usize, words: usize) {
    let whole = whole();
    let local = whole.first.get() + 8 * from;
    let iova = whole.iova.get() + 8 * from as u64;
    if dma::run(port, iova, local as u32, 8 * words as u32).is_err() {
        whole.failed.set(true);
    }
}

impl Words {
    /// Where a word of this is in the whole, if it is one.
    fn place(&self, word: usize) -> Option<usize> {
        (word < self.0.len()).then(|| (self.0.as_ptr() as usize - whole().first.get()) / 8 + word)
    }

    fn keep(&self, word: usize, value: u64) -> Option<usize> {
        let place = self.place(word)?;
        let whole = whole();
        let (from, to) = whole.stored.get();
        if from < to && place != to {
            flush();
        }
        self.0[word].set(value);
        let (from, to) = whole.stored.get();
        let from = if from < to { from } else { place };
        whole.stored.set((from, place + 1));
        Some(place)
    }
}

impl Memory for Words {
    fn part(&self, word: usize, words: usize) -> Option<&Self> {
        let part = self.0.get(word..word.checked_add(words)?)?;
        // SAFETY: transparent.
        Some(unsafe { &*(part as *const [Cell<u64>] as *const Words) })
    }

    fn load(&self, word: usize) -> u64 {
        let Some(place) = self.place(word) else {
            return 0;
        };
        let whole = whole();
        let line = place / LINE * LINE;
        if whole.line.get() != Some(line) {
            flush();
            move_words(
                weft_layout::proc_port::DMA_READ,
                line,
                LINE.min(whole.words.get() - line),
            );
            whole.line.set(Some(line));
        }
        self.0[word].get()
    }

    fn store(&self, word: usize, value: u64) {
        self.keep(word, value);
    }

    fn load_first(&self, word: usize) -> u64 {
        whole().line.set(None);
        self.load(word)
    }

    /// A word is written whole by the bus, and behind all that was written before.
    fn store_last(&self, word: usize, value: u64) {
        let Some(place) = self.place(word) else {
            return;
        };
        flush();
        self.0[word].set(value);
        move_words(weft_layout::proc_port::DMA_WRITE, place, 1);
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
