//! The world as a model for the checker: which events may come next, and what must hold in every world.

use stateright::{Model, Property};

use weft_engine::handover::ReplayPolicy;

use crate::card::Report;
use crate::faults::Fault;
use crate::host::SEGMENT;
use crate::quiet::Sender;
use crate::world::World;

/// How large the worlds are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Octets of the window.
    pub window: u32,
    /// Raw slots.
    pub slots: usize,
    /// Reports on their way.
    pub reports: usize,
    /// Replays on their way.
    pub jobs: usize,
    /// Payload stays in its slots, and the card walks over it again.
    pub replay: bool,
    /// The engine's, far less than usual.
    pub policy: ReplayPolicy,
    /// What the counts of before are modulo.
    pub counts: u8,
    /// The card carries FPDUs over the ends of segments.
    pub carry: bool,
    /// Ranges beyond a gap that the card keeps.
    pub islands: u32,
    /// Frames that are not of the flow take raw slots as well.
    pub foreign: bool,
    /// The peer may end its stream.
    pub fin: bool,
    /// The flow may go to another connection.
    pub bind: bool,
    /// A rule that is broken.
    pub fault: Option<Fault>,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            window: 5,
            slots: 2,
            reports: 2,
            jobs: 1,
            replay: false,
            policy: ReplayPolicy {
                refusals_before_pause: 2,
                overtaken_before_copy: 6,
                replays_in_order: false,
            },
            counts: 2,
            carry: false,
            islands: 0,
            foreign: false,
            fin: false,
            bind: false,
            fault: None,
        }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A segment arrives: first octet, octets, FIN.
    Segment(u32, u32, bool),
    /// A frame that is not of the flow takes a raw slot.
    Foreign,
    /// The host handles a report.
    Handle,
    /// The card does a replay.
    Replay,
    /// The engine's timers.
    Timer,
    /// The engine freshens the card's timestamp.
    Freshen,
    /// The connection ends.
    Leave,
    /// Another one has the flow.
    BindAnew,
}

/// All worlds of these sizes.
#[derive(Clone, Copy, Debug)]
pub struct Exploration(pub Sizes);

impl Exploration {
    fn segments(&self, world: &World, actions: &mut Vec<Action>) {
        let next = world.host.next();
        let from = next.saturating_sub(2);
        let behind = world.peer.fin.map_or(0, |_| 2);
        let edge = world.peer.edge.min(world.peer.fin.unwrap_or(u32::MAX)) + behind;
        for seq in from..edge {
            for length in 1..=SEGMENT.min(edge - seq) {
                actions.push(Action::Segment(seq, length, false));
                let end = seq + length;
                let ends = world
                    .peer
                    .fin
                    .map_or(end >= world.peer.sent, |fin| fin == end);
                // The card heeds a FIN with what it walks. One that comes behind all of its data is the engine's alone, which takes nothing
                // beyond it.
                let alone = world.card.attached && !world.card.behind_fin && end <= world.card.rcv;
                if self.0.fin && ends && !alone && crate::stream::is_boundary(end) {
                    actions.push(Action::Segment(seq, length, true));
                }
            }
        }
        actions.push(Action::Segment(next, 0, false));
    }
}

impl World {
    /// An event comes about.
    pub fn act(&mut self, action: Action, sizes: &Sizes) {
        match action {
            Action::Segment(seq, length, fin) => self.segment(seq, length, fin, sizes),
            Action::Foreign => self.foreign(sizes),
            Action::Handle => self.handle(sizes),
            Action::Replay => self.replay(sizes),
            Action::Timer => self.timer(sizes),
            Action::Freshen => self.freshen(sizes),
            Action::Leave => self.leave(sizes),
            Action::BindAnew => self.bind_anew(sizes),
        }
    }
}

impl Model for Exploration {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(&self.0)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let sizes = &self.0;
        if world.broken.is_some() {
            return;
        }
        if world.reports.len() < sizes.reports {
            if world.card.bound {
                self.segments(world, actions);
            }
            if sizes.foreign {
                actions.push(Action::Foreign);
            }
            if !world.jobs.is_empty() {
                actions.push(Action::Replay);
            }
        }
        if !world.reports.is_empty() {
            actions.push(Action::Handle);
        }
        if !world.unheard.is_empty() || world.host.handover.holds_up(&world.stream()) {
            actions.push(Action::Timer);
        }
        if sizes.fault == Some(Fault::FreshenWritesCount) {
            actions.push(Action::Freshen);
        }
        if sizes.bind && world.card.bound {
            actions.push(Action::Leave);
        }
        // The engine keeps a flow until the card has done its jobs.
        let through = world.jobs.is_empty() || sizes.fault == Some(Fault::LeavesWithReplays);
        let old = |epoch: u8| epoch != world.card.epoch;
        let older = world.reports.iter().any(|report| match report {
            Report::Segment(segment) => old(segment.epoch),
            Report::Replay { epoch, .. } => old(*epoch),
            Report::Foreign { .. } => false,
        });
        if !world.card.bound && through && !older {
            actions.push(Action::BindAnew);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.act(action, &self.0);
        next.rebase();
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every octet is placed, once", |_, world: &World| {
                world.broken.is_none()
            }),
            Property::always(
                "the stream goes on, and comes back to the card",
                |model: &Exploration, world: &World| {
                    [Sender::ToTheOctet, Sender::Whole]
                        .into_iter()
                        .all(|sender| {
                            world.broken.is_some() || world.settles(sender, 0, &model.0).is_ok()
                        })
                },
            ),
            Property::always(
                "a host that is one report behind gets its flow back",
                |model: &Exploration, world: &World| {
                    world.broken.is_some()
                        || !world.reports.is_empty()
                        || world.settles(Sender::Whole, 1, &model.0).is_ok()
                },
            ),
        ]
    }
}
