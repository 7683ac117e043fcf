//! The queue pairs that the host posts to in memory: what was posted goes to the engine, and its completions become CQEs.

use alloc::vec::Vec;

use weft_engine::posted::{Finished, Posted, PostedTo};
use weft_engine::{Engine, QpId};
use weft_layout::ProcQueues;
use weft_queues::{Capacity, CompletionQueue, Memory, QueuePair};

use crate::card::Card;
use crate::host_memory::Words;
use crate::log;

/// The queues of a queue pair.
struct Queues {
    qp: QpId,
    capacity: Capacity,
    layout: QueuePair,
    memory: &'static Words,
    posted: Posted,
    cq: CompletionQueue,
    completions: &'static Words,
    /// CQEs written.
    written: u32,
}

impl Queues {
    /// Whose they are, what was posted there, and how much of it was taken.
    fn work(&mut self) -> (QpId, PostedTo<'static, Words>, &mut Posted) {
        let work = PostedTo {
            qp: self.qp,
            capacity: self.capacity,
            layout: self.layout,
            memory: self.memory,
        };
        (self.qp, work, &mut self.posted)
    }
}

/// All of them.
#[derive(Default)]
pub struct Served(Vec<Queues>);

/// So many bytes of the memory, from this byte on.
fn part(memory: &'static Words, at: u32, bytes: usize) -> Option<&'static Words> {
    (at % 64 == 0).then(|| memory.part(at as usize / 8, bytes / 8))?
}

impl Served {
    /// A queue pair, with its queues where the host says; `None`: they cannot be there.
    pub fn add(&mut self, record: &ProcQueues, memory: &'static Words) -> Option<()> {
        let capacity = Capacity {
            send: record.send,
            sges: record.sges.into(),
            inline: record.inline_bytes.into(),
            recv: record.recv,
        };
        let layout = QueuePair::new(capacity)?;
        let cq = CompletionQueue::new(record.cqes as usize)?;
        let queues = Queues {
            qp: QpId::from_number(record.qp),
            capacity,
            layout,
            memory: part(memory, record.queues, layout.bytes())?,
            posted: Posted::default(),
            cq,
            completions: part(memory, record.completions, cq.bytes())?,
            written: 0,
        };
        self.remove(queues.qp);
        self.0.push(queues);
        Some(())
    }

    /// A queue pair that is gone.
    pub fn remove(&mut self, qp: QpId) {
        self.0.retain(|queues| queues.qp != qp);
    }

    /// Gives the engine all that was posted.
    pub fn take(&mut self, now: u64, engine: &mut Engine, card: &mut Card) {
        for queues in &mut self.0 {
            let (qp, work, posted) = queues.work();
            engine.take_recvs(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
            engine.take_sends(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
        }
    }

    /// Gives it the receives that were posted.
    pub fn take_recvs(&mut self, now: u64, engine: &mut Engine, card: &mut Card) {
        for queues in &mut self.0 {
            let (qp, work, posted) = queues.work();
            engine.take_recvs(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
        }
    }

    /// Makes CQEs of the engine's completions: how many there were, and whether the host is to be woken.
    pub fn complete(&mut self, engine: &mut Engine) -> (usize, bool) {
        let (mut count, mut woken) = (0, false);
        while let Some(completion) = engine.poll_completion() {
            count += 1;
            let found = |queues: &&mut Queues| queues.qp == completion.qp;
            let Some(queues) = self.0.iter_mut().find(found) else {
                continue;
            };
            let finished = Finished::of(&completion);
            if finished.success {
                match finished.is_recv {
                    true => queues.layout.set_recv_done(queues.memory, finished.done),
                    false => queues.layout.set_send_done(queues.memory, finished.done),
                }
            }
            if finished.signaled {
                let mut cqe = finished.cqe;
                cqe.qp_num = queues.qp.number();
                cqe.flow = queues.qp.flow();
                queues.cq.put(queues.completions, queues.written, cqe);
                queues.written = queues.written.wrapping_add(1);
                woken |= queues.cq.disarm(queues.completions) != 0;
            }
        }
        (count, woken)
    }
}
