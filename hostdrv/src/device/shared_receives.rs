//! The shared receive queues of a device: what the engine takes from.

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use weft_engine::wqe_intake::SharedIntake;
use weft_engine::{QpId, SrqId};
use weft_layout::Cqe;
use weft_queues::SharedReceive;

use super::{AsyncEvent, Place, Said, State};
use crate::error::DeviceError;
use weft_card_transport::queue_memory::QueueMemory;

/// A shared receive queue, as the device has it: memory that it takes posted receives from.
pub(crate) trait SharedReceives: Send + Sync {
    /// As the engine knows it.
    fn id(&self) -> SrqId;
    /// Its number, in events.
    fn srq_num(&self) -> u32;
    /// What lies where in the memory.
    fn layout(&self) -> SharedReceive;
    /// The queue and its doorbell.
    fn memory(&self) -> &[AtomicU64];
    /// Writes a CQE to its own completion queue, if it is of an XRC domain. With the device's lock.
    fn complete(&self, cqe: Cqe);
}

/// The device's side of one.
pub(super) struct SrqEntry {
    queue: Arc<dyn SharedReceives>,
    taken: u32,
    refused: Said,
}

impl State {
    /// Memory for one of so many elements.
    pub(crate) fn srq_memory(
        &mut self,
        srq: SrqId,
        elements: u32,
        shareable: bool,
    ) -> Result<Option<QueueMemory>, DeviceError> {
        Ok(match &mut self.place {
            Place::Here(_) => SharedReceive::new(elements)
                .and_then(|layout| QueueMemory::new(layout.bytes(), shareable)),
            Place::OnCard(on_card) => Some(on_card.serve_shared(srq, elements)?),
            Place::Lent(lent) => Some(lent.shared_memory(srq, elements)?),
        })
    }

    /// A new one.
    pub(crate) fn add_srq(&mut self, queue: Arc<dyn SharedReceives>) {
        let entry = SrqEntry {
            queue,
            taken: 0,
            refused: Said::default(),
        };
        self.srqs.insert(entry.queue.id(), entry);
    }

    /// It is destroyed.
    pub(crate) fn remove_srq(&mut self, srq: SrqId) {
        self.srqs.remove(&srq);
        if let Place::Lent(lent) = &mut self.place {
            lent.xrc.forget_receives(srq);
        }
    }

    /// Lets the engine take all receives that were posted to shared queues; one on the card does so by itself.
    pub(super) fn take_shared(&mut self) {
        let Some((engine, _)) = self.place.here() else {
            return;
        };
        for entry in self.srqs.values_mut() {
            let SrqEntry {
                queue,
                taken,
                refused,
            } = entry;
            let posted = SharedIntake {
                srq: queue.id(),
                layout: queue.layout(),
                memory: queue.memory(),
                taken,
            };
            engine.take_shared_recvs(posted, |why| {
                if let Some(times) = refused.again() {
                    let srq_num = queue.srq_num();
                    tracing::warn!(srq_num, ?why, times, "receive refused");
                }
            });
        }
    }

    /// A receive of one of an XRC domain ended, of a message that came to this queue pair.
    pub(super) fn complete_xrc(&self, srq: SrqId, slot: u32, qp: QpId, cqe: Cqe) {
        let Some(entry) = self.srqs.get(&srq) else {
            return;
        };
        // Whoever lends it has said which target: it may be another process'.
        if self.is_lent() {
            return entry.queue.complete(cqe);
        }
        let target = self.qps.get(&qp);
        let cqe = Cqe {
            work: slot,
            qp_num: target.map_or(0, |target| target.queues.qp_num()),
            flow: qp.flow(),
            invalidated: srq.number(),
            ..cqe
        };
        entry.queue.complete(cqe.with_of_xrc(true));
    }

    /// One has reached its limit.
    pub(super) fn srq_limit(&mut self, srq: SrqId) {
        if let Some(entry) = self.srqs.get(&srq) {
            let srq_num = entry.queue.srq_num();
            self.tell(AsyncEvent::SrqLimitReached { srq_num });
        }
    }
}
