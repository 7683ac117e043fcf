//! A device whose engine is on the card's processor: commands, events and queue pairs' queues lie in memory that both share (`docs/processor.md`).
//!
//! A queue pair has a completion queue of its own there. What comes in it goes to those of the verbs here, which may be of several queue pairs, of another
//! size, and say of what they want to hear.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_engine::commands::{Answer, Command, Refusal};
use weft_engine::{on_card, Event, QpId, SrqId};
use weft_layout::{proc_bell, registers, CqDoorbell, Cqe, ProcInfo};
use weft_queues::Capacity;

use super::second_port::SecondPort;
use super::DeviceConfig;
use crate::card::{Fence, MemoryMap};
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::processor::{CardEngine, Image, Processor, ProcessorError, ServedQueues};
use crate::stats::add;
use weft_card_transport::queue_memory::QueueMemory;

// As the refusal of a longer queue says.
const _: () = assert!(on_card::WORK / 2 == 512);
/// Cycles without a beat after which the firmware is stopped: longer than any turn.
const WATCHDOG: u32 = 25_000_000;

/// The host's end of an engine on the card.
pub(crate) struct OnCard {
    // First: the processor stops, and the card forgets all memory, before anything else goes.
    engine: CardEngine,
    /// What the first port's owner does for this one, if it has the second port. When this goes nothing of the processor's is in the card's tables.
    second: Option<SecondPort>,
    mmio: Mmio,
    pub(crate) memory: MemoryMap,
    served: BTreeMap<QpId, Served>,
    pub(super) fence: Fence,
    /// JOB_DONE when it was read last.
    jobs_done: u32,
}

/// The completion queue that a queue pair has on the card.
struct Served {
    queues: ServedQueues,
    /// Number of its bit of PROC_BELL.
    bell: u32,
    taken: u32,
}

impl Served {
    fn next(&self) -> Option<Cqe> {
        let ServedQueues {
            cq, completions, ..
        } = &self.queues;
        cq.get(completions.words(), self.taken)
    }

    fn take(&mut self) -> Option<Cqe> {
        let cqe = self.next()?;
        self.taken = self.taken.wrapping_add(1);
        let ServedQueues {
            cq, completions, ..
        } = &self.queues;
        cq.taken(completions.words(), self.taken);
        Some(cqe)
    }
}

impl OnCard {
    /// Loads the firmware, which takes the card, or its second port.
    pub(super) fn start(
        mmio: &Mmio,
        config: &DeviceConfig,
        second: Option<SecondPort>,
    ) -> Result<Self, DeviceError> {
        let processor = Processor::of(mmio.transport.clone())?;
        let image = match &config.firmware {
            Some(image) => image.clone(),
            None => Arc::new(Image::of_environment()?),
        };
        processor.load(&image)?;
        processor.start(WATCHDOG)?;
        let engine = processor.start_engine(&config.engine)?;
        let fence = second.as_ref().map(SecondPort::fence);
        if let (Some(second), Some(give)) = (&second, engine.frames()) {
            second.open(give);
        }
        Ok(Self {
            engine,
            second,
            mmio: mmio.clone(),
            memory: MemoryMap::default(),
            served: BTreeMap::new(),
            fence: fence.unwrap_or_default(),
            jobs_done: 0,
        })
    }

    /// The processor that the engine is on.
    pub(super) fn processor(&self) -> &Processor {
        self.engine.processor()
    }

    /// Posts a command and waits for its answer: `Err` when the firmware gives none any more.
    pub(super) fn command(
        &mut self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Result<Answer, Refusal>, ProcessorError> {
        if let Some(Err(refused)) = self.second.as_ref().map(|second| second.before(command)) {
            return Ok(Err(refused));
        }
        self.count_bell();
        let answer = self.engine.command(command, private_data)?;
        if let Some(second) = &self.second {
            second.after(command);
        }
        Ok(answer)
    }

    /// Memory for a queue pair's queues, where the firmware takes what is posted.
    pub(super) fn serve(
        &mut self,
        qp: QpId,
        capacity: Capacity,
        cqes: usize,
    ) -> Result<QueueMemory, ProcessorError> {
        if self.served.len() >= on_card::CONNECTIONS.into() {
            return Err(ProcessorError::TooMany {
                most: on_card::CONNECTIONS,
            });
        }
        let bell = self.free_bell();
        let queues = self.engine.serve(qp, capacity, cqes, bell)?;
        let memory = queues.queues.clone();
        let served = Served {
            queues,
            bell,
            taken: 0,
        };
        self.served.insert(qp, served);
        Ok(memory)
    }

    /// Memory for a shared receive queue of so many elements, where the firmware takes them.
    pub(super) fn serve_shared(
        &mut self,
        srq: SrqId,
        elements: u32,
    ) -> Result<QueueMemory, ProcessorError> {
        self.engine.serve_shared(srq, elements)
    }

    /// The bit of PROC_BELL that the fewest queue pairs have.
    fn free_bell(&self) -> u32 {
        let mut users = [0_u32; u32::BITS as usize];
        for served in self.served.values() {
            users[served.bell as usize] += 1;
        }
        let first = u32::from(proc_bell::FIRST_QUEUES);
        let fewest = (first..u32::BITS).min_by_key(|bell| users[*bell as usize]);
        fewest.unwrap_or(first)
    }

    /// The bit that says that this queue pair has work; 0: it is none of the card's.
    pub(super) fn bell_of(&self, qp: QpId) -> u32 {
        self.served.get(&qp).map_or(0, |served| 1 << served.bell)
    }

    /// A queue pair that is destroyed.
    pub(super) fn forget(&mut self, qp: QpId) {
        self.served.remove(&qp);
    }

    fn count_bell(&self) {
        add(&self.mmio.counts.mmio_writes, 1);
        add(&self.mmio.counts.doorbells, 1);
    }

    /// The firmware is to look at the queue pairs that have these bits.
    pub(super) fn ring(&self, bells: u32) -> Result<(), DeviceError> {
        self.count_bell();
        Ok(self.engine.ring(bells)?)
    }

    /// The oldest completion of any queue pair.
    pub(super) fn take_completion(&mut self) -> Option<(QpId, Cqe)> {
        let mut served = self.served.iter_mut();
        served.find_map(|(qp, served)| Some((*qp, served.take()?)))
    }

    /// The oldest event.
    pub(super) fn take_event(&mut self) -> Result<Option<Event>, DeviceError> {
        Ok(self.engine.take_event()?)
    }

    /// The next completion or event makes an interrupt. Look once more afterwards.
    pub(super) fn arm(&self) {
        self.engine.arm();
        for Served { queues, .. } in self.served.values() {
            queues.cq.arm(queues.completions.words(), CqDoorbell::ANY);
        }
    }

    /// Is there a completion or an event that was not taken?
    pub(super) fn has_news(&self) -> bool {
        let mut served = self.served.values();
        self.engine.has_event() || served.any(|served| served.next().is_some())
    }

    pub(super) fn check_runs(&self) -> Result<(), DeviceError> {
        Ok(self.processor().check_runs()?)
    }

    /// Jobs that the firmware gave the card before the last answer; once it has ended, as many as it said last.
    pub(super) fn jobs_posted(&self) -> u32 {
        let info = self.processor().info().ok().flatten();
        info.map_or(0, |info: ProcInfo| info.jobs)
    }

    pub(super) fn jobs_done_up_to(&self, posted: u32) -> bool {
        self.jobs_done.wrapping_sub(posted) as i32 >= 0
    }

    pub(super) fn refresh_jobs_done(&mut self) {
        // One that cannot be read is noticed by the next look at the card.
        if let Ok(done) = self.mmio.read(registers::JOB_DONE) {
            self.jobs_done = done;
        }
    }
}
