//! The memory of a command ring: doorbells, commands, and an answer for each.

use weft_layout::{Answer, Command, CommandDoorbell};

use crate::memory::Memory;
use crate::slots::{self, Slots, MAX_PRIVATE_DATA};

const TAIL: usize = CommandDoorbell::TAIL_AT / 8;
const ARMED: usize = CommandDoorbell::ARMED_AT / 8;
const COMMANDS: usize = CommandDoorbell::SIZE / 8;
/// Where private data begins in a slot.
const DATA: usize = Command::SIZE / 8;
const PHASE: (usize, u8) = (Answer::PHASE_AT, Answer::PHASE);

/// Where a command ring's parts lie in its memory; the same value on both sides.
///
/// A command and its answer have the same number, and so the same place in their rings: a place is used again when the answer was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRing {
    commands: Slots,
    answers: Slots,
}

/// A command as it was found. Nothing of it was checked but for the bounds of its private data.
#[derive(Clone, Debug)]
pub struct TakenCommand {
    /// Its fields.
    pub command: Command,
    data: [u8; MAX_PRIVATE_DATA],
}

impl TakenCommand {
    /// Its private data. If there was more than the slot holds ([`Command::length`]): the beginning.
    pub fn private_data(&self) -> &[u8] {
        &self.data[..(self.command.length as usize).min(MAX_PRIVATE_DATA)]
    }
}

/// The tail of a command ring is further away than the ring is long: it says nothing, and nothing more can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadTail {
    /// Commands taken.
    pub taken: u32,
    /// Commands posted, as the commander says.
    pub tail: u32,
}

impl core::fmt::Display for BadTail {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { taken, tail } = self;
        write!(
            f,
            "a command ring's tail of {tail}, where {taken} commands were taken: more than the ring holds"
        )
    }
}

impl core::error::Error for BadTail {}

impl CommandRing {
    /// Room for so many commands: a power of two. `None` if that is none, or more than 2^16.
    pub fn new(commands: usize) -> Option<Self> {
        let bytes = Command::SIZE + MAX_PRIVATE_DATA;
        let slots = Slots::new(COMMANDS, bytes, commands)?;
        Some(CommandRing {
            commands: slots,
            answers: Slots::new(slots.end(), Answer::SIZE, commands)?,
        })
    }

    /// Bytes of memory that it takes, zero at first.
    pub fn bytes(&self) -> usize {
        8 * self.answers.end()
    }

    /// Commands that it holds.
    pub fn capacity(&self) -> u32 {
        self.commands.count()
    }

    // ------------------------------------------------------------------ who commands

    /// Writes the command of this number, whose place is free. Of more than [`MAX_PRIVATE_DATA`] bytes of private data the rest is left out;
    /// the command has their count, and will be refused.
    pub fn put<M: Memory + ?Sized>(
        &self,
        memory: &M,
        number: u32,
        command: &Command,
        private_data: &[u8],
    ) {
        let at = self.commands.at(number);
        let command = Command {
            length: private_data.len().try_into().unwrap_or(u32::MAX),
            ..*command
        };
        slots::put(memory, at, &command.to_bytes());
        let fits = private_data.len().min(MAX_PRIVATE_DATA);
        slots::put(memory, at + DATA, &private_data[..fits]);
    }

    /// Doorbell: so many commands were posted.
    pub fn ring<M: Memory + ?Sized>(&self, memory: &M, tail: u32) {
        memory.store_last(TAIL, tail.into());
    }

    /// What became of the command of this number, if it was done.
    pub fn answer<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> Option<Answer> {
        let (at, phase) = (self.answers.at(number), self.answers.phase(number));
        let bytes = slots::get_record(memory, at, PHASE, phase)?;
        Some(Answer::from_bytes(&bytes))
    }

    /// Asks to be woken by the next answer. Look once more afterwards.
    pub fn arm<M: Memory + ?Sized>(&self, memory: &M) {
        memory.set(ARMED, CommandDoorbell::ANY.into());
    }

    // ------------------------------------------------------------------ who takes

    /// Commands that were posted so far, by who posts.
    pub fn posted<M: Memory + ?Sized>(&self, memory: &M) -> u32 {
        memory.load_first(TAIL) as u32
    }

    /// The command of this number, if there is one; `number` commands were taken before.
    pub fn take<M: Memory + ?Sized>(
        &self,
        memory: &M,
        number: u32,
    ) -> Option<Result<TakenCommand, BadTail>> {
        let tail = self.posted(memory);
        match tail.wrapping_sub(number) {
            0 => return None,
            posted if posted > self.capacity() => {
                return Some(Err(BadTail {
                    taken: number,
                    tail,
                }))
            }
            _ => {}
        }
        let at = self.commands.at(number);
        let mut bytes = [0; Command::SIZE];
        slots::get(memory, at, &mut bytes);
        let command = Command::from_bytes(&bytes);
        let mut data = [0; MAX_PRIVATE_DATA];
        let length = (command.length as usize).min(MAX_PRIVATE_DATA);
        slots::get(memory, at + DATA, &mut data[..length]);
        Some(Ok(TakenCommand { command, data }))
    }

    /// Writes the answer to the command of this number; the word with its phase bit last.
    pub fn put_answer<M: Memory + ?Sized>(&self, memory: &M, number: u32, answer: Answer) {
        let answer = Answer {
            command: number,
            ..answer
        }
        .with_phase(self.answers.phase(number));
        slots::put_record(memory, self.answers.at(number), &answer.to_bytes());
    }

    /// Takes away what the commander [armed](Self::arm), behind the answers that were put before: true: it is to be woken.
    pub fn disarm<M: Memory + ?Sized>(&self, memory: &M) -> bool {
        memory.take(ARMED) != 0
    }
}
