//! Verbs: protection domains, memory regions, completion queues, queue pairs, work requests. The
//! names are those of the verbs standard (and of libibverbs).
//!
//! Everything is owned: a region lives as long as somebody holds it or work refers to it, a domain
//! as long as it has a region or a queue pair, a device as long as any of them. Dropping the last
//! handle of a thing destroys it. Every misuse is a [`VerbsError`] that says what was given and
//! what would be right.

mod cq;
mod error;
mod mr;
mod pd;
mod qp;
mod wr;

pub(crate) use cq::deadline;
pub use cq::{CompChannel, Cq, Notify, Wc, WcOpcode, WcStatus};
pub use error::VerbsError;
pub use mr::{Mr, OwnedMemory, RemoteRegion};
pub use pd::Pd;
pub(crate) use qp::QpEntry;
pub use qp::{AsyncEvent, Qp, QpCap, QpInit};
pub use weft_engine::{Access, QpState, TerminateCode, MAX_INLINE, MAX_SGE};
pub use wr::{RecvWr, SendWr, Sge};
