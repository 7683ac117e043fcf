//! Threads that use one world by its transports, and that no scope has spawned.
//!
//! A thread in a blocking call runs the world for all. So it has to let the others in, must not take away the time that they
//! wait for, and must not leap over an idle time in which one of them was just about to do something.
//!
//! A thread that drives a device (`Transport::drives`) is another kind: time stands still while it is awake, and it runs the world only when no thread
//! of a program has done anything for a while. So what one such thread and a program of one thread do comes in one order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::transport::{lock, SharedWorld};
use crate::world::{bit, World};

/// A thread that has left the world alone for so long does not keep it from leaping.
const PATIENCE: Duration = Duration::from_secs(1);
/// One that drives a device and has done nothing for so long is stuck.
const DRIVER_PATIENCE: Duration = Duration::from_secs(10);
/// It keeps it from shorter leaps for so much of the machine's time for each unit of simulated time.
const PACE: u64 = 4;
/// And so long at least.
const LEAST: Duration = Duration::from_micros(50);

thread_local! {
    /// Gone when its thread is.
    static ALIVE: Arc<()> = Arc::default();
}

/// Who uses a world.
#[derive(Default)]
pub(crate) struct Unregistered {
    /// Threads that wait for the world's lock.
    wanting: AtomicUsize,
    users: Mutex<Vec<UserThread>>,
    /// Goes with the world's lock.
    changed: Condvar,
    /// Threads that wait for it: without one nobody is told, which would be a system call.
    paused: AtomicUsize,
}

/// A thread.
struct UserThread {
    thread: ThreadId,
    alive: Weak<()>,
    /// When it last did something.
    active: Instant,
    sleep: Option<Sleep>,
    /// It drives a device.
    drives: bool,
}

/// What a thread waits for.
#[derive(Clone, Copy)]
struct Sleep {
    card: usize,
    vector: u16,
    deadline: Option<u64>,
}

/// While it lives, its thread is in a blocking call.
pub(crate) struct Asleep<'a>(&'a Unregistered);

impl Unregistered {
    fn users(&self) -> MutexGuard<'_, Vec<UserThread>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_me<T>(&self, change: impl FnOnce(&mut UserThread) -> T) -> T {
        let thread = thread::current().id();
        let mut users = self.users();
        let at = users.iter().position(|person| person.thread == thread);
        let at = at.unwrap_or_else(|| {
            users.retain(|person| person.alive.strong_count() > 0);
            users.push(UserThread {
                thread,
                alive: ALIVE.with(Arc::downgrade),
                active: Instant::now(),
                sleep: None,
                drives: false,
            });
            users.len() - 1
        });
        change(&mut users[at])
    }

    /// Locks the world for an access by this thread.
    pub(crate) fn enter<'w>(&self, world: &'w SharedWorld) -> MutexGuard<'w, World> {
        self.wanting.fetch_add(1, Ordering::SeqCst);
        let guard = lock(world);
        self.wanting.fetch_sub(1, Ordering::SeqCst);
        self.with_me(|me| me.active = Instant::now());
        self.call();
        guard
    }

    /// This thread is in a blocking call from now on. Called with the world's lock.
    pub(crate) fn sleep(&self, card: usize, vector: u16, deadline: Option<u64>) -> Asleep<'_> {
        let sleep = Sleep {
            card,
            vector,
            deadline,
        };
        self.with_me(|me| me.sleep = Some(sleep));
        self.call();
        Asleep(self)
    }

    /// This thread drives a device from now on, or does so no longer. Called with the world's lock.
    pub(crate) fn drive(&self, on: bool) {
        self.with_me(|me| me.drives = on);
        self.call();
    }

    /// Tells everybody to look again. Called with the world's lock.
    pub(crate) fn call(&self) {
        if self.paused.load(Ordering::SeqCst) > 0 {
            self.changed.notify_all();
        }
    }
}

impl Asleep<'_> {
    fn others<T>(&self, of: impl FnOnce(&mut dyn Iterator<Item = &UserThread>) -> T) -> T {
        let me = thread::current().id();
        let users = self.0.users();
        let mut others = users
            .iter()
            .filter(|person| person.thread != me && person.alive.strong_count() > 0);
        of(&mut others)
    }

    /// Has what another thread waits for come, and it has not noticed yet?
    pub(crate) fn is_another_called(&self, world: &World) -> bool {
        let called = |sleep: &Sleep| {
            let bit = bit(sleep.vector);
            world.pending(sleep.card) & bit != 0
                || sleep.deadline.is_some_and(|at| at <= world.now())
        };
        self.others(|others| {
            others
                .filter_map(|person| person.sleep.as_ref())
                .any(called)
        })
    }

    /// Is a thread awake that drives a device? It will soon sleep again.
    pub(crate) fn is_one_driving(&self) -> bool {
        self.others(|others| {
            others
                .filter(|person| person.drives && person.sleep.is_none())
                .any(|person| person.active.elapsed() < DRIVER_PATIENCE)
        })
    }

    /// Does this thread drive a device, and leave the world to threads of programs?
    pub(crate) fn leaves_it_to_others(&self) -> bool {
        self.0.with_me(|me| me.drives)
            && self.others(|others| {
                others
                    .filter(|person| !person.drives)
                    .any(|person| person.sleep.is_some() || person.active.elapsed() < PATIENCE)
            })
    }

    /// The earliest deadline of the other threads.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.others(|others| {
            others
                .filter_map(|person| person.sleep.as_ref()?.deadline)
                .min()
        })
    }

    /// How long to wait for the threads that are awake before a leap of so much time, in a world where nothing has happened
    /// for `quiet`; `None`: there is none that could do something yet. One that only looks, again and again, does not keep the
    /// world from leaping.
    pub(crate) fn grace(&self, leap_ns: Option<u64>, quiet: Duration) -> Option<Duration> {
        let patience = leap_ns.map_or(PATIENCE, |ns| {
            Duration::from_nanos(ns.saturating_mul(PACE)).clamp(LEAST, PATIENCE)
        });
        self.others(|others| {
            let awake = others.filter(|person| person.sleep.is_none());
            let left =
                awake.map(|person| patience.saturating_sub(person.active.elapsed().max(quiet)));
            match leap_ns {
                // Nothing will happen without them, however long they take.
                None => left.max().map(|left| left.max(LEAST)),
                Some(_) => left.max().filter(|left| !left.is_zero()),
            }
        })
    }

    /// Lets those into the world who want to.
    pub(crate) fn give_way<'w>(
        &self,
        world: &'w SharedWorld,
        guard: MutexGuard<'w, World>,
    ) -> MutexGuard<'w, World> {
        drop(guard);
        while self.0.wanting.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        lock(world)
    }

    /// Lets others do what they have to, until somebody does something, or for so long.
    pub(crate) fn pause<'w>(
        &self,
        guard: MutexGuard<'w, World>,
        time: Duration,
    ) -> MutexGuard<'w, World> {
        self.0.call();
        self.0.paused.fetch_add(1, Ordering::SeqCst);
        let waited = self.0.changed.wait_timeout(guard, time);
        self.0.paused.fetch_sub(1, Ordering::SeqCst);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.with_me(|me| {
            me.sleep = None;
            me.active = Instant::now();
        });
        self.0.call();
    }
}
