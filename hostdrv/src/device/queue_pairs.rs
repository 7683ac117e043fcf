//! The queue pairs of a device: what the engine takes from. Whose handles they are it does not know.

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use weft_engine::commands::Command;
use weft_engine::on_card::WORK;
use weft_engine::{QpId, TerminateCode};
use weft_layout::{Cqe, QueuePairKind};
use weft_queues::{Capacity, QueuePair};

use super::lent::QueuePairAsked;
use super::wqe_intake::QpEntry;
use super::{AsyncEvent, Place, State};
use crate::error::DeviceError;
use weft_card_transport::queue_memory::QueueMemory;

/// The queues of a queue pair, as the device has them: memory that it takes posted work from, and what it says to who posts.
pub(crate) trait Queues: Send + Sync {
    /// Its number, in CQEs and messages.
    fn qp_num(&self) -> u32;
    /// What may be posted.
    fn capacity(&self) -> Capacity;
    /// What lies where in the memory.
    fn layout(&self) -> QueuePair;
    /// Send queue, receive queue and their doorbells.
    fn memory(&self) -> &[AtomicU64];
    /// The device looks at them: the next post rings.
    fn look(&self);
    /// Are its receives those of a shared queue?
    fn is_shared(&self) -> bool;
    /// A connection was asked for: work may be posted.
    fn bind(&self);
    /// The connection stands, and the peer takes no Reads.
    fn refuse_reads(&self);
    /// The device does no more.
    fn fail(&self);
    /// Writes a CQE to the completion queue of the send or the receive queue; its opcode says which. With the device's lock.
    fn complete(&self, cqe: Cqe);
}

impl State {
    /// Memory for a queue pair's queues. Of shared receive queues it may have to tell of so many receives more.
    pub(crate) fn queue_memory(
        &mut self,
        qp: QpId,
        capacity: Capacity,
        shared: usize,
        shareable: bool,
    ) -> Result<Option<QueueMemory>, DeviceError> {
        let layout = QueuePair::new(capacity);
        let on_card = match &mut self.place {
            Place::Here(_) => {
                let memory = layout.and_then(|layout| QueueMemory::new(layout.bytes(), shareable));
                return Ok(memory);
            }
            // A target has nothing to be posted to.
            Place::Lent(lent) => {
                let own = || layout.and_then(|layout| QueueMemory::new(layout.bytes(), false));
                return Ok(lent.queues_of(qp).or_else(own));
            }
            Place::OnCard(on_card) => on_card,
        };
        let cqes = capacity.send as usize + capacity.recv as usize + shared.min(WORK as usize);
        let cqes = cqes.next_power_of_two();
        Ok(Some(on_card.serve(qp, capacity, cqes)?))
    }

    /// A queue pair of a device that is lent, of these capacities; `None`: a command makes it.
    pub(crate) fn borrow_qp(
        &mut self,
        command: &Command,
        capacity: Capacity,
        shared: usize,
    ) -> Option<Result<QpId, DeviceError>> {
        let Place::Lent(lent) = &mut self.place else {
            return None;
        };
        let kind = QueuePairKind::from_raw(command.qp_kind);
        if command.rung != 0 {
            let what = "a queue pair of another rung";
            return Some(Err(DeviceError::OfLender { what }));
        }
        if kind == Some(QueuePairKind::XrcTarget) {
            return Some(lent.xrc_target(command));
        }
        let receives = match command.srq {
            0 => capacity.recv as usize,
            _ => shared,
        };
        let cqe = (capacity.send as usize + receives).next_power_of_two();
        Some(lent.queue_pair(&QueuePairAsked {
            pd: command.pd,
            work: [capacity.send, capacity.recv],
            sges: [capacity.sges, command.max_sge.into()],
            inline: capacity.inline,
            cqe,
            srq: (command.srq != 0).then_some(command.srq),
            initiator: kind == Some(QueuePairKind::XrcInitiator),
        }))
    }

    /// The number of a new queue pair; a lender's, if it is lent.
    pub(crate) fn number_qp(&mut self, qp: QpId) -> u32 {
        let lent = match &self.place {
            Place::Lent(lent) => lent.qp_num(qp),
            Place::Here(_) | Place::OnCard(_) => None,
        };
        lent.unwrap_or_else(|| self.take_qp_num())
    }

    /// A new queue pair.
    pub(crate) fn add_qp(&mut self, qp: QpId, queues: Arc<dyn Queues>) {
        let at = usize::from(qp.flow());
        if self.flows.len() <= at {
            self.flows.resize(at + 1, None);
        }
        self.flows[at] = Some(qp);
        self.qps.insert(qp, QpEntry::new(queues));
    }

    /// Something lives as long as its flow is in use: beyond the last handle, while its connection closes.
    pub(crate) fn keep_with(&mut self, qp: QpId, thing: Box<dyn Send>) {
        match self.qps.get_mut(&qp) {
            Some(entry) => entry.keeps.push(thing),
            None => self.release(thing),
        }
    }

    /// It is destroyed.
    pub(crate) fn remove_qp(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.remove(&qp) {
            self.release(entry.keeps);
        }
        match &mut self.place {
            Place::OnCard(on_card) => on_card.forget(qp),
            Place::Lent(lent) => lent.forget(qp),
            Place::Here(_) => {}
        }
        if let Some(flow) = self.flows.get_mut(usize::from(qp.flow())) {
            flow.take_if(|there| *there == qp);
        }
        self.shared_flows.retain(|flow| *flow != qp.flow());
    }

    /// A connection was asked for: the queue pair takes work.
    pub(crate) fn bind(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            entry.queues.bind();
        }
    }

    /// The connection of a queue pair stands, and the peer takes no Reads.
    pub(super) fn refuse_reads(&self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            entry.queues.refuse_reads();
        }
    }

    /// A queue pair takes nothing more from its shared receive queue.
    pub(super) fn last_wqe(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            let qp_num = entry.queues.qp_num();
            self.tell(AsyncEvent::LastWqeReached { qp_num });
        }
    }

    /// The peer of a queue pair whose connection was accepted has shown that it has the answer.
    pub(crate) fn qp_established(&mut self, qp: QpId) {
        if let Some(entry) = self.qps.get(&qp) {
            let qp_num = entry.queues.qp_num();
            self.tell(AsyncEvent::CommEstablished { qp_num });
        }
    }

    /// The engine says that a queue pair failed.
    pub(super) fn qp_failed(&mut self, qp: QpId, terminate: Option<TerminateCode>, received: bool) {
        let Some(entry) = self.qps.get(&qp) else {
            return;
        };
        let qp_num = entry.queues.qp_num();
        tracing::warn!(qp_num, ?terminate, received, "queue pair failed");
        self.tell(AsyncEvent::QpFatal {
            qp_num,
            terminate,
            received,
        });
        if let (Some(terminate), false) = (terminate, received) {
            if is_access_error(terminate) {
                self.tell(AsyncEvent::QpAccessError { qp_num, terminate });
            }
        }
    }
}

/// Is it that the peer tried what it may not: remote protection errors of RDMAP (RFC 5040 §7.2), tagged buffer errors of DDP
/// (RFC 5041 §8.2)?
fn is_access_error(terminate: TerminateCode) -> bool {
    matches!(terminate.0 >> 8, 0x01 | 0x11)
}
