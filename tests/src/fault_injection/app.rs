//! An application that keeps books: what it posted, what completed, how its connection ended.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use weft_hostdrv::cm::{CmEventType, CmId, EventChannel};
use weft_hostdrv::verbs::{
    Access, Cq, Mr, Pd, Qp, QpInit, QpState, RecvWr, RemoteRegion, SendWr, Wc, WcStatus,
};
use weft_hostdrv::Device;
use weft_sim::fabric::ip;

use super::plan::{Kind, Plan, OPS, SLOT};

/// What memory is filled with before.
const FILL: u8 = 0xee;
/// wr_id of the first receive.
const RECEIVES: u64 = 1000;
/// Work requests under way.
const DEPTH: usize = 5;
/// Areas of the target: the peer's Writes, own Reads, receives.
const WRITES: usize = 0;
const READS: usize = OPS * SLOT;
const RECEIVED: usize = 2 * OPS * SLOT;

/// One side of a connection.
pub struct App {
    side: usize,
    plan: Plan,
    cq: Cq,
    channel: EventChannel,
    pd: Pd,
    source: Mr,
    target: Mr,
    id: Option<CmId>,
    qp: Option<Qp>,
    peer: Option<[RemoteRegion; 2]>,
    posted: BTreeMap<u64, usize>,
    next: usize,
    /// Operations that succeeded.
    succeeded: Vec<usize>,
    received: usize,
    /// When the connection was established here.
    pub established: Option<u64>,
    /// When `disconnect` was called here.
    pub disconnected: Option<u64>,
    /// How it ended: the event and its status.
    pub over: Option<(CmEventType, i32)>,
    flushed: usize,
    _listener: Option<CmId>,
}

impl App {
    /// Ready, connecting or listening.
    pub fn new(device: &Device, side: usize, plan: &Plan) -> Self {
        let pd = device.alloc_pd().expect("PD");
        let source = pd.alloc_mr(OPS * SLOT, Access::REMOTE_READ).expect("MR");
        source.write(0, &plan.source(side)).expect("inside");
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK;
        let target = pd.alloc_mr(3 * OPS * SLOT, access).expect("MR");
        target.fill(0, 3 * OPS * SLOT, FILL).expect("inside");
        Self {
            side,
            plan: plan.clone(),
            cq: device.create_cq(256, None).expect("CQ"),
            channel: device.create_event_channel(),
            pd,
            source,
            target,
            id: None,
            qp: None,
            peer: None,
            posted: BTreeMap::new(),
            next: 0,
            succeeded: Vec::new(),
            received: 0,
            established: None,
            disconnected: None,
            over: None,
            flushed: 0,
            _listener: None,
        }
    }

    /// Tells each where the other's memory is, as applications do before or in the start-up.
    pub fn introduce(&mut self, other: &mut App) {
        let regions = |app: &App| Some([app.source.remote(), app.target.remote()]);
        (self.peer, other.peer) = (regions(other), regions(self));
    }

    /// The listener begins to listen, the client to connect.
    pub fn start(&mut self) {
        let id = self.channel.create_id();
        let address = SocketAddrV4::new(ip(1 - self.plan.client), self.plan.port);
        if self.side != self.plan.client {
            id.bind_addr(address).expect("bind");
            id.listen(4).expect("listen");
            self._listener = Some(id);
            return;
        }
        id.resolve_addr(address).expect("resolve");
        id.resolve_route().expect("resolve");
        self.give_queue_pair(&id);
        id.connect(&self.plan.connect).expect("connect");
        self.id = Some(id);
        self.post_receives();
    }

    fn give_queue_pair(&mut self, id: &CmId) {
        self.qp = Some(id.create_qp(&self.pd, &QpInit::new(&self.cq)).expect("QP"));
    }

    fn post_receives(&mut self) {
        let count = self.plan.sends(1 - self.side).len();
        let Some(qp) = &self.qp else { return };
        for n in 0..count {
            let sge = self.target.sge((RECEIVED + n * SLOT) as u64, SLOT as u32);
            let wr_id = RECEIVES + n as u64;
            qp.post_recv(RecvWr::new(wr_id).sge(sge)).expect("receive");
            self.posted.insert(wr_id, n);
        }
    }

    /// Takes what came and posts what may be posted. True if anything happened.
    pub fn step(&mut self, now: u64) {
        while let Some(event) = self.channel.try_get_event().expect("a living device works") {
            match event.event {
                CmEventType::AddrResolved | CmEventType::RouteResolved => {}
                CmEventType::ConnectRequest => {
                    self.give_queue_pair(&event.id);
                    // The connection may be gone by now.
                    if event.id.accept(&self.plan.accept).is_ok() {
                        self.post_receives();
                        self.id = Some(event.id);
                    } else {
                        self.qp = None;
                    }
                }
                CmEventType::Established => self.established = Some(now),
                other => {
                    assert_eq!(self.over, None, "two ends of a connection: {other}");
                    self.over = Some((other, event.status));
                    // Nothing was posted that could wait, unless the connection stood.
                    if other != CmEventType::Disconnected {
                        self.give_up();
                    }
                }
            }
        }
        while let Some(wc) = self.cq.poll_one().expect("a living device works") {
            self.complete(&wc);
        }
        self.post();
    }

    /// A queue pair that was never connected keeps its receives; it goes, and they are flushed.
    fn give_up(&mut self) {
        if let Some(qp) = &self.qp {
            qp.modify(QpState::Error).expect("a living device works");
        }
    }

    fn post(&mut self) {
        let (Some(qp), Some([source, target])) = (&self.qp, self.peer) else {
            return;
        };
        if self.id.is_none() || self.over.is_some() {
            return;
        }
        let under_way = self.posted.range(..RECEIVES).count();
        for _ in under_way..DEPTH.min(under_way + OPS - self.next) {
            let n = self.next;
            let (op, at) = (self.plan.ops[self.side][n], (n * SLOT) as u64);
            let len = op.len as u32;
            let wr = match op.kind {
                Kind::Send => SendWr::send(n as u64).sge(self.source.sge(at, len)),
                Kind::Write => {
                    let to = target.offset(WRITES as u64 + at);
                    SendWr::write(n as u64, to).sge(self.source.sge(at, len))
                }
                Kind::Read if len == 0 => SendWr::read(n as u64, source.offset(at)),
                Kind::Read => {
                    let sink = self.target.sge(READS as u64 + at, len);
                    SendWr::read(n as u64, source.offset(at)).sge(sink)
                }
            };
            qp.post_send(wr.signaled())
                .expect("a connection takes work");
            self.posted.insert(n as u64, n);
            self.next += 1;
        }
        let everything = self.succeeded.len() == OPS && self.has_received_all();
        if everything && self.side == self.plan.client && self.disconnected.is_none() {
            self.disconnected = Some(self.cq.device().now());
            let id = self.id.as_ref().expect("checked");
            id.disconnect().expect("disconnect");
        }
    }

    fn complete(&mut self, wc: &Wc) {
        let n = self.posted.remove(&wc.wr_id);
        let n = n.unwrap_or_else(|| panic!("completed twice, or never posted: {wc:?}"));
        match wc.status {
            WcStatus::WrFlushError => self.flushed += 1,
            WcStatus::Success if wc.wr_id < RECEIVES => {
                self.succeeded.push(n);
                if self.plan.ops[self.side][n].kind == Kind::Read {
                    self.check(READS, n, n, "a Read");
                }
            }
            WcStatus::Success => {
                assert_eq!(n, self.received, "receives out of order");
                self.received += 1;
                let send = self.plan.sends(1 - self.side)[n];
                let len = self.plan.ops[1 - self.side][send].len;
                assert_eq!(wc.byte_len as usize, len, "bytes of a receive");
                self.check(RECEIVED, n, send, "a receive");
            }
            status => panic!("neither done nor flushed: {status:?} of {wc:?}"),
        }
    }

    /// Slot `slot` of an area holds the bytes of the peer's slot `from`: as many as that operation moves.
    fn check(&self, area: usize, slot: usize, from: usize, what: &str) {
        let mover = if area == READS {
            self.side
        } else {
            1 - self.side
        };
        let len = self.plan.ops[mover][from].len;
        let is = self
            .target
            .to_vec(area + slot * SLOT, SLOT)
            .expect("inside");
        let should = &self.plan.source(1 - self.side)[from * SLOT..from * SLOT + len];
        assert!(is[..len] == *should, "{what} of {len} bytes brought others");
        assert!(is[len..].iter().all(|b| *b == FILL), "{what} wrote too far");
    }

    /// The peer's Writes that completed there are here; nothing is where nothing was to be written.
    pub fn check_writes_of(&self, peer: &App) {
        for (n, op) in self.plan.ops[peer.side].iter().enumerate() {
            if op.kind == Kind::Write && peer.succeeded.contains(&n) {
                self.check(WRITES, n, n, "a Write");
            } else if op.kind != Kind::Write || n >= peer.next {
                let slot = self.target.to_vec(WRITES + n * SLOT, SLOT).expect("inside");
                assert!(slot.iter().all(|b| *b == FILL), "a Write of nobody");
            }
        }
    }

    fn has_received_all(&self) -> bool {
        self.received == self.plan.sends(1 - self.side).len()
    }

    /// Nothing is open: no connection, no work.
    pub fn is_done(&self) -> bool {
        (self.over.is_some() || self.id.is_none()) && self.posted.is_empty()
    }

    /// It did all that it was to do, and ended in order.
    pub fn is_perfect(&self) -> bool {
        let in_order = self.over == Some((CmEventType::Disconnected, 0));
        in_order && self.succeeded.len() == OPS && self.has_received_all() && self.flushed == 0
    }

    /// For messages.
    pub fn state(&self) -> String {
        format!(
            "side {}: established {:?}, {} of {OPS} done, {} received, {} flushed, open {:?}, over {:?}, id {:?}",
            self.side,
            self.established,
            self.succeeded.len(),
            self.received,
            self.flushed,
            self.posted.keys().collect::<Vec<_>>(),
            self.over,
            self.id,
        )
    }
}
