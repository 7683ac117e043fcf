//! Threads of a program's own test, in a simulated world.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::seats;
use super::table::Call;
use super::turns::{Stuck, Turns};
use crate::transport::{lock, SharedWorld};

/// Real time without a turn after which a run is stuck, unless the caller says another.
const STUCK_AFTER: Duration = Duration::from_secs(60);

/// Where threads are spawned that take turns.
pub struct Scope<'scope, 'env: 'scope> {
    threads: &'scope thread::Scope<'scope, 'env>,
    turns: Arc<Turns>,
    /// Those that were spawned and not joined yet.
    spawned: Arc<Mutex<Vec<u64>>>,
}

/// A thread of a scope.
pub struct ScopedThread<'scope, T> {
    turns: Arc<Turns>,
    number: u64,
    thread: Result<thread::ScopedJoinHandle<'scope, T>, String>,
}

/// Runs `f`, whose threads take turns in this world; the caller is the first of them. Returns when all have ended.
///
/// One thread runs at a time. It gives its turn up in a blocking call of the driver, in [`sleep`], [`until`], [`yield_now`] and [`ScopedThread::join`], and after
/// some polls in vain. The next is the next in the order of spawning that has what it waits for; when none has, simulated time goes on.
///
/// # Errors
/// [`Stuck`] with every thread's name and call: nothing was left to happen, or no thread gave its turn up for a minute. The threads' calls fail with it
/// as well. After a panic of one they say so.
///
/// # Panics
/// With a panic of `f`, or of a thread that was not joined.
pub fn scope<'env, T>(
    world: &SharedWorld,
    f: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T,
) -> Result<T, Stuck> {
    scope_within(world, STUCK_AFTER, f)
}

/// [`scope`] with another limit of real time for a turn. It orders nothing: a run that keeps it is the same with any.
///
/// # Errors
/// As `scope`.
pub fn scope_within<'env, T>(
    world: &SharedWorld,
    limit: Duration,
    f: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T,
) -> Result<T, Stuck> {
    let turns = Arc::clone(&lock(world).threads().turns);
    turns.are_of(world);
    if turns.me().is_some() {
        return Ok(run(&turns, f));
    }
    let thread = thread::current();
    let name = thread.name().unwrap_or("main");
    let Some(me) = turns.open(name, limit) else {
        let why = "another thread has a scope of this world";
        return Err(Stuck(why.into()));
    };
    let found = catch_unwind(AssertUnwindSafe(|| run(&turns, f)));
    let closed = turns.close(me);
    match found {
        Ok(found) => closed.map(|()| found),
        Err(panic) => resume_unwind(panic),
    }
}

fn run<'env, T>(turns: &Arc<Turns>, f: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T) -> T {
    thread::scope(|threads| {
        let scope = Scope {
            threads,
            turns: Arc::clone(turns),
            spawned: Arc::default(),
        };
        let found = catch_unwind(AssertUnwindSafe(|| f(&scope)));
        if found.is_err() {
            turns.fail("the scope's own thread panicked".into());
        }
        while let Some(number) = scope.take_spawned() {
            turns.join_in_turn(number);
        }
        match found {
            Ok(found) => found,
            Err(panic) => resume_unwind(panic),
        }
    })
}

impl<'scope> Scope<'scope, '_> {
    /// A thread more, behind all others; it runs when its turn comes. Its name is the one that a stuck run is told by.
    pub fn spawn<T: Send + 'scope>(
        &self,
        name: &str,
        f: impl FnOnce() -> T + Send + 'scope,
    ) -> ScopedThread<'scope, T> {
        let Some(seat) = self.turns.add(name) else {
            let why = "the spawning thread is not of the scope".to_owned();
            return self.spawned(u64::MAX, Err(why));
        };
        let number = seat.number();
        let (turns, told) = (Arc::clone(&self.turns), name.to_owned());
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn_scoped(self.threads, move || {
            seat.begin();
            let found = catch_unwind(AssertUnwindSafe(f));
            if found.is_err() {
                turns.fail(format!("`{told}` panicked"));
            }
            drop(seat);
            match found {
                Ok(found) => found,
                Err(panic) => resume_unwind(panic),
            }
        });
        let thread = thread.map_err(|e| format!("the system has no thread for `{name}`: {e}"));
        if let Err(why) = &thread {
            self.turns.fail(why.clone());
        }
        self.spawned(number, thread)
    }

    fn spawned<T>(
        &self,
        number: u64,
        thread: Result<thread::ScopedJoinHandle<'scope, T>, String>,
    ) -> ScopedThread<'scope, T> {
        let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
        spawned.push(number);
        ScopedThread {
            turns: Arc::clone(&self.turns),
            number,
            thread,
        }
    }

    fn take_spawned(&self) -> Option<u64> {
        let mut spawned = self.spawned.lock().unwrap_or_else(PoisonError::into_inner);
        spawned.pop()
    }
}

impl Clone for Scope<'_, '_> {
    fn clone(&self) -> Self {
        Self {
            threads: self.threads,
            turns: Arc::clone(&self.turns),
            spawned: Arc::clone(&self.spawned),
        }
    }
}

impl<T> ScopedThread<'_, T> {
    /// Waits in the simulation until it has ended.
    ///
    /// # Errors
    /// What it panicked with; why it was not started.
    pub fn join(self) -> thread::Result<T> {
        self.turns.join_in_turn(self.number);
        match self.thread {
            Ok(thread) => thread.join(),
            Err(why) => Err(Box::new(why)),
        }
    }
}

/// The calling thread's turns.
fn own() -> Result<(Arc<Turns>, u64), Stuck> {
    let why = "this thread is of no scope of a simulated world";
    seats::latest().ok_or_else(|| Stuck(why.into()))
}

/// Sleeps for so much simulated time.
///
/// # Errors
/// The run is stuck, or the caller is of no scope.
pub fn sleep(ns: u64) -> Result<(), Stuck> {
    let (turns, me) = own()?;
    turns.wait(me, Call::Until(turns.now().saturating_add(ns)))
}

/// Gives the turn up once.
///
/// # Errors
/// The run is stuck, or the caller is of no scope.
pub fn yield_now() -> Result<(), Stuck> {
    let (turns, me) = own()?;
    turns.wait(me, Call::Ready)
}

/// Looks whenever another thread has run, until there is something: for what threads tell each other by other means than the world's, such as
/// `until("an answer", || answers.try_recv().ok())`.
///
/// # Errors
/// The run is stuck, or the caller is of no scope.
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> Result<T, Stuck> {
    let (turns, me) = own()?;
    turns.look(me, what, look)
}
