//! The engine on the card's processor, counted: what it does while its host sleeps, against the usual engine on another card.
#![cfg(ibex)]

use std::error::Error;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex};

use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::processor::{End, Processor, ProcessorError};
use weft_hostdrv::transport::RegisterAccess;
use weft_hostdrv::verbs::{
    Access, AsyncEvent, Cq, Mr, Pd, Qp, QpInit, RecvWr, SendWr, Wc, WcStatus,
};
use weft_hostdrv::{unstable, Device, DeviceConfig, DeviceError, Rung};
use weft_layout::{proc_crash, proc_started, registers, ProcInfo};
use weft_processor_tests::{firmware, firmware_with_engine};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::{lock, SharedWorld, SimTransport};
use weft_sim::world::World;

/// Simulated time after which something should have happened.
const LIMIT: u64 = 100_000_000;
/// What is waited for is looked at so often.
const LOOK: u64 = 20_000;
const CYCLE_NS: u64 = 4;
const PORT: u16 = 4791;
const BYTES: usize = 1 << 13;

/// Card 0 with its firmware's engine, card 1 with the usual one.
struct Site {
    world: SharedWorld,
    device: Device,
    peer: Device,
    processor: Processor,
}

fn config(number: usize, seed: u64) -> DeviceConfig {
    let config = DeviceConfig::new(mac(number), ip(number));
    config.seed(seed).keepalive(None)
}

/// What the processor had done at some time.
struct Before(ProcInfo, u64);

impl Site {
    fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(seed);
        for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
            world.add_card(kind.build(seed, number as u32));
        }
        world.join(0, 1, LinkConfig::default());
        let world = Arc::new(Mutex::new(world));
        let peer = Arc::new(SimTransport::new(&world, 1));
        let peer = Device::open(peer, config(1, !seed))?;
        Self::with(world, seed, peer)
    }

    /// Opens the card that has the firmware.
    fn with(world: SharedWorld, seed: u64, peer: Device) -> Result<Self, Box<dyn Error>> {
        let on_card = config(0, seed)
            .rung(Rung::Firmware)
            .firmware(Arc::new(firmware_with_engine()));
        let device = Device::open(Arc::new(SimTransport::new(&world, 0)), on_card)?;
        let processor = device.processor().ok_or("the engine is not on the card")?;
        Ok(Self {
            world,
            device,
            peer,
            processor,
        })
    }

    /// Opens it anew.
    fn again(self) -> Result<Self, Box<dyn Error>> {
        drop((self.device, self.processor));
        Self::with(self.world, 99, self.peer)
    }

    fn now(&self) -> u64 {
        lock(&self.world).now()
    }

    /// Lets the world and the peer run; the firmware's host does what `condition` does, and nothing else.
    fn until<T>(
        &self,
        what: &str,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, Box<dyn Error>> {
        let end = self.now() + LIMIT;
        while self.now() < end {
            while self.peer.progress()? > 0 {}
            if let Some(found) = condition() {
                return Ok(found);
            }
            self.peer.wait(Some(0))?;
            let deadline = self.peer.next_deadline().unwrap_or(end);
            let deadline = deadline.min(self.now() + LOOK).max(self.now() + 1);
            lock(&self.world).run(Some(deadline))?;
            // Takes the interrupt, if it is the peer's; the next one arms.
            self.peer.wait(Some(0))?;
        }
        let (state, log) = (self.processor.state()?, self.processor.log()?);
        Err(format!("{what}: not in time; {state:?}, {log}").into())
    }

    fn event(&self, channel: &EventChannel, kind: CmEventType) -> Result<CmId, Box<dyn Error>> {
        let event = self.until(kind.name(), || channel.try_get_event().transpose())??;
        assert_eq!(event.event, kind, "status {}", event.status);
        Ok(event.id)
    }

    fn done(&self, cq: &Cq, what: &str, len: usize) -> Result<Wc, Box<dyn Error>> {
        let done = self.until(what, || cq.poll_one().transpose())??;
        assert_eq!(done.status, WcStatus::Success, "{what}");
        if what.starts_with("receive") {
            assert_eq!(done.byte_len as usize, len, "{what}");
        }
        Ok(done)
    }

    fn info(&self) -> Result<ProcInfo, Box<dyn Error>> {
        Ok(self.processor.info()?.ok_or("no firmware")?)
    }

    fn before(&self) -> Result<Before, Box<dyn Error>> {
        Ok(Before(self.info()?, self.processor.state()?.awake))
    }

    /// Since `before`: what the processor did.
    fn say(&self, what: &str, Before(info, awake): &Before) -> Result<(), Box<dyn Error>> {
        let (now, state) = (self.info()?, self.processor.state()?);
        println!(
            "{what}: {} cycles awake, {} instructions, {} turns, {} reports, {} jobs",
            state.awake - awake,
            now.instructions.wrapping_sub(info.instructions),
            now.turns - info.turns,
            now.reports - info.reports,
            now.jobs - info.jobs,
        );
        Ok(())
    }

    /// Cycles from the doorbell of a Write of 64 bytes to its frame, the card asleep before. `all`: the firmware is told that any queue pair may have rung.
    fn post_to_frame(&self, sides: [&Side; 2], qp: &Qp, all: bool) -> Result<u64, Box<dyn Error>> {
        let asleep = self.now() + LOOK;
        lock(&self.world).run(Some(asleep))?;
        lock(&self.world).link(0).watch();
        let from = self.now();
        let source = sides[0].source.sge(0, 64);
        let to = sides[1].target.remote();
        if all {
            let transport = SimTransport::new(&self.world, 0);
            transport.write(registers::PROC_BELL, !1)?;
        }
        qp.post_send(SendWr::write(1, to).sge(source).signaled())?;
        let seen = self.until("a frame", || {
            let mut world = lock(&self.world);
            let seen = world.link(0).take_seen();
            world.link(0).watch();
            seen.into_iter().find(|seen| seen.from == 0)
        })?;
        lock(&self.world).link(0).take_seen();
        self.done(&sides[0].cq, "Write", 64)?;
        Ok((seen.time - from) / CYCLE_NS)
    }

    /// The same, of several posts one after the other: the mean.
    fn say_post_to_frame(&self, sides: [&Side; 2], qps: &[&Qp]) -> Result<u64, Box<dyn Error>> {
        const POSTS: usize = 8;
        let mut means = [0; 2];
        for (mean, all) in means.iter_mut().zip([false, true]) {
            for number in 0..POSTS {
                *mean += self.post_to_frame(sides, qps[number * 5 % qps.len()], all)?;
            }
            *mean /= POSTS as u64;
        }
        let [mean, all] = means;
        println!(
            "post to frame, {} queue pairs: {mean} cycles; {all} if all may have rung",
            qps.len()
        );
        Ok(mean)
    }

    /// So many Writes of 64 bytes, all posted at once: messages a second.
    fn say_rate(&self, sides: [&Side; 2], qp: &Qp) -> Result<(), Box<dyn Error>> {
        const WRITES: u64 = 16;
        let asleep = self.now() + LOOK;
        lock(&self.world).run(Some(asleep))?;
        let before = self.before()?;
        lock(&self.world).link(0).watch();
        let from = self.now();
        for number in 0..WRITES {
            let source = sides[0].source.sge(0, 64);
            let to = sides[1].target.remote();
            let write = SendWr::write(number, to).sge(source);
            qp.post_send(match number + 1 {
                WRITES => write.signaled(),
                _ => write,
            })?;
        }
        self.done(&sides[0].cq, "Write", 64)?;
        let seen = lock(&self.world).link(0).take_seen();
        let last = seen
            .iter()
            .filter(|seen| seen.from == 0)
            .map(|seen| seen.time);
        let ns = last.max().ok_or("no frame")? - from;
        println!("{} messages a second", WRITES * 1_000_000_000 / ns);
        self.say(
            &format!("{WRITES} Writes of 64 bytes, posted at once"),
            &before,
        )
    }

    /// What it used at most.
    fn say_memory(&self) -> Result<(), Box<dyn Error>> {
        let info = self.info()?;
        let (used, size) = self.processor.stack()?.ok_or("no stack")?;
        println!(
            "stack: {used} of {size} bytes; heap: {} of {}",
            info.heap_used, info.heap_bytes
        );
        assert!(
            used < size * 3 / 4,
            "of {size} bytes of stack {used} were used"
        );
        Ok(())
    }
}

/// One end's memory.
struct Side {
    pd: Pd,
    cq: Cq,
    source: Mr,
    target: Mr,
}

impl Side {
    fn new(device: &Device) -> Result<Self, Box<dyn Error>> {
        let pd = device.alloc_pd()?;
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK;
        Ok(Self {
            cq: device.create_cq(64, None)?,
            source: pd.alloc_mr_at(BYTES, 0, Access::REMOTE_READ)?,
            target: pd.alloc_mr_at(BYTES, 0, access)?,
            pd,
        })
    }

    fn init(&self) -> QpInit {
        QpInit::new(&self.cq)
    }
}

/// The identifier of who asks for a connection with the other device, with its route.
fn asking(site: &Site, from: &Device, to: &Device) -> Result<(EventChannel, CmId), Box<dyn Error>> {
    let channel = from.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(to.ip(), PORT))?;
    site.event(&channel, CmEventType::AddrResolved)?;
    id.resolve_route()?;
    site.event(&channel, CmEventType::RouteResolved)?;
    Ok((channel, id))
}

fn listening(device: &Device) -> Result<(EventChannel, CmId), Box<dyn Error>> {
    let channel = device.create_event_channel();
    let listener = channel.create_id();
    listener.bind_addr(SocketAddrV4::new(device.ip(), PORT))?;
    listener.listen(4)?;
    Ok((channel, listener))
}

/// Both ends of a connection that the firmware asked for.
struct Ends {
    listener: Option<CmId>,
    channels: [EventChannel; 2],
    ids: [CmId; 2],
    qps: [Qp; 2],
}

/// The firmware asks for the connection, and its host sleeps until both ends stand.
fn connect(site: &Site, sides: [&Side; 2]) -> Result<Ends, Box<dyn Error>> {
    connect_with(site, sides, &sides[0].init())
}

/// The same with such a queue pair.
fn connect_with(site: &Site, sides: [&Side; 2], init: &QpInit) -> Result<Ends, Box<dyn Error>> {
    let (of_peer, listener) = listening(&site.peer)?;
    let (channel, id) = asking(site, &site.device, &site.peer)?;
    let qp = id.create_qp(&sides[0].pd, init)?;
    let before = site.before()?;
    id.connect(&ConnParam {
        peer_to_peer: Some(true),
        ..ConnParam::default()
    })?;
    let request = site.event(&of_peer, CmEventType::ConnectRequest)?;
    let peer = request.create_qp(&sides[1].pd, &sides[1].init())?;
    request.accept(&ConnParam::default())?;
    site.event(&of_peer, CmEventType::Established)?;
    site.say("connected, as initiator", &before)?;
    // The host wakes, and finds all of it told.
    site.event(&channel, CmEventType::Established)?;
    Ok(Ends {
        listener: Some(listener),
        channels: [channel, of_peer],
        ids: [id, request],
        qps: [qp, peer],
    })
}

/// The firmware finds its peer by ARP and connects: both ends stand, and its host did nothing but ask for it.
#[test]
fn it_connects_while_its_host_sleeps() -> Result<(), Box<dyn Error>> {
    let site = Site::new(21)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let ends = connect(&site, [&sides[0], &sides[1]])?;
    // And both hear of its end.
    ends.ids[1].disconnect()?;
    for channel in &ends.channels {
        site.event(channel, CmEventType::Disconnected)?;
    }
    site.say_memory()
}

/// The peer asks by ARP who has the firmware's address, and then for the connection: the firmware wakes its host for the answer, and that is all it is
/// needed for.
#[test]
fn it_answers_arp_and_wakes_its_host_for_a_request() -> Result<(), Box<dyn Error>> {
    let site = Site::new(22)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let (channel, _listener) = listening(&site.device)?;
    let (of_peer, id) = asking(&site, &site.peer, &site.device)?;
    let _peer = id.create_qp(&sides[1].pd, &sides[1].init())?;
    let before = site.before()?;
    // It sleeps: armed, and with no interrupt left.
    site.device.wait(Some(0))?;
    site.device.wait(Some(0))?;
    id.connect(&ConnParam::default())?;
    let world = site.world.clone();
    site.until("an interrupt", || {
        lock(&world).take_interrupt(0, 0).then_some(())
    })?;
    let request = site.event(&channel, CmEventType::ConnectRequest)?;
    let _qp = request.create_qp(&sides[0].pd, &sides[0].init())?;
    request.accept(&ConnParam::default())?;
    site.event(&of_peer, CmEventType::Established)?;
    site.say("connected, as responder", &before)?;
    site.event(&channel, CmEventType::Established)?;
    Ok(())
}

/// Sends, Writes and Reads both ways, each byte compared: the host writes WQEs and reads CQEs, the firmware works, the card places.
#[test]
fn it_works_for_the_queues_of_its_host() -> Result<(), Box<dyn Error>> {
    let mut rng = fastrand::Rng::with_seed(23);
    let site = Site::new(23)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let [own, peers] = &sides;
    let mut bytes = [vec![0; BYTES], vec![0; BYTES]];
    for (bytes, side) in bytes.iter_mut().zip(&sides) {
        bytes.fill_with(|| rng.u8(..));
        side.source.write(0, bytes)?;
    }
    let ends = connect(&site, [own, peers])?;
    let [qp, peer] = &ends.qps;
    let (mut at_peer, mut at_card) = (vec![0; BYTES], vec![0; BYTES]);
    for len in [1, 64, 1000, 1460, 3000, 5000] {
        let from = rng.usize(..BYTES - len);
        let to = rng.usize(..BYTES - len);
        let before = site.before()?;

        // A Write and a Read of the firmware's host.
        let sge = |mr: &'_ Mr, at: usize| (mr.remote().offset(at as u64), at as u64, len as u32);
        let (remote, ..) = sge(&peers.target, to);
        let source = own.source.sge(from as u64, len as u32);
        qp.post_send(SendWr::write(1, remote).sge(source).signaled())?;
        site.done(&own.cq, "Write", len)?;
        at_peer[to..to + len].copy_from_slice(&bytes[0][from..from + len]);
        let (remote, ..) = sge(&peers.source, from);
        let sink = own.target.sge(to as u64, len as u32);
        qp.post_send(SendWr::read(2, remote).sge(sink).signaled())?;
        site.done(&own.cq, "Read", len)?;
        at_card[to..to + len].copy_from_slice(&bytes[1][from..from + len]);

        // A Send each way.
        let to = rng.usize(..BYTES - len);
        qp.post_recv(RecvWr::new(3).sge(own.target.sge(to as u64, len as u32)))?;
        peer.post_recv(RecvWr::new(4).sge(peers.target.sge(to as u64, len as u32)))?;
        qp.post_send(SendWr::send(5).sge(source).signaled())?;
        site.done(&peers.cq, "receive of the peer", len)?;
        site.done(&own.cq, "Send", len)?;
        at_peer[to..to + len].copy_from_slice(&bytes[0][from..from + len]);
        let source = peers.source.sge(from as u64, len as u32);
        peer.post_send(SendWr::send(6).sge(source).signaled())?;
        site.done(&own.cq, "receive", len)?;
        at_card[to..to + len].copy_from_slice(&bytes[1][from..from + len]);
        site.done(&peers.cq, "Send of the peer", len)?;

        assert!(peers.target.to_vec(0, BYTES)? == at_peer, "{len} bytes");
        assert!(own.target.to_vec(0, BYTES)? == at_card, "{len} bytes");
        site.say(&format!("Write, Read, two Sends of {len} bytes"), &before)?;
    }
    site.say_memory()
}

/// How long a post takes to become a frame, and how many there are in a second, with one queue pair.
#[test]
fn a_post_becomes_a_frame() -> Result<(), Box<dyn Error>> {
    let site = Site::new(28)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let ends = connect(&site, [&sides[0], &sides[1]])?;
    let sides = [&sides[0], &sides[1]];
    site.say_post_to_frame(sides, &[&ends.qps[0]])?;
    site.say_rate(sides, &ends.qps[0])
}

/// A connection is closed in order: what was posted before is done first, though the firmware hears of both at once.
#[test]
fn what_is_posted_before_a_disconnect_is_done() -> Result<(), Box<dyn Error>> {
    let site = Site::new(27)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let ends = connect(&site, [&sides[0], &sides[1]])?;
    sides[0].source.write(0, &[9; BYTES])?;
    let source = sides[0].source.sge(0, BYTES as u32);
    let to = sides[1].target.remote();
    ends.qps[0].post_send(SendWr::write(1, to).sge(source).signaled())?;
    ends.ids[0].disconnect()?;
    site.done(&sides[0].cq, "Write", BYTES)?;
    for channel in &ends.channels {
        site.event(channel, CmEventType::Disconnected)?;
    }
    assert!(sides[1].target.to_vec(0, BYTES)? == [9; BYTES]);
    Ok(())
}

/// A firmware without the engine, and a card that the firmware has already.
#[test]
fn what_cannot_be_is_refused() -> Result<(), Box<dyn Error>> {
    let site = Site::new(24)?;
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 9], [10, 0, 0, 9].into()).rung(Rung::Firmware);
    let again = unstable::start_engine(&site.processor, &config);
    let running = ProcessorError::NotStarted(proc_started::RUNNING.into());
    assert_eq!(again.err(), Some(running));
    // The first one knows nothing of it.
    site.device.alloc_pd()?;
    let processor = site.processor.clone();
    drop(site.device);
    processor.load(&firmware())?;
    processor.start(0)?;
    let none = unstable::start_engine(&processor, &config);
    assert_eq!(none.err(), Some(ProcessorError::NoEngine));
    Ok(())
}

/// 32 connections at once, as it says: each moves bytes. One more queue pair is refused, and so are more work requests than it has memory for; the others
/// know nothing of it.
#[test]
fn it_has_as_many_connections_as_it_says() -> Result<(), Box<dyn Error>> {
    let site = Site::new(25)?;
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let attributes = site.device.attributes();
    assert_eq!((attributes.max_qp, attributes.max_qp_wr), (32, 512));
    let mut init = sides[0].init();
    (init.cap.max_send_wr, init.cap.max_recv_wr) = (16, 16);
    let mut all = Vec::new();
    for number in 0..32 {
        let mut ends = connect_with(&site, [&sides[0], &sides[1]], &init)
            .map_err(|error| format!("connection {number}: {error}"))?;
        // The port is free for the next one.
        ends.listener = None;
        all.push(ends);
    }
    let refused = |init: &QpInit| match sides[0].pd.create_qp(init) {
        Ok(_) => Err("it was made"),
        Err(error) => Ok(error.to_string()),
    };
    let why = refused(&init)?;
    assert!(why.contains("no memory for the queues"), "{why}");
    let bytes: Vec<u8> = (0..BYTES).map(|at| (at * 7 + at / 251) as u8).collect();
    sides[0].source.write(0, &bytes)?;
    let len = BYTES / 32;
    for (number, ends) in all.iter().enumerate() {
        let at = (number * len) as u64;
        let to = sides[1].target.remote().offset(at);
        let source = sides[0].source.sge(at, len as u32);
        ends.qps[0].post_send(SendWr::write(1, to).sge(source).signaled())?;
    }
    for _ in 0..32 {
        site.done(&sides[0].cq, "Write", len)?;
    }
    assert!(sides[1].target.to_vec(0, BYTES)? == bytes);
    let qps: Vec<&Qp> = all.iter().map(|ends| &ends.qps[0]).collect();
    site.say_post_to_frame([&sides[0], &sides[1]], &qps)?;
    site.say_rate([&sides[0], &sides[1]], qps[7])?;
    site.say_memory()?;
    drop(qps);
    drop(all);
    // All of it is free again; then it is the number that is refused, though there are work requests left.
    (init.cap.max_send_wr, init.cap.max_recv_wr) = (4, 4);
    let mut made = Vec::new();
    for _ in 0..32 {
        made.push(sides[0].pd.create_qp(&init)?);
    }
    let why = refused(&init)?;
    assert!(why.contains("32 queue pairs"), "{why}");
    made.clear();
    site.device.progress()?;
    site.peer.progress()?;
    assert_eq!(site.processor.state()?.end, None);
    Ok(())
}

/// The firmware ends in the middle of Writes both ways: its device fails with the reason, tells so once, and takes nothing more; memory has only what belongs
/// there; the peer's device goes on. Opened anew the card is as good as before.
#[test]
fn a_firmware_that_ends_fails_its_device_and_nothing_else() -> Result<(), Box<dyn Error>> {
    const WRITES: usize = 6;
    const LEN: usize = BYTES / WRITES;
    let mut site = Site::new(26)?;
    let mut rng = fastrand::Rng::with_seed(26);
    for (how, end) in [
        (proc_crash::ASSERT, End::Assert),
        (proc_crash::ILLEGAL, End::Trap(2)),
        (proc_crash::STACK, End::Stack),
    ] {
        let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
        let ends = connect(&site, [&sides[0], &sides[1]])?;
        let mut bytes = [vec![0; BYTES], vec![0; BYTES]];
        for (bytes, side) in bytes.iter_mut().zip(&sides) {
            bytes.fill_with(|| rng.u8(1..));
            side.source.write(0, bytes)?;
        }
        for at in 0..WRITES {
            for (from, qp) in ends.qps.iter().enumerate() {
                let at = (at * LEN) as u64;
                let to = sides[1 - from].target.remote().offset(at);
                let source = sides[from].source.sge(at, LEN as u32);
                qp.post_send(SendWr::write(at, to).sge(source).signaled())?;
            }
        }
        site.done(&sides[0].cq, "the first Write", LEN)?;
        assert_eq!(site.processor.crash(how)?, end);
        let error = site.until("the end is noticed", || site.device.progress().err())?;
        let why = DeviceError::Processor(ProcessorError::Stopped(end));
        assert_eq!(error, why);
        let told = site.device.get_async_event();
        assert_eq!(told, Some(AsyncEvent::DeviceFatal(why)));
        assert_eq!(site.device.get_async_event(), None);
        let source = sides[0].source.sge(0, 8);
        let to = sides[1].target.remote();
        let late = ends.qps[0].post_send(SendWr::write(9, to).sge(source));
        assert!(late.is_err(), "a post was taken");
        assert!(site.device.alloc_pd().is_err(), "a command was done");
        let polled = site.until("the polls fail", || sides[0].cq.poll_one().err());
        polled.map_err(|_| "polls of a failed device go on for ever")?;
        // What lies in memory is what was sent there, as far as it came.
        for (to, side) in sides.iter().enumerate() {
            let there = side.target.to_vec(0, BYTES)?;
            let sent = &bytes[1 - to];
            let right = there
                .iter()
                .zip(sent)
                .all(|(is, sent)| *is == 0 || is == sent);
            assert!(right, "end {to} has other bytes");
            assert!(side.source.to_vec(0, BYTES)? == bytes[to]);
        }
        assert!(site.peer.progress().is_ok());
        let mut told = std::iter::from_fn(|| site.peer.get_async_event());
        let failed = told.find(|event| matches!(event, AsyncEvent::DeviceFatal(_)));
        assert_eq!(failed, None, "of the peer's device");
        drop(ends);
        drop(sides);
        site = site.again()?;
    }
    let sides = [Side::new(&site.device)?, Side::new(&site.peer)?];
    let ends = connect(&site, [&sides[0], &sides[1]])?;
    sides[0].source.write(0, &[7; BYTES])?;
    let source = sides[0].source.sge(0, BYTES as u32);
    let to = sides[1].target.remote();
    ends.qps[0].post_send(SendWr::write(1, to).sge(source).signaled())?;
    site.done(&sides[0].cq, "Write", BYTES)?;
    assert!(sides[1].target.to_vec(0, BYTES)? == [7; BYTES]);
    Ok(())
}
