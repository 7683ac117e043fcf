//! Threads asleep on one device.
//!
//! One of them at a time, the leader, waits for the card's interrupt, for the earliest timer and for the earliest
//! deadline of all. The others wait in a queue of this process. What any thread does for another's good (a completion, an
//! event, a failure) is announced, and wakes all; a thread that arms an earlier timer wakes the leader; a leader that
//! leaves wakes the next. So nobody depends on who takes the interrupt.
//!
//! The device's own thread ([`drive`](super::drive)) leads while no other one sleeps, and leaves to whoever comes: a call that waits for a
//! completion takes it itself, without a second thread in between.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use weft_card_transport::Transport;

use super::thread_queue::ThreadQueue;

/// Who sleeps on a device, and what they are told.
pub(crate) struct Sleepers {
    transport: Arc<dyn Transport>,
    /// Counts what a sleeper may wait for.
    happened: AtomicU64,
    /// Who sleeps, or is about to: threads, the device's own, and files that somebody may sleep by.
    asleep: AtomicUsize,
    line: Mutex<Line>,
    woken: ThreadQueue,
    /// The device's own thread may lead, or is to end.
    driver: ThreadQueue,
}

#[derive(Default)]
struct Line {
    leader: Option<Leader>,
    /// The leader is the device's own thread.
    is_driven: bool,
    /// That thread waits until nobody else sleeps.
    is_parked: bool,
    /// It is to end.
    is_over: bool,
    /// The program sleeps by itself: that thread does not keep away from it.
    is_left: bool,
    /// Those who do not lead: deadline (never: the last time there is) and number.
    followers: BTreeSet<(u64, u64)>,
    next_number: u64,
}

/// The thread that waits for the card.
enum Leader {
    /// It does something else just now, and looks at everything before it waits.
    Awake,
    /// It waits until this time at most.
    Waits(u64),
}

/// How a sleep may go on.
pub(super) enum Turn<'a> {
    /// Something has happened, or the deadline has come.
    Over,
    /// It is this thread that waits for the card.
    Lead(Leading<'a>),
}

/// While it lives, its thread is the leader.
pub(super) struct Leading<'a> {
    sleepers: &'a Sleepers,
    /// What has happened when it began; the device's own thread waits for nothing that others do.
    seen: Option<u64>,
    deadline: Option<u64>,
    _asleep: Asleep<'a>,
}

/// While it lives, its thread counts as asleep.
struct Asleep<'a>(&'a Sleepers, usize);

/// What counts how much: the device's own thread, a file, any other thread.
const DRIVER: usize = 1;
const FILE: usize = 1 << 1;
const CALLER: usize = 1 << 16;

const NEVER: u64 = u64::MAX;

impl Sleepers {
    pub(super) fn new(transport: Arc<dyn Transport>) -> Self {
        let queue = |what| ThreadQueue::new(transport.turns(), what);
        Self {
            woken: queue("sleeps on a device behind another thread"),
            driver: queue("drives a device that other threads wait for"),
            transport,
            happened: AtomicU64::new(0),
            asleep: AtomicUsize::new(0),
            line: Mutex::default(),
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has happened so far: to be asked for before looking for what one would sleep for.
    pub(crate) fn seen(&self) -> u64 {
        self.happened.load(Ordering::SeqCst)
    }

    /// Something happened that a sleeper may wait for.
    pub(crate) fn announce(&self) {
        // Whoever goes to sleep counts himself first and looks at this number then.
        self.happened.fetch_add(1, Ordering::SeqCst);
        if !self.is_caller_asleep() {
            return;
        }
        let mut line = self.line();
        self.wake_leader(&mut line, 0);
        self.woken.notify_all();
    }

    /// Is anybody asleep, or may sleep by a file? If not, nobody has to be told of timers, and who posts need not send.
    #[inline(always)]
    pub(super) fn is_anybody_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) > 0
    }

    /// May somebody sleep by a file?
    #[inline]
    pub(super) fn is_file_out(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) & (CALLER - FILE) != 0
    }

    /// There is one file more to sleep by, or one less.
    pub(super) fn count_file(&self, more: bool) {
        match more {
            true => self.asleep.fetch_add(FILE, Ordering::SeqCst),
            false => self.asleep.fetch_sub(FILE, Ordering::SeqCst),
        };
    }

    /// Is another thread than the device's own asleep?
    #[inline(always)]
    pub(super) fn is_caller_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) >= CALLER
    }

    /// The next timer of the device is due at this time. Called under the device's lock.
    pub(super) fn timer_at(&self, at: u64) {
        self.wake_leader(&mut self.line(), at);
    }

    /// Wakes the leader if it waits for longer than until `at`.
    fn wake_leader(&self, line: &mut Line, at: u64) {
        if let Some(Leader::Waits(until)) = line.leader {
            if at < until {
                // Once is enough.
                line.leader = Some(Leader::Awake);
                self.transport.wake(0);
            }
        }
    }

    /// Sleeps until something has happened since `seen`, `deadline` has come, or this thread is to lead.
    pub(super) fn sleep(
        &self,
        seen: u64,
        deadline: Option<u64>,
        now: impl Fn() -> u64,
    ) -> Turn<'_> {
        let asleep = Asleep::new(self, CALLER);
        let until = deadline.unwrap_or(NEVER);
        let mut line = self.line();
        let number = line.next_number;
        line.next_number += 1;
        let over = loop {
            if self.seen() != seen || now() >= until {
                break true;
            }
            if line.leader.is_none() {
                break false;
            }
            line.followers.insert((until, number));
            // The leader keeps the time for all; the device's own thread leaves.
            let before = if line.is_driven { 0 } else { until };
            self.wake_leader(&mut line, before);
            line = self.woken.wait(&self.line, line);
            line.followers.remove(&(until, number));
        };
        if over {
            self.hand_over(&line, now());
            return Turn::Over;
        }
        line.leader = Some(Leader::Awake);
        drop(line);
        Turn::Lead(Leading {
            sleepers: self,
            seen: Some(seen),
            deadline,
            _asleep: asleep,
        })
    }

    /// The device's own thread leads, unless somebody else sleeps or it is to end.
    pub(super) fn drive(&self) -> Option<Leading<'_>> {
        let asleep = Asleep::new(self, DRIVER);
        let mut line = self.line();
        if line.is_over || line.has_callers() {
            return None;
        }
        line.leader = Some(Leader::Awake);
        line.is_driven = true;
        drop(line);
        Some(Leading {
            sleepers: self,
            seen: None,
            deadline: None,
            _asleep: asleep,
        })
    }

    /// The device's own thread waits until nobody else sleeps, and then for `nap`. False: it is to end.
    pub(super) fn stand_by(&self, nap: Duration) -> bool {
        let mut line = self.line();
        while !line.is_over && line.has_callers() {
            line.is_parked = true;
            line = self.driver.wait(&self.line, line);
            line.is_parked = false;
        }
        if !line.is_over && !nap.is_zero() && !line.is_left {
            line = self.driver.wait_timeout(line, nap);
        }
        line.is_left = false;
        !line.is_over
    }

    /// The device's own thread has nobody to keep away from.
    pub(super) fn leave(&self) {
        let mut line = self.line();
        line.is_left = true;
        // It is the only one that waits there.
        self.driver.notify_all();
    }

    /// Is the device's own thread to end?
    pub(super) fn is_over(&self) -> bool {
        self.line().is_over
    }

    /// The device's own thread is to go on, or to end.
    pub(super) fn let_drive(&self, goes_on: bool) {
        let mut line = self.line();
        line.is_over = !goes_on;
        if line.is_over {
            if line.is_driven {
                self.wake_leader(&mut line, 0);
            }
            self.driver.notify_all();
        }
    }

    /// If nobody leads, somebody else is to; those whose time has come are to go.
    fn hand_over(&self, line: &Line, now: u64) {
        match line.followers.first() {
            Some((until, _)) if *until <= now => self.woken.notify_all(),
            Some(_) if line.leader.is_none() => self.woken.notify_one(),
            None if line.leader.is_none() && line.is_parked => self.driver.notify_one(),
            _ => {}
        }
    }
}

impl Line {
    /// Does another thread than the device's own sleep? Asked by that one, which does not.
    fn has_callers(&self) -> bool {
        self.leader.is_some() || !self.followers.is_empty()
    }
}

impl Leading<'_> {
    /// Begins to wait, until `timer` or the earliest deadline: until when. `None`: something has happened. Called under the
    /// device's lock, so that no timer is armed unseen.
    pub(super) fn begin(&self, timer: Option<u64>) -> Option<Option<u64>> {
        let sleepers = self.sleepers;
        let mut line = sleepers.line();
        if self.seen.is_some_and(|seen| sleepers.seen() != seen) {
            return None;
        }
        if line.is_driven && (line.is_over || !line.followers.is_empty()) {
            return None;
        }
        let first = line.followers.first().map_or(NEVER, |(until, _)| *until);
        let until = [timer, self.deadline]
            .into_iter()
            .flatten()
            .fold(first, u64::min);
        line.leader = Some(Leader::Waits(until));
        Some((until != NEVER).then_some(until))
    }

    /// The wait is over.
    pub(super) fn end(&self) {
        self.sleepers.line().leader = Some(Leader::Awake);
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let mut line = self.sleepers.line();
        line.leader = None;
        line.is_driven = false;
        self.sleepers
            .hand_over(&line, self.sleepers.transport.now());
    }
}

impl<'a> Asleep<'a> {
    fn new(sleepers: &'a Sleepers, counts: usize) -> Self {
        sleepers.asleep.fetch_add(counts, Ordering::SeqCst);
        Self(sleepers, counts)
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.asleep.fetch_sub(self.1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_card_transport::NoCard;

    const SECONDS: u64 = 1_000_000_000;

    /// The device's own thread leaves to whoever comes, also if its timer is due before that one's deadline.
    #[test]
    fn a_caller_takes_the_card_from_the_driver() {
        let transport = Arc::new(NoCard::new().expect("files"));
        let sleepers = Sleepers::new(transport.clone());
        let timer = transport.now() + 20 * SECONDS;
        let leading = sleepers.drive().expect("nobody sleeps");
        assert_eq!(leading.begin(Some(timer)), Some(Some(timer)));
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| {
                let deadline = Some(timer + 20 * SECONDS);
                let turn = sleepers.sleep(sleepers.seen(), deadline, || transport.now());
                matches!(turn, Turn::Lead(_))
            });
            transport.wait(0, Some(timer)).expect("works");
            assert!(transport.now() < timer, "it waited for its timer");
            drop(leading);
            assert!(
                caller.join().expect("no panic"),
                "nobody waits for the card"
            );
        });
    }
}
