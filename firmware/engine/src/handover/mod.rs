//! The hand-over of a flow's received stream between card and engine (`docs/handover.md`): who has it, how it passes, and what lies in raw slots
//! meanwhile. `flow` and `out_of_order` decide and know nothing of the crate: no card, no clock, no octets; `tests/explore` runs them against a card in
//! every order of events. `attach` and `replay` do what is decided, and hand faults to `rdmap`.

pub(crate) mod attach;
pub(crate) mod flow;
pub(crate) mod flow_rows;
pub(crate) mod lent_slots;
pub(crate) mod out_of_order;
pub(crate) mod raw_slots;
pub(crate) mod replay;

pub use flow::{FlowHandover, Opening, Owner, ReplayPolicy, Stream, Told};
pub use out_of_order::{Next, OutOfOrder, Piece, Replay, SlotUse, MAX_PIECES};
