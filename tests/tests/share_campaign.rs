//! Hostile clients of a broker, one a seed: each message mutated, all that was lent written over, descriptors of every kind sent along, gone at any moment.
//! Beside each an honest client works as fast as it does alone, and after each the broker answers a new one, and nothing is left.
//!
//! `WEFT_HOSTILE_SEEDS=100000 cargo test -p weft-tests --test stack share_campaign` is the campaign; `WEFT_HOSTILE_FIRST`: the first seed.

use std::fs::File;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{Mode, OFlags};
use weft_hostdrv::cm::{CmEventType, CmId, CmState, ConnParam};
use weft_hostdrv::transport::queue_memory::QueueMemory;
use weft_hostdrv::unstable::control::Command;
use weft_hostdrv::unstable::SharedControl;
use weft_hostdrv::verbs::ControlTerms;
use weft_share::Limits;
use weft_tests::clients::{broker_scene, Honest, RawClient, Scene};
use weft_tests::ends::no_faults;
use weft_tests::left_out_on_card;
use weft_tests::lingering::lingering;

/// Seeds of a run that nobody asked for more.
const SEEDS: u64 = 400;
/// The most that one does.
const STEPS: usize = 14;

const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
const EXTENSIONS: u64 = u64::from_be_bytes(*b"weft-ext");

/// Requests as they should be, of which words are changed.
const REQUESTS: [[u64; 8]; 25] = [
    [HELLO, 1, 6, 0, 0, 0, 0, 0],
    [EXTENSIONS, 0, 0, 0, 0, 0, 0, 0],
    [1, 16, 16, 1, 1, 0, 32, 0],
    [1, 16, 1, 1, 1, 64, 32, 1],
    [2, 8192, 1, 0, 0, 0, 0, 0],
    [3, 1, 0, 0, 0, 0, 0, 0],
    [4, 0, 8, 1, 16, 0, 0, 0],
    [5, 0, 0, 0, 0, 0, 0, 0],
    [6, 0, 0, 0, 0, 0, 0, 0],
    [7, 1, 0x61, 0, 0, 0, 0, 0],
    [9, 0, 0, 0, 0, 0, 0, 0],
    [10, 2, 0, 0, 0, 0, 0, 0],
    [11, 2, 16 | 16 << 32, 1 | 1 << 32, 0, 32, 0, 0],
    [12, 1, 0, 0, 0, 0, 0, 0],
    [13, 2, 8, 1, 0, 0, 0, 0],
    [14, 1, 0, 0, 0, 0, 0, 0],
    [15, 1 << 21, 4096, 1 << 21, 4096, 0, 0, 0],
    [16, 1 << 21, 0, 0, 0, 0, 0, 0],
    [11, 2, 16 | 16 << 32, 1 | 1 << 32, 0, 32, 0, 1],
    [17, 1, 0, 0, 0, 0, 0, 0],
    [17, 1, 1, 7, 8, 0, 0, 0],
    [18, 0, 0, 0, 0, 0, 0, 0],
    [19, 0, 2, 8, 1, 0, 0, 0],
    [20, 0, 2, 0, 0, 0, 0, 0],
    [21, 4096, 1, 0, 0, 0, 0, 0],
];

fn number(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..5) {
        0 => 0,
        1 => random.random_range(0..64),
        2 => 1 << random.random_range(0..64),
        3 => u64::MAX - random.random_range(0..4),
        _ => random.random(),
    }
}

/// What an honest client does, one Write after the other, and how long that takes in the card's time.
struct Beside {
    scene: Scene,
    honest: Honest,
    under_way: bool,
    writes: u64,
    ns: u64,
}

impl Beside {
    fn new(mut scene: Scene) -> Self {
        let mut honest = scene.honest();
        honest.work(&mut scene);
        Self {
            scene,
            honest,
            under_way: false,
            writes: 0,
            ns: 0,
        }
    }

    fn now(&self) -> u64 {
        self.scene.bench.device(0).now()
    }

    fn turn(&mut self) {
        if !self.under_way {
            self.honest.post(&self.scene).expect("room");
            self.under_way = true;
        }
        let before = self.now();
        self.scene.turn();
        self.ns += self.now() - before;
        if let Some(cqe) = self.honest.qp.queues.poll() {
            assert_eq!(cqe.status, 0, "{cqe:?}");
            self.under_way = false;
            self.writes += 1;
        }
    }

    /// What is under way ends.
    fn settle(&mut self) {
        while self.under_way {
            self.turn();
        }
    }

    /// Nanoseconds of a Write since this was asked last.
    fn pace(&mut self) -> f64 {
        let pace = self.ns as f64 / self.writes as f64;
        (self.writes, self.ns) = (0, 0);
        pace
    }
}

/// Somebody who means harm.
struct Hostile {
    client: RawClient,
    /// What it was lent.
    lent: Vec<QueueMemory>,
    files: Vec<OwnedFd>,
    control: Option<SharedControl>,
    /// The other ends of descriptors that linger.
    held: Vec<TcpStream>,
}

impl Hostile {
    /// Something to be sent along.
    fn descriptor(&mut self, random: &mut ChaCha8Rng) -> OwnedFd {
        match random.random_range(0..40) {
            0 => {
                let (socket, other) = lingering();
                self.held.push(other);
                socket
            }
            1..10 => rustix::fs::open("/", OFlags::PATH, Mode::empty()).expect("a path"),
            10..20 => UnixStream::pair().expect("a pair").0.into(),
            20..30 => File::open("/dev/null").expect("a file").into(),
            _ => match self.files.last() {
                Some(file) => file.try_clone().expect("a file"),
                None => File::open("/dev/zero").expect("a file").into(),
            },
        }
    }

    /// Asks, and takes what it is given.
    fn ask(&mut self, beside: &mut Beside, random: &mut ChaCha8Rng) {
        let mut request = REQUESTS[random.random_range(0..REQUESTS.len())];
        for _ in 0..random.random_range(0..3) {
            request[random.random_range(0..8)] = number(random);
        }
        let sent: Vec<OwnedFd> = match random.random_range(0..3) {
            0 => (0..random.random_range(1..4))
                .map(|_| self.descriptor(random))
                .collect(),
            _ => Vec::new(),
        };
        let files: Vec<BorrowedFd<'_>> = sent.iter().map(AsFd::as_fd).collect();
        match random.random_range(0..12) {
            0 => {
                let bytes: Vec<u8> = (0..random.random_range(1..200))
                    .map(|_| random.random())
                    .collect();
                self.client.send_bytes(&bytes, &files);
            }
            1 => self
                .client
                .send(&request[..random.random_range(1..8)], &files),
            _ => self.client.send(&request, &files),
        }
        drop(files);
        // Whoever lets go last may wait.
        match self.held.is_empty() {
            true => drop(sent),
            false => drop(std::thread::spawn(move || drop(sent))),
        }
        for _ in 0..random.random_range(0..30) {
            beside.turn();
            std::thread::yield_now();
            match self.client.answer() {
                Ok(None) => {}
                Ok(Some((status, words, files))) => {
                    return self.keep(request, status, words, files)
                }
                Err(_) => return,
            }
        }
    }

    fn keep(&mut self, request: [u64; 8], status: u64, words: [u64; 16], files: Vec<OwnedFd>) {
        if status != 0 {
            return;
        }
        let copy = |file: &OwnedFd| file.try_clone().expect("a file");
        if let (HELLO, [commands, events, ..]) = (request[0], &files[..]) {
            let terms = ControlTerms {
                commands: words[0] as u32,
                events: words[1] as u32,
            };
            self.control = SharedControl::open([copy(commands), copy(events)], terms).ok();
        }
        // The bell of a line is no memory.
        let mapped = files.iter().map(|file| QueueMemory::map(copy(file)));
        self.lent.extend(mapped.filter_map(Result::ok));
        self.files.extend(files);
    }

    /// Writes over what it was lent.
    fn scribble(&self, random: &mut ChaCha8Rng) {
        let Some(memory) = random_of(&self.lent, random) else {
            return;
        };
        let words = memory.words();
        if words.is_empty() {
            // Less than a word.
            return;
        }
        for _ in 0..random.random_range(1..40) {
            // Doorbells and tails lie in front.
            let reach = match random.random() {
                true => words.len().min(32),
                false => words.len(),
            };
            words[random.random_range(0..reach)].store(number(random), Ordering::SeqCst);
        }
    }

    fn command(&mut self, random: &mut ChaCha8Rng) {
        let Some(control) = &mut self.control else {
            return;
        };
        let mut small = |most: u32| random.random_range(0..most);
        let command = Command {
            opcode: small(40) as u8,
            qp: small(64) | small(4) << 16,
            pd: small(8),
            conn: u64::from(small(16)) | u64::from(small(4)) << 16,
            iova: u64::from(small(1 << 20)),
            region_length: u64::from(small(1 << 14)),
            access: small(32) as u8,
            stag: small(1 << 16),
            state: small(8) as u8,
            port: [0, 80, 4791, 5000, 5001][small(5) as usize],
            backlog: small(100),
            remote_ip: [10, 0, 0, small(4) as u8],
            remote_port: [4791, 5000][small(2) as usize],
            revision: small(3) as u8,
            rtr: small(8) as u8,
            ..Command::default()
        };
        let _ = control.post(&command, &[7; 20]);
        while control.answer().is_some() || control.take_event().is_some() {}
    }
}

fn random_of<'a, T>(all: &'a [T], random: &mut ChaCha8Rng) -> Option<&'a T> {
    match all.len() {
        0 => None,
        some => all.get(random.random_range(0..some)),
    }
}

/// The peer answers who comes, one way or another.
fn answer_peer(scene: &mut Scene, kept: &mut Vec<CmId>, random: &mut ChaCha8Rng) {
    while let Some(event) = scene.peer_event() {
        match event.event {
            CmEventType::ConnectRequest if random.random_range(0..2) == 0 => {
                kept.push(scene.peer.accept(event.id, &ConnParam::default()));
            }
            _ => kept.retain(|id| id.state() != CmState::Closed),
        }
    }
}

fn asked(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(usual)
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// In a process of its own, whose open files are counted.
#[test]
fn hostile_clients() {
    if left_out_on_card("hostile_clients", "nothing is lent") {
        return;
    }
    let status = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "share_campaign::campaign", "--ignored"])
        .arg("--nocapture")
        .stdout(std::process::Stdio::null())
        .status()
        .expect("a process");
    assert!(status.success(), "the campaign: {status}");
}

/// Not a test: that process.
#[test]
#[ignore = "a process of the test hostile_clients"]
fn campaign() {
    let mut beside = Beside::new(broker_scene(71, Limits::default()));
    for _ in 0..2000 {
        beside.turn();
    }
    let alone = beside.pace();
    let had = beside.scene.broker.in_use();
    // Environment (tests): `WEFT_HOSTILE_FIRST`: hostile clients of a broker (`share_campaign`): the first seed. Without it: 0.
    let first = asked("WEFT_HOSTILE_FIRST", 0);
    let mut kept = Vec::new();
    let mut lent = 0;
    let files = open_files();
    for seed in first..first + asked("WEFT_HOSTILE_SEEDS", SEEDS) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut hostile = Hostile {
            client: RawClient::connect(&beside.scene.path),
            lent: Vec::new(),
            files: Vec::new(),
            control: None,
            held: Vec::new(),
        };
        if random.random_range(0..8) > 0 {
            let hello = [HELLO, 1, random.random_range(1..7)];
            let (status, words, files) = beside
                .scene
                .ask(&hostile.client, &hello, &[])
                .expect("let in");
            hostile.keep(REQUESTS[0], status, words, files);
        }
        for _ in 0..random.random_range(0..STEPS) {
            match random.random_range(0..4) {
                0 => hostile.scribble(&mut random),
                1 => hostile.command(&mut random),
                _ => hostile.ask(&mut beside, &mut random),
            }
            for _ in 0..random.random_range(0..4) {
                beside.turn();
            }
            answer_peer(&mut beside.scene, &mut kept, &mut random);
        }
        lent += hostile.lent.len();
        let held = std::mem::take(&mut hostile.held);
        drop(hostile);
        beside.settle();
        let Beside { scene, honest, .. } = &mut beside;
        honest.work(scene);
        let new = RawClient::connect(&scene.path);
        let (status, ..) = scene.ask(&new, &[HELLO], &[]).expect("served");
        assert_eq!(status, 0, "seed {seed}");
        drop((new, held));
        let mut turns = 0;
        while scene.broker.in_use() != had {
            scene.turn();
            answer_peer(scene, &mut kept, &mut random);
            std::thread::yield_now();
            turns += 1;
            let used = scene.broker.in_use();
            assert!(turns < 100_000, "seed {seed} leaves {used:?} of {had:?}");
        }
    }
    assert!(lent > 0, "nobody was lent anything");
    let attacked = beside.pace();
    println!("a Write takes {alone:.0} ns alone, {attacked:.0} ns beside hostile clients");
    assert!(attacked < 1.05 * alone, "{attacked} ns for {alone} ns");
    let Beside {
        mut scene, honest, ..
    } = beside;
    kept.clear();
    for _ in 0..2000 {
        scene.turn();
        let _ = scene.peer_event();
    }
    let left = open_files();
    assert!(left <= files, "{left} files are open, and {files} were");
    drop(honest);
    scene.nothing_is_left();
    no_faults(&scene.bench);
}
