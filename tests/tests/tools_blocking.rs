//! The tools' own loop, over vfio-user: two programs, each with a card of its own, as the `weft` command runs them.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::{private, start, CardConfig, PrivateSpec, ServeConfig, Served};
use weft_tools::{rping, run, selftest, ucmatose};

/// Two joined cards. A card of another thread runs as fast as the machine lets it: the functional model.
fn two_cards(folder: &std::path::Path) -> Served {
    let card = |number: usize, peer: usize| CardConfig {
        kind: CardKind::Model,
        port: format!("card:{peer}").parse().expect("a port"),
        socket: folder.join(format!("{number}.sock")),
        capture: None,
    };
    start(&ServeConfig {
        cards: vec![card(0, 1), card(1, 0)],
        seed: 1,
        link: LinkConfig::default(),
    })
    .expect("they are served")
}

fn ip(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + number as u8)
}

fn open(served: &Served, number: usize) -> Device {
    let socket = served.sockets()[number].display();
    let transport = transport::open(&format!("vfio-user:{socket}")).expect("a card");
    let mac = [2, 0x57, 0, 0, 0, number as u8];
    Device::open(transport, DeviceConfig::new(mac, ip(number))).expect("comes up")
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("weft-tools-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_server_and_a_client() {
    let folder = folder("rping");
    let served = two_cards(&folder);
    let never = AtomicBool::new(false);
    let (a, b) = (open(&served, 0), open(&served, 1));
    let mut server =
        rping::RpingServer::start(&b, rping::ServerConfig::default(), None).expect("listens");
    let (client, server) = thread::scope(|scope| {
        let server = scope.spawn(|| run(&b, &mut server, &never));
        let config = rping::ClientConfig {
            count: 20,
            size: 4000,
            ..rping::ClientConfig::new(SocketAddrV4::new(ip(1), rping::PORT))
        };
        let mut client = rping::RpingClient::start(&a, config, None).expect("connects");
        let client = run(&a, &mut client, &never).expect("the device works");
        (
            client,
            server.join().expect("no panic").expect("the device works"),
        )
    });
    assert!(client.passed() && server.passed(), "{client:?} {server:?}");
    assert_eq!(server.sessions[0].bytes_verified, 20 * 4000);
    drop((a, b, served));
    std::fs::remove_dir_all(folder).expect("mine");
}

#[test]
fn a_storm_that_is_stopped() {
    let folder = folder("storm");
    let served = two_cards(&folder);
    let (a, b) = (open(&served, 0), open(&served, 1));
    let stop = Arc::new(AtomicBool::new(false));
    let load = ucmatose::Load {
        connections: 3,
        rounds: 1_000_000,
        verify: true,
        ..ucmatose::Load::default()
    };
    let stop_server = AtomicBool::new(false);
    let (client, server) = thread::scope(|scope| {
        let mut server = ucmatose::UcmatoseServer::start(&b, ucmatose::PORT, load.clone(), None)
            .expect("listens");
        let stop_server = &stop_server;
        let b = &b;
        let server = scope.spawn(move || run(b, &mut server, stop_server));
        let at = SocketAddrV4::new(ip(1), ucmatose::PORT);
        let rounds = Arc::clone(&stop);
        let observer = Box::new(move |note| {
            if let ucmatose::UcmatoseNote::Round { done: 3, .. } = note {
                rounds.store(true, Ordering::Relaxed);
            }
        });
        let mut client = ucmatose::UcmatoseClient::start(&a, at, load.clone(), Some(observer))
            .expect("connects");
        let client = run(&a, &mut client, &stop).expect("the device works");
        // Its last connection is gone; the server waits for more.
        thread::sleep(Duration::from_millis(50));
        stop_server.store(true, Ordering::Relaxed);
        (
            client,
            server.join().expect("no panic").expect("the device works"),
        )
    });
    assert!(
        client.passed() && (3..1_000_000).contains(&client.rounds),
        "{client:?}"
    );
    assert_eq!(client.connections, 3 * client.rounds);
    assert_eq!(server.failures, 0, "{server:?}");
    drop((a, b, served));
    std::fs::remove_dir_all(folder).expect("mine");
}

#[test]
fn the_self_test_of_a_served_card() {
    let spec = PrivateSpec {
        card: CardKind::Model,
        ..PrivateSpec::default()
    };
    let served = private(&spec).expect("it is served");
    let socket = served.sockets()[0].display();
    let transport = transport::open(&format!("vfio-user:{socket}")).expect("a card");
    let report = selftest::run(&transport, &[], |_| {});
    assert!(report.passed(), "{report}");
}
