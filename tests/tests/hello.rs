//! The example that users copy, `hostdrv/examples/hello.rs`, between two simulated cards.

use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{start, CardConfig, ServeConfig};
use weft_watchdog::Watchdog;

#[allow(dead_code)] // Its `main` takes a command line.
#[path = "../../hostdrv/examples/hello.rs"]
pub mod example;

/// What the server heard, over a link like that.
fn said_hello(seed: u64, link: LinkConfig) -> Result<String, String> {
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
        seed,
        link,
    })
    .expect("two cards are served");
    let open = |n: usize| {
        let transport = transport::open(&format!("vfio-user:{}", sockets[n].display()));
        let config = DeviceConfig::new(mac(n), ip(n)).seed(seed + n as u64);
        Device::open(transport.expect("it is served"), config).expect("it comes up")
    };
    let (server, client) = (open(0), open(1));
    std::thread::scope(|scope| {
        // Each end's device goes when it is done, as a program's does.
        let server =
            scope.spawn(move || example::serve(&server).map_err(|e| format!("server: {e}")));
        let at = std::net::SocketAddrV4::new(ip(0), 7471);
        let said = example::greet(&client, at, "hello, RDMA").map_err(|e| format!("client: {e}"));
        drop(client);
        let heard = server.join().expect("no panic")?;
        said.map(|()| heard)
    })
}

#[test]
fn the_example_says_hello() {
    let _limit = Watchdog::usual("seed 1");
    let heard = said_hello(1, LinkConfig::default());
    assert_eq!(heard.as_deref(), Ok("hello, RDMA"));
}

#[test]
fn the_example_says_hello_where_frames_are_lost() {
    for seed in 0..8 {
        let _limit = Watchdog::usual(format!("seed {seed}"));
        let mut link = LinkConfig::default();
        link.faults.loss = 50_000;
        let heard = said_hello(seed, link);
        assert_eq!(heard.as_deref(), Ok("hello, RDMA"), "seed {seed}");
    }
}
