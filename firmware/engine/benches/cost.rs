//! What the engine costs: instructions for a segment received and for one sent, counted by callgrind, and memory of a connection
//! that is idle, counted by the allocator. `cargo bench -p weft-engine --bench cost` prints the table; with `-- --gate` a
//! figure above its bar fails. With `-- --time` it prints what these instructions take on this machine, and how many a cycle does.
//!
//! Two engines move Writes of 1 MiB, 16 deep, over a link of 100 Gb/s and 5 µs each way; the card is the tests' one. Counted is
//! what the driver calls, and nothing else: for each frame `on_report` with its reports, then the events, the completions, the
//! next deadline and what is due; on the sending side the posting as well.

#[path = "../tests/bench/mod.rs"]
mod bench;
#[path = "cost/time.rs"]
mod time;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use bench::card::{Card, Report};
use bench::{sge, write, Bench, Host, MS, US};
use weft_engine::*;

/// Bytes that engines hold, and how often they asked for some.
static HELD: AtomicI64 = AtomicI64::new(0);
static ASKED: AtomicU64 = AtomicU64::new(0);
static INSIDE: AtomicBool = AtomicBool::new(false);

/// The system's allocator; it counts what engines take and give back.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; beside that only numbers change.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if INSIDE.load(Relaxed) {
            HELD.fetch_add(layout.size() as i64, Relaxed);
            ASKED.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if INSIDE.load(Relaxed) {
            HELD.fetch_sub(layout.size() as i64, Relaxed);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MESSAGE: u32 = 1 << 20;
const DEEP: u64 = 16;

/// The other host's frames, in the order of their arrival.
type Queue = BinaryHeap<Reverse<(u64, u64, usize, Vec<u8>)>>;

struct World {
    now: u64,
    hosts: [Host; 2],
    wire: Queue,
    count: u64,
    /// When the link is free.
    free: [u64; 2],
    due: [Option<u64>; 2],
    /// Frames of a thousand that are lost.
    loss: u32,
    random: u64,
    /// Data segments that host 0 has sent.
    sent: u64,
    /// The host whose work is counted now.
    counted: Option<usize>,
    done: u64,
    qps: Vec<[QpId; 2]>,
    /// ORD and IRD of new connections.
    reads: u16,
    /// Whether they have CRCs.
    crc: bool,
}

/// What a driver does between two reports.
fn rest(host: &mut Host, now: u64) -> Option<u64> {
    while let Some(event) = host.engine.poll_event() {
        host.events.push(event);
    }
    while let Some(completion) = host.engine.poll_completion() {
        host.completions.push(completion);
    }
    let due = host.engine.next_deadline();
    if due.is_some_and(|at| at <= now) {
        host.engine.on_timer(now, &mut host.card);
        return host.engine.next_deadline();
    }
    due
}

/// A call of the engine.
enum Step<'a> {
    /// Reports, and what follows.
    Reports(&'a [Report]),
    Post(QpId, &'a SendWr<'a>),
}

#[inline(always)]
fn engine(host: &mut Host, now: u64, step: &Step<'_>) -> Option<u64> {
    match step {
        Step::Reports(reports) => {
            for (report, raw) in *reports {
                host.engine
                    .on_report(now, report, raw.as_deref(), &mut host.card);
            }
            rest(host, now)
        }
        Step::Post(qp, wr) => {
            host.engine.post_send(now, *qp, wr, &mut host.card).unwrap();
            None
        }
    }
}

/// Callgrind counts in here only.
#[inline(never)]
fn weft_cost_counted(host: &mut Host, now: u64, step: &Step<'_>) -> Option<u64> {
    black_box(());
    engine(host, now, step)
}

#[inline(never)]
fn not_counted(host: &mut Host, now: u64, step: &Step<'_>) -> Option<u64> {
    engine(host, now, step)
}

impl World {
    fn new(change: &dyn Fn(&mut EngineConfig)) -> Self {
        let bench = Bench::with(1, &|config| {
            (config.num_flows, config.max_connections) = (64, Some(64));
            change(config);
        });
        World {
            now: 0,
            hosts: bench.hosts,
            wire: Queue::new(),
            count: 0,
            free: [0; 2],
            due: [None; 2],
            loss: 0,
            random: 1,
            sent: 0,
            counted: None,
            done: 0,
            qps: Vec::new(),
            reads: 16,
            crc: false,
        }
    }

    fn step(&mut self, n: usize, step: Step<'_>) -> Option<u64> {
        let host = &mut self.hosts[n];
        host.events.reserve(8);
        host.completions.reserve(64);
        INSIDE.store(true, Relaxed);
        let due = if self.counted == Some(n) {
            time::timed(|| weft_cost_counted(host, self.now, &step))
        } else {
            not_counted(host, self.now, &step)
        };
        INSIDE.store(false, Relaxed);
        due
    }

    /// A call that is no data.
    fn call<R>(&mut self, n: usize, f: impl FnOnce(&mut Engine, u64, &mut Card) -> R) -> R {
        let host = &mut self.hosts[n];
        INSIDE.store(true, Relaxed);
        let result = f(&mut host.engine, self.now, &mut host.card);
        INSIDE.store(false, Relaxed);
        self.settle(n);
        result
    }

    /// The engine's events and timers, and what its card sends.
    fn settle(&mut self, n: usize) {
        loop {
            let card = &mut self.hosts[n].card;
            let reports: Vec<Report> = std::iter::from_fn(|| card.take_report()).collect();
            self.due[n] = self.step(n, Step::Reports(&reports));
            self.hosts[n].card.run_jobs();
            for frame in std::mem::take(&mut self.hosts[n].card.out) {
                self.send(n, frame);
            }
            if self.hosts[n].card.reports.is_empty() {
                return;
            }
        }
    }

    fn send(&mut self, from: usize, frame: Vec<u8>) {
        let start = self.free[from].max(self.now);
        self.free[from] = start + (frame.len() as u64 + 24) * 8 / 100;
        self.sent += u64::from(from == 0 && frame.len() > 500);
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        if (self.random >> 33) % 1000 < u64::from(self.loss) {
            return;
        }
        self.count += 1;
        let at = self.free[from] + 5 * US;
        self.wire.push(Reverse((at, self.count, 1 - from, frame)));
    }

    /// The next thing that happens; false: nothing ever will.
    fn turn(&mut self) -> bool {
        let timer = self.due.into_iter().flatten().min();
        let frame = self.wire.peek().map(|Reverse((at, ..))| *at);
        match (frame, timer) {
            (Some(at), timer) if timer.is_none_or(|timer| at <= timer) => {
                let Some(Reverse((_, _, n, frame))) = self.wire.pop() else {
                    return false;
                };
                self.now = self.now.max(at);
                self.hosts[n].card.receive(&frame);
                self.settle(n);
            }
            (_, Some(timer)) => {
                self.now = self.now.max(timer);
                for n in 0..2 {
                    if self.due[n].is_some_and(|at| at <= self.now) {
                        self.settle(n);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn until(&mut self, what: impl Fn(&World) -> bool) {
        while !what(self) {
            assert!(self.turn(), "nothing is left to do");
        }
    }

    fn wait(&mut self, time: u64) {
        let end = self.now + time;
        self.until(|world| {
            let frame = world.wire.peek().map(|Reverse((at, ..))| *at);
            let next = world.due.into_iter().flatten().chain(frame).min();
            next.is_none_or(|at| at > end)
        });
        self.now = end;
    }

    fn make_qps(&mut self, count: usize) {
        INSIDE.store(true, Relaxed);
        self.qps = (0..count)
            .map(|_| [self.hosts[0].qp(), self.hosts[1].qp()])
            .collect();
        INSIDE.store(false, Relaxed);
    }

    fn connect(&mut self, qps: [QpId; 2]) {
        let _ = self.call(1, |e, _, _| e.listen(4791, 8));
        let ip = self.hosts[1].engine.config().ip;
        // The tests' card is slow at CRCs. The engine does not see them, unless it computes them itself.
        let params = ConnectParams {
            remote: Endpoint { ip, port: 4791 },
            crc: self.crc,
            ird: self.reads,
            ord: self.reads,
            ..ConnectParams::default()
        };
        self.call(0, |e, now, card| e.connect(now, qps[0], &params, card))
            .unwrap();
        self.until(|world| !world.hosts[1].events.is_empty());
        let Some(Event::ConnectRequest { conn, .. }) = self.hosts[1].take_event() else {
            panic!("no request");
        };
        let params = AcceptParams {
            crc: self.crc,
            ird: self.reads,
            ord: self.reads,
            ..AcceptParams::default()
        };
        self.call(1, |e, now, card| e.accept(now, conn, qps[1], &params, card))
            .unwrap();
        for n in 0..2 {
            self.until(|world| !world.hosts[n].events.is_empty());
            let event = self.hosts[n].take_event();
            assert!(matches!(event, Some(Event::Established { .. })));
        }
    }

    /// Writes of 1 MiB until so many segments more were sent; so many of them the counted side has sent, or received.
    fn write(&mut self, qp: QpId, [from, to]: [u32; 2], segments: u64, side: Option<usize>) -> u64 {
        let sges = [sge(from, 0, MESSAGE)];
        let moved = |world: &World| match side {
            Some(1) => world.hosts[1].engine.stats().segments,
            _ => world.sent,
        };
        let (begin, end, mut posted) = (moved(self), self.sent + segments, self.done);
        self.counted = side;
        while self.sent < end {
            while posted < self.done + DEEP {
                let wr = write(posted, to, 0x1000, &sges);
                self.step(0, Step::Post(qp, &wr));
                posted += 1;
            }
            self.settle(0);
            self.until(|world| !world.hosts[0].completions.is_empty() || world.sent >= end);
            for completion in self.hosts[0].completions.drain(..) {
                assert_eq!(completion.status, Status::Success);
                self.done += 1;
            }
        }
        // What is left goes without being counted.
        self.counted = None;
        let counted = moved(self) - begin;
        self.until(|world| world.hosts[0].completions.len() as u64 + world.done >= posted);
        self.done = posted;
        self.hosts[0].completions.clear();
        counted
    }
}

/// The scenes, each in a process of its own.
struct Scene {
    name: &'static str,
    title: &'static str,
    loss: u32,
    idle: usize,
    rung: Rung,
    /// Of a segment sent, and of one received.
    bars: [i64; 2],
}

const SCENES: [Scene; 4] = [
    Scene {
        name: "steady",
        title: "one flow",
        loss: 0,
        idle: 0,
        rung: Rung::Placement,
        bars: [SENT, RECEIVED],
    },
    Scene {
        name: "idle",
        title: "one flow beside 48 that are idle",
        loss: 0,
        idle: 48,
        rung: Rung::Placement,
        bars: [SENT, RECEIVED],
    },
    Scene {
        name: "loss",
        title: "one flow, 1 % of frames lost both ways",
        loss: 10,
        idle: 0,
        rung: Rung::Placement,
        bars: [i64::MAX; 2],
    },
    Scene {
        name: "host",
        title: "one flow at rung host: framed, checked and copied here",
        loss: 0,
        idle: 0,
        rung: Rung::Host,
        bars: [i64::MAX; 2],
    },
];
const RECEIVED: i64 = 500;
const SENT: i64 = 300;
const IDLE: i64 = 2048;
/// Segments before those that are counted.
const WARM: u64 = 1500;
const COUNTED: u64 = 1500;

/// One side of a scene, under callgrind; how many segments were counted.
fn scene(scene: &Scene, side: usize) -> u64 {
    let mut world = World::new(&|config| config.rung = scene.rung);
    world.crc = scene.rung == Rung::Host;
    world.make_qps(scene.idle + 1);
    let all = world.qps.clone();
    all.iter().for_each(|qps| world.connect(*qps));
    let qps = all[scene.idle];
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let regions = [0, 1].map(|n: usize| world.hosts[n].region(u64::from(MESSAGE), access).0);
    world.loss = scene.loss;
    world.write(qps[0], regions, WARM, None);
    world.write(qps[0], regions, COUNTED, Some(side))
}

/// The instructions that callgrind counts for each segment of a side of a scene.
fn count(scene: &Scene, side: usize) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // Environment (tests): `WEFT_COST_OUT`: `make cost`: the file that callgrind writes its profile to. Without it: none is kept.
    let out = std::env::var("WEFT_COST_OUT").unwrap_or("/dev/null".into());
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg("--toggle-collect=*weft_cost_counted*")
        .arg(format!("--callgrind-out-file={out}"))
        .arg(own)
        .args(["--scene", scene.name, ["sent", "received"][side]])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let number = |text: &[u8], before: &str| {
        let text = String::from_utf8_lossy(text).into_owned();
        let (_, rest) = text.split_once(before)?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    let segments = number(&output.stdout, "segments ");
    let instructions = number(&output.stderr, "Collected : ");
    match (instructions, segments) {
        (Some(instructions), Some(segments)) => Ok(instructions / segments.max(1)),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Bytes that an engine holds for a connection: just established, and when it has moved a message, a second later. Queue pairs
/// are made before.
fn idle_memory(reads: u16) -> [i64; 2] {
    const COUNT: usize = 48;
    let mut world = World::new(&|_| ());
    world.reads = reads;
    world.make_qps(COUNT + 1);
    let all = world.qps.clone();
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let regions = [0, 1].map(|n: usize| world.hosts[n].region(u64::from(MESSAGE), access).0);
    // What the first one brings about stays with the engine.
    world.connect(all[0]);
    world.write(all[0][0], regions, 1, None);
    world.wait(1000 * MS);
    let before = HELD.load(Relaxed);
    for qps in &all[1..] {
        world.connect(*qps);
    }
    world.wait(1000 * MS);
    let fresh = HELD.load(Relaxed);
    for qps in &all[1..] {
        world.write(qps[0], regions, 1, None);
    }
    world.wait(1000 * MS);
    let used = HELD.load(Relaxed);
    [fresh, used].map(|held| (held - before) / (2 * COUNT as i64))
}

/// Requests for memory while data moves: none.
fn asked() -> u64 {
    let mut world = World::new(&|_| ());
    world.make_qps(1);
    let qps = world.qps[0];
    world.connect(qps);
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let regions = [0, 1].map(|n: usize| world.hosts[n].region(u64::from(MESSAGE), access).0);
    world.write(qps[0], regions, WARM, None);
    let before = ASKED.load(Relaxed);
    world.write(qps[0], regions, COUNTED, None);
    ASKED.load(Relaxed) - before
}

/// What a simulated host is charged for a segment at one instruction a cycle, beside what it takes here.
fn times() -> Result<(), String> {
    let ghz = time::clock_ghz();
    println!("clock {ghz:.2} GHz\n");
    println!(
        "{:<62} {:>12} {:>8} {:>8} {:>6} {:>22}",
        "segment", "instructions", "ns", "cycles", "IPC", "charged at an IPC of 1"
    );
    for found in &SCENES {
        for side in [1, 0] {
            let instructions = count(found, side)? as f64;
            let ns = time::quickest(|| scene(found, side));
            let (cycles, what) = (ns * ghz, ["sent", "received"][side]);
            println!(
                "{:<62} {instructions:>12.0} {ns:>8.1} {cycles:>8.0} {:>6.2} {:>+20.0} %",
                format!("{what}: {}", found.title),
                instructions / cycles,
                100.0 * (instructions / cycles - 1.0)
            );
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--time") {
        return match times() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    if let Some([_, name, side]) = args.get(..3) {
        if let Some(found) = SCENES.iter().find(|scene| scene.name == name) {
            println!("segments {}", scene(found, usize::from(side == "received")));
        }
        return ExitCode::SUCCESS;
    }
    let gate = args.iter().any(|arg| arg == "--gate");
    let mut over = false;
    let mut line = |what: &str, value: i64, bar: i64| {
        let is_over = value > bar;
        over |= is_over;
        let bar = match bar {
            i64::MAX => String::new(),
            bar => format!("{bar:>6}"),
        };
        let mark = if is_over { " (!)" } else { "" };
        println!("{what:<62} {value:>8} {bar}{mark}");
    };
    println!("{:<62} {:>8} {:>6}", "", "", "bar");
    for scene in &SCENES {
        for side in [1, 0] {
            let what = ["sent", "received"][side];
            let title = format!("instructions, segment {what}: {}", scene.title);
            match count(scene, side) {
                Ok(value) => line(&title, value as i64, scene.bars[side]),
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    // Reads under way are a queue of the queue pair's, as long as was agreed: one entry is what comes nearest to none.
    for (reads, bar) in [(1, IDLE), (16, i64::MAX)] {
        let [fresh, used] = idle_memory(reads);
        let title = format!("bytes, idle connection, ORD and IRD {reads}");
        line(&title, fresh, bar);
        line(&format!("{title}, used before"), used, bar);
    }
    line(
        "requests for memory while 1500 segments move",
        asked() as i64,
        0,
    );
    ExitCode::from(u8::from(gate && over))
}
