//! Native addresses (GID, P_Key, service ID), and the resolver service that knows whose they are.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};
use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_sim::fabric::{ip, mac};
use weft_tests::ends::{completion, next_event, End, PORT};
use weft_tests::left_out_on_card;
use weft_tests::resolvers::{ask, hints, Files};
use weft_tests::watched::{frames, watched};
use weft_tools::resolver::{ResolverError, ResolverReport};
use weft_watchdog::Watchdog;

const TABLE: &str = r#"
services = { weft = 4791 }
[[host]]
name = "one"
ip = "10.0.0.1"
mac = "02:77:65:66:74:00"
[[host]]
name = "two"
ip = "10.0.0.2"
mac = "02:77:65:66:74:01"
mtu = 1400
"#;

/// By GID on both sides, with a record from a resolver: nothing about the way is on the wire.
#[test]
fn a_connection_by_gid() {
    let _limit = Watchdog::usual("seed 1");
    let files = Files::new(TABLE);
    let bench = watched(1);
    let gids = bench.device(1).gids();
    assert_eq!(gids, [Gid::of_mac(mac(1)), Gid::of_ip(ip(1))]);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let report = files.served(|| {
        for (node, gid) in [
            (gids[0].to_string(), gids[0]),
            (gids[1].to_string(), gids[1]),
        ] {
            let listener = b.channel.create_id();
            let wanted = GidAddr::new(gid, PORT);
            listener.bind_native(wanted).expect("its own");
            listener.listen(8).expect("possible");
            assert_eq!(listener.native_addr(), wanted);

            let info = ask(&bench, 0, &node, "0x010612b7", &hints(&files.socket)).expect("known");
            assert_eq!(info.destination, Address::Gid(wanted));
            let client = a.channel.create_id();
            client.resolve_with(&info).expect("of use");
            assert_eq!(client.peer_native_addr(), Some(wanted));
            let (cq, sq) = (&a.cq, &b.cq);
            let qp = client.create_qp(&a.pd, &QpInit::new(cq)).expect("one");
            client.connect(&ConnParam::default()).expect("possible");
            let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
            let from = request.id.peer_native_addr().expect("known");
            assert_eq!(from.gid, Gid::of_ip(ip(0)));
            let server = b.accept(request.id, &ConnParam::default());
            next_event(&bench, &a.channel, CmEventType::Established);
            next_event(&bench, &b.channel, CmEventType::Established);
            let recv = RecvWr::new(7).sge(b.mr.sge(0, 100));
            server.qp().expect("has one").post_recv(recv).expect("room");
            qp.post_send(SendWr::send(8).sge(a.mr.sge(0, 100)).signaled())
                .expect("room");
            assert_eq!(completion(&bench, sq).wr_id, 7);
            assert_eq!(completion(&bench, cq).wr_id, 8);
            let query = qp.query().expect("answers").connection.expect("has one");
            // 1400 of the table, less the headers of IPv4 and TCP and what timestamps take.
            assert!((1340..=1360).contains(&query.segment), "{query:?}");
            client.disconnect().expect("possible");
            next_event(&bench, &a.channel, CmEventType::Disconnected);
            next_event(&bench, &b.channel, CmEventType::Disconnected);
        }
    });
    assert_eq!((report.known, report.nonsense), (2, 0));
    assert_eq!(frames(&bench).0, 0);
    assert!(!files.socket.exists(), "the socket goes with the service");
}

/// Without a resolver, a GID with an IP address in it needs none; any other says that it does.
#[test]
fn gids_without_a_resolver() {
    let _limit = Watchdog::usual("seed 2");
    let bench = watched(2);
    let nobody = hints(Path::new("/nonexistent/resolver.sock"));
    let gids = bench.device(1).gids();
    let port = PORT.to_string();
    let info = ask(&bench, 0, &gids[1].to_string(), &port, &nobody).expect("by ARP");
    assert_eq!(info.destination, Address::Gid(GidAddr::new(gids[1], PORT)));
    assert_eq!(frames(&bench).0, 2);
    let unmapped = ask(&bench, 0, &gids[0].to_string(), &port, &nobody);
    let reason = CmError::Native(NativeError::Unmapped(gids[0]));
    assert_eq!(unmapped, Err(reason.clone()));
    let id = bench.device(0).create_event_channel().create_id();
    let refused = id.resolve_native(GidAddr::new(gids[0], PORT));
    assert_eq!(refused, Err(reason));
    // By IP, with native addresses wanted.
    let native = AddrHints {
        native: true,
        ..nobody
    };
    let info = ask(&bench, 0, &ip(1).to_string(), &port, &native).expect("by ARP");
    assert_eq!(info.destination, Address::Gid(GidAddr::new(gids[1], PORT)));
    // And without an entry at all.
    let a = bench.device(0).create_event_channel();
    let id = a.create_id();
    id.resolve_native(GidAddr::new(gids[1], PORT))
        .expect("mapped");
    a.expect_event(CmEventType::AddrResolved, None)
        .expect("at once");
    assert_eq!(id.peer_addr(), Some(SocketAddrV4::new(ip(1), PORT)));
}

#[test]
fn native_addresses_that_are_refused() {
    let bench = watched(3);
    let channel = bench.device(0).create_event_channel();
    let own = bench.device(0).gids();
    let good = GidAddr::new(own[0], 7);
    let refused = |address| {
        let id = channel.create_id();
        match id.bind_native(address).expect_err("of no use") {
            CmError::Native(reason) => reason,
            other => panic!("{other}"),
        }
    };
    for pkey in [0, 0x7fff, 0x8001] {
        let reason = refused(GidAddr { pkey, ..good });
        assert_eq!(reason, NativeError::Partition(pkey));
    }
    let service_id = 0x0000_0000_013f_0007;
    let reason = refused(GidAddr { service_id, ..good });
    assert_eq!(reason, NativeError::Service(service_id));
    let given = bench.device(1).gids()[0];
    let device = own;
    let reason = refused(GidAddr::new(given, 7));
    assert_eq!(reason, NativeError::NotLocal { given, device });
    // Any of its own.
    let id = channel.create_id();
    id.bind_native(GidAddr::new(Gid([0; 16]), 7))
        .expect("its own");
    assert_eq!(id.native_addr(), good);
    // An entry whose GID says another address than its record.
    let source = Source {
        ip: ip(0),
        mac: mac(0),
    };
    let record = SocketAddrV4::new(ip(1), PORT);
    let entry = AddrInfo::of_route(RouteRecord::iwarp(source, record, mac(1), 1500), 0);
    let to = |gid, port| AddrInfo {
        destination: GidAddr::new(gid, port).into(),
        ..entry.clone()
    };
    let refused = |info: &AddrInfo| channel.create_id().resolve_with(info);
    for (info, wanted) in [
        (to(Gid::of_ip(ip(2)), PORT), SocketAddrV4::new(ip(2), PORT)),
        (to(own[0], 1), SocketAddrV4::new(ip(1), 1)),
    ] {
        let reason = RouteError::OtherDestination { record, wanted };
        assert_eq!(refused(&info), Err(CmError::Route(reason)));
    }
    assert_eq!(refused(&to(bench.device(1).gids()[0], PORT)), Ok(()));
}

/// The table changes under a resolver: what is a table counts from then on, what is none changes nothing.
#[test]
fn a_table_that_changes() {
    let _limit = Watchdog::usual("seed 4");
    let files =
        Files::new("[[host]]\nname = \"one\"\nip = \"10.0.0.1\"\nmac = \"02:00:00:00:00:01\"\n");
    let bench = watched(4);
    let hints = hints(&files.socket);
    let put = |text: &str, age: u64| {
        std::fs::write(&files.table, text).expect("written");
        let file = std::fs::File::options().write(true).open(&files.table);
        let at = std::time::SystemTime::now() + Duration::from_secs(age);
        file.expect("there").set_modified(at).expect("settable");
    };
    let report = files.served(|| {
        let two = || ask(&bench, 0, "two", "weft", &hints);
        assert!(matches!(two(), Err(CmError::Unresolved { .. })));
        put(TABLE, 1);
        let info = two().expect("there by now");
        assert_eq!(info.destination, SocketAddrV4::new(ip(1), PORT).into());
        put("[[host]]\nname = 1\n", 2);
        assert_eq!(two(), Ok(info.clone()), "the old one stays");
        put(TABLE, 3);
        assert_eq!(two(), Ok(info));
    });
    let counted = (report.known, report.unknown, report.reloads);
    assert_eq!(counted, (3, 1, 2), "{report:?}");
    assert_eq!(frames(&bench), (0, 0));
}

/// Those who send nonsense, or nothing, or stay away harm nobody; the others have their answers meanwhile.
#[test]
fn hostile_askers() {
    let _limit = Watchdog::usual("seed 5");
    let files = Files::new(TABLE);
    let bench = watched(5);
    let hints = hints(&files.socket);
    let report = files.served(|| {
        let connect = || UnixStream::connect(&files.socket).expect("it listens");
        let silent: Vec<_> = (0..20).map(|_| connect()).collect();
        for message in [&b"\0\0"[..], b"\xff\xff", b"\0\x05hello", b"\x10"] {
            let mut stream = connect();
            stream.write_all(message).expect("taken");
        }
        for _ in 0..10 {
            ask(&bench, 0, "two", "weft", &hints).expect("known");
        }
        // More than it has room for: some are turned away, and it goes on when they have left.
        let more: Vec<_> = (0..60).map(|_| connect()).collect();
        std::thread::sleep(Duration::from_millis(1500));
        drop((silent, more));
        ask(&bench, 0, "two", "weft", &hints).expect("known");
    });
    assert_eq!(report.known, 11);
    let useless = report.nonsense + report.turned_away;
    assert_eq!(useless, 84, "{report:?}");
    assert!(report.turned_away >= 15, "{report:?}");
}

/// A resolver that hangs, closes or lies: the way is found without it.
#[test]
fn hostile_resolvers() {
    let _limit = Watchdog::usual("seed 6");
    let bench = watched(6);
    let node = ip(1).to_string();
    let wrong = {
        // For another device.
        let source = Source {
            ip: Ipv4Addr::new(1, 2, 3, 4),
            mac: [2; 6],
        };
        let to = SocketAddrV4::new(ip(1), PORT);
        answer_bytes(&[AddrInfo::of_route(
            RouteRecord::iwarp(source, to, [4; 6], 1500),
            0,
        )])
    };
    let framed = |message: &[u8]| [&(message.len() as u16).to_be_bytes()[..], message].concat();
    let empty = framed(&answer_bytes(&[]));
    for (what, answer, slow) in [
        ("nothing", None, true),
        ("an end", Some(vec![]), false),
        ("noise", Some(vec![0, 3, 1, 2, 3]), false),
        ("a part", Some(empty[..5].to_vec()), false),
        ("no way", Some(empty.clone()), false),
        ("another's way", Some(framed(&wrong)), false),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("liar.sock");
        let listener = UnixListener::bind(&socket).expect("it listens");
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let liar = scope.spawn(|| {
                let (mut stream, _) = listener.accept().expect("somebody asks");
                if let Some(answer) = answer {
                    let _ = stream.write_all(&answer);
                    return None;
                }
                Some(stream)
            });
            let info = ask(&bench, 0, &node, "4791", &hints(&socket)).expect(what);
            assert_eq!(info.destination, SocketAddrV4::new(ip(1), PORT).into());
            liar.join().expect("no panic");
        });
        assert_eq!(begun.elapsed() > Duration::from_millis(900), slow, "{what}");
    }
    assert_eq!(frames(&bench), (2, 2), "asked by ARP, once");
}

/// A resolver that takes nobody, and at which as many wait as can: nobody waits behind them.
#[test]
fn a_resolver_that_takes_nobody() {
    if left_out_on_card(
        "a_resolver_that_takes_nobody",
        "its bound is of the wall's time",
    ) {
        return;
    }
    let _limit = Watchdog::usual("seed 8");
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("full.sock");
    let listener = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("one");
    let address = SocketAddrUnix::new(&socket).expect("short");
    net::bind(&listener, &address).expect("free");
    net::listen(&listener, 0).expect("possible");
    let _waiting = UnixStream::connect(&socket).expect("the one that may");
    let bench = watched(8);
    let begun = Instant::now();
    bench.device(1).tell_resolver(Some(&socket));
    ask(&bench, 0, &ip(1).to_string(), "1", &hints(&socket)).expect("by ARP");
    assert!(begun.elapsed() < Duration::from_millis(900));
}

#[test]
fn two_resolvers_at_one_socket() {
    let files = Files::new(TABLE);
    files.served(|| {
        let second = files.start();
        assert!(matches!(second, Err(ResolverError::InUse(_))));
    });
    // One that was killed leaves its socket behind.
    let left = UnixListener::bind(&files.socket).expect("free again");
    drop(left);
    assert!(files.socket.exists());
    let report = files.served(|| ());
    assert_eq!(report, ResolverReport::default());
    let files = Files::new("[[host]]");
    assert!(matches!(files.start(), Err(ResolverError::Table { .. })));
    std::fs::remove_file(&files.table).expect("there");
    assert!(matches!(files.start(), Err(ResolverError::File { .. })));
}
