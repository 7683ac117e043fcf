//! A card with driver and application meets a scripted peer.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use weft_hostdrv::cm::{Agreed, CmEvent, CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpInit, RecvWr, RemoteRegion, SendWr, WcStatus};
use weft_hostdrv::Rung;
use weft_hostdrv::{Device, EngineStats};
use weft_sim::capture::Capture;
use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::lock;

use super::scenarios::{Outcome, Role, Scenario};
use super::scripted::{Errand, Scripted, AREA, STAG};
use crate::peer::{Peer, Station};

const PORT: u16 = 7471;
/// Bytes of the messages: several segments each.
const SEND: usize = 3001;
const WRITE: usize = 5002;
const READ: usize = 4003;
/// Simulated time until everything is over.
const LIMIT: u64 = 40_000_000_000;

/// The peer's address.
pub const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 99);

/// What came of a meeting.
#[derive(Clone, Debug)]
pub struct Met {
    /// The start-up frames that decided: request, reply.
    pub frames: [Vec<u8>; 2],
    /// What Weft was told.
    pub agreed: Option<Agreed>,
    /// The RTR on the wire.
    pub rtr: Option<String>,
    /// Send, Write and Read each way were verified.
    pub data: bool,
    /// Events at Weft, with the status where it is not 0.
    pub events: Vec<String>,
    /// What the peer did that is worth telling.
    pub story: Vec<String>,
    /// What the engine counted.
    pub stats: EngineStats,
}

/// Weft's application.
struct Weft {
    device: Device,
    channel: EventChannel,
    pd: Pd,
    cq: Cq,
    mr: Mr,
    param: ConnParam,
    id: Option<CmId>,
    qp: Option<Qp>,
    agreed: Option<Agreed>,
    events: Vec<String>,
    completed: usize,
    speaks: bool,
    over: bool,
    _listener: Option<CmId>,
}

/// Bytes of a message, by who moves it and how.
fn bytes(length: usize, salt: usize) -> Vec<u8> {
    (0..length)
        .map(|n| (n * 7 + n / 251 + salt) as u8)
        .collect()
}

impl Weft {
    fn new(device: &Device, param: &ConnParam) -> Self {
        let pd = device.alloc_pd().expect("PD");
        let access =
            Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
        let mr = pd.alloc_mr(6 * AREA, access).expect("MR");
        // What is sent, written and read from here, and what the peer reads.
        mr.write(0, &bytes(SEND, 1)).expect("inside");
        mr.write(AREA, &bytes(WRITE, 2)).expect("inside");
        mr.write(2 * AREA, &bytes(READ, 13)).expect("inside");
        Self {
            channel: device.create_event_channel(),
            cq: device.create_cq(32, None).expect("CQ"),
            device: device.clone(),
            pd,
            mr,
            param: param.clone(),
            id: None,
            qp: None,
            agreed: None,
            events: Vec::new(),
            completed: 0,
            speaks: false,
            over: false,
            _listener: None,
        }
    }

    /// What the peer is to do here.
    fn errand(&self) -> Errand {
        let remote = self.mr.remote();
        let at = |area: usize| remote.addr + (area * AREA) as u64;
        Errand {
            send: bytes(SEND, 11),
            write: (remote.rkey, at(3), bytes(WRITE, 12)),
            read: (remote.rkey, at(2), READ),
        }
    }

    fn give_queue_pair(&mut self, id: &CmId) {
        let qp = id.create_qp(&self.pd, &QpInit::new(&self.cq)).expect("QP");
        let sge = self.mr.sge(4 * AREA as u64, AREA as u32);
        qp.post_recv(RecvWr::new(1).sge(sge)).expect("receive");
        self.qp = Some(qp);
    }

    fn listen(&mut self) {
        let id = self.channel.create_id();
        let address = SocketAddrV4::new(self.device.ip(), PORT);
        id.bind_addr(address).expect("bind");
        id.listen(4).expect("listen");
        self._listener = Some(id);
    }

    fn connect(&mut self) {
        let id = self.channel.create_id();
        id.resolve_addr(SocketAddrV4::new(PEER, PORT))
            .expect("resolve");
        id.resolve_route().expect("resolve");
        self.give_queue_pair(&id);
        id.connect(&self.param).expect("connect");
        self.id = Some(id);
    }

    fn step(&mut self) {
        while let Some(event) = self.channel.try_get_event().expect("the device works") {
            self.take(event);
        }
        while let Some(wc) = self.cq.poll_one().expect("the device works") {
            if wc.status == WcStatus::Success {
                self.completed += 1;
            }
        }
    }

    fn take(&mut self, event: CmEvent) {
        match event.event {
            CmEventType::AddrResolved | CmEventType::RouteResolved => return,
            CmEventType::ConnectRequest => {
                self.give_queue_pair(&event.id);
                event.id.accept(&self.param).expect("accept");
                self.id = Some(event.id);
                return;
            }
            CmEventType::Established => {
                self.agreed = event.agreed;
                self.speak();
            }
            _ => self.over = true,
        }
        let name = event.event.name().trim_start_matches("RDMA_CM_EVENT_");
        self.events.push(match (event.status, event.failure) {
            (0, _) => name.into(),
            (status, Some(failure)) => format!("{name} {status} ({failure:?})"),
            (status, None) => format!("{name} {status}"),
        });
    }

    /// Send, Write, Read.
    fn speak(&mut self) {
        let Some(qp) = &self.qp else { return };
        let sge = |area: usize, length: usize| self.mr.sge((area * AREA) as u64, length as u32);
        let region = |addr: usize| RemoteRegion {
            addr: addr as u64,
            rkey: STAG,
            ..self.mr.remote()
        };
        let work = [
            SendWr::send(2).sge(sge(0, SEND)),
            SendWr::write(3, region(AREA)).sge(sge(1, WRITE)),
            SendWr::read(4, region(0)).sge(sge(5, READ)),
        ];
        for wr in work {
            qp.post_send(wr.signaled()).expect("post");
        }
        self.speaks = true;
    }

    /// Everything that was to arrive here arrived.
    fn has_all(&self) -> bool {
        let area = |n: usize, length| self.mr.to_vec(n * AREA, length).expect("inside");
        self.completed == 4
            && area(3, WRITE) == bytes(WRITE, 12)
            && area(4, SEND) == bytes(SEND, 11)
            && area(5, READ) == bytes(READ, 14)
    }
}

/// Lets the two meet, on a card of this kind, with a queue pair of this rung; the frames go to `capture`.
pub fn meet(scenario: &Scenario, kind: CardKind, rung: Rung, seed: u64, capture: &Path) -> Met {
    let config = FabricConfig {
        seed,
        rungs: vec![rung],
        ..FabricConfig::default()
    };
    let fabric = Fabric::with_cards(&config, vec![kind.build(seed, 0)]).expect("bring-up");
    let link = lock(fabric.world()).open_link(0, LinkConfig::default());
    let file = std::fs::File::create(capture).expect("capture");
    let writer = Capture::new(Box::new(file), "link", ["Weft", "the peer"]).expect("capture");
    lock(fabric.world()).link(link).set_capture(writer);
    let mut weft = Weft::new(fabric.device(0), &scenario.param);

    let initiates = scenario.role == Role::Initiator;
    let station = |mac, ip, port| Station { mac, ip, port };
    let local = station(
        [2, 0, 0, 0, 0, 0x99],
        PEER.octets(),
        if initiates { 40_000 } else { PORT },
    );
    let remote = station(fabric::mac(0), fabric::ip(0).octets(), PORT);
    let tcp = Peer::new(local, remote, 0xffff_f000);
    if initiates {
        weft.listen();
    }
    let mut peer = Scripted::new(&scenario.profile, tcp, initiates, weft.errand());
    peer.memory[..READ].copy_from_slice(&bytes(READ, 14));
    if !initiates {
        weft.connect();
    }

    let end = fabric.now() + LIMIT;
    let mut resets = usize::from(scenario.reset_first);
    let (mut data, mut closed) = (false, None);
    while fabric.now() < end {
        exchange(&fabric, link, &mut peer, &mut resets);
        weft.step();
        if !data && weft.has_all() && peer_has_all(&peer) {
            data = true;
            if initiates {
                peer.close();
            } else if let Some(id) = &weft.id {
                id.disconnect().expect("disconnect");
            }
        }
        let silent = scenario.outcome == Outcome::Refused && peer.is_over();
        if closed.is_none() && (weft.over || silent) {
            closed = Some(fabric.now());
        }
        // Some time for what comes behind the end.
        if closed.is_some_and(|at| fabric.now() > at + 1_000_000) {
            break;
        }
        let step = if closed.is_some() { 100_000 } else { 2_000 };
        fabric.run_for(step).expect("run");
    }
    fabric.flush().expect("capture");
    lock(fabric.world()).link(link).flush().expect("capture");
    let faults = lock(fabric.world()).iommu(0).faults().len();
    assert_eq!(faults, 0, "DMA beside the mappings");
    Met {
        frames: peer.frames,
        agreed: weft.agreed,
        rtr: peer.rtr,
        data,
        events: weft.events,
        story: peer.story,
        stats: fabric.device(0).engine_stats(),
    }
}

fn peer_has_all(peer: &Scripted) -> bool {
    peer.inbox == [bytes(SEND, 1)]
        && peer.memory[AREA..AREA + WRITE] == bytes(WRITE, 2)
        && peer.read_done
        && peer.memory[2 * AREA..2 * AREA + READ] == bytes(READ, 13)
}

/// Frames both ways. A box in between resets the first `resets` requests.
fn exchange(fabric: &Fabric, link: usize, peer: &mut Scripted, resets: &mut usize) {
    let mut world = lock(fabric.world());
    world.link(link).watch();
    let seen = world.link(link).take_seen();
    world.link(link).watch();
    for frame in seen.iter().filter(|s| s.from == 0) {
        peer.tcp.receive(&frame.frame);
    }
    peer.step();
    for frame in peer.tcp.take_frames() {
        let request = frame.windows(16).any(|w| w == b"MPA ID Req Frame");
        if request && *resets > 0 {
            *resets -= 1;
            peer.tcp.snd_nxt = peer.tcp.snd_nxt.wrapping_sub((frame.len() - 54) as u32);
            peer.tcp.abort();
            for reset in peer.tcp.take_frames() {
                world.inject(link, reset);
            }
            peer.tcp.reset = true;
            continue;
        }
        world.inject(link, frame);
    }
}
