//! The initiator against a responder that is played by hand: replies of every kind, and what comes
//! right behind them.
#![allow(missing_docs)]

use crate::bench;

use bench::oracle::fpdu;
use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::mpa::{Enhanced, FrameKind, StartupFrame};
use weft_wire::tcp::{flag, Options};

/// The engine connects; returns its request.
fn connecting(s: &mut Script, params: &ConnectParams<'_>) -> (QpId, ConnId, Vec<u8>) {
    let qp = s.qp();
    let (conn, request) = s.called_by(qp, params);
    (qp, conn, request)
}

fn reply(enhanced: Option<Enhanced>, revision: u8, reject: bool) -> Vec<u8> {
    let frame = StartupFrame {
        kind: FrameKind::Reply,
        markers: false,
        crc: true,
        reject,
        revision,
        enhanced,
        private_data: b"",
    };
    let mut out = vec![0; 100];
    let length = frame.write(&mut out).unwrap();
    out.truncate(length);
    out
}

fn enhanced(rtr: RtrKinds) -> Option<Enhanced> {
    Some(Enhanced {
        peer_to_peer: !rtr.is_empty(),
        rtr,
        ird: 3,
        ord: 2,
        ..Enhanced::default()
    })
}

/// The FPDUs the engine sent: RDMAP control, header, payload.
fn fpdus(s: &Script) -> Vec<(DdpHeader, Vec<u8>)> {
    let mut found = Vec::new();
    for sent in s.sent.iter().filter(|sent| !sent.payload.is_empty()) {
        let ulpdus = fpdu::ulpdus(&sent.payload);
        assert_eq!(ulpdus.len(), 1, "one FPDU in each segment");
        let (header, payload) = DdpHeader::parse(&ulpdus[0]).unwrap();
        found.push((header, payload.to_vec()));
    }
    found
}

#[test]
fn the_request_is_what_every_known_peer_takes() {
    let mut s = Script::new(false);
    let (_, _, request) = connecting(
        &mut s,
        &ConnectParams {
            ord: 0,
            ..Default::default()
        },
    );
    let (frame, length) = StartupFrame::parse(&request).unwrap();
    assert_eq!(length, request.len());
    assert_eq!((frame.revision, frame.crc, frame.markers), (2, true, false));
    let offer = frame.enhanced.unwrap();
    assert!(offer.peer_to_peer);
    assert_eq!(offer.rtr, RtrKinds::READ.union(RtrKinds::WRITE));
    // siw without an IRD could not answer the Read.
    assert_eq!(offer.ord, 1);
}

#[test]
fn each_rtr_kind_goes_first_and_completes_nothing() {
    for (kinds, control) in [
        (RtrKinds::READ, 0x41),
        (RtrKinds::WRITE, 0x40),
        (RtrKinds::READ.union(RtrKinds::WRITE), 0x41),
    ] {
        let mut s = Script::new(false);
        let (qp, _, _) = connecting(&mut s, &ConnectParams::default());
        let stag = s
            .engine
            .register(s.pd, 0, card::MEMORY, 10, Access::NONE, &mut s.card)
            .unwrap();
        let sges = [Sge {
            stag,
            to: 0,
            length: 10,
        }];
        s.engine
            .post_send(s.now, qp, &send(1, &sges), &mut s.card)
            .unwrap();
        s.data(&reply(enhanced(kinds), 2, false));
        let sent = fpdus(&s);
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0].0.rdmap_control, control);
        match sent[0].0.target {
            weft_wire::ddp::Target::Tagged { stag, .. } => assert_eq!(stag, 1),
            weft_wire::ddp::Target::Untagged { qn, msn, .. } => {
                assert_eq!((qn, msn), (1, 1));
                let request = weft_wire::rdmap::ReadRequest::parse(&sent[0].1).unwrap();
                assert!(request.sink_stag != 0 && request.source_stag != 0 && request.size == 0);
            }
        }
        assert_eq!(sent[1].0.rdmap_control, 0x43);
        match &s.events[..] {
            [Event::Established { agreed, .. }] => {
                assert_eq!((agreed.ird, agreed.ord), (16, 3));
            }
            other => panic!("{other:?}"),
        }
        for sent in s.sent.clone() {
            s.ack = s.ack.wrapping_add(sent.payload.len() as u32);
        }
        if control == 0x41 {
            // siw answers with STag 0.
            s.data(&message(&DdpHeader::tagged(true, 0x42, 0, 0), b""));
        }
        s.acknowledge();
        s.wait(MS);
        assert_eq!(s.completions.len(), 1);
        assert_eq!(s.events.len(), 1);
    }
}

#[test]
fn fpdus_right_behind_the_reply() {
    for cut in [0, 1, 20, 24, 25, 40, 60] {
        let mut s = Script::new(false);
        let params = ConnectParams {
            peer_to_peer: false,
            ..Default::default()
        };
        let (qp, _, _) = connecting(&mut s, &params);
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let stag = s
            .engine
            .register(s.pd, 0, card::MEMORY, 100, access, &mut s.card)
            .unwrap();
        let sges = [Sge {
            stag,
            to: 0,
            length: 50,
        }];
        let wr = RecvWr { id: 4, sges: &sges };
        s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
        s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
        let mut octets = reply(enhanced(RtrKinds::NONE), 2, false);
        octets.extend(message(
            &DdpHeader::untagged(true, 0x43, 0, 0, 1, 0),
            b"hello",
        ));
        octets.extend(message(&DdpHeader::tagged(true, 0x40, stag, 60), b"there"));
        let later = octets.split_off(cut);
        if !octets.is_empty() {
            s.data(&octets);
        }
        s.data(&later);
        assert!(matches!(&s.events[..], [Event::Established { .. }]));
        assert_eq!(s.completions.len(), 1, "cut at {cut}");
        assert_eq!(s.card.bytes(card::MEMORY, 5).unwrap(), b"hello");
        assert_eq!(s.card.bytes(card::MEMORY + 60, 5).unwrap(), b"there");
        // And from here on the card places.
        s.data(&message(
            &DdpHeader::untagged(true, 0x43, 0, 0, 2, 0),
            b"again",
        ));
        // If the reply came alone, it has placed all.
        let placed = if cut == 24 { 15 } else { 5 };
        assert_eq!((s.completions.len(), s.card.placed), (2, placed));
    }
}

#[test]
fn replies_that_do_not_fit() {
    // No common RTR kind: Terminate 2/0/07.
    let mut s = Script::new(false);
    let (qp, conn, _) = connecting(
        &mut s,
        &ConnectParams {
            rtr: RtrKinds::READ,
            ..Default::default()
        },
    );
    s.data(&reply(enhanced(RtrKinds::WRITE), 2, false));
    let sent = fpdus(&s);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].0.rdmap_control, 0x47);
    assert_eq!(sent[0].1, [0x20, 0x07, 0, 0]);
    s.ack = s
        .ack
        .wrapping_add(s.sent.iter().map(|s| s.payload.len() as u32).sum());
    s.acknowledge();
    s.wait(MS);
    assert!(s.events.contains(&Event::ConnectError {
        conn,
        reason: ConnectFailure::NoMatchingRtr
    }));
    assert_eq!(s.engine.qp_state(qp), Ok(QpState::Error));

    // More Reads than we take: 2/0/06.
    let mut s = Script::new(false);
    let (_, _, _) = connecting(
        &mut s,
        &ConnectParams {
            ird: 1,
            ..Default::default()
        },
    );
    s.data(&reply(enhanced(RtrKinds::READ), 2, false));
    assert_eq!(fpdus(&s)[0].1, [0x20, 0x06, 0, 0]);

    // Not enhanced, or no reply at all: TCP is closed, nothing is said.
    for octets in [reply(None, 1, false), b"HTTP/1.1 400 Bad Request".to_vec()] {
        let mut s = Script::new(false);
        let (qp, conn, _) = connecting(&mut s, &ConnectParams::default());
        s.data(&octets);
        assert!(fpdus(&s).is_empty());
        assert!(s.sent.iter().any(|s| s.flags & flag::FIN != 0));
        s.wait(MS);
        assert_eq!(
            s.events,
            [Event::ConnectError {
                conn,
                reason: ConnectFailure::InvalidReply
            }]
        );
        assert_eq!(s.engine.qp_state(qp), Ok(QpState::Idle));
    }
}

#[test]
fn revision_1_by_choice() {
    let mut s = Script::new(false);
    let params = ConnectParams {
        revision: Revision::Rev1,
        peer_to_peer: false,
        private_data: b"old",
        ..Default::default()
    };
    let (_, _, request) = connecting(&mut s, &params);
    let (frame, _) = StartupFrame::parse(&request).unwrap();
    assert_eq!(
        (frame.revision, frame.enhanced, frame.private_data),
        (1, None, &b"old"[..])
    );
    s.data(&reply(None, 1, false));
    assert!(matches!(&s.events[..], [Event::Established { agreed, .. }] if agreed.revision == 1));
}

#[test]
fn an_old_responder_takes_a_read_that_nobody_negotiated() {
    let mut s = Script::new(false);
    s.open(Options::default());
    let frame = StartupFrame {
        kind: FrameKind::Request,
        markers: false,
        crc: true,
        reject: false,
        revision: 1,
        enhanced: None,
        private_data: b"abc",
    };
    let mut out = [0; 100];
    let length = frame.write(&mut out).unwrap();
    s.data(&out[..length]);
    let Some(Event::ConnectRequest {
        conn,
        revision: 1,
        rtr: None,
        ird: None,
        private_data,
        ..
    }) = s.events.pop()
    else {
        panic!();
    };
    assert_eq!(&private_data[..], b"abc");
    let qp = s.qp();
    let accept = AcceptParams {
        ird: 0,
        ..Default::default()
    };
    s.engine
        .accept(s.now, conn, qp, &accept, &mut s.card)
        .unwrap();
    s.work();
    s.sent.clear();
    let mut request = [0; 28];
    request[3] = 1;
    request[19] = 1;
    s.data(&message(
        &DdpHeader::untagged(true, 0x41, 0, 1, 1, 0),
        &request,
    ));
    assert!(matches!(s.events[..], [Event::Established { .. }]));
    let sent = fpdus(&s);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].0, DdpHeader::tagged(true, 0x42, 1, 0));
}

#[test]
fn echo_is_answered() {
    let mut s = Script::new(false);
    let mut frame = s.frame(0, 0, Options::default(), b"0123");
    // Of the TCP frame's headers, IPv4's becomes one of ICMP.
    let message = {
        let mut m = vec![8, 0, 0, 0, 0, 1, 0, 2, b'x', b'y', b'z'];
        let sum = weft_wire::checksum::Checksum::default().bytes(&m).finish();
        m[2..4].copy_from_slice(&sum.to_be_bytes());
        m
    };
    frame.truncate(34);
    frame[23] = 1;
    frame[16..18].copy_from_slice(&(20 + message.len() as u16).to_be_bytes());
    frame[24..26].fill(0);
    let sum = weft_wire::checksum::Checksum::default()
        .bytes(&frame[14..34])
        .finish();
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend(&message);
    frame.extend([0; 15]);
    s.card.receive(&frame);
    let (report, raw) = s.card.take_report().unwrap();
    s.engine
        .on_report(s.now, &report, raw.as_deref(), &mut s.card);
    s.card.run_jobs();
    let answer = s.card.out.pop().unwrap();
    let (ethernet, packet) = EthernetHeader::parse(&answer).unwrap();
    assert_eq!(ethernet.destination, PEER_MAC);
    let packet = weft_wire::ipv4::Ipv4Packet::parse(packet).unwrap();
    assert_eq!(
        (packet.source, packet.destination),
        ([10, 0, 0, 1], PEER_IP)
    );
    assert_eq!(packet.payload[0], 0);
    assert_eq!(&packet.payload[4..], &message[4..]);
    assert_eq!(
        weft_wire::checksum::Checksum::default()
            .bytes(packet.payload)
            .finish(),
        0
    );
}

/// The peer has not forgotten an older connection between the same ports (TIME_WAIT at Linux, half-open after a crash): it answers
/// the SYN with an acknowledgment of its own number. RFC 9293 §3.5.1, figure 9: an RST, and the SYN again.
#[test]
fn an_old_connection_of_the_peer_is_reset() {
    let mut s = Script::new(false);
    let (_, conn, _) = s.call(&ConnectParams::default());
    s.auto_ack = false;
    let right = s.ack;
    s.ack = right.wrapping_sub(66_172_042);
    s.acknowledge();
    assert_eq!(s.sent.len(), 1, "{:?}", s.sent);
    assert_eq!((s.sent[0].flags, s.sent[0].seq), (flag::RST, s.ack));
    // An RST is not answered by an RST.
    s.sent.clear();
    s.send(flag::RST | flag::ACK, s.seq, Options::default(), &[]);
    assert!(s.sent.is_empty() && s.events.is_empty(), "{:?}", s.sent);
    // The SYN comes again, and connects.
    s.wait(2_000_000_000);
    let again = s.sent.iter().find(|sent| sent.flags == flag::SYN);
    assert_eq!(again.map(|syn| syn.seq.wrapping_add(1)), Some(right));
    s.ack = right;
    s.sent.clear();
    s.send(flag::SYN | flag::ACK, s.seq, Options::default(), &[]);
    let request = s.sent.iter().find(|sent| !sent.payload.is_empty());
    assert!(request.is_some_and(|r| r.payload.starts_with(b"MPA ID Req Frame")));
    assert!(s.events.is_empty(), "{conn:?}: {:?}", s.events);
}

/// Revision 0 is the RDMA Consortium's: it is refused when it shows, not at the first FPDU (RFC 5044 §7.1.1).
#[test]
fn a_reply_of_revision_0() {
    for revision in [Revision::Rev1, Revision::Rev2] {
        let mut s = Script::new(false);
        let params = ConnectParams {
            revision,
            peer_to_peer: revision == Revision::Rev2,
            ..Default::default()
        };
        let (qp, conn, _) = connecting(&mut s, &params);
        s.data(&reply(None, 0, false));
        s.wait(MS);
        assert!(fpdus(&s).is_empty());
        assert!(s.sent.iter().any(|s| s.flags & flag::FIN != 0));
        let reason = ConnectFailure::UnsupportedRevision;
        assert_eq!(s.events, [Event::ConnectError { conn, reason }]);
        assert_eq!(s.engine.stats().revisions_refused, 1);
        assert_eq!(s.engine.qp_state(qp), Ok(QpState::Idle));
    }
}
