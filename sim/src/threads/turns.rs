//! The turn that a world's threads hand on.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use thiserror::Error;
use weft_card_transport::turns::{KeepsTurn, Seat, Turns as TurnsOfTransport};

use super::seats;
use super::table::{Call, Table};
use crate::transport::{lock, SharedWorld};
use crate::world::World;

/// Simulated time that polls in vain are taken for.
const POLLS_NS: u64 = 1_000;
/// A look of one that fails, whose calls come back at once.
const FAILED_NAP: Duration = Duration::from_millis(1);

/// Why the threads of a scope do not go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Stuck(pub(super) String);

/// The turns of a world.
#[derive(Default)]
pub(crate) struct Turns {
    /// A scope is open: whoever uses the world takes turns.
    open: AtomicBool,
    table: Mutex<Table>,
    world: OnceLock<Weak<Mutex<World>>>,
}

impl Turns {
    /// Whose turns they are.
    pub(crate) fn are_of(&self, world: &SharedWorld) {
        let _ = self.world.set(Arc::downgrade(world));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calling thread's number.
    pub(crate) fn me(&self) -> Option<u64> {
        match self.open.load(Ordering::Acquire) {
            true => seats::number(self),
            false => None,
        }
    }

    /// Is a scope open that the calling thread is not of?
    pub(crate) fn is_stranger(&self) -> bool {
        self.open.load(Ordering::Acquire) && seats::number(self).is_none()
    }

    /// Opens a scope: the caller is its first thread, and has the turn. `None`: another one is open.
    pub(super) fn open(self: &Arc<Self>, name: &str, limit: Duration) -> Option<u64> {
        let mut table = self.table();
        if self.open.swap(true, Ordering::AcqRel) {
            return None;
        }
        table.limit = limit;
        table.failed = None;
        let number = table.add(name);
        table.begin(number);
        drop(table);
        seats::enter(self, number);
        Some(number)
    }

    /// Closes it, when all its threads have ended. Those that drive devices are told that it is over.
    pub(super) fn close(&self, me: u64) -> Result<(), Stuck> {
        seats::leave(self, me);
        let mut table = self.table();
        table.members.remove(&me);
        table.running = None;
        let failed = table.failed.clone();
        table.fail("the scope of the simulation's threads is over".into());
        while !table.members.is_empty() {
            drop(table);
            std::thread::sleep(FAILED_NAP);
            table = self.table();
        }
        self.open.store(false, Ordering::Release);
        failed.map_or(Ok(()), |why| Err(Stuck(why)))
    }

    /// Registers a thread that the caller is about to start.
    pub(super) fn add(self: &Arc<Self>, name: &str) -> Option<Seat> {
        self.me()?;
        let number = self.table().add(name);
        Some(Seat::new(Arc::clone(self) as Arc<_>, number))
    }

    /// Nobody gets a turn any more.
    pub(super) fn fail(&self, why: String) {
        self.table().fail(why);
    }

    /// Gives the turn up until the call has what it waits for.
    pub(crate) fn wait(&self, me: u64, call: Call) -> Result<(), Stuck> {
        self.wait_releasing(me, call, || ())
    }

    /// The same; `release` gives a lock back once the thread counts as waiting.
    fn wait_releasing(&self, me: u64, call: Call, release: impl FnOnce()) -> Result<(), Stuck> {
        seats::forget_polls(self);
        let mut table = self.table();
        table.set(me, call);
        release();
        self.pass_on(&mut table, me);
        self.await_turn(table, me)
    }

    /// Looks whenever another thread has run, until there is something.
    pub(super) fn look<T>(
        &self,
        me: u64,
        what: &str,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Stuck> {
        loop {
            if let Some(found) = look() {
                let mut table = self.table();
                table.acts += 1;
                table.set(me, Call::Runs);
                return Ok(found);
            }
            let call = Call::Looks {
                what: what.to_owned(),
                seen: self.table().acts,
            };
            self.wait(me, call)?;
        }
    }

    /// Waits until a thread has left. A run that is stuck lets the system join it.
    pub(super) fn join_in_turn(&self, number: u64) {
        if let Some(me) = self.me() {
            let _ = self.wait(me, Call::Joins(number));
        }
    }

    /// The world's time.
    pub(super) fn now(&self) -> u64 {
        self.world().map_or(0, |world| lock(&world).now())
    }

    fn world(&self) -> Option<SharedWorld> {
        self.world.get()?.upgrade()
    }

    /// The turn goes to whoever is next behind `from`; time goes on until there is one.
    fn pass_on(&self, table: &mut Table, from: u64) {
        table.running = None;
        let Some(shared) = self.world() else { return };
        let mut world = lock(&shared);
        while table.failed.is_none() && !table.members.is_empty() {
            if let Some(next) = table.next(from, &world) {
                table.begin(next);
                if let Some(member) = table.members.get(&next).filter(|_| next != from) {
                    member.turn.notify_one();
                }
                return;
            }
            if let Err(why) = table.pass_time(&mut world) {
                table.fail(why);
            }
        }
    }

    /// Waits until it is this thread's turn.
    fn await_turn(&self, mut table: MutexGuard<'_, Table>, me: u64) -> Result<(), Stuck> {
        let limit = table.limit;
        loop {
            if let Some(why) = &table.failed {
                return Err(Stuck(why.clone()));
            }
            let Some(member) = table.members.get(&me) else {
                return Ok(());
            };
            if table.running == Some(me) {
                return Ok(());
            }
            let turn = Arc::clone(&member.turn);
            let beats = table.beats;
            let waited = turn.wait_timeout(table, limit);
            let (guard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            table = guard;
            if waited.timed_out() && table.beats == beats && table.failed.is_none() {
                let why = format!(
                    "no thread has given its turn up for {limit:?}: {}",
                    table.told()
                );
                // Not by `eprintln`, which a test's harness keeps until the test is over.
                let _ = std::io::stderr().write_all(format!("\n{why}\n").as_bytes());
                table.fail(why);
            }
        }
    }
}

impl TurnsOfTransport for Turns {
    fn is_member(&self) -> bool {
        self.me().is_some()
    }

    fn register(self: Arc<Self>, name: &str) -> Option<Seat> {
        self.add(name)
    }

    fn begin(self: Arc<Self>, number: u64) {
        seats::enter(&self, number);
        // What has failed says so in the first call that waits.
        let _ = self.await_turn(self.table(), number);
    }

    fn leave(&self, number: u64) {
        seats::leave(self, number);
        let mut table = self.table();
        table.members.remove(&number);
        // One that was never begun has no turn to hand on.
        if table.running == Some(number) {
            self.pass_on(&mut table, number);
        }
    }

    fn join(&self, number: u64) {
        self.join_in_turn(number);
    }

    fn park(&self, place: u64, what: &'static str, release: &mut dyn FnMut()) {
        let Some(me) = self.me() else {
            return release();
        };
        let call = Call::Parked { place, what };
        if self.wait_releasing(me, call, release).is_err() {
            std::thread::sleep(FAILED_NAP);
        }
    }

    fn unpark(&self, place: u64, all: bool) -> bool {
        if !self.open.load(Ordering::Acquire) {
            return false;
        }
        let mut table = self.table();
        let there = |call: &Call| matches!(call, Call::Parked { place: at, .. } if *at == place);
        let parked = table.members.values_mut();
        let mut woken = false;
        for member in parked.filter(|member| there(&member.call)) {
            member.call = Call::Ready;
            woken = true;
            if !all {
                break;
            }
        }
        woken
    }

    fn polled(&self) {
        let Some(me) = self.me() else { return };
        if seats::count_poll(self) && !KeepsTurn::is_kept() {
            // What has failed says so in the next call that waits.
            let _ = self.wait(me, Call::Until(self.now().saturating_add(POLLS_NS)));
        }
    }
}
