//! What a WQE of each opcode is: the one table that whoever posts, takes, sends and completes looks at.

use weft_layout::{CqeOpcode, SendWqe, StagRow, WqeOpcode};

/// What lies behind a WQE's header, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// A message: SGEs or inline bytes.
    Message,
    /// SGEs that the peer's answer goes to.
    Sinks,
    /// Nothing: the message are the 8 bytes of the header's `to`.
    Value,
    /// Inline, a record of operands ([`weft_layout::AtomicOperands`], [`weft_layout::Binding`]), or nothing.
    Operands,
}

/// A message on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// To the peer's receive queue (queue 0), by these RDMAP opcodes: as it is, with Solicited Event, with Invalidate, with both.
    Untagged([u8; 4]),
    /// To the peer's memory.
    Tagged,
    /// A request on queue 1, which the peer answers: it takes a place among the Reads under way (ORD).
    Request,
    /// None: it is done by this side alone.
    None,
}

/// Queue pairs that do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// All that send.
    All,
    /// All but XRC initiators, whose peers have no receive queue.
    Connected,
    /// XRC initiators.
    Xrc,
}

/// What an opcode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The opcode.
    pub opcode: WqeOpcode,
    /// Its name, for messages.
    pub name: &'static str,
    /// What its completion says.
    pub completes: CqeOpcode,
    /// What goes out.
    pub message: Message,
    /// With what.
    pub carries: Carries,
    /// The right that its SGEs need ([`StagRow::access`]).
    pub needs: u8,
    /// Flags that it may have beside SIGNALED, FENCE and INLINE_PAYLOAD.
    pub flags: u8,
    /// Who does it.
    pub kinds: Kinds,
}

/// RDMAP opcodes of the messages to a receive queue (RFC 5040 §4.2, RFC 7306 §6.1).
const SEND: Message = Message::Untagged([3, 5, 4, 6]);
const XRC_SEND: Message = Message::Untagged([3, 5, 3, 5]);
const IMMEDIATE: Message = Message::Untagged([8, 9, 8, 9]);

/// By opcode.
#[rustfmt::skip]
const OPERATIONS: [Operation; 10] = {
    use {Carries as C, CqeOpcode as Cqe, Kinds as K, Message as M, WqeOpcode as W};
    const fn row(opcode: W, name: &'static str, completes: Cqe, message: M, carries: C, (needs, flags): (u8, u8), kinds: K) -> Operation {
        Operation { opcode, name, completes, message, carries, needs, flags, kinds }
    }
    const SINK: u8 = StagRow::READ_SINK;
    const PLACE: u8 = StagRow::LOCAL_WRITE;
    const ASK: u8 = SendWqe::SOLICITED;
    const BOTH: u8 = SendWqe::SOLICITED | SendWqe::INVALIDATE;
    [
        row(W::Send, "Send", Cqe::Send, SEND, C::Message, (0, BOTH), K::Connected),
        row(W::Write, "Write", Cqe::Write, M::Tagged, C::Message, (0, 0), K::All),
        row(W::Read, "Read", Cqe::Read, M::Request, C::Sinks, (SINK, 0), K::All),
        row(W::Immediate, "Immediate Data", Cqe::Send, IMMEDIATE, C::Value, (0, ASK), K::Connected),
        row(W::LocalInvalidate, "local invalidate", Cqe::LocalInvalidate, M::None, C::Operands, (0, 0), K::All),
        row(W::Bind, "bind", Cqe::Bind, M::None, C::Operands, (0, 0), K::All),
        row(W::FastRegister, "fast registration", Cqe::FastRegister, M::None, C::Operands, (0, 0), K::All),
        row(W::FetchAdd, "atomic", Cqe::FetchAdd, M::Request, C::Operands, (PLACE, 0), K::All),
        row(W::CmpSwap, "atomic", Cqe::CmpSwap, M::Request, C::Operands, (PLACE, 0), K::All),
        row(W::XrcSend, "Send to a shared receive queue", Cqe::Send, XRC_SEND, C::Message, (0, ASK), K::Xrc),
    ]
};

impl Operation {
    /// What an opcode is.
    #[inline(always)]
    pub const fn of(opcode: WqeOpcode) -> &'static Operation {
        &OPERATIONS[opcode as usize - 1]
    }

    /// It takes a place among the Reads under way.
    #[inline(always)]
    pub fn is_request(&self) -> bool {
        matches!(self.message, Message::Request)
    }

    /// Queue pairs of this kind do it: an XRC initiator, or one that is none.
    #[inline]
    pub const fn is_of(&self, xrc_initiator: bool) -> bool {
        match self.kinds {
            Kinds::All => true,
            Kinds::Connected => !xrc_initiator,
            Kinds::Xrc => xrc_initiator,
        }
    }

    /// The RDMAP opcode of its message to a receive queue, with these flags.
    #[inline]
    pub const fn wire(&self, flags: u8) -> Option<u8> {
        let Message::Untagged(opcodes) = self.message else {
            return None;
        };
        let asks = flags & SendWqe::SOLICITED != 0;
        let takes = flags & SendWqe::INVALIDATE != 0;
        Some(opcodes[asks as usize + 2 * takes as usize])
    }
}

// Each row lies where its opcode says.
const _: () = {
    let mut at = 0;
    while at < OPERATIONS.len() {
        assert!(OPERATIONS[at].opcode as usize == at + 1);
        at += 1;
    }
};
