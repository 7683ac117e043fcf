//! What a client of a broker can do to others: with descriptors, with names, with numbers of requests, at ports.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::transport::queue_memory::QueueMemory;
use weft_hostdrv::unstable::control::{self, ConnectParams, Endpoint, Event};
use weft_hostdrv::unstable::queues::CompletionQueue;
use weft_hostdrv::verbs::{Gone, NotPosted, QpCap, QpInit, XrcdOpen};
use weft_layout::Cqe;
use weft_share::{Broker, Client, Limits};
use weft_tests::bench::{Bench, Way};
use weft_tests::clients::{broker_scene, Honest, RawClient, Scene};
use weft_tests::left_out_on_card;
use weft_tests::lingering::lingering;
use weft_watchdog::Watchdog;

const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
const CREATE_QP: u64 = 1;
const MEMORY: u64 = 2;
const OPEN_XRCD: u64 = 3;

/// D1: whatever a client sends along, and however it goes, others are served.
#[test]
fn a_descriptor_that_does_not_close_holds_nobody() {
    if left_out_on_card(
        "a_descriptor_that_does_not_close_holds_nobody",
        "nothing is lent",
    ) {
        return;
    }
    let _limit = Watchdog::after(Duration::from_secs(60), "descriptors that do not close");
    let mut scene = broker_scene(61, Limits::default());
    let mut held = Vec::new();
    // With a request, with half of one, in front of the first word, and while it is shown the door.
    for way in 0..4 {
        let (socket, other) = lingering();
        held.push(other);
        let stranger = RawClient::connect(&scene.path);
        if way < 2 {
            scene.ask(&stranger, &[HELLO], &[]).expect("let in");
        }
        let words = match way {
            0 => vec![OPEN_XRCD, 1, 0, 0, 0, 0, 0, 0],
            1 => vec![OPEN_XRCD, 1],
            2 => vec![],
            _ => vec![77; 8],
        };
        // So many requests before it that it lies in the socket when this side lets go of it.
        for _ in 0..4 {
            stranger.send(&[88; 8], &[]);
        }
        stranger.send(&words, &[socket.as_fd()]);
        drop(socket);
        for _ in 0..20 {
            scene.turn();
        }
        drop(stranger);
        for _ in 0..20 {
            scene.turn();
        }
        let honest = RawClient::connect(&scene.path);
        let (status, ..) = scene.ask(&honest, &[HELLO], &[]).expect("served");
        assert_eq!(status, 0);
    }
    // Somebody who is turned away, and has said something before.
    let one = Limits {
        clients: 1,
        ..Limits::default()
    };
    let mut full = broker_scene(72, one);
    let _only = RawClient::connect(&full.path);
    full.turn();
    for _ in 0..2 {
        let (socket, other) = lingering();
        held.push(other);
        let stranger = RawClient::connect(&full.path);
        stranger.send(&[HELLO], &[socket.as_fd()]);
        drop(socket);
        let (status, ..) = full.until(|_| stranger.answer().transpose()).expect("told");
        assert_eq!(status, 1);
    }
    // They linger still.
    for mut other in held {
        other.set_nonblocking(true).expect("possible");
        let mut bytes = [0; 4096];
        assert!(other.read(&mut bytes).is_ok_and(|count| count > 0));
        other.set_nonblocking(false).expect("possible");
        std::thread::spawn(move || while other.read(&mut bytes).is_ok_and(|count| count > 0) {});
    }
}

/// D2: a descriptor of somebody's file, which its sender may not even read, names nothing.
#[test]
fn a_strangers_descriptor_names_no_domain() {
    if left_out_on_card("a_strangers_descriptor_names_no_domain", "nothing is lent") {
        return;
    }
    let mut scene = broker_scene(62, Limits::default());
    let path = scene.path.with_extension("domain");
    let file = File::create(&path).expect("a file");
    let owner = RawClient::connect(&scene.path);
    scene.ask(&owner, &[HELLO, 1, 9], &[]).expect("let in");
    let _ = scene.ask(&owner, &[OPEN_XRCD, 1], &[file.as_fd()]);
    let stranger = RawClient::connect(&scene.path);
    scene.ask(&stranger, &[HELLO, 1, 9], &[]).expect("let in");
    let only_path = rustix::fs::open(&path, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())
        .expect("a path");
    let answer = scene.ask(&stranger, &[OPEN_XRCD, 0], &[only_path.as_fd()]);
    let (status, words, _) = answer.expect("answered");
    assert_eq!(status, 1, "a domain by a descriptor: {words:?}");
}

/// D3: requests of one byte do not use up what the card has, and queues are memory.
#[test]
fn what_a_client_has_is_counted() {
    if left_out_on_card("what_a_client_has_is_counted", "nothing is lent") {
        return;
    }
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let mut scene = broker_scene(63, limits);
    let stags = scene.bench.device(0).capabilities().stags as usize;
    let greedy = RawClient::connect(&scene.path);
    scene.ask(&greedy, &[HELLO], &[]).expect("let in");
    let mut had = 0;
    while scene
        .ask(&greedy, &[MEMORY, 1, 1], &[])
        .expect("answered")
        .0
        == 0
    {
        had += 1;
        assert!(had < stags / 2, "{had} regions of one byte");
    }
    let other = RawClient::connect(&scene.path);
    scene.ask(&other, &[HELLO], &[]).expect("let in");
    let (status, ..) = scene.ask(&other, &[MEMORY, 1, 1], &[]).expect("answered");
    assert_eq!(status, 0);
    // 32 MiB of completion queue, where one may have 1 MiB.
    let large = [CREATE_QP, 16, 16, 1, 1, 0, 1 << 20];
    let (status, ..) = scene.ask(&other, &large, &[]).expect("answered");
    assert_eq!(status, 1, "queues are memory as well");
}

/// D4: a client's listener is under the host's policy as a program's own is.
#[test]
fn the_policy_is_asked_about_requests_at_a_clients_port() {
    if left_out_on_card(
        "the_policy_is_asked_about_requests_at_a_clients_port",
        "nothing is lent",
    ) {
        return;
    }
    let mut scene = broker_scene(64, Limits::default());
    let policy = Policy::parse("[[rule]]\naction = \"reject\"\nports = [5000]\nreason = \"no\"");
    let policy = HostPolicy::new(policy.expect("a policy"));
    scene.bench.device(0).set_host_policy(Some(policy));
    let path = scene.path.clone();
    let mut client = scene.with(move || Client::connect(&path).expect("a broker"));
    for port in [5000, 5001] {
        let listen = control::listen(port, 4);
        assert!(scene.command(&mut client, &listen).is_ok());
        let mut heard = false;
        let id = scene.connect_to(port);
        let event = scene.until(|scene| {
            if let Some(event) = client.control().take_event() {
                heard = true;
                let Event::ConnectRequest { conn, .. } = event else {
                    panic!("{event:?}");
                };
                client
                    .control()
                    .post(&control::abort(conn), &[])
                    .expect("room");
            }
            scene.peer_event()
        });
        assert_eq!(heard, port == 5001);
        if port == 5000 {
            assert_eq!(event.event, CmEventType::Rejected);
            assert_eq!(event.private_data, b"no");
        }
        drop(id);
    }
}

/// D17: what stands where a broker had its socket, and is not its, is left alone.
#[test]
fn a_broker_removes_its_own_socket_alone() {
    if left_out_on_card("a_broker_removes_its_own_socket_alone", "nothing is lent") {
        return;
    }
    let bench = Bench::new(&Way::Sim, 65).expect("two cards come up");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card");
    let first = Broker::bind(bench.device(0), &path, Limits::default()).expect("free");
    std::fs::rename(&path, folder.path().join("away")).expect("there");
    let _second = Broker::bind(bench.device(1), &path, Limits::default()).expect("free");
    drop(first);
    assert!(path.exists(), "the second one's");
}

/// D5: whoever posts, waits or asks when the broker has gone is told so.
#[test]
fn a_client_hears_that_the_broker_is_gone() {
    if left_out_on_card("a_client_hears_that_the_broker_is_gone", "nothing is lent") {
        return;
    }
    let _limit = Watchdog::after(Duration::from_secs(60), "a client without a broker");
    let mut scene = broker_scene(66, Limits::default());
    let mut honest = scene.honest();
    honest.work(&mut scene);
    let line = honest.client.line().expect("version 3").clone();
    let sleeping = std::thread::spawn(move || line.wait_for(None, || None::<()>));
    scene.turn();
    let Scene {
        broker,
        peer,
        bench,
        ..
    } = scene;
    drop(broker);
    assert_eq!(sleeping.join().expect("it ends"), Err(Gone::Broker));
    let posted = honest.post_to(peer.mr.rkey(), peer.mr.addr());
    assert_eq!(posted, Err(NotPosted::Gone(Gone::Broker)));
    let recv = honest.qp.queues.post_recv(&[]);
    assert_eq!(recv, Err(NotPosted::Gone(Gone::Broker)));
    let command = honest.client.control().post(&control::unlisten(1), &[]);
    assert_eq!(command, Err(NotPosted::Gone(Gone::Broker)));
    let asked = honest.client.extensions().expect_err("nobody answers");
    assert_eq!(asked.to_string(), "the broker of the card is gone");
    drop((honest, peer, bench));
}

/// D5: neither looks again and again: a broker that sleeps is woken by a post, a client by its completion.
#[test]
fn broker_and_client_sleep_until_the_other_rings() {
    if left_out_on_card(
        "broker_and_client_sleep_until_the_other_rings",
        "nothing is lent",
    ) {
        return;
    }
    let _limit = Watchdog::after(Duration::from_secs(120), "two that sleep");
    let bench = Bench::new(&Way::VfioUser, 67).expect("two cards come up");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card");
    let device = bench.device(0).clone();
    let mut broker = Broker::bind(&device, &path, Limits::default()).expect("free");
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let serving = std::thread::spawn(move || {
        broker
            .serve(|| stopped.load(Ordering::Relaxed))
            .expect("it works");
    });
    let mut client = Client::connect(&path).expect("a broker");
    let line = client.line().expect("version 3").clone();
    let before = device.host_stats().progress_calls;
    std::thread::sleep(Duration::from_millis(300));
    let register = control::listen(5000, 1);
    for _ in 0..10 {
        client.control().post(&register, &[]).expect("room");
        let answered = line.wait_for(None, || client.control().answer());
        let (_, answer) = answered.expect("it is there").expect("no limit");
        assert!(answer.is_ok());
        client
            .control()
            .post(&control::unlisten(5000), &[])
            .expect("room");
        let answered = line.wait_for(None, || client.control().answer());
        assert!(answered.expect("it is there").is_some());
    }
    // By naps of 50 us it would be thousands.
    let calls = device.host_stats().progress_calls - before;
    assert!(calls < 1000, "{calls} looks");
    stop.store(true, Ordering::Relaxed);
    serving.join().expect("it ends");
    assert_eq!(line.wait_for(None, || None::<()>), Err(Gone::Broker));
}

/// D4: whom a client may ask, and where it may listen, says the policy as well; a rejection comes as one of the peer's would.
#[test]
fn the_policy_is_asked_about_what_a_client_wants() {
    if left_out_on_card(
        "the_policy_is_asked_about_what_a_client_wants",
        "nothing is lent",
    ) {
        return;
    }
    let mut scene = broker_scene(68, Limits::default());
    let policy = Policy::parse(
        r#"
        [[rule]]
        action = "reject"
        direction = "out"
        ports = [6000]
        reason = "not there"
        [[rule]]
        action = "reject"
        direction = "listen"
        ports = ["7000-7999"]
        "#,
    );
    let policy = HostPolicy::new(policy.expect("a policy"));
    scene.bench.device(0).set_host_policy(Some(policy));
    let mut honest = scene.honest();
    let in_use = |port| Err(control::Refusal::Engine(control::Error::PortInUse(port)));
    let listen = |scene: &mut Scene, honest: &mut Honest, port| {
        let listen = control::listen(port, 1);
        scene
            .command(&mut honest.client, &listen)
            .map(|answer| answer.port)
    };
    assert_eq!(listen(&mut scene, &mut honest, 7500), in_use(7500));
    assert_eq!(listen(&mut scene, &mut honest, 6999), Ok(6999));
    let path = scene.path.clone();
    let (mut client, qp) = scene.with(move || {
        let client = Client::connect(&path).expect("a broker");
        let qp = client.create_qp(QpCap::default(), 64).expect("allowed");
        (client, qp)
    });
    let remote = Endpoint {
        ip: scene.bench.ip(1).octets(),
        port: 6000,
    };
    let params = ConnectParams {
        remote,
        ..ConnectParams::default()
    };
    let before = scene.broker.in_use();
    let connect = control::connect(qp.id, &params);
    let conn = scene.command(&mut client, &connect).expect("its own").conn;
    let event = scene.until(|_| client.control().take_event());
    let Event::Rejected {
        conn: rejected,
        private_data,
        ..
    } = event
    else {
        panic!("{event:?}");
    };
    assert_eq!(rejected.number(), conn);
    assert_eq!(&*private_data, b"not there");
    assert_eq!(scene.broker.in_use(), before);
    let gone = scene.command(&mut client, &control::disconnect(rejected));
    assert!(gone.is_err());
    // It may ask elsewhere with the same queue pair.
    let params = ConnectParams {
        remote: Endpoint {
            port: 4791,
            ..remote
        },
        ..params
    };
    let connect = control::connect(qp.id, &params);
    assert!(scene.command(&mut client, &connect).is_ok());
    honest.work(&mut scene);
}

/// D18: a target that a client opens again and again it has once; and all that clients had is given back.
#[test]
fn a_target_opened_again_is_counted_once() {
    if left_out_on_card("a_target_opened_again_is_counted_once", "nothing is lent") {
        return;
    }
    let mut scene = broker_scene(69, Limits::default());
    let path = scene.path.clone();
    let client = scene.with(move || {
        let client = Client::connect(&path).expect("a broker");
        let xrcd = client.open_xrcd("one", XrcdOpen::New).expect("a domain");
        let target = client.create_target(xrcd).expect("a target");
        for _ in 0..200 {
            let again = client
                .open_target(xrcd, target.qp_num)
                .expect("it is there");
            assert_eq!(again.id, target.id);
            let place = client.open_xrcd("one", XrcdOpen::Existing);
            assert!(place.is_ok());
        }
        client
    });
    let used = scene.broker.in_use();
    for of in [("XRC targets", 1), ("XRC domains", 1), ("queue pairs", 1)] {
        assert!(used.contains(&of), "{used:?}");
    }
    drop(client);
    scene.nothing_is_left();
}

/// D14: when a client goes, nobody counts what it has written into its completion queue.
#[test]
fn a_lent_queue_is_not_read_when_it_goes() {
    if left_out_on_card("a_lent_queue_is_not_read_when_it_goes", "nothing is lent") {
        return;
    }
    let bench = Bench::new(&Way::Sim, 73).expect("two cards come up");
    let device = bench.device(0);
    let pd = device.alloc_pd().expect("a domain");
    let cq = device.create_shareable_cq(64).expect("a queue");
    // No more work than places: they are not counted yet.
    let cap = QpCap {
        max_send_wr: 16,
        max_recv_wr: 16,
        ..QpCap::default()
    };
    let init = QpInit {
        cap,
        shareable: true,
        ..QpInit::new(&cq)
    };
    let qp = pd.create_qp(&init).expect("a queue pair");
    let file = qp
        .share()
        .expect("possible")
        .completions
        .try_clone_to_owned();
    let memory = QueueMemory::map(file.expect("a file")).expect("memory");
    let layout = CompletionQueue::new(64).expect("a size");
    for number in 0..64 {
        let forged = Cqe {
            qp_num: qp.qp_num(),
            opcode: (number % 2) as u8,
            flow: qp.flow(),
            ..Cqe::default()
        };
        layout.put(memory.words(), number, forged);
    }
    drop(qp);
    // More work than places: from now on they are counted.
    let _other = pd.create_qp(&QpInit::new(&cq)).expect("a queue pair");
    let said = format!("{cq:?}");
    assert!(said.contains("promised: 0"), "{said}");
}
