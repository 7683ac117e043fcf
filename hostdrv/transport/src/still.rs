//! Pages that nobody writes for a moment, while they are exchanged for others with the same bytes: a thread that writes there waits.
//!
//! The pages are read-only meanwhile, and who writes them is stopped by the processor: a handler of SIGSEGV waits for the end of the exchange and lets the
//! thread write again. Any other fault goes to the handler that was there before. A system call that writes there meanwhile answers EFAULT.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::mm::{mprotect, MprotectFlags};

/// One exchange at a time.
static EXCHANGE: Mutex<()> = Mutex::new(());

/// Exchanges whose faults may still be on their way: as many as threads could fall behind.
const REMEMBERED: usize = 64;

/// First byte and end of the last ones.
static RANGES: [[AtomicUsize; 2]; REMEMBERED] =
    [const { [const { AtomicUsize::new(0) }; 2] }; REMEMBERED];
/// Exchanges that were begun, and that have ended.
static BEGUN: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// The handler that was there before.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// Whole pages that nobody writes as long as this lives. Who has it makes them writable again, or others in their place.
pub(super) struct Still {
    _exchange: MutexGuard<'static, ()>,
}

impl Still {
    /// From now on nobody writes them.
    ///
    /// # Safety
    /// They are whole pages, mapped for reads and writes; who calls does not write them itself before [`end`](Self::end) or a mapping in their place.
    pub(super) unsafe fn begin(first: NonNull<u8>, len: usize) -> io::Result<Self> {
        let exchange = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
        install()?;
        let start = first.as_ptr() as usize;
        let number = BEGUN.load(Ordering::Relaxed);
        let [from, end] = &RANGES[number % REMEMBERED];
        from.store(start, Ordering::Relaxed);
        end.store(start + len, Ordering::Relaxed);
        BEGUN.store(number + 1, Ordering::SeqCst);
        let still = Self {
            _exchange: exchange,
        };
        // SAFETY: the caller's pages; nothing but their protection changes.
        unsafe { mprotect(first.as_ptr().cast(), len, MprotectFlags::READ) }?;
        Ok(still)
    }

    /// They are writable as before: nothing came in their place.
    ///
    /// # Safety
    /// They are those of [`begin`](Self::begin).
    pub(super) unsafe fn give_up(self, first: NonNull<u8>, len: usize) {
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the caller's pages, which were so before.
        let restored = unsafe { mprotect(first.as_ptr().cast(), len, access) };
        if let Err(error) = restored {
            tracing::error!(%error, "memory stays read-only");
        }
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        ENDED.store(BEGUN.load(Ordering::Relaxed), Ordering::SeqCst);
    }
}

/// Makes the handler the process', unless it is.
fn install() -> io::Result<()> {
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a place for one structure.
    if unsafe { libc::sigaction(libc::SIGSEGV, ptr::null(), now.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was written, or is zeros, which are a value of it.
    let now = unsafe { now.assume_init() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    if now.sa_sigaction == handler as usize {
        return Ok(());
    }
    // It is never freed: a thread may be about to call it.
    BEFORE.store(Box::into_raw(Box::new(now)), Ordering::SeqCst);
    // SAFETY: zeros are a value of it: no flags, an empty mask.
    let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    own.sa_sigaction = handler as usize;
    own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler is a function that calls nothing but what a handler may.
    match unsafe { libc::sigaction(libc::SIGSEGV, &own, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Is this address of pages that are, or were a moment ago, not to be written?
fn is_still(address: usize) -> bool {
    RANGES.iter().any(|[from, end]| {
        let (from, end) = (from.load(Ordering::Relaxed), end.load(Ordering::Relaxed));
        (from..end).contains(&address)
    })
}

/// May this address be written? Asks the system by a write that changes nothing.
fn is_writable(address: usize) -> bool {
    /// `FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)`.
    const ADD_NOTHING: c_int = libc::FUTEX_OP_ADD << 28;
    let word = address & !3;
    // SAFETY: the system checks the address; nobody is woken, and 0 is added.
    let asked = unsafe {
        let operation = libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word, operation, 0, 0, word, ADD_NOTHING)
    };
    asked >= 0
}

/// Waits for the end of the exchange, if it is what the fault is of.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    /// The page is there, and does not allow the access.
    const NOT_ALLOWED: c_int = 2;
    // SAFETY: the thread's own errno, which is put back.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the system gives the structure of a fault.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    while code == NOT_ALLOWED && is_still(address) {
        let begun = BEGUN.load(Ordering::SeqCst);
        while (ENDED.load(Ordering::SeqCst).wrapping_sub(begun) as isize) < 0 {
            // SAFETY: it takes nothing.
            unsafe { libc::sched_yield() };
        }
        if is_writable(address) {
            // SAFETY: as above.
            unsafe { *libc::__errno_location() = errno };
            return;
        }
        // Else the next exchange may have begun.
        if BEGUN.load(Ordering::SeqCst) == begun {
            break;
        }
    }
    // SAFETY: null, or a structure that is never freed.
    let before = unsafe { BEFORE.load(Ordering::SeqCst).as_ref() };
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    match (
        handler,
        before.map_or(0, |before| before.sa_flags) & libc::SA_SIGINFO,
    ) {
        (libc::SIG_DFL | libc::SIG_IGN, _) => {
            // The access is made again, and ends the process.
            // SAFETY: no pointer is given.
            unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        }
        (handler, 0) => {
            // SAFETY: the process' handler, of one argument.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
        (handler, _) => {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the process' handler, of three arguments.
            let handler: Handler = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::dma::{page_size, Pages};

    /// A thread counts in a page that is made still again and again: none of its writes is lost, and none is made meanwhile.
    #[test]
    fn who_writes_waits() {
        let len = page_size();
        let pages = Pages::new(len).expect("memory");
        let first = NonNull::new(pages.memory().as_ptr()).expect("an address");
        // SAFETY: a word of the page, which lives as long as the thread.
        let word: &AtomicU64 = unsafe { first.cast().as_ref() };
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let counts = scope.spawn(|| {
                let mut count = 0;
                while !over.load(Ordering::Relaxed) {
                    count += 1;
                    word.store(count, Ordering::Relaxed);
                }
                count
            });
            while word.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            let mut moved = 0;
            for _ in 0..200 {
                // SAFETY: a whole page of this test's.
                let still = unsafe { Still::begin(first, len) }.expect("possible");
                let before = word.load(Ordering::SeqCst);
                std::thread::yield_now();
                moved += u32::from(word.load(Ordering::SeqCst) != before);
                // SAFETY: the same.
                unsafe { still.give_up(first, len) };
            }
            over.store(true, Ordering::Relaxed);
            let counted = counts.join().expect("it counts");
            assert_eq!((moved, counted), (0, word.load(Ordering::SeqCst)));
        });
    }
}
