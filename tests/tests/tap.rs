//! The kernel's stack on our cards: two network namespaces, each with an interface on a card, the two cards joined by a
//! link. Everything between the two stacks goes through both cards: job rings, data path, raw rings.
//!
//! `WEFT_TEST_CARD` chooses the card (`model` by default here, since the kernel's timers do not wait for Verilator).

use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{CmEventType, ConnParam};
use weft_hostdrv::raw::RawConfig;
use weft_hostdrv::verbs::{QpInit, SendWr, WcStatus};
use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::pair::Pair;
use weft_tests::namespace::Namespace;
use weft_tests::traffic::{bulk, bytes, ping};
use weft_tests::{left_out_on_card, rungs};
use weft_tools::interface::{InterfaceError, NetInterface};
use weft_tools::tap::{Tap, TapConfig, TapError};

/// The interface's name in each namespace.
const NAME: &str = "weft0";
/// No step of a test takes as long, not even with the RTL.
const PATIENCE: Duration = Duration::from_secs(120);

fn card() -> CardKind {
    let name = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "model".into());
    name.parse().expect("WEFT_TEST_CARD")
}

/// Bytes to move: Verilator gets an eighth.
fn amount(bytes: usize) -> usize {
    match card() {
        CardKind::Model => bytes,
        _ => bytes / 8,
    }
}

/// Two hosts.
struct Hosts {
    fabric: Rc<Fabric>,
    spaces: [Namespace; 2],
    interfaces: [Option<NetInterface>; 2],
}

impl Hosts {
    /// `None`: skipped.
    fn new(seed: u64, mtu: u16) -> Option<Self> {
        let spaces = [Namespace::new()?, Namespace::new()?];
        let config = FabricConfig {
            seed,
            cards: vec![card(); 2],
            mtu,
            rungs: rungs().to_vec(),
            ..FabricConfig::default()
        };
        let fabric = Rc::new(Fabric::new(&config).expect("bring-up"));
        let mut hosts = Self {
            fabric,
            spaces,
            interfaces: [None, None],
        };
        for number in 0..2 {
            hosts.open(number);
        }
        Some(hosts)
    }

    /// Makes a host's interface, with 10.0.0.n/24 and fd00::n/64.
    fn open(&mut self, number: usize) {
        let device = self.fabric.device(number).clone();
        let interface =
            self.spaces[number].run(move || NetInterface::open(&device, NAME, Some(24)));
        self.interfaces[number] = Some(interface.expect("the interface"));
        // Without waiting for duplicate address detection.
        let address = format!("-6 addr add fd00::{}/64 dev {NAME} nodad", number + 1);
        self.spaces[number].ip(&address);
    }

    fn address(number: usize, port: u16) -> SocketAddr {
        (fabric::ip(number), port).into()
    }

    /// Moves what there is to be moved.
    fn pump(&mut self) -> usize {
        let mut moved = 0;
        for interface in self.interfaces.iter_mut().flatten() {
            moved += interface.progress().expect("the interface");
        }
        // Time for what was sent to arrive; the devices take it from their rings.
        self.fabric.run_for(20_000).expect("the fabric");
        moved
    }

    /// Runs until something is there.
    fn until<T>(&mut self, what: &str, mut condition: impl FnMut(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            let moved = self.pump();
            if let Some(found) = condition(self) {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{what} did not come about");
            if moved == 0 {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// Runs until a thread has ended; what it answered.
    fn finish<T>(&mut self, what: &str, thread: JoinHandle<T>) -> T {
        self.until(what, |_| thread.is_finished().then_some(()));
        match thread.join() {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs `ping` in a namespace to its end: was all answered, and what did it print?
    fn ping(&mut self, from: usize, arguments: &str) -> (bool, String) {
        let ping = ping(&self.spaces[from], arguments);
        self.finish("the end of ping", ping)
    }

    fn stats(&self, number: usize) -> weft_tools::interface::InterfaceStats {
        self.interfaces[number]
            .as_ref()
            .expect("it is there")
            .stats()
    }

    fn counter(&self, number: usize, name: &str) -> u32 {
        self.fabric.device(number).counter(name).expect("counter")
    }
}

#[test]
fn ping_and_neighbour_discovery_both_ways() {
    if left_out_on_card(
        "ping_and_neighbour_discovery_both_ways",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut hosts) = Hosts::new(1, 1500) else {
        return;
    };
    for (from, to) in [
        (0, "10.0.0.2"),
        (1, "10.0.0.1"),
        (0, "fd00::2"),
        (1, "fd00::1"),
    ] {
        let (good, text) = hosts.ping(from, &format!("-n -c 3 -i 0.05 -w 60 {to}"));
        assert!(good, "{to}: {text}");
    }
    // The largest packet that goes out whole, and one that goes in pieces.
    for size in ["-M do -s 1472", "-M dont -s 5000"] {
        let (good, text) = hosts.ping(0, &format!("-n -c 2 -i 0.05 -w 60 {size} 10.0.0.2"));
        assert!(good, "{size}: {text}");
    }
    let neighbours = hosts.spaces[0].ip("neigh show");
    let mac = "02:77:65:66:74:01";
    for ip in ["10.0.0.2", "fd00::2"] {
        let line = neighbours.lines().find(|l| l.starts_with(ip));
        assert!(line.is_some_and(|l| l.contains(mac)), "{ip}: {neighbours}");
    }
    for number in 0..2 {
        assert_eq!(hosts.counter(number, "rx_drop_fcs"), 0);
        let stats = hosts.stats(number).raw;
        assert_eq!(
            (stats.receive_dropped_full, stats.send_dropped_full),
            (0, 0)
        );
    }
}

#[test]
fn tcp_of_the_kernel_moves_megabytes_both_ways() {
    if left_out_on_card(
        "tcp_of_the_kernel_moves_megabytes_both_ways",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut hosts) = Hosts::new(2, 1500) else {
        return;
    };
    for thread in bulk(&hosts.spaces, Hosts::address(1, 22), amount(4 << 20)) {
        hosts.finish("the transfer", thread);
    }
    // ssh's port was the kernel's; nobody listens on the next one, and the kernel says so.
    let refused = hosts.spaces[0].spawn(|| TcpStream::connect(Hosts::address(1, 23)));
    let refused = hosts
        .finish("the refusal", refused)
        .expect_err("nobody listens");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(hosts.fabric.device(1).engine_stats().resets_sent, 0);
}

#[test]
fn jumbo_frames() {
    if left_out_on_card("jumbo_frames", "no raw frames are there") {
        return;
    }
    let Some(mut hosts) = Hosts::new(3, 9000) else {
        return;
    };
    let (good, text) = hosts.ping(0, "-n -c 2 -i 0.05 -w 60 -M do -s 8972 10.0.0.2");
    assert!(good, "{text}");
    let (good, text) = hosts.ping(0, "-n -c 1 -w 1 -M do -s 8973 10.0.0.2");
    assert!(!good, "longer than the MTU: {text}");
    for thread in bulk(&hosts.spaces, Hosts::address(1, 22), amount(4 << 20)) {
        hosts.finish("the transfer", thread);
    }
}

#[test]
fn rdma_and_the_kernel_share_the_cards() {
    if left_out_on_card(
        "rdma_and_the_kernel_share_the_cards",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut hosts) = Hosts::new(4, 1500) else {
        return;
    };
    const PORT: u16 = 7471;
    let length = amount(1 << 20);
    // The engine asks by ARP, the peer's kernel answers, and refuses: nobody listens there.
    let channel = hosts.fabric.device(0).create_event_channel();
    let pd = hosts.fabric.device(0).alloc_pd().expect("PD");
    let cq = hosts.fabric.device(0).create_cq(4, None).expect("CQ");
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(fabric::ip(1), PORT))
        .expect("resolve");
    id.resolve_route().expect("resolve");
    let _qp = id.create_qp(&pd, &QpInit::new(&cq)).expect("QP");
    id.connect(&ConnParam::default()).expect("connect");
    let refused = hosts.until("the refusal", |_| {
        let event = channel.try_get_event().expect("events")?;
        let done = [CmEventType::AddrResolved, CmEventType::RouteResolved];
        (!done.contains(&event.event)).then_some(event)
    });
    assert_eq!(
        (refused.event, refused.status),
        (CmEventType::Rejected, -111)
    );

    // The kernel's connection is made before the engine's and goes on beside it.
    let transfer = bulk(&hosts.spaces, Hosts::address(1, 22), amount(2 << 20));
    let data = bytes(7, length);
    let fabric = Rc::clone(&hosts.fabric);
    let param = ConnParam::default();
    let mut pair = Pair::connect(&fabric, PORT, &param, &param, &data, length).expect("connect");
    pair.established().expect("established");
    let write = |wr_id| {
        let remote = pair.ends[1].target.remote();
        let write = SendWr::write(wr_id, remote).sge(pair.ends[0].source.sge(0, length as u32));
        pair.ends[0].qp.post_send(write.signaled()).expect("post");
    };
    let mut written = 0;
    write(written);
    hosts.until("the Writes and the kernel's transfer", |_| {
        if let Some(wc) = pair.ends[0].cq.poll_one().expect("poll") {
            assert_eq!((wc.status, wc.wr_id), (WcStatus::Success, written));
            written += 1;
            write(written);
        }
        (written >= 4 && transfer.iter().all(JoinHandle::is_finished)).then_some(())
    });
    assert!(pair.ends[1].target.to_vec(0, length).expect("read") == data);
    for thread in transfer {
        hosts.finish("the kernel's transfer", thread);
    }

    // A port on which the engine listens is hidden from the kernel, even if that listens there, too.
    let (ready, listening) = std::sync::mpsc::channel();
    let hidden = hosts.spaces[1].spawn(move || {
        let listener = TcpListener::bind(Hosts::address(1, PORT)).expect("bind");
        ready.send(()).expect("somebody waits");
        listener
    });
    listening.recv().expect("it listens");
    let hidden = hosts.finish("the listener", hidden);
    let knock = hosts.spaces[0].spawn(|| TcpStream::connect(Hosts::address(1, PORT)));
    let knock = hosts
        .finish("a connection", knock)
        .expect("the engine takes it");
    hidden.set_nonblocking(true).expect("set");
    let nobody = hidden.accept().expect_err("the kernel does not");
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
    drop(knock);

    for number in 0..2 {
        let stats = fabric.device(number).engine_stats();
        assert_eq!(stats.resets_sent, 0, "no RST");
        assert_eq!(stats.resets_received, 0, "no RST");
        assert_eq!(stats.retransmits, 0, "nothing was lost");
    }
}

#[test]
fn the_interface_goes_in_the_middle_and_comes_back() {
    if left_out_on_card(
        "the_interface_goes_in_the_middle_and_comes_back",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut hosts) = Hosts::new(5, 1500) else {
        return;
    };
    let (good, _) = hosts.ping(0, "-n -c 1 -w 60 10.0.0.2");
    assert!(good);
    hosts.spaces[1].ip(&format!("link del {NAME}"));
    let mut interface = hosts.interfaces[1].take().expect("it is there");
    let gone = interface.progress().expect_err("the TAP is gone");
    assert!(
        matches!(gone, InterfaceError::Tap(TapError::Gone(_))),
        "{gone}"
    );
    drop(interface);
    // Without a stack of the host's own the engine answers.
    let (good, text) = hosts.ping(0, "-n -c 1 -w 60 10.0.0.2");
    assert!(good, "{text}");
    hosts.open(1);
    let (good, text) = hosts.ping(0, "-n -c 1 -w 60 fd00::2");
    assert!(good, "{text}");
    // Down, not gone: frames are lost and counted, then it goes on.
    hosts.spaces[1].ip(&format!("link set {NAME} down"));
    let (good, text) = hosts.ping(0, "-n -c 1 -w 1 10.0.0.2");
    assert!(!good, "{text}");
    assert!(hosts.stats(1).to_kernel_dropped_down > 0);
    hosts.spaces[1].ip(&format!("link set {NAME} up"));
    let (good, text) = hosts.ping(0, "-n -c 1 -w 60 10.0.0.2");
    assert!(good, "{text}");
}

#[test]
fn what_nobody_takes_is_dropped_and_counted() {
    if left_out_on_card(
        "what_nobody_takes_is_dropped_and_counted",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut hosts) = Hosts::new(6, 1500) else {
        return;
    };
    const SENT: u64 = 100;
    let (good, _) = hosts.ping(0, "-n -c 1 -w 60 10.0.0.2");
    assert!(good);
    // Host 1's port has room for eight frames, and nobody takes them.
    hosts.interfaces[1] = None;
    let room = RawConfig {
        receive: 8,
        ..RawConfig::default()
    };
    let port = hosts.fabric.device(1).raw(room).expect("the port is free");
    hosts.spaces[0].run(|| {
        let socket = UdpSocket::bind(Hosts::address(0, 0)).expect("bind");
        for _ in 0..SENT {
            socket
                .send_to(&[7; 700], Hosts::address(1, 9))
                .expect("send");
        }
    });
    let stats = hosts.until("all datagrams", |_| {
        let stats = port.stats();
        (stats.received + stats.receive_dropped_full >= SENT).then_some(stats)
    });
    assert_eq!(stats.received, 8);
    assert!(stats.receive_dropped_full >= SENT - 8);
    // With a TAP the same port goes on.
    let tap = hosts.spaces[1].run(|| {
        let config = TapConfig {
            mac: Some(fabric::mac(1)),
            ip: Some((fabric::ip(1), 24)),
            mtu: None,
        };
        Tap::open(NAME, &config)
    });
    hosts.interfaces[1] = Some(NetInterface::join(port, tap.expect("the TAP")));
    let (good, text) = hosts.ping(0, "-n -c 1 -w 60 10.0.0.2");
    assert!(good, "{text}");
}
