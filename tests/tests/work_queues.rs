//! Places in a queue pair's queues.

use weft_hostdrv::cm::{CmEventType, ConnParam};
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, pattern, End, Pair};

/// Two cards, connected.
fn simulated_pair() -> Pair {
    connected(
        Bench::new(&Way::Sim, 3).expect("two cards come up"),
        &ConnParam::default(),
        &ConnParam::default(),
    )
}

/// Time for all that was posted.
fn settle(pair: &Pair) {
    let fabric = pair.bench.fabric().expect("simulated");
    for _ in 0..100 {
        fabric.progress().expect("it works");
        fabric.run_for(100_000).expect("it works");
    }
}

/// As rdma-core has it: work that makes a completion has its place until that was polled, however long it has been done.
#[test]
fn a_place_is_free_when_its_completion_was_polled() {
    let pair = simulated_pair();
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
    settle(&pair);
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

/// Work that makes no completion has its place until it is done; nobody has to poll.
#[test]
fn the_places_of_silent_work_are_free_when_it_is_done() {
    let pair = simulated_pair();
    let (a, b) = (&pair.a, &pair.b);
    let qp = pair.client.qp().expect("has one");
    let depth = u64::from(QpCap::default().max_send_wr);
    let write = |id| SendWr::write(id, b.mr.remote()).sge(a.mr.sge(0, 8));
    for round in 0..5 {
        for id in 0..depth - 1 {
            qp.post_send(write(id)).expect("room");
        }
        // The last one completes, and gives the others' places back with its own in the even rounds; in the odd ones nothing does.
        let last = match round % 2 {
            0 => write(1000 + round).signaled(),
            _ => write(1000 + round),
        };
        qp.post_send(last).expect("room");
        assert!(matches!(
            qp.post_send(write(0)),
            Err(VerbsError::SendQueueFull { .. })
        ));
        settle(&pair);
        let mut found = [Wc::default(); 4];
        let count = a.cq.poll_slice(&mut found).expect("works");
        let ids: Vec<_> = found[..count].iter().map(|wc| wc.wr_id).collect();
        match round % 2 {
            0 => assert_eq!(ids, [1000 + round]),
            _ => assert!(ids.is_empty(), "{ids:?}"),
        }
    }
    no_faults(&pair.bench);
}

/// As many SGEs and inline bytes as a WQE holds: more than a job of the card does.
#[test]
fn long_lists_of_sges_and_inline_bytes() {
    let bench = Bench::new(&Way::Sim, 3).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let cap = QpCap {
        max_send_sge: MAX_SGE,
        max_inline_data: MAX_INLINE,
        ..QpCap::default()
    };
    let init = QpInit {
        cap,
        ..QpInit::new(&a.cq)
    };
    let client = a.client_with(&bench, &init, &ConnParam::default());
    let server = b.accept_next(&bench);
    next_event(&bench, &a.channel, CmEventType::Established);
    let (qp, peer) = (client.qp().expect("has one"), server.qp().expect("has one"));
    let bytes = pattern(30_000, 1);
    a.mr.write(0, &bytes).expect("inside");
    let lengths = [1, 700, 3, 1500, 64, 2, 2000, 8, 1, 1, 1, 5, 900, 7, 1, 3];
    let list: [Sge<'_>; MAX_SGE] =
        std::array::from_fn(|n| a.mr.sge(3 + 1800 * n as u64, lengths[n]));
    let sent: Vec<u8> = (0..MAX_SGE)
        .flat_map(|n| &bytes[3 + 1800 * n..][..lengths[n] as usize])
        .copied()
        .collect();
    let inline = pattern(MAX_INLINE, 2);
    for (id, wr, payload) in [
        (1, SendWr::send(1).sges(&list), &sent),
        (2, SendWr::send(2).inline(&inline), &inline),
    ] {
        peer.post_recv(RecvWr::new(id).sge(b.mr.sge(0, 8192)))
            .expect("room");
        qp.post_send(wr.signaled()).expect("room");
        let wc = completion(&bench, &b.cq);
        assert_eq!((wc.wr_id, wc.byte_len as usize), (id, payload.len()));
        assert_eq!(b.mr.to_vec(0, payload.len()).expect("inside"), *payload);
        assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
    }
    assert!(matches!(
        qp.post_send(SendWr::send(3).inline(&[0; MAX_INLINE + 1])),
        Err(VerbsError::InlineTooLong { .. })
    ));
    no_faults(&bench);
}
