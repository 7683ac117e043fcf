//! What a verb refuses, and why.

use thiserror::Error;
use weft_engine::commands::Refusal;
use weft_engine::{Access, QpState, Rung, RungError};

use super::wc::WcStatus;
use crate::error::DeviceError;
use weft_card_transport::dma::OutOfBounds;

/// Why a verb was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VerbsError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The queue pair's connection was aborted, since nobody held it any more.
    #[error("the connection of queue pair {qp_num} is gone: it was dropped, which aborts it; keep its `Connection`, or its `CmId`")]
    Abandoned {
        /// The queue pair's number.
        qp_num: u32,
    },
    /// Work was waited for that is not done.
    #[error("work was to be done: {}", describe(.came))]
    NotDone {
        /// The work request and how it ended; `None`: nothing ended in time.
        came: Option<(u64, WcStatus)>,
    },
    /// Things of two devices do not go together.
    #[error("the {what} is of another device than the queue pair")]
    WrongDevice {
        /// Which thing.
        what: &'static str,
    },
    /// The region is of another protection domain than the queue pair.
    #[error("the region of lkey {lkey:#010x} is of protection domain {region_pd}, the queue pair of {qp_pd}: register it in the queue pair's")]
    WrongPd {
        /// The region.
        lkey: u32,
        /// Its domain.
        region_pd: u32,
        /// The queue pair's.
        qp_pd: u32,
    },
    /// An SGE leaves its region.
    #[error("an SGE of {length} bytes at {offset} leaves its region of {region} bytes (lkey {lkey:#010x})")]
    SgeBeyondMr {
        /// The region.
        lkey: u32,
        /// First byte, counted from the region's first.
        offset: u64,
        /// Bytes.
        length: u32,
        /// Bytes of the region.
        region: u64,
    },
    /// The region has not the access that the work needs.
    #[error("the region of lkey {lkey:#010x} has access {has:#x}, a {work} needs {needs:#x} ({name}): register it with that")]
    NoAccess {
        /// The region.
        lkey: u32,
        /// What it has, as bits.
        has: u8,
        /// What is needed, as bits.
        needs: u8,
        /// Its name.
        name: &'static str,
        /// What was to be done.
        work: &'static str,
    },
    /// Too many SGEs in a work request.
    #[error("{given} SGEs in a work request, the queue takes {max}: create the queue pair with more, or split the work")]
    TooManySges {
        /// In the work request.
        given: usize,
        /// What the queue takes.
        max: usize,
    },
    /// Too much inline data.
    #[error("{given} bytes inline, the queue pair takes {max}: send from a region instead")]
    InlineTooLong {
        /// In the work request.
        given: usize,
        /// What the queue pair takes.
        max: usize,
    },
    /// Inline data in a Read.
    #[error("a Read takes no inline data: give it an SGE")]
    InlineRead,
    /// A payload was given more than once.
    #[error("a work request has one payload: sge, sges or inline, once")]
    MixedPayload,
    /// A Write with Immediate Data is made of a Write and Immediate Data.
    #[error("post_write_with_immediate takes SendWr::write and SendWr::immediate, in this order")]
    NoPair,
    /// A flag that this kind of work request cannot have.
    #[error("{flag} has no meaning in a {work}")]
    MeaninglessFlag {
        /// The flag.
        flag: &'static str,
        /// The work request.
        work: &'static str,
    },
    /// A message of 4 GiB or more.
    #[error("a message of {0} bytes; 4294967295 are possible: split it")]
    MessageTooLong(u64),
    /// The send queue is full.
    #[error("the send queue of {depth} work requests is full: poll its completion queue, or create the queue pair with more")]
    SendQueueFull {
        /// Its size.
        depth: u32,
    },
    /// The receive queue is full.
    #[error("the receive queue of {depth} work requests is full: poll its completion queue, or create the queue pair with more")]
    RecvQueueFull {
        /// Its size.
        depth: u32,
    },
    /// Rights that no window has.
    #[error("a window with access {access:#x}: it can have REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC and REMOTE_INVALIDATE")]
    WindowAccess {
        /// What was asked for, as bits.
        access: u8,
    },
    /// A window of type 2 is not unbound, but invalidated.
    #[error(
        "a window of type 2 goes by `local_invalidate`, or by its peer's Send with Invalidate"
    )]
    NotOfType1,
    /// The shared receive queue is full.
    #[error("the shared receive queue of {max_wr} receives is full: poll the completion queues of its queue pairs, or create it with more")]
    SrqFull {
        /// Its size.
        max_wr: u32,
    },
    /// A shared receive queue to be destroyed is in use. It lives on as long.
    #[error("the shared receive queue {srq_num} is in use by {uses} queue pairs or handles: drop them first")]
    SrqInUse {
        /// Which.
        srq_num: u32,
        /// Queue pairs and handles besides the one given.
        uses: usize,
    },
    /// The queue pair has no receive queue of its own.
    #[error(
        "the queue pair takes its receives from shared receive queue {srq_num}: post them there"
    )]
    HasSrq {
        /// Which.
        srq_num: u32,
    },
    /// The shared receive queue is of another protection domain than the queue pair.
    #[error("the shared receive queue is of protection domain {srq_pd}, the queue pair of {qp_pd}: create both in one")]
    SrqOfOtherPd {
        /// The queue's domain.
        srq_pd: u32,
        /// The queue pair's.
        qp_pd: u32,
    },
    /// A queue pair of this kind does not do that.
    #[error("a {work} on an {kind}: an initiator sends to a shared receive queue that it names (`to_srq`), a target receives into those of its domain")]
    WrongQpKind {
        /// What was to be done.
        work: &'static str,
        /// By what.
        kind: &'static str,
    },
    /// The file that is to name an XRC domain says nothing.
    #[error("the file of an XRC domain: {0}")]
    XrcdFile(std::io::ErrorKind),
    /// A new XRC domain was asked for, and the file names one.
    #[error("the file names an XRC domain already: open it as an existing one")]
    XrcdExists,
    /// An existing XRC domain was asked for, and the file names none.
    #[error("the file names no XRC domain, or nobody has it any more: open it as a new one")]
    NoSuchXrcd,
    /// The domain has no such target.
    #[error("the XRC domain has no target {qp_num}, or nobody has it any more")]
    NoSuchTarget {
        /// Which.
        qp_num: u32,
    },
    /// The completion queue could overrun.
    #[error("the completion queue of {cqe} entries is promised to work under way and completions not polled: poll it, or create it larger")]
    CqFull {
        /// Its size.
        cqe: usize,
    },
    /// A completion queue has no place for what is promised one.
    #[error("a completion queue of {cqe} entries, where {promised} are promised to work under way and completions not polled: poll them first, or resize it to no fewer")]
    CqInUse {
        /// Places that are promised.
        promised: usize,
        /// Entries that it was to have.
        cqe: usize,
    },
    /// A completion queue that was made to be lent keeps its size.
    #[error("a completion queue that was made to be lent keeps its size, which its borrower knows: create it with as many entries as it will need")]
    CqLendable,
    /// No memory for a queue.
    #[error("no memory for a queue of {bytes} bytes")]
    NoMemory {
        /// How much.
        bytes: usize,
    },
    /// The queue pair was not made to be lent.
    #[error("the queues cannot be lent: create the queue pair shareable, with one completion queue for both queues, made by create_shareable_cq")]
    NotShareable,
    /// The queues are another process's.
    #[error("the queues are lent to another process, which posts and polls")]
    Shared,
    /// Not in this state.
    #[error("a {operation} is not possible in state {state:?}{}", hint(.state))]
    WrongQpState {
        /// What was to be done.
        operation: &'static str,
        /// The queue pair's state.
        state: QpState,
    },
    /// A queue pair does not go from one of these states to the other because a program wants it.
    #[error("a queue pair in state {from:?} cannot be moved to {to:?}{}", other_way(.to))]
    NoSuchTransition {
        /// Its state.
        from: QpState,
        /// The one wanted.
        to: QpState,
    },
    /// A size is out of range.
    #[error("{what} is {given}, it must be {allowed}")]
    InvalidSize {
        /// Of what.
        what: &'static str,
        /// Given.
        given: u64,
        /// Possible.
        allowed: &'static str,
    },
    /// Memory to be registered is no run of bytes.
    #[error("no region of {len} bytes at {address:#x}: it has a byte at least, none in the first page and none beyond the last")]
    NoSuchMemory {
        /// Where they begin.
        address: usize,
        /// How many.
        len: usize,
    },
    /// A region to be deregistered is in use. It stays registered.
    #[error("the region of lkey {lkey:#010x} is in use, by {uses} more handles or by work that is not done: drop them, or wait for its completions, and ask again")]
    RegionInUse {
        /// The region.
        lkey: u32,
        /// Handles besides the one given; 0: work.
        uses: usize,
    },
    /// A region is deregistered, and its memory is not unmapped yet.
    #[error("the memory of the region that had lkey {lkey:#010x} stays mapped: the card's fence has not ended")]
    StaysMapped {
        /// What it was.
        lkey: u32,
    },
    /// No completion channel to tell.
    #[error("the completion queue has no completion channel: create it with one")]
    NoChannel,
    /// An access to a region's memory leaves it.
    #[error(transparent)]
    OutOfBounds(#[from] OutOfBounds),
    /// A queue pair cannot have this rung.
    #[error("no queue pair of rung {rung}: {why}")]
    Rung {
        /// The rung.
        rung: Rung,
        /// Why.
        why: RungError,
    },
    /// Refused by the engine.
    #[error("refused: {0}")]
    Refused(#[from] weft_engine::Error),
}

impl From<Refusal> for VerbsError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Engine(error) => Self::Refused(error),
            other => DeviceError::Command(other.to_string()).into(),
        }
    }
}

fn hint(state: &QpState) -> &'static str {
    match state {
        QpState::Idle => ": connect or accept first",
        QpState::Rts => "",
        QpState::Closing => ": the connection is being closed",
        QpState::Terminating | QpState::Error => ": the connection is gone, destroy the queue pair",
    }
}

fn other_way(to: &QpState) -> &'static str {
    match to {
        QpState::Idle => ": it goes with its connection, create another one",
        QpState::Rts => ": connect or accept does that",
        QpState::Closing => ": only a connection that stands can be closed, move it to Error",
        QpState::Terminating => ": only a fault does that, move it to Error",
        QpState::Error => "",
    }
}

fn describe(came: &Option<(u64, WcStatus)>) -> String {
    match came {
        Some((wr_id, status)) => format!("request {wr_id} ended with {status:?}"),
        None => "nothing ended in time".into(),
    }
}

pub(crate) fn access_name(access: Access) -> &'static str {
    match access {
        Access::LOCAL_WRITE => "LOCAL_WRITE",
        Access::READ_SINK => "READ_SINK",
        Access::BIND => "BIND",
        _ => "several rights",
    }
}
