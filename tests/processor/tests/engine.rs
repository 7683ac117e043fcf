//! The engine on the card's processor, against the usual engine on another card.
#![cfg(ibex)]

use std::error::Error;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex};

use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::dma::DmaBuffer;
use weft_hostdrv::processor::{CardEngine, CardQp, EngineSettings, Processor, ProcessorError};
use weft_hostdrv::transport::Transport;
use weft_hostdrv::verbs::control::{self, Event, PdId};
use weft_hostdrv::verbs::queues::{Capacity, Payload, Sge, Wqe};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpInit, RecvWr, SendWr, WcStatus};
use weft_hostdrv::{Device, DeviceConfig, Rung};
use weft_layout::{proc_started, CqeOpcode, CqeStatus, ProcInfo, SendWqe, WqeOpcode};
use weft_processor_tests::{firmware, firmware_with_engine};
use weft_sim::fabric::{ip, mac};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::{lock, SharedWorld, SimTransport};
use weft_sim::world::World;

/// Cycles without a beat: longer than any turn.
const WATCHDOG: u32 = 2_000_000;
/// Simulated time after which something should have happened.
const LIMIT: u64 = 100_000_000;
/// What is waited for is looked at so often.
const LOOK: u64 = 20_000;
const PORT: u16 = 4791;

/// Card 0 with its firmware's engine, card 1 with the usual one.
struct Site {
    world: SharedWorld,
    transport: Arc<SimTransport>,
    engine: CardEngine,
    peer: Device,
}

fn settings(seed: u64) -> EngineSettings {
    EngineSettings {
        mac: mac(0),
        ip: ip(0).octets(),
        netmask: [255, 255, 255, 0],
        gateway: None,
        mtu: 1500,
        seed: [seed as u8; 32],
    }
}

impl Site {
    fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(seed);
        for (number, kind) in [CardKind::Rtl128, CardKind::Model].into_iter().enumerate() {
            world.add_card(kind.build(seed, number as u32));
        }
        world.join(0, 1, LinkConfig::default());
        let world = Arc::new(Mutex::new(world));
        let transport = Arc::new(SimTransport::new(&world, 0));
        let processor = Processor::of(transport.clone())?;
        processor.load(&firmware_with_engine())?;
        processor.start(WATCHDOG)?;
        let engine = processor.start_engine(&settings(seed))?;
        let peer = DeviceConfig::new(mac(1), ip(1)).seed(!seed).keepalive(None);
        let peer = Device::open(Arc::new(SimTransport::new(&world, 1)), peer)?;
        Ok(Self {
            world,
            transport,
            engine,
            peer,
        })
    }

    fn now(&self) -> u64 {
        lock(&self.world).now()
    }

    /// Lets the world and the peer run; the firmware's host does what `condition` does, and nothing else.
    fn until<T>(
        &mut self,
        what: &str,
        mut condition: impl FnMut(&mut CardEngine) -> Option<T>,
    ) -> Result<T, Box<dyn Error>> {
        let end = self.now() + LIMIT;
        while self.now() < end {
            while self.peer.progress()? > 0 {}
            if let Some(found) = condition(&mut self.engine) {
                return Ok(found);
            }
            self.peer.wait(Some(0))?;
            let deadline = self.peer.next_deadline().unwrap_or(end);
            let deadline = deadline.min(self.now() + LOOK).max(self.now() + 1);
            lock(&self.world).run(Some(deadline))?;
            // Takes the interrupt, if it is the peer's; the next one arms.
            self.peer.wait(Some(0))?;
        }
        let processor = self.engine.processor();
        let (state, log) = (processor.state()?, processor.log()?);
        Err(format!("{what}: not in time; {state:?}, {log}").into())
    }

    fn event(&mut self, channel: &EventChannel, kind: CmEventType) -> Result<CmId, Box<dyn Error>> {
        let event = self.until(kind.name(), |_| channel.try_get_event().transpose())??;
        assert_eq!(event.event, kind, "status {}", event.status);
        Ok(event.id)
    }

    /// A domain and a queue pair of the firmware's.
    fn create_qp(&mut self) -> Result<(PdId, CardQp), Box<dyn Error>> {
        let pd = self.engine.alloc_pd()?;
        let capacity = Capacity {
            send: 8,
            sges: 2,
            inline: 64,
            recv: 8,
        };
        Ok((pd, self.engine.create_qp(pd, capacity, 32)?))
    }

    fn info(&self) -> Result<ProcInfo, Box<dyn Error>> {
        Ok(self.engine.processor().info()?.ok_or("no firmware")?)
    }

    fn before(&self) -> Result<(ProcInfo, u64), Box<dyn Error>> {
        Ok((self.info()?, self.engine.processor().state()?.awake))
    }

    /// Since `before`: what the processor did.
    fn say(&self, what: &str, before: &(ProcInfo, u64)) -> Result<(), Box<dyn Error>> {
        let (info, state) = (self.info()?, self.engine.processor().state()?);
        println!(
            "{what}: {} cycles awake, {} instructions, {} turns, {} reports, {} jobs",
            state.awake - before.1,
            info.instructions.wrapping_sub(before.0.instructions),
            info.turns - before.0.turns,
            info.reports - before.0.reports,
            info.jobs - before.0.jobs,
        );
        Ok(())
    }

    /// What it used at most.
    fn say_memory(&self) -> Result<(), Box<dyn Error>> {
        let info = self.info()?;
        let (used, size) = self.engine.processor().stack()?.ok_or("no stack")?;
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

    /// Memory of the firmware's host with these bytes, and its STag.
    fn register(&mut self, pd: PdId, bytes: &[u8]) -> Result<(DmaBuffer, u32), Box<dyn Error>> {
        let memory = self.transport.dma_alloc(bytes.len())?;
        memory.write(0, bytes)?;
        let access =
            Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
        let length = bytes.len() as u64;
        let register = control::register(pd, TO, memory.iova(), length, access);
        let stag = self.engine.command(&register, &[])??.stag;
        Ok((memory, stag))
    }

    /// The next CQE of the firmware's queue pair.
    fn cqe(
        &mut self,
        qp: &mut CardQp,
        opcode: CqeOpcode,
    ) -> Result<weft_layout::Cqe, Box<dyn Error>> {
        let cqe = self.until("a CQE", |_| qp.poll())?;
        assert_eq!(
            (cqe.opcode(), cqe.status()),
            (Ok(opcode), Ok(CqeStatus::Success))
        );
        Ok(cqe)
    }
}

/// The peer's end.
struct PeerEnd {
    channel: EventChannel,
    _listener: Option<CmId>,
    id: CmId,
    _pd: Pd,
    cq: Cq,
    qp: Qp,
    source: Mr,
    target: Mr,
}

/// Where the firmware's regions begin.
const TO: u64 = 0x10_0000;
const BYTES: usize = 1 << 13;

fn peer_memory(device: &Device) -> Result<(Pd, Cq, Mr, Mr), Box<dyn Error>> {
    let pd = device.alloc_pd()?;
    let cq = device.create_cq(64, None)?;
    let source = pd.alloc_mr_at(BYTES, 0, Access::REMOTE_READ)?;
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK;
    let target = pd.alloc_mr_at(BYTES, 0, access)?;
    Ok((pd, cq, source, target))
}

/// The firmware asks for the connection, and its host sleeps until both ends stand.
fn connect(site: &mut Site, qp: &CardQp) -> Result<PeerEnd, Box<dyn Error>> {
    let channel = site.peer.create_event_channel();
    let listener = channel.create_id();
    listener.bind_addr(SocketAddrV4::new(ip(1), PORT))?;
    listener.listen(4)?;
    let params = control::ConnectParams {
        remote: control::Endpoint {
            ip: ip(1).octets(),
            port: PORT,
        },
        ..control::ConnectParams::default()
    };
    site.engine
        .post(&control::connect(qp.id(), &params), b"hello")?;
    let request = site.event(&channel, CmEventType::ConnectRequest)?;
    let (pd, cq, source, target) = peer_memory(&site.peer)?;
    let peer = request.create_qp(&pd, &QpInit::new(&cq))?;
    request.accept(&ConnParam::default())?;
    site.event(&channel, CmEventType::Established)?;
    Ok(PeerEnd {
        channel,
        _listener: Some(listener),
        id: request,
        _pd: pd,
        cq,
        qp: peer,
        source,
        target,
    })
}

/// The firmware finds its peer by ARP and connects: both ends stand, and its host did nothing but ask for it.
#[test]
fn it_connects_while_its_host_sleeps() -> Result<(), Box<dyn Error>> {
    let mut site = Site::new(21)?;
    let (_, qp) = site.create_qp()?;
    let before = site.before()?;
    let peer = connect(&mut site, &qp)?;
    // The host wakes, and finds all of it told.
    let event = site.until("the host is told", |engine| engine.take_event().transpose())??;
    site.say("connected, as initiator", &before)?;
    let conn = site.engine.answer().ok_or("no answer")??.conn;
    let Event::Established {
        conn: established,
        agreed,
        ..
    } = event
    else {
        return Err(format!("{event:?}").into());
    };
    assert_eq!(established.number(), conn);
    assert!(agreed.rtr.is_some(), "{agreed:?}");

    // And both hear of its end.
    peer.id.disconnect()?;
    let event = site.until("the end", |engine| engine.take_event().transpose())??;
    assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
    site.event(&peer.channel, CmEventType::Disconnected)?;
    site.engine.destroy_qp(qp)?;
    site.say_memory()
}

/// The peer asks by ARP who has the firmware's address, and then for the connection: the firmware wakes its host for the answer, and that is all it is
/// needed for.
#[test]
fn it_answers_arp_and_wakes_its_host_for_a_request() -> Result<(), Box<dyn Error>> {
    let mut site = Site::new(22)?;
    let (_, qp) = site.create_qp()?;
    site.engine.command(&control::listen(PORT, 4), &[])??;
    let channel = site.peer.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(ip(0), PORT))?;
    site.event(&channel, CmEventType::AddrResolved)?;
    id.resolve_route()?;
    site.event(&channel, CmEventType::RouteResolved)?;
    let (pd, cq, _, _) = peer_memory(&site.peer)?;
    let _qp = id.create_qp(&pd, &QpInit::new(&cq))?;
    let before = site.before()?;
    lock(&site.world).take_interrupt(0, 0);
    id.connect(&ConnParam::default())?;
    let world = site.world.clone();
    site.until("an interrupt", |_| {
        lock(&world).take_interrupt(0, 0).then_some(())
    })?;
    let event = site.engine.take_event()?;
    let Some(Event::ConnectRequest { conn, .. }) = event else {
        return Err(format!("{event:?}").into());
    };
    let accept = control::accept(conn, qp.id(), &control::AcceptParams::default());
    site.engine.post(&accept, &[])?;
    site.event(&channel, CmEventType::Established)?;
    let event = site.until("the other end", |engine| engine.take_event().transpose())??;
    assert!(matches!(event, Event::Established { .. }), "{event:?}");
    site.engine.answer().ok_or("no answer")??;
    site.say("connected, as responder", &before)?;
    Ok(())
}

/// Sends, Writes and Reads both ways, each byte compared: the host writes WQEs and reads CQEs, the firmware works, the card places.
#[test]
fn it_works_for_the_queues_of_its_host() -> Result<(), Box<dyn Error>> {
    let mut rng = fastrand::Rng::with_seed(23);
    let mut site = Site::new(23)?;
    let (pd, mut qp) = site.create_qp()?;
    let mut bytes = [vec![0; BYTES], vec![0; BYTES]];
    for bytes in &mut bytes {
        bytes.fill_with(|| rng.u8(..));
    }
    let (_source, stag) = site.register(pd, &bytes[0])?;
    let (target, target_stag) = site.register(pd, &vec![0; BYTES])?;
    let peer = connect(&mut site, &qp)?;
    peer.source.write(0, &bytes[1])?;
    let remote = |mr: &Mr| (mr.remote().rkey, mr.remote().addr);
    let sge = |stag, to: usize, length: usize| Sge {
        to: TO + to as u64,
        length: length as u32,
        stag,
    };
    let mut at_peer = vec![0; BYTES];
    let mut at_card = vec![0; BYTES];
    for round in 0..6 {
        let len = [1, 64, 1000, 1460, 3000, 5000][round];
        let from = rng.usize(..BYTES - len);
        let to = rng.usize(..BYTES - len);
        let before = site.before()?;

        // A Write and a Read of the firmware's host.
        let (peer_stag, base) = remote(&peer.target);
        let wqe = |opcode, stag, to, list| Wqe {
            opcode,
            flags: SendWqe::SIGNALED,
            to,
            stag,
            payload: Payload::Sges(list),
        };
        let list = [sge(stag, from, len)];
        let write = wqe(WqeOpcode::Write, peer_stag, base + to as u64, &list);
        qp.post_send(&write)?.ok_or("no room")?;
        site.cqe(&mut qp, CqeOpcode::Write)?;
        at_peer[to..to + len].copy_from_slice(&bytes[0][from..from + len]);
        let (peer_stag, base) = remote(&peer.source);
        let list = [sge(target_stag, to, len)];
        let read = wqe(WqeOpcode::Read, peer_stag, base + from as u64, &list);
        qp.post_send(&read)?.ok_or("no room")?;
        let cqe = site.cqe(&mut qp, CqeOpcode::Read)?;
        assert_eq!(cqe.byte_len as usize, len);
        at_card[to..to + len].copy_from_slice(&bytes[1][from..from + len]);

        // A Send each way. The firmware takes a receive before what is posted behind it is sent.
        let to = rng.usize(..BYTES - len);
        let list = [sge(target_stag, to, len)];
        qp.post_recv(&list)?.ok_or("no room")?;
        peer.qp
            .post_recv(RecvWr::new(1).sge(peer.target.sge(to as u64, len as u32)))?;
        let list = [sge(stag, from, len)];
        qp.post_send(&wqe(WqeOpcode::Send, 0, 0, &list))?
            .ok_or("no room")?;
        let cq = &peer.cq;
        let done = site.until("the peer's receive", |_| cq.poll_one().transpose())??;
        assert_eq!(
            (done.status, done.byte_len as usize),
            (WcStatus::Success, len)
        );
        site.cqe(&mut qp, CqeOpcode::Send)?;
        at_peer[to..to + len].copy_from_slice(&bytes[0][from..from + len]);
        let source = peer.source.sge(from as u64, len as u32);
        peer.qp.post_send(SendWr::send(2).sge(source).signaled())?;
        let cqe = site.cqe(&mut qp, CqeOpcode::Recv)?;
        assert_eq!(cqe.byte_len as usize, len);
        at_card[to..to + len].copy_from_slice(&bytes[1][from..from + len]);
        let done = site.until("the peer's Send", |_| cq.poll_one().transpose())??;
        assert_eq!(done.status, WcStatus::Success);

        assert!(peer.target.to_vec(0, BYTES)? == at_peer, "round {round}");
        assert!(
            target.memory().to_vec(0, BYTES)? == at_card,
            "round {round}"
        );
        site.say(&format!("Write, Read, two Sends of {len} bytes"), &before)?;
    }
    // An STag that is nobody's fails the queue pair, and nothing else.
    let list = [sge(stag ^ 1, 0, 8)];
    let wrong = Wqe {
        opcode: WqeOpcode::Send,
        flags: 0,
        to: 0,
        stag: 0,
        payload: Payload::Sges(&list),
    };
    qp.post_send(&wrong)?.ok_or("no room")?;
    let cqe = site.until("a CQE", |_| qp.poll())?;
    assert_eq!(cqe.status(), Ok(CqeStatus::LocalProtection));
    site.say_memory()
}

/// A firmware without the engine, a card that the firmware has already, and rungs that it does not have.
#[test]
fn what_cannot_be_is_refused() -> Result<(), Box<dyn Error>> {
    let mut site = Site::new(24)?;
    let again = site.engine.processor().start_engine(&settings(24));
    let running = ProcessorError::NotStarted(proc_started::RUNNING.into());
    assert_eq!(again.err(), Some(running));
    // The first one knows nothing of it.
    let pd = site.engine.alloc_pd()?;
    for rung in [Rung::Host, Rung::Crc, Rung::Placement, Rung::Full] {
        let config = control::QpConfig {
            pd,
            send_depth: 4,
            recv_depth: 4,
            max_sge: 1,
            rung: Some(rung),
        };
        let made = site.engine.command(&control::create_qp(&config), &[])?;
        let why = made.err().ok_or("it was made")?.to_string();
        assert!(why.contains(rung.name()), "{why}");
    }
    let (_, qp) = site.create_qp()?;
    site.engine.destroy_qp(qp)?;

    let processor = site.engine.processor().clone();
    drop(site.engine);
    processor.load(&firmware())?;
    processor.start(0)?;
    let none = processor.start_engine(&settings(24));
    assert_eq!(none.err(), Some(ProcessorError::NoEngine));
    Ok(())
}
