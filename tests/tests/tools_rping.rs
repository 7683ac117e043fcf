//! rping over two simulated cards: both roles are ours. (Against Linux' rping: the peer lane.)

use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

use weft_hostdrv::cm::{Revision, RtrKinds};
use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::transport::lock;
use weft_tests::{cards, rungs};
use weft_tools::connection::ConnectionTerms;
use weft_tools::peer_error::PeerError;
use weft_tools::rping::*;
use weft_tools::Machine;

const LIMIT: u64 = 60_000_000_000;

fn fabric(seed: u64, link: LinkConfig) -> Fabric {
    Fabric::new(&FabricConfig {
        seed,
        cards: cards(),
        link,
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    })
    .expect("two cards")
}

fn server_at() -> SocketAddrV4 {
    SocketAddrV4::new(ip(1), PORT)
}

/// One client, one server, to their ends.
fn run(
    fabric: &Fabric,
    client: ClientConfig,
    server: ServerConfig,
) -> (SessionReport, ServerReport) {
    let mut server = RpingServer::start(fabric.device(1), server, None).expect("listens");
    let mut client = RpingClient::start(fabric.device(0), client, None).expect("connects");
    let (mut c, mut s) = (None, None);
    fabric
        .run_until("the end of rping", LIMIT, || {
            c = c.take().or_else(|| client.poll());
            s = s.take().or_else(|| server.poll());
            (c.is_some() && s.is_some()).then_some(())
        })
        .expect("both end");
    (c.expect("ended"), s.expect("ended"))
}

#[test]
fn pings_of_many_sizes_come_back() {
    for (seed, size) in [(1, MIN_SIZE), (2, 64), (3, 1461), (4, 5000), (5, MAX_SIZE)] {
        let config = ClientConfig {
            size,
            count: 5,
            ..ClientConfig::new(server_at())
        };
        let (client, server) = run(
            &fabric(seed, LinkConfig::default()),
            config,
            ServerConfig::default(),
        );
        assert!(client.passed(), "{client:?}");
        assert!(server.passed(), "{server:?}");
        for report in [&client, &server.sessions[0]] {
            assert_eq!(
                (report.iterations, report.bytes_verified),
                (5, 5 * size as u64)
            );
            assert_eq!(report.latency.expect("pings were timed").count, 5);
        }
    }
}

#[test]
fn every_way_to_connect() {
    let base = || ConnectionTerms {
        private_data: b"weft rping".to_vec(),
        ..ConnectionTerms::default()
    };
    let ways = [
        ConnectionTerms {
            peer_to_peer: Some(true),
            rtr: Some(RtrKinds::READ),
            ..base()
        },
        ConnectionTerms {
            peer_to_peer: Some(true),
            rtr: Some(RtrKinds::WRITE),
            ..base()
        },
        ConnectionTerms {
            peer_to_peer: Some(true),
            rtr: Some(RtrKinds::SEND),
            ..base()
        },
        ConnectionTerms {
            peer_to_peer: Some(false),
            ..base()
        },
        ConnectionTerms {
            revision: Revision::Rev1,
            markers: true,
            ..base()
        },
        ConnectionTerms {
            ird: Some(4),
            ord: Some(3),
            ..base()
        },
    ];
    for (seed, terms) in (10..).zip(ways) {
        let config = ClientConfig {
            count: 3,
            size: 3000,
            terms: terms.clone(),
            ..ClientConfig::new(server_at())
        };
        let (client, server) = run(
            &fabric(seed, LinkConfig::default()),
            config,
            ServerConfig::default(),
        );
        assert!(
            client.passed() && server.passed(),
            "{terms:?} {client:?} {server:?}"
        );
        let agreed = client.negotiated.expect("connected");
        assert_eq!(
            agreed.rtr.is_some(),
            terms
                .peer_to_peer
                .unwrap_or(terms.revision == Revision::Rev2)
        );
        assert_eq!(
            agreed.mpa_revision,
            if terms.revision == Revision::Rev1 {
                1
            } else {
                2
            }
        );
        assert_eq!(agreed.markers_received, terms.markers);
        assert_eq!(server.sessions[0].peer_private_data, "weft rping");
    }
}

/// Each segment begins with an FPDU where both ends say so, and nobody is turned away.
#[test]
fn aligned_where_both_say_so() {
    let terms = |aligned| ConnectionTerms {
        aligned,
        ..ConnectionTerms::default()
    };
    for (seed, asks, grants) in [(30, true, true), (31, true, false), (32, false, true)] {
        let config = ClientConfig {
            count: 3,
            size: 3000,
            terms: terms(asks),
            ..ClientConfig::new(server_at())
        };
        let serve = ServerConfig {
            terms: terms(grants),
            ..ServerConfig::default()
        };
        let (client, server) = run(&fabric(seed, LinkConfig::default()), config, serve);
        assert!(client.passed() && server.passed(), "{client:?} {server:?}");
        let [ours, theirs] = [client, server.sessions[0].clone()].map(|end| end.negotiated);
        assert_eq!(ours, theirs);
        let agreed = ours.expect("connected");
        assert_eq!(agreed.aligned, asks && grants);
        assert_eq!(agreed.to_string().contains(", aligned,"), agreed.aligned);
    }
}

/// Native addresses and events by callback: nothing else is different.
#[test]
fn a_server_at_a_gid_whose_events_come_by_callback() {
    for (seed, native, callbacks) in [(15, true, false), (16, false, true), (17, true, true)] {
        let fabric = fabric(seed, LinkConfig::default());
        let config = ClientConfig {
            count: 3,
            ..ClientConfig::new(server_at())
        };
        let serve = ServerConfig {
            native,
            callbacks,
            ..ServerConfig::default()
        };
        let (client, server) = run(&fabric, config, serve);
        assert!(client.passed() && server.passed(), "{client:?} {server:?}");
        assert_eq!(server.sessions[0].iterations, 3);
    }
}

#[test]
fn a_persistent_server_takes_several_clients_at_once() {
    let fabric = fabric(20, LinkConfig::default());
    let config = ServerConfig {
        sessions: 6,
        ..ServerConfig::persistent()
    };
    let mut server = RpingServer::start(fabric.device(1), config, None).expect("listens");
    let client = || {
        let config = ClientConfig {
            count: 4,
            size: 2000,
            ..ClientConfig::new(server_at())
        };
        RpingClient::start(fabric.device(0), config, None).expect("connects")
    };
    let mut clients: Vec<_> = (0..6).map(|_| Some(client())).collect();
    let mut reports = Vec::new();
    let report = fabric
        .run_until("six clients", LIMIT, || {
            for slot in &mut clients {
                if let Some(report) = slot.as_mut().and_then(Machine::poll) {
                    reports.push(report);
                    *slot = None;
                }
            }
            server.poll()
        })
        .expect("the server ends");
    assert!(report.passed() && report.sessions.len() == 6, "{report:?}");
    assert!(report.sessions.iter().all(|s| s.iterations == 4));
    assert!(reports.iter().all(|r| r.passed()), "{reports:?}");
}

#[test]
fn nobody_there_is_an_error_that_says_so() {
    let fabric = fabric(30, LinkConfig::default());
    let mut client =
        RpingClient::start(fabric.device(0), ClientConfig::new(server_at()), None).expect("starts");
    let report = fabric
        .run_until("an end", LIMIT, || client.poll())
        .expect("ends");
    let Some(PeerError::NotConnected { event, status, .. }) = report.error else {
        panic!("{report:?}");
    };
    assert_eq!((event, status), ("RDMA_CM_EVENT_REJECTED", -111));
}

#[test]
fn a_lossy_link_loses_no_ping() {
    let link = LinkConfig {
        faults: Faults {
            loss: 20_000,
            ..Faults::default()
        },
        ..LinkConfig::default()
    };
    let config = ClientConfig {
        count: 20,
        size: 9000,
        ..ClientConfig::new(server_at())
    };
    let (client, server) = run(&fabric(40, link), config, ServerConfig::default());
    assert!(client.passed() && server.passed(), "{client:?} {server:?}");
    assert_eq!(server.sessions[0].bytes_verified, 20 * 9000);
}

/// A key for each use, and more uses than an STag has keys. What was not invalidated could not be bound again: the second ping would fail.
#[test]
fn windows_and_fast_registrations_for_each_ping() {
    for (seed, keys) in [(50, Keys::Window), (51, Keys::FastRegistered)] {
        let config = ClientConfig {
            count: 300,
            size: 1700,
            keys,
            ..ClientConfig::new(server_at())
        };
        let fabric = fabric(seed, LinkConfig::default());
        let (client, server) = run(&fabric, config, ServerConfig::default());
        assert!(client.passed() && server.passed(), "{client:?} {server:?}");
        assert_eq!(server.sessions[0].bytes_verified, 300 * 1700);
    }
}

/// A server that hears nothing more, as one that is stopped in a debugger.
#[test]
fn a_server_that_does_not_close_takes_nothing_from_the_pings() {
    let silent = LinkConfig {
        faults: Faults {
            loss: 1_000_000,
            ..Faults::default()
        },
        ..LinkConfig::default()
    };
    let fabric = fabric(11, LinkConfig::default());
    let config = ServerConfig::default();
    let mut server = RpingServer::start(fabric.device(1), config, None).expect("listens");
    let config = ClientConfig {
        count: 3,
        ..ClientConfig::new(server_at())
    };
    let over = Arc::new(AtomicBool::new(false));
    let heard = over.clone();
    let observer: RpingObserver = Box::new(move |note| {
        let is_over = matches!(note, RpingNote::Step(step) if step == "disconnecting");
        heard.fetch_or(is_over, Relaxed);
    });
    let client = RpingClient::start(fabric.device(0), config, Some(observer));
    let mut client = client.expect("connects");
    let report = fabric
        .run_until("the client's end", LIMIT, || {
            if over.load(Relaxed) {
                // Nothing of its end arrives.
                lock(fabric.world()).link(0).set_config(silent);
            } else {
                server.poll();
            }
            client.poll()
        })
        .expect("ends");
    assert!(report.passed() && report.iterations == 3, "{report:?}");
    assert!(report.elapsed_ns < 2_000_000_000, "{report:?}");
}

#[test]
fn a_silent_client_gives_way_when_there_is_no_room() {
    let fabric = fabric(12, LinkConfig::default());
    let config = ServerConfig {
        at_a_time: 1,
        ..ServerConfig::persistent()
    };
    let mut server = RpingServer::start(fabric.device(1), config, None).expect("listens");
    let client = |count| {
        let config = ClientConfig {
            count,
            ..ClientConfig::new(server_at())
        };
        RpingClient::start(fabric.device(0), config, None).expect("connects")
    };
    let now = || fabric.device(1).now();
    let mut silent = client(0);
    let begin = now();
    let go = |server: &mut RpingServer, until: u64, client: &mut RpingClient| {
        let end = || fabric.device(1).now() >= until;
        fabric
            .run_until("a while", LIMIT, || {
                assert!(server.poll().is_none());
                client.poll().map(Some).or_else(|| end().then_some(None))
            })
            .expect("goes on")
    };
    assert!(go(&mut server, begin + 1_000_000, &mut silent).is_none());
    // Nobody moves the silent one any more. A second one comes too early, a third one does not.
    let early = go(&mut server, u64::MAX, &mut client(3)).expect("ended");
    assert!(!early.passed() && early.iterations == 0, "{early:?}");
    fabric
        .run_until("a silence", LIMIT, || {
            server.poll();
            (now() >= begin + 11_000_000_000).then_some(())
        })
        .expect("passes");
    let late = go(&mut server, u64::MAX, &mut client(3)).expect("ended");
    assert!(late.passed() && late.iterations == 3, "{late:?}");
    server.stop();
    let report = fabric
        .run_until("the server's end", LIMIT, || server.poll())
        .expect("ends");
    assert_eq!((report.ended, report.failed, report.rejected), (2, 1, 1));
}
