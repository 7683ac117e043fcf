//! Shared receive queues: two connections, one queue.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, no_faults, pattern, End, LIMIT};

fn bench(way: &Way, seed: u64) -> Bench {
    Bench::new(way, seed).expect("two devices come up")
}

/// A client at the first device, and a server at the second whose queue pair takes from the queue.
fn connect(bench: &Bench, a: &End, b: &End, init: &QpInit) -> (CmId, CmId) {
    let client = a.client(bench, &ConnParam::default());
    let request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
    request.id.create_qp(&b.pd, init).expect("a queue pair");
    request.id.accept(&ConnParam::default()).expect("possible");
    next_event(bench, &a.channel, CmEventType::Established);
    next_event(bench, &b.channel, CmEventType::Established);
    (client, request.id)
}

fn async_event(bench: &Bench, device: usize) -> AsyncEvent {
    let device = bench.device(device);
    bench
        .run_until("an asynchronous event", LIMIT, || {
            device.progress().expect("the device works");
            let event = device.get_async_event();
            event.filter(|event| !matches!(event, AsyncEvent::CommEstablished { .. }))
        })
        .expect("one comes")
}

pub fn two_connections_share_receives(way: &Way) {
    let bench = bench(way, 21);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let init = SrqInit {
        max_wr: 4,
        max_sge: 2,
        srq_limit: 2,
    };
    let srq = b.pd.create_srq(&init).expect("a queue");
    // Its limit is passed from the beginning.
    let limit = || AsyncEvent::SrqLimitReached {
        srq_num: srq.srq_num(),
    };
    let qp_init = QpInit::new(&b.cq).srq(&srq);
    let ends = [(); 2].map(|()| connect(&bench, &a, &b, &qp_init));
    let qps: Vec<_> = ends
        .iter()
        .map(|(client, _)| client.qp().expect("has one"))
        .collect();
    let peers: Vec<_> = ends
        .iter()
        .map(|(_, server)| server.qp().expect("has one"))
        .collect();
    for (n, len) in [0usize, 1, 63, 1460, 5000, 40_000].into_iter().enumerate() {
        let bytes = pattern(len, n as u8);
        a.mr.write(0, &bytes).expect("inside");
        for at in [0u64, 1] {
            let place = 1000 + 100_000 * at;
            let list = [b.mr.sge(place, 3), b.mr.sge(place + 3, 50_000)];
            let wr = RecvWr::new(10 * n as u64 + at).sges(&list);
            srq.post_recv(wr).expect("room");
        }
        // The second connection first.
        for which in [1, 0] {
            let wr = SendWr::send(7).sge(a.mr.sge(0, len as u32)).signaled();
            qps[which].post_send(wr).expect("room");
            let wc = completion(&bench, &b.cq);
            let at = 1 - which as u64;
            assert_eq!(
                (wc.wr_id, wc.status, wc.opcode, wc.byte_len as usize),
                (10 * n as u64 + at, WcStatus::Success, WcOpcode::Recv, len)
            );
            assert_eq!(wc.qp_num, peers[which].qp_num());
            let place = 1000 + 100_000 * at as usize;
            assert_eq!(b.mr.to_vec(place, len).expect("inside"), bytes);
            assert_eq!(completion(&bench, &a.cq).wr_id, 7);
        }
    }
    // Writes are as ever.
    let wr = SendWr::write(8, b.mr.remote().offset(7))
        .sge(a.mr.sge(0, 3000))
        .signaled();
    qps[0].post_send(wr).expect("room");
    assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);

    // The limit.
    while bench.device(1).get_async_event().is_some() {}
    assert_eq!(
        srq.query().expect("works").srq_limit,
        0,
        "told at once, when it was made"
    );
    for n in 0..3 {
        srq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 10)))
            .expect("room");
    }
    srq.modify(3).expect("possible");
    let state = srq.query().expect("works");
    assert_eq!((state.max_wr, state.max_sge), (4, 2));
    assert_eq!((state.srq_limit, state.waiting), (3, 3));
    assert_eq!(bench.device(1).get_async_event(), None);
    qps[1]
        .post_send(SendWr::send(1).inline(b"x"))
        .expect("room");
    assert_eq!(completion(&bench, &b.cq).wr_id, 0);
    assert_eq!(async_event(&bench, 1), limit());
    srq.modify(3).expect("possible");
    assert_eq!(async_event(&bench, 1), limit(), "at once");

    // A queue pair that fails takes nothing with it.
    let [(client, server), _kept] = ends;
    client.disconnect().expect("possible");
    next_event(&bench, &b.channel, CmEventType::Disconnected);
    let qp_num = peers[0].qp_num();
    assert_eq!(
        async_event(&bench, 1),
        AsyncEvent::LastWqeReached { qp_num }
    );
    drop((client, server));
    assert_eq!(srq.query().expect("works").waiting, 2);
    assert!(b.cq.poll_one().expect("works").is_none());
    no_faults(&bench);
}

pub fn misuse_of_shared_receives_is_refused(way: &Way) {
    let bench = bench(way, 22);
    let device = bench.device(1);
    let (a, b) = (End::new(bench.device(0)), End::new(device));
    let init = SrqInit {
        max_wr: 3,
        max_sge: 1,
        srq_limit: 0,
    };
    for wrong in [
        SrqInit { max_wr: 0, ..init },
        SrqInit {
            max_wr: 40_000,
            ..init
        },
        SrqInit { max_sge: 0, ..init },
        SrqInit { max_sge: 5, ..init },
        SrqInit {
            srq_limit: 4,
            ..init
        },
    ] {
        let refused = b.pd.create_srq(&wrong);
        assert!(
            matches!(refused, Err(VerbsError::InvalidSize { .. })),
            "{refused:?}"
        );
    }
    let srq = b.pd.create_srq(&init).expect("a queue");
    assert!(matches!(srq.modify(4), Err(VerbsError::InvalidSize { .. })));
    let of_a = QpInit::new(&a.cq).srq(&srq);
    let refused = a.pd.create_qp(&of_a).expect_err("another device");
    assert!(
        matches!(refused, VerbsError::WrongDevice { .. }),
        "{refused}"
    );
    let other = device.alloc_pd().expect("a domain");
    let refused = other
        .create_qp(&QpInit::new(&b.cq).srq(&srq))
        .expect_err("another domain");
    assert!(
        matches!(refused, VerbsError::SrqOfOtherPd { .. }),
        "{refused}"
    );
    let shareable = QpInit {
        shareable: true,
        ..QpInit::new(&b.cq).srq(&srq)
    };
    let refused = b.pd.create_qp(&shareable).expect_err("not to be lent");
    assert_eq!(refused, VerbsError::NotShareable);

    // Receives.
    let two = [b.mr.sge(0, 1), b.mr.sge(1, 1)];
    let refused = srq.post_recv(RecvWr::new(1).sges(&two));
    assert_eq!(refused, Err(VerbsError::TooManySges { given: 2, max: 1 }));
    let refused = srq.post_recv(RecvWr::new(1).sge(a.mr.sge(0, 1)));
    assert!(
        matches!(refused, Err(VerbsError::WrongDevice { .. })),
        "{refused:?}"
    );
    let plain = b.pd.alloc_mr(100, Access::NONE).expect("a region");
    let refused = srq.post_recv(RecvWr::new(1).sge(plain.sge(0, 1)));
    assert!(
        matches!(refused, Err(VerbsError::NoAccess { .. })),
        "{refused:?}"
    );
    let good = || RecvWr::new(1).sge(b.mr.sge(0, 1));
    let refused = srq.post_recv_list([good(), good(), good(), good()]);
    assert_eq!(refused, Err((3, VerbsError::SrqFull { max_wr: 3 })));

    // Its receives have a place each in the completion queue, or there is no queue pair.
    let small = device.create_cq(2, None).expect("a queue");
    let refused =
        b.pd.create_qp(&QpInit::new(&small).srq(&srq))
            .expect_err("too small");
    assert_eq!(refused, VerbsError::CqFull { cqe: 2 });
    let cap = QpCap {
        max_send_wr: 1,
        ..QpCap::default()
    };
    let tight = device.create_cq(4, None).expect("a queue");
    let init = QpInit {
        cap,
        ..QpInit::new(&tight).srq(&srq)
    };
    let qp = b.pd.create_qp(&init).expect("three and one are four");
    let second = b.pd.create_qp(&init).expect("the receives are the same");
    assert_eq!(qp.srq().map(Srq::srq_num), Some(srq.srq_num()));
    let srq_num = srq.srq_num();
    let refused = qp.post_recv(good());
    assert_eq!(refused, Err(VerbsError::HasSrq { srq_num }));
    let other =
        b.pd.create_srq(&SrqInit {
            max_wr: 1,
            ..SrqInit::default()
        })
        .expect("a queue");
    let both = QpInit {
        srq: Some(other),
        ..init.clone()
    };
    b.pd.create_qp(&both)
        .expect("nothing is under way but three receives");

    // It goes last.
    let handle = srq.clone();
    drop((of_a, shareable, init, both));
    assert_eq!(
        srq.destroy().map_err(VerbsError::from),
        Err(VerbsError::SrqInUse { srq_num, uses: 3 })
    );
    drop((qp, second));
    handle.destroy().expect("nobody has it");
}

/// What a queue pair has taken and nobody polled is free again when its completion is passed over.
pub fn receives_come_back_from_queue_pairs_that_are_gone(way: &Way) {
    let bench = bench(way, 23);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let init = SrqInit {
        max_wr: 2,
        ..SrqInit::default()
    };
    let srq = b.pd.create_srq(&init).expect("a queue");
    let recv = |n| srq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 100)));
    // More often than the queue has receives and the completion queue has places.
    for round in 0..4u64 {
        let (client, server) = connect(&bench, &a, &b, &QpInit::new(&b.cq).srq(&srq));
        bench
            .run_until("room", LIMIT, || match recv(round) {
                Ok(()) => Some(()),
                Err(VerbsError::SrqFull { .. }) => {
                    b.cq.poll_one().expect("works");
                    None
                }
                Err(error) => panic!("{error}"),
            })
            .expect("it comes back");
        let qp = client.qp().expect("has one");
        qp.post_send(SendWr::send(1).inline(b"gone").signaled())
            .expect("room");
        assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
        // Its completion is there, and the queue pair goes before anybody looks.
        bench.device(1).progress().expect("works");
        drop((client, server));
    }
    assert!(b.cq.poll_one().expect("works").is_none(), "of nobody");
    for n in 0..2 {
        recv(n).expect("room for both");
    }
    no_faults(&bench);
}
