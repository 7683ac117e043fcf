//! The kernel's packet filter decides who may connect to the engine's listeners on a card that is the kernel's interface as well: nftables in a network namespace,
//! a peer on another card.

use std::net::{SocketAddrV4, TcpListener};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam, EventChannel, REJECTED_BY_POLICY};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, QpInit, SendWr, WcStatus};
use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_tests::namespace::{skipped, Namespace};
use weft_tests::{left_out_on_card, rungs};
use weft_tools::interface::{InterfaceError, NetInterface};

const NAME: &str = "weft0";
const PORT: u16 = 7471;
const OTHER: u16 = 7472;
/// No step of a test takes as long.
const PATIENCE: Duration = Duration::from_secs(120);

/// What an end has.
struct End {
    channel: EventChannel,
    pd: Pd,
    cq: Cq,
    mr: Mr,
}

/// A peer on one card; on the other an interface of the kernel's and two listeners of the engine's.
struct Host {
    fabric: Rc<Fabric>,
    space: Namespace,
    interface: Option<NetInterface>,
    ends: [End; 2],
    _listeners: [CmId; 2],
}

fn nft(rules: &str) -> Result<(), String> {
    let output = Command::new("nft").arg(rules).output();
    let output = output.map_err(|error| format!("nft: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

impl Host {
    /// `None`: skipped.
    fn new(seed: u64) -> Option<Self> {
        let space = Namespace::new()?;
        // Which speaks by itself.
        space.run(|| {
            let switch = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
            std::fs::write(switch, "1").expect("root may");
        });
        if let Err(why) = space.run(|| nft("add table ip weft")) {
            skipped(&format!("needs nftables: {why}"));
            return None;
        }
        let config = FabricConfig {
            seed,
            cards: vec![CardKind::Model; 2],
            rungs: rungs().to_vec(),
            ..FabricConfig::default()
        };
        let fabric = Rc::new(Fabric::new(&config).expect("bring-up"));
        let ends = [0, 1].map(|number| {
            let device = fabric.device(number);
            let pd = device.alloc_pd().expect("a domain");
            let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
            End {
                channel: device.create_event_channel(),
                cq: device.create_cq(64, None).expect("a queue"),
                mr: pd.alloc_mr(4096, access).expect("a region"),
                pd,
            }
        });
        let listeners = [PORT, OTHER].map(|port| {
            let id = ends[1].channel.create_id();
            id.bind_addr(SocketAddrV4::new(fabric::ip(1), port))
                .expect("free");
            id.listen(8).expect("possible");
            id
        });
        let mut host = Self {
            fabric,
            space,
            interface: None,
            ends,
            _listeners: listeners,
        };
        host.open();
        host.rules("add chain ip weft input { type filter hook input priority 0; }");
        Some(host)
    }

    fn open(&mut self) {
        let device = self.fabric.device(1).clone();
        let interface = self.space.run(move || {
            let mut interface = NetInterface::open(&device, NAME, Some(24))?;
            interface.honour_packet_filter()?;
            Ok::<_, InterfaceError>(interface)
        });
        self.interface = Some(interface.expect("the interface"));
    }

    fn rules(&self, rules: &'static str) {
        self.space.run(move || nft(rules).expect(rules));
    }

    /// Runs until something is there.
    fn until<T>(&mut self, what: &str, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            match &mut self.interface {
                Some(interface) => interface.progress().expect("it works"),
                None => self.fabric.device(1).progress().expect("it works"),
            };
            self.fabric.device(0).progress().expect("it works");
            self.fabric.run_for(20_000).expect("it works");
            if let Some(found) = found(self) {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{what} did not come about");
        }
    }

    fn event(&mut self, end: usize, of: &str) -> CmEvent {
        self.until(of, |host| {
            let event = host.ends[end].channel.try_get_event().expect("it works")?;
            let steps = [CmEventType::AddrResolved, CmEventType::RouteResolved];
            (!steps.contains(&event.event)).then_some(event)
        })
    }

    /// Connects, and writes some bytes if that was possible; else what the peer was told.
    fn knock(&mut self, port: u16) -> Result<(), (i32, Vec<u8>)> {
        let init = |end: &End| QpInit::new(&end.cq);
        let id = self.ends[0].channel.create_id();
        id.resolve_addr(SocketAddrV4::new(fabric::ip(1), port))
            .expect("possible");
        id.resolve_route().expect("possible");
        let qp = id.create_qp(&self.ends[0].pd, &init(&self.ends[0]));
        let qp = qp.expect("a queue pair");
        id.connect(&ConnParam::default()).expect("possible");
        let (request, told) = self.until("an answer", |host| {
            let [a, b] = host.ends.each_ref().map(|end| {
                let event = end.channel.try_get_event().expect("it works")?;
                let steps = [CmEventType::AddrResolved, CmEventType::RouteResolved];
                (!steps.contains(&event.event)).then_some(event)
            });
            (a.is_some() || b.is_some()).then_some((b, a))
        });
        let Some(request) = request else {
            let told = told.expect("one of both");
            assert_eq!(told.event, CmEventType::Rejected);
            return Err((told.status, told.private_data));
        };
        assert_eq!(request.event, CmEventType::ConnectRequest);
        let server = request.id;
        let made = server.create_qp(&self.ends[1].pd, &init(&self.ends[1]));
        made.expect("a queue pair");
        server.accept(&ConnParam::default()).expect("possible");
        for end in [0, 1] {
            let event = self.event(end, "the connection");
            assert_eq!(event.event, CmEventType::Established);
        }
        let write = SendWr::write(1, self.ends[1].mr.remote()).sge(self.ends[0].mr.sge(0, 4096));
        qp.post_send(write.signaled()).expect("room");
        let wc = self.until("a Write", |host| host.ends[0].cq.poll_one().expect("works"));
        assert_eq!(wc.status, WcStatus::Success);
        id.disconnect().expect("possible");
        for end in [0, 1] {
            let event = self.event(end, "the end");
            assert_eq!(event.event, CmEventType::Disconnected);
        }
        Ok(())
    }

    /// Time for whatever the kernel has to say.
    fn wait(&mut self, time: Duration) {
        let start = Instant::now();
        self.until("the time", |_| (start.elapsed() > time).then_some(()));
    }

    fn kept_out(&self) -> u64 {
        let interface = self.interface.as_ref().expect("it is there");
        interface.stats().requests_kept_out
    }

    /// Nothing of what the kernel was asked went to the wire.
    fn check_wire(&mut self) {
        self.wait(Duration::from_millis(50));
        for number in 0..2 {
            let stats = self.fabric.device(number).engine_stats();
            assert_eq!((stats.resets_received, stats.resets_sent), (0, 0));
            // A probe of the tail, where an acknowledgment was late, is no loss.
            assert_eq!(stats.retransmits, stats.tail_probes);
        }
    }
}

const NOT_ALLOWED: i32 = -13;

fn kept_out() -> Result<(), (i32, Vec<u8>)> {
    Err((NOT_ALLOWED, REJECTED_BY_POLICY.to_vec()))
}

/// Drops and rejections of every kind, by port and by address, added and taken away while the listeners stand.
#[test]
fn rules_of_the_kernel_hold_for_the_engines_listeners() {
    if left_out_on_card(
        "rules_of_the_kernel_hold_for_the_engines_listeners",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut host) = Host::new(41) else {
        return;
    };
    assert_eq!(host.knock(PORT), Ok(()));
    for (rule, ports) in [
        ("add rule ip weft input tcp dport 7471 drop", [false, true]),
        (
            "add rule ip weft input ip saddr 10.0.0.1 drop",
            [false, false],
        ),
        (
            "add rule ip weft input ip saddr 10.0.0.9 drop",
            [true, true],
        ),
        (
            "add rule ip weft input tcp dport 7472 reject with tcp reset",
            [true, false],
        ),
        (
            "add rule ip weft input tcp dport 7471 reject with icmp type admin-prohibited",
            [false, true],
        ),
        (
            "add rule ip weft input iifname weft0 meta l4proto tcp drop",
            [false, false],
        ),
        ("add rule ip weft input iifname lo drop", [true, true]),
    ] {
        host.space.run(move || nft(rule).expect(rule));
        let before = host.kept_out();
        for (port, passes) in [PORT, OTHER].into_iter().zip(ports) {
            let wanted = if passes { Ok(()) } else { kept_out() };
            assert_eq!(host.knock(port), wanted, "{rule}, port {port}");
        }
        let refused = ports.iter().filter(|passes| !**passes).count() as u64;
        assert_eq!(host.kept_out() - before, refused, "{rule}");
        host.rules("flush chain ip weft input");
    }
    assert_eq!(host.knock(PORT), Ok(()));
    host.check_wire();
}

/// A host that lets in what it knows: rules of the connection tracking, and what is before the input.
#[test]
fn a_host_that_is_closed_but_for_one_port() {
    if left_out_on_card(
        "a_host_that_is_closed_but_for_one_port",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut host) = Host::new(42) else {
        return;
    };
    host.rules("add rule ip weft input ct state invalid drop");
    host.rules("add rule ip weft input ct state established,related accept");
    host.rules("add rule ip weft input tcp dport 7472 ct state new accept");
    host.rules("add rule ip weft input drop");
    for _ in 0..3 {
        assert_eq!(host.knock(OTHER), Ok(()));
        assert_eq!(host.knock(PORT), kept_out());
    }
    host.rules("add chain ip weft before { type filter hook prerouting priority -300; }");
    host.rules("add rule ip weft before tcp dport 7472 drop");
    assert_eq!(host.knock(OTHER), kept_out());
    host.check_wire();
}

/// A program of the kernel's that listens on the same port is asked nothing, whatever the filter says.
#[test]
fn a_listener_of_the_kernels_hears_nothing() {
    if left_out_on_card(
        "a_listener_of_the_kernels_hears_nothing",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut host) = Host::new(43) else {
        return;
    };
    let listener = host.space.run(|| {
        let listener = TcpListener::bind((fabric::ip(1), PORT)).expect("free");
        listener.set_nonblocking(true).expect("possible");
        listener
    });
    assert_eq!(host.knock(PORT), Ok(()));
    host.wait(Duration::from_millis(50));
    let before = host.interface.as_ref().expect("there").stats();
    // Its answer would be repeated after a second.
    host.wait(Duration::from_millis(1500));
    let after = host.interface.as_ref().expect("there").stats();
    assert_eq!(before.from_kernel, after.from_kernel);
    let nobody = listener.accept().expect_err("nobody came");
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
    host.rules("add rule ip weft input tcp dport 7471 drop");
    assert_eq!(host.knock(PORT), kept_out());
    host.check_wire();
}

/// What cannot be asked lets nobody in; without an interface nobody is asked.
#[test]
fn an_interface_that_is_down_or_gone() {
    if left_out_on_card(
        "an_interface_that_is_down_or_gone",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut host) = Host::new(44) else {
        return;
    };
    assert_eq!(host.knock(PORT), Ok(()));
    host.space.ip(&format!("link set {NAME} down"));
    assert_eq!(host.knock(PORT), kept_out());
    host.space.ip(&format!("link set {NAME} up"));
    assert_eq!(host.knock(PORT), Ok(()));
    host.rules("add rule ip weft input tcp dport 7471 drop");
    assert_eq!(host.knock(PORT), kept_out());
    host.interface = None;
    assert_eq!(host.knock(PORT), Ok(()));
    host.open();
    assert_eq!(host.knock(PORT), kept_out());
}

#[test]
fn an_interface_without_the_cards_address_cannot_ask() {
    if left_out_on_card(
        "an_interface_without_the_cards_address_cannot_ask",
        "no raw frames are there",
    ) {
        return;
    }
    let Some(mut host) = Host::new(45) else {
        return;
    };
    host.interface = None;
    let device = host.fabric.device(1).clone();
    let refused = host.space.run(move || {
        let mut interface = NetInterface::open(&device, NAME, None).expect("an interface");
        interface.honour_packet_filter()
    });
    let refused = refused.expect_err("no address");
    assert!(matches!(refused, InterfaceError::Filter(_)), "{refused}");
    // Nothing is left of the attempt.
    assert_eq!(host.knock(PORT), Ok(()));
}
