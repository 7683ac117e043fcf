//! Every way to connect, and not to.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{
    completion, connected, next_event, no_faults, pattern, End, Pair, Scene, PORT,
};

fn bench(way: &Way, seed: u64) -> Bench {
    Bench::new(way, seed).expect("two devices come up")
}

pub fn every_way_to_connect(way: &Way) {
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
        aligned: true,
        ..ConnParam::default()
    });
    ways.push(ConnParam {
        mpa_revision: Revision::Rev1,
        ..ConnParam::default()
    });
    for (n, param) in ways.into_iter().enumerate() {
        for markers in [false, true] {
            let _scene = Scene(format!("way {n}: {param:?}, server markers {markers}"));
            let accept = ConnParam {
                crc: param.crc,
                markers,
                aligned: !markers,
                ..ConnParam::default()
            };
            let pair = connected(bench(way, n as u64 + 1), &param, &accept);
            let (cq, sq) = pair.qps();
            let bytes = pattern(4000, n as u8);
            // The server sends first where it may.
            let Pair { bench, a, b, .. } = &pair;
            b.mr.write(0, &bytes).expect("inside");
            cq.post_recv(RecvWr::new(1).sge(a.mr.sge(5, 4000)))
                .expect("room");
            sq.post_send(SendWr::send(2).sge(b.mr.sge(0, 4000)).signaled())
                .expect("room");
            assert_eq!(completion(bench, &a.cq).byte_len, 4000);
            assert_eq!(a.mr.to_vec(5, 4000).expect("inside"), bytes);
            assert_eq!(completion(bench, &b.cq).status, WcStatus::Success);
            no_faults(bench);
        }
    }
}

pub fn rejected_refused_and_unreachable(way: &Way) {
    let bench = &bench(way, 3);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let id = a.client(bench, &ConnParam::default());
    let event = next_event(bench, &a.channel, CmEventType::Rejected);
    assert_eq!(
        (event.status, event.failure),
        (-111, Some(ConnectFailure::Refused))
    );
    assert_eq!(id.state(), CmState::Closed);

    let listener = b.listen(bench);
    let _id = a.client(bench, &ConnParam::default());
    let request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
    request.id.reject(b"no").expect("possible");
    let event = next_event(bench, &a.channel, CmEventType::Rejected);
    assert_eq!(
        (event.private_data.as_slice(), event.failure),
        (b"no".as_slice(), None)
    );

    // A request that is dropped is rejected.
    let _id = a.client(bench, &ConnParam::default());
    drop(next_event(bench, &b.channel, CmEventType::ConnectRequest));
    next_event(bench, &a.channel, CmEventType::Rejected);

    // Insisting on peer-to-peer.
    let _id = a.client(
        bench,
        &ConnParam {
            peer_to_peer: Some(false),
            ..ConnParam::default()
        },
    );
    let request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
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
    next_event(bench, &a.channel, CmEventType::Rejected);
    drop(listener);

    let id = a.channel.create_id();
    id.resolve_addr(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 99), PORT))
        .expect("possible");
    id.resolve_route().expect("possible");
    id.create_qp(&a.pd, &QpInit::new(&a.cq))
        .expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    next_event(bench, &a.channel, CmEventType::AddrResolved);
    next_event(bench, &a.channel, CmEventType::RouteResolved);
    let event = bench
        .run_until("unreachable", 200_000_000_000, || {
            a.channel.try_get_event().expect("works")
        })
        .expect("given up");
    assert_eq!(
        (event.event, event.status),
        (CmEventType::Unreachable, -110)
    );
}

pub fn a_callback_answers(way: &Way) {
    let bench = &bench(way, 4);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let asked = Arc::new(AtomicUsize::new(0));
    let listener = b.channel.create_id();
    listener
        .bind_addr(SocketAddrV4::new(bench.ip(1), PORT))
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
    let _first = a.client(bench, &named);
    let event = next_event(bench, &a.channel, CmEventType::Rejected);
    assert_eq!(event.private_data, b"it's me");

    let second = a.client(bench, &named);
    let event = next_event(bench, &a.channel, CmEventType::Established);
    assert_eq!(event.private_data, b"welcome");
    let server = next_event(bench, &b.channel, CmEventType::Established).id;
    let qp = second.qp().expect("has one");
    qp.post_send(SendWr::send(1).inline(b"hello").signaled())
        .expect("possible");
    assert_eq!(completion(bench, &b.cq).wr_id, 77);
    assert_eq!(b.mr.to_vec(0, 5).expect("inside"), b"hello");
    assert_eq!(completion(bench, &a.cq).wr_id, 1);

    let _third = a.client(bench, &named);
    next_event(bench, &a.channel, CmEventType::Rejected);
    let _fourth = a.client(bench, &named);
    let _request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
    assert_eq!(asked.load(Ordering::Relaxed), 4);

    // Dropping a connected identifier aborts.
    drop(server);
    let event = next_event(bench, &a.channel, CmEventType::Disconnected);
    assert!(event.id.is(&second), "{event:?}");
    assert_eq!(event.status, -104, "{event:?}");
}
