//! Memory that host and card share.
//!
//! The card may write such memory at any time, and so may any thread that has a handle, so there is never a reference
//! to it: all access is by relaxed atomic operations, bounds-checked ([`SharedMemory`] says why that is sound).
//! [`publish`], [`observe`] and [`before_doorbell`] order it against doorbells and phase bits.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU64, AtomicU8, Ordering};

use thiserror::Error;

/// The smallest page there is. What depends on the host's pages asks for [`page_size`].
pub const PAGE_SIZE: usize = 4096;

/// The host's pages, the granularity of mappings: 4 KiB on x86-64, up to 64 KiB on aarch64.
#[inline]
pub fn page_size() -> usize {
    if cfg!(miri) {
        return PAGE_SIZE;
    }
    rustix::param::page_size().max(PAGE_SIZE)
}

/// Makes earlier stores to DMA memory visible to the card before the next doorbell.
#[inline]
pub fn publish() {
    fence(Ordering::Release);
    // A card is not in the inner shareable domain that `dmb ish` covers.
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier, it touches neither memory nor flags.
    unsafe {
        core::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
}

/// Keeps later loads from DMA memory behind the load of the phase bit that made them valid.
#[inline]
pub fn observe() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as in `publish`.
    unsafe {
        core::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
    fence(Ordering::Acquire);
}

/// Keeps a doorbell behind everything before it: stores that it announces, and loads from room that it gives back to the card
/// (a card that hears of the room early writes over what is still being read).
#[inline]
pub fn before_doorbell() {
    // Loads and stores before, stores after; on x86-64 the processor keeps that order by itself.
    fence(Ordering::Release);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as in `publish`.
    unsafe {
        core::arch::asm!("dmb osh", options(nostack, preserves_flags));
    }
}

/// An access outside a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("bytes {offset}..{end} asked for, the buffer has {len}", end = (*offset as u128) + (*count as u128))]
pub struct OutOfBounds {
    /// First byte asked for.
    pub offset: usize,
    /// How many.
    pub count: usize,
    /// Bytes in the buffer.
    pub len: usize,
}

/// Bytes of a word.
const WORD: usize = 8;

mod words;

/// A run of memory known by address only: the accesses everything else is made of.
///
/// Threads may use one at the same time, and the card writes the memory whenever it likes. That is no undefined
/// behaviour: every access is a relaxed atomic one, and every byte is always accessed in the same size. The
/// aligned words of 8 bytes that lie wholly in the run are accessed as words (a part of a word is exchanged), the
/// bytes before the first and behind the last such word as bytes. The order of accesses is the caller's.
#[derive(Debug)]
pub struct SharedMemory {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address, and what is done with it is atomic.
unsafe impl Send for SharedMemory {}
// SAFETY: threads access the memory by atomic operations of one size for each byte only.
unsafe impl Sync for SharedMemory {}

/// Where bytes are.
enum Place {
    /// In the word at this offset, from this byte of it on, so many of the bytes.
    Word(usize, usize, usize),
    /// A byte by itself.
    Byte,
}

impl SharedMemory {
    /// # Safety
    /// `ptr..ptr + len` stays valid for reads and writes as long as this value lives, and is accessed meanwhile by no
    /// reference, and by other threads only through this type. Where several values have the same bytes, they agree
    /// about which of them are whole words: each begins and ends at a multiple of 8, or where the others do.
    #[inline]
    pub unsafe fn new(ptr: NonNull<u8>, len: usize) -> Self {
        Self { ptr, len }
    }

    /// First byte.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it no byte?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its words, of memory that begins at a multiple of 8.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        assert!(self.ptr.as_ptr() as usize % WORD == 0);
        // SAFETY: within the memory, aligned; every access of these bytes is an atomic one of a whole word, here as elsewhere.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr().cast(), self.len / WORD) }
    }

    fn check(&self, offset: usize, count: usize) -> Result<(), OutOfBounds> {
        match offset.checked_add(count) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(OutOfBounds {
                offset,
                count,
                len: self.len,
            }),
        }
    }

    /// How the byte at `offset`, which is inside, is accessed, with up to `wanted` bytes from there.
    #[inline]
    fn place(&self, offset: usize, wanted: usize) -> Place {
        let skew = self.ptr.as_ptr() as usize % WORD;
        let within = (skew + offset) % WORD;
        match offset.checked_sub(within) {
            Some(start) if start + WORD <= self.len => {
                Place::Word(start, within, wanted.min(WORD - within))
            }
            _ => Place::Byte,
        }
    }

    /// The word at `start`, as [`place`](Self::place) gave it.
    #[inline]
    fn word(&self, start: usize) -> &AtomicU64 {
        // SAFETY: aligned and inside the run by `place`; the memory is valid as long as `self`, and nobody
        // accesses it but by atomic operations of this size.
        unsafe { AtomicU64::from_ptr(self.ptr.as_ptr().add(start).cast()) }
    }

    /// The words from `start` on, as [`place`](Self::place) gave it, that so many bytes behind it are.
    #[inline]
    fn whole_words(&self, start: usize, bytes: usize) -> &[AtomicU64] {
        // SAFETY: `bytes` from `start` on are inside by `check`, and whole words; as in `word`.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr().add(start).cast(), bytes / WORD) }
    }

    /// A byte that is in no word.
    #[inline]
    fn byte(&self, offset: usize) -> &AtomicU8 {
        // SAFETY: inside the run by `check`; as in `word`.
        unsafe { AtomicU8::from_ptr(self.ptr.as_ptr().add(offset)) }
    }

    /// Copies bytes out.
    #[inline]
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), OutOfBounds> {
        self.check(offset, to.len())?;
        let mut done = 0;
        while done < to.len() {
            let left = &mut to[done..];
            match self.place(offset + done, left.len()) {
                Place::Word(start, 0, WORD) => {
                    // The long run of a copy.
                    let whole = left.len() - left.len() % WORD;
                    words::load(self.whole_words(start, whole), &mut left[..whole]);
                    done += whole;
                }
                Place::Word(start, from, count) => {
                    let value = self.word(start).load(Ordering::Relaxed).to_ne_bytes();
                    left[..count].copy_from_slice(&value[from..from + count]);
                    done += count;
                }
                Place::Byte => {
                    left[0] = self.byte(offset + done).load(Ordering::Relaxed);
                    done += 1;
                }
            }
        }
        Ok(())
    }

    /// Copies bytes in.
    #[inline]
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), OutOfBounds> {
        self.check(offset, from.len())?;
        let mut done = 0;
        while done < from.len() {
            let left = &from[done..];
            match self.place(offset + done, left.len()) {
                Place::Word(start, 0, WORD) => {
                    let whole = left.len() - left.len() % WORD;
                    words::store(&left[..whole], self.whole_words(start, whole));
                    done += whole;
                }
                Place::Word(start, to, count) => {
                    self.exchange(start, to, &left[..count]);
                    done += count;
                }
                Place::Byte => {
                    self.byte(offset + done).store(left[0], Ordering::Relaxed);
                    done += 1;
                }
            }
        }
        Ok(())
    }

    /// Changes a part of a word. What the card or another thread writes to the rest meanwhile stays: then the exchange
    /// fails, and is tried again.
    fn exchange(&self, start: usize, to: usize, bytes: &[u8]) {
        let change = |value: u64| {
            let mut value = value.to_ne_bytes();
            value[to..to + bytes.len()].copy_from_slice(bytes);
            Some(u64::from_ne_bytes(value))
        };
        let _ = self
            .word(start)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Sets bytes.
    #[inline]
    pub fn fill(&self, offset: usize, count: usize, value: u8) -> Result<(), OutOfBounds> {
        self.check(offset, count)?;
        let chunk = [value; 256];
        let mut done = 0;
        while done < count {
            let n = chunk.len().min(count - done);
            self.write(offset + done, &chunk[..n])?;
            done += n;
        }
        Ok(())
    }

    /// Copies bytes out into a new vector.
    #[inline]
    pub fn to_vec(&self, offset: usize, count: usize) -> Result<Vec<u8>, OutOfBounds> {
        self.check(offset, count)?;
        let mut bytes = vec![0; count];
        self.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// One byte, in one load.
    #[inline]
    pub fn read_u8(&self, offset: usize) -> Result<u8, OutOfBounds> {
        self.check(offset, 1)?;
        Ok(match self.place(offset, 1) {
            Place::Word(start, at, _) => self.word(start).load(Ordering::Relaxed).to_ne_bytes()[at],
            Place::Byte => self.byte(offset).load(Ordering::Relaxed),
        })
    }
}

/// Zeroed, page-aligned memory of whole pages: what a transport without its own allocator maps.
#[derive(Debug)]
pub struct Pages {
    memory: SharedMemory,
    layout: Layout,
}

impl Pages {
    /// At least `len` bytes (at least one page); `None` if there is no memory.
    #[inline]
    pub fn new(len: usize) -> Option<Self> {
        let page = page_size();
        let len = len.max(1).checked_next_multiple_of(page)?;
        let layout = Layout::from_size_align(len, page).ok()?;
        // SAFETY: the layout has a size of at least one page.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: just allocated, freed when `Pages` is dropped, never referenced.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        Some(Self { memory, layout })
    }

    /// The memory.
    #[inline]
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

/// Memory that the card can reach. Dropping it unmaps and frees it.
pub struct DmaBuffer {
    memory: SharedMemory,
    iova: u64,
    _owner: Box<dyn Any + Send + Sync>,
}

impl DmaBuffer {
    /// For transports: the memory at `ptr`, which the card sees at `iova`. `owner`'s drop unmaps and
    /// frees it.
    ///
    /// # Safety
    /// `ptr..ptr + len` is valid for reads and writes until `owner` is dropped, and no reference to
    /// it exists.
    #[inline]
    pub unsafe fn new(
        ptr: NonNull<u8>,
        iova: u64,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: the caller vouches, and `memory` lives as long as `_owner`.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        Self {
            memory,
            iova,
            _owner: owner,
        }
    }

    /// Where the card sees it.
    #[inline]
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Has it no byte?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// First byte, for the one who must hand out an address.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// The accesses.
    #[inline]
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// Copies bytes out.
    #[inline]
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), OutOfBounds> {
        self.memory.read(offset, to)
    }

    /// Copies bytes in.
    #[inline]
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), OutOfBounds> {
        self.memory.write(offset, from)
    }

    /// Sets bytes.
    #[inline]
    pub fn fill(&self, offset: usize, count: usize, value: u8) -> Result<(), OutOfBounds> {
        self.memory.fill(offset, count, value)
    }
}

impl fmt::Debug for DmaBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DmaBuffer")
            .field("iova", &format_args!("{:#x}", self.iova))
            .field("len", &self.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_every_alignment() {
        let pages = Pages::new(1).expect("a page");
        let memory = pages.memory();
        assert_eq!(memory.len(), page_size());
        for start in 0..17 {
            for count in 0..40 {
                let bytes: Vec<u8> = (0..count as u8)
                    .map(|i| i.wrapping_mul(7).wrapping_add(start as u8))
                    .collect();
                memory.fill(0, 128, 0xee).expect("inside");
                memory.write(start, &bytes).expect("inside");
                assert_eq!(memory.to_vec(start, count).expect("inside"), bytes);
                let all = memory.to_vec(0, 128).expect("inside");
                assert!(all[..start]
                    .iter()
                    .chain(&all[start + count..])
                    .all(|b| *b == 0xee));
            }
        }
    }

    #[test]
    fn long_copies_at_every_alignment() {
        let pages = Pages::new(2 * PAGE_SIZE).expect("memory");
        let memory = pages.memory();
        let bytes: Vec<u8> = (0..3001u32).map(|n| (n * 7 / 3) as u8).collect();
        for start in 0..17 {
            for count in [500, 511, 512, 513, 520, 3001] {
                memory.fill(0, 4096, 0xee).expect("inside");
                memory.write(start, &bytes[..count]).expect("inside");
                assert_eq!(memory.to_vec(start, count).expect("inside"), bytes[..count]);
                let around = [start.wrapping_sub(1), start + count];
                for at in around.into_iter().filter(|at| *at < 4096) {
                    assert_eq!(memory.read_u8(at), Ok(0xee), "{start} {count}");
                }
            }
        }
    }

    /// Under Miri (`cargo +nightly miri test -p weft-hostdrv --lib dma`) this fails if threads that do what safe
    /// code may do race.
    #[test]
    fn threads_may_do_what_they_like() {
        const ROUNDS: usize = if cfg!(miri) { 4 } else { 2000 };
        let mut bytes = vec![0u8; 61];
        // SAFETY: inside the vector, which is left alone until the end.
        let odd = unsafe {
            SharedMemory::new(
                NonNull::new(bytes.as_mut_ptr().add(3)).expect("not null"),
                55,
            )
        };
        let pages = Pages::new(1).expect("a page");
        std::thread::scope(|scope| {
            for thread in 0..3u8 {
                let (odd, pages) = (&odd, &pages);
                scope.spawn(move || {
                    for memory in [odd, pages.memory()] {
                        for round in 0..ROUNDS {
                            let (at, count) = (round % 23, 1 + round % 29);
                            memory.write(at, &vec![thread; count]).expect("inside");
                            memory.fill(at / 2, count, thread).expect("inside");
                            for byte in memory.to_vec(at, count).expect("inside") {
                                assert!(byte < 3);
                            }
                            assert!(memory.read_u8(at + count - 1).expect("inside") < 3);
                        }
                    }
                });
            }
        });
        assert_eq!(
            (bytes[..3].to_vec(), bytes[58..].to_vec()),
            (vec![0; 3], vec![0; 3])
        );
    }

    /// Two threads write neighbouring bytes of one word: none takes the other's away.
    #[test]
    fn parts_of_a_word_are_apart() {
        let pages = Pages::new(1).expect("a page");
        std::thread::scope(|scope| {
            for half in 0..2usize {
                let pages = &pages;
                scope.spawn(move || {
                    let memory = pages.memory();
                    for round in 0..if cfg!(miri) { 10 } else { 20_000u32 } {
                        let bytes = [round as u8, (round >> 8) as u8, half as u8];
                        memory.write(1 + 3 * half, &bytes).expect("inside");
                        assert_eq!(memory.to_vec(1 + 3 * half, 3).expect("inside"), bytes);
                    }
                });
            }
        });
    }

    #[test]
    fn nothing_outside_is_touched() {
        let pages = Pages::new(1).expect("a page");
        let memory = pages.memory();
        let len = page_size();
        assert!(memory.write(len, &[]).is_ok());
        assert_eq!(
            memory.write(len - 1, &[0; 2]),
            Err(OutOfBounds {
                offset: len - 1,
                count: 2,
                len
            })
        );
        assert!(memory.read(usize::MAX, &mut [0; 2]).is_err());
        assert!(memory.to_vec(1, usize::MAX).is_err());
        assert!(memory.fill(1, usize::MAX, 0).is_err());
        assert!(memory.read_u8(len).is_err());
    }
}
