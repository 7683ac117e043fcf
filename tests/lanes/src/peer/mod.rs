//! The peer lane: Linux soft-iWARP (siw) in a guest on one end of the wire, a simulated card on the other.
//!
//! A file here for each group of scenarios; [`all`] lists them in the order in which they run.

mod bench;
mod capture;
mod card;
mod host_files;
mod keys;
mod many;
mod moved;
mod pace;
mod pulls;
mod records;
mod refusals;
mod rping;
mod rungs;
mod shares;
mod siw;
mod sizes;
mod storms;

pub use crate::wire::Seen;
pub use bench::{PeerBench, CARD_IP, GUEST_IP};
pub use card::Card;
pub use siw::{Rtr, Siw};

use crate::steps::NoPass;

/// Something that card and guest do together.
pub struct Scenario {
    /// Group and name.
    pub name: String,
    /// What siw is like in it.
    pub siw: Siw,
    /// What the capture must hold.
    pub capture: Capture,
    /// Does it; returns what is worth telling.
    pub run: Box<Work>,
}

/// The work of a scenario.
pub type Work = dyn Fn(&mut Session<'_>) -> Result<String, NoPass>;

/// What must hold of a scenario's capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    /// There are FPDUs in it, and neither tshark nor the checker of FPDUs has complaints.
    Clean,
    /// Start-up frames at least, no complaints: for connections that are refused.
    StartUp,
    /// Nothing that breaks a rule; nothing has to be there.
    Any,
}

/// A scenario at work: the guest, and a card of its own.
pub struct Session<'a> {
    /// Both ends.
    pub bench: &'a mut PeerBench,
    /// The card, just served.
    pub card: Card,
}

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    let groups = [
        rping::scenarios(),
        host_files::scenarios(),
        keys::scenarios(),
        records::scenarios(),
        moved::scenarios(),
        many::scenarios(),
        sizes::scenarios(),
        shares::scenarios(),
        storms::scenarios(),
        refusals::scenarios(),
        rungs::scenarios(),
        pulls::scenarios(),
    ];
    groups.into_iter().flatten().collect()
}
