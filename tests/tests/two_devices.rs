//! Verbs and the connection manager over two simulated cards.

use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::Device;
use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_tests::cards;

const PORT: u16 = 4791;
const LIMIT: u64 = 20_000_000_000;

fn fabric(seed: u64) -> Fabric {
    Fabric::new(&FabricConfig {
        seed,
        cards: cards(),
        ..FabricConfig::default()
    })
    .expect("two cards come up")
}

fn next_event(fabric: &Fabric, channel: &EventChannel, wanted: CmEventType) -> CmEvent {
    let event = fabric
        .run_until(wanted.name(), LIMIT, || {
            channel.try_get_event().expect("the device works")
        })
        .expect("an event comes");
    assert_eq!(event.event, wanted, "{event:?}");
    event
}

fn completion(fabric: &Fabric, cq: &Cq) -> Wc {
    fabric
        .run_until("a completion", LIMIT, || {
            cq.poll_one().expect("the device works")
        })
        .expect("a completion comes")
}

/// One side of a connection.
struct End {
    pd: Pd,
    cq: Cq,
    channel: EventChannel,
    comp: CompChannel,
    mr: Mr,
}

const ALL: [Access; 4] = [
    Access::LOCAL_WRITE,
    Access::REMOTE_READ,
    Access::REMOTE_WRITE,
    Access::READ_SINK,
];
const LEN: usize = 300_000;

impl End {
    fn new(device: &Device) -> Self {
        let pd = device.alloc_pd().expect("a domain");
        let comp = device.create_comp_channel();
        let cq = device.create_cq(256, Some(&comp)).expect("a queue");
        let access = ALL.into_iter().fold(Access::NONE, |a, b| a | b);
        let mr = pd.alloc_mr(LEN, access).expect("a region");
        Self {
            channel: device.create_event_channel(),
            pd,
            cq,
            comp,
            mr,
        }
    }

    fn client(&self, param: &ConnParam) -> CmId {
        let id = self.channel.create_id();
        id.resolve_addr(SocketAddrV4::new(ip(1), PORT))
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
        id.create_qp(&self.pd, &QpInit::new(&self.cq))
            .expect("a queue pair");
        id.connect(param).expect("possible");
        id
    }

    fn listen(&self) -> CmId {
        let id = self.channel.create_id();
        id.bind_addr(SocketAddrV4::new(ip(1), PORT))
            .expect("possible");
        id.listen(8).expect("possible");
        id
    }
}

struct Pair {
    fabric: Fabric,
    a: End,
    b: End,
    client: CmId,
    server: CmId,
}

impl Pair {
    fn qps(&self) -> (Qp, Qp) {
        (
            self.client.qp().expect("has one"),
            self.server.qp().expect("has one"),
        )
    }
}

fn connected(seed: u64, connect: &ConnParam, accept: &ConnParam) -> Pair {
    let fabric = fabric(seed);
    let (a, b) = (End::new(fabric.device(0)), End::new(fabric.device(1)));
    let listener = b.listen();
    let client = a.client(connect);
    let request = next_event(&fabric, &b.channel, CmEventType::ConnectRequest);
    assert!(request.listen_id.is_some_and(|id| id.is(&listener)));
    assert_eq!(request.private_data, connect.private_data);
    let server = request.id;
    server
        .create_qp(&b.pd, &QpInit::new(&b.cq))
        .expect("a queue pair");
    server.accept(accept).expect("possible");
    let up = next_event(&fabric, &a.channel, CmEventType::Established);
    assert!(up.id.is(&client));
    assert_eq!(up.private_data, accept.private_data);
    if up.agreed.expect("agreed").rtr.is_none() {
        // The client must send first: the server is established by that.
        let (cq, sq) = (client.qp().expect("has one"), server.qp().expect("has one"));
        sq.post_recv(RecvWr::new(900).sge(b.mr.sge(0, 8)))
            .expect("possible");
        cq.post_send(SendWr::send(901).inline(b"first").signaled())
            .expect("possible");
        assert_eq!(completion(&fabric, &b.cq).wr_id, 900);
        assert_eq!(completion(&fabric, &a.cq).wr_id, 901);
    }
    let up = next_event(&fabric, &b.channel, CmEventType::Established);
    assert!(up.id.is(&server));
    Pair {
        fabric,
        a,
        b,
        client,
        server,
    }
}

fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ salt)
        .collect()
}

fn no_faults(fabric: &Fabric) {
    for device in fabric.devices() {
        let health = device.health().expect("readable");
        assert!(
            !health.dma_read_error && !health.dma_write_error,
            "{health:?}"
        );
    }
}

#[test]
fn send_write_and_read() {
    let param = |data: &[u8]| ConnParam {
        private_data: data.to_vec(),
        ..ConnParam::default()
    };
    let pair = connected(1, &param(b"from the client"), &param(b"from the server"));
    let Pair { fabric, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    for (n, len) in [0usize, 1, 63, 64, 65, 1459, 1460, 5000, 65537]
        .into_iter()
        .enumerate()
    {
        let n = n as u64;
        let bytes = pattern(len, n as u8);
        a.mr.write(3, &bytes).expect("inside");
        // Send, from three SGEs into two.
        let third = (len / 3) as u32;
        let rest = len as u32 - 2 * third;
        sq.post_recv(
            RecvWr::new(n)
                .sge(b.mr.sge(1, 7))
                .sge(b.mr.sge(1000, 70_000)),
        )
        .expect("room");
        cq.post_send(
            SendWr::send(100 + n)
                .sge(a.mr.sge(3, third))
                .sge(a.mr.sge(3 + u64::from(third), third))
                .sge(a.mr.sge(3 + 2 * u64::from(third), rest))
                .signaled(),
        )
        .expect("room");
        let wc = completion(fabric, &b.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode, wc.byte_len as usize),
            (n, WcStatus::Success, WcOpcode::Recv, len)
        );
        let first = len.min(7);
        assert_eq!(b.mr.to_vec(1, first).expect("inside"), bytes[..first]);
        assert_eq!(
            b.mr.to_vec(1000, len - first).expect("inside"),
            bytes[first..]
        );
        let wc = completion(fabric, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode),
            (100 + n, WcStatus::Success, WcOpcode::Send)
        );

        // Write, then a Send that says so.
        b.mr.fill(100_000, len + 10, 0xee).expect("inside");
        sq.post_recv(RecvWr::new(n)).expect("room");
        let to = b.mr.remote().offset(100_001);
        cq.post_send(
            SendWr::write(200 + n, to)
                .sge(a.mr.sge(3, len as u32))
                .signaled(),
        )
        .expect("room");
        cq.post_send(SendWr::send(300 + n).signaled())
            .expect("room");
        assert_eq!(completion(fabric, &b.cq).byte_len, 0);
        assert_eq!(b.mr.to_vec(100_001, len).expect("inside"), bytes);
        assert_eq!(b.mr.to_vec(100_001 + len, 1).expect("inside"), [0xee]);
        assert_eq!(completion(fabric, &a.cq).opcode, WcOpcode::RdmaWrite);
        assert_eq!(completion(fabric, &a.cq).wr_id, 300 + n);

        // Read it back, by the client and by the server.
        a.mr.fill(200_000, len + 10, 0xdd).expect("inside");
        cq.post_send(
            SendWr::read(400 + n, to)
                .sge(a.mr.sge(200_001, len as u32))
                .signaled(),
        )
        .expect("room");
        let wc = completion(fabric, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode),
            (400 + n, WcStatus::Success, WcOpcode::RdmaRead)
        );
        assert_eq!(a.mr.to_vec(200_001, len).expect("inside"), bytes);
        let from = a.mr.remote().offset(3);
        sq.post_send(
            SendWr::read(500 + n, from)
                .sge(b.mr.sge(200_003, len as u32))
                .signaled(),
        )
        .expect("room");
        assert_eq!(completion(fabric, &b.cq).wr_id, 500 + n);
        assert_eq!(b.mr.to_vec(200_003, len).expect("inside"), bytes);
    }
    no_faults(fabric);
    pair.client.disconnect().expect("possible");
    let gone = next_event(fabric, &b.channel, CmEventType::Disconnected);
    assert_eq!(gone.status, 0, "{gone:?}");
    // An application closes its side too.
    pair.server.disconnect().ok();
    next_event(fabric, &a.channel, CmEventType::Disconnected);
    no_faults(fabric);
}

#[test]
fn every_way_to_connect() {
    let kinds = [RtrKinds::READ, RtrKinds::WRITE, RtrKinds::SEND];
    let mut ways = Vec::new();
    for rtr in kinds {
        ways.push(ConnParam {
            rtr: Some(rtr),
            ..ConnParam::default()
        });
    }
    for crc in [false, true] {
        for markers in [false, true] {
            ways.push(ConnParam {
                crc,
                markers,
                ..ConnParam::default()
            });
            ways.push(ConnParam {
                crc,
                markers,
                peer_to_peer: Some(false),
                ..ConnParam::default()
            });
        }
    }
    ways.push(ConnParam {
        mpa_revision: Revision::Rev1,
        ..ConnParam::default()
    });
    for (n, way) in ways.into_iter().enumerate() {
        for markers in [false, true] {
            println!("way {n}: {way:?}, server markers {markers}");
            let accept = ConnParam {
                crc: way.crc,
                markers,
                ..ConnParam::default()
            };
            let pair = connected(n as u64 + 1, &way, &accept);
            let (cq, sq) = pair.qps();
            let bytes = pattern(4000, n as u8);
            // The server sends first where it may.
            let Pair { fabric, a, b, .. } = &pair;
            b.mr.write(0, &bytes).expect("inside");
            cq.post_recv(RecvWr::new(1).sge(a.mr.sge(5, 4000)))
                .expect("room");
            sq.post_send(SendWr::send(2).sge(b.mr.sge(0, 4000)).signaled())
                .expect("room");
            assert_eq!(completion(fabric, &a.cq).byte_len, 4000);
            assert_eq!(a.mr.to_vec(5, 4000).expect("inside"), bytes);
            assert_eq!(completion(fabric, &b.cq).status, WcStatus::Success);
            no_faults(fabric);
        }
    }
}

#[test]
fn rejected_refused_and_unreachable() {
    let fabric = fabric(3);
    let (a, b) = (End::new(fabric.device(0)), End::new(fabric.device(1)));
    let id = a.client(&ConnParam::default());
    let event = next_event(&fabric, &a.channel, CmEventType::Rejected);
    assert_eq!(
        (event.status, event.failure),
        (-111, Some(ConnectFailure::Refused))
    );
    assert_eq!(id.state(), CmState::Closed);

    let listener = b.listen();
    let _id = a.client(&ConnParam::default());
    let request = next_event(&fabric, &b.channel, CmEventType::ConnectRequest);
    request.id.reject(b"no").expect("possible");
    let event = next_event(&fabric, &a.channel, CmEventType::Rejected);
    assert_eq!(
        (event.private_data.as_slice(), event.failure),
        (b"no".as_slice(), None)
    );

    // A request that is dropped is rejected.
    let _id = a.client(&ConnParam::default());
    drop(next_event(&fabric, &b.channel, CmEventType::ConnectRequest));
    next_event(&fabric, &a.channel, CmEventType::Rejected);

    // Insisting on peer-to-peer.
    let _id = a.client(&ConnParam {
        peer_to_peer: Some(false),
        ..ConnParam::default()
    });
    let request = next_event(&fabric, &b.channel, CmEventType::ConnectRequest);
    request
        .id
        .create_qp(&b.pd, &QpInit::new(&b.cq))
        .expect("a queue pair");
    let insist = ConnParam {
        peer_to_peer: Some(true),
        ..ConnParam::default()
    };
    assert_eq!(
        request.id.accept(&insist),
        Err(CmError::PeerToPeerNotOffered)
    );
    drop(request);
    next_event(&fabric, &a.channel, CmEventType::Rejected);
    drop(listener);

    let id = a.channel.create_id();
    id.resolve_addr(SocketAddrV4::new(ip(99), PORT))
        .expect("possible");
    id.resolve_route().expect("possible");
    id.create_qp(&a.pd, &QpInit::new(&a.cq))
        .expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    next_event(&fabric, &a.channel, CmEventType::AddrResolved);
    next_event(&fabric, &a.channel, CmEventType::RouteResolved);
    let event = fabric
        .run_until("unreachable", 200_000_000_000, || {
            a.channel.try_get_event().expect("works")
        })
        .expect("given up");
    assert_eq!(
        (event.event, event.status),
        (CmEventType::Unreachable, -110)
    );
}

#[test]
fn a_callback_answers() {
    let fabric = fabric(4);
    let (a, b) = (End::new(fabric.device(0)), End::new(fabric.device(1)));
    let asked = Arc::new(AtomicUsize::new(0));
    let listener = b.channel.create_id();
    listener
        .bind_addr(SocketAddrV4::new(ip(1), PORT))
        .expect("possible");
    let (count, pd, cq, mr) = (asked.clone(), b.pd.clone(), b.cq.clone(), b.mr.clone());
    listener
        .listen_with(4, move |request| {
            match count.fetch_add(1, Ordering::Relaxed) {
                0 => Decision::Reject(request.private_data.clone()),
                1 => {
                    let qp = request
                        .id
                        .create_qp(&pd, &QpInit::new(&cq))
                        .expect("a queue pair");
                    qp.post_recv(RecvWr::new(77).sge(mr.sge(0, 100)))
                        .expect("possible");
                    Decision::Accept(ConnParam {
                        private_data: b"welcome".to_vec(),
                        ..ConnParam::default()
                    })
                }
                // Without a queue pair this cannot be done: the request is rejected.
                2 => Decision::Accept(ConnParam::default()),
                _ => Decision::Later,
            }
        })
        .expect("possible");
    let named = ConnParam {
        private_data: b"it's me".to_vec(),
        ..ConnParam::default()
    };
    let _first = a.client(&named);
    let event = next_event(&fabric, &a.channel, CmEventType::Rejected);
    assert_eq!(event.private_data, b"it's me");

    let second = a.client(&named);
    let event = next_event(&fabric, &a.channel, CmEventType::Established);
    assert_eq!(event.private_data, b"welcome");
    let server = next_event(&fabric, &b.channel, CmEventType::Established).id;
    let qp = second.qp().expect("has one");
    qp.post_send(SendWr::send(1).inline(b"hello").signaled())
        .expect("possible");
    assert_eq!(completion(&fabric, &b.cq).wr_id, 77);
    assert_eq!(b.mr.to_vec(0, 5).expect("inside"), b"hello");
    assert_eq!(completion(&fabric, &a.cq).wr_id, 1);

    let _third = a.client(&named);
    next_event(&fabric, &a.channel, CmEventType::Rejected);
    let _fourth = a.client(&named);
    let _request = next_event(&fabric, &b.channel, CmEventType::ConnectRequest);
    assert_eq!(asked.load(Ordering::Relaxed), 4);

    // Dropping a connected identifier aborts.
    drop(server);
    let event = next_event(&fabric, &a.channel, CmEventType::Disconnected);
    assert!(event.id.is(&second), "{event:?}");
    assert_eq!(event.status, -104, "{event:?}");
}

#[test]
fn completion_channel() {
    let pair = connected(5, &ConnParam::default(), &ConnParam::default());
    let Pair { fabric, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    let event = || b.comp.try_get_event().expect("works");
    for n in 0..4 {
        sq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 10)))
            .expect("room");
    }
    b.cq.req_notify(Notify::Solicited).expect("has a channel");
    cq.post_send(SendWr::send(1).inline(b"a").signaled())
        .expect("room");
    assert_eq!(completion(fabric, &a.cq).wr_id, 1);
    assert!(event().is_none(), "nobody asked for one");
    cq.post_send(SendWr::send(2).inline(b"b").signaled().solicited())
        .expect("room");
    assert_eq!(completion(fabric, &a.cq).wr_id, 2);
    assert!(event().is_some_and(|cq| cq.is(&b.cq)));
    assert!(event().is_none(), "one event for one request");
    assert_eq!(
        b.cq.poll(8)
            .expect("works")
            .iter()
            .map(|wc| wc.solicited)
            .collect::<Vec<_>>(),
        [false, true]
    );
    b.cq.req_notify(Notify::Any).expect("has a channel");
    cq.post_send(SendWr::send(3).inline(b"c")).expect("room");
    fabric
        .run_until("an event", LIMIT, event)
        .expect("an event comes");
}

#[test]
fn unsignalled_work_completes_in_silence_and_lets_go() {
    let pair = connected(6, &ConnParam::default(), &ConnParam::default());
    let Pair { fabric, a, b, .. } = &pair;
    let (cq, _sq) = pair.qps();
    // Many more than the send queue holds, without a single completion before the last.
    for n in 0..200u64 {
        let mr = a.pd.alloc_mr(100, Access::NONE).expect("an STag");
        mr.write(0, &[n as u8; 100]).expect("inside");
        let wr = || SendWr::write(n, b.mr.remote().offset(100 * n)).sge(mr.sge(0, 100));
        fabric
            .run_until("room", LIMIT, || match cq.post_send(wr()) {
                Ok(()) => Some(()),
                Err(VerbsError::SendQueueFull { depth: 64 }) => None,
                Err(error) => panic!("{error}"),
            })
            .expect("room comes");
        // The region is dropped here: the work keeps it.
    }
    cq.post_send(
        SendWr::read(999, b.mr.remote())
            .sge(a.mr.sge(0, 20_000))
            .fence()
            .signaled(),
    )
    .ok();
    fabric.run_for(1_000_000_000).expect("runs");
    for n in 0..200 {
        assert_eq!(b.mr.to_vec(100 * n, 100).expect("inside"), [n as u8; 100]);
    }
    let wcs = a.cq.poll(10).expect("works");
    assert!(wcs.iter().all(|wc| wc.wr_id == 999), "{wcs:?}");
    no_faults(fabric);
}

#[test]
fn errors_flush() {
    let pair = connected(7, &ConnParam::default(), &ConnParam::default());
    let Pair { fabric, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    for n in 0..3 {
        sq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 10)))
            .expect("room");
        cq.post_recv(RecvWr::new(n).sge(a.mr.sge(0, 10)))
            .expect("room");
    }
    // A Write to an STag that does not exist.
    let nowhere = RemoteRegion {
        rkey: b.mr.rkey() ^ 0x55,
        ..b.mr.remote()
    };
    cq.post_send(SendWr::write(10, nowhere).sge(a.mr.sge(0, 10)))
        .expect("room");
    cq.post_send(SendWr::send(11).sge(a.mr.sge(0, 10)))
        .expect("room");
    next_event(fabric, &a.channel, CmEventType::Disconnected);
    next_event(fabric, &b.channel, CmEventType::Disconnected);
    let b_wcs = b.cq.poll(10).expect("works");
    assert_eq!(
        b_wcs
            .iter()
            .map(|wc| (wc.wr_id, wc.status))
            .collect::<Vec<_>>(),
        [0, 1, 2].map(|n| (n, WcStatus::WrFlushError))
    );
    let a_wcs = a.cq.poll(10).expect("works");
    println!("{a_wcs:?}");
    assert_eq!(
        a_wcs
            .iter()
            .filter(|wc| wc.opcode == WcOpcode::Recv)
            .count(),
        3
    );
    let fatal = fabric.device(1).get_async_event();
    let Some(AsyncEvent::QpFatal {
        terminate: Some(code),
        received: false,
        ..
    }) = fatal
    else {
        panic!("{fatal:?}");
    };
    assert_eq!(code, TerminateCode::DDP_STAG);
    let fatal = fabric.device(0).get_async_event();
    assert!(
        matches!(fatal, Some(AsyncEvent::QpFatal { terminate: Some(code), received: true, .. }) if code == TerminateCode::DDP_STAG),
        "{fatal:?}"
    );
    // Work that is posted now is flushed.
    cq.post_send(SendWr::send(12).sge(a.mr.sge(0, 10)))
        .expect("taken");
    let wc = completion(fabric, &a.cq);
    assert_eq!((wc.wr_id, wc.status), (12, WcStatus::WrFlushError));
    no_faults(fabric);
}

#[test]
fn the_same_seed_the_same_run() {
    let run = || {
        let pair = connected(8, &ConnParam::default(), &ConnParam::default());
        let (cq, _) = pair.qps();
        let Pair { fabric, a, b, .. } = &pair;
        cq.post_send(
            SendWr::write(1, b.mr.remote())
                .sge(a.mr.sge(0, 100_000))
                .signaled(),
        )
        .expect("room");
        completion(fabric, &a.cq);
        let d = fabric.device(0);
        (
            fabric.now(),
            d.host_stats(),
            d.engine_stats(),
            d.counters().expect("readable"),
            a.mr.addr(),
            a.mr.rkey(),
        )
    };
    assert_eq!(run(), run());
}

#[test]
fn a_link_that_loses_reorders_and_repeats() {
    use weft_sim::link::LinkConfig;
    for seed in 0..20u64 {
        let fabric = fabric(seed);
        let (a, b) = (End::new(fabric.device(0)), End::new(fabric.device(1)));
        let _listener = b.listen();
        let client = a.client(&ConnParam::default());
        let server = next_event(&fabric, &b.channel, CmEventType::ConnectRequest).id;
        server
            .create_qp(&b.pd, &QpInit::new(&b.cq))
            .expect("a queue pair");
        server.accept(&ConnParam::default()).expect("possible");
        next_event(&fabric, &a.channel, CmEventType::Established);
        next_event(&fabric, &b.channel, CmEventType::Established);
        let faults = weft_sim::link::Faults {
            loss: 10_000,
            duplicate: 10_000,
            reorder: 10_000,
            corrupt: 5_000,
            resegment: 50_000,
        };
        let lossy = LinkConfig {
            faults,
            ..LinkConfig::default()
        };
        weft_sim::transport::lock(fabric.world())
            .link(0)
            .set_config(lossy);
        let qp = client.qp().expect("has one");
        let bytes = pattern(200_000, seed as u8);
        a.mr.write(0, &bytes).expect("inside");
        let sq = server.qp().expect("has one");
        sq.post_recv(RecvWr::new(1).sge(b.mr.sge(0, 200_000)))
            .expect("room");
        qp.post_send(SendWr::send(2).sge(a.mr.sge(0, 200_000)).signaled())
            .expect("room");
        qp.post_send(
            SendWr::write(3, b.mr.remote().offset(200_001))
                .sge(a.mr.sge(0, 90_000))
                .signaled(),
        )
        .expect("room");
        qp.post_send(
            SendWr::read(4, b.mr.remote().offset(200_001))
                .sge(a.mr.sge(200_003, 90_000))
                .signaled()
                .fence(),
        )
        .expect("room");
        assert_eq!(completion(&fabric, &b.cq).wr_id, 1);
        assert_eq!(b.mr.to_vec(0, 200_000).expect("inside"), bytes);
        for wr_id in [2, 3, 4] {
            let wc = completion(&fabric, &a.cq);
            assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
        }
        assert_eq!(
            a.mr.to_vec(200_003, 90_000).expect("inside"),
            bytes[..90_000]
        );
        no_faults(&fabric);
        println!(
            "{seed}: {} ns, {:?}",
            fabric.now(),
            fabric.device(1).host_stats().bytes_copied_in
        );
    }
}
