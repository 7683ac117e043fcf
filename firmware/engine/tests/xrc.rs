//! XRC: initiators, targets, and shared receive queues of a domain that a Send names by number.
#![allow(missing_docs)]

use crate::bench;

use bench::oracle::fpdu;
use bench::script::{extended, message, Script};
use bench::*;
use weft_engine::*;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::mpa::{Extensions, FrameKind, StartupFrame};

/// Of a message; a sender has a full window in flight long before its end.
const LONGEST: u32 = 1_500_000;

fn config(pd: PdId) -> QpConfig {
    QpConfig {
        pd,
        send_depth: 64,
        recv_depth: 64,
        max_sge: 4,
        rung: None,
    }
}

fn srq_config(pd: PdId) -> SrqConfig {
    SrqConfig {
        pd,
        depth: 8,
        max_sge: 4,
        limit: 0,
    }
}

fn initiator(host: &mut Host) -> QpId {
    let made = host
        .engine
        .create_xrc_initiator(&config(host.pd), &mut host.card);
    made.unwrap()
}

fn target(host: &mut Host, xrcd: XrcdId) -> QpId {
    let config = config(host.pd);
    let made = host.engine.create_xrc_target(&config, xrcd, &mut host.card);
    made.unwrap()
}

fn connect(b: &mut Bench, xrcd: XrcdId) -> Pair {
    let qps = [initiator(&mut b.hosts[0]), target(&mut b.hosts[1], xrcd)];
    b.connect_qps(qps, &ConnectParams::default(), &AcceptParams::default())
}

/// A shared queue of a domain, in a protection domain with a region of its own: that region's STag and IOVA.
fn receiver(b: &mut Bench, xrcd: XrcdId, pd: PdId) -> (SrqId, u32, u64) {
    let host = &mut b.hosts[1];
    let srq = host.engine.create_xrc_srq(&srq_config(pd), xrcd).unwrap();
    let own = std::mem::replace(&mut host.pd, pd);
    let (stag, iova) = host.region(LONGEST.into(), Access::LOCAL_WRITE);
    host.pd = own;
    (srq, stag, iova)
}

fn to(srq: SrqId, id: u64, list: &[Sge]) -> SendWr<'_> {
    SendWr {
        op: SendOp::XrcSend {
            solicited: false,
            srq: srq.number(),
        },
        ..send(id, list)
    }
}

fn post(b: &mut Bench, srq: SrqId, id: u64, sges: &[Sge]) -> Result<(), Error> {
    b.hosts[1].engine.post_srq_recv(srq, &RecvWr { id, sges })
}

fn bytes(n: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u64 * 11 + n) as u8).collect()
}

/// Two connections, each to either of two queues by turns, of which one has another protection domain; one segment and many, with and without loss.
#[test]
fn a_send_finds_the_queue_that_it_names() {
    for way in Way::ALL {
        for lossy in [false, true] {
            let mut b = Bench::by(way, 5);
            let xrcd = b.hosts[1].engine.alloc_xrcd();
            let pds = [b.hosts[1].pd, b.hosts[1].engine.alloc_pd()];
            let receivers = pds.map(|pd| receiver(&mut b, xrcd, pd));
            let pairs = [connect(&mut b, xrcd), connect(&mut b, xrcd)];
            if lossy {
                b.faults.loss = 1500;
                b.faults.reorder = 3000;
            }
            let (s0, i0) = b.hosts[0].region(20_000, Access::NONE);
            for n in 0..24u64 {
                let length = [0usize, 1, 64, 1460, 9000, 20_000][n as usize / 4];
                let (pair, (srq, s1, i1)) = (pairs[n as usize % 2], receivers[n as usize / 2 % 2]);
                let sent = bytes(n, length);
                b.memory(0, i0, length).copy_from_slice(&sent);
                let at = n % 8 * 20_000;
                let element = [sge(s1, at, 5), sge(s1, at + 5, 19_995)];
                post(&mut b, srq, n, &element).unwrap();
                let list = [sge(s0, 0, length as u32)];
                b.post_send(0, pair.qps[0], &to(srq, n, &list)).unwrap();
                let got = b.completions_of(1, 1, 60_000 * MS)[0];
                let expected = (pair.qps[1], n, Status::Success, length as u32, Some(srq));
                let found = (got.qp, got.wr_id, got.status, got.byte_len, got.srq);
                assert_eq!(found, expected, "{way:?} {lossy}");
                assert_eq!(b.memory(1, i1 + at, length), sent, "{way:?} {lossy} {n}");
                b.completions_of(0, 1, 60_000 * MS);
            }
            assert_eq!(b.hosts[1].engine.stats().shared_receives, 24);
        }
    }
}

/// A message to a queue of the target's own protection domain is the card's behind its first burst; to one of another it is the engine's to its end, and the card has the flow
/// again behind it.
#[test]
fn a_foreign_element_is_placed_by_hand() {
    const LENGTH: u32 = LONGEST;
    for foreign in [false, true] {
        // A small window is full and empty many times: each time the card could have the flow.
        let mut b = Bench::with(9, &|c| c.receive_window = 4096);
        let xrcd = b.hosts[1].engine.alloc_xrcd();
        let other = b.hosts[1].engine.alloc_pd();
        let pd = if foreign { other } else { b.hosts[1].pd };
        let (srq, s1, i1) = receiver(&mut b, xrcd, pd);
        let pair = connect(&mut b, xrcd);
        let (s0, i0) = b.hosts[0].region(LENGTH.into(), Access::NONE);
        let (sink, sink_at) = b.hosts[1].region(LENGTH.into(), Access::REMOTE_WRITE);
        let sent = bytes(1, LENGTH as usize);
        b.memory(0, i0, LENGTH as usize).copy_from_slice(&sent);
        post(&mut b, srq, 1, &[sge(s1, 0, LENGTH)]).unwrap();
        let list = [sge(s0, 0, LENGTH)];
        b.post_send(0, pair.qps[0], &to(srq, 1, &list)).unwrap();
        let got = b.completions_of(1, 1, 60_000 * MS)[0];
        assert_eq!((got.status, got.byte_len), (Status::Success, LENGTH));
        assert_eq!(b.memory(1, i1, LENGTH as usize), sent);
        let before = b.hosts[1].engine.stats();
        let (card, hand) = (before.fpdus_card, before.fpdus_software);
        assert_eq!(card > 20, !foreign, "{card} {hand}");
        // The card is not offered what it would refuse.
        assert!(!foreign || before.attaches < 5, "{}", before.attaches);
        let wr = write(2, sink, 0x1000, &list);
        b.post_send(0, pair.qps[0], &wr).unwrap();
        b.completions_of(0, 2, 60_000 * MS);
        assert_eq!(b.memory(1, sink_at, LENGTH as usize), sent);
        let after = b.hosts[1].engine.stats();
        let (card, hand) = (after.fpdus_card - card, after.fpdus_software - hand);
        assert!(card > 20, "{card} {hand}");
    }
}

/// The number is in RsvdULP, where others have 0.
#[test]
fn the_number_is_on_the_wire_only_between_ends_that_agreed() {
    let mut b = Bench::new(2);
    let xrcd = b.hosts[1].engine.alloc_xrcd();
    let pd = b.hosts[1].pd;
    let (srq, s1, _) = receiver(&mut b, xrcd, pd);
    let pair = connect(&mut b, xrcd);
    post(&mut b, srq, 1, &[sge(s1, 0, 100)]).unwrap();
    b.post_send(0, pair.qps[0], &to(srq, 1, &[])).unwrap();
    b.completions_of(1, 1, 1000 * MS);
    let sends: Vec<_> = b
        .judged(0, false)
        .into_iter()
        .filter_map(|ulpdu| {
            let (header, _) = DdpHeader::parse(&ulpdu)?;
            match header.target {
                Target::Untagged {
                    rsvd_ulp, qn: 0, ..
                } => Some(rsvd_ulp),
                _ => None,
            }
        })
        .collect();
    assert_eq!(sends, [srq.number()]);
}

/// A number that means nothing, a queue of another domain, one that is gone, one without an element: the connection ends, with the Terminate, and the others
/// stay.
#[test]
fn what_names_no_queue_of_the_domain_ends_its_connection_alone() {
    let mut b = Bench::new(4);
    let xrcd = b.hosts[1].engine.alloc_xrcd();
    let strange = b.hosts[1].engine.alloc_xrcd();
    let pd = b.hosts[1].pd;
    let (srq, s1, _) = receiver(&mut b, xrcd, pd);
    let (others, ..) = receiver(&mut b, strange, pd);
    let (gone, ..) = receiver(&mut b, xrcd, pd);
    b.hosts[1].engine.destroy_srq(gone).unwrap();
    let config = srq_config(pd);
    let plain = b.hosts[1].engine.create_srq(&config).unwrap();
    let stays = connect(&mut b, xrcd);
    let (queue, buffer) = (TerminateCode::DDP_QN, TerminateCode::DDP_NO_BUFFER);
    let cases = [
        (others, queue),
        (gone, queue),
        (plain, queue),
        (srq, buffer),
    ];
    for (named, wanted) in cases {
        let pair = connect(&mut b, xrcd);
        b.post_send(0, pair.qps[0], &to(named, 1, &[])).unwrap();
        let mut seen = Vec::new();
        b.until("both ends hear of it", 10_000 * MS, |b| {
            for n in 0..2 {
                while let Some(event) = b.hosts[n].take_event() {
                    if let Event::QpFatal {
                        qp,
                        terminate,
                        received,
                    } = event
                    {
                        assert_eq!(qp, pair.qps[n]);
                        seen.push((n, terminate, received));
                    }
                }
            }
            seen.len() == 2
        });
        seen.sort_unstable();
        assert_eq!(seen, [(0, Some(wanted), true), (1, Some(wanted), false)]);
        b.run(100 * MS);
        for n in 0..2 {
            b.hosts[n].events.clear();
            b.hosts[n].completions.clear();
        }
    }
    post(&mut b, srq, 1, &[sge(s1, 0, 100)]).unwrap();
    b.post_send(0, stays.qps[0], &to(srq, 1, &[])).unwrap();
    let got = b.completions_of(1, 1, 1000 * MS)[0];
    assert_eq!((got.qp, got.status), (stays.qps[1], Status::Success));
}

#[test]
fn each_kind_of_queue_pair_does_its_own() {
    let mut b = Bench::new(6);
    let wrong = Err(Error::WrongQpKind);
    let xrcd = b.hosts[1].engine.alloc_xrcd();
    let pd = b.hosts[1].pd;
    let (srq, s1, _) = receiver(&mut b, xrcd, pd);
    let pair = connect(&mut b, xrcd);
    let (usual, ends) = (b.hosts[0].qp(), pair.qps);
    let at_initiator = [
        SendOp::Send {
            solicited: false,
            invalidate: None,
        },
        SendOp::Immediate {
            solicited: false,
            data: 1,
        },
    ];
    for op in at_initiator {
        let wr = SendWr { op, ..send(1, &[]) };
        assert_eq!(b.post_send(0, ends[0], &wr), wrong);
    }
    assert_eq!(b.post_send(0, usual, &to(srq, 1, &[])), wrong);
    for wr in [send(1, &[]), to(srq, 1, &[]), write(1, s1, 0x1000, &[])] {
        assert_eq!(b.post_send(1, ends[1], &wr), wrong);
    }
    for (n, qp) in [(0, ends[0]), (1, ends[1])] {
        assert_eq!(b.post_recv(n, qp, 1, &[]), Err(Error::HasSrq));
    }
    // A target calls nobody, and an initiator only by revision 2.
    let remote = Endpoint {
        ip: [10, 0, 0, 1],
        port: 4791,
    };
    let params = ConnectParams {
        remote,
        ..ConnectParams::default()
    };
    let other = target(&mut b.hosts[1], xrcd);
    let called = b.call(1, |e, now, card| e.connect(now, other, &params, card));
    assert_eq!(called.err(), wrong.err());
    let old = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            ..remote
        },
        revision: Revision::Rev1,
        peer_to_peer: false,
        ..params
    };
    let qp = initiator(&mut b.hosts[0]);
    let called = b.call(0, |e, now, card| e.connect(now, qp, &old, card));
    assert_eq!(called.err(), wrong.err());
    let long = vec![7; 505];
    let too_long = ConnectParams {
        private_data: &long,
        revision: Revision::Rev2,
        peer_to_peer: true,
        ..old
    };
    let called = b.call(0, |e, now, card| e.connect(now, qp, &too_long, card));
    let (given, limit) = (505, 504);
    assert_eq!(called, Err(Error::PrivateDataTooLong { given, limit }));
    let engine = &b.hosts[0].engine;
    assert_eq!(engine.check_loopback_caller(qp), Ok(true));
    for xrc in [false, true] {
        assert_eq!(engine.check_loopback_accepter(qp, xrc), wrong);
    }
    let engine = &b.hosts[1].engine;
    assert_eq!(engine.check_loopback_caller(other), Err(Error::WrongQpKind));
    assert_eq!(engine.check_loopback_accepter(other, false), wrong);
    assert_eq!(engine.check_loopback_accepter(other, true), Ok(()));
    // A domain is there as long as something is in it.
    let engine = &mut b.hosts[1].engine;
    assert_eq!(engine.dealloc_xrcd(xrcd), Err(Error::InUse));
    let free = engine.alloc_xrcd();
    assert_eq!(engine.dealloc_xrcd(free), Ok(()));
    assert_eq!(engine.dealloc_xrcd(free), Err(Error::UnknownXrcd));
    let made = engine.create_xrc_srq(&srq_config(pd), free);
    assert_eq!(made, Err(Error::UnknownXrcd));
}

/// Who accepts has to have the kind of queue pair that was asked for.
#[test]
fn a_request_is_accepted_by_its_kind() {
    let mut b = Bench::new(7);
    let xrcd = b.hosts[1].engine.alloc_xrcd();
    b.call(1, |e, _, _| e.listen(4791, 8)).unwrap();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        ..ConnectParams::default()
    };
    for asks in [false, true] {
        let qp = match asks {
            true => initiator(&mut b.hosts[0]),
            false => b.hosts[0].qp(),
        };
        b.call(0, |e, now, card| e.connect(now, qp, &params, card))
            .unwrap();
        let Event::ConnectRequest { conn, xrc, .. } = b.event_of(1, 1000 * MS) else {
            panic!("a request");
        };
        assert_eq!(xrc, asks);
        let host = &mut b.hosts[1];
        let (usual, first) = (host.qp(), target(host, xrcd));
        let (right, wrong) = if asks { (first, usual) } else { (usual, first) };
        let accept = AcceptParams::default();
        let own = initiator(&mut b.hosts[1]);
        for qp in [wrong, own] {
            let refused = b.call(1, |e, now, card| e.accept(now, conn, qp, &accept, card));
            assert_eq!(refused, Err(Error::WrongQpKind));
        }
        b.call(1, |e, now, card| e.accept(now, conn, right, &accept, card))
            .unwrap();
        for n in 0..2 {
            assert!(matches!(
                b.event_of(n, 1000 * MS),
                Event::Established { .. }
            ));
        }
        for qp in [usual, first, own] {
            b.call(1, |e, now, card| e.destroy_qp(now, qp, card))
                .unwrap();
        }
        b.run(100 * MS);
        b.hosts[0].events.clear();
        b.hosts[1].events.clear();
        b.call(0, |e, now, card| e.destroy_qp(now, qp, card))
            .unwrap();
    }
}

/// A peer that accepts as any would, and does not know what it was asked for: Terminate 2/0/04, and the reason here.
#[test]
fn a_peer_that_grants_nothing_is_left() {
    let mut s = Script::new(false);
    let config = config(s.pd);
    let made = s.engine.create_xrc_initiator(&config, &mut s.card);
    let qp = made.unwrap();
    let (conn, request) = s.called_by(qp, &ConnectParams::default());
    let (asked, _) = StartupFrame::parse(&request).unwrap();
    assert_eq!(asked.enhanced.unwrap().extensions, Extensions::XRC);
    // The RFC's four bytes, and four that whoever does not know them takes for private data.
    assert_eq!(&request[24..], b"wft\x01");
    s.data(&extended(FrameKind::Reply, true, Extensions::NONE));
    let sent = s.sent.iter().find(|sent| !sent.payload.is_empty());
    let said = sent.unwrap().payload.clone();
    let ulpdu = &fpdu::ulpdus(&said)[0];
    let (header, payload) = DdpHeader::parse(ulpdu).unwrap();
    assert_eq!(
        (header.rdmap_control, payload),
        (0x47, &[0x20, 4, 0, 0][..])
    );
    s.ack = s.ack.wrapping_add(said.len() as u32);
    s.acknowledge();
    s.wait(MS);
    let reason = ConnectFailure::NoXrc;
    let failed = Event::ConnectError { conn, reason };
    assert!(s.events.contains(&failed), "{:?}", s.events);
}

/// A Send whose RsvdULP is an STag to be invalidated, or that is Immediate Data, names no queue.
#[test]
fn a_target_takes_plain_sends_only() {
    for (opcode, expected) in [
        (3u8, None),
        (4, Some(0x0206)),
        (5, None),
        (6, Some(0x0206)),
        (8, Some(0x0206)),
    ] {
        let mut s = Script::new(false);
        let xrcd = s.engine.alloc_xrcd();
        let srq = s.engine.create_xrc_srq(&srq_config(s.pd), xrcd).unwrap();
        let config = config(s.pd);
        let made = s.engine.create_xrc_target(&config, xrcd, &mut s.card);
        let request = extended(FrameKind::Request, true, Extensions::XRC);
        s.accepted_by(made.unwrap(), &request, &AcceptParams::default());
        // The RTR.
        s.data(&message(
            &DdpHeader::untagged(true, 0x41, 0, 1, 1, 0),
            &[0; 28],
        ));
        s.engine
            .post_srq_recv(srq, &RecvWr { id: 3, sges: &[] })
            .unwrap();
        let header = DdpHeader::untagged(true, 0x40 | opcode, srq.number(), 0, 1, 0);
        s.data(&message(&header, &[]));
        s.wait(MS);
        let code = s.terminate().map(|(code, _)| code);
        assert_eq!(code, expected, "opcode {opcode}");
    }
}
