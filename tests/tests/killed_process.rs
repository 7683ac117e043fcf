//! Processes that get SIGKILL in the middle of their work on a served card: the card is let go by the one who serves it, and
//! the next process takes it at once.
//!
//! Both ends are processes of their own (this program once more, as [`child`]) with rping's client and server over
//! vfio-user; the cards are served by this one. `WEFT_PULL_MOMENTS` says how many moments (40; at `firmware` 4), `WEFT_PULL_SEED` which alone.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::link::LinkConfig;
use weft_sim::serve::{start, CardConfig, ServeConfig, Served};
use weft_tests::{fewer_on_card, models};
use weft_tools::rping::{
    ClientConfig, RpingClient, RpingNote, RpingObserver, RpingServer, ServerConfig, PORT,
};
use weft_tools::run;

/// What a child is told: role, socket, number of pings, seed.
const VARIABLE: &str = "WEFT_PULL_CHILD";

/// Whatever happens, it happens within this.
fn bound() -> Duration {
    Duration::from_secs(fewer_on_card(30, 180))
}

fn address(card: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + card as u8)
}

/// Not a test: the process at a card. It ends with an error if a ping fails.
#[test]
#[ignore = "it is what the other tests start"]
fn child() {
    let Ok(told) = std::env::var(VARIABLE) else {
        return;
    };
    let words: Vec<_> = told.split(' ').collect();
    let [role, socket, count, seed] = words[..] else {
        panic!("{told}");
    };
    let card = usize::from(role == "server");
    let seed = seed.parse().expect("a number");
    let ms = Duration::from_millis;
    let config = DeviceConfig::new([2, 0, 0, 0, 0, card as u8], address(card))
        .seed(seed)
        .rung(weft_tests::rungs()[card & 1])
        // A peer that is gone is noticed in two seconds at most.
        .rto(ms(50), ms(200))
        .retries(8, 6)
        .mpa_timeout(ms(2000))
        .close_timeout(ms(2000))
        .time_wait(ms(100))
        .keepalive(Some(ms(400)));
    let transport = transport::open(&format!("vfio-user:{socket}")).expect("the card is served");
    let device = Device::open(transport, config).expect("the card comes up");
    let stop = AtomicBool::new(false);
    let say: RpingObserver = Box::new(|note| match note {
        RpingNote::Ended(report) => {
            println!("ended after {}: {:?}", report.iterations, report.error)
        }
        RpingNote::Step(step) if step.contains("ESTABLISHED") => println!("connected"),
        _ => {}
    });
    let passed = if role == "server" {
        let mut server =
            RpingServer::start(&device, ServerConfig::persistent(), Some(say)).expect("a server");
        println!("listening");
        let report = run(&device, &mut server, &stop).expect("the device works");
        report.passed()
    } else {
        let config = ClientConfig {
            count: count.parse().expect("a number"),
            size: 4000,
            patience_ns: None,
            ..ClientConfig::new(SocketAddrV4::new(address(1), PORT))
        };
        let mut client = RpingClient::start(&device, config, Some(say)).expect("a client");
        let report = run(&device, &mut client, &stop).expect("the device works");
        report.passed()
    };
    assert!(passed, "{told}");
}

/// A child; dropped, it is killed.
struct Process {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Process {
    fn start(role: &str, socket: &Path, count: u64, seed: u64) -> Self {
        let program = std::env::current_exe().expect("this program");
        let told = format!("{role} {} {count} {seed}", socket.display());
        let mut child = Command::new(program)
            .args([
                "--exact",
                "killed_process::child",
                "--ignored",
                "--nocapture",
            ])
            .env(VARIABLE, told)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let mut lines = written.lock().unwrap_or_else(PoisonError::into_inner);
                lines.push(line);
            }
        });
        Self { child, lines }
    }

    fn has_said(&self, text: &str) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().any(|line| line.contains(text))
    }

    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        while !self.has_said(text) {
            assert!(start.elapsed() < bound(), "it does not say `{text}`");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill(&mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("its end");
    }

    /// Whether it passed; it has to end in time.
    fn end(&mut self, what: &str) -> bool {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.success();
            }
            assert!(start.elapsed() < bound(), "{what}: it hangs");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two cards, joined.
struct Bench {
    served: Served,
    sockets: [PathBuf; 2],
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let sockets = ["a", "b"].map(|name| folder.path().join(name));
        let kinds = models();
        let card = |n: usize| CardConfig {
            kind: kinds[n],
            port: format!("card:{}", 1 - n).parse().expect("a port"),
            socket: sockets[n].clone(),
            capture: None,
        };
        let config = ServeConfig {
            cards: vec![card(0), card(1)],
            seed: 1,
            link: LinkConfig::default(),
        };
        Self {
            served: start(&config).expect("two cards"),
            sockets,
            _folder: folder,
        }
    }

    /// The process at a card was killed: the card is let go, and has touched nothing that is not its own.
    fn is_let_go(&self, card: usize, what: &str) {
        let start = Instant::now();
        loop {
            let stats = self.served.stats().cards.swap_remove(card);
            if !stats.connected {
                assert_eq!(stats.mappings, 0, "{what}");
                assert_eq!(stats.dma_refused, 0, "{what}");
                return;
            }
            assert!(start.elapsed() < bound(), "{what}: the card is not let go");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn server(&self, seed: u64) -> Process {
        let mut server = Process::start("server", &self.sockets[1], 0, seed);
        server.wait_for("listening");
        server
    }

    fn client(&self, count: u64, seed: u64) -> Process {
        Process::start("client", &self.sockets[0], count, seed)
    }
}

fn seeds() -> Vec<u64> {
    if let Ok(seed) = std::env::var("WEFT_PULL_SEED") {
        return vec![seed.parse().expect("WEFT_PULL_SEED")];
    }
    // Environment (tests): `WEFT_PULL_MOMENTS`: `killed_process`: how many moments. Without it: 40.
    let moments = std::env::var("WEFT_PULL_MOMENTS")
        .map_or_else(|_| fewer_on_card(40, 4), |n| n.parse().expect("a number"));
    (0..moments).collect()
}

/// Some time, from nothing to 120 ms: while it starts, connects, pings. At `firmware` that takes so many seconds.
fn moment(seed: u64) -> Duration {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Duration::from_micros(rng.random_range(0..120_000)) * fewer_on_card(1, 150)
}

#[test]
fn the_client_is_killed() {
    let bench = Bench::new();
    let _server = bench.server(1);
    for seed in seeds() {
        let what = format!("WEFT_PULL_SEED={seed}, {:?} after its start", moment(seed));
        let mut victim = bench.client(0, 2 * seed + 1000);
        std::thread::sleep(moment(seed));
        victim.kill();
        bench.is_let_go(0, &what);
        // The next one on the same card, against the same server.
        let mut next = bench.client(3, 2 * seed + 1001);
        assert!(next.end(&what), "{what}: the card is of no use");
        bench.is_let_go(0, &what);
    }
}

#[test]
fn the_server_is_killed() {
    let bench = Bench::new();
    let mut in_the_middle = 0;
    for seed in seeds() {
        let what = format!("WEFT_PULL_SEED={seed}, {:?} after the start", moment(seed));
        let mut victim = bench.server(2 * seed + 1000);
        let mut client = bench.client(0, 2 * seed + 5000);
        std::thread::sleep(moment(seed));
        let connected = client.has_said("connected");
        victim.kill();
        bench.is_let_go(1, &what);
        let server = bench.server(2 * seed + 1001);
        // What was connected hears that its peer is gone; what was not yet may go on with the new server.
        if connected {
            in_the_middle += 1;
            assert!(!client.end(&what), "{what}: the client has not noticed");
        } else {
            client.kill();
        }
        bench.is_let_go(0, &what);
        let mut next = bench.client(3, 2 * seed + 5001);
        assert!(next.end(&what), "{what}: the card is of no use");
        drop(server);
        bench.is_let_go(1, &what);
    }
    println!("{in_the_middle} clients were in the middle of their work");
}
