//! ucmatose over two simulated cards: both roles are ours. (Against Linux' ucmatose: the peer lane.)

use std::net::SocketAddrV4;

use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_sim::link::{Faults, LinkConfig};
use weft_tests::{cards, fewer_on_card, rungs};
use weft_tools::connection::ConnectionTerms;
use weft_tools::peer_error::PeerError;
use weft_tools::ucmatose::*;
use weft_tools::Machine;

const LIMIT: u64 = 120_000_000_000;

fn fabric(seed: u64, faults: Faults) -> Fabric {
    Fabric::new(&FabricConfig {
        seed,
        cards: cards(),
        link: LinkConfig {
            faults,
            ..LinkConfig::default()
        },
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    })
    .expect("two cards")
}

fn run(fabric: &Fabric, client: &Load, server: &Load) -> (UcmatoseReport, UcmatoseReport) {
    let mut server =
        UcmatoseServer::start(fabric.device(1), PORT, server.clone(), None).expect("listens");
    let at = SocketAddrV4::new(ip(1), PORT);
    let mut client =
        UcmatoseClient::start(fabric.device(0), at, client.clone(), None).expect("connects");
    let (mut c, mut s) = (None, None);
    fabric
        .run_until("the end of ucmatose", LIMIT, || {
            c = c.take().or_else(|| client.poll());
            s = s.take().or_else(|| server.poll());
            (c.is_some() && s.is_some()).then_some(())
        })
        .expect("both end");
    (c.expect("ended"), s.expect("ended"))
}

#[test]
fn many_connections_many_messages() {
    let load = Load {
        connections: fewer_on_card(12, 4),
        messages: fewer_on_card(30, 8),
        size: 3000,
        verify: true,
        ..Load::default()
    };
    let (client, server) = run(&fabric(1, Faults::default()), &load, &load);
    let connections = load.connections as u64;
    let messages = connections * load.messages as u64;
    for report in [&client, &server] {
        assert!(report.passed(), "{report:?}");
        assert_eq!(
            (report.connections, report.messages),
            (connections, messages)
        );
        assert_eq!(report.bytes_verified, messages * 3000);
    }
    assert_eq!(client.connect.expect("measured").count, load.connections);
}

#[test]
fn a_storm_leaves_nothing_behind() {
    let load = Load {
        connections: fewer_on_card(8, 3),
        rounds: fewer_on_card(40, 5),
        messages: 2,
        size: 700,
        verify: true,
        ..Load::default()
    };
    let (client, server) = run(&fabric(2, Faults::default()), &load, &load);
    assert!(client.passed() && server.passed(), "{client:?} {server:?}");
    let connections = load.rounds * load.connections as u64;
    assert_eq!(
        (client.rounds, client.connections, server.connections),
        (load.rounds, connections, connections)
    );
    assert_eq!(client.round.expect("measured").count, load.rounds as usize);
}

#[test]
fn a_storm_over_a_lossy_link() {
    let load = Load {
        connections: fewer_on_card(6, 2),
        rounds: fewer_on_card(6, 2),
        messages: 5,
        size: 5000,
        verify: true,
        ..Load::default()
    };
    let faults = Faults {
        loss: 10_000,
        reorder: 10_000,
        duplicate: 10_000,
        ..Faults::default()
    };
    let (client, server) = run(&fabric(3, faults), &load, &load);
    assert!(client.passed() && server.passed(), "{client:?} {server:?}");
}

#[test]
fn connections_without_messages() {
    let load = Load {
        connections: 5,
        messages: 0,
        ..Load::default()
    };
    let (client, server) = run(&fabric(4, Faults::default()), &load, &load);
    assert!(client.passed() && server.passed(), "{client:?} {server:?}");
    assert_eq!((client.connections, client.messages), (5, 0));
}

#[test]
fn sizes_that_differ_are_found() {
    let load = Load::default();
    let other = Load {
        size: 99,
        ..Load::default()
    };
    let (client, _) = run(&fabric(5, Faults::default()), &load, &other);
    let error = &client.failed.first().expect("it failed").error;
    assert_eq!(
        *error,
        PeerError::MessageSize {
            got: 99,
            expected: 100
        }
    );
}

#[test]
fn without_peer_to_peer_the_server_may_not_speak_first() {
    let load = Load {
        terms: ConnectionTerms {
            peer_to_peer: Some(false),
            ..ConnectionTerms::default()
        },
        patience_ns: Some(5_000_000_000),
        ..Load::default()
    };
    let (client, server) = run(&fabric(6, Faults::default()), &load, &load);
    assert!(
        !client.passed() && !server.passed(),
        "{client:?} {server:?}"
    );
}

/// Every message of twelve connections is received by the one queue, round after round.
#[test]
fn one_shared_receive_queue_for_all_connections() {
    let load = Load {
        connections: 12,
        rounds: fewer_on_card(5, 1),
        messages: fewer_on_card(20, 4),
        size: 3000,
        verify: true,
        srq: true,
        ..Load::default()
    };
    let (client, server) = run(&fabric(60, Faults::default()), &load, &load);
    for report in [&client, &server] {
        assert!(report.passed(), "{report:?}");
        assert_eq!(
            report.bytes_verified,
            load.rounds * 12 * load.messages as u64 * 3000
        );
    }
    let too_many = Load {
        connections: 1000,
        messages: 40,
        ..load
    };
    let device = fabric(61, Faults::default());
    let refused = UcmatoseServer::start(device.device(1), PORT, too_many, None);
    assert!(matches!(refused, Err(PeerError::Setting { .. })));
}
