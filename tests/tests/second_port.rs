//! One card with two engines on the host, each by a port of its own: two threads serve one card.

use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weft_hostdrv::cm::{CmError, ConnParam, Connection};
use weft_hostdrv::raw::RawConfig;
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, QpInit, RecvWr, RemoteRegion, SendWr};
use weft_hostdrv::{Device, DeviceConfig, DeviceError, Rung};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::threads::scope;
use weft_sim::transport::SimTransport;
use weft_sim::world::World;
use weft_tests::{has, left_out_on_card};

const PORT: u16 = 4791;
const BYTES: usize = 60_000;
const ROUNDS: u64 = 6;
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

fn config(number: usize, seed: u64) -> DeviceConfig {
    let config = DeviceConfig::new(mac(number), ip(number));
    config.seed(seed).keepalive(None)
}

/// Two cards, of which the first has two ports.
struct Site {
    world: Arc<Mutex<World>>,
    first: Device,
    peer: Device,
}

impl Site {
    fn new(seed: u64, loss: u32) -> Self {
        let mut world = World::new(seed);
        for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
            world.add_card(kind.build(seed, number as u32));
        }
        let faults = Faults {
            loss,
            ..Faults::default()
        };
        let link = LinkConfig {
            faults,
            ..LinkConfig::default()
        };
        world.join(0, 1, link);
        let world = Arc::new(Mutex::new(world));
        let open = |number, config| {
            let transport = SimTransport::new(&world, number);
            Device::open(Arc::new(transport), config).expect("a card")
        };
        Self {
            first: open(0, config(0, seed).share_card_evenly()),
            peer: open(1, config(1, seed + 2)),
            world,
        }
    }

    fn second(&self, seed: u64) -> Result<Device, DeviceError> {
        self.first.second_port(config(0, seed))
    }
}

/// What one end has.
struct End<'a> {
    device: &'a Device,
    pd: Pd,
    cq: Cq,
    memory: Mr,
}

impl<'a> End<'a> {
    fn of(device: &'a Device) -> Self {
        let pd = device.alloc_pd().expect("a domain");
        Self {
            cq: device.create_cq(64, None).expect("a queue"),
            memory: (pd.alloc_mr(BYTES, Access::LOCAL_WRITE | Access::REMOTE_WRITE))
                .expect("a region"),
            pd,
            device,
        }
    }

    fn fill(&self, salt: u8) {
        self.memory.write(0, &pattern(salt)).expect("inside");
    }

    fn accept(&self, port: u16) -> Result<Connection, CmError> {
        let channel = self.device.create_event_channel();
        let _listener = channel.listen(port, 4)?;
        let offer = ConnParam::with_private_data(self.memory.remote().to_bytes());
        let receives = (0..ROUNDS).map(RecvWr::new);
        channel.accept(&self.pd, &QpInit::new(&self.cq), receives, &offer, LIMIT)
    }

    fn connect(&self, to: usize, port: u16) -> (Connection, RemoteRegion) {
        let channel = self.device.create_event_channel();
        let (init, param) = (QpInit::new(&self.cq), ConnParam::default());
        let to = SocketAddrV4::new(ip(to), port);
        loop {
            // Who listens there may be later.
            if let Ok(connection) = channel.connect(to, &self.pd, &init, &param, LIMIT) {
                let told = connection.private_data().first_chunk();
                let told = RemoteRegion::from_bytes(told.expect("a region"));
                return (connection, told);
            }
            self.cq
                .wait_one(Some(Duration::from_micros(50)))
                .expect("it works");
        }
    }

    /// Writes all of the region and says so, several times.
    fn write(&self, (connection, there): &(Connection, RemoteRegion)) {
        for round in 0..ROUNDS {
            let write = SendWr::write(round, *there)
                .sge(self.memory.sge(0, BYTES as u32))
                .signaled();
            connection.qp().post_send(write).expect("room");
            connection
                .qp()
                .post_send(SendWr::send(round).signaled())
                .expect("room");
            for _ in 0..2 {
                self.cq.wait_success(LIMIT).expect("it works");
            }
        }
    }

    /// Hears of it each time.
    fn hear(&self) {
        for _ in 0..ROUNDS {
            self.cq.wait_success(LIMIT).expect("it works");
        }
    }
}

fn pattern(salt: u8) -> Vec<u8> {
    (0..BYTES).map(|at| (at * 7 % 251) as u8 ^ salt).collect()
}

/// Three connections at a time, each end in a thread that sleeps: one of each port's asks, and the second port's is asked.
fn both_at_once(seed: u64, loss: u32) {
    let site = Site::new(seed, loss);
    let second = site.second(seed + 1).expect("it has two ports");
    let (first, second, peer) = (&site.first, &second, &site.peer);
    let ended = scope(&site.world, |threads| {
        let pairs = [
            (first, peer, 1, 0),
            (second, peer, 1, 1),
            (peer, second, 0, 2),
        ];
        let (mut all, going) = (Vec::new(), Arc::new(AtomicUsize::new(6)));
        for (from, to, number, n) in pairs {
            let port = PORT + n;
            let [one, other] = [going.clone(), going.clone()];
            all.push(threads.spawn(&format!("asked {n}"), move || {
                let end = End::of(to);
                let connection = end.accept(port).expect("somebody asks");
                end.hear();
                assert!(end.memory.to_vec(0, BYTES) == Ok(pattern(n as u8)), "{n}");
                connection.closed(LIMIT).expect("in order");
                one.fetch_sub(1, Ordering::SeqCst);
            }));
            all.push(threads.spawn(&format!("asks {n}"), move || {
                let end = End::of(from);
                end.fill(n as u8);
                let connected = end.connect(number, port);
                end.write(&connected);
                connected.0.id().disconnect().expect("it stands");
                connected.0.closed(LIMIT).expect("in order");
                other.fetch_sub(1, Ordering::SeqCst);
            }));
        }
        // The first one's thread sees to what comes for no connection.
        while going.load(Ordering::SeqCst) > 0 {
            first.progress().expect("it works");
            first.wait(Some(first.now() + 20_000)).expect("it works");
        }
        for thread in all {
            thread.join().expect("no panic");
        }
    });
    ended.expect("it ends");
    // Nobody has waited for a timer: not even who slept when a frame of no flow was given to it.
    let took = first.now();
    assert!(loss > 0 || took < 50_000_000, "{took} ns");
    // Each has had the reports of its own flows.
    let segments = [first, second].map(|device| device.engine_stats().segments);
    assert!(segments.iter().all(|count| *count > 100), "{segments:?}");
}

#[test]
fn two_engines_have_one_card() {
    let test = "two_engines_have_one_card";
    if !left_out_on_card(test, "it shares a simulated one") && has(CardKind::Rtl128) {
        both_at_once(1, 0);
        both_at_once(2, 300);
    }
}

/// What there is once for a card is the first one's; the second comes and goes.
#[test]
fn the_second_has_what_is_not_once_for_a_card() {
    let test = "the_second_has_what_is_not_once_for_a_card";
    if left_out_on_card(test, "it shares a simulated one") || !has(CardKind::Rtl128) {
        return;
    }
    let site = Site::new(3, 0);
    let on_card = site.first.second_port(config(0, 9).rung(Rung::Firmware));
    let why = on_card.err().map(|why| why.to_string());
    assert!(why.is_some_and(|why| why.contains("32 flows")));
    for round in 0..3 {
        let second = site.second(10 + round).expect("it is free");
        let again = site.second(20).err().map(|why| why.to_string());
        assert!(again.is_some_and(|why| why.contains("it is open")));
        let (raw, loopback) = (
            second.raw(RawConfig::default()).err(),
            second.set_mac_loopback(true),
        );
        assert!(
            matches!(raw, Some(DeviceError::OfFirstPort { .. })),
            "{raw:?}"
        );
        assert!(matches!(loopback, Err(DeviceError::OfFirstPort { .. })));
        let halves = [&site.first, &second].map(|device| device.attributes());
        assert_eq!(halves[0].max_qp, halves[1].max_qp);
        // A TCP port is of one of them.
        let (ours, theirs) = (
            site.first.create_event_channel(),
            second.create_event_channel(),
        );
        let _here = ours.listen(PORT, 1).expect("free");
        assert!(theirs.listen(PORT, 1).is_err());
        let _there = theirs.listen(PORT + 1, 1).expect("free");
        assert!(ours.listen(PORT + 1, 1).is_err());
    }
    let alone = Device::open(
        Arc::new(SimTransport::new(&site.world, 1)),
        config(1, 4).share_card_evenly(),
    );
    let why = alone.err().map(|why| why.to_string());
    assert!(why.is_some_and(|why| why.contains("one port")));
}
