//! One order of events, event by event: for engines and cards that are to do the same.
//!
//! The worlds count octets anew; a [`Walk`] tells them from the front of its first stream on.

use stateright::Model;

use crate::card::{Job, Report};
use crate::model::{Action, Exploration, Sizes};
use crate::stream::{is_boundary, PERIOD};
use crate::world::{Done, World};

/// Octets of a stream at most: each binding's begins so many behind the one before.
pub const STREAM: u32 = 400 * PERIOD;

/// An event that has come about, with octets from the front.
#[derive(Clone, Debug)]
pub struct Step {
    /// The event; its octets are the world's.
    pub action: Action,
    /// A segment's first octet.
    pub seq: u32,
    /// A segment or a foreign frame had no slot, and was dropped.
    pub dropped: bool,
    /// The report that the host handles; its octets are from the front.
    pub handled: Option<Report>,
    /// What was done.
    pub done: Vec<Done>,
    /// The replay that the card takes.
    pub job: Option<Job>,
}

/// A run of a world.
#[derive(Clone, Debug)]
pub struct Walk {
    model: Exploration,
    world: World,
    /// Octets that are no longer counted.
    origin: u32,
    /// Bindings before this one.
    bindings: u32,
    /// Octets before those that the worlds of the binding before this one counted last.
    before: u32,
    random: u64,
}

impl Walk {
    /// From a flow that was bound just now.
    pub fn new(seed: u64, sizes: Sizes) -> Self {
        Walk {
            model: Exploration(sizes),
            world: World::new(&sizes),
            origin: 0,
            bindings: 0,
            before: 0,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    /// The world as it is.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// How large it is.
    pub fn sizes(&self) -> &Sizes {
        &self.model.0
    }

    /// A world's octet, from the front on.
    pub fn at(&self, octet: u32) -> u32 {
        self.bindings * STREAM + self.origin + octet
    }

    /// Octets before those that the world counts of this binding.
    fn front_of(&self, epoch: u8) -> u32 {
        match epoch == self.world.card.epoch {
            true => self.at(0),
            false => self.before + self.origin,
        }
    }

    /// The few numbers that the world has for slots have come round: a mark of long ago looks like one that is unseen. Cards have more.
    pub fn has_come_round(&self) -> bool {
        let world = &self.world;
        let unseen = world.reports.iter().any(|report| match report {
            Report::Segment(segment) => segment.slot.is_some(),
            _ => false,
        });
        !unseen && !world.card.all_seen(world.seen(), self.model.0.slots)
    }

    /// The events that may come next.
    pub fn enabled(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        self.model.actions(&self.world, &mut actions);
        actions
    }

    fn below(&mut self, end: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % end
    }

    /// Any of them: most often a segment of what was not sent before, a segment of what is missing, or that the host goes on.
    pub fn draw(&mut self) -> Action {
        let enabled = self.enabled();
        let (sent, next) = (self.world.peer.sent, self.world.host.next());
        let kind = self.below(16);
        let ends = self.below(4) > 0;
        let wanted = |action: &&Action| match (**action, kind) {
            (Action::Segment(seq, length, false), 0..5) => {
                seq == sent && length > 0 && (!ends || is_boundary(seq + length))
            }
            (Action::Segment(seq, length, false), 5..7) => seq == next && length > 0,
            (Action::Segment(..), 7) => true,
            (Action::Handle, 8..13) | (Action::Replay, 11..15) | (Action::Foreign, 13) => true,
            (Action::Timer, 14) | (Action::Segment(_, _, true), 14) => true,
            (Action::Leave | Action::BindAnew, 15) => true,
            _ => false,
        };
        let mut of_kind: Vec<Action> = enabled.iter().filter(wanted).copied().collect();
        if of_kind.is_empty() {
            of_kind = enabled;
        }
        of_kind[self.below(of_kind.len())]
    }

    /// The event comes about.
    pub fn step(&mut self, action: Action) -> Step {
        let before = (self.at(0), self.world.reports.len());
        let handled = self.world.reports.front().copied();
        let job = self.world.jobs.front().copied();
        self.world.act(action, &self.model.0);
        let from_front = |octet: u32| octet + before.0;
        let done = self.world.done.iter().map(|done| match *done {
            Done::Attach { at, applied } => Done::Attach {
                at: from_front(at),
                applied,
            },
            Done::Want => Done::Want,
            Done::Post(job) => Done::Post(Job {
                seq: from_front(job.seq),
                end: from_front(job.end),
                ..job
            }),
            Done::Place { by_card, from, to } => Done::Place {
                by_card,
                from: from_front(from),
                to: from_front(to),
            },
        });
        let step = Step {
            action,
            seq: match action {
                Action::Segment(seq, ..) => from_front(seq),
                _ => 0,
            },
            dropped: self.world.reports.len() == before.1,
            handled: handled.filter(|_| action == Action::Handle).map(|report| {
                let mut report = report;
                match &mut report {
                    Report::Segment(segment) => segment.seq += self.front_of(segment.epoch),
                    Report::Replay { seq, epoch, .. } => *seq += self.front_of(*epoch),
                    Report::Foreign { .. } => {}
                }
                report
            }),
            done: done.collect(),
            job: job.filter(|_| action == Action::Replay).map(|job| Job {
                seq: from_front(job.seq),
                end: from_front(job.end),
                ..job
            }),
        };
        if action == Action::BindAnew {
            self.before = before.0;
            self.bindings += 1;
            self.origin = 0;
        }
        let edge = self.world.peer.edge;
        self.world.rebase();
        self.origin += edge - self.world.peer.edge;
        step
    }
}
