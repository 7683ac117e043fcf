//! A host's end of short connections: what they share, and what happens to them. That goes to a function of the program (DAT's way), which keeps it until
//! the program takes it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use weft_hostdrv::cm::{CmEvent, CmId, EventChannel};
use weft_hostdrv::verbs::{Cq, Mr, Pd, Qp, QpCap, QpInit, RecvWr, Wc};

use super::scene::Scene;
use super::step::Step;
use crate::partitions::PartitionsError;

/// Bytes of a request, and of an answer.
pub(super) const MESSAGE: usize = 64;

/// A host.
pub(super) struct Short {
    pd: Pd,
    pub(super) cq: Cq,
    /// A message for each lane.
    memory: Mr,
    pub(super) channel: EventChannel,
    events: Arc<Mutex<VecDeque<CmEvent>>>,
}

impl Short {
    pub(super) fn new(scene: &Scene<'_>, host: usize) -> Result<Self, PartitionsError> {
        let events: Arc<Mutex<VecDeque<CmEvent>>> = Arc::default();
        let kept = Arc::clone(&events);
        let keep = move |event| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_back(event);
        };
        Ok(Self {
            pd: scene.hosts[host].pd.clone(),
            cq: scene.hosts[host].cq.clone(),
            memory: scene.memory(host, scene.load.connections * MESSAGE)?,
            channel: scene.fabric.device(host).create_callback_channel(keep),
            events,
        })
    }

    pub(super) fn event(&self) -> Option<CmEvent> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.pop_front()
    }

    /// A queue pair with a receive for its lane's message.
    pub(super) fn qp(
        &self,
        id: &CmId,
        lane: usize,
        step: &mut Step<'_>,
    ) -> Result<Qp, PartitionsError> {
        let cap = QpCap {
            max_send_wr: 2,
            max_recv_wr: 1,
            ..QpCap::default()
        };
        let init = QpInit {
            cap,
            ..QpInit::new(&self.cq)
        };
        let qp = id.create_qp(&self.pd, &init)?;
        let at = self.memory.sge((lane * MESSAGE) as u64, MESSAGE as u32);
        step.receive(&qp, RecvWr::new(lane as u64).sge(at))?;
        Ok(qp)
    }

    /// The message that came.
    pub(super) fn message(&self, wc: &Wc) -> Result<Vec<u8>, PartitionsError> {
        let at = wc.wr_id as usize * MESSAGE;
        Ok(self.memory.to_vec(at, wc.byte_len as usize)?)
    }
}
