//! The examples that users copy, `hostdrv/examples`, between two simulated cards served in this process: a way kept in a file, and queue
//! pairs that are connected without connection management.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{start, CardConfig, ServeConfig, Served};
use weft_watchdog::Watchdog;

use crate::hello::example as hello;

#[allow(dead_code)] // Its `main` takes a command line.
#[path = "../../hostdrv/examples/address_info.rs"]
mod address_info;
#[allow(dead_code)]
#[path = "../../hostdrv/examples/direct_lat.rs"]
mod direct_lat;

/// Two devices whose cards are joined, and what keeps them.
fn devices(seed: u64) -> ([Device; 2], (Served, tempfile::TempDir)) {
    let folder = tempfile::tempdir().expect("a folder");
    let sockets = [0, 1].map(|n| folder.path().join(format!("{n}.sock")));
    let card = |n: usize| CardConfig {
        kind: CardKind::Model,
        port: PortSpec::Card(1 - n),
        socket: sockets[n].clone(),
        capture: None,
    };
    let served = start(&ServeConfig {
        cards: vec![card(0), card(1)],
        seed,
        link: LinkConfig::default(),
    });
    let open = |n: usize| {
        let transport = transport::open(&format!("vfio-user:{}", sockets[n].display()));
        let config = DeviceConfig::new(mac(n), ip(n)).seed(n as u64);
        Device::open(transport.expect("it is served"), config).expect("it comes up")
    };
    let served = served.expect("two cards are served");
    ([open(0), open(1)], (served, folder))
}

#[test]
fn a_way_is_kept_in_a_file() {
    let _limit = Watchdog::usual("seed 1");
    let ([server, client], (_served, folder)) = devices(1);
    let file = folder.path().join("way.bin");
    let node = ip(0).to_string();
    let mut ways = Vec::new();
    for text in ["found", "from a file"] {
        let heard = std::thread::scope(|scope| {
            let server = scope.spawn(|| hello::serve(&server).map_err(|e| e.to_string()));
            let way = address_info::way(&client, &node, "7471", &file).expect("a way");
            // The server may not listen yet.
            let mut greets = (0..1000).map(|_| {
                let greeted = address_info::greet(&client, &way, text);
                greeted.inspect_err(|_| std::thread::sleep(Duration::from_millis(1)))
            });
            assert!(greets.any(|greeted| greeted.is_ok()), "it is heard");
            ways.push(way);
            server.join().expect("no panic")
        });
        assert_eq!(heard.as_deref(), Ok(text));
    }
    assert_eq!(ways[0], ways[1]);
    std::fs::write(&file, b"WINF\x01").expect("written");
    let damaged = address_info::way(&client, &node, "7471", &file);
    assert_eq!(
        damaged.map_err(|e| e.to_string()),
        Err("these 5 bytes are no record".into())
    );
}

#[test]
fn a_ping_pong_without_connection_management() {
    let _limit = Watchdog::usual("seed 2");
    let ([one, two], _served) = devices(2);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("known");
    let run = |device: &Device, mut out_of_band: TcpStream, first| {
        let half = direct_lat::ping_pong(device, &mut out_of_band, first, 100);
        half.map_err(|e| e.to_string())
    };
    std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let (out_of_band, _) = listener.accept().expect("it comes");
            run(&one, out_of_band, false)
        });
        let client = run(&two, TcpStream::connect(at).expect("it listens"), true);
        let server = server.join().expect("no panic");
        assert!(client.expect("it works") < std::time::Duration::from_secs(10));
        server.expect("it works");
    });
}
