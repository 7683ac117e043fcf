//! The processor halted, stepped and looked at: RISC-V's debug mode, by the monitor in its firmware (`docs/processor.md`).
//!
//! Halting takes a bit of PROC_CTRL, and everything else the window to its memory, so it is the same for a simulated card and a board.

use std::collections::BTreeMap;

use weft_layout::{reg, registers, ProcDebug};

use weft_card_transport::RegisterAccess;
use weft_hostdrv::processor::{Processor, ProcessorError};

/// Bits of RISC-V's dcsr: EBREAK halts; halt after one instruction.
const EBREAK: u32 = 1 << 15;
const STEP: u32 = 1 << 2;
/// EBREAK, of two bytes: it fits wherever an instruction begins.
const BREAK: u16 = 0x9002;
/// Words of [`ProcDebug`] from the program counter on.
const PC: u32 = ProcDebug::PC_AT as u32;
/// x1 to x31.
const REGISTERS: usize = 31;

/// The processor's registers: x0 to x31, and the program counter.
pub type Registers = [u32; REGISTERS + 2];

/// A processor whose firmware is halted and let go. When this is dropped breakpoints are taken out, it goes on, and has its watchdog again.
#[must_use = "the processor goes on when this is dropped"]
pub struct Debugger {
    processor: Processor,
    /// Where the [`ProcDebug`] is.
    at: u32,
    /// The limit that it had.
    watchdog: u32,
    /// What is where a breakpoint was put.
    breakpoints: BTreeMap<u32, u16>,
}

impl Debugger {
    /// Halts the processor, which runs.
    ///
    /// # Errors
    /// [`ProcessorError::NoMonitor`] when its firmware has no debug monitor.
    pub fn attach(processor: &Processor) -> Result<Self, ProcessorError> {
        processor.check_runs()?;
        let info = processor.info()?.filter(|info| info.debug_at != 0);
        let at = info.ok_or(ProcessorError::NoMonitor)?.debug_at;
        let watchdog = processor.transport().read(registers::PROC_WATCHDOG)?;
        let debugger = Self {
            processor: processor.clone(),
            at,
            watchdog,
            breakpoints: BTreeMap::new(),
        };
        // Halted, it gives no beat.
        processor.transport().write(registers::PROC_WATCHDOG, 0)?;
        debugger.halt()?;
        Ok(debugger)
    }

    /// The processor.
    pub fn processor(&self) -> &Processor {
        &self.processor
    }

    fn word(&self, at: usize) -> Result<u32, ProcessorError> {
        let mut bytes = [0; 4];
        self.processor
            .read_memory(self.at + at as u32, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn set_word(&self, at: usize, word: u32) -> Result<(), ProcessorError> {
        self.processor
            .write_memory(self.at + at as u32, &word.to_le_bytes())
    }

    /// Is it halted? Not, if its firmware ended.
    ///
    /// # Errors
    /// [`ProcessorError::Stopped`] when its firmware ended.
    pub fn is_halted(&self) -> Result<bool, ProcessorError> {
        self.processor.check_runs()?;
        Ok(self.word(ProcDebug::HALTED_AT)? != 0)
    }

    /// Halts it, and waits until it is.
    pub fn halt(&self) -> Result<(), ProcessorError> {
        let run = reg::ProcCtrl::default().with_run(true);
        let ctrl = |value| {
            self.processor
                .transport()
                .write(registers::PROC_CTRL, value)
        };
        ctrl(run.with_halt(true))?;
        let halted = self.processor.wait(|| Ok(self.is_halted()?.then_some(())));
        ctrl(run)?;
        halted
    }

    /// Lets it go on, for one instruction if `step`; it goes on by the time this returns.
    pub fn go(&self, step: bool) -> Result<(), ProcessorError> {
        self.resume(if step { EBREAK | STEP } else { EBREAK })
    }

    /// Lets it go on: what of [`EBREAK`] and [`STEP`] is to halt it again.
    fn resume(&self, halts: u32) -> Result<(), ProcessorError> {
        let dcsr = self.word(ProcDebug::DCSR_AT)? & !(EBREAK | STEP) | halts;
        self.set_word(ProcDebug::DCSR_AT, dcsr)?;
        self.set_word(ProcDebug::GO_AT, 1)?;
        self.processor
            .wait(|| Ok((self.word(ProcDebug::GO_AT)? == 0).then_some(())))
    }

    /// One instruction.
    pub fn step(&self) -> Result<(), ProcessorError> {
        self.go(true)?;
        self.processor.wait(|| Ok(self.is_halted()?.then_some(())))
    }

    /// The registers, halted.
    pub fn registers(&self) -> Result<Registers, ProcessorError> {
        let mut bytes = [0; ProcDebug::SIZE];
        self.processor.read_memory(self.at, &mut bytes)?;
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let first = ProcDebug::RA_AT / 4;
        let mut registers = [0; REGISTERS + 2];
        registers[1..=REGISTERS].copy_from_slice(&words[first..first + REGISTERS]);
        registers[REGISTERS + 1] = words[ProcDebug::PC_AT / 4];
        Ok(registers)
    }

    /// Changes one of them, by its number in [`Registers`], halted. x0 stays 0.
    pub fn set_register(&self, number: usize, value: u32) -> Result<(), ProcessorError> {
        match number {
            1..=REGISTERS => self.set_word(ProcDebug::RA_AT + 4 * (number - 1), value),
            number if number == REGISTERS + 1 => self.set_word(PC as usize, value),
            _ => Ok(()),
        }
    }

    /// Bytes of its memory from any address on; what it has none of is left out.
    pub fn read(&self, at: u32, bytes: &mut [u8]) -> Result<usize, ProcessorError> {
        let there = self.processor.memory().saturating_sub(at) as usize;
        let count = bytes.len().min(there);
        let first = at & !3;
        let mut words = vec![0; (at as usize % 4 + count).next_multiple_of(4)];
        self.processor.read_memory(first, &mut words)?;
        bytes[..count].copy_from_slice(&words[at as usize % 4..][..count]);
        Ok(count)
    }

    /// The same, written; false: it has not so much memory there.
    pub fn write(&self, at: u32, bytes: &[u8]) -> Result<bool, ProcessorError> {
        let there = self.processor.memory().saturating_sub(at) as usize;
        if bytes.len() > there {
            return Ok(false);
        }
        let mut words = vec![0; (at as usize % 4 + bytes.len()).next_multiple_of(4)];
        self.processor.read_memory(at & !3, &mut words)?;
        words[at as usize % 4..][..bytes.len()].copy_from_slice(bytes);
        self.processor.write_memory(at & !3, &words)?;
        Ok(true)
    }

    /// Halts before the instruction at `at`, a multiple of 2; false: there is no memory.
    pub fn break_at(&mut self, at: u32) -> Result<bool, ProcessorError> {
        if self.breakpoints.contains_key(&at) {
            return Ok(true);
        }
        let mut old = [0; 2];
        if at % 2 != 0 || self.read(at, &mut old)? != 2 {
            return Ok(false);
        }
        self.write(at, &BREAK.to_le_bytes())?;
        self.breakpoints.insert(at, u16::from_le_bytes(old));
        Ok(true)
    }

    /// No more; false: there was none.
    pub fn clear(&mut self, at: u32) -> Result<bool, ProcessorError> {
        let Some(old) = self.breakpoints.remove(&at) else {
            return Ok(false);
        };
        self.write(at, &old.to_le_bytes())
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        let places: Vec<u32> = self.breakpoints.keys().copied().collect();
        let gone = places
            .into_iter()
            .try_for_each(|at| self.clear(at).map(|_| ()));
        // Halted, to be told that nobody is there any more who halts it: else a panic would wait for ever.
        let gone = gone.and_then(|()| match self.is_halted()? {
            true => Ok(()),
            false => self.halt(),
        });
        let gone = gone.and_then(|()| self.resume(0));
        // Of a firmware that ended nothing is left to do.
        let gone = gone.and_then(|()| {
            let limit = self.watchdog;
            Ok(self
                .processor
                .transport()
                .write(registers::PROC_WATCHDOG, limit)?)
        });
        if let Err(error) = gone {
            tracing::debug!(%error, "a debugger's processor was not let go");
        }
    }
}
