//! The world: cards and the links between them, under one clock.
//!
//! All cards run in lock-step, 4 ns a cycle, in the order of their numbers. A card that is idle is
//! not clocked, and when all are, the clock jumps to the next arrival on a link or to the caller's
//! deadline.

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use weft_layout::doorbell;
#[cfg(feature = "watchdog")]
use weft_watchdog::Watchdog;

use crate::card::{Card, Event, CYCLE_NS, DOORBELLS, PUSH_WINDOW};
use crate::held::{Held, Write};
use crate::iommu::Iommu;
use crate::link::{Arrival, Link, LinkConfig};
use crate::seed::{generator, Stream};
use crate::switch::Switch;
use crate::threads::Threads;

/// Why [`World::run`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A card asked for an interrupt, or wrote into memory of a host that watches.
    Interrupt,
    /// The deadline is reached.
    Deadline,
    /// Nothing will ever happen again without the host.
    Quiet,
    /// A card waits for memory that another process lends.
    Waiting,
    /// Nothing happens until the alarm of a processor that sleeps, at this time ([`World::settle_awake`]).
    Asleep(u64),
}

/// What cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorldError {
    /// A read was not answered.
    #[error("card {card} did not answer a read of {address:#07x} within {cycles} cycles")]
    NoAnswer {
        /// The card.
        card: usize,
        /// What was read.
        address: u32,
        /// How long it was waited for.
        cycles: u64,
    },
    /// The card says that something went wrong inside.
    #[error("card {card} ({name}): {what}")]
    Failure {
        /// The card.
        card: usize,
        /// What it is.
        name: String,
        /// What it says.
        what: String,
    },
}

/// Cycles that go on while a card waits for lent memory, before [`World::run`] comes back.
const WAITING_CYCLES: u64 = 16;
/// Cycles after which an unanswered read is an error.
const READ_LIMIT: u64 = 100_000;
/// Cycles that a function-level reset may take.
const RESET_LIMIT: u64 = 100_000;

/// What the clock does in a time without work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    /// Leaps to the next arrival or the limit, what is earlier.
    Wait,
    /// Leaps to the next arrival only, and stands still without one.
    Come,
    /// The same, and not beyond the limit.
    Stay,
    /// As `Come`, but no processor's alarm is leapt to.
    Awake,
}

struct Slot {
    card: Box<dyn Card>,
    iommu: Iommu,
    link: Option<(usize, usize)>,
    pending: u64,
    answer: Option<u32>,
    clocked: u64,
    mmio_reads: u64,
    mmio_writes: u64,
    /// Writes of a host whose steps take time.
    held: Held,
    /// The card has written into memory of a host that watches it; `None`: it does not.
    written: Option<bool>,
    /// A reset did not end.
    stuck: bool,
}

impl Slot {
    /// The card need not be clocked now.
    fn idle(&self, time: u64) -> bool {
        self.card.idle() && self.card.alarm().is_none_or(|at| at > time / CYCLE_NS)
    }

    /// A write reaches the card.
    fn write(&mut self, write: Write) {
        match write {
            Write::Word(address, value) => match push_offset(address) {
                Some(offset) => self.card.push(offset, &value.to_le_bytes()),
                None => self.card.write(address, value),
            },
            Write::Block(address, bytes) => {
                if let Some(offset) = push_offset(address) {
                    self.card.push(offset, &bytes);
                }
            }
        }
    }
}

/// Cards, links, time.
pub struct World {
    seed: u64,
    time: u64,
    slots: Vec<Slot>,
    links: Vec<(Link, [Option<usize>; 2])>,
    /// What came out of the open ends of ports: link and frame.
    outside: Option<Vec<(usize, Vec<u8>)>>,
    /// What is at the open ends, if it is one switch.
    switch: Option<Switch>,
    events: Vec<Event>,
    interrupted: bool,
    waiting: bool,
    /// A test in which nothing ends is ended.
    #[cfg(feature = "watchdog")]
    _limit: Option<Watchdog>,
    threads: Arc<Threads>,
}

// Environment (tests): `WEFT_TEST_WAVES`: a folder: every simulated world records FST waves of its cards' last 20,000 cycles there (RTL cards; the
// folder must exist). A failing full-stack test names it and its seed. Without it: none.
/// A folder: every world records waves of its cards' last cycles there, the RTL's.
const WAVES: &str = "WEFT_TEST_WAVES";
/// At least so many cycles.
const WAVE_CYCLES: u64 = 20_000;

/// A test that fails says how to see more.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && self.slots.iter().any(|slot| slot.card.has_waves()) {
            let seed = self.seed;
            eprintln!("world of seed {seed}: run this test again with {WAVES}=FOLDER for waves of its cards' last {WAVE_CYCLES} cycles");
        }
    }
}

/// A vector's bit where there is one for each.
pub(crate) fn bit(vector: u16) -> u64 {
    1u64.checked_shl(vector.into()).unwrap_or(0)
}

/// Where in the doorbells an address of the push window is.
fn push_offset(address: u32) -> Option<u32> {
    let offset = address.checked_sub(DOORBELLS)?;
    let window = doorbell::JOB_PUSH..doorbell::JOB_PUSH + PUSH_WINDOW;
    window.contains(&offset).then_some(offset)
}

impl World {
    /// An empty world.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            time: 0,
            slots: Vec::new(),
            links: Vec::new(),
            outside: None,
            switch: None,
            events: Vec::new(),
            interrupted: false,
            waiting: false,
            #[cfg(feature = "watchdog")]
            _limit: Watchdog::if_asked(format_args!("seed {seed}")),
            threads: Arc::default(),
        }
    }

    /// The threads that use it.
    pub(crate) fn threads(&self) -> &Arc<Threads> {
        &self.threads
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Adds a card and answers its number.
    pub fn add_card(&mut self, mut card: Box<dyn Card>) -> usize {
        let number = self.slots.len();
        if let Some(folder) = std::env::var_os(WAVES) {
            let thread = std::thread::current();
            let test = thread.name().unwrap_or("world").replace("::", "-");
            let name = format!("{test}-seed{}-card{number}", self.seed);
            card.record_waves(&PathBuf::from(folder).join(name), WAVE_CYCLES);
        }
        self.slots.push(Slot {
            card,
            iommu: Iommu::new(number, self.seed),
            link: None,
            pending: 0,
            answer: None,
            clocked: 0,
            mmio_reads: 0,
            mmio_writes: 0,
            held: Held::default(),
            written: None,
            stuck: false,
        });
        number
    }

    /// Joins two cards and answers the link's number. A card has one port; a second link replaces the first.
    pub fn join(&mut self, a: usize, b: usize, config: LinkConfig) -> usize {
        let number = self.links.len();
        let rng = generator(self.seed, Stream::Link(number as u32));
        self.links
            .push((Link::new(config, rng), [Some(a), Some(b)]));
        self.slots[a].link = Some((number, 0));
        self.slots[b].link = Some((number, 1));
        number
    }

    /// A link whose other end is the caller: [`inject`](Self::inject) sends, the link's `watch` sees.
    pub fn open_link(&mut self, card: usize, config: LinkConfig) -> usize {
        let number = self.links.len();
        let rng = generator(self.seed, Stream::Link(number as u32));
        self.links
            .push((Link::new(config, rng), [Some(card), None]));
        self.slots[card].link = Some((number, 0));
        number
    }

    /// From now on, frames that arrive at the open end of a link are kept for [`take_outside`](Self::take_outside).
    pub fn keep_outside(&mut self) {
        self.outside.get_or_insert_with(Vec::new);
    }

    /// From now on, the open ends of links are the ports of a switch: [`inject`](Self::inject) is for others.
    pub fn switch(&mut self) {
        self.switch.get_or_insert_default();
    }

    /// A frame goes on from the end of a link where the switch is.
    fn forward(&mut self, from: usize, frame: Vec<u8>) {
        let Some(switch) = &mut self.switch else {
            return;
        };
        let time = self.time;
        for link in switch.ways(from, &frame, self.links.len()) {
            self.links[link].0.send(time, 1, frame.clone());
        }
    }

    /// Takes the frames that arrived at open ends, with the numbers of their links. A frame with a wrong FCS is not
    /// among them: nobody outside would take it.
    pub fn take_outside(&mut self) -> Vec<(usize, Vec<u8>)> {
        self.outside
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Sends a frame from the caller's end of an open link.
    pub fn inject(&mut self, link: usize, frame: Vec<u8>) {
        let time = self.time;
        self.links[link].0.send(time, 1, frame);
    }

    /// Hands a frame to a card at once, past any link. `bad`: its FCS is wrong.
    pub fn deliver(&mut self, card: usize, frame: Vec<u8>, bad: bool) {
        self.slots[card].card.receive(frame, bad);
    }

    /// Simulated nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.time
    }

    /// A link.
    pub fn link(&mut self, number: usize) -> &mut Link {
        &mut self.links[number].0
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// How many cards there are.
    pub fn cards(&self) -> usize {
        self.slots.len()
    }

    /// A card's IOMMU.
    pub fn iommu(&mut self, card: usize) -> &mut Iommu {
        &mut self.slots[card].iommu
    }

    /// A card.
    pub fn card(&mut self, card: usize) -> &mut dyn Card {
        &mut *self.slots[card].card
    }

    /// Cycles for which a card was clocked, and MMIO reads and writes so far.
    pub fn work(&self, card: usize) -> (u64, u64, u64) {
        let slot = &self.slots[card];
        (slot.clocked, slot.mmio_reads, slot.mmio_writes)
    }

    /// Posts an MMIO write.
    pub fn write(&mut self, card: usize, address: u32, value: u32) {
        let slot = &mut self.slots[card];
        slot.mmio_writes += 1;
        let write = Write::Word(address, value);
        match slot.held.is_free() {
            true => slot.write(write),
            false => slot.held.keep(self.time, write),
        }
    }

    /// A step of a card's host begins: its MMIO writes wait until [`end_step`](Self::end_step) says when it ends.
    pub(crate) fn begin_step(&mut self, card: usize) {
        self.slots[card].held.begin();
    }

    /// The step of a card's host ends at this time.
    pub(crate) fn end_step(&mut self, card: usize, time: u64) {
        self.slots[card].held.end(time);
    }

    /// Whether [`run`](Self::run) comes back when a card writes into its host's memory.
    pub(crate) fn watch(&mut self, card: usize, on: bool) {
        self.slots[card].written = on.then_some(false);
    }

    /// Whether the card has written into watched memory since this was last asked.
    pub(crate) fn take_written(&mut self, card: usize) -> bool {
        let written = self.slots[card].written.as_mut();
        written.is_some_and(std::mem::take)
    }

    /// Posts an MMIO write of several words, which reach the card's push window as wide as its port is.
    pub fn write_block(&mut self, card: usize, address: u32, bytes: &[u8]) {
        match push_offset(address) {
            Some(offset) => {
                let slot = &mut self.slots[card];
                slot.mmio_writes += bytes.len().div_ceil(8) as u64;
                match slot.held.is_free() {
                    true => slot.card.push(offset, bytes),
                    false => slot
                        .held
                        .keep(self.time, Write::Block(address, bytes.to_vec())),
                }
            }
            None => {
                for (word, at) in bytes.chunks_exact(4).zip((address..).step_by(4)) {
                    let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    self.write(card, at, value);
                }
            }
        }
    }

    /// The interrupts a card asked for that were not taken: a bit for each vector.
    pub fn pending(&self, card: usize) -> u64 {
        self.slots[card].pending
    }

    /// Reads by MMIO; time goes on until the answer is there.
    pub fn read(&mut self, card: usize, address: u32) -> Result<u32, WorldError> {
        let slot = &mut self.slots[card];
        // A read pushes the writes before it.
        while let Some(write) = slot.held.take_any() {
            slot.write(write);
        }
        self.slots[card].mmio_reads += 1;
        self.slots[card].answer = None;
        self.slots[card].card.read(address);
        for _ in 0..READ_LIMIT {
            self.cycle()?;
            if let Some(value) = self.slots[card].answer.take() {
                return Ok(value);
            }
        }
        Err(WorldError::NoAnswer {
            card,
            address,
            cycles: READ_LIMIT,
        })
    }

    /// Takes the interrupt request of a vector, if there was one since the last call.
    pub fn take_interrupt(&mut self, card: usize, vector: u16) -> bool {
        let bit = bit(vector);
        let pending = &mut self.slots[card].pending;
        let was = *pending & bit != 0;
        *pending &= !bit;
        was
    }

    /// Has any card an interrupt that was not taken?
    pub fn interrupt_pending(&self) -> bool {
        self.slots.iter().any(|s| s.pending != 0)
    }

    /// A function-level reset of a card; time goes on until it is done. What the card still has under way is refused, and its
    /// interrupts are forgotten. If something goes wrong, the next call that lets time pass says so.
    pub fn reset(&mut self, card: usize) {
        self.slots[card].iommu.forget();
        self.slots[card].iommu.set_resetting(true);
        self.slots[card].held.clear();
        self.slots[card].card.reset();
        for cycles in 0.. {
            let slot = &mut self.slots[card];
            slot.stuck = cycles == RESET_LIMIT;
            if slot.stuck || !slot.card.resetting() || self.cycle().is_err() {
                break;
            }
        }
        self.slots[card].iommu.set_resetting(false);
        self.slots[card].pending = 0;
    }

    /// Runs until an interrupt comes, `deadline` is reached, or nothing is left to happen and there
    /// is no deadline.
    pub fn run(&mut self, deadline: Option<u64>) -> Result<Stop, WorldError> {
        self.advance(deadline, Idle::Wait)
    }

    /// Runs until an interrupt comes, `limit` is reached, or nothing is left to happen: the clock does
    /// not go on to the limit.
    pub fn settle(&mut self, limit: u64) -> Result<Stop, WorldError> {
        self.advance(Some(limit), Idle::Come)
    }

    /// Like [`settle`](Self::settle), but does not leap to the alarm of a processor that sleeps: between cards and hosts that share the wall's time nobody's timers run faster.
    pub fn settle_awake(&mut self, limit: u64) -> Result<Stop, WorldError> {
        self.advance(Some(limit), Idle::Awake)
    }

    /// Like [`settle`](Self::settle), and not beyond the limit to an arrival that comes later.
    pub fn step(&mut self, limit: u64) -> Result<Stop, WorldError> {
        self.advance(Some(limit), Idle::Stay)
    }

    fn advance(&mut self, deadline: Option<u64>, idle: Idle) -> Result<Stop, WorldError> {
        self.interrupted = false;
        let begin = self.time;
        loop {
            if deadline.is_some_and(|d| self.time >= d) {
                return Ok(Stop::Deadline);
            }
            if self.slots.iter().all(|s| s.idle(self.time)) {
                let arrivals = self.links.iter().filter_map(|(l, _)| l.next_arrival());
                let alarms = self.slots.iter().filter_map(|s| s.card.alarm());
                let arrival = arrivals.min();
                let alarm = alarms.min().map(|cycle| cycle.saturating_mul(CYCLE_NS));
                let held = self.slots.iter().filter_map(|s| s.held.due()).min();
                if let (Idle::Awake, Some(alarm)) = (idle, alarm) {
                    if alarm > self.time && arrival.is_none_or(|at| alarm < at) {
                        return Ok(Stop::Asleep(alarm));
                    }
                }
                let next = arrival
                    .into_iter()
                    .chain(alarm)
                    .chain(held)
                    .min()
                    .into_iter()
                    .chain(deadline.filter(|_| idle == Idle::Wait))
                    .min();
                let Some(next) = next else {
                    return Ok(Stop::Quiet);
                };
                let limit = deadline.filter(|_| idle == Idle::Stay);
                let next = limit.map_or(next, |limit| next.min(limit));
                if next > self.time {
                    // To the clock edge at or after it.
                    self.time = next.next_multiple_of(CYCLE_NS);
                    continue;
                }
            }
            self.cycle()?;
            if self.interrupted {
                return Ok(Stop::Interrupt);
            }
            if self.waiting && self.time >= begin + WAITING_CYCLES * CYCLE_NS {
                return Ok(Stop::Waiting);
            }
        }
    }

    /// Runs `cycles` cycles, idle or not.
    pub fn run_cycles(&mut self, cycles: u64) -> Result<(), WorldError> {
        let end = self.time + cycles * CYCLE_NS;
        while self.time < end {
            self.run(Some(end))?;
        }
        Ok(())
    }

    /// One cycle of everything.
    fn cycle(&mut self) -> Result<(), WorldError> {
        let time = self.time;
        let mut stored = Vec::new();
        for (number, (link, ends)) in self.links.iter_mut().enumerate() {
            while let Some(arrival) = link.arrived(time) {
                let Arrival { to, frame, bad } = arrival;
                match (ends[to], &mut self.outside) {
                    (Some(card), _) => self.slots[card].card.receive(frame, bad),
                    (None, _) if bad => {}
                    (None, _) if self.switch.is_some() => stored.push((number, frame)),
                    (None, Some(outside)) => outside.push((number, frame)),
                    (None, None) => {}
                }
            }
        }
        for (link, frame) in stored {
            self.forward(link, frame);
        }
        self.waiting = false;
        for (number, slot) in self.slots.iter_mut().enumerate() {
            while let Some(write) = slot.held.take(time) {
                slot.write(write);
            }
            if slot.idle(time) {
                continue;
            }
            slot.clocked += 1;
            slot.iommu.time = time;
            let (_, before) = slot.iommu.bytes();
            slot.card
                .cycle(time / CYCLE_NS, &mut slot.iommu, &mut self.events);
            if slot.written.is_some() && slot.iommu.bytes().1 != before {
                slot.written = Some(true);
                self.interrupted = true;
            }
            self.waiting |= slot.iommu.take_waited();
            for event in self.events.drain(..) {
                match event {
                    Event::Read(value) => slot.answer = Some(value),
                    Event::Interrupt(vector) => {
                        slot.pending |= bit(vector.into());
                        self.interrupted = true;
                    }
                    Event::Frame(frame) => {
                        if let Some((link, end)) = slot.link {
                            self.links[link].0.send(time + CYCLE_NS, end, frame);
                        }
                    }
                }
            }
            let stuck = || format!("a reset did not end within {RESET_LIMIT} cycles");
            if let Some(what) = slot.card.failure().or_else(|| slot.stuck.then(stuck)) {
                return Err(WorldError::Failure {
                    card: number,
                    name: slot.card.name(),
                    what,
                });
            }
        }
        self.time += CYCLE_NS;
        Ok(())
    }
}
