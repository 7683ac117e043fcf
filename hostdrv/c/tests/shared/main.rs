//! Several programs as clients of one broker: they reach each other and another card, at once; each one's end is its own; and all hear of the broker's.
//!
//! The cards are the functional model's, served by this process. Broker and programs are this test's own program, as processes of their own.

mod program;
mod xrc;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};
use serde::{Deserialize, Serialize};
use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_share::{Broker, Limits};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::{self, CardConfig, ServeConfig, Served};

use self::xrc::{Role, XrcErrand};

/// What a process is to do. It is given by its standard input.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Errand {
    serves: bool,
    ip: [u8; 4],
    port: u16,
    /// Messages, or clients.
    count: u64,
    seed: u64,
}

/// No process takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A process; it does not outlive the test.
struct Running {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// This test's program as another process, with these words on its standard input.
    fn start(what: &str, input: &str, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", what, "--ignored", "--nocapture"])
            .env_remove("WEFT_IP")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut stdin = child.stdin.take().expect("it has one");
        std::io::Write::write_all(&mut stdin, format!("{input}\n").as_bytes()).expect("read");
        let out = BufReader::new(child.stdout.take().expect("it has one"));
        Self { child, out }
    }

    /// The rest of the line that says this.
    fn says(&mut self, what: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.out.read_line(&mut line).expect("text");
            assert!(read > 0, "it ended: {}", self.complains());
            if let Some((_, rest)) = line.split_once(what) {
                return rest.trim().to_owned();
            }
        }
    }

    fn complains(&mut self) -> String {
        let mut said = String::new();
        let stderr = self.child.stderr.take();
        let _ = stderr.map(|mut stderr| stderr.read_to_string(&mut said));
        said
    }

    fn kill(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).expect("it is there");
    }

    /// How it ended, and what it said on standard error.
    fn ends(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().expect("asked") {
                return (status, self.complains());
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn ends_with(self, code: i32) -> String {
        let (status, said) = self.ends();
        assert_eq!(status.code(), Some(code), "{said}");
        said
    }
}

/// Two cards that are joined; a broker has the first, at 10.0.0.1.
struct Scene {
    broker: Running,
    socket: PathBuf,
    folder: tempfile::TempDir,
    _served: Served,
}

impl Scene {
    fn new(seed: u64, clients: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let card = |name: &str, port: &str| CardConfig {
            kind: CardKind::Model,
            port: port.parse().expect("a port"),
            socket: folder.path().join(name),
            capture: None,
        };
        let served = serve::start(&ServeConfig {
            cards: vec![card("a", "card:1"), card("b", "card:0")],
            seed,
            link: LinkConfig::default(),
        })
        .expect("cards");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let words = format!("{} {} {clients}", path("a"), path("shared"));
        let mut broker = Running::start("broker", &words, &[]);
        broker.says("shares");
        Self {
            broker,
            socket: folder.path().join("shared"),
            folder,
            _served: served,
        }
    }

    fn shared(&self) -> String {
        format!("share:{}", self.socket.display())
    }

    /// A program on the shared card.
    fn program(&self, errand: Errand) -> Running {
        start(&self.shared(), errand, &[])
    }
}

fn start(device: &str, errand: Errand, variables: &[(&str, &str)]) -> Running {
    start_as("a_program", device, &errand, variables)
}

fn start_as(
    program: &str,
    device: &str,
    errand: &impl Serialize,
    variables: &[(&str, &str)],
) -> Running {
    let all = [("WEFT_DEVICE", device), ("WEFT_C_LOG", "refused")];
    let all = [&all, variables].concat();
    let errand = serde_json::to_string(errand).expect("JSON");
    Running::start(program, &errand, &all)
}

fn input() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("text");
    line
}

#[test]
#[ignore = "a process of the other tests"]
fn a_program() {
    let errand = serde_json::from_str(&input()).expect("an errand");
    std::process::exit(program::run(&errand));
}

#[test]
#[ignore = "a process of the other tests"]
fn a_program_of_xrc() {
    let errand = serde_json::from_str(&input()).expect("an errand");
    std::process::exit(xrc::run(&errand));
}

#[test]
#[ignore = "a process of the other tests"]
fn broker() {
    let words = input();
    let [card, socket, clients] = words.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{words}");
    };
    let transport = transport::open(&format!("vfio-user:{card}")).expect("a card");
    let config = DeviceConfig::at([10, 0, 0, 1].into());
    let device = Device::open(transport, config).expect("a device");
    let limits = Limits {
        clients: clients.parse().expect("a number"),
        user_share: 100,
        ..Limits::default()
    };
    let mut broker = Broker::bind(&device, Path::new(socket), limits).expect("free");
    println!("shares");
    broker.serve(|| false).expect("it serves");
}

const SERVER: Errand = Errand {
    serves: true,
    ip: [10, 0, 0, 1],
    port: 7471,
    count: 1,
    seed: 0,
};

fn client(seed: u64, count: u64) -> Errand {
    Errand {
        serves: false,
        count,
        seed,
        ..SERVER
    }
}

/// A server and a client of one broker, and a client of it on another card; the server is left by both in order.
#[test]
fn programs_share_a_card() {
    let scene = Scene::new(11, 8);
    let mut server = scene.program(Errand { count: 2, ..SERVER });
    server.says("listens");
    let near = scene.program(client(1, 300));
    let other = format!("vfio-user:{}", scene.folder.path().join("b").display());
    let far = start(&other, client(2, 300), &[("WEFT_IP", "10.0.0.2/24")]);
    near.ends_with(program::FINE);
    far.ends_with(program::FINE);
    server.ends_with(program::FINE);
    // The other way: the shared card's program is the client.
    let mut server = start(
        &other,
        Errand {
            ip: [10, 0, 0, 2],
            ..SERVER
        },
        &[("WEFT_IP", "10.0.0.2/24")],
    );
    server.says("listens");
    let asks = scene.program(Errand {
        ip: [10, 0, 0, 2],
        ..client(3, 300)
    });
    asks.ends_with(program::FINE);
    server.ends_with(program::FINE);
}

/// One of three is killed at work: its peer hears of it, and the others go on.
#[test]
fn one_that_is_killed_is_alone() {
    let scene = Scene::new(12, 8);
    let mut server = scene.program(Errand { count: 2, ..SERVER });
    server.says("listens");
    let mut victim = scene.program(client(1, 0));
    victim.says("works");
    let mut survivor = scene.program(client(2, 2000));
    survivor.says("works");
    victim.kill();
    survivor.ends_with(program::FINE);
    server.ends_with(program::FINE);
    // And one comes anew, to a server that is.
    let mut server = scene.program(SERVER);
    server.says("listens");
    scene.program(client(3, 20)).ends_with(program::FINE);
    server.ends_with(program::FINE);
}

/// The broker is killed: whoever polls, or waits for an event, ends with an error and the reason.
#[test]
fn all_hear_of_the_brokers_end() {
    let mut scene = Scene::new(13, 8);
    let mut server = scene.program(SERVER);
    server.says("listens");
    let mut polls = scene.program(client(1, 0));
    polls.says("works");
    let mut waits = scene.program(Errand {
        port: 7472,
        ..SERVER
    });
    waits.says("listens");
    scene.broker.kill();
    for program in [polls, server, waits] {
        let said = program.ends_with(program::DEVICE_GONE);
        let told = said.matches("the card is gone: ").count();
        assert!(
            told == 1 && said.contains("the broker of the card"),
            "{said}"
        );
    }
    // Whoever comes now is told what to do.
    let said = scene.program(SERVER).ends_with(program::NO_DEVICE);
    assert!(
        said.contains("its broker has ended: start it anew"),
        "{said}"
    );
}

/// What is wrong before a program begins is said, and what to do.
#[test]
fn who_gets_no_device_is_told_why() {
    let scene = Scene::new(14, 1);
    let mut first = scene.program(SERVER);
    first.says("listens");
    let said = scene.program(client(1, 1)).ends_with(program::NO_DEVICE);
    assert!(said.contains("let the broker have more"), "{said}");
    drop(first);
    let other = [("WEFT_IP", "10.0.0.9/24")];
    let refused = start(&scene.shared(), SERVER, &other);
    let said = refused.ends_with(program::NO_DEVICE);
    assert!(
        said.contains("not the address of the broker's card"),
        "{said}"
    );
}

/// `ibv_open_qp`: a connection goes on when the program that accepted it is killed, as long as another one has opened its target.
#[test]
fn a_target_of_another_program() {
    let scene = Scene::new(15, 8);
    let errand = |role| XrcErrand {
        role,
        folder: scene.folder.path().display().to_string(),
        ip: SERVER.ip,
        port: SERVER.port,
    };
    let start = |role| start_as("a_program_of_xrc", &scene.shared(), &errand(role), &[]);
    let tell = |name: &str, number: &str| {
        let at = scene.folder.path();
        std::fs::write(at.join("new"), number).expect("room");
        std::fs::rename(at.join("new"), at.join(name)).expect("possible");
    };
    let mut accepts = start(Role::Accepts);
    accepts.says("listens");
    let mut opens = start(Role::Opens);
    let srq = opens.says("srq ").parse().expect("a number");
    let mut sends = start(Role::SendsTo(srq));
    sends.says("works");
    tell("target", &accepts.says("target "));
    opens.says("opened");
    accepts.kill();
    tell("killed", "1");
    opens.says("left");
    sends.ends_with(program::FINE);
    tell("over", "1");
    opens.ends_with(program::FINE);
}
