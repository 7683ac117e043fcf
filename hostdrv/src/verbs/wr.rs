//! Work requests.

use weft_engine::{SendOp, MAX_INLINE, MAX_SGE};

use super::mr::{Mr, RemoteRegion};

/// A part of a region: scatter/gather element. Made by [`Mr::sge`].
#[derive(Clone, Debug)]
pub struct Sge {
    pub(super) mr: Mr,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// The SGEs of a work request, in it: posting allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct SgeList {
    list: [Option<Sge>; MAX_SGE],
    /// What the caller gave; those beyond the list are refused.
    given: usize,
}

impl SgeList {
    fn push(&mut self, sge: Sge) {
        if let Some(place) = self.list.get_mut(self.given) {
            *place = Some(sge);
        }
        self.given += 1;
    }

    pub(super) fn given(&self) -> usize {
        self.given
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Sge> {
        self.list.iter().flatten()
    }
}

/// Inline data, in the work request.
#[derive(Clone, Debug)]
pub(super) struct Inline {
    bytes: [u8; MAX_INLINE],
    /// What the caller gave; more than there is room for is refused.
    given: usize,
}

impl Inline {
    fn new(from: &[u8]) -> Self {
        let mut bytes = [0; MAX_INLINE];
        let kept = from.len().min(MAX_INLINE);
        bytes[..kept].copy_from_slice(&from[..kept]);
        Self {
            bytes,
            given: from.len(),
        }
    }

    pub(super) fn given(&self) -> usize {
        self.given
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.given.min(MAX_INLINE)]
    }
}

/// A work request for the send queue.
///
/// ```
/// # use weft_hostdrv::verbs::*;
/// # fn example(qp: Qp, mr: Mr, peer: RemoteRegion) -> Result<(), VerbsError> {
/// qp.post_send(SendWr::write(7, peer).sge(mr.sge(0, 4096)).signaled())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SendWr {
    pub(super) wr_id: u64,
    pub(super) op: SendOp,
    pub(super) sg_list: SgeList,
    pub(super) inline: Option<Inline>,
    pub(super) signaled: bool,
    pub(super) fence: bool,
    pub(super) misplaced: Option<&'static str>,
}

impl SendWr {
    fn new(wr_id: u64, op: SendOp) -> Self {
        Self {
            wr_id,
            op,
            sg_list: SgeList::default(),
            inline: None,
            signaled: false,
            fence: false,
            misplaced: None,
        }
    }

    /// Send: the peer's next receive takes it.
    pub fn send(wr_id: u64) -> Self {
        Self::new(
            wr_id,
            SendOp::Send {
                solicited: false,
                invalidate: None,
            },
        )
    }

    /// Immediate Data (RFC 7306 §6): the peer's next receive, which must have room for 8 bytes, takes `data`, most
    /// significant byte first, and its completion has it, too ([`Wc::imm_data`](super::Wc::imm_data)). It takes no
    /// SGE and no inline bytes. Behind a Write it is what `IBV_WR_RDMA_WRITE_WITH_IMM` is elsewhere. Nothing
    /// negotiates it: a peer that does not know it ends the connection (RFC 7306 §1.1).
    pub fn immediate(wr_id: u64, data: u64) -> Self {
        Self::new(
            wr_id,
            SendOp::Immediate {
                solicited: false,
                data,
            },
        )
    }

    /// RDMA Write to the beginning of `to`.
    pub fn write(wr_id: u64, to: RemoteRegion) -> Self {
        Self::new(
            wr_id,
            SendOp::Write {
                stag: to.rkey,
                to: to.addr,
            },
        )
    }

    /// RDMA Read from the beginning of `from` into the SGEs.
    pub fn read(wr_id: u64, from: RemoteRegion) -> Self {
        Self::new(
            wr_id,
            SendOp::Read {
                stag: from.rkey,
                to: from.addr,
            },
        )
    }

    /// Adds an SGE.
    pub fn sge(mut self, sge: Sge) -> Self {
        self.sg_list.push(sge);
        self
    }

    /// Sends these bytes instead of a region's; they are copied now.
    pub fn inline(mut self, bytes: &[u8]) -> Self {
        self.inline = Some(Inline::new(bytes));
        self
    }

    /// Makes a completion on success too (`IBV_SEND_SIGNALED`).
    pub fn signaled(mut self) -> Self {
        self.signaled = true;
        self
    }

    /// Starts only when all Reads posted before are complete (`IBV_SEND_FENCE`).
    pub fn fence(mut self) -> Self {
        self.fence = true;
        self
    }

    /// A Send asks the receiver for an event (`IBV_SEND_SOLICITED`).
    pub fn solicited(mut self) -> Self {
        match &mut self.op {
            SendOp::Send { solicited, .. } | SendOp::Immediate { solicited, .. } => {
                *solicited = true;
            }
            _ => self.misplaced = Some("solicited"),
        }
        self
    }

    /// A Send also invalidates this STag of the peer's.
    pub fn invalidate(mut self, rkey: u32) -> Self {
        match &mut self.op {
            SendOp::Send { invalidate, .. } => *invalidate = Some(rkey),
            _ => self.misplaced = Some("invalidate"),
        }
        self
    }

    /// What it does, for messages.
    pub(super) fn work(&self) -> &'static str {
        match self.op {
            SendOp::Send { .. } => "Send",
            SendOp::Immediate { .. } => "Immediate Data",
            SendOp::Write { .. } => "Write",
            SendOp::Read { .. } => "Read",
        }
    }
}

/// A work request for the receive queue.
#[derive(Clone, Debug)]
#[must_use]
pub struct RecvWr {
    pub(super) wr_id: u64,
    pub(super) sg_list: SgeList,
}

impl RecvWr {
    /// A receive without room, until it has SGEs.
    pub fn new(wr_id: u64) -> Self {
        Self {
            wr_id,
            sg_list: SgeList::default(),
        }
    }

    /// Adds an SGE.
    pub fn sge(mut self, sge: Sge) -> Self {
        self.sg_list.push(sge);
        self
    }
}
