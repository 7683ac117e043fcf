//! The engine on the processor: it has the card, and works for the host by the queues in memory.

use alloc::boxed::Box;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use weft_engine::commands::{entry_of, outcome};
use weft_engine::{
    arrival, batch, on_card, Arrived, Clock, Engine, EngineConfig, HashSecret, QpId, SrqId,
};
use weft_layout::{
    proc_bell, proc_port, proc_started, reg, registers as of_card, CommandOpcode, ProcEngine,
    ProcInfo, ProcQueues, ReportKind, SegmentReport,
};
use weft_queues::{CommandRing, EventRing, FrameRing};

use crate::card::Card;
use crate::dma::Aligned;
use crate::host_memory::{self, Words};
use crate::queues::Served;
use crate::rings::{self, Rings, RAW_SLOT};
use crate::{info, log, ports, registers};

/// The bit of the host's bell for commands and events.
const RINGS: u32 = 1 << proc_bell::RINGS;
/// IdlePolls at the card until it is out of its reset.
const PATIENCE: u32 = 100_000;
/// Headers of Ethernet, IPv4 and TCP, and the shortest FPDU.
const SHORTEST_MESSAGE: u16 = 14 + 20 + 20 + 24;
/// Cycles of the timer at most.
const LONGEST: u32 = 1 << 31;
/// Bytes of the heap that this takes at most beside what the engine has in it.
pub const BYTES: usize = size_of::<Service>() + RAW_SLOT + Card::BYTES + Served::BYTES;

/// What the host writes into this memory.
#[repr(C, align(8))]
struct Record<const WORDS: usize>([AtomicU32; WORDS]);

impl<const WORDS: usize> Record<WORDS> {
    const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; WORDS])
    }

    fn read<const BYTES: usize>(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(&self.0) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        bytes
    }
}

/// A [`ProcEngine`], which the host writes.
static SETTINGS: Record<{ ProcEngine::SIZE / 4 }> = Record::new();
/// A [`ProcQueues`], likewise.
static QUEUES: Record<{ ProcQueues::SIZE / 4 }> = Record::new();

/// Where it is.
pub fn settings_at() -> u32 {
    &raw const SETTINGS as u32
}

/// Where that is.
pub fn queues_at() -> u32 {
    &raw const QUEUES as u32
}

/// The engine and all that it works with.
struct Service {
    engine: Box<Engine>,
    card: Card,
    memory: &'static Words,
    /// The command ring is to be looked at, though the bell says nothing.
    rang: bool,
    /// A turn has left reports or frames: the next one comes at once.
    more: bool,
    /// Nothing more is taken from the command ring: its tail says what cannot be.
    broken: bool,
    commands: CommandRing,
    events: EventRing,
    /// Where the event ring begins in the memory.
    events_at: &'static Words,
    taken: u32,
    written: u32,
    /// With the card's second port: frames of no flow come from the host, in this memory; those that did.
    frames: Option<(FrameRing, &'static Words)>,
    given: u32,
    served: Served,
    /// The card's, which names its frames' arrivals by it.
    clock: Clock,
    /// The cycle before which no report came that is not taken.
    since: u64,
    frame: Box<Aligned<RAW_SLOT>>,
}

struct Only(UnsafeCell<Option<Box<Service>>>);

// SAFETY: the processor has one thread, and nothing interrupts it.
unsafe impl Sync for Only {}

static SERVICE: Only = Only(UnsafeCell::new(None));

fn cycles() -> u64 {
    let low = ports::read(proc_port::TIME_LO);
    let high = ports::read(proc_port::TIME_HI);
    u64::from(high) << 32 | u64::from(low)
}

/// Makes an engine, which is large. What that takes of the stack is given back before the first turn: it is no part of a caller's frame.
#[inline(never)]
fn make(config: EngineConfig) -> Box<Engine> {
    Box::new(Engine::new(config))
}

/// Takes the card, as the host says: a value of [`proc_started`].
#[inline(never)]
pub fn start() -> u32 {
    // SAFETY: one thread; no reference to it is kept.
    let place = unsafe { &mut *SERVICE.0.get() };
    if place.is_some() {
        return proc_started::RUNNING.into();
    }
    match Service::new(&ProcEngine::from_bytes(&SETTINGS.read())) {
        Ok(service) => {
            *place = Some(service);
            log!("the engine has the card");
            proc_started::DONE.into()
        }
        Err(why) => {
            log!("the engine does not have the card: {why}");
            why.into()
        }
    }
}

/// A queue pair has its queues where the host says; `None`: they cannot be there.
pub fn add_queues() -> Option<()> {
    // SAFETY: as in `start`.
    let service = unsafe { &mut *SERVICE.0.get() }.as_mut()?;
    let record = ProcQueues::from_bytes(&QUEUES.read());
    service.served.add(&record, service.memory)
}

/// One turn, if the engine has the card. `bells`: what the host has rung for.
pub fn turn(bells: u32) {
    // SAFETY: as in `start`.
    if let Some(service) = unsafe { &mut *SERVICE.0.get() } {
        service.turn(bells);
    }
}

/// Whose receives a raw frame of so many bytes may be for: a flow's, or all (`Some(None)`) where the card did not find one; `None`: it is too short for a
/// message.
fn of_flow(report: &[u8; SegmentReport::SIZE], length: u16) -> Option<Option<u16>> {
    let segment = report[SegmentReport::KIND_AT] == ReportKind::Segment as u8;
    let flow = segment.then(|| SegmentReport::from_bytes(report).flow);
    (flow.is_some() || length >= SHORTEST_MESSAGE).then_some(flow)
}

/// Resets the card; false: it does not come back.
fn reset() -> bool {
    registers::write(of_card::CTRL, reg::Ctrl::default().with_reset(true));
    let at_rest = |status: reg::Status| !status.resetting() && status.quiescent();
    (0..PATIENCE).any(|_| at_rest(registers::read(of_card::STATUS)))
}

impl Service {
    fn new(settings: &ProcEngine) -> Result<Box<Self>, u8> {
        let (commands, events) = (settings.commands as usize, settings.events as usize);
        let rings = CommandRing::new(commands).zip(EventRing::new(events));
        let (commands, events) = rings.ok_or(proc_started::SETTINGS)?;
        // None, with the whole card.
        let frames = FrameRing::new(settings.frames.into());
        let second = frames.is_some();
        let frames_bytes = frames.map_or(0, |frames| frames.bytes());
        let queues = settings.queues_bytes as usize;
        let bytes = u64::from(settings.rings_bytes);
        let config = on_card::configuration(settings).ok_or(proc_started::SETTINGS)?;
        if settings.rings % 4096 != 0
            || settings.queues % 64 != 0
            || bytes < rings::BYTES
            || queues < commands.bytes() + events.bytes() + frames_bytes
        {
            return Err(proc_started::SETTINGS);
        }
        if second {
            let slots = registers::read(of_card::RAW_LOG2).slot();
            if registers::read(of_card::PORTS) < 2 || slots != rings::RAW_SLOT_LOG2 {
                return Err(proc_started::CARD);
            }
            registers::use_second_port();
        } else if !reset() {
            return Err(proc_started::CARD);
        }
        let caps = registers::read(of_card::CAPS);
        // All of them: where a flow's key is in the card's table depends on how many there are.
        let flows = u16::try_from(1_u32 << caps.flows_log2()).map_err(|_| proc_started::CARD)?;
        let stags = 1_u32 << caps.stags_log2();
        if flows > on_card::FLOWS || stags > on_card::STAGS {
            // There is no memory for its tables.
            return Err(proc_started::CARD);
        }
        // Both ports' rows are in one table, by one hash: its secret comes from who has the first port.
        let hash_secret = match second {
            true => HashSecret([0, 1, 2, 3].map(|n| registers::read(of_card::HASH_SECRET.word(n)))),
            false => config.seed.hash_secret(),
        };
        if !second {
            for (register, word) in of_card::HASH_SECRET.words().zip(hash_secret.0) {
                registers::write(register, word);
            }
            let [m0, m1, m2, m3, m4, m5] = settings.mac;
            registers::write(of_card::MTU, rings::MAX_FRAME.into());
            registers::write(of_card::MAC_LO, u32::from_le_bytes([m0, m1, m2, m3]));
            let high = reg::MacHi::default().with_mac(u16::from_le_bytes([m4, m5]));
            registers::write(of_card::MAC_HI, high);
        }
        let replay = registers::read(of_card::JOB_REPLAY);
        let replay = u16::try_from(replay).unwrap_or(u16::MAX);
        let engine = make(EngineConfig {
            num_flows: flows,
            num_stags: stags,
            replay: config.replay.min(replay),
            hash_secret,
            ..config
        });
        let memory = (settings.rings, settings.rings + bytes);
        let card = Card::new(Rings::new(settings.rings), memory, flows);
        if !second {
            registers::write(
                of_card::CTRL,
                reg::Ctrl::default().with_jobs(true).with_receive(true),
            );
        }
        let words = host_memory::open(settings.queues, queues);
        let part = |at: usize, bytes: usize| {
            let part = weft_queues::Memory::part(words, at / 8, bytes / 8);
            part.ok_or(proc_started::SETTINGS)
        };
        let events_at = part(commands.bytes(), events.bytes())?;
        let frames_at = part(commands.bytes() + events.bytes(), frames_bytes)?;
        ports::write(proc_port::REPORTS, if second { 2 } else { 1 });
        let clock = Clock::new(registers::read(of_card::CLOCK_KHZ));
        Ok(Box::new(Self {
            engine,
            card,
            memory: words,
            rang: false,
            more: false,
            broken: false,
            commands,
            events,
            events_at,
            taken: 0,
            written: 0,
            frames: frames.map(|frames| (frames, frames_at)),
            given: 0,
            served: Served::new(),
            clock,
            since: cycles(),
            frame: Box::new(Aligned([0; RAW_SLOT])),
        }))
    }

    /// The engine's time: nanoseconds.
    fn now(&self) -> u64 {
        self.clock.nanoseconds(cycles())
    }

    /// What came, what is due, what was commanded, and what there is to tell.
    fn turn(&mut self, bells: u32) {
        info::count(ProcInfo::TURNS_AT);
        self.served.rung(bells);
        let mut more = self.take_reports();
        if self.more || bells & RINGS != 0 {
            more |= self.take_frames();
        }
        self.more = more;
        let now = self.now();
        if self.engine.next_deadline().is_some_and(|at| at <= now) {
            self.engine.on_timer(now, &mut self.card);
        }
        let mut woken = (self.rang || bells & RINGS != 0) && self.take_commands();
        // What completes makes room for what could not be taken.
        let now = loop {
            let now = self.now();
            self.served.take(now, &mut self.engine, &mut self.card);
            self.card.ring();
            let (completed, wanted) = self.served.complete(&mut self.engine);
            woken |= wanted;
            if completed == 0 || !self.served.is_left() {
                break now;
            }
            ports::beat();
        };
        let Ok(()) = self.engine.return_slots(now, &mut self.card);
        self.card.ring();
        woken |= self.put_events();
        host_memory::flush();
        if woken {
            ports::write(proc_port::INTERRUPT, 0);
        }
        let refused = host_memory::take_failed().then_some(rings::REFUSED);
        if let Some(why) = self.card.rings.fault().or(refused) {
            panic!("{why}");
        }
        info::set(ProcInfo::JOBS_AT, self.card.rings.posted());
        self.card.rings.arm();
        self.set_alarm();
        self.tell_counts();
        info::set(ProcInfo::INSTRUCTIONS_AT, ports::instructions());
    }

    fn tell_counts(&self) {
        let stats = self.engine.stats();
        let copied = self.card.fetched.wrapping_add(stats.bytes_copied as u32);
        info::set(ProcInfo::COPIED_AT, copied);
        info::set(ProcInfo::CHECKED_AT, stats.bytes_checked as u32);
        info::set(ProcInfo::AGAIN_AT, stats.retransmits as u32);
    }

    /// Some of the reports that came: who sends without end leaves time for everything else. True: there may be more.
    fn take_reports(&mut self) -> bool {
        let more = batch::some(batch::REPORTS, || self.take_report());
        info::set(ProcInfo::REPORTS_AT, self.card.rings.reports());
        more
    }

    /// False: there is none.
    fn take_report(&mut self) -> bool {
        let mut report = Aligned([0; 64]);
        let Some(raw) = self.card.rings.take(&mut report.0) else {
            self.since = cycles();
            return false;
        };
        let cycle = cycles();
        let now = self.clock.nanoseconds(cycle);
        let arrived = arrival(&report.0).map_or(Arrived::Now, |arrival| {
            self.clock.arrived(arrival, &mut self.since, cycle)
        });
        // It may be a message for a receive that was posted before it came.
        if let Some(flow) = raw.and_then(|(_, length)| of_flow(&report.0, length)) {
            self.served
                .take_recvs(now, flow, &mut self.engine, &mut self.card);
        }
        let (engine, card) = (&mut self.engine, &mut self.card);
        let Ok(_) = engine.take_report((now, arrived), &report.0, raw, &mut *self.frame, card);
        let Ok(()) = engine.return_slots(now, card);
        card.ring();
        ports::beat();
        true
    }

    /// Some of the frames of no flow that the host has for this port. True: there may be more.
    fn take_frames(&mut self) -> bool {
        batch::some(batch::FRAMES, || self.take_frame())
    }

    fn take_frame(&mut self) -> bool {
        let Some((ring, memory)) = self.frames else {
            return false;
        };
        let Some(length) = ring.get(memory, self.given, &mut self.frame.0) else {
            return false;
        };
        self.given = self.given.wrapping_add(1);
        ring.taken(memory, self.given);
        let now = self.now();
        let frame = &self.frame.0[..length];
        self.engine.on_given_frame(now, frame, &mut self.card);
        self.card.ring();
        ports::beat();
        true
    }

    /// Has all commands done that were posted. True: the host is to be woken.
    fn take_commands(&mut self) -> bool {
        let (before, mut woken) = (self.taken, false);
        while !self.broken && self.taken.wrapping_sub(before) < self.commands.capacity() {
            let taken = match self.commands.take(self.memory, self.taken) {
                None => break,
                Some(Ok(taken)) => taken,
                Some(Err(bad)) => {
                    log!("{bad}");
                    self.broken = true;
                    break;
                }
            };
            let now = self.now();
            // A command is done behind all that was posted before it, and so rung for.
            self.served.rung(ports::read(proc_port::BELL));
            self.served.take(now, &mut self.engine, &mut self.card);
            self.served.take_shared(&mut self.engine);
            let data = taken.private_data();
            let answer = self
                .engine
                .execute(now, &taken.command, data, &mut self.card);
            self.card.ring();
            let gone = taken.command.opcode().ok();
            let gone = gone.filter(|_| outcome(&answer).is_ok());
            if let Some(CommandOpcode::DestroyQp | CommandOpcode::DestroySrq) = gone {
                // What was taken of a shared receive queue is told before the answer.
                woken |= self.served.complete(&mut self.engine).1;
            }
            match gone {
                Some(CommandOpcode::DestroyQp) => {
                    self.served.remove(QpId::from_number(taken.command.qp));
                }
                Some(CommandOpcode::DestroySrq) => {
                    let srq = SrqId::from_number(taken.command.srq);
                    self.served.remove_shared(srq);
                }
                _ => {}
            }
            // Who has the answer may ask whether all of these are done.
            info::set(ProcInfo::JOBS_AT, self.card.rings.posted());
            self.commands.put_answer(self.memory, self.taken, answer);
            self.taken = self.taken.wrapping_add(1);
            ports::beat();
        }
        // The bell may have been taken for what is still there.
        self.rang = self.taken.wrapping_sub(before) >= self.commands.capacity();
        (self.taken != before && self.commands.disarm(self.memory)) || woken
    }

    /// Writes events as long as there is room for them. True: the host is to be woken.
    fn put_events(&mut self) -> bool {
        let before = self.written;
        while let Some(event) = {
            // Asked only if there is one: it is a read of host memory.
            let next = self.engine.has_event();
            let room = next && self.events.has_room(self.events_at, self.written);
            room.then(|| self.engine.poll_event()).flatten()
        } {
            let (entry, data) = entry_of(&event);
            self.events.put(self.events_at, self.written, entry, data);
            self.written = self.written.wrapping_add(1);
        }
        self.written != before && self.events.disarm(self.events_at)
    }

    /// The timer goes off when something is due.
    fn set_alarm(&self) {
        if self.rang || self.more {
            return ports::write(proc_port::ALARM, 1);
        }
        let Some(at) = self.engine.next_deadline() else {
            return ports::write(proc_port::ALARM, 0);
        };
        let wait = at.saturating_sub(self.now());
        ports::write(proc_port::ALARM, self.clock.cycles(wait, LONGEST));
    }
}
