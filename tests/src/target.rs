//! A card with its driver and a small server application, and scripted peers at the other end of its wire.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpInit, RecvWr, Wc};
use weft_hostdrv::Device;
use weft_hostdrv::Rung;
use weft_sim::fabric::{self, Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::lock;

use crate::peer::{enhanced, mpa_request, Peer, Station};

/// The port that the server listens on.
pub const PORT: u16 = 7471;
/// Bytes of a connection's open region; its canary regions are as long.
pub const REGION: usize = 4096;
/// What every region is filled with at first.
pub const FILL: u8 = 0xa5;
/// Firmware takes simulated time, software of the host does not: so many times as long is waited for it.
const FIRMWARE: u64 = 20;
/// Bytes of each posted receive.
pub const RECEIVE: usize = 256;

/// The server's side of one connection.
pub struct Served {
    /// Its identifier.
    pub id: CmId,
    /// Its queue pair.
    pub qp: Qp,
    /// Its completion queue.
    pub cq: Cq,
    /// Local write and remote write: Writes are welcome.
    pub open: Mr,
    /// Local write and remote read.
    pub closed: Mr,
    /// Everything, but in another protection domain.
    pub foreign: Mr,
    /// Where its one posted receive goes (16 bytes in).
    pub receive: Mr,
    _pds: [Pd; 2],
}

/// What a peer is to find.
pub struct Target {
    fabric: Fabric,
    link: usize,
    /// Times as long as for software of the host.
    pace: u64,
    channel: EventChannel,
    _listener: CmId,
    /// Peers, by the order in which they were made.
    pub peers: Vec<Peer>,
    served: BTreeMap<u16, Served>,
    ended: Vec<u16>,
}

impl Target {
    /// One card of a kind, its server listening, with queue pairs of the rung that is asked for.
    pub fn new(kind: CardKind, seed: u64) -> Self {
        Self::at(kind, crate::rungs()[0], seed)
    }

    /// The same, with queue pairs of this rung.
    pub fn at(kind: CardKind, rung: Rung, seed: u64) -> Self {
        let config = FabricConfig {
            seed,
            rungs: vec![rung],
            ..FabricConfig::default()
        };
        let fabric = Fabric::with_cards(&config, vec![kind.build(seed, 0)]).expect("bring-up");
        let link = lock(fabric.world()).open_link(0, LinkConfig::default());
        let channel = fabric.device(0).create_event_channel();
        let listener = channel.create_id();
        let address = SocketAddrV4::new(fabric.device(0).ip(), PORT);
        listener.bind_addr(address).expect("bind");
        listener.listen(16).expect("listen");
        lock(fabric.world()).link(link).watch();
        Self {
            fabric,
            link,
            pace: if rung == Rung::Firmware { FIRMWARE } else { 1 },
            channel,
            _listener: listener,
            peers: Vec::new(),
            served: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.fabric.device(0)
    }

    /// The server's side of a peer's connection.
    pub fn served(&self, peer: usize) -> &Served {
        &self.served[&self.peers[peer].local.port]
    }

    /// Has the server accepted this peer?
    pub fn is_served(&self, peer: usize) -> bool {
        self.served.contains_key(&self.peers[peer].local.port)
    }

    /// Was the server told that this peer's connection ended?
    pub fn has_ended(&self, peer: usize) -> bool {
        self.ended.contains(&self.peers[peer].local.port)
    }

    /// A counter of the card.
    pub fn counter(&self, name: &str) -> u32 {
        self.device().counter(name).expect("counter")
    }

    /// DMA accesses that the IOMMU refused; there must never be one.
    pub fn faults(&self) -> usize {
        lock(self.fabric.world()).iommu(0).faults().len()
    }

    /// A new peer that has not sent anything.
    pub fn new_peer(&mut self) -> usize {
        let number = self.peers.len();
        let local = Station {
            mac: [2, 0, 0, 0, 0, 0x99],
            ip: [10, 0, 0, 99],
            port: 40_000 + number as u16,
        };
        let remote = Station {
            mac: fabric::mac(0),
            ip: fabric::ip(0).octets(),
            port: PORT,
        };
        // The sequence numbers of half of the peers wrap soon.
        let isn = if number % 2 == 0 {
            0x1000_0000
        } else {
            0xffff_ff00
        };
        self.peers.push(Peer::new(local, remote, isn));
        number
    }

    /// A peer with an established connection: revision 2, CRC on, no peer-to-peer, no markers.
    pub fn connect(&mut self) -> usize {
        let peer = self.new_peer();
        self.peers[peer].connect();
        self.run(50_000);
        assert!(self.peers[peer].connected, "SYN-ACK of the card");
        let request = mpa_request(0x50, 2, &enhanced(1, 1));
        self.peers[peer].send(&request);
        self.run(100_000);
        let (flags, revision, _) = self.peers[peer].mpa_reply().expect("MPA reply");
        assert_eq!((flags & 0x60, revision), (0x40, 2), "C set, not rejected");
        assert!(self.is_served(peer));
        peer
    }

    /// Sends a peer's stream bytes in one segment and lets things happen.
    pub fn send(&mut self, peer: usize, bytes: &[u8]) {
        self.peers[peer].send(bytes);
        self.run(100_000);
    }

    /// Runs for at least `ns`, and longer for firmware, delivering frames between card and peers and serving requests.
    pub fn run(&mut self, ns: u64) {
        let end = self.fabric.now() + ns * self.pace;
        loop {
            self.exchange();
            self.serve();
            if self.fabric.now() >= end {
                return;
            }
            self.fabric.run_for(2_000).expect("run");
        }
    }

    fn exchange(&mut self) {
        let mut world = lock(self.fabric.world());
        let link = world.link(self.link);
        let seen = link.take_seen();
        link.watch();
        for frame in seen.iter().filter(|s| s.from == 0) {
            for peer in &mut self.peers {
                peer.receive(&frame.frame);
            }
        }
        for peer in &mut self.peers {
            for frame in peer.take_frames() {
                world.inject(self.link, frame);
            }
        }
    }

    fn serve(&mut self) {
        while let Some(event) = self.channel.try_get_event().expect("event channel") {
            let port = event.id.peer_addr().map_or(0, |a| a.port());
            match event.event {
                CmEventType::ConnectRequest => {
                    let served = self.accept(event.id);
                    self.served.insert(port, served);
                }
                CmEventType::Disconnected => self.ended.push(port),
                _ => {}
            }
        }
    }

    fn accept(&self, id: CmId) -> Served {
        let pds = [0, 1].map(|_| self.device().alloc_pd().expect("PD"));
        let region = |pd: &Pd, access: Access| {
            let mr = pd.alloc_mr(REGION, access).expect("MR");
            mr.fill(0, REGION, FILL).expect("fill");
            mr
        };
        let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let cq = self.device().create_cq(16, None).expect("CQ");
        let mut init = QpInit::new(&cq);
        // An engine on the card has memory for 1024 work requests.
        (init.cap.max_send_wr, init.cap.max_recv_wr) = (16, 16);
        let served = Served {
            qp: id.create_qp(&pds[0], &init).expect("QP"),
            cq,
            open: region(&pds[0], all),
            closed: region(&pds[0], Access::LOCAL_WRITE | Access::REMOTE_READ),
            foreign: region(&pds[1], all | Access::REMOTE_READ),
            receive: region(&pds[0], Access::LOCAL_WRITE),
            id,
            _pds: pds,
        };
        let receive = RecvWr::new(1).sge(served.receive.sge(16, RECEIVE as u32));
        served.qp.post_recv(receive).expect("post_recv");
        served.id.accept(&ConnParam::default()).expect("accept");
        served
    }

    /// The next completion of a connection.
    pub fn completion(&self, peer: usize) -> Option<Wc> {
        self.served(peer).cq.poll_one().expect("poll")
    }

    /// The first 16 bits of the Terminate that the card sent to a peer.
    pub fn terminate(&self, peer: usize) -> Option<u16> {
        let ulpdus = self.peers[peer].ulpdus(true);
        let terminate = ulpdus.iter().find(|u| u.len() >= 20 && u[1] & 15 == 7)?;
        Some(u16::from_be_bytes([terminate[18], terminate[19]]))
    }

    /// True if no byte of a connection's regions has changed.
    pub fn untouched(&self, peer: usize) -> bool {
        let served = self.served(peer);
        [
            &served.open,
            &served.closed,
            &served.foreign,
            &served.receive,
        ]
        .iter()
        .all(|mr| {
            mr.to_vec(0, REGION)
                .expect("read")
                .iter()
                .all(|b| *b == FILL)
        })
    }
}
