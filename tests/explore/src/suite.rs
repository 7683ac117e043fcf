//! The explorations that a run does, and where each planted fault has to show itself.

use stateright::{Checker, HasDiscoveries, Model};

use crate::faults::Fault;
use crate::model::{Action, Exploration, Sizes};

/// An exploration.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What is particular about its worlds.
    pub name: &'static str,
    /// How large they are.
    pub sizes: Sizes,
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Worlds that were seen.
    pub states: usize,
    /// Events that led to one.
    pub transitions: usize,
    /// Properties that do not hold, with the events that show it.
    pub broken: Vec<(&'static str, Vec<Action>)>,
}

/// Explores all worlds of these sizes, as far as the first that breaks a property.
pub fn explore(sizes: &Sizes) -> Found {
    let checker = Exploration(*sizes).checker();
    let checker = checker.threads(2).finish_when(HasDiscoveries::Any);
    let checker = checker.spawn_bfs().join();
    let mut broken: Vec<_> = checker
        .discoveries()
        .into_iter()
        .map(|(name, path)| (name, path.into_actions()))
        .collect();
    broken.sort_by_key(|(name, actions)| (actions.len(), *name));
    Found {
        states: checker.unique_state_count(),
        transitions: checker.state_count(),
        broken,
    }
}

/// The usual explorations, or larger ones.
pub fn parts(larger: bool) -> Vec<Part> {
    let small = Sizes::default();
    let more = usize::from(larger);
    let part = |name, sizes| Part { name, sizes };
    vec![
        part(
            "segments cut anywhere, a window that ends inside an FPDU",
            Sizes {
                window: 6,
                slots: 2 + more,
                reports: 2 + more,
                ..small
            },
        ),
        part(
            "raw slots that others use as well",
            Sizes {
                slots: 2 + more,
                foreign: true,
                ..small
            },
        ),
        part(
            "the end of the stream",
            Sizes {
                slots: 2 + more,
                fin: true,
                ..small
            },
        ),
        part(
            "FPDUs carried over the ends of segments",
            Sizes {
                window: 6,
                slots: 2 + more,
                reports: 2 + more,
                carry: true,
                ..small
            },
        ),
        part(
            "FPDUs carried up to the end of the stream, and replays",
            Sizes {
                slots: 3 + more,
                reports: 1 + more,
                carry: true,
                replay: true,
                fin: true,
                ..small
            },
        ),
        part(
            "islands beyond gaps",
            Sizes {
                window: 8,
                reports: 1 + more,
                islands: 2,
                ..small
            },
        ),
        part(
            "islands, the end of the stream, and replays",
            Sizes {
                window: 6 + more as u32,
                slots: 3 + more,
                reports: 1 + more,
                islands: 1,
                replay: true,
                fin: true,
                ..small
            },
        ),
        part(
            "the flow goes to another connection",
            Sizes {
                slots: 2 + more,
                bind: true,
                ..small
            },
        ),
        part(
            "replays",
            Sizes {
                window: 6,
                slots: 4,
                reports: 1 + more,
                jobs: 2,
                replay: true,
                ..small
            },
        ),
        part(
            "replays, and the flow goes to another connection",
            Sizes {
                slots: 3,
                reports: 1 + more,
                replay: true,
                bind: true,
                ..small
            },
        ),
    ]
}

/// Where a fault shows itself.
pub fn place_of(fault: Fault) -> Sizes {
    let small = Sizes {
        fault: Some(fault),
        ..Sizes::default()
    };
    match fault {
        Fault::AttachUnseen
        | Fault::FreshenWritesCount
        | Fault::BelievesOldReports
        | Fault::GivesUp => small,
        Fault::CountsWrap => Sizes {
            slots: 3,
            reports: 3,
            ..small
        },
        Fault::CarriedForgotten | Fault::CarriedTwice => Sizes {
            carry: true,
            ..small
        },
        Fault::IslandPlacedTwice
        | Fault::AttachesBeforeIsland
        | Fault::IslandForgotten
        | Fault::IslandFramed => Sizes {
            window: 8,
            reports: 1,
            islands: 2,
            ..small
        },
        Fault::NeverOpens => Sizes { window: 6, ..small },
        Fault::OldBinding => Sizes {
            bind: true,
            ..small
        },
        Fault::PlacesBehindFin => Sizes { fin: true, ..small },
        Fault::LeavesWithReplays => Sizes {
            slots: 3,
            replay: true,
            bind: true,
            ..small
        },
        Fault::SlotsWaitForReports => Sizes {
            slots: 3,
            replay: true,
            bind: true,
            ..small
        },
        Fault::FollowsPartial | Fault::FramesBesideReplay | Fault::SlotFreeTooSoon => Sizes {
            window: 6,
            slots: 6,
            reports: 1,
            jobs: 2,
            replay: true,
            ..small
        },
    }
}
