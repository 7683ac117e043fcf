//! The card's control processor: its firmware loaded, started, watched, and examined after its end.
//!
//! Everything goes through registers (`docs/processor.md`), on a bare [`Transport`]: it needs no [`Device`](crate::Device), and works beside one, for
//! the processor shares nothing with the data path but the bus.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use weft_hostdrv::{processor::{Image, Processor}, transport::Transport};
//! fn start(card: Arc<dyn Transport>, file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//!     let image = Image::parse(file)?;
//!     let processor = Processor::of(card)?;
//!     processor.load(&image)?;
//!     processor.start(0)?;
//!     print!("{}", processor.log()?);
//!     Ok(())
//! }
//! ```

mod image;
pub(crate) mod served;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;
use weft_layout::{proc_end, reg, registers, ProcCommand, ProcDump, ProcInfo, ProcStarted};

pub use self::image::{Image, ImageError};
pub(crate) use self::served::CardEngine;
pub(crate) use self::served::{ServedQueues, TakesFrames};

use self::image::INFO_AT;
use weft_card_transport::{RegisterAccess, Transport, TransportError};

// Environment (programs): `WEFT_FIRMWARE_ENGINE`: the firmware with the engine (docs/processor.md#a-device-on-it), which a device of rung `firmware`
// loads unless it was given one; `make processor` sets it for its tests. Without it: such a device is refused.
/// The environment's word for the file of the firmware with the engine.
pub const IMAGE_VARIABLE: &str = "WEFT_FIRMWARE_ENGINE";
/// How long the firmware may take for an answer, and the processor to stop: so long, and so many looks, since a card that is simulated behind a socket
/// is slow by the clock on the wall.
const PATIENCE: (u64, u32) = (100_000_000, 300_000);
/// What the firmware fills its stack with.
const UNUSED: u8 = 0x5a;
/// Bytes that are written before the card is heard of.
const AT_ONCE: usize = 4096;
/// A stack, a log larger than this is none.
const LARGEST: u32 = 1 << 20;

/// What the control processor could not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProcessorError {
    /// The card was made without one.
    #[error("this card has no control processor")]
    None,
    /// The firmware does not fit.
    #[error("the firmware has {image} bytes, the control processor's memory {memory}")]
    TooLarge {
        /// Bytes of the firmware.
        image: usize,
        /// Bytes of the memory.
        memory: u32,
    },
    /// What came into its memory is not what was sent.
    #[error(
        "the firmware did not arrive as it was sent: checksum {found:#010x}, not {sent:#010x}"
    )]
    Checksum {
        /// Of what was sent.
        sent: u32,
        /// Of what is there.
        found: u32,
    },
    /// It was started without a load before.
    #[error("the control processor refuses to start what was not loaded with its checksum; each start needs a load before it")]
    NotLoaded,
    /// It is not running.
    #[error("the control processor does not run: {0}")]
    Stopped(End),
    /// The firmware that runs has no engine.
    #[error("the firmware of the control processor has no engine")]
    NoEngine,
    /// No engine on the card can be configured so.
    #[error("{0}")]
    NotOnCard(String),
    /// The firmware did not take the card: a value of `proc_started`.
    #[error("the firmware did not take the card: {}", started(*.0))]
    NotStarted(u32),
    /// Nobody said which firmware.
    #[error("no firmware: give one with the engine (`DeviceConfig::firmware`), or name its file in {IMAGE_VARIABLE}")]
    NoImage,
    /// The file that is to be the firmware.
    #[error("no firmware in {file}: {why}")]
    Image {
        /// Its name.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The memory that host and firmware share is full, or no queue is like that.
    #[error("no room for queues in the memory that host and firmware share")]
    NoRoom,
    /// The firmware has as many queue pairs as it has memory for.
    #[error("the engine on the card has memory for {most} queue pairs, and has so many")]
    TooMany {
        /// How many.
        most: u16,
    },
    /// The firmware's engine refused a command.
    #[error("the engine on the card refused: {0}")]
    Refused(String),
    /// The firmware that runs cannot be halted.
    #[error("the firmware of the control processor has no debug monitor")]
    NoMonitor,
    /// It did not answer in time.
    #[error("the control processor gave no answer in time")]
    Silent,
    /// The card could not be reached.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// Why the firmware did not take the card.
fn started(value: u32) -> String {
    match u8::try_from(value).ok().and_then(ProcStarted::from_raw) {
        Some(known) => known.doc().to_owned(),
        None => format!("answer {value}"),
    }
}

/// How the firmware ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It was stopped, or never started.
    Stopped,
    /// An assertion, or another panic: the last line of the log.
    Assert,
    /// Its stack was used up.
    Stack,
    /// It gave no beat in time, and told of it.
    Watchdog,
    /// It gave no beat in time, and could not tell of it.
    Hung,
    /// A trap of RISC-V: `mcause`.
    Trap(u32),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Stopped => f.write_str("it is stopped"),
            End::Assert => f.write_str("an assertion failed"),
            End::Stack => f.write_str("its stack was used up"),
            End::Watchdog => f.write_str("no beat in time"),
            End::Hung => f.write_str("no beat in time, and no dump: stopped by the watchdog"),
            End::Trap(0) => f.write_str("trap: misaligned instruction address"),
            End::Trap(1) => f.write_str("trap: instruction fetched from nowhere"),
            End::Trap(2) => f.write_str("trap: illegal instruction"),
            End::Trap(3) => f.write_str("trap: breakpoint"),
            End::Trap(4 | 6) => f.write_str("trap: misaligned access"),
            End::Trap(5) => f.write_str("trap: read of nowhere"),
            End::Trap(7) => f.write_str("trap: write to nowhere"),
            End::Trap(cause) => write!(f, "trap: cause {cause}"),
        }
    }
}

/// How the processor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// PROC_STATUS.
    pub status: reg::ProcStatus,
    /// How its firmware ended; `None`: it runs.
    pub end: Option<End>,
    /// The instruction that it is or was at.
    pub pc: u32,
    /// The firmware's last beat.
    pub beat: u32,
    /// Cycles awake since it was started, of [`Processor::clock_khz`].
    pub awake: u64,
}

/// A card's control processor.
#[derive(Clone)]
pub struct Processor {
    transport: Arc<dyn Transport>,
    memory: u32,
    clock_khz: u32,
    /// The window to its memory is two registers, one after the other: one at a time has it.
    window: Arc<Mutex<()>>,
}

impl Processor {
    /// The control processor of this card.
    ///
    /// # Errors
    /// [`ProcessorError::None`] when it has none.
    pub fn of(transport: Arc<dyn Transport>) -> Result<Self, ProcessorError> {
        if transport.read(registers::PROC_ID)? != reg::PROC_ID_RESET {
            return Err(ProcessorError::None);
        }
        let memory = transport.read(registers::PROC_MEMORY)?;
        let clock_khz = transport.read(registers::PROC_CLOCK)?;
        Ok(Self {
            transport,
            memory,
            clock_khz,
            window: Arc::default(),
        })
    }

    /// The way to its card.
    pub fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// Bytes of its memory.
    pub fn memory(&self) -> u32 {
        self.memory
    }

    /// Its clock in kHz: the card's, or a slower one. What it counts as its cycles is of this.
    pub fn clock_khz(&self) -> u32 {
        self.clock_khz
    }

    /// Stops it. Its memory stays as it is. Nothing that it asked of host memory is under way any more.
    pub fn stop(&self) -> Result<(), ProcessorError> {
        self.transport
            .write(registers::PROC_CTRL, reg::ProcCtrl::default())?;
        self.wait(|| {
            let busy = self.transport.read(registers::PROC_STATUS)?.dma_busy();
            Ok((!busy).then_some(()))
        })
    }

    /// Stops it, and loads a firmware.
    pub fn load(&self, image: &Image) -> Result<(), ProcessorError> {
        self.load_bytes(image.bytes(), image.checksum())
    }

    /// Stops it, and loads these bytes, whole words, from address 0, which have to have this CRC32C.
    pub fn load_bytes(&self, bytes: &[u8], checksum: u32) -> Result<(), ProcessorError> {
        if bytes.len() > self.memory as usize {
            return Err(ProcessorError::TooLarge {
                image: bytes.len(),
                memory: self.memory,
            });
        }
        self.stop()?;
        let begin = reg::ProcCtrl::default().with_load(true);
        self.transport.write(registers::PROC_CTRL, begin)?;
        self.write_memory(0, bytes)?;
        self.transport.write(registers::PROC_CHECK, checksum)?;
        if !self.transport.read(registers::PROC_STATUS)?.loaded() {
            return Err(ProcessorError::Checksum {
                sent: checksum,
                found: self.transport.read(registers::PROC_CHECK)?,
            });
        }
        Ok(())
    }

    /// Starts what was loaded, with a watchdog of so many cycles; 0: none.
    ///
    /// # Errors
    /// [`ProcessorError::NotLoaded`] without a load before.
    pub fn start(&self, watchdog: u32) -> Result<(), ProcessorError> {
        self.transport.write(registers::PROC_WATCHDOG, watchdog)?;
        let run = reg::ProcCtrl::default().with_run(true);
        self.transport.write(registers::PROC_CTRL, run)?;
        match self.transport.read(registers::PROC_STATUS)?.refused() {
            true => Err(ProcessorError::NotLoaded),
            false => Ok(()),
        }
    }

    /// How it is.
    pub fn state(&self) -> Result<State, ProcessorError> {
        let status = self.transport.read(registers::PROC_STATUS)?;
        let cause = self.transport.read(registers::PROC_CAUSE)?;
        let low = self.transport.read(registers::PROC_AWAKE_LO)?;
        let high = self.transport.read(registers::PROC_AWAKE_HI)?;
        let end = match u8::try_from(cause) {
            _ if status.running() => None,
            _ if status.hung() => Some(End::Hung),
            _ if !status.crashed() => Some(End::Stopped),
            Ok(proc_end::ASSERT) => Some(End::Assert),
            Ok(proc_end::STACK) => Some(End::Stack),
            Ok(proc_end::WATCHDOG) => Some(End::Watchdog),
            _ => Some(End::Trap(cause)),
        };
        Ok(State {
            status,
            end,
            pc: self.transport.read(registers::PROC_PC)?,
            beat: self.transport.read(registers::PROC_BEAT)?,
            awake: u64::from(high) << 32 | u64::from(low),
        })
    }

    /// What the firmware says of itself; `None`: there is none.
    pub fn info(&self) -> Result<Option<ProcInfo>, ProcessorError> {
        let mut bytes = [0; ProcInfo::SIZE];
        self.read_memory(INFO_AT, &mut bytes)?;
        let info = ProcInfo::from_bytes(&bytes);
        Ok((info.magic == reg::PROC_ID_RESET).then_some(info))
    }

    /// The last of the firmware's log; empty without firmware.
    pub fn log(&self) -> Result<String, ProcessorError> {
        let Some(info) = self.info()? else {
            return Ok(String::new());
        };
        let size = info.log_bytes;
        if info.log_at == 0 || !size.is_power_of_two() || size > LARGEST {
            return Ok(String::new());
        }
        let mut ring = vec![0; size as usize];
        self.read_memory(info.log_at, &mut ring)?;
        let length = info.logged.min(size);
        let first = info.logged.wrapping_sub(length);
        let line = (0..length).map(|at| ring[(first.wrapping_add(at) % size) as usize]);
        Ok(String::from_utf8_lossy(&line.collect::<Vec<u8>>()).into_owned())
    }

    /// What is left of a firmware that ended by itself; `None`: there is nothing.
    pub fn dump(&self) -> Result<Option<ProcDump>, ProcessorError> {
        let Some(info) = self.info()?.filter(|info| info.dump_at != 0) else {
            return Ok(None);
        };
        let mut bytes = [0; ProcDump::SIZE];
        self.read_memory(info.dump_at, &mut bytes)?;
        let dump = ProcDump::from_bytes(&bytes);
        Ok((dump.pc != 0 || dump.cause != 0).then_some(dump))
    }

    /// The most bytes of its stack that the firmware used, and how many there are; `None` without firmware.
    pub fn stack(&self) -> Result<Option<(u32, u32)>, ProcessorError> {
        let Some(info) = self.info()? else {
            return Ok(None);
        };
        let Some(size) = info.stack_high.checked_sub(info.stack_low) else {
            return Ok(None);
        };
        if size == 0 || size > LARGEST || size % 4 != 0 {
            return Ok(None);
        }
        let mut stack = vec![0; size as usize];
        self.read_memory(info.stack_low, &mut stack)?;
        let unused = stack.iter().take_while(|byte| **byte == UNUSED).count();
        Ok(Some((size - unused as u32, size)))
    }

    /// Fails if the firmware has ended.
    pub fn check_runs(&self) -> Result<(), ProcessorError> {
        if self.transport.read(registers::PROC_STATUS)?.running() {
            return Ok(());
        }
        Err(ProcessorError::Stopped(
            self.state()?.end.unwrap_or(End::Stopped),
        ))
    }

    /// Gives the firmware a command, and does not wait.
    pub fn command(&self, command: ProcCommand, argument: u32) -> Result<(), ProcessorError> {
        if let Some(end) = self.state()?.end {
            return Err(ProcessorError::Stopped(end));
        }
        let word = reg::ProcCommand::default()
            .with_kind(command)
            .with_argument(argument);
        Ok(self.transport.write(registers::PROC_COMMAND, word)?)
    }

    /// Gives the firmware a command with an argument of 24 bits, and waits for its answer.
    pub fn ask(&self, command: ProcCommand, argument: u32) -> Result<u32, ProcessorError> {
        self.command(command, argument)?;
        self.wait(|| {
            if !self.transport.read(registers::PROC_COMMAND)?.open() {
                return Ok(Some(()));
            }
            match self.state()?.end {
                Some(end) => Err(ProcessorError::Stopped(end)),
                None => Ok(None),
            }
        })?;
        Ok(self.transport.read(registers::PROC_ANSWER)?)
    }

    /// Lets the firmware end in this way of `proc_crash`, and waits for the end.
    ///
    /// # Errors
    /// [`ProcessorError::Silent`] when it does not end: without a watchdog, a loop does not.
    pub fn crash(&self, how: u8) -> Result<End, ProcessorError> {
        self.command(ProcCommand::Crash, how.into())?;
        self.wait(|| Ok(self.state()?.end))
    }

    /// Waits until the firmware has nothing to do: it sleeps, or has ended.
    ///
    /// # Errors
    /// [`ProcessorError::Silent`] when it is busy for long.
    pub fn rest(&self) -> Result<State, ProcessorError> {
        self.wait(|| {
            let state = self.state()?;
            let at_rest = state.end.is_some() || state.status.asleep();
            Ok(at_rest.then_some(state))
        })
    }

    /// IdlePolls until there is something.
    ///
    /// # Errors
    /// [`ProcessorError::Silent`] when there is nothing for long.
    pub fn wait<T>(
        &self,
        look: impl Fn() -> Result<Option<T>, ProcessorError>,
    ) -> Result<T, ProcessorError> {
        let (time, looks) = PATIENCE;
        let until = self.transport.now() + time;
        let mut seen = 0;
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            seen += 1;
            if seen > looks && self.transport.now() > until {
                return Err(ProcessorError::Silent);
            }
        }
    }

    fn window(&self) -> MutexGuard<'_, ()> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads its memory from `at` on, a multiple of 4, in whole words, whether it runs or not.
    pub fn read_memory(&self, at: u32, bytes: &mut [u8]) -> Result<(), ProcessorError> {
        let _window = self.window();
        for (word, at) in bytes.chunks_mut(4).zip((at..).step_by(4)) {
            self.transport.write(registers::PROC_ADDR, at)?;
            let value = self.transport.read(registers::PROC_DATA)?;
            word.copy_from_slice(&value.to_le_bytes()[..word.len()]);
        }
        Ok(())
    }

    /// Writes its memory from `at` on, a multiple of 4, in whole words.
    pub fn write_memory(&self, at: u32, bytes: &[u8]) -> Result<(), ProcessorError> {
        let _window = self.window();
        self.transport.write(registers::PROC_ADDR, at)?;
        for part in bytes.chunks(AT_ONCE) {
            for word in part.chunks_exact(4) {
                let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                self.transport.write(registers::PROC_DATA, word)?;
            }
            // No more are under way at a time: whoever reads a register waits for all of them.
            self.transport.read(registers::PROC_ADDR)?;
        }
        Ok(())
    }
}
