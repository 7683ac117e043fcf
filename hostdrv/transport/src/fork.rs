//! What a child made by `fork` inherits of a card: nothing that reaches it.
//!
//! A handle of a transport knows which process it was made in; in a child of that it does nothing, and says so. Memory that card and program
//! share is blank in the child: private pages of zeroes in the same places, so that what looks there disturbs nobody.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};

/// Forks between the first process and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

type Runs = BTreeMap<usize, usize>;

/// Bytes of whole pages that are blank in a child, by their address.
static SHARED: Mutex<Runs> = Mutex::new(Runs::new());

thread_local! {
    /// Held from before a fork until after it, so that the child finds the list whole.
    static HELD: RefCell<Option<MutexGuard<'static, Runs>>> = const { RefCell::new(None) };
}

/// The process that something was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birthplace(u32);

impl Birthplace {
    /// This process.
    pub fn here() -> Self {
        watch();
        Self(GENERATION.load(Ordering::Relaxed))
    }

    /// Is it this process, and none that this one was forked from?
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == GENERATION.load(Ordering::Relaxed)
    }
}

/// Whole pages that a child finds blank, as long as this lives.
#[derive(Debug)]
pub struct Blank {
    start: usize,
    born: Birthplace,
}

impl Blank {
    /// # Safety
    /// The pages are of one mapping that stays until this is dropped, and a child may lose what is in them.
    pub unsafe fn in_children(first: NonNull<u8>, len: usize) -> Self {
        let (start, born) = (first.as_ptr() as usize, Birthplace::here());
        shared().insert(start, len);
        Self { start, born }
    }
}

impl Drop for Blank {
    fn drop(&mut self) {
        if self.born.is_here() {
            shared().remove(&self.start);
        }
    }
}

fn shared() -> MutexGuard<'static, Runs> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forks noticed from now on. Who has handlers of its own that hold locks while memory is mapped calls this before it registers them.
pub fn watch() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers are functions of this program, and do what a child may do.
    ONCE.call_once(|| unsafe {
        if libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) != 0 {
            tracing::warn!("no memory to notice forks: a child must not touch a device");
        }
    });
}

extern "C" fn before() {
    let held = shared();
    let _ = HELD.try_with(|kept| *kept.borrow_mut() = Some(held));
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(|kept| drop(kept.borrow_mut().take()));
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    let held = HELD.try_with(|kept| kept.borrow_mut().take());
    let Some(mut runs) = held.ok().flatten() else {
        return;
    };
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    for (start, len) in std::mem::take(&mut *runs) {
        let start = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: whole pages that the makers of `Blank` vouch for; in this process nobody has a use for them.
        let blank = unsafe { mmap_anonymous(start, len, access, flags) };
        if blank.is_err() {
            // Better none than the parent's.
            // SAFETY: as above.
            let _ = unsafe { rustix::mm::munmap(start, len) };
        }
    }
}
