//! A running model: its clock, reset, time, waves and the way it stops.

use crate::{coverage, Seed};
use std::cell::Cell;
use std::ffi::{c_char, c_void, CString};
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

#[cfg(feature = "watchdog")]
use weft_watchdog::Watchdog;

/// The entry points of a compiled model. The build script generates the table.
pub struct Functions<I, O> {
    /// Makes a model whose registers start at values drawn from the seed.
    pub new: unsafe extern "C" fn(seed: u64, period_ps: u64) -> *mut c_void,
    /// Frees it.
    pub delete: unsafe extern "C" fn(*mut c_void),
    /// Sets the inputs, runs n clock cycles, reads the outputs as they were before the last edge.
    pub step: unsafe extern "C" fn(*mut c_void, *const I, *mut O, n: u64) -> u32,
    /// Sets the inputs and reads the outputs without a clock edge.
    pub settle: unsafe extern "C" fn(*mut c_void, *const I, *mut O) -> u32,
    /// Lets time pass without looking at the model.
    pub skip: unsafe extern "C" fn(*mut c_void, n: u64),
    /// Opens a wave file, or closes it (null). False: not compiled in.
    pub trace: unsafe extern "C" fn(*mut c_void, path: *const c_char) -> bool,
    /// Writes the coverage counters. False: not compiled in.
    pub coverage: unsafe extern "C" fn(*mut c_void, path: *const c_char) -> bool,
    /// Moves the messages printed since the last call into the buffer; returns their length.
    pub messages: unsafe extern "C" fn(*mut c_void, buffer: *mut u8, capacity: usize) -> usize,
    /// The size of the inputs (0) or outputs (1) as the C++ compiler sees them.
    pub size_of: unsafe extern "C" fn(which: u32) -> usize,
}

/// A design compiled by the build script.
///
/// # Safety
/// `FUNCTIONS` must be the entry points generated together with `Inputs` and `Outputs`, which must be `repr(C)` and
/// valid for any values of the design's ports.
pub unsafe trait Model: 'static {
    /// The design's input ports.
    type Inputs: Copy + Default;
    /// The design's output ports.
    type Outputs: Copy + Default;
    /// The model's name in the build script.
    const NAME: &'static str;
    /// Whether waves were compiled in.
    const TRACE: bool;
    /// Whether coverage was compiled in.
    const COVERAGE: bool;
    /// The entry points.
    const FUNCTIONS: Functions<Self::Inputs, Self::Outputs>;
    /// Drives the reset port, if the design has one.
    fn set_reset(inputs: &mut Self::Inputs, asserted: bool);
}

/// Why the design stopped by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// `$finish`.
    Finish,
    /// `$stop`, `$error` or an assertion that failed.
    Error,
    /// `$fatal`.
    Fatal,
}

/// The design stopped by itself: an assertion, `$stop`, `$fatal` or `$finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The model's name.
    pub model: &'static str,
    /// What stopped it.
    pub kind: StopKind,
    /// The cycle in which it stopped.
    pub cycle: u64,
    /// The seed of the model.
    pub seed: Seed,
    /// What the design printed.
    pub messages: String,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            StopKind::Finish => "finished",
            StopKind::Error => "stopped with an error",
            StopKind::Fatal => "stopped with a fatal error",
        };
        write!(
            f,
            "{} {what} in cycle {} (seed {})",
            self.model, self.cycle, self.seed
        )?;
        if !self.messages.is_empty() {
            write!(f, ":\n{}", self.messages.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for Stop {}

/// Verilator draws initial values from a generator that all models in the process may reseed.
static CREATE: Mutex<()> = Mutex::new(());

/// A running model of a design with one clock.
pub struct Sim<M: Model> {
    /// What the design sees in the next cycle; after a step, what it saw.
    pub inputs: M::Inputs,
    /// What the design answered, just before the last clock edge.
    pub outputs: M::Outputs,
    handle: *mut c_void,
    cycle: u64,
    seed: Seed,
    waves: Option<Waves>,
    /// A test in which nothing ends is ended.
    #[cfg(feature = "watchdog")]
    _limit: Option<Watchdog>,
}

enum Waves {
    /// From one cycle to another.
    Window {
        from: u64,
        to: u64,
        open: bool,
        path: CString,
    },
    /// Files of so many cycles, in turn.
    Rolling {
        cycles: u64,
        next: u64,
        turn: usize,
        paths: [CString; 2],
    },
}

thread_local! {
    /// The cycle in which the last model of this thread was dropped.
    static LAST_CYCLE: Cell<u64> = const { Cell::new(0) };
}

/// The cycle that a model had reached when it was dropped; the largest since the last call.
pub(crate) fn take_last_cycle() -> u64 {
    LAST_CYCLE.take()
}

// SAFETY: the model is reached only through this value, and the shim sets the thread's context in every call.
unsafe impl<M: Model> Send for Sim<M> {}

impl<M: Model> Sim<M> {
    /// A model with a clock of 250 MHz (which matters to waves and `$time` only).
    pub fn new(seed: Seed) -> Sim<M> {
        Sim::named(seed, M::NAME, 4000)
    }

    /// A model with a name, from which its registers' initial values are drawn together with the seed, so
    /// that two models of one design start differently; and with this clock period in picoseconds.
    pub fn named(seed: Seed, name: &str, period_ps: u64) -> Sim<M> {
        let functions = M::FUNCTIONS;
        // SAFETY: the function takes a plain number and returns one.
        let sizes = unsafe { [(functions.size_of)(0), (functions.size_of)(1)] };
        let expected = [size_of::<M::Inputs>(), size_of::<M::Outputs>()];
        assert_eq!(
            sizes,
            expected,
            "{}: Rust and C++ disagree about the ports",
            M::NAME
        );
        let handle = {
            let _guard = CREATE
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            // SAFETY: makes a new model, owned by this value until `drop`. The first look at it is inside too, because
            // that is when `initial` blocks run.
            unsafe {
                let handle =
                    (functions.new)(seed.derive("registers").derive(name).0, period_ps.max(2));
                let mut inputs = M::Inputs::default();
                // The edge into reset, so that what is reset asynchronously is so before the first clock edge.
                for asserted in [false, true] {
                    M::set_reset(&mut inputs, asserted);
                    (functions.settle)(handle, &inputs, &mut M::Outputs::default());
                }
                handle
            }
        };
        Sim {
            inputs: M::Inputs::default(),
            outputs: M::Outputs::default(),
            handle,
            cycle: 0,
            seed,
            #[cfg(feature = "watchdog")]
            _limit: Watchdog::if_asked(format_args!("model {name}, seed {seed}")),
            waves: None,
        }
    }

    /// The number of clock edges so far, skipped ones included.
    #[inline]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The seed the model was made with.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Holds the reset for so many cycles with the inputs as they are, and releases it.
    pub fn reset(&mut self, cycles: u64) {
        M::set_reset(&mut self.inputs, true);
        self.step_many(cycles);
        M::set_reset(&mut self.inputs, false);
    }

    /// One clock cycle.
    ///
    /// # Panics
    /// When the design stops by itself; see [`try_step`](Sim::try_step).
    #[inline]
    pub fn step(&mut self) {
        self.step_many(1);
    }

    /// `n` clock cycles with the same inputs, in one foreign call.
    ///
    /// # Panics
    /// When the design stops by itself.
    #[inline]
    pub fn step_many(&mut self, n: u64) {
        if let Err(stop) = self.try_step_many(n) {
            panic!("{stop}");
        }
    }

    /// One clock cycle.
    #[inline]
    pub fn try_step(&mut self) -> Result<(), Stop> {
        self.try_step_many(1)
    }

    /// `n` clock cycles with the same inputs.
    #[inline]
    pub fn try_step_many(&mut self, n: u64) -> Result<(), Stop> {
        if n == 0 {
            return Ok(());
        }
        if self.waves.is_some() {
            self.move_waves();
        }
        // SAFETY: the handle is live, the structs are the ones generated with the model.
        let status =
            unsafe { (M::FUNCTIONS.step)(self.handle, &self.inputs, &mut self.outputs, n) };
        self.cycle += n;
        match status {
            0 => Ok(()),
            _ => Err(self.stop(status)),
        }
    }

    /// Reads the outputs that follow from the inputs, without a clock edge.
    pub fn settle(&mut self) {
        // SAFETY: as in `try_step_many`.
        let status = unsafe { (M::FUNCTIONS.settle)(self.handle, &self.inputs, &mut self.outputs) };
        if status != 0 {
            let stop = self.stop(status);
            panic!("{stop}");
        }
    }

    /// Lets `n` cycles pass without evaluating the design. This is right only while it is quiescent: when
    /// no register would change with the present inputs. The design has to say so, by an output of its own.
    #[inline]
    pub fn skip(&mut self, n: u64) {
        // SAFETY: the handle is live.
        unsafe { (M::FUNCTIONS.skip)(self.handle, n) };
        self.cycle += n;
    }

    /// Records waves into an FST file from one cycle to another (not included), once they are reached.
    /// False: the model was built without waves.
    pub fn waves(&mut self, path: &Path, from: u64, to: u64) -> bool {
        let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else {
            return false;
        };
        if M::TRACE {
            self.waves = Some(Waves::Window {
                from,
                to,
                open: false,
                path,
            });
        }
        M::TRACE
    }

    /// Records waves all the time, but keeps only the last: two files, `<path>.0.fst` and `<path>.1.fst`, of `cycles` cycles are
    /// written in turn, so that at least so many cycles before the end are there. For runs that cannot be repeated; those that can are
    /// faster with [`replay`](crate::replay()). False: the model was built without waves.
    pub fn rolling_waves(&mut self, path: &Path, cycles: u64) -> bool {
        let path = |turn| {
            let mut name = path.as_os_str().to_os_string();
            name.push(format!(".{turn}.fst"));
            CString::new(name.into_encoded_bytes())
        };
        let (Ok(first), Ok(second)) = (path(0), path(1)) else {
            return false;
        };
        if M::TRACE {
            self.waves = Some(Waves::Rolling {
                cycles: cycles.max(1),
                next: self.cycle,
                turn: 0,
                paths: [first, second],
            });
        }
        M::TRACE
    }

    fn move_waves(&mut self) {
        let path = match &mut self.waves {
            Some(Waves::Window {
                from,
                to,
                open,
                path,
            }) => {
                let wanted = (*from..*to).contains(&self.cycle);
                if wanted == *open {
                    return;
                }
                *open = wanted;
                if wanted {
                    path.as_ptr()
                } else {
                    std::ptr::null()
                }
            }
            Some(Waves::Rolling {
                cycles,
                next,
                turn,
                paths,
            }) if self.cycle >= *next => {
                *next = self.cycle + *cycles;
                *turn ^= 1;
                paths[*turn ^ 1].as_ptr()
            }
            _ => return,
        };
        // SAFETY: the handle is live, the path a C string or null.
        unsafe { (M::FUNCTIONS.trace)(self.handle, path) };
    }

    /// Writes the coverage counters collected so far. False: the model was built without coverage.
    pub fn write_coverage(&mut self, path: &Path) -> bool {
        match CString::new(path.as_os_str().as_encoded_bytes()) {
            // SAFETY: the handle is live, the path a C string.
            Ok(path) => unsafe { (M::FUNCTIONS.coverage)(self.handle, path.as_ptr()) },
            Err(_) => false,
        }
    }

    /// What the design printed (`$display`, `$error`, ...) since the last call.
    pub fn messages(&mut self) -> String {
        let mut text = vec![0u8; 1 << 16];
        // SAFETY: the handle is live, the buffer as long as said.
        let length = unsafe { (M::FUNCTIONS.messages)(self.handle, text.as_mut_ptr(), text.len()) };
        text.truncate(length);
        String::from_utf8_lossy(&text).into_owned()
    }

    #[cold]
    fn stop(&mut self, status: u32) -> Stop {
        Stop {
            model: M::NAME,
            kind: match status {
                1 => StopKind::Finish,
                2 => StopKind::Error,
                _ => StopKind::Fatal,
            },
            cycle: self.cycle,
            seed: self.seed,
            messages: self.messages(),
        }
    }
}

impl<M: Model> Drop for Sim<M> {
    fn drop(&mut self) {
        LAST_CYCLE.with(|last| last.set(last.get().max(self.cycle)));
        if let Some(path) = coverage::next_file(M::NAME).filter(|_| M::COVERAGE) {
            self.write_coverage(&path);
        }
        // SAFETY: the handle is live and not used afterwards.
        unsafe { (M::FUNCTIONS.delete)(self.handle) };
    }
}
