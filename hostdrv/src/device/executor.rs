//! The engine's end of the command ring and the event ring.

use std::sync::Arc;

use weft_engine::commands::{entry_of, Answer};
use weft_engine::{Engine, Event};
use weft_queues::TakenCommand;

use super::control::ControlRings;
use super::{Device, Place, State};
use crate::card::Card;
use crate::error::DeviceError;

/// Takes commands, answers them, and writes events.
pub(super) struct Executor {
    rings: Arc<ControlRings>,
    /// Commands taken, events written.
    taken: u32,
    written: u32,
    /// One that is to be answered later: those behind it wait.
    parked: bool,
    /// The ring's tail says what cannot be: nothing more is taken.
    broken: bool,
}

/// What becomes of a command that was taken.
pub(super) enum Outcome {
    Answered(Answer),
    /// It is [answered](Executor::answer_parked) later.
    Parked,
}

impl Executor {
    pub(super) fn new(rings: Arc<ControlRings>) -> Self {
        Self {
            rings,
            taken: 0,
            written: 0,
            parked: false,
            broken: false,
        }
    }

    /// Commands that were posted so far; `None`: all of them were taken.
    pub(super) fn posted(&self) -> Option<u32> {
        let memory = self.rings.command_memory.words();
        Some(self.rings.commands.posted(memory)).filter(|posted| *posted != self.taken)
    }

    /// Has all commands done that were posted, no more than the ring holds: who posts on and on waits for the next call. True: who waits for an
    /// answer is to be woken.
    pub(super) fn take_commands(&mut self, execute: impl FnMut(&TakenCommand) -> Outcome) -> bool {
        let capacity = self.rings.commands.capacity();
        self.take_commands_up_to(self.taken.wrapping_add(capacity), execute)
    }

    /// The same, and none from this number on.
    pub(super) fn take_commands_up_to(
        &mut self,
        end: u32,
        mut execute: impl FnMut(&TakenCommand) -> Outcome,
    ) -> bool {
        let (ring, memory) = (&self.rings.commands, self.rings.command_memory.words());
        let before = self.taken;
        while !(self.broken || self.parked)
            && self.taken != end
            && self.taken.wrapping_sub(before) < ring.capacity()
        {
            let taken = match ring.take(memory, self.taken) {
                None => break,
                Some(Ok(taken)) => taken,
                Some(Err(bad)) => {
                    tracing::error!(%bad, "nothing more is taken from this command ring");
                    self.broken = true;
                    break;
                }
            };
            match execute(&taken) {
                Outcome::Answered(answer) => ring.put_answer(memory, self.taken, answer),
                Outcome::Parked => self.parked = true,
            }
            self.taken = self.taken.wrapping_add(1);
        }
        self.taken != before && ring.disarm(memory)
    }

    /// Answers the one that was parked, if one was.
    pub(super) fn answer_parked(&mut self, answer: Answer) {
        if std::mem::take(&mut self.parked) {
            let number = self.taken.wrapping_sub(1);
            let memory = self.rings.command_memory.words();
            self.rings.commands.put_answer(memory, number, answer);
        }
    }

    /// Answers and events that it has written so far, modulo 2^64.
    pub(super) fn news(&self) -> u64 {
        u64::from(self.taken) + u64::from(self.written) - u64::from(self.parked)
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
        let Place::Here(here) = &mut self.place else {
            return;
        };
        let (engine, card) = (&mut here.engine, &mut here.card);
        let woken = here.executor.take_commands(|taken| {
            Outcome::Answered(engine.execute(now, &taken.command, taken.private_data(), card))
        });
        if woken {
            self.sleepers.announce();
        }
    }
}

impl Device {
    /// Calls the engine with its card and the time, then rings what must be rung: for services that run beside it (`tools::stream`) and
    /// for the bytes of streams, which are no commands; not else for verbs and CM.
    pub(crate) fn with_engine<T>(
        &self,
        turn: impl FnOnce(&mut Engine, u64, &mut Card) -> T,
    ) -> Result<T, DeviceError> {
        self.turn(|state, now| {
            let (engine, card) = state.engine_for("stream of plain bytes")?;
            Ok(turn(engine, now, card))
        })?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use weft_engine::commands::{self, Command, Refusal};
    use weft_engine::{ConnId, ConnectFailure, EngineConfig, Full, MemoryError, Port};
    use weft_layout::{AttachRow, Job, ReceiveElement};

    use super::super::control::Control;
    use super::*;

    /// A card that does nothing.
    struct NoCard;

    impl Port for NoCard {
        fn post_job(&mut self, _: &[u8; Job::SIZE]) -> Result<u32, Full> {
            Err(Full)
        }
        fn send_frame(&mut self, _: &[u8]) -> Result<(), Full> {
            Ok(())
        }
        fn jobs_done(&self) -> u32 {
            0
        }
        fn refresh_jobs_done(&mut self) -> u32 {
            0
        }
        fn write_table(&mut self, _: u8, _: u32, _: &[u8; 64]) {}
        fn read_table(&mut self, _: u8, _: u32) -> [u8; 64] {
            [0; 64]
        }
        fn raw_seen(&self) -> u32 {
            0
        }
        fn attach(&mut self, _: u16, _: &AttachRow) -> bool {
            false
        }
        fn write_element(&mut self, _: u16, _: u32, _: &ReceiveElement) {}
        fn rq_tail(&mut self, _: u16, _: u32) {}
        fn rq_memory(&mut self, _: u16, _: u8) -> Option<u64> {
            Some(0)
        }
        fn send_memory(&mut self, _: u16, _: u32) -> Option<u64> {
            None
        }
        fn copy_in(&mut self, _: u64, _: &[u8]) -> Result<(), MemoryError> {
            Err(MemoryError)
        }
        fn copy_out(&mut self, _: u64, _: &mut [u8]) -> Result<(), MemoryError> {
            Err(MemoryError)
        }
    }

    struct Ends {
        rings: Arc<ControlRings>,
        control: Control,
        executor: Executor,
        engine: Engine,
    }

    impl Ends {
        fn new(commands: usize, events: usize) -> Self {
            let rings = ControlRings::with(commands, events).expect("memory");
            Self {
                control: Control::new(rings.clone()),
                executor: Executor::new(rings.clone()),
                engine: Engine::new(EngineConfig::default()),
                rings,
            }
        }

        fn take_commands(&mut self) -> bool {
            let engine = &mut self.engine;
            self.executor.take_commands(|taken| {
                let answer = engine.execute(0, &taken.command, taken.private_data(), &mut NoCard);
                Outcome::Answered(answer)
            })
        }
    }

    fn event(number: u64) -> Event {
        Event::ConnectError {
            conn: ConnId::from_number(number).expect("a number"),
            reason: ConnectFailure::Closed,
        }
    }

    /// Events for which there is no room stay with the engine, and come in their order when there is some.
    #[test]
    fn a_full_ring_keeps_events_back() {
        let mut ends = Ends::new(1, 4);
        let mut numbers = 0..1000;
        let mut next = || numbers.next().map(event);
        let mut taken = 0..;
        assert!(ends.executor.put_events(&mut next), "it was armed");
        assert!(!ends.executor.put_events(&mut next), "it is full");
        assert_eq!(ends.executor.written, 4);
        for round in 0.. {
            let mut found = 0;
            while let Some(came) = ends.control.take_event() {
                assert_eq!(Some(came), taken.next().map(event));
                found += 1;
                if found > round % 5 {
                    break;
                }
            }
            if found == 0 {
                break;
            }
            let woken = ends.executor.put_events(&mut next);
            assert!(!woken, "nobody has armed since");
        }
        assert_eq!(taken.start, 1000);
        ends.control.arm();
        let mut last = Some(event(1000));
        assert!(ends.executor.put_events(|| last.take()));
        assert_eq!(ends.control.take_event(), Some(event(1000)));
        assert_eq!(ends.control.take_event(), None);
    }

    #[test]
    fn commands_are_answered_in_order() {
        let mut ends = Ends::new(4, 1);
        let pd = commands::alloc_pd();
        let posted: Vec<_> = (0..4).map(|_| ends.control.post(&pd, &[])).collect();
        assert_eq!(ends.control.answer(posted[0]), Err(Refusal::NoAnswer));
        ends.rings.commands.arm(ends.rings.command_memory.words());
        assert!(ends.take_commands(), "somebody waits");
        for (number, pd) in posted.into_iter().zip(1..) {
            assert_eq!(ends.control.answer(number).map(|answer| answer.pd), Ok(pd));
        }
        let nothing = ends.control.post(&Command::default(), &[]);
        let more = ends.control.post(&pd, &[]);
        assert!(!ends.take_commands(), "nobody waits");
        assert_eq!(ends.control.answer(nothing), Err(Refusal::Malformed));
        assert_eq!(ends.control.answer(more).map(|answer| answer.pd), Ok(5));
    }

    /// Random words all over the ring: each command up to the tail has an answer; a tail that says nothing ends the ring, and no more.
    #[test]
    fn a_hostile_commander_harms_nobody() {
        let mut random = 1u64;
        let mut word = || {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            random.rotate_left(31)
        };
        let mut ends = Ends::new(8, 1);
        for _ in 0..2000 {
            for place in ends.rings.command_memory.words() {
                place.store(word(), Ordering::Relaxed);
            }
            let from = ends.executor.taken;
            let tail = from.wrapping_add(word() as u32 % 9);
            let rings = ends.rings.clone();
            let (ring, memory) = (&rings.commands, rings.command_memory.words());
            ring.ring(memory, tail);
            ends.take_commands();
            assert!(!ends.executor.broken);
            for number in from..tail {
                let answer = ring.answer(memory, number);
                assert_eq!(answer.map(|answer| answer.command), Some(number));
            }
        }
        let taken = ends.executor.taken;
        let (ring, memory) = (&ends.rings.commands, ends.rings.command_memory.words());
        ring.ring(memory, taken.wrapping_add(9));
        ends.take_commands();
        assert!(ends.executor.broken);
        assert_eq!(ends.executor.taken, taken, "nothing was taken");
        // The engine does for others what it did before.
        let answer = ends
            .engine
            .execute(0, &commands::alloc_pd(), &[], &mut NoCard);
        assert_eq!(commands::outcome(&answer), Ok(()));
    }
}
