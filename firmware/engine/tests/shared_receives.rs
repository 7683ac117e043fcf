//! Shared receive queues: which message takes an element, and when; the limit; the end of a queue pair; what is refused.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

fn srq_of(b: &mut Bench, depth: u32, limit: u32) -> SrqId {
    let pd = b.hosts[1].pd;
    let config = SrqConfig {
        pd,
        depth,
        max_sge: 4,
        limit,
    };
    b.hosts[1].engine.create_srq(&config).unwrap()
}

fn config(pd: PdId) -> QpConfig {
    QpConfig {
        pd,
        send_depth: 64,
        recv_depth: 0,
        max_sge: 4,
        rung: None,
    }
}

/// Host 0 connects to host 1, whose queue pair takes from the queue.
fn connect(b: &mut Bench, srq: SrqId) -> Pair {
    let host = &mut b.hosts[1];
    let config = config(host.pd);
    let made = host.engine.create_qp_with_srq(&config, srq, &mut host.card);
    let qps = [b.hosts[0].qp(), made.unwrap()];
    b.connect_qps(qps, &ConnectParams::default(), &AcceptParams::default())
}

fn post(b: &mut Bench, srq: SrqId, id: u64, sges: &[Sge]) -> Result<(), Error> {
    b.hosts[1].engine.post_srq_recv(srq, &RecvWr { id, sges })
}

fn bytes(n: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u64 * 7 + n) as u8).collect()
}

/// Two connections, messages of one and of many segments by turns, over links that lose and reorder: each message takes the next element, and its
/// bytes lie there.
#[test]
fn each_message_takes_the_next_element() {
    for way in Way::ALL {
        for lossy in [false, true] {
            let mut b = Bench::by(way, 3);
            let srq = srq_of(&mut b, 8, 0);
            let pairs = [connect(&mut b, srq), connect(&mut b, srq)];
            if lossy {
                b.faults.loss = 1500;
                b.faults.reorder = 3000;
            }
            let (s0, i0) = b.hosts[0].region(20_000, Access::NONE);
            let (s1, i1) = b.hosts[1].region(8 * 20_000, Access::LOCAL_WRITE);
            for n in 0..24u64 {
                let length = [0usize, 1, 64, 1460, 9000, 20_000][n as usize % 6];
                let sent = bytes(n, length);
                b.memory(0, i0, length).copy_from_slice(&sent);
                let at = n % 8 * 20_000;
                let element = [sge(s1, at, 5), sge(s1, at + 5, 19_995)];
                post(&mut b, srq, n, &element).unwrap();
                let pair = pairs[n as usize % 2];
                let list = [sge(s0, 0, length as u32)];
                b.post_send(0, pair.qps[0], &send(n, &list)).unwrap();
                let got = b.completions_of(1, 1, 60_000 * MS)[0];
                let expected = (pair.qps[1], n, Status::Success, length as u32);
                assert_eq!((got.qp, got.wr_id, got.status, got.byte_len), expected);
                assert_eq!(b.memory(1, i1 + at, length), sent, "{way:?} {lossy} {n}");
                b.completions_of(0, 1, 60_000 * MS);
            }
            let stats = b.hosts[1].engine.stats();
            assert_eq!(stats.shared_receives, 24);
        }
    }
}

/// Behind the burst that a message begins with, it is the card's.
#[test]
fn a_long_message_is_placed_by_the_card() {
    const LENGTH: u32 = 2 << 20;
    let mut b = Bench::new(8);
    let srq = srq_of(&mut b, 8, 0);
    let pair = connect(&mut b, srq);
    let (s0, i0) = b.hosts[0].region(LENGTH.into(), Access::NONE);
    let (s1, i1) = b.hosts[1].region(LENGTH.into(), Access::LOCAL_WRITE);
    let sent = bytes(1, LENGTH as usize);
    b.memory(0, i0, LENGTH as usize).copy_from_slice(&sent);
    post(&mut b, srq, 1, &[sge(s1, 0, LENGTH)]).unwrap();
    let list = [sge(s0, 0, LENGTH)];
    b.post_send(0, pair.qps[0], &send(1, &list)).unwrap();
    let got = b.completions_of(1, 1, 60_000 * MS)[0];
    assert_eq!((got.status, got.byte_len), (Status::Success, LENGTH));
    assert_eq!(b.memory(1, i1, LENGTH as usize), sent);
    let stats = b.hosts[1].engine.stats();
    assert!(stats.fpdus_card > 3 * stats.fpdus_software, "{stats:?}");
}

/// An element belongs to nobody until a message begins: two connections, of which either may send, need one.
#[test]
fn an_element_is_taken_at_the_first_segment_and_not_before() {
    let mut b = Bench::new(1);
    let srq = srq_of(&mut b, 4, 0);
    let pairs = [connect(&mut b, srq), connect(&mut b, srq)];
    let (s1, _) = b.hosts[1].region(100, Access::LOCAL_WRITE);
    for n in [1, 0, 1, 1, 0usize] {
        post(&mut b, srq, 7, &[sge(s1, 0, 100)]).unwrap();
        b.run(MS);
        assert_eq!(b.hosts[1].engine.srq_state(srq).unwrap().waiting, 1);
        b.post_send(0, pairs[n].qps[0], &send(1, &[])).unwrap();
        let got = b.completions_of(1, 1, 1000 * MS)[0];
        assert_eq!((got.qp, got.wr_id), (pairs[n].qps[1], 7));
        assert_eq!(b.hosts[1].engine.srq_state(srq).unwrap().waiting, 0);
    }
}

#[test]
fn a_send_that_finds_nothing_ends_its_stream_and_no_other() {
    let mut b = Bench::new(2);
    let srq = srq_of(&mut b, 4, 0);
    let pairs = [connect(&mut b, srq), connect(&mut b, srq)];
    b.post_send(0, pairs[0].qps[0], &send(1, &[])).unwrap();
    let fatal = b.event_of(1, 1000 * MS);
    let code = match fatal {
        Event::QpFatal { qp, terminate, .. } if qp == pairs[0].qps[1] => terminate,
        other => panic!("{other:?}"),
    };
    assert_eq!(code, Some(TerminateCode::DDP_NO_BUFFER));
    // Nothing more is taken by it.
    let last = b.event_of(1, 1000 * MS);
    assert_eq!(
        last,
        Event::LastWqe {
            qp: pairs[0].qps[1]
        }
    );
    post(&mut b, srq, 9, &[]).unwrap();
    b.post_send(0, pairs[1].qps[0], &send(2, &[])).unwrap();
    let got = b.completions_of(1, 1, 1000 * MS)[0];
    assert_eq!((got.qp, got.wr_id), (pairs[1].qps[1], 9));
}

/// The element that a message has begun to fill is flushed with its queue pair; what waits is not touched.
#[test]
fn a_failed_queue_pair_flushes_what_it_has_taken() {
    let mut b = Bench::new(5);
    let srq = srq_of(&mut b, 4, 0);
    let pair = connect(&mut b, srq);
    let (s0, _) = b.hosts[0].region(60_000, Access::NONE);
    let (s1, _) = b.hosts[1].region(60_000, Access::LOCAL_WRITE);
    for id in [1, 2] {
        post(&mut b, srq, id, &[sge(s1, 0, 60_000)]).unwrap();
    }
    let list = [sge(s0, 0, 60_000)];
    b.post_send(0, pair.qps[0], &send(1, &list)).unwrap();
    b.until("an element is taken", 1000 * MS, |b| {
        b.hosts[1].engine.stats().shared_receives == 1
    });
    let qp = pair.qps[1];
    b.call(1, |e, now, card| e.set_qp_error(now, qp, card))
        .unwrap();
    let got = b.completions_of(1, 1, 1000 * MS)[0];
    assert_eq!((got.qp, got.wr_id, got.status), (qp, 1, Status::Flushed));
    b.run(10 * MS);
    assert!(b.hosts[1].completions.is_empty());
    assert!(b.hosts[1].events.contains(&Event::LastWqe { qp }));
    assert_eq!(b.hosts[1].engine.srq_state(srq).unwrap().waiting, 1);
    // Once.
    b.call(1, |e, now, card| e.set_qp_error(now, qp, card))
        .unwrap();
    let told = b.hosts[1].events.iter();
    assert_eq!(told.filter(|e| **e == Event::LastWqe { qp }).count(), 1);
}

/// The completion of a taken element outlives its queue pair, since the queue lives on and has to hear of it.
#[test]
fn a_destroyed_queue_pair_gives_its_element_back_by_a_completion() {
    let mut b = Bench::new(6);
    let srq = srq_of(&mut b, 4, 0);
    let pair = connect(&mut b, srq);
    let (s0, _) = b.hosts[0].region(60_000, Access::NONE);
    let (s1, _) = b.hosts[1].region(60_000, Access::LOCAL_WRITE);
    post(&mut b, srq, 1, &[sge(s1, 0, 60_000)]).unwrap();
    let list = [sge(s0, 0, 60_000)];
    b.post_send(0, pair.qps[0], &send(1, &list)).unwrap();
    b.until("an element is taken", 1000 * MS, |b| {
        b.hosts[1].engine.stats().shared_receives == 1
    });
    let destroyed = b.hosts[1].engine.destroy_srq(srq);
    assert_eq!(destroyed, Err(Error::InUse));
    let qp = pair.qps[1];
    b.call(1, |e, now, card| e.destroy_qp(now, qp, card))
        .unwrap();
    let got = b.completions_of(1, 1, 1000 * MS)[0];
    assert_eq!((got.wr_id, got.status), (1, Status::Flushed));
    let engine = &mut b.hosts[1].engine;
    engine.destroy_srq(srq).unwrap();
    assert_eq!(engine.destroy_srq(srq), Err(Error::UnknownSrq));
    assert_eq!(engine.srq_state(srq), Err(Error::UnknownSrq));
}

#[test]
fn the_limit_is_told_once() {
    let mut b = Bench::new(4);
    let srq = srq_of(&mut b, 8, 0);
    let pair = connect(&mut b, srq);
    for id in 0..6 {
        post(&mut b, srq, id, &[]).unwrap();
    }
    b.hosts[1].engine.set_srq_limit(srq, 4).unwrap();
    for n in 0..4 {
        b.post_send(0, pair.qps[0], &send(n, &[])).unwrap();
        b.completions_of(1, 1, 1000 * MS);
        let told = b.hosts[1].events.contains(&Event::SrqLimit { srq });
        assert_eq!(told, n >= 2, "four wait, then three: {n}");
    }
    let state = b.hosts[1].engine.srq_state(srq).unwrap();
    assert_eq!((state.limit, state.waiting), (0, 2), "disarmed");
    let told = b.hosts[1].events.iter();
    let told = told.filter(|e| **e == Event::SrqLimit { srq });
    assert_eq!(told.count(), 1);
    // Asked for too late, it is told at once.
    b.hosts[1].events.clear();
    b.call(1, |e, _, _| e.set_srq_limit(srq, 3)).unwrap();
    assert_eq!(b.hosts[1].events, [Event::SrqLimit { srq }]);
}

#[test]
fn misuse_is_refused() {
    let mut b = Bench::new(7);
    let pd = b.hosts[1].pd;
    let good = SrqConfig {
        pd,
        depth: 2,
        max_sge: 2,
        limit: 2,
    };
    let (s1, _) = b.hosts[1].region(100, Access::LOCAL_WRITE);
    let (s2, _) = b.hosts[1].region(100, Access::NONE);
    let host = &mut b.hosts[1];
    let engine = &mut host.engine;
    for wrong in [
        SrqConfig { depth: 0, ..good },
        SrqConfig {
            depth: 32769,
            ..good
        },
        SrqConfig { max_sge: 0, ..good },
        SrqConfig { max_sge: 5, ..good },
        SrqConfig { limit: 3, ..good },
    ] {
        assert_eq!(engine.create_srq(&wrong), Err(Error::InvalidSrq));
    }
    let srq = engine.create_srq(&good).unwrap();
    assert_eq!(engine.dealloc_pd(pd), Err(Error::InUse));
    assert_eq!(engine.set_srq_limit(srq, 3), Err(Error::InvalidSrq));
    let other = engine.alloc_pd();
    let made = engine.create_qp_with_srq(&config(other), srq, &mut host.card);
    assert_eq!(made, Err(Error::InvalidSrq), "another domain");
    let nobody = SrqId::from_number(srq.number() ^ 0x10000);
    let made = engine.create_qp_with_srq(&config(pd), nobody, &mut host.card);
    assert_eq!(made, Err(Error::UnknownSrq));
    engine.dealloc_pd(other).unwrap();
    let qp = engine
        .create_qp_with_srq(&config(pd), srq, &mut host.card)
        .unwrap();
    assert_eq!(b.post_recv(1, qp, 1, &[]), Err(Error::HasSrq));
    let three = [sge(s1, 0, 1); 3];
    assert_eq!(post(&mut b, srq, 1, &three), Err(Error::TooManySges(3)));
    let refused = post(&mut b, srq, 1, &[sge(s2, 0, 1)]);
    assert_eq!(refused, Err(Error::NeedsLocalWrite(s2)));
    post(&mut b, srq, 1, &[sge(s1, 0, 1)]).unwrap();
    post(&mut b, srq, 1, &[]).unwrap();
    assert_eq!(post(&mut b, srq, 1, &[]), Err(Error::QueueFull));
    let gone = b.call(1, |e, now, card| e.deregister(now, s1, card));
    assert_eq!(gone, Err(Error::InUse), "an element that waits is in it");
    let host = &mut b.hosts[1];
    host.engine.destroy_qp(0, qp, &mut host.card).unwrap();
    host.engine.destroy_srq(srq).unwrap();
    host.engine.deregister(0, s1, &mut host.card).unwrap();
}
