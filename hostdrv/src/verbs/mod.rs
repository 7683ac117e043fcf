//! Verbs: protection domains, memory regions, completion queues, queue pairs, work requests. The
//! names are those of the verbs standard (and of libibverbs).
//!
//! Everything is owned: a region lives as long as somebody holds it or work uses it, a domain
//! as long as it has a region or a queue pair, a device as long as any of them. Dropping the last
//! handle of a thing destroys it. Every misuse is a [`VerbsError`] that says what was given and
//! what would be right.

#[cfg(feature = "async")]
mod async_cq;
mod attributes;
mod checks;
mod comp_channel;
mod cq;
mod error;
mod extensions;
mod latch;
mod mr;
mod owned_memory;
mod pd;
mod posting;
mod qp;
mod refused;
mod region_slice;
mod remote_region;
mod rings;
pub(crate) mod shared_control;
mod shared_line;
pub(crate) mod shared_queues;
pub(crate) mod shared_srq;
mod srq;
mod wc;
mod windows;
mod wr;
mod xrcd;

pub use crate::device::AsyncEvent;
#[cfg(feature = "async")]
pub use async_cq::AsyncCq;
pub use attributes::{DeviceAttr, QpAttr};
pub(crate) use comp_channel::deadline;
pub use comp_channel::CompChannel;
pub use cq::{Cq, Moderation, Notify};
pub use error::VerbsError;
pub use extensions::{Extensions, Operations};
pub use mr::Mr;
pub use owned_memory::OwnedMemory;
pub use pd::Pd;
pub use posting::Usual;
pub use qp::{Qp, QpCap, QpInit};
pub use refused::Refused;
pub use region_slice::{MrSlice, Plain, View};
pub use remote_region::RemoteRegion;
pub use shared_control::{ControlLease, ControlTerms, SharedRange};
pub use shared_line::{Gone, LentLine, NotPosted, SharedLine};
pub use shared_queues::{lent_bytes, Lease, Terms};
pub use shared_srq::{lent_srq_bytes, SrqLease, SrqTerms};
pub use srq::{Srq, SrqAttr, SrqInit};
pub use wc::{FoundWc, Wc, WcOpcode, WcStatus};
pub use weft_card_transport::joined::JoinedMapping;
pub use weft_engine::{
    Access, ConnInfo, QpState, TerminateCode, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
pub use windows::{inc_rkey, AtomicWr, BindWr, FastMr, InvalidateWr, Mw, MwType};
pub use wr::{RecvWr, SendWr, Sge};
pub use xrcd::{QpKind, Xrcd, XrcdOpen};
