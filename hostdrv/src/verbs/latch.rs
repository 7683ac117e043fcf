//! A lock of one word that also says why the usual way is closed.
//!
//! ```text
//!   0         free, and nothing is unusual: one exchange takes it, one subtraction gives it back
//!   HELD      somebody has it
//!   WAITED    somebody sleeps for it
//!   others    reasons of its owner's: with one of them set, nobody passes but by `lock`
//! ```
//!
//! What it guards are atomics of its owner's, read and written in no order of their own.

use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{Condvar, Mutex};

const HELD: u32 = 1;
const WAITED: u32 = 2;
/// IdlePolls before a thread goes to sleep: a post takes some ten nanoseconds.
const LOOKS: usize = 64;

/// The lock. The upper 30 bits are reasons.
pub(super) struct Latch {
    word: AtomicU32,
    sleepers: Mutex<()>,
    woken: Condvar,
}

/// While it lives, its thread has the lock.
pub(super) struct Held<'a>(&'a Latch);

impl Latch {
    /// Free, with these reasons.
    pub(super) fn new(reasons: u32) -> Self {
        Self {
            word: AtomicU32::new(reasons),
            sleepers: Mutex::default(),
            woken: Condvar::new(),
        }
    }

    /// Takes it if it is free and there is no reason against it.
    #[inline(always)]
    pub(super) fn try_pass(&self) -> Option<Held<'_>> {
        let exchanged = self
            .word
            .compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed);
        match exchanged {
            Ok(_) => Some(Held(self)),
            Err(_) => None,
        }
    }

    /// Wakes who sleeps for it: has to follow [`Held::give_up`].
    pub(super) fn wake(&self) {
        if self.has(WAITED) {
            self.clear(WAITED);
        }
    }

    /// What came up while somebody passed: takes a reason away, was it there? And wakes who sleeps.
    pub(super) fn settle(&self, reason: u32) -> bool {
        self.clear(WAITED | reason) & reason != 0
    }

    /// Takes bits away, and wakes who sleeps if that is one of them; those that there were.
    fn clear(&self, bits: u32) -> u32 {
        let before = self.word.fetch_and(!bits, Ordering::AcqRel);
        if before & WAITED != 0 {
            // Who set the bit sleeps when it lets go of this.
            drop(self.sleepers.lock());
            self.woken.notify_all();
        }
        before
    }

    /// Takes it, whatever the reasons are; sleeps until it is free.
    pub(super) fn lock(&self) -> Held<'_> {
        for _ in 0..LOOKS {
            if self.take_free(0) {
                return Held(self);
            }
            std::hint::spin_loop();
        }
        let mut sleepers = self.sleepers.lock();
        while !self.take_free(WAITED) {
            self.woken.wait(&mut sleepers);
        }
        Held(self)
    }

    /// Takes it if it is free; else sets bits.
    fn take_free(&self, otherwise: u32) -> bool {
        let next = |word: u32| match word & HELD {
            0 => Some(word | HELD),
            _ => Some(word | otherwise),
        };
        let before = self
            .word
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, next);
        before.is_ok_and(|word| word & HELD == 0)
    }

    /// Sets a reason; false: it was set.
    pub(super) fn add(&self, reason: u32) -> bool {
        self.word.fetch_or(reason, Ordering::AcqRel) & reason == 0
    }

    /// Takes a reason away.
    pub(super) fn remove(&self, reason: u32) {
        self.word.fetch_and(!reason, Ordering::AcqRel);
    }

    /// Is there this reason?
    #[inline(always)]
    pub(super) fn has(&self, reason: u32) -> bool {
        self.word.load(Ordering::Acquire) & reason != 0
    }
}

impl Held<'_> {
    /// Gives it back and wakes nobody, so that there is no call in it: [`Latch::wake`] has to follow.
    #[inline(always)]
    pub(super) fn give_up(self) {
        self.pass_back();
    }

    /// Gives it back, whatever is set. Was nothing? Else [`Latch::settle`] has to follow.
    #[inline(always)]
    pub(super) fn pass_back(self) -> bool {
        let latch = self.0;
        std::mem::forget(self);
        // Nobody else takes this bit away.
        latch.word.fetch_sub(HELD, Ordering::Release) == HELD
    }

    /// Gives it back and takes a reason away; was it there?
    pub(super) fn leave(self, reason: u32) -> bool {
        let latch = self.0;
        std::mem::forget(self);
        latch.clear(HELD | WAITED | reason) & reason != 0
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.clear(HELD | WAITED);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    const REASON: u32 = 4;

    #[test]
    fn a_reason_closes_the_usual_way_only() {
        let latch = Latch::new(REASON);
        assert!(latch.try_pass().is_none());
        assert!(latch.lock().leave(REASON));
        let held = latch.try_pass().expect("free");
        assert!(latch.try_pass().is_none());
        assert!(latch.add(REASON));
        assert!(!latch.add(REASON));
        assert!(!held.pass_back());
        assert!(latch.try_pass().is_none());
        assert!(latch.settle(REASON));
        assert!(!latch.settle(REASON));
        assert!(latch.try_pass().expect("free").pass_back());
        latch.add(REASON);
        drop(latch.lock());
        assert!(latch.has(REASON));
    }

    /// Threads that pass, threads that lock and sleep, and one that sets reasons: one of them at a time.
    #[test]
    fn one_at_a_time() {
        const ROUNDS: u64 = 20_000;
        let latch = Latch::new(0);
        let (count, reasons) = (AtomicU64::new(0), AtomicU64::new(0));
        let step = || {
            let seen = count.load(Ordering::Relaxed);
            if seen % 512 == 0 {
                std::thread::yield_now();
            }
            count.store(seen + 1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let removed = if let Some(held) = latch.try_pass() {
                            step();
                            if count.load(Ordering::Relaxed) % 3 == 0 {
                                held.give_up();
                                latch.wake();
                                continue;
                            }
                            !held.pass_back() && latch.settle(REASON)
                        } else {
                            let held = latch.lock();
                            step();
                            held.leave(REASON)
                        };
                        reasons.fetch_sub(u64::from(removed), Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..ROUNDS {
                reasons.fetch_add(latch.add(REASON).into(), Ordering::Relaxed);
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 3 * ROUNDS);
        assert_eq!(
            reasons.load(Ordering::Relaxed),
            u64::from(latch.has(REASON))
        );
    }
}
