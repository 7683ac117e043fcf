//! The engine's memory: all that the program, its data and its stack leave.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::ptr::NonNull;

use linked_list_allocator::Heap;
use weft_layout::ProcInfo;

use crate::info;

// The engine and what the firmware has beside it have room in the heap that the linker leaves at least.
const _: () =
    assert!(weft_engine::budget::NEEDED + crate::engine::BYTES <= weft_engine::budget::HEAP);
global_asm!(
    ".global heap_needed",
    ".set heap_needed, {needed}",
    needed = const weft_engine::budget::HEAP,
);

extern "C" {
    static mut heap_low: u8;
    static heap_high: u8;
}

struct Memory(UnsafeCell<Heap>);

// SAFETY: the processor has one thread, and nothing interrupts it.
unsafe impl Sync for Memory {}

#[global_allocator]
static MEMORY: Memory = Memory(UnsafeCell::new(Heap::empty()));

/// Gives it what there is. Once, before the first use.
pub fn begin() {
    let low = &raw mut heap_low;
    let bytes = &raw const heap_high as usize - low as usize;
    // SAFETY: the linker keeps this range free of everything else; called once, by the only thread.
    unsafe { (*MEMORY.0.get()).init(low, bytes) }
    info::set(ProcInfo::HEAP_BYTES_AT, bytes as u32);
}

// SAFETY: the list of holes gives ranges that do not overlap; there is one thread.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: one thread, and no reference is kept.
        let heap = unsafe { &mut *self.0.get() };
        let Ok(place) = heap.allocate_first_fit(layout) else {
            return core::ptr::null_mut();
        };
        info::at_least(ProcInfo::HEAP_USED_AT, heap.used() as u32);
        place.as_ptr()
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if let Some(place) = NonNull::new(place) {
            // SAFETY: as in `alloc`; the caller gives back what it got.
            unsafe { (*self.0.get()).deallocate(place, layout) }
        }
    }
}
