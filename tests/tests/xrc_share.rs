//! An XRC domain of several processes: one connection reaches a shared receive queue of each, and outlives whoever made it, as long as one of them is there.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{channel, Receiver};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{AcceptParams, Event};
use weft_hostdrv::unstable::queues::Sge;
use weft_hostdrv::unstable::{self, control};
use weft_hostdrv::verbs::*;
use weft_share::{Broker, Client, Limits};
use weft_tests::bench::{Bench, Way};
use weft_tests::clients::command;
use weft_tests::ends::{no_faults, End};
use weft_tests::left_out_on_card;

/// Bytes of a receive, and receives of a queue.
const SLOT: u64 = 8192;
const SLOTS: u32 = 8;
/// The name of the domain.
const DOMAIN: &str = "a domain of the test's";

/// Where a receiver's domain is, and what it does there.
#[derive(Serialize, Deserialize)]
struct Errand {
    socket: String,
    /// It opens this target instead of listening.
    target: Option<u32>,
}

/// What a receiver says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Note {
    Queue(u32),
    Target(u32),
    Got(u64),
    Over,
}

fn say(note: &Note) {
    let mut out = std::io::stdout().lock();
    let line = serde_json::to_string(note).expect("JSON");
    writeln!(out, "note {line}").expect("somebody listens");
    out.flush().expect("somebody listens");
}

/// Words of message `n`: its number, and others that follow from it.
fn words(n: u64) -> impl Iterator<Item = u64> {
    let count = 1 + n * 97 % (SLOT / 8);
    (0..count).map(move |at| n + at * 0x1_0000_0001)
}

#[test]
#[ignore = "a process of the tests below"]
fn receiver() {
    let errand = std::env::var("WEFT_ERRAND").expect("an errand");
    let errand: Errand = serde_json::from_str(&errand).expect("an errand");
    let mut client = Client::connect(Path::new(&errand.socket)).expect("a broker");
    let xrcd = client.open_xrcd(DOMAIN, XrcdOpen::OrNew).expect("a domain");
    let bytes = SLOT * u64::from(SLOTS);
    let region = client.memory(bytes, Access::LOCAL_WRITE).expect("allowed");
    let lent = region.lent;
    let access = Access::LOCAL_WRITE;
    let register = control::register(
        unstable::domain_of(&lent),
        0,
        lent.iova,
        lent.length,
        access,
    );
    let stag = command(&mut client, &register).stag;
    let mut srq = client.create_xrc_srq(xrcd, SLOTS, 1, 64).expect("a queue");
    let element = |slot: u32| Sge {
        stag,
        to: u64::from(slot) * SLOT,
        length: SLOT as u32,
    };
    // Slots are given in this order, and come back.
    for slot in 0..SLOTS {
        assert_eq!(srq.post_recv(&[element(slot)]), Ok(slot));
    }
    match errand.target {
        Some(qp_num) => {
            let target = client.open_target(xrcd, qp_num).expect("it is there");
            assert_eq!(target.qp_num, qp_num);
        }
        None => {
            command(&mut client, &control::listen(5000, 4));
        }
    }
    say(&Note::Queue(srq.terms().srq_num));
    loop {
        if let Some(event) = client.control().take_event() {
            match event {
                Event::ConnectRequest { conn, xrc, .. } => {
                    assert!(xrc);
                    let target = client.create_target(xrcd).expect("a target");
                    let accept = AcceptParams::default();
                    command(&mut client, &control::accept(conn, target.id, &accept));
                    say(&Note::Target(target.qp_num));
                }
                Event::Established { .. } => {}
                Event::LastWqe { .. } | Event::QpFatal { .. } | Event::Disconnected { .. } => {
                    say(&Note::Over);
                }
                other => panic!("{other:?}"),
            }
        }
        let Some(cqe) = srq.poll() else {
            std::thread::yield_now();
            continue;
        };
        assert_eq!(cqe.status, 0, "{cqe:?}");
        let at = (u64::from(cqe.work) * SLOT / 8) as usize;
        let n = region.words()[at].load(Ordering::Relaxed);
        let there = region.words()[at..].iter();
        for (place, word) in there.zip(words(n)) {
            assert_eq!(place.load(Ordering::Relaxed), word, "message {n}");
        }
        assert_eq!(cqe.byte_len as usize, 8 * words(n).count());
        assert_eq!(srq.post_recv(&[element(cqe.work)]), Ok(cqe.work));
        say(&Note::Got(n));
    }
}

/// A receiver, as its parent sees it.
struct Member {
    child: Child,
    notes: Receiver<Note>,
    srq: u32,
}

impl Member {
    fn end(&mut self) {
        self.child.kill().expect("a process of ours");
        self.child.wait().expect("a process of ours");
    }
}

/// However a test ends, nobody is left behind.
impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Scene {
    broker: Broker,
    folder: tempfile::TempDir,
    a: End,
    // After all that lives on its devices.
    bench: Bench,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let bench = Bench::new(&Way::Sim, seed).expect("two cards come up");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("card");
        Self {
            broker: Broker::bind(bench.device(1), &path, Limits::default()).expect("free"),
            a: End::new(bench.device(0)),
            folder,
            bench,
        }
    }

    fn turn(&mut self) {
        let fabric = self.bench.fabric().expect("simulated");
        fabric.progress().expect("it works");
        self.broker.turn().expect("it works");
        fabric.run_for(2_000).expect("it works");
    }

    /// Turns until there is something.
    fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Self) -> Option<T>) -> T {
        for _ in 0..200_000 {
            self.turn();
            if let Some(found) = look(self) {
                return found;
            }
        }
        panic!("waiting for {what}");
    }

    fn note(&mut self, of: &Member) -> Note {
        self.until("a note", |_| of.notes.try_recv().ok())
    }

    fn spawn(&mut self, target: Option<u32>) -> Member {
        let path = |name| self.folder.path().join(name).to_str().map(str::to_owned);
        let errand = Errand {
            socket: path("card").expect("a name"),
            target,
        };
        let mut child = Process::new(std::env::current_exe().expect("a path"))
            .args(["--exact", "xrc_share::receiver", "--ignored", "--nocapture"])
            .env("WEFT_ERRAND", serde_json::to_string(&errand).expect("JSON"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let (told, notes) = channel();
        let out = child.stdout.take().expect("piped");
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let Some((_, note)) = line.split_once("note ") else {
                    continue;
                };
                let note = serde_json::from_str(note).expect("a note");
                if told.send(note).is_err() {
                    return;
                }
            }
        });
        let mut process = Member {
            child,
            notes,
            srq: 0,
        };
        match self.note(&process) {
            Note::Queue(number) => process.srq = number,
            other => panic!("{other:?}"),
        }
        process
    }

    /// An initiator that connects to whoever listens.
    fn connect(&mut self) -> CmId {
        let id = self.a.channel.create_id();
        let to = std::net::SocketAddrV4::new(self.bench.ip(1), 5000);
        id.resolve_addr(to).expect("possible");
        id.resolve_route().expect("possible");
        let init = QpInit::new(&self.a.cq).initiator();
        id.create_qp(&self.a.pd, &init).expect("a queue pair");
        id.connect(&ConnParam::default()).expect("possible");
        self.event(CmEventType::Established);
        id
    }

    fn event(&mut self, wanted: CmEventType) {
        self.until(wanted.name(), |scene| loop {
            let event = scene.a.channel.try_get_event().expect("it works")?;
            if event.event == wanted {
                return Some(());
            }
        });
    }

    /// Message `n` to the shared queue of a process, which gets it.
    fn send(&mut self, id: &CmId, n: u64, to: &Member) {
        let bytes: Vec<u8> = words(n).flat_map(u64::to_ne_bytes).collect();
        self.a.mr.write(0, &bytes).expect("inside");
        let send = SendWr::send(n).sge(self.a.mr.sge(0, bytes.len() as u32));
        let qp = id.qp().expect("has one");
        qp.post_send(send.to_srq(to.srq).signaled()).expect("room");
        let cq = self.a.cq.clone();
        let wc = self.until("a completion", |_| cq.poll_one().expect("it works"));
        assert_eq!(wc.status, WcStatus::Success);
        assert_eq!(self.note(to), Note::Got(n));
    }

    fn clients(&mut self, count: usize) {
        self.until("clients to go", |scene| {
            (scene.broker.clients() == count).then_some(())
        });
    }
}

/// One connection reaches both processes. Whichever of the two goes, the one that has accepted or the other, the connection goes on for who is left; with the last one it ends,
/// and nothing is left of it.
#[test]
fn a_target_outlives_who_made_it() {
    if left_out_on_card(
        "a_target_outlives_who_made_it",
        "neither XRC nor lending is there",
    ) {
        return;
    }
    let mut scene = Scene::new(51);
    let mut random = ChaCha8Rng::seed_from_u64(52);
    let mut n = 1;
    for round in 0..8 {
        let mut first = scene.spawn(None);
        let id = scene.connect();
        let Note::Target(target) = scene.note(&first) else {
            panic!("a target");
        };
        let mut second = scene.spawn(Some(target));
        for _ in 0..random.random_range(1..6) {
            scene.send(&id, n, &first);
            scene.send(&id, n + 1, &second);
            n += 2;
        }
        let accepter_goes = round % 2 == 0;
        let (going, staying) = match accepter_goes {
            true => (&mut first, &mut second),
            false => (&mut second, &mut first),
        };
        // At any moment of a message to who stays.
        going.child.kill().expect("a process of ours");
        for _ in 0..random.random_range(0..20) {
            scene.turn();
        }
        scene.send(&id, n, staying);
        going.child.wait().expect("a process of ours");
        scene.clients(1);
        scene.send(&id, n + 1, staying);
        n += 2;
        staying.end();
        scene.clients(0);
        scene.event(CmEventType::Disconnected);
        drop(id);
    }
    let cap = QpCap::default();
    let device = scene.bench.device(1);
    let (pd, cq) = (device.alloc_pd(), device.create_cq(64, None));
    let (pd, cq) = (pd.expect("a domain"), cq.expect("a queue"));
    for _ in 0..200 {
        scene.turn();
    }
    let flows = scene.bench.device(1).capabilities().flows as usize;
    let init = QpInit {
        cap,
        ..QpInit::new(&cq)
    };
    let mut all = Vec::new();
    while let Ok(qp) = pd.create_qp(&init) {
        all.push(qp);
    }
    assert_eq!(all.len(), flows);
    no_faults(&scene.bench);
}

/// The end of a connection reaches every process that has its target.
#[test]
fn each_process_hears_of_the_end() {
    if left_out_on_card(
        "each_process_hears_of_the_end",
        "neither XRC nor lending is there",
    ) {
        return;
    }
    let mut scene = Scene::new(53);
    let mut first = scene.spawn(None);
    let id = scene.connect();
    let Note::Target(target) = scene.note(&first) else {
        panic!("a target");
    };
    let mut others = [0; 2].map(|_| scene.spawn(Some(target)));
    scene.send(&id, 1, &others[1]);
    id.disconnect().expect("possible");
    for process in [&first, &others[0], &others[1]] {
        assert_eq!(scene.note(process), Note::Over);
    }
    first.end();
    others.iter_mut().for_each(Member::end);
    scene.clients(0);
}

/// What is no domain, no file, no target, or too much, is refused with the reason.
#[test]
fn what_is_not_there_is_refused() {
    if left_out_on_card(
        "what_is_not_there_is_refused",
        "neither XRC nor lending is there",
    ) {
        return;
    }
    let mut scene = Scene::new(54);
    let path = scene.folder.path().join("card");
    let asked = std::thread::spawn(move || {
        let client = Client::connect(&path).expect("a broker");
        let why = |refused: std::io::Result<()>| refused.expect_err("refused").to_string();
        let none = why(client.open_xrcd(DOMAIN, XrcdOpen::Existing).map(drop));
        let xrcd = client.open_xrcd(DOMAIN, XrcdOpen::New).expect("a domain");
        let again = why(client.open_xrcd(DOMAIN, XrcdOpen::New).map(drop));
        let target = why(client.open_target(xrcd, 77).map(drop));
        let places = why(client.create_xrc_srq(xrcd, 8, 1, 4).map(drop));
        let own = client.create_target(xrcd).expect("a target");
        client.close_target(own).expect("its own");
        let gone = why(client.open_target(xrcd, own.qp_num).map(drop));
        let more = (0..20).find_map(|_| client.create_xrc_srq(xrcd, 4, 1, 4).err());
        let more = more.expect("a limit").to_string();
        [none, again, target, places, gone, more]
    });
    while !asked.is_finished() {
        scene.turn();
    }
    let said = asked.join().expect("it works");
    let wanted = [
        "the name is no XRC domain's of this user, or nobody has it any more: open it as a new one",
        "the name is an XRC domain's already: open it as an existing one",
        "the XRC domain has no target 77, or nobody has it any more",
        "the completion queue of 4 entries is promised to work under way",
        "the XRC domain has no target",
        "1 more of the shared receive queues: the client has 16 of at most 16",
    ];
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.starts_with(wanted), "{said}");
    }
    scene.clients(0);
}
