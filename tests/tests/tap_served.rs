//! The kernel's stack on served cards, by the loop that `weft tap` has: it sleeps until the card's interrupt or the TAP
//! wakes it.
//!
//! `WEFT_TEST_CARD` chooses the card (`model` by default here, since the kernel's timers do not wait for Verilator).

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

use weft_hostdrv::{transport, Device, DeviceConfig, HostStats};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{start, CardConfig, ServeConfig};
use weft_tests::left_out_on_card;
use weft_tests::namespace::Namespace;
use weft_tests::traffic::{bulk, ping};
use weft_tools::interface::{InterfaceStats, NetInterface};
use weft_tools::rping::{ClientConfig, RpingClient, RpingServer, ServerConfig};
use weft_tools::Machine;

const NAME: &str = "weft0";
/// Between two looks at the flag that ends a host's loop.
const LOOK_NS: u64 = 20_000_000;

fn card() -> CardKind {
    let name = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "model".into());
    name.parse().expect("WEFT_TEST_CARD")
}

fn ip(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn config(folder: &Path, number: usize, port: PortSpec) -> CardConfig {
    CardConfig {
        kind: card(),
        port,
        socket: folder.join(format!("card{number}.sock")),
        capture: None,
    }
}

fn serve(cards: Vec<CardConfig>) -> ServeConfig {
    ServeConfig {
        cards,
        seed: 1,
        link: LinkConfig::default(),
    }
}

/// A host: a thread in its namespace with a device, the kernel's interface on it, and something that uses the device.
struct Host {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(InterfaceStats, HostStats)>,
}

impl Host {
    /// Its interface is up when this returns. `work` is called whenever something may have happened.
    fn start<W: FnMut() + 'static>(
        space: &Namespace,
        socket: PathBuf,
        number: u8,
        make: impl FnOnce(&Device) -> W + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let (ready, up) = std::sync::mpsc::channel();
        let thread = space.spawn(move || {
            let spec = format!("vfio-user:{}", socket.display());
            let transport = transport::open(&spec).expect("the card is served");
            let config = DeviceConfig::new([2, 0, 0, 0, 0, number], ip(number));
            let device = Device::open(transport, config).expect("bring-up");
            let mut interface = NetInterface::open(&device, NAME, Some(24)).expect("interface");
            let mut work = make(&device);
            ready.send(()).expect("somebody waits");
            while !flag.load(Ordering::Relaxed) {
                let mut moved = interface.progress().expect("the interface");
                work();
                moved += interface.progress().expect("the interface");
                if moved == 0 {
                    let look = device.now() + LOOK_NS;
                    interface.wait(Some(look)).expect("the card is there");
                }
            }
            (interface.stats(), device.host_stats())
        });
        up.recv().expect("the host is up");
        Self { stop, thread }
    }

    fn end(self) -> (InterfaceStats, HostStats) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the host")
    }
}

/// The kernel at the other end of the wire is no Weft: the card's port is a TAP in its namespace.
#[test]
fn the_wire_ends_in_another_kernel() {
    let (Some(a), Some(b)) = (Namespace::new(), Namespace::new()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let cards = serve(vec![config(
        folder.path(),
        0,
        PortSpec::Tap("wire0".into()),
    )]);
    let served = b.run(move || start(&cards)).expect("serving");
    b.ip("addr add 10.0.0.2/24 dev wire0");
    b.ip("-6 addr add fd00::2/64 dev wire0 nodad");
    let host = Host::start(&a, served.sockets()[0].clone(), 1, |_| || ());
    a.ip(&format!("-6 addr add fd00::1/64 dev {NAME} nodad"));

    let spaces = [a, b];
    for (from, to) in [
        (0, "10.0.0.2"),
        (1, "10.0.0.1"),
        (0, "fd00::2"),
        (1, "fd00::1"),
    ] {
        let ping = ping(&spaces[from], &format!("-n -c 3 -i 0.05 -w 60 {to}"));
        let (good, text) = ping.join().expect("ping");
        assert!(good, "{to}: {text}");
    }
    for thread in bulk(&spaces, SocketAddr::from((ip(2), 22)), 2 << 20) {
        thread.join().expect("the transfer");
    }
    let (stats, host) = host.end();
    assert!(
        stats.to_kernel > 1000 && stats.from_kernel > 1000,
        "{stats:?}"
    );
    assert_eq!(
        stats.to_kernel_dropped_down + stats.to_kernel_dropped_full,
        0
    );
    assert!(host.interrupts > 0, "nobody polled: {host:?}");
    served.stop().expect("served to the end");
}

/// Two hosts, each with the kernel's stack on its card, and rping by the engine at the same time.
#[test]
fn rping_beside_the_kernel() {
    if left_out_on_card("rping_beside_the_kernel", "no raw frames are there") {
        return;
    }
    const PINGS: u64 = 200;
    let (Some(a), Some(b)) = (Namespace::new(), Namespace::new()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let served = start(&serve(vec![
        config(folder.path(), 0, PortSpec::Card(1)),
        config(folder.path(), 1, PortSpec::Card(0)),
    ]));
    let served = served.expect("serving");
    let sockets = served.sockets().to_vec();

    let server = Host::start(&b, sockets[1].clone(), 2, |device| {
        let server = RpingServer::start(device, ServerConfig::persistent(), None);
        let mut server = server.expect("the server");
        move || assert!(server.poll().is_none(), "the server has ended")
    });
    let (done, report) = std::sync::mpsc::channel();
    let client = Host::start(&a, sockets[0].clone(), 1, move |device| {
        let config = ClientConfig {
            count: PINGS,
            ..ClientConfig::new(SocketAddrV4::new(ip(2), weft_tools::rping::PORT))
        };
        let mut client = Some(RpingClient::start(device, config, None).expect("the client"));
        move || {
            if let Some(report) = client.as_mut().and_then(RpingClient::poll) {
                client = None;
                done.send(report).expect("somebody waits");
            }
        }
    });
    let spaces = [a, b];
    let pings = [(0, "10.0.0.2"), (1, "10.0.0.1")]
        .map(|(from, to)| ping(&spaces[from], &format!("-n -c 20 -i 0.05 -w 60 {to}")));
    let transfer = bulk(&spaces, SocketAddr::from((ip(2), 22)), 1 << 20);
    for ping in pings {
        let (good, text) = ping.join().expect("ping");
        assert!(good, "{text}");
    }
    for thread in transfer {
        thread.join().expect("the transfer");
    }
    let report = report.recv().expect("the client's report");
    assert!(report.passed() && report.iterations == PINGS, "{report:?}");
    for host in [client, server] {
        let (stats, _) = host.end();
        assert_eq!(stats.raw.receive_dropped_full, 0);
    }
    served.stop().expect("served to the end");
}
