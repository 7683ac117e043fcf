//! Threads of a device that wait for one another, under one lock.
//!
//! Where threads take turns ([`Turns`]), those that do wait there; all others wait by the system.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weft_card_transport::turns::Turns;

/// The next queue's place.
static NEXT_PLACE: AtomicU64 = AtomicU64::new(0);

/// The queue.
pub(super) struct ThreadQueue {
    woken: Condvar,
    turns: Option<Arc<dyn Turns>>,
    place: u64,
    /// What is told of a thread that waits here.
    what: &'static str,
}

impl ThreadQueue {
    pub(super) fn new(turns: Option<Arc<dyn Turns>>, what: &'static str) -> Self {
        Self {
            woken: Condvar::new(),
            turns,
            place: NEXT_PLACE.fetch_add(1, Ordering::Relaxed),
            what,
        }
    }

    /// Waits until it is notified; may come back early.
    pub(super) fn wait<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
    ) -> MutexGuard<'a, T> {
        let turns = self.turns.as_ref().filter(|turns| turns.is_member());
        let Some(turns) = turns else {
            let woken = self.woken.wait(guard);
            return woken.unwrap_or_else(PoisonError::into_inner);
        };
        let mut guard = Some(guard);
        turns.park(self.place, self.what, &mut || drop(guard.take()));
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for so long, by the system's clock.
    pub(super) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> MutexGuard<'a, T> {
        let waited = self.woken.wait_timeout(guard, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// One of them is to go on. Called with the lock.
    pub(super) fn notify_one(&self) {
        if !self.unpark(false) {
            self.woken.notify_one();
        }
    }

    /// All are to go on. Called with the lock.
    pub(super) fn notify_all(&self) {
        self.unpark(true);
        self.woken.notify_all();
    }

    fn unpark(&self, all: bool) -> bool {
        let turns = self.turns.as_ref();
        turns.is_some_and(|turns| turns.unpark(self.place, all))
    }
}
