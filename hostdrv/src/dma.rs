//! Memory that host and card share.
//!
//! The card may write such memory at any time, so there is never a reference to it: all access is
//! volatile, through raw pointers, bounds-checked. [`publish`] and [`observe`] order it against
//! doorbells and phase bits.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{fence, Ordering};

use thiserror::Error;

/// Granularity of mappings.
pub const PAGE_SIZE: usize = 4096;

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

/// A run of memory known by address only: the volatile accesses everything else is made of.
#[derive(Debug)]
pub struct SharedMemory {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: it is an address. All accesses are volatile, and the other side of the memory (a card)
// does not follow Rust's rules in the first place; see `SharedMemory::new` for what its maker vouches.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// # Safety
    /// `ptr..ptr + len` stays valid for reads and writes as long as this value lives,
    /// and is accessed by no reference meanwhile.
    pub unsafe fn new(ptr: NonNull<u8>, len: usize) -> Self {
        Self { ptr, len }
    }

    /// First byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn at(&self, offset: usize, count: usize) -> Result<*mut u8, OutOfBounds> {
        match offset.checked_add(count) {
            // SAFETY: offset <= len, so the address is inside the run or one past its end.
            Some(end) if end <= self.len => Ok(unsafe { self.ptr.as_ptr().add(offset) }),
            _ => Err(OutOfBounds {
                offset,
                count,
                len: self.len,
            }),
        }
    }

    /// Copies bytes out.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), OutOfBounds> {
        let mut from = self.at(offset, to.len())?;
        let head = from.align_offset(8).min(to.len());
        let (head, rest) = to.split_at_mut(head);
        let mut words = rest.chunks_exact_mut(8);
        // SAFETY: `at` checked the whole range; word loads happen at 8-byte aligned addresses only.
        unsafe {
            for b in head {
                *b = from.read_volatile();
                from = from.add(1);
            }
            for w in &mut words {
                w.copy_from_slice(&from.cast::<u64>().read_volatile().to_ne_bytes());
                from = from.add(8);
            }
            for b in words.into_remainder() {
                *b = from.read_volatile();
                from = from.add(1);
            }
        }
        Ok(())
    }

    /// Copies bytes in.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), OutOfBounds> {
        let mut to = self.at(offset, from.len())?;
        let (head, rest) = from.split_at(to.align_offset(8).min(from.len()));
        let words = rest.chunks_exact(8);
        let tail = words.remainder();
        // SAFETY: as in `read`.
        unsafe {
            for b in head {
                to.write_volatile(*b);
                to = to.add(1);
            }
            for w in words {
                let mut word = [0; 8];
                word.copy_from_slice(w);
                to.cast::<u64>().write_volatile(u64::from_ne_bytes(word));
                to = to.add(8);
            }
            for b in tail {
                to.write_volatile(*b);
                to = to.add(1);
            }
        }
        Ok(())
    }

    /// Sets bytes.
    pub fn fill(&self, offset: usize, count: usize, value: u8) -> Result<(), OutOfBounds> {
        self.at(offset, count)?;
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
    pub fn to_vec(&self, offset: usize, count: usize) -> Result<Vec<u8>, OutOfBounds> {
        self.at(offset, count)?;
        let mut bytes = vec![0; count];
        self.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// One byte, in one load.
    pub fn read_u8(&self, offset: usize) -> Result<u8, OutOfBounds> {
        // SAFETY: checked by `at`.
        self.at(offset, 1).map(|p| unsafe { p.read_volatile() })
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
    pub fn new(len: usize) -> Option<Self> {
        let len = len.max(1).checked_next_multiple_of(PAGE_SIZE)?;
        let layout = Layout::from_size_align(len, PAGE_SIZE).ok()?;
        // SAFETY: the layout has a size of at least one page.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: just allocated, freed when `Pages` is dropped, never referenced.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        Some(Self { memory, layout })
    }

    /// The memory.
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
    pub fn iova(&self) -> u64 {
        self.iova
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Has it no byte?
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// First byte, for the one who must hand out an address.
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// The volatile accesses.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// Copies bytes out.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), OutOfBounds> {
        self.memory.read(offset, to)
    }

    /// Copies bytes in.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), OutOfBounds> {
        self.memory.write(offset, from)
    }

    /// Sets bytes.
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
        assert_eq!(memory.len(), PAGE_SIZE);
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
    fn nothing_outside_is_touched() {
        let pages = Pages::new(1).expect("a page");
        let memory = pages.memory();
        assert!(memory.write(PAGE_SIZE, &[]).is_ok());
        assert_eq!(
            memory.write(PAGE_SIZE - 1, &[0; 2]),
            Err(OutOfBounds {
                offset: PAGE_SIZE - 1,
                count: 2,
                len: PAGE_SIZE
            })
        );
        assert!(memory.read(usize::MAX, &mut [0; 2]).is_err());
        assert!(memory.to_vec(1, usize::MAX).is_err());
        assert!(memory.fill(1, usize::MAX, 0).is_err());
        assert!(memory.read_u8(PAGE_SIZE).is_err());
    }
}
