//! What a queue pair and a device tell of themselves, and the states that a program can name.

use weft_hostdrv::cm::{CmEventType, ConnParam};
use weft_hostdrv::verbs::*;
use weft_hostdrv::Rung;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, pattern, Pair, PORT};
use weft_tests::{fewer_on_card, rungs};

fn simulated_pair(param: &ConnParam) -> Pair {
    let bench = Bench::new(&Way::Sim, 11).expect("two cards come up");
    connected(bench, param, &ConnParam::default())
}

/// Both ends tell the same connection, each from its side.
#[test]
fn a_query_tells_the_connection() {
    let param = ConnParam {
        responder_resources: 3,
        initiator_depth: 2,
        crc: true,
        ..ConnParam::default()
    };
    let pair = simulated_pair(&param);
    let (client, server) = pair.qps();
    let [c, s] = [&client, &server].map(|qp| qp.query().expect("it lives"));
    assert_eq!([c.state, s.state], [QpState::Rts; 2]);
    assert_eq!((c.qp_num, c.flow), (client.qp_num(), client.flow()));
    assert_eq!((c.cap, c.sq_sig_all, c.lent), (client.cap(), false, false));
    let [c, s] = [c, s].map(|attr| attr.connection.expect("connected"));
    assert_eq!((c.local, c.remote), (s.remote, s.local));
    assert_eq!(
        (s.local.port, s.local.ip),
        (PORT, pair.bench.ip(1).octets())
    );
    assert_eq!(c.next_hop, pair.bench.device(1).mac());
    let [of_client, of_server] = [c, s].map(|info| info.agreed.expect("established"));
    assert_eq!((of_client.ird, of_client.ord), (3, 2));
    assert!(of_client.crc && of_server.crc);
    // What a packet of 1500 bytes holds behind IPv4 and TCP.
    assert_eq!((c.segment, s.segment), (1460, 1460));
    assert!(
        c.round_trip.is_some_and(|ns| ns > 0 && ns <= c.timeout),
        "{c:?}"
    );
    assert!(
        c.congestion_window >= c.segment && c.peer_window > 0,
        "{c:?}"
    );
    no_faults(&pair.bench);
}

/// What is posted is done before an orderly close; and the connection manager tells both programs of it.
#[test]
fn a_queue_pair_is_moved_to_closing() {
    let pair = simulated_pair(&ConnParam::default());
    let (client, server) = pair.qps();
    let Pair { bench, a, b, .. } = &pair;
    let bytes = pattern(30_000, 5);
    a.mr.write(0, &bytes).expect("inside");
    let write = SendWr::write(7, b.mr.remote()).sge(a.mr.sge(0, 30_000));
    client.post_send(write.signaled()).expect("room");
    client.modify(QpState::Closing).expect("it is connected");
    assert_eq!(client.state(), Ok(QpState::Closing));
    let again = client.modify(QpState::Closing);
    // The client's engine, if it is on the card, goes on while it is asked, and may have come to the connection's end.
    let ended = VerbsError::NoSuchTransition {
        from: QpState::Error,
        to: QpState::Closing,
    };
    assert!(
        again == Ok(()) || (rungs()[0] == Rung::Firmware && again == Err(ended)),
        "{again:?}"
    );
    let wc = completion(bench, &a.cq);
    assert_eq!((wc.wr_id, wc.status), (7, WcStatus::Success));
    for end in [a, b] {
        let event = next_event(bench, &end.channel, CmEventType::Disconnected);
        assert_eq!(event.status, 0);
    }
    assert_eq!(b.mr.to_vec(0, 30_000).expect("inside"), bytes);
    for qp in [&client, &server] {
        assert_eq!(qp.query().expect("it lives").connection, None);
    }
    no_faults(bench);
}

/// From each state to each that a program cannot ask for: refused with a reason, and nothing happens.
#[test]
fn other_moves_are_refused() {
    let pair = simulated_pair(&ConnParam::default());
    let (client, _) = pair.qps();
    let (a, b) = (&pair.a, &pair.b);
    let idle = a.mr.pd().create_qp(&QpInit::new(&a.cq)).expect("room");
    let refused = |qp: &Qp, from, to| {
        let error = qp.modify(to).expect_err("not possible");
        assert_eq!(error, VerbsError::NoSuchTransition { from, to });
        assert_eq!(qp.state(), Ok(from), "nothing happened");
        error.to_string()
    };
    for to in [QpState::Rts, QpState::Closing, QpState::Terminating] {
        refused(&idle, QpState::Idle, to);
    }
    assert_eq!(
        refused(&client, QpState::Rts, QpState::Idle),
        "a queue pair in state Rts cannot be moved to Idle: it goes with its connection, create another one"
    );
    refused(&client, QpState::Rts, QpState::Terminating);
    client.modify(QpState::Rts).expect("it is so already");
    let write = SendWr::write(1, b.mr.remote()).sge(a.mr.sge(0, 100));
    client
        .post_send(write.signaled())
        .expect("it works as before");
    assert_eq!(completion(&pair.bench, &a.cq).status, WcStatus::Success);
    client.modify(QpState::Error).expect("from any");
    for to in [
        QpState::Idle,
        QpState::Rts,
        QpState::Closing,
        QpState::Terminating,
    ] {
        refused(&client, QpState::Error, to);
    }
    idle.modify(QpState::Error).expect("from any");
    assert_eq!(idle.state(), Ok(QpState::Error));
}

/// Sets one capacity.
type Set = fn(&mut QpCap, usize);

/// What a device says that it can is what it can: one more is refused.
#[test]
fn a_device_keeps_its_limits() {
    let pair = simulated_pair(&ConnParam::default());
    let attr = pair.bench.device(0).attributes();
    let (pd, cq) = (pair.a.mr.pd(), &pair.a.cq);
    let qp = |change: &dyn Fn(&mut QpCap)| {
        let mut init = QpInit::new(cq);
        init.cap = QpCap {
            max_send_wr: 2,
            max_recv_wr: 2,
            ..init.cap
        };
        change(&mut init.cap);
        pd.create_qp(&init)
    };
    let most: [(&str, Set, usize); 5] = [
        (
            "send work",
            |cap, n| cap.max_send_wr = n as u32,
            attr.max_qp_wr as usize,
        ),
        (
            "receive work",
            |cap, n| cap.max_recv_wr = n as u32,
            attr.max_qp_wr as usize,
        ),
        (
            "send SGEs",
            |cap, n| cap.max_send_sge = n,
            attr.max_send_sge,
        ),
        (
            "receive SGEs",
            |cap, n| cap.max_recv_sge = n,
            attr.max_recv_sge,
        ),
        (
            "inline",
            |cap, n| cap.max_inline_data = n,
            attr.max_inline_data,
        ),
    ];
    for (what, set, most) in most {
        // On the card all queue pairs share what sends there are, and the pair has some.
        let had = fewer_on_card(most, if what == "send work" { most / 2 } else { most });
        assert!(qp(&|cap| set(cap, had)).is_ok(), "{what} {had}");
        let error = qp(&|cap| set(cap, most + 1)).expect_err(what);
        assert!(
            matches!(error, VerbsError::InvalidSize { .. }),
            "{what}: {error}"
        );
    }
    let mut made = vec![];
    while let Ok(qp) = qp(&|_| {}) {
        made.push(qp);
    }
    // One is the pair's.
    assert_eq!(made.len() + 1, attr.max_qp as usize);
    let mut regions = vec![];
    while let Ok(mr) = pd.alloc_mr(64, Access::LOCAL_WRITE) {
        regions.push(mr);
    }
    assert_eq!(regions.len() + 1, attr.max_mr as usize);
}
