//! One card, several processes: a broker lends, clients connect, write and go, in order or killed at any moment.

use std::path::Path;
use std::process::{Child, Command as Process};
use std::sync::atomic::Ordering;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{ConnectParams, Endpoint, Event};
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};
use weft_hostdrv::unstable::{self, control};
use weft_hostdrv::verbs::*;
use weft_layout::CqeStatus;
use weft_share::{Broker, Client, Limits, ShareError, SharedQp};
use weft_tests::bench::{Bench, Way};
use weft_tests::clients::{command, event};
use weft_tests::ends::{completion, no_faults, pattern, standing, End, Pair};
use weft_tests::left_out_on_card;

/// Words that a client writes to the peer, and bytes of its memory.
const WORDS: usize = 400;
const MEMORY: u64 = 8192;
const PEER_PORT: u16 = 4791;
/// Connections that a client has, one after the other.
const CONNECTIONS: usize = 3;
/// Moments at which a client is killed.
const KILLS: usize = 100;

#[derive(Serialize, Deserialize)]
struct Errand {
    socket: String,
    peer_ip: [u8; 4],
    to: (u32, u64),
    salt: u64,
}

fn errand() -> Errand {
    // Environment (tests): `WEFT_ERRAND`: `shared_queues`: what its own child processes are to do.
    let errand = std::env::var("WEFT_ERRAND").expect("an errand");
    serde_json::from_str(&errand).expect("an errand")
}

fn spawn(test: &str, errand: &Errand) -> Child {
    Process::new(std::env::current_exe().expect("a path"))
        .args(["--exact", &format!("share::{test}"), "--ignored"])
        .env("WEFT_ERRAND", serde_json::to_string(errand).expect("JSON"))
        .spawn()
        .expect("a process")
}

fn word(salt: u64, at: usize) -> u64 {
    (at as u64 + 1).wrapping_mul(salt)
}

/// A client's life: memory, queue pairs, connections, a Write over each.
fn live(errand: &Errand) {
    let mut client = Client::connect(Path::new(&errand.socket)).expect("a broker");
    let region = client
        .memory(MEMORY, Access::LOCAL_WRITE)
        .expect("within the limit");
    for (at, place) in region.words().iter().take(WORDS).enumerate() {
        place.store(word(errand.salt, at), Ordering::Relaxed);
    }
    let lent = region.lent;
    let register = control::register(
        unstable::domain_of(&lent),
        0,
        lent.iova,
        lent.length,
        Access::LOCAL_WRITE,
    );
    let stag = command(&mut client, &register).stag;
    for _ in 0..CONNECTIONS {
        let cap = QpCap::default();
        let SharedQp { mut queues, id } = client.create_qp(cap, 128).expect("within the limit");
        let params = ConnectParams {
            remote: Endpoint {
                ip: errand.peer_ip,
                port: PEER_PORT,
            },
            ..ConnectParams::default()
        };
        let conn = command(&mut client, &control::connect(id, &params)).conn;
        match event(&mut client) {
            Event::Established { conn: own, .. } => assert_eq!(own.number(), conn),
            other => panic!("{other:?}"),
        }
        let sge = Sge {
            to: 0,
            length: 8 * WORDS as u32,
            stag,
        };
        let wqe = Wqe {
            opcode: WqeOpcode::Write,
            flags: SendWqe::SIGNALED,
            to: errand.to.1,
            stag: errand.to.0,
            payload: Payload::Sges(std::slice::from_ref(&sge)),
        };
        queues.post_send(&wqe).expect("room");
        let cqe = loop {
            match queues.poll() {
                Some(cqe) => break cqe,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!(cqe.status(), Ok(CqeStatus::Success));
        let conn = control::ConnId::from_number(conn).expect("a number");
        command(&mut client, &control::disconnect(conn));
        assert!(matches!(event(&mut client), Event::Disconnected { .. }));
    }
}

#[test]
#[ignore = "a process of the test clients_share_a_card"]
fn client() {
    live(&errand());
}

#[test]
#[ignore = "a process of the test killed_clients_leave_nothing_behind"]
fn restless_client() {
    let errand = errand();
    loop {
        live(&errand);
    }
}

struct Scene {
    broker: Broker,
    socket: String,
    _folder: tempfile::TempDir,
    /// Connections of clients at the peer, and how many came.
    servers: Vec<CmId>,
    came: usize,
    own: CmId,
    _server: CmId,
    _listener: CmId,
    a: End,
    b: End,
    // After all that lives on its devices.
    bench: Bench,
}

impl Scene {
    fn new(seed: u64, limits: Limits) -> Self {
        let bench = Bench::new(&Way::Sim, seed).expect("two cards come up");
        let (pair, listener) = standing(bench, &ConnParam::default(), &ConnParam::default());
        let Pair {
            bench,
            a,
            b,
            client: own,
            server,
        } = pair;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("card");
        let broker = Broker::bind(bench.device(0), &path, limits).expect("free");
        Self {
            socket: path.to_str().expect("a name").to_owned(),
            bench,
            a,
            b,
            own,
            _server: server,
            _listener: listener,
            broker,
            servers: Vec::new(),
            came: 0,
            _folder: folder,
        }
    }

    fn errand(&self, at: u64) -> Errand {
        Errand {
            socket: self.socket.clone(),
            peer_ip: self.bench.ip(1).octets(),
            to: (self.b.mr.rkey(), self.b.mr.addr() + at * MEMORY),
            salt: 0x1234_5678_9abc_def1 + 2 * at,
        }
    }

    /// The work of the broker's process, and of the peer, which accepts who comes.
    fn turn(&mut self) {
        let fabric = self.bench.fabric().expect("simulated");
        fabric.progress().expect("it works");
        self.broker.turn().expect("it works");
        fabric.run_for(2_000).expect("it works");
        while let Some(event) = self.b.channel.try_get_event().expect("it works") {
            match event.event {
                CmEventType::ConnectRequest => {
                    self.came += 1;
                    let accepted = self.b.accept(event.id, &ConnParam::default());
                    self.servers.push(accepted);
                }
                _ => self.servers.retain(|id| id.state() != CmState::Closed),
            }
        }
    }

    /// The broker's own connection moves data.
    fn check_own(&self, salt: u8) {
        let bytes = pattern(3000, salt);
        self.a.mr.write(0, &bytes).expect("inside");
        let target = self.b.mr.remote().offset(200_000);
        let write = SendWr::write(1, target).sge(self.a.mr.sge(0, 3000));
        let qp = self.own.qp().expect("has one");
        qp.post_send(write.signaled()).expect("room");
        let wc = completion(&self.bench, &self.a.cq);
        assert_eq!(wc.status, WcStatus::Success);
        assert_eq!(self.b.mr.to_vec(200_000, 3000), Ok(bytes));
    }
}

#[test]
fn clients_share_a_card() {
    if left_out_on_card(
        "clients_share_a_card",
        "a card is shared by lending, which is not there",
    ) {
        return;
    }
    let mut scene = Scene::new(21, Limits::default());
    let errands = [0, 1, 2].map(|at| scene.errand(at));
    let mut children = errands.each_ref().map(|errand| spawn("client", errand));
    let mut ends = [None; 3];
    while ends.iter().any(Option::is_none) || scene.broker.clients() > 0 {
        scene.turn();
        for (child, end) in children.iter_mut().zip(&mut ends) {
            *end = end.or(child.try_wait().expect("a process of ours"));
        }
    }
    for end in ends.into_iter().flatten() {
        assert!(end.success(), "{end}");
    }
    for (at, errand) in errands.iter().enumerate() {
        let there = scene.b.mr.to_vec(at * MEMORY as usize, 8 * WORDS);
        let wanted = (0..WORDS).flat_map(|at| word(errand.salt, at).to_ne_bytes());
        assert_eq!(there, Ok(wanted.collect()), "{at}");
    }
    assert_eq!(scene.came, 3 * CONNECTIONS);
    let report = scene.broker.report();
    assert_eq!((report.came, report.went), (3, 3));
    assert_eq!((report.refused_requests, report.refused_commands), (0, 0));
    let path = Path::new(&scene.socket);
    let other = Broker::bind(scene.bench.device(0), path, Limits::default());
    assert!(matches!(other, Err(ShareError::InUse(_))));
    scene.check_own(1);
    no_faults(&scene.bench);
}

/// Whenever a client is killed, all that it had is there again for the next one: 100 come after each other, with more
/// connections than the card has.
#[test]
fn killed_clients_leave_nothing_behind() {
    if left_out_on_card(
        "killed_clients_leave_nothing_behind",
        "a card is shared by lending, which is not there",
    ) {
        return;
    }
    let mut scene = Scene::new(22, Limits::default());
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let flows = scene.bench.device(0).capabilities().flows as usize;
    let mut kills = 0;
    let mut connections = 0;
    while kills < KILLS {
        let errand = scene.errand(0);
        let mut child = spawn("restless_client", &errand);
        let before = scene.broker.report().came;
        // So many turns after its connection of this number; after none: when the broker sees it.
        let (after, moment) = (random.random_range(0..4), random.random_range(0..200));
        let mut turns = 0;
        while turns < moment {
            scene.turn();
            let end = child.try_wait().expect("a process of ours");
            assert_eq!(end, None, "client {kills} has ended by itself");
            let is_there = scene.broker.report().came > before && scene.came >= after;
            turns += u32::from(is_there);
        }
        connections += std::mem::take(&mut scene.came);
        child.kill().expect("a process of ours");
        child.wait().expect("a process of ours");
        let mut patience = 0;
        while scene.broker.clients() > 0 || !scene.servers.is_empty() {
            scene.turn();
            patience += 1;
            assert!(patience < 2000, "after kill {kills} something is left");
        }
        connections += std::mem::take(&mut scene.came);
        kills += 1;
        scene.check_own(kills as u8);
    }
    assert!(
        connections > KILLS,
        "{connections} connections of {kills} clients"
    );
    // What is left of TCP's endings.
    for _ in 0..200 {
        scene.turn();
    }
    // All flows but the own connection's can be had.
    let cap = QpCap::default();
    let pd = &scene.a.pd;
    let init = QpInit {
        cap,
        ..QpInit::new(&scene.a.cq)
    };
    let mut rest = Vec::new();
    while let Ok(qp) = pd.create_qp(&init) {
        rest.push(qp);
    }
    assert_eq!(rest.len(), flows - 1);
    no_faults(&scene.bench);
}

/// More than a client may have is refused with the reason, and it goes on; who says what is no request is shown the door.
#[test]
fn a_client_has_its_limits() {
    if left_out_on_card(
        "a_client_has_its_limits",
        "a card is shared by lending, which is not there",
    ) {
        return;
    }
    let limits = Limits {
        clients: 1,
        queue_pairs: 1,
        memory: 1 << 20,
        ..Limits::default()
    };
    let mut scene = Scene::new(24, limits);
    let path = scene.socket.clone();
    let asked = std::thread::spawn(move || {
        let client = Client::connect(Path::new(&path)).expect("a broker");
        let too_much = client.memory((1 << 20) + 1, Access::LOCAL_WRITE).err();
        let region = client
            .memory(1 << 19, Access::LOCAL_WRITE)
            .expect("allowed");
        let no_more = client.memory((1 << 19) + 1, Access::LOCAL_WRITE).err();
        let nonsense = client.create_qp(QpCap::default(), 0).err();
        let qp = client.create_qp(QpCap::default(), 128).expect("allowed");
        let second = client.create_qp(QpCap::default(), 128).err();
        let other = Client::connect(Path::new(&path)).err();
        drop((qp, region));
        [too_much, no_more, nonsense, second, other].map(|why| {
            let why = why.expect("refused");
            why.to_string()
        })
    });
    while !asked.is_finished() {
        scene.turn();
    }
    let [too_much, no_more, nonsense, second, other] = asked.join().expect("it works");
    let full = |asked, used| {
        format!("{asked} more of the bytes of memory: the client has {used} of at most 1048576")
    };
    assert_eq!(too_much, full(1_052_672, 0));
    assert_eq!(no_more, full(528_384, 1 << 19));
    assert!(nonsense.contains("completion queue entries"), "{nonsense}");
    let one = "1 more of the queue pairs: the client has 1 of at most 1";
    assert_eq!(second, one);
    let user = rustix::process::geteuid().as_raw();
    let one = format!("1 more of the clients: user {user} has 1 of at most 1");
    assert_eq!(other, one);
    while scene.broker.clients() > 0 {
        scene.turn();
    }
    let report = scene.broker.report();
    assert_eq!((report.turned_away, report.refused_requests), (1, 4));
}

/// Of a broker that has room for one: who comes when the last one has just ended is let in, though the broker has not seen the end yet.
#[test]
fn who_comes_at_anothers_end_waits_for_its_room() {
    if left_out_on_card(
        "who_comes_at_anothers_end_waits_for_its_room",
        "a card is shared by lending, which is not there",
    ) {
        return;
    }
    let limits = Limits {
        clients: 1,
        ..Limits::default()
    };
    let mut scene = Scene::new(26, limits);
    let (said, heard) = std::sync::mpsc::channel();
    for _ in 0..3 {
        let (path, said) = (scene.socket.clone(), said.clone());
        let program = std::thread::spawn(move || {
            let client = Client::connect(Path::new(&path)).map_err(|error| error.to_string());
            said.send(()).expect("heard");
            drop(client?);
            Ok::<(), String>(())
        });
        while heard.try_recv().is_err() {
            scene.turn();
        }
        // It ends before the broker has another turn.
        program.join().expect("it works").expect("room");
    }
    let report = scene.broker.report();
    assert_eq!((report.came, report.turned_away), (3, 0));
}
