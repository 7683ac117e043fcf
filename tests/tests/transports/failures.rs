//! What breaks a connection, and what is left then.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, Pair};

fn bench(way: &Way, seed: u64) -> Bench {
    Bench::new(way, seed).expect("two devices come up")
}

pub fn errors_flush(way: &Way) {
    let pair = connected(bench(way, 7), &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
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
    next_event(bench, &a.channel, CmEventType::Disconnected);
    next_event(bench, &b.channel, CmEventType::Disconnected);
    let b_wcs = b.cq.poll(10).expect("works");
    assert_eq!(
        b_wcs
            .iter()
            .map(|wc| (wc.wr_id, wc.status))
            .collect::<Vec<_>>(),
        [0, 1, 2].map(|n| (n, WcStatus::WrFlushError))
    );
    let a_wcs = a.cq.poll(10).expect("works");
    assert_eq!(
        a_wcs
            .iter()
            .filter(|wc| wc.opcode == WcOpcode::Recv)
            .count(),
        3,
        "{a_wcs:?}"
    );
    // The client's RTR came when the connection was accepted.
    let event = bench.device(1).get_async_event();
    assert_eq!(
        event,
        Some(AsyncEvent::CommEstablished {
            qp_num: sq.qp_num()
        })
    );
    let fatal = bench.device(1).get_async_event();
    let Some(AsyncEvent::QpFatal {
        terminate: Some(code),
        received: false,
        ..
    }) = fatal
    else {
        panic!("{fatal:?}");
    };
    assert_eq!(code, TerminateCode::DDP_STAG);
    assert_eq!(
        bench.device(1).get_async_event(),
        Some(AsyncEvent::QpAccessError {
            qp_num: sq.qp_num(),
            terminate: code
        })
    );
    assert_eq!(bench.device(1).get_async_event(), None);
    let fatal = bench.device(0).get_async_event();
    assert!(
        matches!(fatal, Some(AsyncEvent::QpFatal { terminate: Some(code), received: true, .. }) if code == TerminateCode::DDP_STAG),
        "{fatal:?}"
    );
    assert_eq!(bench.device(0).get_async_event(), None);
    // Work that is posted now is flushed.
    cq.post_send(SendWr::send(12).sge(a.mr.sge(0, 10)))
        .expect("taken");
    let wc = completion(bench, &a.cq);
    assert_eq!((wc.wr_id, wc.status), (12, WcStatus::WrFlushError));
    no_faults(bench);
}
