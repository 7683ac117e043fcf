//! The other end of the queues: the engine takes what was posted, and its completions become CQEs.

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use weft_engine::wqe_intake::{Finished, IntakeQueues, NotDone, WqeIntake};
use weft_engine::{QpId, SrqId};
use weft_layout::Cqe;

use super::queue_pairs::Queues;
use super::{Place, Said, State};
use crate::stats::add;

/// The device's side of a queue pair.
pub(super) struct QpEntry {
    pub(super) queues: Arc<dyn Queues>,
    posted: WqeIntake,
    /// Nobody has it any more.
    pub(super) is_silent: bool,
    complaints: Arc<Said>,
    /// What lives as long as its flow is in use.
    pub(super) keeps: Vec<Box<dyn Send>>,
}

impl QpEntry {
    pub(super) fn new(queues: Arc<dyn Queues>) -> Self {
        Self {
            queues,
            posted: WqeIntake::default(),
            is_silent: false,
            complaints: Arc::default(),
            keeps: Vec::new(),
        }
    }

    /// A completion goes to whom it is for.
    fn complete(&self, qp: QpId, cqe: Cqe) {
        if self.is_silent {
            return;
        }
        let qp_num = self.queues.qp_num();
        tracing::trace!(qp_num, ?cqe, "completion");
        self.queues.complete(Cqe {
            qp_num,
            flow: qp.flow(),
            ..cqe
        });
    }

    /// Where the work lies, and how much of it was taken.
    fn work(&mut self, qp: QpId) -> (IntakeQueues<'_, [AtomicU64]>, &mut WqeIntake) {
        let queues = IntakeQueues {
            qp,
            capacity: self.queues.capacity(),
            layout: self.queues.layout(),
            memory: self.queues.memory(),
        };
        (queues, &mut self.posted)
    }
}

/// Work that was not done ends its queue pair; why, is for the log.
fn log(qp: QpId, complaints: &Said, why: NotDone) {
    let flow = qp.flow();
    let Some(times) = complaints.again() else {
        return;
    };
    match why {
        NotDone::Broken(bad) => {
            tracing::error!(flow, %bad, "nothing more is taken from this send queue");
        }
        NotDone::Send(number, error) => {
            tracing::warn!(flow, number, %error, times, "work request refused");
        }
        NotDone::Recv(number, error) => {
            tracing::warn!(flow, number, %error, times, "receive refused");
        }
    }
}

impl State {
    /// Lets the engine take all that was posted.
    pub(crate) fn take_posted(&mut self, now: u64) {
        self.take_shared();
        let (mut rung, mut any) = (0, false);
        while let Some(flow) = self.doorbells.take() {
            any = true;
            self.look(flow);
            self.take_from(now, flow);
            rung |= self.bell_of(flow);
        }
        match &self.place {
            Place::OnCard(on_card) if rung != 0 => {
                if let Err(error) = on_card.ring(rung) {
                    self.fail(error);
                }
            }
            Place::Lent(lent) if any => lent.ring(),
            _ => {}
        }
        for at in 0..self.shared_flows.len() {
            self.take_from(now, self.shared_flows[at]);
        }
    }

    /// The bit of the card's bell that says that this flow's queue pair has work, if its engine is there.
    fn bell_of(&self, flow: u16) -> u32 {
        let id = self.flows.get(usize::from(flow)).copied().flatten();
        match (&self.place, id) {
            (Place::OnCard(on_card), Some(id)) => on_card.bell_of(id),
            _ => 0,
        }
    }

    /// Who posts to this flow's queues from now on rings.
    fn look(&self, flow: u16) {
        let id = self.flows.get(usize::from(flow)).copied().flatten();
        if let Some(entry) = id.and_then(|id| self.qps.get(&id)) {
            entry.queues.look();
        }
    }

    fn take_from(&mut self, now: u64, flow: u16) {
        let id = self.flows.get(usize::from(flow)).copied().flatten();
        let Some(id) = id else { return };
        let Some((engine, card)) = self.place.here() else {
            return;
        };
        if let Some(entry) = self.qps.get_mut(&id) {
            let complaints = entry.complaints.clone();
            let (queues, posted) = entry.work(id);
            posted.look(&queues);
            engine.take_recvs(now, posted, &queues, card, |why| log(id, &complaints, why));
            engine.take_sends(now, posted, &queues, card, |why| log(id, &complaints, why));
        }
        self.interrupt_moderation
            .posted(engine.segments_in_flight(flow));
    }

    /// Makes CQEs of the engine's completions; how many there were.
    pub(crate) fn deliver_completions(&mut self) -> usize {
        let mut delivered = 0;
        while let Some((qp, cqe)) = self.place.take_completion() {
            delivered += 1;
            if cqe.of_xrc() {
                self.complete_xrc(SrqId::from_number(cqe.invalidated), cqe.work, qp, cqe);
            } else if let Some(entry) = self.qps.get(&qp) {
                entry.complete(qp, cqe);
            }
        }
        while let Some(completion) = self
            .place
            .here()
            .and_then(|(engine, _)| engine.poll_completion())
        {
            let finished = Finished::of(&completion);
            delivered += 1;
            if let Some(srq) = completion.srq {
                let slot = completion.wr_id as u32;
                self.complete_xrc(srq, slot, completion.qp, finished.cqe);
                continue;
            }
            self.complete(completion.qp, finished);
        }
        if delivered > 0 {
            add(&self.mmio.counts.completions, delivered as u64);
        }
        delivered
    }

    fn complete(&mut self, id: QpId, finished: Finished) {
        let Some(entry) = self.qps.get(&id) else {
            return;
        };
        let queues = &entry.queues;
        if finished.success {
            match finished.is_recv {
                true if queues.is_shared() => {}
                true => queues
                    .layout()
                    .set_recv_done(queues.memory(), finished.done),
                false => queues
                    .layout()
                    .set_send_done(queues.memory(), finished.done),
            }
        }
        if finished.signaled {
            entry.complete(id, finished.cqe);
        }
    }
}
