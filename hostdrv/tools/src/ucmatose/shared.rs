//! Receives for all connections of a side, in one shared receive queue.

use super::super::peer_error::PeerError;
use super::Load;
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{Access, Mr, Pd, QpInit, RecvWr, Srq, SrqInit};

/// A shared receive queue that holds a receive for each message that may be under way.
pub(super) struct Shared {
    pub(super) pd: Pd,
    srq: Srq,
    memory: Mr,
    size: usize,
}

impl Shared {
    /// Makes it and fills it.
    pub(super) fn new(device: &Device, load: &Load) -> Result<Self, PeerError> {
        let slots = load.shared_receives();
        let pd = device.alloc_pd()?;
        let init = SrqInit {
            max_wr: slots as u32,
            max_sge: 1,
            ..SrqInit::default()
        };
        let shared = Self {
            srq: pd.create_srq(&init)?,
            memory: pd.alloc_mr((slots * load.size).max(1), Access::LOCAL_WRITE)?,
            size: load.size,
            pd,
        };
        for slot in 0..slots as u64 {
            shared.post(slot)?;
        }
        Ok(shared)
    }

    /// Queue pairs that take their receives from it.
    pub(super) fn of(&self, init: QpInit) -> QpInit {
        init.srq(&self.srq)
    }

    /// A receive waits in this slot again.
    pub(super) fn post(&self, slot: u64) -> Result<(), PeerError> {
        let room = self.memory.sge(slot * self.size as u64, self.size as u32);
        Ok(self.srq.post_recv(RecvWr::new(slot).sge(room))?)
    }

    /// The message in a slot.
    pub(super) fn message(&self, slot: u64) -> Result<Vec<u8>, PeerError> {
        Ok(self.memory.to_vec(slot as usize * self.size, self.size)?)
    }
}
