//! Work requests: what is to be done, and where the bytes are. They refer to both, and own nothing: posting copies them once, into the queue.

use weft_engine::Access;
use weft_queues::{Operation, SendWqe, WqeOpcode};

use super::mr::Mr;
use super::remote_region::RemoteRegion;

/// A part of a region: scatter/gather element. Made by [`Mr::sge`].
#[derive(Clone, Copy, Debug)]
pub struct Sge<'a> {
    pub(super) mr: &'a Mr,
    pub(super) offset: u64,
    pub(super) length: u32,
}

impl Sge<'_> {
    /// Is all of it in its region?
    #[inline(always)]
    pub(super) fn is_inside(&self) -> bool {
        let end = self.offset.checked_add(self.length.into());
        end.is_some_and(|end| end <= self.mr.len() as u64)
    }

    /// As the queue has it.
    #[inline(always)]
    pub(super) fn queued(&self) -> weft_queues::Sge {
        weft_queues::Sge {
            stag: self.mr.lkey(),
            to: self.mr.addr().wrapping_add(self.offset),
            length: self.length,
        }
    }
}

/// Where a message comes from, or goes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    None,
    One(Sge<'a>),
    List(&'a [Sge<'a>]),
    Inline(&'a [u8]),
    /// More than one of them was given.
    Mixed,
}

impl<'a> Payload<'a> {
    /// A payload is given to what had `self`.
    #[inline(always)]
    fn with(self, given: Payload<'a>) -> Self {
        match self {
            Payload::None => given,
            _ => Payload::Mixed,
        }
    }

    /// The same, made of its parts.
    #[inline(always)]
    fn copied(&self) -> Self {
        match *self {
            Payload::None => Payload::None,
            Payload::One(Sge { mr, offset, length }) => Payload::One(Sge { mr, offset, length }),
            Payload::List(list) => Payload::List(list),
            Payload::Inline(bytes) => Payload::Inline(bytes),
            Payload::Mixed => Payload::Mixed,
        }
    }

    /// The SGEs.
    pub(super) fn sges(&self) -> &[Sge<'a>] {
        match self {
            Payload::One(sge) => std::slice::from_ref(sge),
            Payload::List(list) => list,
            Payload::None | Payload::Inline(_) | Payload::Mixed => &[],
        }
    }
}

/// No flag of a WQE: what else cannot be said of an opcode.
const TO_SRQ: u8 = 1 << 7;

/// A work request for the send queue. It refers to the SGEs, regions and bytes of its payload, of which it takes one: [`sge`](Self::sge),
/// [`sges`](Self::sges) or [`inline`](Self::inline).
///
/// ```
/// # use weft_hostdrv::verbs::*;
/// # fn example(qp: Qp, mr: Mr, peer: RemoteRegion) -> Result<(), VerbsError> {
/// qp.post_send(SendWr::write(7, peer).sge(mr.sge(0, 4096)).signaled())?;
/// qp.post_send(SendWr::send(8).sges(&[mr.sge(0, 16), mr.sge(512, 100)]))?;
/// qp.post_send(SendWr::send(9).inline(b"a few bytes"))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct SendWr<'a> {
    pub(super) wr_id: u64,
    pub(super) to: u64,
    pub(super) stag: u32,
    pub(super) opcode: WqeOpcode,
    /// Bits of the WQE.
    pub(super) flags: u8,
    /// Bits of the WQE that this opcode does not have.
    pub(super) misplaced: u8,
    pub(super) payload: Payload<'a>,
}

impl<'a> SendWr<'a> {
    #[inline(always)]
    fn new(wr_id: u64, opcode: WqeOpcode, to: u64, stag: u32) -> Self {
        Self {
            wr_id,
            to,
            stag,
            opcode,
            flags: 0,
            misplaced: 0,
            payload: Payload::None,
        }
    }

    /// Send: the peer's next receive takes it.
    #[inline(always)]
    pub fn send(wr_id: u64) -> Self {
        Self::new(wr_id, WqeOpcode::Send, 0, 0)
    }

    /// Immediate Data (RFC 7306 §6): the peer's next receive, which must have room for 8 bytes, takes `data`, most
    /// significant byte first, and its completion has it, too ([`Wc::imm_data`](super::Wc::imm_data)). It takes no
    /// SGE and no inline bytes. Behind a Write it is what `IBV_WR_RDMA_WRITE_WITH_IMM` is elsewhere. Nothing
    /// negotiates it: a peer that does not know it ends the connection (RFC 7306 §1.1).
    #[inline(always)]
    pub fn immediate(wr_id: u64, data: u64) -> Self {
        Self::new(wr_id, WqeOpcode::Immediate, data, 0)
    }

    /// RDMA Write to the beginning of `to`.
    #[inline(always)]
    pub fn write(wr_id: u64, to: RemoteRegion) -> Self {
        Self::new(wr_id, WqeOpcode::Write, to.addr, to.rkey)
    }

    /// RDMA Read from the beginning of `from` into the SGEs.
    #[inline(always)]
    pub fn read(wr_id: u64, from: RemoteRegion) -> Self {
        Self::new(wr_id, WqeOpcode::Read, from.addr, from.rkey)
    }

    /// Its payload is, or goes to, one SGE.
    #[inline(always)]
    pub fn sge(mut self, sge: Sge<'a>) -> Self {
        self.payload = self.payload.with(Payload::One(sge));
        self
    }

    /// Its payload is, or goes to, these SGEs one after the other.
    #[inline(always)]
    pub fn sges(mut self, list: &'a [Sge<'a>]) -> Self {
        self.payload = self.payload.with(Payload::List(list));
        self
    }

    /// Sends these bytes instead of a region's; they are copied when it is posted.
    #[inline(always)]
    pub fn inline(mut self, bytes: &'a [u8]) -> Self {
        self.payload = self.payload.with(Payload::Inline(bytes));
        self
    }

    /// Makes a completion on success too (`IBV_SEND_SIGNALED`).
    #[inline(always)]
    pub fn signaled(mut self) -> Self {
        self.flags |= SendWqe::SIGNALED;
        self
    }

    /// Starts only when all Reads posted before are complete (`IBV_SEND_FENCE`).
    #[inline(always)]
    pub fn fence(mut self) -> Self {
        self.flags |= SendWqe::FENCE;
        self
    }

    /// A Send asks the receiver for an event (`IBV_SEND_SOLICITED`).
    #[inline(always)]
    pub fn solicited(mut self) -> Self {
        match Operation::of(self.opcode).flags & SendWqe::SOLICITED != 0 {
            true => self.flags |= SendWqe::SOLICITED,
            false => self.misplaced |= SendWqe::SOLICITED,
        }
        self
    }

    /// A Send of an XRC initiator: the shared receive queue of the peer's domain that has this number takes it (`qp_type.xrc.remote_srqn`).
    #[inline(always)]
    pub fn to_srq(mut self, srq_num: u32) -> Self {
        match self.opcode {
            WqeOpcode::Send if self.flags & SendWqe::INVALIDATE == 0 => {
                self.opcode = WqeOpcode::XrcSend;
                self.stag = srq_num;
            }
            _ => self.misplaced |= TO_SRQ,
        }
        self
    }

    /// A Send also invalidates this STag of the peer's.
    #[inline(always)]
    pub fn invalidate(mut self, rkey: u32) -> Self {
        match self.opcode {
            WqeOpcode::Send => {
                self.flags |= SendWqe::INVALIDATE;
                self.stag = rkey;
            }
            _ => self.misplaced |= SendWqe::INVALIDATE,
        }
        self
    }

    /// The same, made of its parts: for calls on which the fast path must not depend. Else it has to lie in memory for them.
    #[inline(always)]
    pub(super) fn copied(&self) -> Self {
        Self {
            payload: self.payload.copied(),
            ..*self
        }
    }

    /// The flag that it cannot have, for messages.
    pub(super) fn misplaced(&self) -> &'static str {
        match self.misplaced {
            other if other & TO_SRQ != 0 => "to_srq",
            other if other & SendWqe::SOLICITED != 0 => "solicited",
            _ => "invalidate",
        }
    }
}

/// The rights that work of the send queue needs to its own memory.
#[inline(always)]
pub(super) fn needs(opcode: WqeOpcode) -> Access {
    match opcode {
        WqeOpcode::Read => Access::READ_SINK,
        _ => Access::NONE,
    }
}

/// A work request for the receive queue.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct RecvWr<'a> {
    pub(super) wr_id: u64,
    pub(super) payload: Payload<'a>,
}

impl<'a> RecvWr<'a> {
    /// A receive without room, until it has SGEs.
    #[inline(always)]
    pub fn new(wr_id: u64) -> Self {
        Self {
            wr_id,
            payload: Payload::None,
        }
    }

    /// As [`SendWr::copied`].
    #[inline(always)]
    pub(super) fn copied(&self) -> Self {
        Self {
            payload: self.payload.copied(),
            ..*self
        }
    }

    /// The message goes to one SGE.
    #[inline(always)]
    pub fn sge(mut self, sge: Sge<'a>) -> Self {
        self.payload = self.payload.with(Payload::One(sge));
        self
    }

    /// The message goes to these SGEs one after the other.
    #[inline(always)]
    pub fn sges(mut self, list: &'a [Sge<'a>]) -> Self {
        self.payload = self.payload.with(Payload::List(list));
        self
    }
}
