//! The verbs' types: domains, regions, queue pairs, work requests, completions.

use weft_layout::{SendWqe, StagRow, WqeOpcode};
use weft_queues::Operation;
use weft_wire::terminate::TerminateCode;

use crate::interface::rung::Rung;
use weft_wire::rdmap::Atomic;

/// SGEs that a send work request can have.
pub const MAX_SGE: usize = 16;
/// SGEs that a receive can have: as many as the card's receive elements.
pub const MAX_RECV_SGE: usize = 4;
/// Bytes that a work request can carry inline.
pub const MAX_INLINE: usize = 256;

/// A protection domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PdId(pub(crate) u32);

impl PdId {
    /// The number the card's tables have for it.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A queue pair. Never reused for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QpId {
    pub(crate) flow: u16,
    pub(crate) generation: u16,
}

impl QpId {
    /// The card's flow that the queue pair has from its creation to its end.
    pub fn flow(self) -> u16 {
        self.flow
    }
}

/// Access rights of a region: a set of bits. Local read is always allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access(pub(crate) u8);

impl Access {
    /// Nothing but local read.
    pub const NONE: Access = Access(0);
    /// Receive buffers may lie in it.
    pub const LOCAL_WRITE: Access = Access(StagRow::LOCAL_WRITE);
    /// The peer may read it.
    pub const REMOTE_READ: Access = Access(StagRow::REMOTE_READ);
    /// The peer may write it.
    pub const REMOTE_WRITE: Access = Access(StagRow::REMOTE_WRITE);
    /// A Read of this side may fill it. Without `LOCAL_WRITE` and `REMOTE_WRITE`, the card lets the peer at no more of it than
    /// the Reads in flight ask for.
    pub const READ_SINK: Access = Access(StagRow::READ_SINK);
    /// The peer may invalidate it by a Send with Invalidate.
    pub const REMOTE_INVALIDATE: Access = Access(16);
    /// Memory windows may be bound to it.
    pub const BIND: Access = Access(32);
    /// Atomics of the peer (RFC 7306) may change it.
    pub const REMOTE_ATOMIC: Access = Access(64);

    /// Those that the card checks, too.
    pub(crate) const OF_CARD: u8 =
        StagRow::LOCAL_WRITE | StagRow::REMOTE_READ | StagRow::REMOTE_WRITE | StagRow::READ_SINK;

    /// Those that the engine alone checks.
    const OF_ENGINE: u8 = Self::REMOTE_INVALIDATE.0 | Self::BIND.0 | Self::REMOTE_ATOMIC.0;

    /// The bits, as above; the low four are the card's.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// From bits; `None` if one of them has no meaning.
    pub const fn from_bits(bits: u8) -> Option<Access> {
        if bits & !(Self::OF_CARD | Self::OF_ENGINE) == 0 {
            Some(Access(bits))
        } else {
            None
        }
    }

    /// What is in this set and not in `other`.
    #[must_use]
    pub const fn without(self, other: Access) -> Access {
        Access(self.0 & !other.0)
    }

    /// True if all of `other` is in this set.
    pub const fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }
}

impl core::ops::BitOr for Access {
    type Output = Access;
    fn bitor(self, rhs: Access) -> Access {
        Access(self.0 | rhs.0)
    }
}

/// What a queue pair is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpConfig {
    /// Its protection domain.
    pub pd: PdId,
    /// Work requests that the send queue holds, 1 to 32768.
    pub send_depth: u32,
    /// Work requests that the receive queue holds, 1 to 32768 (rounded up to a power of two).
    pub recv_depth: u32,
    /// SGEs per work request, 1 to 4.
    pub max_sge: u8,
    /// Its rung of the partition ladder; `None`: the engine's ([`EngineConfig::rung`](crate::EngineConfig::rung)).
    pub rung: Option<Rung>,
}

/// States of a queue pair (RFC 5040 leaves them to the verbs; these are the usual ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QpState {
    /// Not connected yet; receives may be posted, sends wait.
    Idle,
    /// Connected.
    Rts,
    /// The local side closes: what is posted is still done, nothing more is taken.
    Closing,
    /// A Terminate is on its way out; nothing more is done.
    Terminating,
    /// Everything is flushed with `Status::Flushed`.
    Error,
}

/// A piece of a registered region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sge {
    /// STag of the region.
    pub stag: u32,
    /// Tagged offset of the first byte (the region's `base_to` is its first byte).
    pub to: u64,
    /// Bytes.
    pub length: u32,
}

/// What a send-queue work request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOp {
    /// Send.
    Send {
        /// Asks the receiver for an event.
        solicited: bool,
        /// Also invalidates this STag of the peer's.
        invalidate: Option<u32>,
    },
    /// Send of an XRC initiator, to a shared receive queue of an XRC domain of the peer (docs/engine.md).
    XrcSend {
        /// Asks the receiver for an event.
        solicited: bool,
        /// The peer's number of that queue.
        srq: u32,
    },
    /// Immediate Data (RFC 7306 §6): 8 bytes, most significant first, into the peer's next receive and into
    /// its completion. No payload. Nothing is negotiated: a peer that does not know it answers with a Terminate.
    Immediate {
        /// Asks the receiver for an event.
        solicited: bool,
        /// The bytes.
        data: u64,
    },
    /// Write into the peer's region.
    Write {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
    },
    /// Read from the peer's region into the SGEs.
    Read {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
    },
    /// An atomic (RFC 7306 §5) on 8 aligned bytes of the peer's, whose number is in its byte order. What was there before goes into the one SGE, of 8 bytes with
    /// `LOCAL_WRITE`, as a little-endian number. Nothing is negotiated: a peer that does not know it answers with a Terminate.
    Atomic {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
        /// What to do.
        atomic: Atomic,
    },
    /// A memory window names other memory from now on. No payload.
    Bind(Binding),
    /// An STag that was allocated for a region gets its memory. No payload.
    FastRegister(Binding),
    /// A window of type 2 or a fast-registered region names nothing any more. No payload.
    LocalInvalidate {
        /// Its STag.
        stag: u32,
    },
}

impl SendOp {
    /// Its opcode in a send queue: what it is stands in the table ([`Operation`]).
    pub fn opcode(&self) -> WqeOpcode {
        match self {
            SendOp::Send { .. } => WqeOpcode::Send,
            SendOp::XrcSend { .. } => WqeOpcode::XrcSend,
            SendOp::Immediate { .. } => WqeOpcode::Immediate,
            SendOp::Write { .. } => WqeOpcode::Write,
            SendOp::Read { .. } => WqeOpcode::Read,
            SendOp::Atomic { atomic, .. } => match atomic {
                Atomic::FetchAdd { .. } => WqeOpcode::FetchAdd,
                Atomic::CmpSwap { .. } => WqeOpcode::CmpSwap,
            },
            SendOp::Bind(_) => WqeOpcode::Bind,
            SendOp::FastRegister(_) => WqeOpcode::FastRegister,
            SendOp::LocalInvalidate { .. } => WqeOpcode::LocalInvalidate,
        }
    }

    /// Its flags in a send queue ([`SendWqe::SOLICITED`], [`SendWqe::INVALIDATE`]).
    pub fn flags(&self) -> u8 {
        let (solicited, invalidates) = match *self {
            SendOp::Send {
                solicited,
                invalidate,
            } => (solicited, invalidate.is_some()),
            SendOp::XrcSend { solicited, .. } | SendOp::Immediate { solicited, .. } => {
                (solicited, false)
            }
            _ => (false, false),
        };
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        flag(solicited, SendWqe::SOLICITED) | flag(invalidates, SendWqe::INVALIDATE)
    }

    /// What its message has where RFC 5040 §4.4 has an STag to invalidate.
    pub fn rsvd_ulp(&self) -> u32 {
        match *self {
            SendOp::Send { invalidate, .. } => invalidate.unwrap_or(0),
            SendOp::XrcSend { srq, .. } => srq,
            _ => 0,
        }
    }

    /// The 8 bytes that are all of its message.
    pub fn value(&self) -> Option<u64> {
        match *self {
            SendOp::Immediate { data, .. } => Some(data),
            _ => None,
        }
    }

    /// What it is.
    pub fn operation(&self) -> &'static Operation {
        Operation::of(self.opcode())
    }
}

/// What an STag without memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StagKind {
    /// A memory window of type 1: every queue pair of its domain may use it, and it is bound anew as often as one likes.
    Window1,
    /// A memory window of type 2: it is for the queue pair that binds it, until it is invalidated.
    Window2,
    /// A region that gets its memory by work of the send queue.
    FastRegion,
}

/// The memory that an STag is to name: a part of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The STag, with its new key in the low 8 bits.
    pub stag: u32,
    /// Tagged offset of its first byte.
    pub base_to: u64,
    /// The region's STag.
    pub region: u32,
    /// Where the part begins.
    pub region_to: u64,
    /// Bytes. 0 unbinds a window of type 1.
    pub length: u64,
    /// Rights.
    pub access: Access,
}

/// Where a message comes from (or, for a Read, goes to).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// From registered memory, which must stay as it is until the completion.
    Sges(&'a [Sge]),
    /// These bytes, at most [`MAX_INLINE`], copied now.
    Inline(&'a [u8]),
}

/// A work request of the send queue.
#[derive(Clone, Copy, Debug)]
pub struct SendWr<'a> {
    /// Comes back in the completion.
    pub id: u64,
    /// What to do.
    pub op: SendOp,
    /// With what.
    pub payload: Payload<'a>,
    /// Make a completion on success too, not only on failure.
    pub signalled: bool,
    /// Start only when all Reads posted before are complete.
    pub fence: bool,
}

/// A work request of the receive queue.
#[derive(Clone, Copy, Debug)]
pub struct RecvWr<'a> {
    /// Comes back in the completion.
    pub id: u64,
    /// Where the message goes.
    pub sges: &'a [Sge],
}

/// What was completed.
pub use weft_layout::CqeOpcode as Opcode;
/// How it ended. Of `RemoteOperation` the peer has said so by a Terminate; of `LocalProtection` and `LocalOperation` this work request made the queue pair fail.
pub use weft_layout::CqeStatus as Status;

/// How the peer's Terminate ends the work request that it is about.
pub(crate) fn status_of(code: TerminateCode) -> Status {
    match (code.layer(), code.error_type()) {
        (0, 1) | (1, 1) => Status::RemoteAccess,
        _ => Status::RemoteOperation,
    }
}

/// A work request is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The queue pair.
    pub qp: QpId,
    /// The work request's `id`.
    pub wr_id: u64,
    /// What it was.
    pub opcode: Opcode,
    /// How it ended.
    pub status: Status,
    /// Bytes moved.
    pub byte_len: u32,
    /// A receive: the sender asked for an event.
    pub solicited: bool,
    /// A receive: this STag was invalidated by it.
    pub invalidated: Option<u32>,
    /// A receive: the 8 bytes that its message was (RFC 7306 §6).
    pub immediate: Option<u64>,
    /// A receive of an XRC target: the shared queue that it came from.
    pub srq: Option<SrqId>,
}

/// A shared receive queue. Never reused for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SrqId {
    pub(crate) index: u16,
    pub(crate) generation: u16,
}

impl SrqId {
    /// Its number in commands and events; never 0.
    pub fn number(self) -> u32 {
        u32::from(self.index) | u32::from(self.generation) << 16
    }

    /// The queue of a [`number`](Self::number), if there is one.
    pub fn from_number(number: u32) -> Self {
        SrqId {
            index: number as u16,
            generation: (number >> 16) as u16,
        }
    }
}
