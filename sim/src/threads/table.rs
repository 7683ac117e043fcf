//! Who takes turns in a world, what each waits for, and who is next.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar};
use std::time::Duration;

use crate::world::{bit, Stop, World};

/// Time goes on by steps of this: who looks whether a run is stuck sees that it is not.
const STEP_NS: u64 = 1_000_000;

/// What a thread does.
#[derive(Clone)]
pub(crate) enum Call {
    /// It has the turn.
    Runs,
    /// It waits for nothing but its turn.
    Ready,
    /// It sleeps for the interrupt of a card.
    Interrupt {
        card: usize,
        vector: u16,
        deadline: Option<u64>,
        woken: Arc<AtomicU64>,
    },
    /// It sleeps until this time.
    Until(u64),
    /// It sleeps until any card has asked for an interrupt, or this time.
    AnyInterrupt(u64),
    /// It waits for another thread of the driver.
    Parked { place: u64, what: &'static str },
    /// It looks whether something has come about, whenever another thread has run.
    Looks { what: String, seen: u64 },
    /// It waits for the end of a thread.
    Joins(u64),
}

/// A thread.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) call: Call,
    /// Its turn has come.
    pub(super) turn: Arc<Condvar>,
}

/// The threads by number.
#[derive(Default)]
pub(super) struct Table {
    pub(super) members: BTreeMap<u64, Member>,
    next_number: u64,
    pub(super) running: Option<u64>,
    /// Turns that were more than a look.
    pub(super) acts: u64,
    /// Real time without a turn after which a run is stuck. It ends a run and orders nothing.
    pub(super) limit: Duration,
    /// Whatever shows that the run is not stuck.
    pub(super) beats: u64,
    /// Why nobody gets a turn any more.
    pub(super) failed: Option<String>,
}

impl Table {
    /// A thread more, behind all others.
    pub(super) fn add(&mut self, name: &str) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        let member = Member {
            name: name.to_owned(),
            call: Call::Ready,
            turn: Arc::default(),
        };
        self.members.insert(number, member);
        number
    }

    /// What a thread does now.
    pub(super) fn set(&mut self, number: u64, call: Call) {
        if let Some(member) = self.members.get_mut(&number) {
            member.call = call;
        }
    }

    /// The next one behind `from` by number, and from the first again, that can go on.
    pub(super) fn next(&self, from: u64, world: &World) -> Option<u64> {
        let behind = self.members.range(from.saturating_add(1)..);
        let mut all = behind.chain(self.members.range(..=from));
        let next = all.find(|(_, member)| self.can_go_on(&member.call, world));
        next.map(|(number, _)| *number)
    }

    fn can_go_on(&self, call: &Call, world: &World) -> bool {
        match call {
            Call::Runs | Call::Parked { .. } => false,
            Call::Ready => true,
            Call::Interrupt {
                card,
                vector,
                deadline,
                woken,
            } => {
                let bit = bit(*vector);
                world.pending(*card) & bit != 0
                    || deadline.is_some_and(|at| at <= world.now())
                    || woken.load(Ordering::Acquire) & bit != 0
            }
            Call::Until(at) => *at <= world.now(),
            Call::AnyInterrupt(at) => *at <= world.now() || world.interrupt_pending(),
            Call::Looks { seen, .. } => *seen != self.acts,
            Call::Joins(other) => !self.members.contains_key(other),
        }
    }

    /// It is this one's turn.
    pub(super) fn begin(&mut self, number: u64) {
        self.running = Some(number);
        self.beats += 1;
        if let Some(member) = self.members.get_mut(&number) {
            if !matches!(member.call, Call::Looks { .. }) {
                self.acts += 1;
                member.call = Call::Runs;
            }
        }
    }

    /// Nobody can go on: time does, until somebody's interrupt or deadline may have come.
    pub(super) fn pass_time(&mut self, world: &mut World) -> Result<(), String> {
        self.beats += 1;
        let deadlines = self
            .members
            .values()
            .filter_map(|member| match member.call {
                Call::Interrupt { deadline, .. } => deadline,
                Call::Until(at) | Call::AnyInterrupt(at) => Some(at),
                _ => None,
            });
        let end = deadlines.min();
        let step = world.now().saturating_add(STEP_NS);
        let stop = world.step(end.map_or(step, |end| end.min(step)));
        match (stop.map_err(|e| e.to_string())?, end) {
            (Stop::Quiet | Stop::Asleep(_), Some(_)) => {
                world.run(end).map_err(|e| e.to_string())?;
            }
            (Stop::Quiet | Stop::Asleep(_), None) => {
                let told = self.told();
                return Err(format!(
                    "nothing is left to happen in the simulation: {told}"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Nobody gets a turn any more; the first reason counts.
    pub(super) fn fail(&mut self, why: String) {
        self.failed.get_or_insert(why);
        self.tell_all();
    }

    /// All look again.
    pub(super) fn tell_all(&self) {
        for member in self.members.values() {
            member.turn.notify_all();
        }
    }

    fn name(&self, number: u64) -> &str {
        let member = self.members.get(&number);
        member.map_or("a thread that has ended", |member| &member.name)
    }

    /// What each thread does.
    pub(super) fn told(&self) -> String {
        let mut text = String::new();
        for (at, member) in self.members.values().enumerate() {
            let name = &member.name;
            if at > 0 {
                text.push_str("; ");
            }
            let until = |at: Option<u64>| match at {
                Some(at) => format!("until {at} ns"),
                None => "without a deadline".to_owned(),
            };
            let _ = match &member.call {
                Call::Runs => write!(text, "`{name}` runs outside the simulation"),
                Call::Ready => write!(text, "`{name}` waits for its turn"),
                Call::Interrupt { card, deadline, .. } => {
                    write!(text, "`{name}` sleeps on card {card} {}", until(*deadline))
                }
                Call::Until(at) => write!(text, "`{name}` sleeps {}", until(Some(*at))),
                Call::AnyInterrupt(at) => {
                    write!(text, "`{name}` sleeps on all cards {}", until(Some(*at)))
                }
                Call::Parked { what, .. } => write!(text, "`{name}` {what}"),
                Call::Looks { what, .. } => write!(text, "`{name}` waits for {what}"),
                Call::Joins(other) => write!(text, "`{name}` joins `{}`", self.name(*other)),
            };
        }
        text
    }
}
