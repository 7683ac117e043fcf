//! Verbs: protection domains, memory regions, completion queues, queue pairs, work requests. The
//! names are those of the verbs standard (and of libibverbs).
//!
//! Everything is owned: a region lives as long as somebody holds it or work uses it, a domain
//! as long as it has a region or a queue pair, a device as long as any of them. Dropping the last
//! handle of a thing destroys it. Every misuse is a [`VerbsError`] that says what was given and
//! what would be right.

mod attributes;
mod checks;
mod comp_channel;
mod cq;
mod error;
mod extensions;
mod latch;
mod mr;
mod pd;
mod posting;
mod qp;
mod rings;
pub(crate) mod shared_control;
pub(crate) mod shared_queues;
pub(crate) mod shared_srq;
mod srq;
mod wc;
mod windows;
mod wr;
mod xrcd;

pub use crate::device::AsyncEvent;
pub use attributes::{DeviceAttr, QpAttr};
pub(crate) use comp_channel::deadline;
pub use comp_channel::CompChannel;
pub use cq::{Cq, Moderation, Notify};
pub use error::VerbsError;
pub use extensions::{Extensions, Operations};
pub use mr::{Mr, OwnedMemory, RemoteRegion};
pub use pd::Pd;
pub use qp::{Qp, QpCap, QpInit};
pub use shared_control::{ControlLease, ControlTerms, SharedRange};
pub use shared_queues::{Lease, Terms};
pub use shared_srq::{SrqLease, SrqTerms};
pub use srq::{Srq, SrqAttr, SrqInit};
pub use wc::{Wc, WcOpcode, WcStatus};
pub use weft_engine::{
    Access, ConnInfo, QpState, TerminateCode, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
pub use windows::{inc_rkey, AtomicWr, BindWr, FastMr, InvalidateWr, Mw, MwType};
pub use wr::{RecvWr, SendWr, Sge};
pub use xrcd::{QpKind, Xrcd, XrcdOpen};
