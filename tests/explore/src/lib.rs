//! The hand-over of a flow between card and engine (`docs/handover.md`), explored in every order of events.
//!
//! [`World`] is one flow: a peer, the card, what is on its way between card and host, and the engine's own
//! [`FlowHandover`](weft_engine::handover::FlowHandover). Sequence numbers are octets of a stream whose FPDUs repeat, and are counted anew
//! from the front of the stream after each step: runs have no end, and there are finitely many worlds.

pub mod card;
pub mod faults;
pub mod host;
pub mod model;
pub mod quiet;
pub mod stream;
pub mod suite;
pub mod walk;
pub mod world;

pub use faults::Fault;
pub use model::{Action, Exploration, Sizes};
pub use walk::{Step, Walk};
pub use world::World;
