//! What a Rust program without an operating system has to bring: a heap, and an end for panics.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A heap that is never given back to. Its memory is not part of the image.
struct Heap {
    next: AtomicUsize,
}

#[global_allocator]
static HEAP: Heap = Heap {
    next: AtomicUsize::new(0x8000_0000),
};

// SAFETY: each call gets addresses of its own, aligned; there is one thread.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let at = self.next.load(Ordering::Relaxed);
        let at = at.next_multiple_of(layout.align());
        self.next.store(at + layout.size(), Ordering::Relaxed);
        at as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
