//! The shared receive queues of a device: what the engine takes from.

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use weft_engine::posted::{ends_by, sge_of, work_id};
use weft_engine::{QpId, RecvWr, SrqId};
use weft_layout::Cqe;
use weft_queues::SharedReceive;

use super::{AsyncEvent, State};

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
}

impl State {
    /// A new one.
    pub(crate) fn add_srq(&mut self, queue: Arc<dyn SharedReceives>) {
        self.srqs.insert(queue.id(), SrqEntry { queue, taken: 0 });
    }

    /// It is destroyed.
    pub(crate) fn remove_srq(&mut self, srq: SrqId) {
        self.srqs.remove(&srq);
    }

    /// Lets the engine take all receives that were posted to shared queues.
    pub(super) fn take_shared(&mut self) {
        let Some((engine, _)) = self.place.here() else {
            return;
        };
        for SrqEntry { queue, taken } in self.srqs.values_mut() {
            while let Some((slot, list)) = queue.layout().take(queue.memory(), *taken) {
                let list = list.map(sge_of);
                let used = list.iter().take_while(|sge| sge.length > 0).count();
                let wr = RecvWr {
                    id: work_id(slot, 1, true),
                    sges: &list[..used],
                };
                let posted = engine.post_srq_recv(queue.id(), &wr);
                if let Err(error) = posted {
                    let srq_num = queue.srq_num();
                    tracing::warn!(srq_num, slot, %error, "receive refused");
                    let status = ends_by(error);
                    let failed = engine.fail_srq_recv(queue.id(), wr.id, status);
                    if failed.is_err() {
                        // It has no room: whoever posts has more slots than he said.
                        break;
                    }
                }
                *taken = taken.wrapping_add(1);
            }
        }
    }

    /// A receive of one of an XRC domain ended, of a message that came to this queue pair.
    pub(super) fn complete_xrc(&self, srq: SrqId, slot: u32, qp: QpId, cqe: Cqe) {
        let Some(entry) = self.srqs.get(&srq) else {
            return;
        };
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
