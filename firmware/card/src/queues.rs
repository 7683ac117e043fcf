//! The queue pairs and shared receive queues that the host posts to in memory: what was posted goes to the engine, and its completions become CQEs.

use alloc::vec::Vec;
use core::mem;

use weft_engine::wqe_intake::{Finished, IntakeQueues, SharedIntake, WqeIntake};
use weft_engine::{Engine, QpId, SrqId};
use weft_layout::ProcQueues;
use weft_queues::{Capacity, CompletionQueue, Memory, QueuePair, SharedReceive};

use crate::card::Card;
use crate::host_memory::Words;
use crate::log;

/// The queues of a queue pair.
struct Queues {
    qp: QpId,
    capacity: Capacity,
    layout: QueuePair,
    memory: &'static Words,
    posted: WqeIntake,
    cq: CompletionQueue,
    completions: &'static Words,
    /// How far the send queue and the receive queue are, where that is not told yet.
    done: [Option<u32>; 2],
    /// CQEs written, and those after which the host was looked at.
    written: u32,
    told: u32,
    /// The bits of the host's bell that are of it.
    bell: u32,
    /// It is to be looked at: the host rang.
    rung: bool,
    /// Work that could not be taken waits for room.
    left: bool,
}

impl Queues {
    /// Whose they are, what was posted there, and how much of it was taken.
    fn work(&mut self) -> (QpId, IntakeQueues<'static, Words>, &mut WqeIntake) {
        let work = IntakeQueues {
            qp: self.qp,
            capacity: self.capacity,
            layout: self.layout,
            memory: self.memory,
        };
        (self.qp, work, &mut self.posted)
    }
}

/// A shared receive queue. Nobody rings for it: a message that wants an element is a raw frame first, and then it is looked at.
struct Shared {
    srq: SrqId,
    layout: SharedReceive,
    memory: &'static Words,
    taken: u32,
}

/// Completions that are told at a time.
const BATCH: usize = 32;

/// Queue pairs at most, and shared receive queues: what the engine has.
const EACH: usize = weft_engine::on_card::MEMORY.each as usize;

/// All of them.
pub struct Served {
    all: Vec<Queues>,
    shared: Vec<Shared>,
    /// Completions that become CQEs, and whose they are.
    finished: Vec<(usize, Finished)>,
}

/// So many bytes of the memory, from this byte on.
fn part(memory: &'static Words, at: u32, bytes: usize) -> Option<&'static Words> {
    (at % 64 == 0).then(|| memory.part(at as usize / 8, bytes / 8))?
}

impl Served {
    /// Bytes of its lists.
    pub const BYTES: usize =
        EACH * (size_of::<Queues>() + size_of::<Shared>()) + BATCH * size_of::<(usize, Finished)>();

    /// None yet, and memory for all.
    pub fn new() -> Self {
        Self {
            all: Vec::with_capacity(EACH),
            shared: Vec::with_capacity(EACH),
            finished: Vec::with_capacity(BATCH),
        }
    }

    /// A queue pair, with its queues where the host says, or a shared receive queue; `None`: they cannot be there.
    pub fn add(&mut self, record: &ProcQueues, memory: &'static Words) -> Option<()> {
        if record.cqes == 0 {
            return self.add_shared(record, memory);
        }
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
            posted: WqeIntake::default(),
            cq,
            completions: part(memory, record.completions, cq.bytes())?,
            done: [None; 2],
            written: 0,
            told: 0,
            bell: 1_u32.checked_shl(record.bell)?,
            rung: false,
            left: false,
        };
        self.remove(queues.qp);
        // The engine has no more.
        let room = self.all.len() < EACH;
        room.then(|| self.all.push(queues))
    }

    fn add_shared(&mut self, record: &ProcQueues, memory: &'static Words) -> Option<()> {
        let layout = SharedReceive::new(record.recv)?;
        let shared = Shared {
            srq: SrqId::from_number(record.qp),
            layout,
            memory: part(memory, record.queues, layout.bytes())?,
            taken: 0,
        };
        self.remove_shared(shared.srq);
        let room = self.shared.len() < EACH;
        room.then(|| self.shared.push(shared))
    }

    /// A shared receive queue that is gone.
    pub fn remove_shared(&mut self, srq: SrqId) {
        self.shared.retain(|shared| shared.srq != srq);
    }

    /// Gives the engine all that was posted to shared receive queues.
    pub fn take_shared(&mut self, engine: &mut Engine) {
        for Shared {
            srq,
            layout,
            memory,
            taken,
        } in &mut self.shared
        {
            let posted = SharedIntake {
                srq: *srq,
                layout: *layout,
                memory: *memory,
                taken,
            };
            engine.take_shared_recvs(posted, |why| log!("{srq:?}: {why:?}"));
        }
    }

    /// A queue pair that is gone.
    pub fn remove(&mut self, qp: QpId) {
        self.all.retain(|queues| queues.qp != qp);
    }

    /// The host says by these bits of its bell to whose queues something was posted.
    pub fn rung(&mut self, bells: u32) {
        for queues in &mut self.all {
            queues.rung |= bells & queues.bell != 0;
        }
    }

    /// Work that could not be taken waits for room.
    pub fn is_left(&self) -> bool {
        self.all.iter().any(|queues| queues.left)
    }

    /// Gives the engine all that was posted where the host rang, or where something was left.
    pub fn take(&mut self, now: u64, engine: &mut Engine, card: &mut Card) {
        for queues in &mut self.all {
            let rung = mem::take(&mut queues.rung);
            if !rung && !queues.left {
                continue;
            }
            let (qp, work, posted) = queues.work();
            if rung {
                posted.look(&work);
            }
            engine.take_recvs(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
            engine.take_sends(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
            queues.left = queues.posted.is_left();
        }
    }

    /// Gives it the receives that were posted, rung for or not: the shared ones, and those of this flow's queue pair, or of all.
    pub fn take_recvs(
        &mut self,
        now: u64,
        flow: Option<u16>,
        engine: &mut Engine,
        card: &mut Card,
    ) {
        self.take_shared(engine);
        for queues in &mut self.all {
            let (qp, work, posted) = queues.work();
            if flow.is_some_and(|flow| flow != qp.flow()) {
                continue;
            }
            posted.look(&work);
            engine.take_recvs(now, posted, &work, card, |why| log!("{qp:?}: {why:?}"));
            // What was seen and is no receive is not lost.
            queues.left = queues.posted.is_left();
        }
    }

    /// Makes CQEs of the engine's completions: how many there were, and whether the host is to be woken.
    pub fn complete(&mut self, engine: &mut Engine) -> (usize, bool) {
        let (mut all, mut woken) = (0, false);
        loop {
            let (count, wanted) = self.complete_some(engine);
            (all, woken) = (all + count, woken | wanted);
            if count < BATCH {
                return (all, woken);
            }
        }
    }

    /// The same of so many at most.
    fn complete_some(&mut self, engine: &mut Engine) -> (usize, bool) {
        let Self { all, finished, .. } = self;
        let mut count = 0;
        while count < BATCH {
            let Some(completion) = engine.poll_completion() else {
                break;
            };
            count += 1;
            let found = |queues: &Queues| queues.qp == completion.qp;
            let Some(at) = all.iter().position(found) else {
                continue;
            };
            let mut done = Finished::of(&completion);
            if let Some(srq) = completion.srq {
                // The host knows whose it is by this, and no element of the queue pair's own is free by it.
                done.cqe.invalidated = srq.number();
                done.cqe = done.cqe.with_of_xrc(true);
            } else if done.success {
                // The last one says how far the queue is done.
                all[at].done[usize::from(done.is_recv)] = Some(done.done);
            }
            if done.signaled {
                finished.push((at, done));
            }
        }
        for queues in all.iter_mut() {
            let [send, recv] = mem::take(&mut queues.done);
            if let Some(done) = send {
                queues.layout.set_send_done(queues.memory, done);
            }
            if let Some(done) = recv {
                queues.layout.set_recv_done(queues.memory, done);
            }
        }
        for (at, done) in finished.drain(..) {
            let queues = &mut all[at];
            let mut cqe = done.cqe;
            cqe.qp_num = queues.qp.number();
            cqe.flow = queues.qp.flow();
            queues.cq.put(queues.completions, queues.written, cqe);
            queues.written = queues.written.wrapping_add(1);
        }
        let mut woken = false;
        for queues in all
            .iter_mut()
            .filter(|queues| queues.told != queues.written)
        {
            queues.told = queues.written;
            woken |= queues.cq.disarm(queues.completions) != 0;
        }
        (count, woken)
    }
}
