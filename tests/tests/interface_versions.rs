//! Programs and brokers of different versions of the interface: version 1's ends are kept in `tests/interface-v1`, as they were.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{ConnectParams, Endpoint, Event};
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Sge, Wqe, WqeOpcode};
use weft_hostdrv::unstable::{self, control};
use weft_hostdrv::verbs::*;
use weft_interface_v1 as v1;
use weft_layout::CqeStatus;
use weft_share::{Broker, Client, Limits, SharedQp};
use weft_tests::bench::{Bench, Way};
use weft_tests::clients::{command, event};
use weft_tests::ends::{no_faults, End, PORT};
use weft_tests::left_out_on_card;
use weft_watchdog::Watchdog;

/// Words that a program writes.
const WORDS: usize = 100;

fn words() -> Vec<u64> {
    (1..=WORDS as u64)
        .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect()
}

fn bytes() -> Vec<u8> {
    words().iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn limit() -> Watchdog {
    Watchdog::after(std::time::Duration::from_secs(240), "no seed")
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("card");
    (folder, path)
}

/// Today's broker on a card, and a peer that accepts who comes, until `program` is over and gone.
fn on_todays_broker<T: Send + 'static>(
    program: impl FnOnce(&Path, (u32, u64), &Bench) -> thread::JoinHandle<T>,
) -> (T, Vec<u8>) {
    let bench = Bench::new(&Way::Sim, 31).expect("two cards come up");
    let b = End::new(bench.device(1));
    let _listener = b.listen(&bench);
    let (_folder, path) = folder();
    let mut broker =
        Broker::bind(bench.device(0), &path, Limits::default()).expect("nobody is there");
    let to = (b.mr.rkey(), b.mr.addr());
    let program = program(&path, to, &bench);
    let fabric = bench.fabric().expect("simulated");
    let mut servers = Vec::new();
    while !program.is_finished() || broker.clients() > 0 {
        fabric.progress().expect("it works");
        broker.turn().expect("it works");
        fabric.run_for(2_000).expect("it works");
        while let Some(event) = b.channel.try_get_event().expect("it works") {
            if event.event == CmEventType::ConnectRequest {
                servers.push(b.accept(event.id, &ConnParam::default()));
            }
        }
    }
    no_faults(&bench);
    let there = b.mr.to_vec(0, 8 * WORDS).expect("inside");
    (program.join().expect("it ends well"), there)
}

/// What a program of today does: as one of version 1 does.
fn live(path: &Path, peer: ([u8; 4], u16), to: (u32, u64)) -> u64 {
    let mut client = Client::connect(path).expect("a broker");
    let region = client.memory(4096, Access::LOCAL_WRITE).expect("allowed");
    for (place, word) in region.words().iter().zip(words()) {
        place.store(word.to_le(), std::sync::atomic::Ordering::Relaxed);
    }
    let (lent, write) = (region.lent, Access::LOCAL_WRITE);
    let register = control::register(unstable::domain_of(&lent), 0, lent.iova, lent.length, write);
    let stag = command(&mut client, &register).stag;
    let SharedQp { mut queues, id } = client.create_qp(QpCap::default(), 9).expect("allowed");
    let params = ConnectParams {
        remote: Endpoint {
            ip: peer.0,
            port: peer.1,
        },
        ..ConnectParams::default()
    };
    let conn = command(&mut client, &control::connect(id, &params)).conn;
    match event(&mut client) {
        Event::Established { conn: own, .. } => assert_eq!(own.number(), conn),
        other => panic!("{other:?}"),
    }
    // More than the completion queue holds, one after the other.
    for first in (0..WORDS).step_by(4) {
        let sge = Sge {
            to: 8 * first as u64,
            length: 32,
            stag,
        };
        let wqe = Wqe {
            opcode: WqeOpcode::Write,
            flags: SendWqe::SIGNALED,
            to: to.1 + 8 * first as u64,
            stag: to.0,
            payload: Payload::Sges(std::slice::from_ref(&sge)),
        };
        queues.post_send(&wqe).expect("room");
        let cqe = loop {
            match queues.poll() {
                Some(cqe) => break cqe,
                None => thread::yield_now(),
            }
        };
        assert_eq!(cqe.status(), Ok(CqeStatus::Success));
    }
    let conn = control::ConnId::from_number(conn).expect("a number");
    command(&mut client, &control::disconnect(conn));
    assert!(matches!(event(&mut client), Event::Disconnected { .. }));
    client.version()
}

fn errand(to: (u32, u64), ip: std::net::Ipv4Addr) -> v1::Errand {
    v1::Errand {
        peer: (ip, PORT),
        to,
        words: words(),
    }
}

/// Those that are kept are ends of one interface, by themselves.
#[test]
fn version_1_on_version_1() {
    let _limit = limit();
    let (_folder, path) = folder();
    let broker = v1::Broker::bind(&path).expect("free");
    let serving = thread::spawn(move || broker.serve().expect("it works"));
    let to = (7, 0x1000);
    let errand = errand(to, [10, 0, 0, 2].into());
    let mut client = v1::Client::connect(&path).expect("a broker");
    client.run(&errand).expect("it works");
    assert_eq!(client.ask_nonsense().expect("refused"), "no such request");
    drop(client);
    let served = serving.join().expect("it ends well");
    check_served(&served, to);
    assert_eq!(served.refused, 1);
}

fn check_served(served: &v1::Served, to: (u32, u64)) {
    assert_eq!(served.peer, Some(([10, 0, 0, 2].into(), PORT)));
    assert!(served.disconnected);
    let mut next = to.1;
    for (stag, at, bytes) in &served.written {
        assert_eq!((*stag, *at), (to.0, next));
        next += bytes.len() as u64;
    }
    let written: Vec<u8> = served
        .written
        .iter()
        .flat_map(|(.., b)| b.clone())
        .collect();
    assert_eq!(written, bytes());
}

/// A program that was built when there was version 1 runs on today's driver, and moves its data by the card.
#[test]
fn a_program_of_version_1_on_todays_broker() {
    if left_out_on_card("a_program_of_version_1_on_todays_broker", "nothing is lent") {
        return;
    }
    let _limit = limit();
    let (said, there) = on_todays_broker(|path, to, bench| {
        let (path, errand) = (path.to_owned(), errand(to, bench.ip(1)));
        thread::spawn(move || {
            let mut client = v1::Client::connect(&path).expect("a broker");
            client.run(&errand).expect("it works");
            client.ask_nonsense().expect("refused")
        })
    });
    assert_eq!(said, "no such request");
    assert_eq!(there, bytes());
}

/// A program of today runs on a driver that was built when there was version 1.
#[test]
fn a_program_of_today_on_a_broker_of_version_1() {
    let _limit = limit();
    let (_folder, path) = folder();
    let broker = v1::Broker::bind(&path).expect("free");
    let serving = thread::spawn(move || {
        let served = broker.serve().expect("it works");
        (served, broker.serve().expect("it works"))
    });
    let to = (0x77, 0x4000);
    assert_eq!(live(&path, ([10, 0, 0, 2], PORT), to), 1);
    // It finds out by itself what there is not.
    let client = Client::connect(&path).expect("a broker");
    assert_eq!(client.version(), 1);
    let none = client.extensions().expect_err("not in version 1");
    assert_eq!(none.kind(), std::io::ErrorKind::Unsupported);
    drop(client);
    let (served, nothing) = serving.join().expect("it ends well");
    check_served(&served, to);
    assert_eq!((served.refused, nothing), (0, v1::Served::default()));
}

#[test]
fn both_of_today() {
    if left_out_on_card("both_of_today", "nothing is lent") {
        return;
    }
    let _limit = limit();
    let ((version, found, device), there) = on_todays_broker(|path, to, bench| {
        let (path, ip, device) = (path.to_owned(), bench.ip(1), bench.device(0).extensions());
        thread::spawn(move || {
            let version = live(&path, (ip.octets(), PORT), to);
            let client = Client::connect(&path).expect("a broker");
            (version, client.extensions().expect("it can say"), device)
        })
    });
    assert_eq!(version, 6);
    assert_eq!(found, device);
    assert_eq!(there, bytes());
}

/// Who speaks no version that the broker speaks is told which it speaks, and may ask again; words of requests that no version has change nothing.
#[test]
fn versions_that_nobody_speaks() {
    if left_out_on_card("versions_that_nobody_speaks", "nothing is lent") {
        return;
    }
    let _limit = limit();
    let (answers, _) = on_todays_broker(|path, _, _| {
        let path = path.to_owned();
        thread::spawn(move || {
            let mut socket = UnixStream::connect(path).expect("a broker");
            let hello = u64::from_be_bytes(*b"weft-sh1");
            let extensions = u64::from_be_bytes(*b"weft-ext");
            let mut ask = |request: [u64; 8]| {
                let request = request.map(u64::to_le_bytes).concat();
                socket.write_all(&request).expect("it is there");
                let mut answer = [0; 136];
                // Files that come with it are closed.
                socket.read_exact(&mut answer).expect("it answers");
                answer.to_vec()
            };
            [
                ask([extensions, 0, 0, 0, 0, 0, 0, 0]),
                ask([hello, 7, 9, 0, 0, 0, 0, 0]),
                ask([hello, 2, 1, 0, 0, 0, 0, 0]),
                ask([hello, 1, 9, 5, 6, 7, 8, 9]),
                ask([hello, 1, 2, 0, 0, 0, 0, 0]),
                ask([extensions, u64::MAX, 0, 0, 0, 0, 0, 0]),
                ask([extensions, 8, 1, 2, 3, 4, 5, 6]),
            ]
        })
    });
    let word = |answer: &[u8], at: usize| {
        let word = answer[8 * at..8 * at + 8].try_into().expect("8 bytes");
        u64::from_le_bytes(word)
    };
    let [early, newer, nonsense, agreed, again, beyond, piece] = &answers;
    for (answer, why) in [
        (early, "no such request"),
        (
            newer,
            "versions 7 to 9 of the interface, where this broker speaks 1 to 6",
        ),
        (nonsense, "versions 2 to 1 of the interface"),
        (again, "no such request"),
        (beyond, "byte 18446744073709551615 of "),
    ] {
        assert_eq!(word(answer, 0), 1);
        let said = String::from_utf8_lossy(&answer[8..]);
        assert!(said.starts_with(why), "{said}");
    }
    assert_eq!((word(agreed, 0), word(agreed, 4)), (0, 6));
    // A command, an answer, an event, a CQE.
    assert_eq!(word(agreed, 5), 128 << 48 | 128 << 32 | 64 << 16 | 32);
    // The first field: the operations.
    assert_eq!(word(piece, 0), 0);
    assert_ne!(word(piece, 2), 0);
}
