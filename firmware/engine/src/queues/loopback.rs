//! The loopback: what passes between two queue pairs that are connected inside a host, and how their connections are called.

use alloc::vec::Vec;

use weft_wire::rdmap::{opcode, Atomic};

use crate::interface::cm::ConnId;
use crate::queues::send_queue::Action;

/// No connection of the engine's has this slot: there are fewer.
const INSIDE: u16 = u16::MAX;

impl ConnId {
    /// The name of a connection that is not the engine's.
    pub fn inside(number: u32) -> Self {
        ConnId {
            slot: INSIDE,
            generation: number,
        }
    }

    /// Is it the name of one that is not the engine's?
    pub fn is_inside(self) -> bool {
        self.slot == INSIDE
    }
}

/// What has become of a queue pair on the loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopbackEvent {
    /// It has something to send.
    Posted(ConnId),
    /// It is to be closed in order.
    Closing(ConnId),
    /// It has failed by command, or is destroyed; its last event was told.
    Gone(ConnId),
}

/// Where the bytes of a message are (of a Read and of an atomic: where they go).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// IOVA and bytes of each piece.
    Pieces(Vec<(u64, u32)>),
    /// These bytes.
    Inline(Vec<u8>),
}

/// What a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Into the next receive.
    Send {
        /// Asks the receiver for an event.
        solicited: bool,
        /// Invalidates this STag.
        invalidate: Option<u32>,
        /// Its 8 bytes are the completion's as well (RFC 7306 §6).
        immediate: bool,
        /// The shared queue that takes it, if an XRC initiator sends it: 0 is none's number.
        srq: u32,
    },
    /// Into the peer's region.
    Write {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
    },
    /// From the peer's region.
    Read {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
    },
    /// On 8 bytes of the peer's region.
    Atomic {
        /// The peer's STag.
        stag: u32,
        /// Its tagged offset.
        to: u64,
        /// What.
        atomic: Atomic,
    },
}

/// A message of a queue pair on the loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its work request's number, for [`Engine::message_done`](crate::Engine::message_done).
    pub number: u32,
    /// What it does.
    pub kind: MessageKind,
    /// Bytes.
    pub length: u32,
    /// Where they are.
    pub carried: Carried,
}

/// What a work request's message does; `None`: it sends nothing.
pub(crate) fn message_kind(action: Action) -> Option<MessageKind> {
    Some(match action {
        Action::Send { opcode, rsvd_ulp } => MessageKind::Send {
            srq: match opcode {
                opcode::SEND | opcode::SEND_SE => rsvd_ulp,
                _ => 0,
            },
            solicited: matches!(
                opcode,
                opcode::SEND_SE | opcode::SEND_SE_INVALIDATE | opcode::IMMEDIATE_SE
            ),
            invalidate: matches!(opcode, opcode::SEND_INVALIDATE | opcode::SEND_SE_INVALIDATE)
                .then_some(rsvd_ulp),
            immediate: matches!(opcode, opcode::IMMEDIATE | opcode::IMMEDIATE_SE),
        },
        Action::Write { stag, to } => MessageKind::Write { stag, to },
        Action::Read { stag, to } => MessageKind::Read { stag, to },
        Action::Atomic { stag, to, atomic } => MessageKind::Atomic { stag, to, atomic },
        _ => return None,
    })
}
