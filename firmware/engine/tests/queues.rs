//! The work queues: what is refused at once, order, fence, ORD, inline data, flush.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

fn all_access() -> Access {
    Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK
}

#[test]
fn misuse_is_refused_with_its_reason() {
    let mut b = Bench::new(1);
    let qp = b.hosts[0].qp();
    let (stag, _) = b.hosts[0].region(100, Access::LOCAL_WRITE);
    let (plain, _) = b.hosts[0].region(100, Access::REMOTE_READ);
    let other = b.hosts[0].engine.alloc_pd();
    let foreign = b
        .call(0, |e, _, c| {
            e.register(other, 0, card::MEMORY, 100, all_access(), c)
        })
        .unwrap();
    let post = |b: &mut Bench, wr: &SendWr<'_>| b.post_send(0, qp, wr);
    assert_eq!(
        post(&mut b, &send(1, &[sge(stag ^ 1, 0, 1)])),
        Err(Error::UnknownStag(stag ^ 1))
    );
    assert_eq!(
        post(&mut b, &send(1, &[sge(0, 0, 1)])),
        Err(Error::UnknownStag(0))
    );
    assert_eq!(
        post(&mut b, &send(1, &[sge(foreign, 0, 1)])),
        Err(Error::WrongPd(foreign))
    );
    assert_eq!(
        post(&mut b, &send(1, &[sge(stag, 90, 11)])),
        Err(Error::OutOfBounds {
            stag,
            to: 0x1000 + 90,
            length: 11
        })
    );
    assert_eq!(
        post(&mut b, &read(1, 5, 0, &[sge(stag, 0, 1)])),
        Err(Error::NeedsReadSink(stag))
    );
    assert_eq!(
        post(&mut b, &send(1, &[sge(stag, 0, 1); 5])),
        Err(Error::TooManySges(5))
    );
    let inline = |bytes| SendWr {
        payload: Payload::Inline(bytes),
        ..send(1, &[])
    };
    assert_eq!(
        post(&mut b, &inline(&[0; 257])),
        Err(Error::InlineTooLong(257))
    );
    let wr = SendWr {
        payload: Payload::Inline(b"x"),
        ..read(1, 5, 0, &[])
    };
    assert_eq!(post(&mut b, &wr), Err(Error::InlineRead));
    assert_eq!(
        b.post_recv(0, qp, 1, &[sge(plain, 0, 1)]),
        Err(Error::NeedsLocalWrite(plain))
    );
    for id in 0..64 {
        b.post_recv(0, qp, id, &[]).unwrap();
        b.post_send(0, qp, &send(id, &[])).unwrap();
    }
    assert_eq!(b.post_recv(0, qp, 64, &[]), Err(Error::QueueFull));
    assert_eq!(b.post_send(0, qp, &send(64, &[])), Err(Error::QueueFull));
    let pd = b.hosts[0].pd;
    b.call(0, |e, now, c| {
        let bad = QpConfig {
            pd,
            send_depth: 0,
            recv_depth: 1,
            max_sge: 1,
            rung: None,
        };
        assert_eq!(e.create_qp(&bad, c), Err(Error::InvalidQpConfig));
        assert_eq!(e.dealloc_pd(pd), Err(Error::InUse));
        assert_eq!(
            e.deregister(now, 0x9999_9900, c),
            Err(Error::UnknownStag(0x9999_9900))
        );
        assert_eq!(
            e.register(pd, u64::MAX, 0, 2, Access::NONE, c),
            Err(Error::InvalidRegion)
        );
        e.destroy_qp(now, qp, c).unwrap();
        assert_eq!(e.destroy_qp(now, qp, c), Err(Error::UnknownQp));
        assert_eq!(e.qp_state(qp), Err(Error::UnknownQp));
        let params = ConnectParams {
            ird: 16383,
            ..Default::default()
        };
        let qp = e
            .create_qp(
                &QpConfig {
                    send_depth: 1,
                    ..bad
                },
                c,
            )
            .unwrap();
        assert_eq!(e.connect(now, qp, &params, c), Err(Error::InvalidAddress));
        let remote = Endpoint {
            ip: [10, 0, 0, 2],
            port: 1,
        };
        let params = ConnectParams { remote, ..params };
        assert_eq!(
            e.connect(now, qp, &params, c),
            Err(Error::InvalidReadDepth(16383))
        );
        let params = ConnectParams {
            remote,
            private_data: &[0; 509],
            ..Default::default()
        };
        assert_eq!(
            e.connect(now, qp, &params, c),
            Err(Error::PrivateDataTooLong {
                given: 509,
                limit: 508
            })
        );
        let params = ConnectParams {
            remote,
            revision: Revision::Rev1,
            ..Default::default()
        };
        assert_eq!(
            e.connect(now, qp, &params, c),
            Err(Error::InvalidPeerToPeer)
        );
        e.listen(5, 1).unwrap();
        assert_eq!(e.listen(5, 1), Err(Error::PortInUse(5)));
    });
}

#[test]
fn regions_run_out_and_come_back_with_another_key() {
    let mut b = Bench::new(2);
    let pd = b.hosts[0].pd;
    b.call(0, |e, now, c| {
        let mut register = |e: &mut Engine| e.register(pd, 0, card::MEMORY, 8, Access::NONE, c);
        let stags: Vec<u32> = (0..63).map(|_| register(e).unwrap()).collect();
        assert!(stags.iter().all(|stag| stag >> 8 != 0));
        assert_eq!(register(e), Err(Error::NoStags));
        e.deregister(now, stags[5], c).unwrap();
        let again = e.register(pd, 0, card::MEMORY, 8, Access::NONE, c).unwrap();
        assert_eq!(again >> 8, stags[5] >> 8);
        assert_ne!(again, stags[5]);
    });
}

#[test]
fn ord_limits_and_the_fence_holds() {
    let mut b = Bench::new(3);
    let params = ConnectParams {
        ord: 2,
        ..Default::default()
    };
    let pair = b.connect(&params, &AcceptParams::default());
    let (s0, i0) = b.hosts[0].region(100_000, all_access());
    let (s1, i1) = b.hosts[1].region(100_000, all_access());
    b.memory(1, i1, 50_000).fill(0x77);
    for n in 0..6 {
        let at = n * 8000;
        b.post_send(
            0,
            pair.qps[0],
            &read(n, s1, 0x1000 + at, &[sge(s0, at, 8000)]),
        )
        .unwrap();
    }
    // Sends back what the Reads brought: without the fence it would be zeros.
    b.post_recv(1, pair.qps[1], 100, &[sge(s1, 60_000, 1000)])
        .unwrap();
    let fenced = [sge(s0, 47_000, 1000)];
    let wr = SendWr {
        fence: true,
        signalled: false,
        ..send(6, &fenced)
    };
    b.post_send(0, pair.qps[0], &wr).unwrap();
    let done = b.completions_of(0, 6, 1000 * MS);
    let ids: Vec<u64> = done.iter().map(|c| c.wr_id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
    assert!(b.memory(0, i0, 48_000).iter().all(|byte| *byte == 0x77));
    let got = b.completions_of(1, 1, 1000 * MS);
    assert_eq!((got[0].wr_id, got[0].byte_len), (100, 1000));
    assert!(b
        .memory(1, i1 + 60_000, 1000)
        .iter()
        .all(|byte| *byte == 0x77));
    b.run(100 * MS);
    assert!(b.hosts[0].completions.is_empty(), "not signalled");
    assert_eq!(b.hosts[1].engine.stats().terminates_sent, 0);
}

#[test]
fn inline_solicited_invalidate() {
    let mut b = Bench::new(4);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let (s0, _) = b.hosts[0].region(100, all_access());
    let (s1, i1) = b.hosts[1].region(100, all_access());
    let (window, _) = b.hosts[1].region(100, Access::REMOTE_WRITE | Access::REMOTE_INVALIDATE);
    b.post_recv(1, pair.qps[1], 1, &[sge(s1, 0, 64)]).unwrap();
    b.post_recv(1, pair.qps[1], 2, &[]).unwrap();
    let bytes: Vec<u8> = (0..64).collect();
    let mut copy = bytes.clone();
    let wr = SendWr {
        op: SendOp::Send {
            solicited: true,
            invalidate: Some(window),
        },
        payload: Payload::Inline(&copy),
        ..send(9, &[])
    };
    b.post_send(0, pair.qps[0], &wr).unwrap();
    copy.fill(0);
    b.post_send(0, pair.qps[0], &send(10, &[])).unwrap();
    let got = b.completions_of(1, 2, 1000 * MS);
    assert!(got[0].solicited && !got[1].solicited);
    assert_eq!(got[0].invalidated, Some(window));
    assert_eq!((got[0].byte_len, got[1].byte_len), (64, 0));
    assert_eq!(b.memory(1, i1, 64), &bytes[..]);
    b.completions_of(0, 2, 1000 * MS);
    // The region is closed now.
    b.post_send(0, pair.qps[0], &write(11, window, 0x1000, &[sge(s0, 0, 1)]))
        .unwrap();
    match b.event_of(0, 1000 * MS) {
        Event::QpFatal {
            terminate: Some(code),
            received: true,
            ..
        } => assert_eq!(code.0, 0x1100),
        other => panic!("{other:?}"),
    }
    let failed = b.completions_of(0, 1, 10_000 * MS);
    // The Write itself was acknowledged by TCP before the Terminate came.
    assert!(
        matches!(failed[0].status, Status::Success | Status::RemoteAccess),
        "{failed:?}"
    );
    b.call(1, |e, now, c| e.deregister(now, window, c)).unwrap();
}

#[test]
fn an_error_flushes_everything_in_order() {
    let mut b = Bench::new(5);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let (s0, _) = b.hosts[0].region(50_000, all_access());
    let (s1, _) = b.hosts[1].region(50_000, Access::LOCAL_WRITE);
    for id in 0..3 {
        b.post_recv(0, pair.qps[0], 100 + id, &[]).unwrap();
    }
    // A Read of a region that may not be read.
    b.post_send(0, pair.qps[0], &read(1, s1, 0x1000, &[sge(s0, 0, 10)]))
        .unwrap();
    let wr = SendWr {
        signalled: false,
        fence: true,
        ..send(2, &[])
    };
    b.post_send(0, pair.qps[0], &wr).unwrap();
    b.post_send(0, pair.qps[0], &send(3, &[])).unwrap();
    let done = b.completions_of(0, 6, 60_000 * MS);
    let seen: Vec<_> = done.iter().map(|c| (c.wr_id, c.status)).collect();
    assert_eq!(
        seen,
        [
            (1, Status::RemoteAccess),
            (2, Status::Flushed),
            (3, Status::Flushed),
            (100, Status::Flushed),
            (101, Status::Flushed),
            (102, Status::Flushed)
        ]
    );
    assert!(matches!(
        b.event_of(0, MS),
        Event::QpFatal { received: true, .. }
    ));
    assert!(matches!(
        b.event_of(0, MS),
        Event::Disconnected {
            reason: DisconnectReason::Terminated,
            ..
        }
    ));
    assert!(matches!(
        b.event_of(1, MS),
        Event::QpFatal {
            received: false,
            ..
        }
    ));
    assert!(matches!(
        b.event_of(1, 60_000 * MS),
        Event::Disconnected {
            reason: DisconnectReason::Terminated,
            ..
        }
    ));
    // Afterwards everything is flushed at once.
    b.post_send(0, pair.qps[0], &send(4, &[])).unwrap();
    b.post_recv(0, pair.qps[0], 5, &[]).unwrap();
    let seen: Vec<_> = b
        .completions_of(0, 2, MS)
        .iter()
        .map(|c| (c.wr_id, c.status))
        .collect();
    assert_eq!(seen, [(4, Status::Flushed), (5, Status::Flushed)]);
}

#[test]
fn memory_the_card_cannot_read_fails_the_queue_pair() {
    let mut b = Bench::new(6);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let pd = b.hosts[0].pd;
    let (good, _) = b.hosts[0].region(100, all_access());
    let bad = b
        .call(0, |e, _, c| {
            e.register(pd, 0x1000, 0x10, 100, all_access(), c)
        })
        .unwrap();
    let (s1, _) = b.hosts[1].region(1000, all_access());
    b.post_send(0, pair.qps[0], &write(1, s1, 0x1000, &[sge(good, 0, 10)]))
        .unwrap();
    b.post_send(0, pair.qps[0], &write(2, s1, 0x1000, &[sge(bad, 0, 10)]))
        .unwrap();
    b.post_send(0, pair.qps[0], &write(3, s1, 0x1000, &[sge(good, 0, 10)]))
        .unwrap();
    let done = b.completions_of(0, 3, 60_000 * MS);
    let last: Vec<_> = done[1..].iter().map(|c| (c.wr_id, c.status)).collect();
    assert_eq!(last, [(2, Status::LocalProtection), (3, Status::Flushed)]);
    assert!(matches!(
        b.event_of(0, MS),
        Event::QpFatal {
            terminate: None,
            ..
        }
    ));
    assert!(matches!(b.event_of(0, MS), Event::Disconnected { .. }));
    assert!(matches!(
        b.event_of(1, 1000 * MS),
        Event::Disconnected {
            reason: DisconnectReason::Reset,
            ..
        }
    ));
}

#[test]
fn a_read_towards_a_peer_that_takes_none() {
    let mut b = Bench::new(7);
    let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
    let (s0, _) = b.hosts[0].region(100, all_access());
    b.post_send(0, qps[0], &read(1, 5, 0, &[sge(s0, 0, 10)]))
        .unwrap();
    let params = ConnectParams {
        ord: 0,
        ..Default::default()
    };
    b.connect_qps(qps, &params, &AcceptParams::default());
    let done = b.completions_of(0, 1, 60_000 * MS);
    assert_eq!(done[0].status, Status::RemoteOperation);
    let pair = {
        let mut b = Bench::new(8);
        let pair = b.connect(&params, &AcceptParams::default());
        let (s0, _) = b.hosts[0].region(100, all_access());
        let refused = b.post_send(0, pair.qps[0], &read(1, 5, 0, &[sge(s0, 0, 10)]));
        assert_eq!(refused, Err(Error::NoReadsAllowed));
        pair
    };
    assert_eq!(pair.agreed.ord, 0);
}

#[test]
fn closing_finishes_what_was_posted_before_and_nothing_after() {
    let mut b = Bench::new(9);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let (s0, _) = b.hosts[0].region(300_000, all_access());
    let (s1, _) = b.hosts[1].region(300_000, all_access());
    b.post_send(
        0,
        pair.qps[0],
        &write(1, s1, 0x1000, &[sge(s0, 0, 250_000)]),
    )
    .unwrap();
    b.post_send(0, pair.qps[0], &read(2, s1, 0x1000, &[sge(s0, 0, 250_000)]))
        .unwrap();
    b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
        .unwrap();
    assert_eq!(
        b.hosts[0].engine.qp_state(pair.qps[0]),
        Ok(QpState::Closing)
    );
    b.post_send(0, pair.qps[0], &send(3, &[])).unwrap();
    let done = b.completions_of(0, 3, 60_000 * MS);
    let seen: Vec<_> = done.iter().map(|c| (c.wr_id, c.status)).collect();
    assert_eq!(
        seen,
        [
            (1, Status::Success),
            (2, Status::Success),
            (3, Status::Flushed)
        ]
    );
    assert!(matches!(
        b.event_of(0, MS),
        Event::Disconnected {
            reason: DisconnectReason::Local,
            ..
        }
    ));
    assert!(matches!(
        b.event_of(1, MS),
        Event::Disconnected {
            reason: DisconnectReason::Peer,
            ..
        }
    ));
}

#[test]
fn abort_and_destroy() {
    let mut b = Bench::new(10);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.post_recv(1, pair.qps[1], 7, &[]).unwrap();
    b.call(0, |e, now, c| e.abort(now, pair.conns[0], c))
        .unwrap();
    assert!(matches!(
        b.event_of(0, MS),
        Event::Disconnected {
            reason: DisconnectReason::Aborted,
            ..
        }
    ));
    assert!(matches!(
        b.event_of(1, MS),
        Event::Disconnected {
            reason: DisconnectReason::Reset,
            ..
        }
    ));
    assert_eq!(b.completions_of(1, 1, MS)[0].status, Status::Flushed);
    let gone = b.call(0, |e, now, c| e.abort(now, pair.conns[0], c));
    assert_eq!(gone, Err(Error::UnknownConnection));
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.call(1, |e, now, c| e.destroy_qp(now, pair.qps[1], c))
        .unwrap();
    assert!(matches!(
        b.event_of(0, MS),
        Event::Disconnected {
            reason: DisconnectReason::Reset,
            ..
        }
    ));
    assert!(matches!(b.event_of(1, MS), Event::Disconnected { conn, .. } if conn == pair.conns[1]));
    for _ in 0..20 {
        // All flows come back.
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
            .unwrap();
        b.run(2000 * MS);
        for n in 0..2 {
            b.call(n, |e, now, c| e.destroy_qp(now, pair.qps[n], c))
                .unwrap();
            b.hosts[n].events.clear();
        }
    }
}

#[test]
fn several_connections_at_once() {
    let mut b = Bench::new(11);
    let pairs: Vec<Pair> = (0..6)
        .map(|_| b.connect(&ConnectParams::default(), &AcceptParams::default()))
        .collect();
    let (s0, i0) = b.hosts[0].region(60_000, all_access());
    let (s1, i1) = b.hosts[1].region(60_000, all_access());
    for (n, byte) in b.memory(0, i0, 60_000).iter_mut().enumerate() {
        *byte = (n / 10_000) as u8 + 1;
    }
    for (n, pair) in pairs.iter().enumerate() {
        let at = n as u64 * 10_000;
        b.post_send(
            0,
            pair.qps[0],
            &write(n as u64, s1, 0x1000 + at, &[sge(s0, at, 10_000)]),
        )
        .unwrap();
    }
    b.completions_of(0, 6, 1000 * MS);
    let sent = b.memory(0, i0, 60_000).to_vec();
    assert_eq!(b.memory(1, i1, 60_000), &sent[..]);
    // One breaks a rule; the others live.
    b.post_send(0, pairs[2].qps[0], &write(9, s1 ^ 1, 0, &[sge(s0, 0, 1)]))
        .unwrap();
    b.run(1000 * MS);
    assert_eq!(
        b.hosts[0].engine.qp_state(pairs[2].qps[0]),
        Ok(QpState::Error)
    );
    for n in [0, 1, 3, 4, 5] {
        b.hosts[0].completions.clear();
        b.post_send(0, pairs[n].qps[0], &write(1, s1, 0x1000, &[sge(s0, 0, 10)]))
            .unwrap();
        assert_eq!(b.completions_of(0, 1, 1000 * MS)[0].status, Status::Success);
    }
}

#[test]
fn a_card_that_never_attaches_only_makes_it_slower() {
    let mut b = Bench::new(12);
    b.hosts[1].card.no_attach = true;
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let (s0, i0) = b.hosts[0].region(2_000_000, all_access());
    let (s1, i1) = b.hosts[1].region(2_000_000, all_access());
    for (n, byte) in b.memory(0, i0, 2_000_000).iter_mut().enumerate() {
        *byte = (n / 1000) as u8;
    }
    b.post_send(
        0,
        pair.qps[0],
        &write(1, s1, 0x1000, &[sge(s0, 0, 2_000_000)]),
    )
    .unwrap();
    b.completions_of(0, 1, 100_000 * MS);
    let sent = b.memory(0, i0, 2_000_000).to_vec();
    assert!(b.memory(1, i1, 2_000_000) == &sent[..]);
    let stats = b.hosts[1].engine.stats();
    assert_eq!((stats.fpdus_card, b.hosts[1].card.placed), (0, 0));
    assert!(stats.attaches_refused > 10);
}

/// The opposite: a card that has to be taken back again and again while data keeps coming.
#[test]
fn the_card_is_back_after_every_gap() {
    let mut b = Bench::new(13);
    b.report_delay = 20 * US;
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.faults.loss = 200;
    let (s0, _) = b.hosts[0].region(2_000_000, all_access());
    let (s1, _) = b.hosts[1].region(2_000_000, all_access());
    for n in 0..4 {
        b.post_send(
            0,
            pair.qps[0],
            &write(n, s1, 0x1000, &[sge(s0, 0, 2_000_000)]),
        )
        .unwrap();
    }
    b.completions_of(0, 4, 1_000_000 * MS);
    let stats = b.hosts[1].engine.stats();
    assert!(stats.fpdus_card > stats.fpdus_software, "{stats:?}");
    assert!(b.hosts[0].engine.stats().retransmits > 5);
}
