//! Shared receive queues of an XRC domain: they complete in a completion queue of their own, whatever target the message came to.

use std::sync::Arc;

use weft_layout::Cqe;

use super::super::srq::SrqRings;
use super::{CqInner, Taking};
use crate::verbs::VerbsError;

impl Taking {
    /// The shared queue of an XRC domain that a CQE's receive came from, and where it is.
    fn of_xrc(&self, cqe: &Cqe) -> Option<(usize, &SrqRings)> {
        let mut shared = self.shared.iter().enumerate();
        let (at, found) = shared.find(|(_, shared)| shared.srq.id.number() == cqe.invalidated)?;
        Some((at, &found.srq))
    }
}

impl CqInner {
    /// The receives of a new shared queue of an XRC domain complete here: each has a place, or the queue cannot be. With the device's lock.
    pub(in super::super) fn admit_xrc(&self, srq: &Arc<SrqRings>) -> Result<(), VerbsError> {
        self.admit_shared(srq, 0)
    }

    /// It is no more. What it has received and nobody has polled is still to be had.
    pub(in super::super) fn dismiss_xrc(&self, srq: &Arc<SrqRings>) {
        let mut taking = self.take();
        let Some(at) = taking.shared_at(srq) else {
            return;
        };
        let (number, next) = (srq.id.number(), taking.next.number);
        let ring = taking.ring.clone();
        let left = (0..ring.layout.capacity())
            .map_while(|ahead| ring.get(next.wrapping_add(ahead)))
            .filter(|cqe| cqe.of_xrc() && cqe.invalidated == number)
            .count();
        let shared = &mut taking.shared[at];
        shared.queue_pairs = 0;
        if left > 0 {
            shared.left.push((number, left));
        }
        self.dismiss(&mut taking, at);
    }

    /// The work of a CQE of such a queue.
    pub(super) fn finish_xrc(&self, taking: &mut Taking, cqe: &Cqe) -> Option<u64> {
        let (at, srq) = taking.of_xrc(cqe)?;
        let wr_id = srq.finish(cqe.work);
        let shared = &mut taking.shared[at];
        for (_, left) in &mut shared.left {
            *left -= 1;
        }
        shared.left.retain(|(_, left)| *left > 0);
        self.dismiss(taking, at);
        wr_id
    }
}
