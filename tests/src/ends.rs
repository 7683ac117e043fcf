//! Two ends of a connection over a [`Bench`], and the steps that tests take with them.

use std::net::SocketAddrV4;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::Device;

use crate::bench::Bench;

/// The server's port.
pub const PORT: u16 = 4791;
/// Time for a step, in nanoseconds of the bench's time.
pub const LIMIT: u64 = 20_000_000_000;
/// Bytes of each end's region.
pub const LEN: usize = 300_000;

/// The next event, which has to be this one.
pub fn next_event(bench: &Bench, channel: &EventChannel, wanted: CmEventType) -> CmEvent {
    let event = bench
        .run_until(wanted.name(), LIMIT, || {
            channel.try_get_event().expect("the device works")
        })
        .expect("an event comes");
    assert_eq!(event.event, wanted, "{event:?}");
    event
}

/// The next completion.
pub fn completion(bench: &Bench, cq: &Cq) -> Wc {
    bench
        .run_until("a completion", LIMIT, || {
            cq.poll_one().expect("the device works")
        })
        .expect("a completion comes")
}

/// Bytes that tell where they are.
pub fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ salt)
        .collect()
}

/// No access of a card was refused.
pub fn no_faults(bench: &Bench) {
    for device in bench.devices() {
        let health = device.health().expect("readable");
        assert!(
            !health.dma_read_error && !health.dma_write_error,
            "{health:?}"
        );
    }
}

/// Says what a test was at, if it fails there.
pub struct Scene(pub String);

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at {}", self.0);
        }
    }
}

/// One end of a connection.
pub struct End {
    /// Its domain.
    pub pd: Pd,
    /// Its completion queue.
    pub cq: Cq,
    /// Its connection events.
    pub channel: EventChannel,
    /// Its completion events.
    pub comp: CompChannel,
    /// A region with every right.
    pub mr: Mr,
}

impl End {
    /// Of this device.
    pub fn new(device: &Device) -> Self {
        let pd = device.alloc_pd().expect("a domain");
        let comp = device.create_comp_channel();
        let cq = device.create_cq(256, Some(&comp)).expect("a queue");
        let all = [
            Access::LOCAL_WRITE,
            Access::REMOTE_READ,
            Access::REMOTE_WRITE,
            Access::READ_SINK,
        ];
        let access = all.into_iter().fold(Access::NONE, |a, b| a | b);
        let mr = pd.alloc_mr(LEN, access).expect("a region");
        Self {
            channel: device.create_event_channel(),
            pd,
            cq,
            comp,
            mr,
        }
    }

    /// Connects to the bench's second device.
    pub fn client(&self, bench: &Bench, param: &ConnParam) -> CmId {
        self.client_with(bench, &QpInit::new(&self.cq), param)
    }

    /// The same with a queue pair like this.
    pub fn client_with(&self, bench: &Bench, init: &QpInit, param: &ConnParam) -> CmId {
        let id = self.channel.create_id();
        id.resolve_addr(SocketAddrV4::new(bench.ip(1), PORT))
            .expect("possible");
        id.resolve_route().expect("possible");
        for wanted in [CmEventType::AddrResolved, CmEventType::RouteResolved] {
            let event = self
                .channel
                .try_get_event()
                .expect("works")
                .expect("at once");
            assert_eq!(event.event, wanted);
        }
        id.create_qp(&self.pd, init).expect("a queue pair");
        id.connect(param).expect("possible");
        id
    }

    /// Accepts a request, with a queue pair of its own.
    pub fn accept(&self, request: CmId, param: &ConnParam) -> CmId {
        request
            .create_qp(&self.pd, &QpInit::new(&self.cq))
            .expect("a queue pair");
        request.accept(param).expect("possible");
        request
    }

    /// Accepts the next request.
    pub fn accept_next(&self, bench: &Bench) -> CmId {
        let request = next_event(bench, &self.channel, CmEventType::ConnectRequest);
        self.accept(request.id, &ConnParam::default())
    }

    /// Listens as the bench's second device.
    pub fn listen(&self, bench: &Bench) -> CmId {
        let id = self.channel.create_id();
        id.bind_addr(SocketAddrV4::new(bench.ip(1), PORT))
            .expect("possible");
        id.listen(8).expect("possible");
        id
    }
}

/// Two ends that are connected.
pub struct Pair {
    /// The client's end, of the first device.
    pub a: End,
    /// The server's end, of the second device.
    pub b: End,
    /// The client's identifier.
    pub client: CmId,
    /// The server's.
    pub server: CmId,
    // After all that lives on its devices.
    /// The devices.
    pub bench: Bench,
}

impl Pair {
    /// The client's queue pair and the server's.
    pub fn qps(&self) -> (Qp, Qp) {
        (
            self.client.qp().expect("has one"),
            self.server.qp().expect("has one"),
        )
    }
}

/// Connects the devices of a bench.
pub fn connected(bench: Bench, connect: &ConnParam, accept: &ConnParam) -> Pair {
    standing(bench, connect, accept).0
}

/// The same with the listener, which goes on listening.
pub fn standing(bench: Bench, connect: &ConnParam, accept: &ConnParam) -> (Pair, CmId) {
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let listener = b.listen(&bench);
    let client = a.client(&bench, connect);
    let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    assert!(request.listen_id.is_some_and(|id| id.is(&listener)));
    assert_eq!(request.private_data, connect.private_data);
    let server = b.accept(request.id, accept);
    let up = next_event(&bench, &a.channel, CmEventType::Established);
    assert!(up.id.is(&client));
    assert_eq!(up.private_data, accept.private_data);
    let enhanced = up.agreed.expect("agreed").revision == 2;
    // RFC 6581 §9.1: what the other side said of Reads, beside what is made of it.
    let said = |up: &CmEvent| (up.peer_ird, up.peer_ord);
    if enhanced {
        let ord = accept.initiator_depth.min(connect.responder_resources);
        let ird = accept.responder_resources.max(1);
        assert_eq!(said(&up), (Some(ird), Some(ord)));
    } else {
        assert_eq!(said(&up), (None, None));
    }
    if up.agreed.expect("agreed").rtr.is_none() {
        // The client must send first: the server is established by that.
        let (cq, sq) = (client.qp().expect("has one"), server.qp().expect("has one"));
        sq.post_recv(RecvWr::new(900).sge(b.mr.sge(0, 8)))
            .expect("possible");
        cq.post_send(SendWr::send(901).inline(b"first").signaled())
            .expect("possible");
        assert_eq!(completion(&bench, &b.cq).wr_id, 900);
        assert_eq!(completion(&bench, &a.cq).wr_id, 901);
    }
    let up = next_event(&bench, &b.channel, CmEventType::Established);
    assert!(up.id.is(&server));
    let ird = enhanced.then_some(connect.responder_resources);
    assert_eq!((up.peer_ird, up.peer_ord.is_some()), (ird, enhanced));
    let pair = Pair {
        a,
        b,
        client,
        server,
        bench,
    };
    (pair, listener)
}
