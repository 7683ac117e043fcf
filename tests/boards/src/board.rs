//! Boards with a serial line, simulated whole: a pseudo-terminal for each, and Ethernet from one to the other.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rtl_sim::{Seed, Sim};
use rustix::fs::OFlags;
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use rustix::termios::{tcgetattr, tcsetattr, OptionalActions};

use crate::{enter_reset, serial_board};

/// Cycles between two looks at the terminals.
const SLICE: u64 = 128;
/// Quiet cycles after which a look may take a while.
const QUIET: u64 = 8192;

/// What is to happen to a line, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Damage {
    /// Nothing.
    None,
    /// A byte to the card is lost.
    LostToCard,
    /// A byte from the card is lost.
    LostFromCard,
    /// A byte from the card is another.
    ChangedFromCard,
    /// The card's own receiver says that it lost a byte.
    LineError,
}

impl Damage {
    fn from(number: u8) -> Damage {
        use Damage::{ChangedFromCard, LineError, LostFromCard, LostToCard, None};
        [None, LostToCard, LostFromCard, ChangedFromCard, LineError][usize::from(number)]
    }
}

/// Simulated boards. They run until this is dropped.
pub struct Boards {
    lines: Vec<PathBuf>,
    damage: Vec<Arc<AtomicU8>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// One board and its end of the line.
struct Board {
    sim: Sim<serial_board::Model>,
    line: File,
    /// The other end stays open, so that the line is not hung up between two programs.
    _kept: OwnedFd,
    damage: Arc<AtomicU8>,
    to_card: Vec<u8>,
    at: usize,
    from_card: Vec<u8>,
}

impl Boards {
    /// This many: one, or two that are each other's wire.
    pub fn start(count: usize, seed: u64) -> Boards {
        let mut boards: Vec<_> = (0..count).map(|n| Board::new(seed, n)).collect();
        let lines = boards.iter().map(|(_, path)| path.clone()).collect();
        let damage = boards.iter().map(|(b, _)| Arc::clone(&b.damage)).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                let mut quiet = 0;
                while !stop.load(Ordering::Relaxed) {
                    let mut busy = false;
                    for (board, _) in &mut boards {
                        busy |= board.receive();
                    }
                    for _ in 0..SLICE {
                        for (board, _) in &mut boards {
                            busy |= board.step();
                        }
                        let wires: Vec<_> = boards
                            .iter()
                            .map(|(b, _)| (b.sim.outputs.gmii_tx_valid, b.sim.outputs.gmii_tx_byte))
                            .collect();
                        busy |= wires.iter().any(|(valid, _)| *valid);
                        for (n, (valid, byte)) in wires.into_iter().enumerate() {
                            let other = boards.len() - 1 - n;
                            let inputs = &mut boards[other].0.sim.inputs;
                            (inputs.gmii_rx_valid, inputs.gmii_rx_byte) =
                                (valid && other != n, byte);
                        }
                    }
                    for (board, _) in &mut boards {
                        board.send();
                    }
                    quiet = if busy { 0 } else { quiet + SLICE };
                    if quiet > QUIET {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                }
            })
        };
        Boards {
            lines,
            damage,
            stop,
            thread: Some(thread),
        }
    }

    /// The name of a board for the driver.
    pub fn device(&self, board: usize) -> String {
        format!("serial:{}", self.lines[board].display())
    }

    /// Damages a board's line at its next byte.
    pub fn damage(&self, board: usize, how: Damage) {
        self.damage[board].store(how as u8, Ordering::Relaxed);
    }
}

impl Drop for Boards {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A failure of the model is a failure of the test.
            if thread.join().is_err() && !std::thread::panicking() {
                panic!("the boards' thread ended");
            }
        }
    }
}

impl Board {
    fn new(seed: u64, number: usize) -> (Board, PathBuf) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it can be opened");
        let path = ptsname(&master, Vec::new()).expect("it has a name");
        let path = PathBuf::from(path.into_string().expect("in ASCII"));
        let kept = rustix::fs::open(
            &path,
            OFlags::RDWR | OFlags::NOCTTY,
            rustix::fs::Mode::empty(),
        )
        .expect("it opens");
        let mut modes = tcgetattr(&kept).expect("it is a terminal");
        modes.make_raw();
        tcsetattr(&kept, OptionalActions::Now, &modes).expect("it can be raw");
        rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK).expect("it need not block");
        let name = format!("board{number}");
        let mut sim = Sim::<serial_board::Model>::named(Seed(seed).derive(&name), &name, 20_000);
        enter_reset(&mut sim);
        sim.reset(8);
        sim.inputs.tx_ready = true;
        let board = Board {
            sim,
            line: File::from(master),
            _kept: kept,
            damage: Arc::default(),
            to_card: Vec::new(),
            at: 0,
            from_card: Vec::new(),
        };
        (board, path)
    }

    /// Whether this is the damage to be done now; then it is done.
    fn suffers(&self, damage: Damage) -> bool {
        let now = self.damage.load(Ordering::Relaxed);
        Damage::from(now) == damage && self.damage.swap(0, Ordering::Relaxed) == now
    }

    /// Takes what has come.
    fn receive(&mut self) -> bool {
        if self.at < self.to_card.len() {
            return true;
        }
        self.to_card.resize(4096, 0);
        self.at = 0;
        let count = match self.line.read(&mut self.to_card) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => panic!("the terminal: {error}"),
        };
        self.to_card.truncate(count);
        count > 0
    }

    /// A cycle.
    fn step(&mut self) -> bool {
        self.sim.step();
        let mut busy = false;
        if self.sim.inputs.rx_valid && self.sim.outputs.rx_ready {
            self.at += 1;
        }
        if self.sim.outputs.tx_valid && self.sim.inputs.tx_ready {
            let byte = self.sim.outputs.tx_byte;
            busy = true;
            if self.suffers(Damage::ChangedFromCard) {
                self.from_card.push(byte ^ 0x10);
            } else if !self.suffers(Damage::LostFromCard) {
                self.from_card.push(byte);
            }
        }
        if self.at < self.to_card.len() && self.suffers(Damage::LostToCard) {
            self.at += 1;
        }
        let next = self.to_card.get(self.at);
        self.sim.inputs.rx_valid = next.is_some();
        self.sim.inputs.rx_byte = next.copied().unwrap_or(0);
        self.sim.inputs.line_error = self.suffers(Damage::LineError);
        busy
    }

    /// Gives what there is, as far as it is taken.
    fn send(&mut self) {
        while !self.from_card.is_empty() {
            match self.line.write(&self.from_card) {
                Ok(count) => drop(self.from_card.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("the terminal: {error}"),
            }
        }
        self.sim.inputs.tx_ready = self.from_card.len() < 4096;
    }
}
