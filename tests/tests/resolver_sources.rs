//! What a resolver knows beyond its table: the system's names, what devices of its host tell, and what the resolvers of other hosts know.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::thread::set_thread_uid;
use weft_hostdrv::cm::*;
use weft_sim::fabric::{ip, mac};
use weft_tests::ends::{next_event, End, PORT};
use weft_tests::resolvers::{ask, hints, served, Files};
use weft_tests::watched::{frames, watched};
use weft_tools::resolver::{Resolver, ResolverConfig};
use weft_watchdog::Watchdog;

const ANY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// Names are looked up by a system that knows two of them.
fn named(config: ResolverConfig) -> ResolverConfig {
    config.lookup(|name| match name {
        "two" => vec![ip(1)],
        "far" => vec![Ipv4Addr::new(192, 0, 2, 1)],
        _ => vec![],
    })
}

/// Waits until it was told so often: who heard something by ARP does not wait for it.
fn heard(resolver: &Resolver, times: u64) {
    while resolver.report().announced < times {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The first program finds its peer by ARP; those that come after it, from other processes, ask nobody, by address, name or GID.
#[test]
fn what_one_program_heard_the_next_one_knows() {
    let _limit = Watchdog::usual("seed 1");
    let files = Files::new("services = { weft = 4791 }");
    let resolver = Resolver::start(named(files.config())).expect("it starts");
    let by_address = ip(1).to_string();
    let by_gid = Gid::of_mac(mac(1)).to_string();
    let names = AddrHints {
        numeric: false,
        ..files.hints()
    };
    let report = served(&resolver, || {
        let bench = watched(1);
        let first = ask(&bench, 0, &by_address, "4791", &names).expect("by ARP");
        assert_eq!(frames(&bench), (2, 2));
        heard(&resolver, 1);
        for (node, service) in [("two", "weft"), (&by_address, "4791"), (&by_gid, "weft")] {
            // Another device's memory of its neighbours, which is empty.
            let bench = watched(2);
            let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
            let _listener = b.listen(&bench);
            let info = ask(&bench, 0, node, service, &names).expect(node);
            assert_eq!(info.route, first.route, "{node}");
            let client = a.channel.create_id();
            client.resolve_with(&info).expect("of use");
            client
                .create_qp(&a.pd, &weft_hostdrv::verbs::QpInit::new(&a.cq))
                .expect("one");
            client.connect(&ConnParam::default()).expect("possible");
            b.accept_next(&bench);
            next_event(&bench, &a.channel, CmEventType::Established);
            assert_eq!(frames(&bench).0, 0, "{node}: ARP");
        }
        // Whose name nobody knows, and whose next station nobody has heard of.
        for (node, reason) in [("three", "not known"), ("far", "no gateway")] {
            let unknown = ask(&bench, 0, node, "4791", &names);
            assert!(
                matches!(unknown, Err(CmError::Unresolved { .. })),
                "{node}: {reason}"
            );
        }
    });
    assert_eq!(
        (report.known, report.unknown, report.announced),
        (3, 3, 1),
        "{report:?}"
    );
}

/// A device tells its host's resolver where it is, and the resolvers of other hosts ask that one; nobody asks by ARP.
#[test]
fn peers_know_their_own_devices() {
    let _limit = Watchdog::usual("seed 2");
    let table = "peers = [\"127.0.0.1:7\"]\nservices = { weft = 4791 }\n";
    let there = Files::new(&format!(
        "{table}[[host]]\nname = \"two\"\nip = \"{}\"\n",
        ip(1)
    ));
    let there_resolver = Resolver::start(there.config().peers_at(ANY)).expect("it starts");
    let port = there_resolver.peers_port().expect("it has one");
    // The first of the peers has no resolver, and says nothing or that nobody is there.
    let here = Files::new(&format!("peers = [\"127.0.0.1:9\", \"127.0.0.1:{port}\"]"));
    let bench = watched(3);
    let report = served(&there_resolver, || {
        let report = here.served(|| {
            let nobody = ask(&bench, 0, "two", "weft", &here.hints());
            assert!(
                matches!(nobody, Err(CmError::Unresolved { .. })),
                "{nobody:?}"
            );
        });
        assert_eq!(
            (report.unknown, report.by_peers),
            (1, 0),
            "its device is not known yet"
        );

        bench.device(1).tell_resolver(Some(&there.socket));
        let report = here.served(|| {
            for _ in 0..3 {
                let by_name = ask(&bench, 0, "two", "weft", &here.hints()).expect("known");
                assert_eq!(by_name.destination, SocketAddrV4::new(ip(1), PORT).into());
                let gid = bench.device(1).gids()[0];
                let by_gid = ask(&bench, 0, &gid.to_string(), "4791", &here.hints());
                let by_gid = by_gid.expect("known");
                assert_eq!(by_gid.destination, GidAddr::new(gid, PORT).into());
                assert_eq!(by_gid.route, by_name.route);
            }
            let nobody = ask(&bench, 0, "three", "weft", &here.hints());
            assert!(
                matches!(nobody, Err(CmError::Unresolved { .. })),
                "{nobody:?}"
            );
        });
        assert_eq!((report.known, report.unknown, report.by_peers), (6, 1, 6));
    });
    // Each of four questions once, but for one that both rounds may have carried.
    assert!((4..=8).contains(&report.for_peers), "{report:?}");
    assert_eq!(
        (report.announced, report.strangers, report.nonsense),
        (1, 0, 0),
        "{report:?}"
    );
    assert_eq!(frames(&bench), (0, 0));
}

/// A peer that lies about where the way leads, sends noise or another's answer is not believed; one that is honest is, behind it.
#[test]
fn peers_that_lie() {
    let _limit = Watchdog::usual("seed 3");
    let liar = UdpSocket::bind(ANY).expect("a port");
    let honest = UdpSocket::bind(ANY).expect("a port");
    let port = |socket: &UdpSocket| socket.local_addr().expect("bound").port();
    let peers = format!(
        "peers = [\"127.0.0.1:{}\", \"127.0.0.1:{}\"]",
        port(&liar),
        port(&honest)
    );
    let node = ip(1).to_string();
    let way = |source: Source, to: Ipv4Addr, port: u16| {
        let to = SocketAddrV4::new(to, port);
        answer_bytes(&[AddrInfo::of_route(
            RouteRecord::iwarp(source, to, mac(1), 1500),
            0,
        )])
    };
    let device = Source {
        ip: ip(0),
        mac: mac(0),
    };
    let other = Source {
        mac: [2; 6],
        ..device
    };
    for (what, id_is_right, lie) in [
        ("noise", true, b"noise".to_vec()),
        ("nothing", true, vec![]),
        ("not asked for", false, way(device, ip(1), PORT)),
        ("another peer", true, way(device, ip(2), PORT)),
        ("another port", true, way(device, ip(1), 1)),
        ("another device", true, way(other, ip(1), PORT)),
    ] {
        let files = Files::new(&peers);
        let bench = watched(4);
        let report = files.served(|| {
            let answer = |socket: &UdpSocket, right: bool, answer: &[u8]| {
                let mut bytes = [0; 9000];
                let (length, from) = socket.recv_from(&mut bytes).expect("a question");
                assert!(
                    Question::from_bytes(&bytes[8..length])
                        .expect("one")
                        .forwarded
                );
                let id = if right {
                    bytes[..8].to_vec()
                } else {
                    vec![7; 8]
                };
                let answer = [&id, answer].concat();
                socket.send_to(&answer, from).expect("sent");
            };
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // The other one is asked only after the lie has come.
                    answer(&liar, id_is_right, &lie);
                    answer(&honest, true, &way(device, ip(1), PORT));
                });
                ask(&bench, 0, &node, "4791", &files.hints()).expect(what);
            });
        });
        assert_eq!(
            (report.known, report.by_peers),
            (1, 1),
            "{what}: {report:?}"
        );
        assert_eq!(frames(&bench), (0, 0), "{what}");
        for socket in [&liar, &honest] {
            socket.set_nonblocking(true).expect("possible");
            while socket.recv(&mut [0; 9000]).is_ok() {}
            socket.set_nonblocking(false).expect("possible");
        }
    }
}

/// Who is not in the list of peers is not answered, and neither are a peer's noise and what it has not been asked to answer.
#[test]
fn strangers_and_noise() {
    let _limit = Watchdog::usual("seed 4");
    let files = Files::new("peers = [\"127.0.0.1:7\"]");
    let resolver = Resolver::start(files.config().peers_at(ANY)).expect("it starts");
    let to = (
        Ipv4Addr::LOCALHOST,
        resolver.peers_port().expect("it has one"),
    );
    let bench = watched(5);
    let question = Question {
        source: Source {
            ip: ip(0),
            mac: mac(0),
        },
        netmask: Ipv4Addr::new(255, 255, 255, 0),
        gateway: None,
        mtu: 1500,
        source_port: 0,
        native: false,
        numeric: true,
        forwarded: true,
        node: ip(1).to_string(),
        service: "1".into(),
    };
    let datagram = |question: &Question| {
        let question = question.to_bytes().expect("not too long");
        [&b"12345678"[..], &question].concat()
    };
    let report = served(&resolver, || {
        bench.device(1).tell_resolver(Some(&files.socket));
        let peer = UdpSocket::bind(ANY).expect("a port");
        let stranger = UdpSocket::bind("127.0.0.2:0").expect("a port");
        let unforwarded = Question {
            forwarded: false,
            ..question.clone()
        };
        stranger.send_to(&datagram(&question), to).expect("sent");
        for noise in [&b""[..], b"noise", &[0; 9000], &datagram(&unforwarded)] {
            peer.send_to(noise, to).expect("sent");
        }
        peer.send_to(&datagram(&question), to).expect("sent");
        // The only answer is the last one's.
        let mut answer = [0; 9000];
        let length = peer.recv(&mut answer).expect("answered");
        assert_eq!(&answer[..8], b"12345678");
        let found = answer_from_bytes(&answer[8..length]).expect("an answer");
        assert_eq!(found.len(), 1, "{found:?}");
        for socket in [&peer, &stranger] {
            socket.set_nonblocking(true).expect("possible");
            assert!(socket.recv(&mut answer).is_err());
        }
    });
    let counted = (report.for_peers, report.strangers, report.nonsense);
    assert_eq!(counted, (1, 1, 4), "{report:?}");
}

/// Any user may ask, and only root and the resolver's own user are believed.
#[test]
fn who_is_believed() {
    let _limit = Watchdog::usual("seed 5");
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root has other users' threads");
        return;
    }
    let files = Files::new("");
    let folder = files.table.parent().expect("it has one");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder, open).expect("its own");
    let bench = watched(6);
    let station = Station {
        ip: ip(1),
        mac: mac(1),
        mtu: 1500,
    };
    let hints = files.hints();
    let resolver = files.start().expect("it starts");
    let report = served(&resolver, || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                set_thread_uid(rustix::process::Uid::from_raw(65534)).expect("root may");
                tell(&files.socket, &Told::Answered(station).to_bytes());
                tell(&files.socket, b"WTEL is no record");
            });
        });
        // It is asked by ARP, for what nobody said was not believed. The program is root's, so what it heard is.
        for _ in 0..2 {
            ask(&bench, 0, &ip(1).to_string(), "1", &hints).expect("there");
            heard(&resolver, 1);
        }
    });
    assert_eq!(frames(&bench), (2, 2));
    assert_eq!(
        (report.not_believed, report.announced),
        (1, 1),
        "{report:?}"
    );
    assert_eq!((report.known, report.unknown), (1, 1), "{report:?}");
    assert_eq!(report.nonsense, 1, "{report:?}");
}

/// What one process tells, and then waits until it was taken.
fn tell(socket: &Path, message: &[u8]) {
    use std::io::{Read, Write};
    let mut stream = UnixStream::connect(socket).expect("all users may");
    let length = (message.len() as u16).to_be_bytes();
    stream.write_all(&length).expect("taken");
    stream.write_all(message).expect("taken");
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "nothing is answered");
}

/// A program that listens has said where it is, without a word in the program.
#[test]
fn who_listens_is_known() {
    let _limit = Watchdog::usual("seed 6");
    let files = Files::new("");
    let report = files.served(|| {
        let program = std::env::current_exe().expect("there");
        let listens = Command::new(program)
            .args(["--exact", "resolver_sources::listens", "--ignored"])
            .env(RESOLVER_VARIABLE, &files.socket)
            .output();
        let listens = listens.expect("it runs");
        assert!(listens.status.success(), "{listens:?}");
        let bench = watched(7);
        ask(&bench, 0, &ip(1).to_string(), "1", &files.hints()).expect("there");
        assert_eq!(frames(&bench), (0, 0));
    });
    assert_eq!((report.announced, report.known), (1, 1), "{report:?}");
}

/// Run by the test above in a process of its own.
#[test]
#[ignore = "a part of who_listens_is_known"]
fn listens() {
    let bench = watched(8);
    End::new(bench.device(1)).listen(&bench);
}

/// Without a table, at a socket of the user's choice.
#[test]
fn a_resolver_without_a_table() {
    let _limit = Watchdog::usual("seed 7");
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("sock");
    let resolver = Resolver::start(named(ResolverConfig::new(&socket))).expect("it starts");
    assert_eq!((resolver.hosts(), resolver.peers_port()), (0, None));
    let bench = watched(9);
    let names = AddrHints {
        numeric: false,
        ..hints(&socket)
    };
    let report = served(&resolver, || {
        bench.device(1).tell_resolver(Some(&socket));
        let info = ask(&bench, 0, "two", "4791", &names).expect("known");
        assert_eq!(info.destination, SocketAddrV4::new(ip(1), PORT).into());
    });
    assert_eq!((report.known, report.announced), (1, 1));
    assert_eq!(frames(&bench), (0, 0));
}
