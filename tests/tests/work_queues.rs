//! Places in a queue pair's queues.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{connected, no_faults};

/// As rdma-core has it: work that makes a completion has its place until that was polled, however long it has been done.
#[test]
fn a_place_is_free_when_its_completion_was_polled() {
    let pair = connected(
        Bench::new(&Way::Sim, 3).expect("two cards come up"),
        &ConnParam::default(),
        &ConnParam::default(),
    );
    let (a, b) = (&pair.a, &pair.b);
    let qp = pair.client.qp().expect("has one");
    let depth = u64::from(QpCap::default().max_send_wr);
    let post = |id: u64| {
        let write = SendWr::write(id, b.mr.remote()).sge(a.mr.sge(0, 8));
        qp.post_send(write.signaled())
    };
    for id in 0..depth {
        post(id).expect("room");
    }
    let fabric = pair.bench.fabric().expect("simulated");
    for _ in 0..100 {
        fabric.progress().expect("it works");
        fabric.run_for(10_000).expect("it works");
    }
    for id in depth..2 * depth {
        assert!(
            matches!(post(id), Err(VerbsError::SendQueueFull { .. })),
            "{id}"
        );
        let wc = a.cq.poll_one().expect("works").expect("done long ago");
        assert_eq!((wc.wr_id, wc.status), (id - depth, WcStatus::Success));
        post(id).expect("room for one more");
    }
    no_faults(&pair.bench);
}
