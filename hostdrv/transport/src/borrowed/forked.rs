//! Converted memory and fork: the pages are shared with a broker, and a child would share them with its parent. It gets a copy of each instead, as of any
//! private page.

use std::cell::RefCell;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use rustix::mm::{
    madvise, mmap_anonymous, mremap_fixed, munmap, Advice, MapFlags, MremapFlags, ProtFlags,
};

use super::converted::Converted;

/// What is converted changes by one thread at a time, and not during a fork.
static CHANGING: Mutex<()> = Mutex::new(());

/// All cards that are borrowed.
static CARDS: Mutex<Vec<Weak<Mutex<Converted>>>> = Mutex::new(Vec::new());

thread_local! {
    /// Of the fork that this thread is in.
    static FORK: RefCell<Option<Fork>> = const { RefCell::new(None) };
}

/// What a fork needs: nothing changes, and the copies are there.
struct Fork {
    _changing: MutexGuard<'static, ()>,
    copies: Vec<Copy>,
}

/// A copy of pages that are to be a child's own. `None`: there was no memory for it, and the child has nothing there.
struct Copy {
    first: NonNull<u8>,
    len: usize,
    copy: Option<NonNull<u8>>,
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody else changes what is converted as long as this lives, and no process is forked.
pub(super) fn changing() -> MutexGuard<'static, ()> {
    locked(&CHANGING)
}

/// From now on children have copies of what is converted.
pub(super) fn register(converted: &Arc<Mutex<Converted>>) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: functions that stay where they are: nothing of this is unloaded.
        let failed = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        if failed != 0 {
            tracing::warn!("children would share memory: the system takes no handlers of forks");
        }
    });
    let mut cards = locked(&CARDS);
    cards.retain(|card| card.strong_count() > 0);
    cards.push(Arc::downgrade(converted));
}

impl Copy {
    fn of(first: NonNull<u8>, len: usize) -> Self {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping wherever the system likes.
        let copy = unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) };
        let copy = copy.ok().and_then(|copy| NonNull::new(copy.cast::<u8>()));
        match copy {
            // SAFETY: both are valid for `len` bytes, and do not overlap.
            Some(copy) => unsafe {
                ptr::copy_nonoverlapping(first.as_ptr(), copy.as_ptr(), len);
            },
            None => Self::advise(first, len, Advice::LinuxDontFork),
        }
        Self { first, len, copy }
    }

    fn advise(first: NonNull<u8>, len: usize, advice: Advice) {
        // SAFETY: the pages stay what they are; only what a child has of them changes.
        let _ = unsafe { madvise(first.as_ptr().cast(), len, advice) };
    }

    /// In the parent it is not wanted.
    fn leave(self) {
        match self.copy {
            // SAFETY: it was made in `of`, and nobody else knows it.
            Some(copy) => drop(unsafe { munmap(copy.as_ptr().cast(), self.len) }),
            None => Self::advise(self.first, self.len, Advice::LinuxDoFork),
        }
    }

    /// In the child it comes in the place of the pages: by one system call, as is allowed there.
    fn replace(&self) {
        if let Some(copy) = self.copy {
            let (from, to) = (copy.as_ptr().cast(), self.first.as_ptr().cast());
            // SAFETY: the same bytes at the same address; the child's one thread is here.
            let _ = unsafe { mremap_fixed(from, self.len, self.len, MremapFlags::MAYMOVE, to) };
        }
    }
}

extern "C" fn prepare() {
    let changing = changing();
    let cards = locked(&CARDS);
    let all = cards.iter().filter_map(Weak::upgrade);
    let spans: Vec<_> = all.flat_map(|card| locked(&card).live()).collect();
    drop(cards);
    let copies = spans.into_iter().map(|(first, len)| Copy::of(first, len));
    let fork = Fork {
        copies: copies.collect(),
        _changing: changing,
    };
    let _ = FORK.try_with(|own| *own.borrow_mut() = Some(fork));
}

extern "C" fn parent() {
    let fork = FORK.try_with(|own| own.borrow_mut().take());
    if let Ok(Some(fork)) = fork {
        fork.copies.into_iter().for_each(Copy::leave);
    }
}

extern "C" fn child() {
    let _ = FORK.try_with(|own| {
        if let Some(fork) = own.borrow_mut().take() {
            fork.copies.iter().for_each(Copy::replace);
            // To free it may take a lock that another thread of the parent had.
            std::mem::forget(fork.copies);
        }
    });
}
