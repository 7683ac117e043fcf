//! A card whose processor has the engine: the host commands by the queues in memory, and hears of events.

use std::fmt;
use std::sync::Arc;

use weft_engine::commands::{event_of, outcome, Answer, Command, Refusal};
use weft_engine::{on_card, EngineConfig, Event, QpId, ResourceSplit, SrqId};
use weft_layout::{proc_bell, proc_started, reg, registers, ProcCommand, ProcEngine, ProcQueues};
use weft_queues::{
    Capacity, CommandRing, CompletionQueue, EventRing, FrameRing, QueuePair, SharedReceive,
};

use super::{Processor, ProcessorError};
use weft_card_transport::dma::{publish, DmaBuffer};
use weft_card_transport::queue_memory::{QueueMemory, Rooms};
use weft_card_transport::turns::KeepsTurn;
use weft_card_transport::{RegisterAccess, Transport};

/// The bit of PROC_BELL for commands and events.
const RINGS: u32 = 1 << proc_bell::RINGS;
/// Commands under way at most, events in the ring.
const COMMANDS: usize = 8;
const EVENTS: usize = 16;
/// Frames of no flow on their way to who has the second port.
const FRAMES: usize = 16;
/// What lies between firmware and card: its rings, and receive queues.
const RINGS_BYTES: usize = 1 << 21;
/// Queue pairs and completion queues.
const QUEUES: usize = 1 << 21;
/// The firmware may take so long for a command, by the transport's clock, and so many cycles more while it is at work: a card that is simulated behind a
/// socket does in a second of the clock on the wall what a card does in a few hundred microseconds.
const PATIENCE_NS: u64 = 1_000_000_000;
const PATIENCE_CYCLES: u64 = 25_000_000;
/// An interrupt that says that it is done may be another thread's to take: it is looked for so often.
const LOOK_NS: u64 = 20_000;

/// Takes frames of no flow.
pub(crate) type TakesFrames = Box<dyn FnMut(&[u8]) + Send>;

/// A queue pair's queues that the firmware works for.
pub(crate) struct ServedQueues {
    /// Doorbells, send queue and receive queue.
    pub(crate) queues: QueueMemory,
    /// Its completion queue, and where that is.
    pub(crate) cq: CompletionQueue,
    pub(crate) completions: QueueMemory,
}

/// A card that belongs to its firmware. When this is dropped the processor is stopped and the card reset.
pub struct CardEngine {
    processor: Processor,
    /// The firmware has the memory, as far as is known.
    given: bool,
    _rings: DmaBuffer,
    /// Memory that both share.
    rooms: Arc<Rooms>,
    /// The command ring's, and behind it the event ring's.
    control: QueueMemory,
    commands: CommandRing,
    events: EventRing,
    /// Where the event ring's words begin.
    events_at: usize,
    /// With the second port: the frame ring, and its memory.
    frames: Option<(FrameRing, QueueMemory)>,
    posted: u32,
    answered: u32,
    taken: u32,
}

impl Processor {
    /// The firmware that was started takes the card, which nobody else has.
    ///
    /// # Errors
    /// [`ProcessorError::NotOnCard`]: no engine there can be so. [`ProcessorError::NoEngine`]: the firmware has none.
    pub(crate) fn start_engine(&self, config: &EngineConfig) -> Result<CardEngine, ProcessorError> {
        let said =
            on_card::record(config).map_err(|why| ProcessorError::NotOnCard(why.to_string()))?;
        // When it answers it has said where its things are.
        self.ask(ProcCommand::Ping, 0)?;
        let info = self.info()?.filter(|info| info.engine_at != 0);
        let info = info.ok_or(ProcessorError::NoEngine)?;
        let rings = CommandRing::new(COMMANDS).zip(EventRing::new(EVENTS));
        let (commands, events) = rings.ok_or(ProcessorError::NoEngine)?;
        let frames = FrameRing::new(FRAMES).filter(|_| config.split == ResourceSplit::Second);
        let memory = self.transport.dma_alloc(RINGS_BYTES)?;
        let control = commands.bytes() + events.bytes();
        let frames_bytes = frames.map_or(0, |frames| frames.bytes());
        let queues = self.transport.dma_alloc(control + frames_bytes + QUEUES)?;
        let (iova, bytes) = (queues.iova(), queues.len() as u32);
        let rooms = Rooms::new(Arc::new(queues));
        // One behind the other.
        let take = |bytes| rooms.take(bytes).ok_or(ProcessorError::NoRoom);
        let (control, _) = take(control)?;
        let frames = match frames {
            Some(frames) => Some((frames, take(frames_bytes)?.0)),
            None => None,
        };
        let record = ProcEngine {
            rings: memory.iova(),
            rings_bytes: memory.len() as u32,
            queues: iova,
            queues_bytes: bytes,
            commands: COMMANDS as u32,
            events: EVENTS as u32,
            frames: frames
                .as_ref()
                .map_or(0, |(frames, _)| frames.capacity() as u16),
            ..said
        };
        let mut engine = CardEngine {
            processor: self.clone(),
            given: true,
            _rings: memory,
            events_at: commands.bytes() / 8,
            frames,
            rooms,
            control,
            commands,
            events,
            posted: 0,
            answered: 0,
            taken: 0,
        };
        // The first event wakes who sleeps.
        engine.arm();
        // From here on it ends by its drop.
        self.write_memory(info.engine_at, &record.to_bytes())?;
        let started = self.ask(ProcCommand::Engine, 0)?;
        if started == u32::from(proc_started::DONE) {
            return Ok(engine);
        }
        engine.given = false;
        Err(ProcessorError::NotStarted(started))
    }
}

impl CardEngine {
    /// Gives it frames of no flow that are for it, if it has the second port. What finds no room is lost, as on the wire.
    pub(crate) fn frames(&self) -> Option<TakesFrames> {
        let (ring, memory) = self.frames.clone()?;
        let transport = self.transport().clone();
        let mut written = 0_u32;
        Some(Box::new(move |frame: &[u8]| {
            if !ring.put(memory.words(), written, frame) {
                tracing::debug!(len = frame.len(), "no room for a frame of the second port");
                return;
            }
            written = written.wrapping_add(1);
            publish();
            if let Err(error) = transport.write(registers::PROC_BELL, RINGS) {
                tracing::warn!(%error, "the second port was not told of a frame");
            }
        }))
    }

    /// The processor that it runs on.
    pub fn processor(&self) -> &Processor {
        &self.processor
    }

    /// The firmware works from now on for a queue pair's queues, which lie in memory that both share: theirs, and that of a completion queue which is of no
    /// other queue pair. `bell` is the number of their bit of PROC_BELL. The memory is to be kept until the queue pair is destroyed.
    ///
    /// # Errors
    /// [`ProcessorError::NoRoom`]: the memory is full, or no queues are like that.
    pub(crate) fn serve(
        &self,
        qp: QpId,
        capacity: Capacity,
        cqes: usize,
        bell: u32,
    ) -> Result<ServedQueues, ProcessorError> {
        let layout = QueuePair::new(capacity).zip(CompletionQueue::new(cqes));
        let (layout, cq) = layout.ok_or(ProcessorError::NoRoom)?;
        let take = |bytes| self.rooms.take(bytes).ok_or(ProcessorError::NoRoom);
        let (queues, queues_at) = take(layout.bytes())?;
        let (completions, completions_at) = take(cq.bytes())?;
        self.tell_queues(&ProcQueues {
            qp: qp.number(),
            queues: queues_at as u32,
            completions: completions_at as u32,
            send: capacity.send,
            recv: capacity.recv,
            sges: capacity.sges as u16,
            inline_bytes: capacity.inline as u16,
            cqes: cq.capacity(),
            bell,
        })?;
        Ok(ServedQueues {
            queues,
            cq,
            completions,
        })
    }

    /// The same of a shared receive queue, of so many elements.
    pub(crate) fn serve_shared(
        &self,
        srq: SrqId,
        elements: u32,
    ) -> Result<QueueMemory, ProcessorError> {
        let layout = SharedReceive::new(elements).ok_or(ProcessorError::NoRoom)?;
        let taken = self.rooms.take(layout.bytes());
        let (memory, at) = taken.ok_or(ProcessorError::NoRoom)?;
        self.tell_queues(&ProcQueues {
            qp: srq.number(),
            queues: at as u32,
            recv: elements,
            ..ProcQueues::default()
        })?;
        Ok(memory)
    }

    /// The firmware has these queues from now on.
    fn tell_queues(&self, record: &ProcQueues) -> Result<(), ProcessorError> {
        let info = self.processor.info()?.filter(|info| info.queues_at != 0);
        let info = info.ok_or(ProcessorError::NoEngine)?;
        publish();
        self.processor
            .write_memory(info.queues_at, &record.to_bytes())?;
        match self.processor.ask(ProcCommand::Queues, 0)? {
            0 => Ok(()),
            _ => Err(ProcessorError::NoRoom),
        }
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.processor.transport
    }

    /// Writes a command with its private data, and rings; its number. `None`: of as many as the ring holds the answers were not read yet.
    pub fn post(
        &mut self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Option<u32>, ProcessorError> {
        if self.posted.wrapping_sub(self.answered) >= self.commands.capacity() {
            return Ok(None);
        }
        let (memory, number) = (self.control.words(), self.posted);
        self.commands.put(memory, number, command, private_data);
        self.posted = number.wrapping_add(1);
        self.commands.ring(memory, self.posted);
        self.ring(RINGS)?;
        Ok(Some(number))
    }

    /// The firmware is to look at the queues that have these bits (`proc_bell`).
    pub fn ring(&self, bells: u32) -> Result<(), ProcessorError> {
        publish();
        Ok(self.transport().write(registers::PROC_BELL, bells)?)
    }

    /// What became of the oldest command whose answer was not read. `None`: it is not done, or there is none.
    pub fn answer(&mut self) -> Option<Result<Answer, Refusal>> {
        if self.answered == self.posted {
            return None;
        }
        let memory = self.control.words();
        let answer = self.commands.answer(memory, self.answered)?;
        if answer.command != self.answered {
            return None;
        }
        self.answered = self.answered.wrapping_add(1);
        Some(outcome(&answer).map(|()| answer))
    }

    /// Posts a command and waits for its answer, asleep. Of commands that were posted before the answers were read.
    ///
    /// # Errors
    /// Why the firmware refused it, or what happened to the firmware.
    pub fn command(
        &mut self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Result<Answer, Refusal>, ProcessorError> {
        self.post(command, private_data)?;
        let until = self.transport().now() + PATIENCE_NS;
        let mut late_since = None;
        loop {
            // Before it is looked for the last time.
            let silent = self.transport().now() >= until && self.is_silent(&mut late_since)?;
            self.commands.arm(self.control.words());
            if let Some(answer) = self.answer() {
                return Ok(answer);
            }
            if silent {
                return Err(ProcessorError::Silent);
            }
            let now = self.transport().now();
            // Its caller may have the device's lock.
            let keeps = KeepsTurn::begin();
            self.transport().wait(0, Some(now + LOOK_NS))?;
            drop(keeps);
            self.processor.check_runs()?;
        }
    }

    /// Of a firmware that is late with its answer: it sleeps, or has worked for as long again as it may.
    fn is_silent(&self, late_since: &mut Option<u64>) -> Result<bool, ProcessorError> {
        let state = self.processor.state()?;
        let since = *late_since.get_or_insert(state.awake);
        Ok(state.status.asleep() || state.awake.wrapping_sub(since) > PATIENCE_CYCLES)
    }

    /// The oldest event that was not taken.
    pub fn take_event(&mut self) -> Result<Option<Event>, ProcessorError> {
        let memory = &self.control.words()[self.events_at..];
        while let Some(taken) = self.events.get(memory, self.taken) {
            self.taken = self.taken.wrapping_add(1);
            self.events.taken(memory, self.taken);
            // What found the ring full moves up.
            if self.taken % (self.events.capacity() / 2) == 0 {
                self.ring(RINGS)?;
            }
            if let Some(event) = event_of(&taken.entry, taken.private_data()) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Is there an event that was not taken?
    pub(crate) fn has_event(&self) -> bool {
        let memory = &self.control.words()[self.events_at..];
        self.events.get(memory, self.taken).is_some()
    }

    /// The next event makes an interrupt. Look once more afterwards.
    pub fn arm(&self) {
        self.events.arm(&self.control.words()[self.events_at..]);
    }
}

impl Drop for CardEngine {
    fn drop(&mut self) {
        if !self.given {
            return;
        }
        // The memory goes back to the host only after both were told to forget it.
        let reset = reg::Ctrl::default().with_reset(true);
        let stopped = self.processor.stop();
        if self.frames.is_some() {
            // The card is another one's, and the second port is nobody's from here on.
            if let Err(error) = stopped {
                tracing::warn!(%error, "a firmware with the second port could not be stopped");
            }
            return;
        }
        let reset = stopped.and_then(|()| {
            self.transport().write(registers::CTRL, reset)?;
            self.processor.wait(|| {
                let status = self.transport().read(registers::STATUS)?;
                Ok((!status.resetting()).then_some(()))
            })
        });
        if let Err(error) = reset {
            tracing::warn!(%error, "a card of its firmware could not be turned off");
        }
    }
}

impl fmt::Debug for CardEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardEngine")
            .field("posted", &self.posted)
            .field("taken", &self.taken)
            .finish()
    }
}
