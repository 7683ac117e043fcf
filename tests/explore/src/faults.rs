//! Faults that the exploration has to find: each takes one rule of the protocol away.

use clap::ValueEnum;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Fault {
    /// The card attaches whatever raw segments are on their way.
    AttachUnseen,
    /// Raw segments are counted modulo a number that as many unseen ones can reach.
    CountsWrap,
    /// A timestamp is freshened by taking the flow away and writing a count of one more, over raw segments on their way.
    FreshenWritesCount,
    /// The engine believes the word *attached* of every report, also of one from before the attach.
    BelievesOldReports,
    /// The window stays shut where the sender has used it up inside an FPDU.
    NeverOpens,
    /// The window opens before the sender has used it up, and attempts begin anew.
    GivesUp,
    /// Raw slots that wait for a job come back with a report, and at no other time.
    SlotsWaitForReports,
    /// Reports of a binding before count for this one.
    OldBinding,
    /// The flow goes to another connection while replays of the last one are in flight.
    LeavesWithReplays,
    /// The card goes on placing behind a FIN.
    PlacesBehindFin,
    /// A replay goes on behind one that was not whole.
    FollowsPartial,
    /// The engine frames octets that the card is walking over.
    FramesBesideReplay,
    /// A slot is free while a job has still to read it.
    SlotFreeTooSoon,
    /// The engine does not keep the octets that the card carries.
    CarriedForgotten,
    /// The card still carries what the engine has framed.
    CarriedTwice,
    /// The card places what meets an island.
    IslandPlacedTwice,
    /// The engine offers the flow before an island is passed, of which the card knows nothing then.
    AttachesBeforeIsland,
    /// The engine does not keep account of an island.
    IslandForgotten,
    /// The engine frames what the card has placed beyond a gap.
    IslandFramed,
}

impl Fault {
    /// All of them.
    pub fn all() -> &'static [Fault] {
        Fault::value_variants()
    }
}
