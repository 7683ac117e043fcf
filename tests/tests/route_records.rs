//! Resolution apart from connecting: entries that are kept, sent and given to `connect`; and what is on the wire then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_sim::fabric::{ip, mac};
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, no_faults, pattern, End, LIMIT, PORT};
use weft_tests::is_on_card;
use weft_tests::watched::{frames, watched};
use weft_watchdog::Watchdog;

const SECOND: u64 = 1_000_000_000;

/// What the first device finds of the second, as bytes that another process would get.
fn resolved(bench: &Bench) -> Vec<u8> {
    let (node, service) = (bench.ip(1).to_string(), PORT.to_string());
    let device = bench.device(0);
    let query = device.query_addr_info(&node, &service, &AddrHints::default());
    let mut query = query.expect("names that say something");
    let found = bench
        .run_until("an answer", LIMIT, || query.poll().expect("a station"))
        .expect("it comes");
    let [info] = &found[..] else {
        panic!("one way: {found:?}")
    };
    assert_eq!(info.transport, TransportKind::Iwarp);
    assert_eq!(info.destination.to_string(), format!("{node}:{service}"));
    info.to_bytes().to_vec()
}

/// The first device connects with this entry; how long that took.
fn connect_with(bench: &Bench, info: &AddrInfo) -> (End, End, CmId, CmId, u64) {
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(bench);
    let client = a.channel.create_id();
    client.resolve_with(info).expect("of use");
    assert_eq!(client.state(), CmState::RouteResolved);
    client
        .create_qp(&a.pd, &QpInit::new(&a.cq))
        .expect("a queue pair");
    let begun = bench.device(0).now();
    let param = ConnParam::with_private_data(b"by record");
    client.connect(&param).expect("possible");
    let request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
    assert_eq!(request.private_data, b"by record");
    let server = b.accept(request.id, &ConnParam::default());
    next_event(bench, &a.channel, CmEventType::Established);
    let took = bench.device(0).now() - begun;
    next_event(bench, &b.channel, CmEventType::Established);
    (a, b, client, server, took)
}

fn moves_data(bench: &Bench, (a, b): (&End, &End), client: &CmId) {
    let source = pattern(20_000, 9);
    a.mr.write(0, &source).expect("inside");
    let write = SendWr::write(1, b.mr.remote()).sge(a.mr.sge(0, 20_000));
    let qp = client.qp().expect("has one");
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
    assert_eq!(b.mr.to_vec(0, source.len()).expect("inside"), source);
    no_faults(bench);
}

#[test]
fn a_record_asks_nobody() {
    let _limit = Watchdog::usual("seeds 1 to 3");
    let bytes = {
        let bench = watched(1);
        let bytes = resolved(&bench);
        assert_eq!(frames(&bench), (2, 2), "a question and its answer");
        bytes
    };
    // Other devices, which have heard of nobody; the record lies in a file meanwhile.
    let bench = watched(2);
    let info = AddrInfo::from_bytes(&bytes).expect("as it was");
    let (a, b, client, _server, _) = connect_with(&bench, &info);
    moves_data(&bench, (&a, &b), &client);
    let (arp, all) = frames(&bench);
    assert_eq!(arp, 0, "of {all} frames");
    assert!(all > 20);
    // Without it there is a question.
    let bench = watched(3);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let _client = a.client(&bench, &ConnParam::default());
    next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    assert_eq!(frames(&bench).0, 2);
}

/// On the card that the suite is run with.
#[test]
fn a_record_serves_any_card() {
    let _limit = Watchdog::usual("seed 4");
    let bench = Bench::new(&Way::Sim, 4).expect("two cards come up");
    let source = Source {
        ip: ip(0),
        mac: mac(0),
    };
    let to = std::net::SocketAddrV4::new(ip(1), PORT);
    let route = RouteRecord::iwarp(source, to, mac(1), 1500);
    let fabric = bench.fabric().expect("simulated");
    fabric.world().lock().expect("whole").link(0).watch();
    let (a, b, client, _server, _) = connect_with(&bench, &AddrInfo::of_route(route, 0));
    moves_data(&bench, (&a, &b), &client);
    assert_eq!(frames(&bench).0, 0);
}

/// The peer has another MAC address than the record says: after a SYN that nobody took, the peer is asked for.
#[test]
fn a_record_out_of_date_costs_a_second() {
    let _limit = Watchdog::usual("seed 5");
    let bench = watched(5);
    let info = AddrInfo::from_bytes(&resolved(&bench)).expect("whole");
    let source = Source {
        ip: ip(0),
        mac: mac(0),
    };
    let Address::Ip(to) = info.destination else {
        panic!("{info:?}")
    };
    let moved = RouteRecord::iwarp(source, to, [2, 0, 0, 0, 0, 0x77], 1500);
    // Other devices, since those two know each other.
    let bench = watched(6);
    let (a, b, client, _server, took) = connect_with(&bench, &AddrInfo::of_route(moved, 0));
    assert!((SECOND..2 * SECOND).contains(&took), "{took} ns");
    moves_data(&bench, (&a, &b), &client);
    assert_eq!(frames(&bench).0, 2);
    let query = client.qp().expect("has one").query().expect("answers");
    let next_hop = query.connection.map(|connection| connection.next_hop);
    assert_eq!(next_hop, Some(mac(1)));
}

/// Nobody has the address any more.
#[test]
fn a_record_to_nobody_is_unreachable() {
    let _limit = Watchdog::usual("seed 7");
    let bench = watched(7);
    let a = End::new(bench.device(0));
    let source = Source {
        ip: ip(0),
        mac: mac(0),
    };
    let to = std::net::SocketAddrV4::new(ip(9), PORT);
    let route = RouteRecord::iwarp(source, to, mac(9), 1500);
    let id = a.channel.create_id();
    id.resolve_with(&AddrInfo::of_route(route, 0))
        .expect("of use");
    id.create_qp(&a.pd, &QpInit::new(&a.cq))
        .expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    let over = bench.run_until("an end", 600 * SECOND, || {
        a.channel.try_get_event().expect("works")
    });
    let over = over.expect("it comes");
    assert_eq!(
        (over.event, over.failure),
        (CmEventType::Unreachable, Some(ConnectFailure::Unreachable))
    );
    assert!(frames(&bench).0 >= 1, "it was asked for");
}

#[test]
fn what_is_of_no_use_is_refused_with_its_reason() {
    let bench = watched(8);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let info = AddrInfo::from_bytes(&resolved(&bench)).expect("whole");
    let refused = |end: &End, info: &AddrInfo| {
        let id = end.channel.create_id();
        let refused = id.resolve_with(info).expect_err("of no use");
        assert_eq!(id.state(), CmState::Idle, "nothing was changed");
        match refused {
            CmError::Route(reason) => reason,
            other => panic!("{other}"),
        }
    };
    let source = |n| Source {
        ip: ip(n),
        mac: mac(n),
    };
    let foreign = RouteError::NotThisDevice {
        record: source(0),
        device: source(1),
    };
    assert_eq!(refused(&b, &info), foreign);
    let to = std::net::SocketAddrV4::new(ip(1), PORT);
    let with = |next_hop, mtu| RouteRecord::iwarp(source(0), to, next_hop, mtu);
    for (route, reason) in [
        (with(mac(1), 1500).in_vlan(7), RouteError::Vlan(7)),
        (with(mac(1), 575), RouteError::Mtu(575)),
        (with([255; 6], 1500), RouteError::Station([255; 6])),
        (with([0; 6], 1500), RouteError::Station([0; 6])),
    ] {
        assert_eq!(refused(&a, &AddrInfo::of_route(route, 0)), reason);
    }
    let wanted = std::net::SocketAddrV4::new(ip(1), PORT + 1);
    let elsewhere = AddrInfo {
        destination: wanted.into(),
        ..info.clone()
    };
    let reason = RouteError::OtherDestination { record: to, wanted };
    assert_eq!(refused(&a, &elsewhere), reason);
    // An identifier that has gone another way already.
    let id = a.channel.create_id();
    id.resolve_addr(to).expect("possible");
    let late = id.resolve_with(&info);
    assert!(matches!(late, Err(CmError::WrongState { .. })), "{late:?}");
}

#[test]
fn names_that_say_nothing() {
    let bench = watched(9);
    let numeric = AddrHints {
        numeric: true,
        ..AddrHints::default()
    };
    for (node, service) in [
        ("10.0.0.2", "0"),
        ("10.0.0.2", "rdma"),
        ("10.0.0.2", "65536"),
        ("10.0.0.256", "1"),
        ("two", "1"),
        ("10.0.0.255", "1"),
        ("127.0.0.1", "1"),
        ("192.0.2.1", "1"),
    ] {
        let answer = bench.device(0).query_addr_info(node, service, &numeric);
        match answer.expect_err(node) {
            CmError::Unresolved { node: asked, .. } => assert_eq!(asked, node),
            other => panic!("{other}"),
        }
    }
    // An address that nobody has: five seconds of questions.
    let query = bench.device(0).query_addr_info("10.0.0.9", "1", &numeric);
    let mut query = query.expect("a station could have it");
    let fabric = bench.fabric().expect("simulated");
    let silent = loop {
        match query.poll() {
            Ok(None) => fabric.run_for(SECOND).expect("time passes"),
            other => break other,
        }
    };
    let address = ip(8);
    assert_eq!(silent, Err(CmError::NoStation { address }));
    let (asked, all) = frames(&bench);
    assert_eq!(asked, all);
    // Firmware has its own clock: it is asked for an answer a little behind the fifth second, in which it asks once more.
    let most = if is_on_card() { 6 } else { 5 };
    assert!(
        (5..=most).contains(&asked),
        "{asked}: a question each second"
    );
}

/// The call that sleeps, on the wall's time: the answer wakes it.
#[test]
fn a_thread_asks_and_sleeps() {
    let _limit = Watchdog::usual("seed 10");
    let bench = Bench::new(&Way::VfioUser, 10).expect("two cards come up");
    let done = AtomicBool::new(false);
    let (node, service) = (bench.ip(1).to_string(), PORT.to_string());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                bench.device(1).progress().expect("works");
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        let minute = Some(Duration::from_secs(60));
        let device = bench.device(0);
        let found = device.get_addr_info(&node, &service, &AddrHints::default(), minute);
        let silent = device.get_addr_info(
            "10.0.0.9",
            &service,
            &AddrHints::default(),
            Some(Duration::from_millis(100)),
        );
        done.store(true, Ordering::Relaxed);
        assert_eq!(found.expect("an answer").len(), 1);
        let silent = silent.expect_err("nobody");
        assert!(matches!(silent, CmError::NoStation { .. }), "{silent}");
    });
}
