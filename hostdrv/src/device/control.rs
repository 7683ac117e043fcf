//! The command ring and the event ring of a device: the memory that the verbs and the connection manager share with whoever has the
//! engine, and their end of it. The other end is `executor.rs`.
//!
//! A command is written, rung, and its answer read: with the engine in this process that is one call under the device's lock.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use weft_engine::commands::{event_of, outcome, Answer, Command, Refusal};
use weft_engine::{Error, Event};
use weft_layout::CommandOpcode;
use weft_queues::{CommandRing, EventRing};

use super::{Device, Place, State};
use crate::error::DeviceError;
use crate::stats::add;
use weft_card_transport::queue_memory::QueueMemory;

/// Commands under way at most.
const COMMANDS: usize = 16;
/// Events that lie in the ring at most; more wait in the engine.
const EVENTS: usize = 64;

/// The two rings in their memory.
pub(crate) struct ControlRings {
    pub(super) commands: CommandRing,
    pub(super) command_memory: QueueMemory,
    pub(super) events: EventRing,
    pub(super) event_memory: QueueMemory,
}

impl ControlRings {
    /// Those of a new device.
    pub(super) fn new() -> Result<Arc<Self>, DeviceError> {
        Self::make(COMMANDS, EVENTS, false)
    }

    /// The same, of which another process can have the one end.
    pub(super) fn shareable() -> Result<Arc<Self>, DeviceError> {
        Self::make(COMMANDS, EVENTS, true)
    }

    #[cfg(test)]
    pub(super) fn with(commands: usize, events: usize) -> Result<Arc<Self>, DeviceError> {
        Self::make(commands, events, false)
    }

    fn make(commands: usize, events: usize, shareable: bool) -> Result<Arc<Self>, DeviceError> {
        let rings = CommandRing::new(commands).zip(EventRing::new(events));
        let (commands, events) = rings.ok_or(DeviceError::ControlMemory { bytes: 0 })?;
        let memory =
            |bytes| QueueMemory::new(bytes, shareable).ok_or(DeviceError::ControlMemory { bytes });
        Ok(Arc::new(Self {
            command_memory: memory(commands.bytes())?,
            event_memory: memory(events.bytes())?,
            commands,
            events,
        }))
    }
}

impl ControlRings {
    /// Files of both memories, if they can be lent: commands and events.
    pub(crate) fn files(&self) -> Option<[BorrowedFd<'_>; 2]> {
        let files = self.command_memory.file().zip(self.event_memory.file());
        files.map(|(commands, events)| [commands, events])
    }

    /// Commands and events that they hold.
    pub(crate) fn sizes(&self) -> [u32; 2] {
        [self.commands.capacity(), self.events.capacity()]
    }

    /// Those of another process, by their files.
    pub(crate) fn map(files: [OwnedFd; 2], sizes: [u32; 2]) -> io::Result<Arc<Self>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let [commands, events] = sizes.map(|size| size as usize);
        let rings = CommandRing::new(commands).zip(EventRing::new(events));
        let (commands, events) = rings
            .ok_or_else(|| invalid(format!("no rings of {commands} commands, {events} events")))?;
        let [command_file, event_file] = files;
        let rings = Self {
            command_memory: QueueMemory::map(command_file)?,
            event_memory: QueueMemory::map(event_file)?,
            commands,
            events,
        };
        rings.command_memory.check_room(commands.bytes())?;
        rings.event_memory.check_room(events.bytes())?;
        Ok(Arc::new(rings))
    }
}

/// The end of who commands and takes the events.
pub(crate) struct Control {
    rings: Arc<ControlRings>,
    /// Commands posted, events taken.
    posted: u32,
    taken: u32,
}

impl Control {
    pub(crate) fn new(rings: Arc<ControlRings>) -> Self {
        rings.events.arm(rings.event_memory.words());
        Self {
            rings,
            posted: 0,
            taken: 0,
        }
    }

    /// Writes a command and rings; its number.
    pub(crate) fn post(&mut self, command: &Command, private_data: &[u8]) -> u32 {
        let (ring, memory) = (&self.rings.commands, self.rings.command_memory.words());
        let number = self.posted;
        ring.put(memory, number, command, private_data);
        self.posted = number.wrapping_add(1);
        ring.ring(memory, self.posted);
        number
    }

    /// Has it an answer, whatever that says?
    pub(crate) fn is_answered(&self, number: u32) -> bool {
        let (ring, memory) = (&self.rings.commands, self.rings.command_memory.words());
        ring.answer(memory, number).is_some()
    }

    /// What became of it.
    pub(crate) fn answer(&self, number: u32) -> Result<Answer, Refusal> {
        let (ring, memory) = (&self.rings.commands, self.rings.command_memory.words());
        let answer = ring.answer(memory, number).ok_or(Refusal::NoAnswer)?;
        if answer.command != number {
            return Err(Refusal::NoAnswer);
        }
        outcome(&answer).map(|()| answer)
    }

    /// The oldest event. What nobody understands is left out.
    pub(crate) fn take_event(&mut self) -> Option<Event> {
        let (ring, memory) = (&self.rings.events, self.rings.event_memory.words());
        while let Some(taken) = ring.get(memory, self.taken) {
            self.taken = self.taken.wrapping_add(1);
            ring.taken(memory, self.taken);
            let event = event_of(&taken.entry, taken.private_data());
            if event.is_some() {
                return event;
            }
            tracing::error!(entry = ?taken.entry, "an invalid event");
        }
        None
    }

    /// Is there an event that was not taken?
    pub(super) fn has_event(&self) -> bool {
        let memory = self.rings.event_memory.words();
        self.rings.events.get(memory, self.taken).is_some()
    }

    /// The next event wakes who sleeps.
    pub(super) fn arm(&self) {
        self.rings.events.arm(self.rings.event_memory.words());
    }
}

impl State {
    /// Has a command done. It is no turn of the engine's: what follows from it waits for the end of one.
    pub(crate) fn command(
        &mut self,
        now: u64,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Answer, Refusal> {
        let faulty = self.fault.is_some();
        let answer = match &mut self.place {
            Place::OnCard(_) | Place::Lent(_) if faulty => return Err(Refusal::NoAnswer),
            Place::OnCard(on_card) => {
                let answer = on_card.command(command, private_data);
                answer.map_err(DeviceError::from)
            }
            Place::Lent(lent) => lent.command(command, private_data),
            Place::Here(here) => {
                let listens = command.opcode() == Ok(CommandOpcode::Listen);
                let given = here.card.given().filter(|_| listens);
                if given.is_some_and(|given| given.listens(command.port)) {
                    return Err(Error::PortInUse(command.port).into());
                }
                if let Some(second) = &here.second {
                    second.before(command)?;
                }
                let number = here.control.post(command, private_data);
                self.take_commands(now);
                return match &self.place {
                    Place::Here(here) => {
                        if let Some(second) = &here.second {
                            second.after(command);
                        }
                        here.control.answer(number)
                    }
                    Place::OnCard(_) | Place::Lent(_) => Err(Refusal::NoAnswer),
                };
            }
        };
        // An interrupt that was for the answer may have been for more.
        (self.armed, self.woken) = (0, true);
        self.sleepers.announce();
        answer.unwrap_or_else(|error| {
            self.fail(error);
            Err(Refusal::NoAnswer)
        })
    }

    /// The oldest event not yet taken; if there is none, the next one wakes who sleeps.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        match &mut self.place {
            Place::Here(here) => {
                if let Some(event) = here.control.take_event() {
                    return Some(event);
                }
            }
            Place::OnCard(on_card) => {
                return on_card.take_event().unwrap_or_else(|error| {
                    self.fail(error);
                    None
                });
            }
            Place::Lent(lent) => return lent.take_event(),
        }
        // One that had no room, or came outside a turn.
        self.put_events();
        let Place::Here(here) = &mut self.place else {
            return None;
        };
        let event = here.control.take_event();
        if event.is_none() {
            here.control.arm();
        }
        event
    }
}

impl Device {
    /// Has a command done behind all that was posted before, then rings what must be rung.
    pub(crate) fn command(
        &self,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Result<Answer, Refusal>, DeviceError> {
        self.turn(|state, now| state.command(now, command, private_data))
    }

    /// Works on the engine behind all that was posted before, then rings what must be rung.
    pub(super) fn turn<T>(
        &self,
        work: impl FnOnce(&mut State, u64) -> T,
    ) -> Result<T, DeviceError> {
        let now = self.now();
        let mut state = self.lock();
        state.check_fault()?;
        add(&self.shared.mmio.counts.engine_steps, 1);
        state.take_posted(now);
        let answer = work(&mut state, now);
        state.finish_turn()?;
        Ok(answer)
    }

    /// Like [`command`](Self::command), for a caller that holds the lock, has checked for faults, and ends the turn.
    pub(crate) fn command_in(
        &self,
        state: &mut State,
        command: &Command,
        private_data: &[u8],
    ) -> Result<Answer, Refusal> {
        add(&self.shared.mmio.counts.engine_steps, 1);
        let now = self.now();
        state.take_posted(now);
        state.command(now, command, private_data)
    }
}
