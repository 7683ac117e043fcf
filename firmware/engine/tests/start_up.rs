//! Every way to connect, and every way not to.
#![allow(missing_docs)]

use crate::bench;

use bench::script::{message, Script};
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::Options;

fn exchange(b: &mut Bench, pair: &Pair, note: &str) {
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK;
    let (stag0, iova0) = b.hosts[0].region(9000, access);
    let (stag1, iova1) = b.hosts[1].region(9000, access);
    let data: Vec<u8> = (0..8001u32).map(|i| (i * 31 + i / 97) as u8).collect();
    b.memory(0, iova0, 8001).copy_from_slice(&data);
    b.post_recv(1, pair.qps[1], 1, &[sge(stag1, 0, 9000)])
        .unwrap();
    b.post_send(0, pair.qps[0], &send(2, &[sge(stag0, 0, 8001)]))
        .unwrap();
    let got = b.completions_of(1, 1, 100 * MS);
    assert_eq!((got[0].wr_id, got[0].byte_len), (1, 8001), "{note}");
    assert_eq!(b.memory(1, iova1, 8001), &data[..], "{note}");
    // And back, by a Read and a Write of the responder.
    b.post_send(
        1,
        pair.qps[1],
        &read(3, stag0, 0x1000 + 3, &[sge(stag1, 1, 4000)]),
    )
    .unwrap();
    b.post_send(
        1,
        pair.qps[1],
        &write(4, stag0, 0x1000 + 4500, &[sge(stag1, 4600, 3333)]),
    )
    .unwrap();
    let got = b.completions_of(1, 2, 100 * MS);
    assert!(got.iter().all(|c| c.status == Status::Success), "{note}");
    assert_eq!(b.memory(1, iova1 + 1, 4000), &data[3..4003], "{note}");
    assert_eq!(b.memory(0, iova0 + 4500, 3333), &data[4600..7933], "{note}");
    assert_eq!(b.completions_of(0, 1, 100 * MS)[0].wr_id, 2);
    for host in &b.hosts {
        let stats = host.engine.stats();
        assert_eq!(stats.terminates_sent, 0, "{note} {stats:?}");
    }
}

#[test]
fn every_combination() {
    let mut seed = 0;
    for rtr in [
        None,
        Some(RtrKinds::READ),
        Some(RtrKinds::WRITE),
        Some(RtrKinds::SEND),
    ] {
        for bits in 0..32 {
            let flag = |bit: u32| bits & (1 << bit) != 0;
            seed += 1;
            let mut b = Bench::with(seed, &|c| c.timestamps = flag(4));
            let params = ConnectParams {
                peer_to_peer: rtr.is_some(),
                rtr: rtr.unwrap_or(RtrKinds::NONE),
                crc: flag(0),
                markers: flag(1),
                ..Default::default()
            };
            let accept = AcceptParams {
                crc: flag(2),
                markers: flag(3),
                ..Default::default()
            };
            let pair = b.connect(&params, &accept);
            assert_eq!(pair.agreed.crc, flag(0) || flag(2));
            assert_eq!(pair.agreed.markers_received, flag(1));
            assert_eq!(pair.agreed.markers_sent, flag(3));
            assert_eq!(pair.agreed.rtr, rtr);
            exchange(&mut b, &pair, &format!("rtr {rtr:?} bits {bits:#b}"));
        }
    }
}

#[test]
fn the_responder_may_send_first_with_receives_posted_early() {
    for rtr in [RtrKinds::READ, RtrKinds::WRITE, RtrKinds::SEND] {
        let mut b = Bench::new(7);
        let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
        let (stag0, iova0) = b.hosts[0].region(1000, Access::LOCAL_WRITE);
        let (stag1, iova1) = b.hosts[1].region(1000, Access::LOCAL_WRITE);
        // Receives before there is a connection, sends too: they wait for the RTR.
        for n in 0..3 {
            b.post_recv(0, qps[0], n, &[sge(stag0, n * 100, 100)])
                .unwrap();
            b.post_recv(1, qps[1], n, &[sge(stag1, n * 100, 100)])
                .unwrap();
        }
        b.memory(1, iova1 + 500, 8).copy_from_slice(b"response");
        b.post_send(1, qps[1], &send(10, &[sge(stag1, 500, 8)]))
            .unwrap();
        let params = ConnectParams {
            rtr,
            private_data: b"hello",
            ..Default::default()
        };
        b.connect_qps(qps, &params, &AcceptParams::default());
        let got = b.completions_of(0, 1, 100 * MS);
        assert_eq!((got[0].wr_id, got[0].byte_len), (0, 8));
        assert_eq!(b.memory(0, iova0, 8), b"response");
        b.memory(0, iova0 + 500, 7).copy_from_slice(b"request");
        for n in 0..3 {
            b.post_send(0, qps[0], &send(20 + n, &[sge(stag0, 500, 7)]))
                .unwrap();
        }
        let mut ids = Vec::new();
        let mut statuses = Vec::new();
        for c in b.completions_of(1, 4, 100 * MS) {
            statuses.push(c.status);
            if c.opcode == Opcode::Recv {
                ids.push((c.wr_id, c.byte_len));
            }
        }
        assert_eq!(ids, [(0, 7), (1, 7), (2, 7)], "{rtr:?}");
        assert!(statuses.iter().all(|s| *s == Status::Success));
        assert_eq!(b.memory(1, iova1 + 200, 7), b"request");
        // The RTR made no completion on the initiator.
        assert_eq!(b.completions_of(0, 3, 100 * MS).len(), 3);
        b.run(100 * MS);
        assert!(b.hosts[0].completions.is_empty());
    }
}

#[test]
fn private_data_and_read_depths_are_handed_over() {
    let mut b = Bench::new(3);
    let (qp0, qp1) = (b.hosts[0].qp(), b.hosts[1].qp());
    b.call(1, |e, _, _| e.listen(7000, 1)).unwrap();
    let data = [0x5a; 508];
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 7000,
        },
        private_data: &data,
        ird: 3,
        ord: 5,
        ..Default::default()
    };
    b.call(0, |e, now, c| e.connect(now, qp0, &params, c))
        .unwrap();
    let Event::ConnectRequest {
        conn,
        private_data,
        ird,
        ord,
        rtr,
        revision,
        port,
        remote,
        xrc: false,
    } = b.event_of(1, 10_000 * MS)
    else {
        panic!();
    };
    assert_eq!(&private_data[..], &data);
    assert_eq!((ird, ord, revision, port), (Some(3), Some(5), 2, 7000));
    assert_eq!(rtr, Some(RtrKinds::READ.union(RtrKinds::WRITE)));
    assert_eq!(remote.ip, [10, 0, 0, 1]);
    let accept = AcceptParams {
        ird: 2,
        ord: 9,
        private_data: b"welcome",
        ..Default::default()
    };
    b.call(1, |e, now, c| e.accept(now, conn, qp1, &accept, c))
        .unwrap();
    let Event::Established {
        private_data,
        agreed,
        ird,
        ord,
        ..
    } = b.event_of(0, 1000 * MS)
    else {
        panic!();
    };
    assert_eq!(&private_data[..], b"welcome");
    assert_eq!((agreed.ird, agreed.ord), (3, 2));
    // RFC 6581 §9.1: what the other side said, beside what is made of it.
    assert_eq!((ird, ord), (Some(2), Some(3)));
    let Event::Established {
        agreed, ird, ord, ..
    } = b.event_of(1, 1000 * MS)
    else {
        panic!();
    };
    assert_eq!((agreed.ird, agreed.ord), (2, 3));
    assert_eq!((ird, ord), (Some(3), Some(5)));
}

#[test]
fn rejected_with_private_data_then_connected_with_the_same_queue_pair() {
    let mut b = Bench::new(4);
    let (qp0, qp1) = (b.hosts[0].qp(), b.hosts[1].qp());
    b.call(1, |e, _, _| e.listen(7000, 4)).unwrap();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 7000,
        },
        ..Default::default()
    };
    let first = b
        .call(0, |e, now, c| e.connect(now, qp0, &params, c))
        .unwrap();
    let Event::ConnectRequest { conn, .. } = b.event_of(1, 10_000 * MS) else {
        panic!();
    };
    b.call(1, |e, now, c| e.reject(now, conn, b"no room", c))
        .unwrap();
    match b.event_of(0, 1000 * MS) {
        Event::Rejected {
            conn,
            private_data,
            ird,
            ord,
        } => {
            assert_eq!((ird, ord), (Some(16), Some(16)));
            assert_eq!(conn, first);
            assert_eq!(&private_data[..], b"no room");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(b.hosts[0].engine.qp_state(qp0), Ok(QpState::Idle));
    let again = b.connect_qps(
        [qp0, qp1],
        &ConnectParams::default(),
        &AcceptParams::default(),
    );
    exchange(&mut b, &again, "after a rejection");
}

#[test]
fn nobody_listens_or_nobody_is_there() {
    let mut b = Bench::new(5);
    let qp = b.hosts[0].qp();
    for (ip, reason) in [
        ([10, 0, 0, 2], ConnectFailure::Refused),
        ([10, 0, 0, 77], ConnectFailure::Unreachable),
        ([10, 9, 0, 77], ConnectFailure::Unreachable),
    ] {
        let params = ConnectParams {
            remote: Endpoint { ip, port: 9 },
            ..Default::default()
        };
        let conn = b
            .call(0, |e, now, c| e.connect(now, qp, &params, c))
            .unwrap();
        assert_eq!(
            b.event_of(0, 100_000 * MS),
            Event::ConnectError { conn, reason }
        );
    }
}

#[test]
fn a_silent_listener_runs_into_the_time_out() {
    let mut b = Bench::new(6);
    let qp = b.hosts[0].qp();
    b.call(1, |e, _, _| e.listen(7000, 4)).unwrap();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 7000,
        },
        ..Default::default()
    };
    let conn = b
        .call(0, |e, now, c| e.connect(now, qp, &params, c))
        .unwrap();
    let Event::ConnectRequest { conn: other, .. } = b.event_of(1, 10_000 * MS) else {
        panic!();
    };
    assert_eq!(
        b.event_of(0, 100_000 * MS),
        Event::ConnectError {
            conn,
            reason: ConnectFailure::TimedOut
        }
    );
    assert!(matches!(b.event_of(1, 1000 * MS), Event::ConnectError { conn, .. } if conn == other));
    let qp1 = b.hosts[1].qp();
    let accepted = b.call(1, |e, now, c| {
        e.accept(now, other, qp1, &AcceptParams::default(), c)
    });
    assert_eq!(accepted, Err(Error::UnknownConnection));
}

#[test]
fn revision_1_after_a_peer_that_closes() {
    let mut b = Bench::new(8);
    // The first request is lost.
    let mut first = true;
    b.tamper = Some(Box::new(move |from, frame| {
        if from == 0 && first && frame.windows(16).any(|w| w == b"MPA ID Req Frame") {
            first = false;
            return false;
        }
        true
    }));
    let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
    b.call(1, |e, _, _| e.listen(4791, 4)).unwrap();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        fall_back: true,
        ..Default::default()
    };
    b.call(0, |e, now, c| e.connect(now, qps[0], &params, c))
        .unwrap();
    // The request is lost once and sent again: no fall-back for that.
    assert!(matches!(
        b.event_of(1, 10_000 * MS),
        Event::ConnectRequest { revision: 2, .. }
    ));
    b.call(1, |e, now, c| e.unlisten(now, 4791, c)).unwrap();
    // The responder resets: now revision 1 is tried, and refused, since nobody listens.
    assert!(matches!(
        b.event_of(1, 10_000 * MS),
        Event::ConnectError { .. }
    ));
    b.call(1, |e, _, _| e.listen(4791, 4)).unwrap();
    let Event::ConnectRequest {
        conn,
        revision: 1,
        rtr: None,
        ..
    } = b.event_of(1, 10_000 * MS)
    else {
        panic!();
    };
    b.call(1, |e, now, c| {
        e.accept(now, conn, qps[1], &AcceptParams::default(), c)
    })
    .unwrap();
    let Event::Established {
        agreed,
        conn: first,
        ..
    } = b.event_of(0, 10_000 * MS)
    else {
        panic!();
    };
    assert_eq!((agreed.revision, agreed.rtr), (1, None));
    let pair = Pair {
        qps,
        conns: [first, conn],
        agreed,
    };
    exchange(&mut b, &pair, "revision 1");
}

/// A SYN that was sent again is no measure of the round-trip time (Karn). Until there is one the timer is 3 s
/// (RFC 6298 §5.7); the acknowledgment of the MPA request gives one, and what is lost then is sent again soon, by a probe (RFC 8985 §7).
#[test]
fn after_a_lost_syn_the_timer_begins_at_three_seconds() {
    for request_too in [false, true] {
        let mut b = Bench::new(9);
        let mut lost = 0;
        b.tamper = Some(Box::new(move |from, frame| {
            let syn = from == 0 && frame.len() > 47 && frame[23] == 6 && frame[47] & 2 != 0;
            let request = from == 0 && frame.windows(16).any(|w| w == b"MPA ID Req Frame");
            let rtr = from == 0 && frame.windows(4).any(|w| w == [0, 46, 0x41, 0x41]);
            let drop = syn && lost < 3
                || request && lost == 3 && request_too
                || rtr && lost == 3 + u32::from(request_too);
            lost += u32::from(drop);
            !drop
        }));
        b.connect(&ConnectParams::default(), &AcceptParams::default());
        let stats = b.hosts[0].engine.stats();
        // Without a measure there is no probe.
        let expected = if request_too { (0, 2) } else { (1, 0) };
        assert_eq!((stats.tail_probes, stats.timeouts), expected);
        let millis = b.now / MS;
        // SYNs after 1, 2 and 4 s. The request sent again is no measure either, so that the doubled 3 s hold for the RTR.
        let expected = if request_too {
            7_000 + 3_000 + 6_000
        } else {
            7_040
        };
        assert!((expected..expected + 100).contains(&millis), "{millis}");
    }
}

/// RFC 5681 §3.1: after a lost SYN-ACK the first window is one segment.
#[test]
fn after_a_lost_syn_ack_one_segment_goes_first() {
    for lost in [false, true] {
        let mut s = Script::new(false);
        s.auto_ack = false;
        let qp = s.qp();
        s.open(Options {
            mss: Some(1460),
            ..Default::default()
        });
        if lost {
            s.wait(1_500 * MS);
        }
        s.ack = s.sent.last().unwrap().seq.wrapping_add(1);
        s.data(&Script::request(RtrKinds::NONE, b""));
        let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
            panic!("{:?}", s.events);
        };
        s.engine
            .accept(s.now, conn, qp, &AcceptParams::default(), &mut s.card)
            .unwrap();
        s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
        let access = Access::LOCAL_WRITE;
        let (pd, iova) = (s.pd, card::MEMORY);
        let stag = s
            .engine
            .register(pd, 0x1000, iova, 20_000, access, &mut s.card)
            .unwrap();
        s.sent.clear();
        let sges = [sge(stag, 0, 20_000)];
        let write = write(1, 0x100, 0, &sges);
        s.engine.post_send(s.now, qp, &write, &mut s.card).unwrap();
        s.work();
        let count = s.sent.iter().filter(|s| !s.payload.is_empty()).count();
        // The reply, not yet acknowledged, is in the window as well.
        let expected = if lost { 0..=1 } else { 9..=10 };
        assert!(expected.contains(&count), "{lost}: {count}");
    }
}

/// The frame that was proposed in 2007: behind the reply, before the first FPDU, in one piece or in any two; the responder may send then, and nobody has spent
/// a message number.
#[test]
fn the_frame_of_2007_lets_the_responder_speak_first() {
    for (markers, cut) in [(false, false), (true, false), (true, true)] {
        let mut b = Bench::new(12);
        if cut {
            b.faults.split = 1 << 15;
        }
        let params = ConnectParams {
            rtr: RtrKinds::FRAME,
            markers,
            ..Default::default()
        };
        let accept = AcceptParams {
            rtr: RtrKinds::FRAME,
            markers,
            ..Default::default()
        };
        let pair = b.connect(&params, &accept);
        assert_eq!(pair.agreed.rtr, Some(RtrKinds::FRAME));
        let access = Access::LOCAL_WRITE;
        let regions = [0, 1].map(|n| b.hosts[n].region(20_000, access));
        // The responder first, then the other way.
        for (from, to) in [(1, 0), (0, 1), (1, 0)] {
            let bytes: Vec<u8> = (0..20_000u32)
                .map(|at| (at * 3 + from as u32) as u8)
                .collect();
            b.memory(from, regions[from].1, 20_000)
                .copy_from_slice(&bytes);
            let list = [sge(regions[to].0, 0, 20_000)];
            b.post_recv(to, pair.qps[to], 1, &list).unwrap();
            let list = [sge(regions[from].0, 0, 20_000)];
            b.post_send(from, pair.qps[from], &send(2, &list)).unwrap();
            let got = b.completions_of(to, 1, 10_000 * MS)[0];
            assert_eq!((got.status, got.byte_len), (Status::Success, 20_000));
            assert_eq!(b.memory(to, regions[to].1, 20_000), bytes);
            b.completions_of(from, 1, 10_000 * MS);
        }
        // The card knows where FPDUs and markers begin.
        let by_hand = b.hosts[1].engine.stats().fpdus_software;
        assert!(cut || by_hand == 0, "{markers}: {by_hand}");
    }
}

/// Who does not know it names one of the RFC's kinds, or none: Terminate 2/0/07, as for any kind that does not match.
#[test]
fn the_frame_of_2007_is_for_who_asks_for_it() {
    let mut b = Bench::new(13);
    b.call(1, |e, _, _| e.listen(4791, 8)).unwrap();
    let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        rtr: RtrKinds::FRAME,
        ..Default::default()
    };
    let conn = b
        .call(0, |e, now, c| e.connect(now, qps[0], &params, c))
        .unwrap();
    let Event::ConnectRequest {
        conn: theirs, rtr, ..
    } = b.event_of(1, 1000 * MS)
    else {
        panic!("a request");
    };
    assert_eq!(rtr, Some(RtrKinds::FRAME));
    // What is usual is the RFC's three.
    let accept = AcceptParams::default();
    b.call(1, |e, now, c| e.accept(now, theirs, qps[1], &accept, c))
        .unwrap();
    let reason = ConnectFailure::NoMatchingRtr;
    let failed = Event::ConnectError { conn, reason };
    b.until("the end", 1000 * MS, |b| {
        b.hosts[0].events.contains(&failed)
    });
    let code = Some(TerminateCode::MPA_NO_MATCHING_RTR);
    let said =
        |event: &Event| matches!(event, Event::QpFatal { terminate, .. } if *terminate == code);
    assert!(
        b.hosts[0].events.iter().any(said),
        "{:?}",
        b.hosts[0].events
    );
}

/// What comes in its place is no RTR.
#[test]
fn something_else_than_the_frame() {
    let other = message(&DdpHeader::untagged(true, 0x43, 0, 0, 1, 0), b"hello");
    for octets in [&b"MPA ID Rep Frame\0\x02\0\0"[..], &other] {
        let mut s = Script::new(false);
        let qp = s.qp();
        let request = Script::request(RtrKinds::FRAME, b"");
        let accept = AcceptParams {
            rtr: RtrKinds::FRAME,
            ..Default::default()
        };
        let conn = s.accepted_by(qp, &request, &accept);
        s.data(octets);
        s.wait(MS);
        let reason = ConnectFailure::NoRtr;
        let failed = Event::ConnectError { conn, reason };
        assert!(s.events.contains(&failed), "{:?}", s.events);
    }
}
