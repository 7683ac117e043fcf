//! Threads that take turns: in a simulated world one thread of a program runs at a time, and each waits in the simulation for the others.
//!
//! A driver waits for the card in [`Transport::wait`](crate::Transport::wait). Where a thread waits for another thread of the driver, or starts one, it asks the
//! transport's [`Turns`] instead of the system.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

/// The turns of a world's threads.
pub trait Turns: Send + Sync {
    /// Does the calling thread take turns?
    fn is_member(&self) -> bool;

    /// Registers a thread that the caller is about to start, behind all others. `None`: the caller takes no turns, and its thread needs none.
    fn register(self: Arc<Self>, name: &str) -> Option<Seat>;

    /// The calling thread is the registered one with this number. Returns when its turn has come.
    fn begin(self: Arc<Self>, number: u64);

    /// The thread with this number takes no more turns.
    fn leave(&self, number: u64);

    /// Waits until the thread with this number has left.
    fn join(&self, number: u64);

    /// Waits until another thread calls [`unpark`](Self::unpark) with this place. `release` gives a lock back: it is called once the thread counts as waiting.
    /// May come back early.
    fn park(&self, place: u64, what: &'static str, release: &mut dyn FnMut());

    /// The first of those who wait at this place is to go on, or all of them. Was there one?
    fn unpark(&self, place: u64, all: bool) -> bool;

    /// The calling thread has polled in vain: after some of these it gives way.
    fn polled(&self);
}

/// The place of a thread that was registered; left when it is dropped.
pub struct Seat {
    turns: Arc<dyn Turns>,
    number: u64,
}

impl Seat {
    /// The seat of a registered thread.
    pub fn new(turns: Arc<dyn Turns>, number: u64) -> Self {
        Self { turns, number }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What waits until it is left.
    pub fn joined(&self) -> Joined {
        Joined {
            turns: Arc::clone(&self.turns),
            number: self.number,
        }
    }

    /// The calling thread is the registered one. Returns when its turn has come.
    pub fn begin(&self) {
        Arc::clone(&self.turns).begin(self.number);
    }
}

/// Waits for a thread that was registered.
pub struct Joined {
    turns: Arc<dyn Turns>,
    number: u64,
}

impl Joined {
    /// Waits until it takes no more turns.
    pub fn wait(&self) {
        self.turns.join(self.number);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.turns.leave(self.number);
    }
}

thread_local! {
    static KEPT: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, its thread keeps its turn in [`Transport::wait`](crate::Transport::wait): it holds a lock that another thread may want.
pub struct KeepsTurn(PhantomData<*const ()>);

impl KeepsTurn {
    /// The calling thread keeps its turn.
    pub fn begin() -> Self {
        KEPT.with(|kept| kept.set(kept.get() + 1));
        Self(PhantomData)
    }

    /// Does the calling thread keep its turn?
    pub fn is_kept() -> bool {
        KEPT.with(|kept| kept.get() > 0)
    }
}

impl Drop for KeepsTurn {
    fn drop(&mut self) {
        KEPT.with(|kept| kept.set(kept.get().saturating_sub(1)));
    }
}
