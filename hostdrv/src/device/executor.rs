//! The engine's end of the command ring and the event ring.

use std::sync::Arc;

use weft_engine::commands::entry_of;
use weft_engine::{Engine, Event, Port};

use super::control::ControlRings;
use super::{Device, State};
use crate::card::Card;
use crate::error::DeviceError;
use crate::stats::add;

/// Takes commands, answers them, and writes events.
pub(super) struct Executor {
    rings: Arc<ControlRings>,
    /// Commands taken, events written.
    taken: u32,
    written: u32,
    /// The ring's tail says what cannot be: nothing more is taken.
    broken: bool,
}

impl Executor {
    pub(super) fn new(rings: Arc<ControlRings>) -> Self {
        Self {
            rings,
            taken: 0,
            written: 0,
            broken: false,
        }
    }

    /// Has all commands done that were posted; true: who waits for an answer is to be woken.
    pub(super) fn take_commands<P: Port>(
        &mut self,
        now: u64,
        engine: &mut Engine,
        port: &mut P,
    ) -> bool {
        let (ring, memory) = (&self.rings.commands, self.rings.command_memory.words());
        let before = self.taken;
        while !self.broken {
            let taken = match ring.take(memory, self.taken) {
                None => break,
                Some(Ok(taken)) => taken,
                Some(Err(bad)) => {
                    tracing::error!(%bad, "nothing more is taken from this command ring");
                    self.broken = true;
                    break;
                }
            };
            let answer = engine.execute(now, &taken.command, taken.private_data(), port);
            ring.put_answer(memory, self.taken, answer);
            self.taken = self.taken.wrapping_add(1);
        }
        self.taken != before && ring.disarm(memory)
    }

    /// Writes events as long as there are some and they have room: what has none stays where it is. True: who takes them is to be woken.
    pub(super) fn put_events(&mut self, mut next: impl FnMut() -> Option<Event>) -> bool {
        let (ring, memory) = (&self.rings.events, self.rings.event_memory.words());
        let before = self.written;
        while ring.has_room(memory, self.written) {
            let Some(event) = next() else { break };
            let (entry, private_data) = entry_of(&event);
            ring.put(memory, self.written, entry, private_data);
            self.written = self.written.wrapping_add(1);
        }
        self.written != before && ring.disarm(memory)
    }
}

impl State {
    /// The engine takes what was commanded.
    pub(super) fn take_commands(&mut self, now: u64) {
        let woken = self
            .executor
            .take_commands(now, &mut self.engine, &mut self.card);
        if woken {
            self.sleepers.announce();
        }
    }

    /// The engine's events go to their ring, as many as have room; true: somebody waits for them.
    pub(super) fn put_events(&mut self) -> bool {
        let engine = &mut self.engine;
        self.executor.put_events(|| engine.poll_event())
    }
}

impl Device {
    /// Calls the engine with its card and the time, then rings what must be rung: for services that run beside it (`tools::stream`), not
    /// for verbs and CM.
    pub(crate) fn with_engine<T>(
        &self,
        turn: impl FnOnce(&mut Engine, u64, &mut Card) -> T,
    ) -> Result<T, DeviceError> {
        let now = self.now();
        let mut state = self.lock();
        state.check_fault()?;
        add(&self.shared.mmio.counts.engine_steps, 1);
        state.take_posted(now);
        let State { engine, card, .. } = &mut *state;
        let answer = turn(engine, now, card);
        state.finish_turn()?;
        Ok(answer)
    }
}
