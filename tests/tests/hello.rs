//! The example that users copy, `hostdrv/examples/hello.rs`, between two simulated cards.

use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_limit::Limit;
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{start, CardConfig, ServeConfig};

#[allow(dead_code)] // Its `main` takes a command line.
#[path = "../../hostdrv/examples/hello.rs"]
mod hello;

#[test]
fn the_example_says_hello() {
    let _limit = Limit::usual("seed 1");
    let folder = tempfile::tempdir().expect("a folder");
    let sockets = [0, 1].map(|n| folder.path().join(format!("{n}.sock")));
    let card = |n: usize| CardConfig {
        kind: CardKind::Model,
        port: PortSpec::Card(1 - n),
        socket: sockets[n].clone(),
        capture: None,
    };
    let _served = start(&ServeConfig {
        cards: vec![card(0), card(1)],
        seed: 1,
        link: LinkConfig::default(),
    })
    .expect("two cards are served");
    let open = |n: usize| {
        let transport = transport::open(&format!("vfio-user:{}", sockets[n].display()));
        let config = DeviceConfig::new(mac(n), ip(n)).seed(n as u64);
        Device::open(transport.expect("it is served"), config).expect("it comes up")
    };
    let (server, client) = (open(0), open(1));
    let heard = std::thread::scope(|scope| {
        let server = scope.spawn(|| hello::serve(&server).map_err(|e| e.to_string()));
        hello::greet(
            &client,
            std::net::SocketAddrV4::new(ip(0), 7471),
            "hello, RDMA",
        )
        .expect("it is heard");
        server.join().expect("no panic")
    });
    assert_eq!(heard.as_deref(), Ok("hello, RDMA"));
}
