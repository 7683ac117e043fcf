//! How a responder says no: to a revision, by the application, for want of room in the card.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::mpa::{Enhanced, FrameKind, StartupFrame};
use weft_wire::tcp::{flag, Options};

fn request(revision: u8, enhanced: Option<Enhanced>) -> Vec<u8> {
    let frame = StartupFrame {
        kind: FrameKind::Request,
        markers: revision == 0,
        crc: true,
        reject: false,
        revision,
        enhanced,
        private_data: b"",
    };
    let mut out = vec![0; 100];
    let length = frame.write(&mut out).unwrap();
    out.truncate(length);
    out
}

/// The reply that rejects; behind it nothing but FIN.
#[track_caller]
fn rejection(s: &Script) -> (u8, Option<Enhanced>) {
    let mut data = s.sent.iter().filter(|s| !s.payload.is_empty());
    let reply = &data.next().expect("a reply").payload;
    assert_eq!(data.count(), 0);
    let (frame, length) = StartupFrame::parse(reply).unwrap();
    assert_eq!((frame.kind, length), (FrameKind::Reply, reply.len()));
    assert!(frame.reject && !frame.markers);
    assert!(s.sent.iter().any(|s| s.flags & flag::FIN != 0));
    assert!(s.sent.iter().all(|s| s.flags & flag::RST == 0));
    (frame.revision, frame.enhanced)
}

#[test]
fn revision_0_is_refused_with_the_one_that_is_spoken() {
    let mut s = Script::new(false);
    s.open(Options::default());
    s.data(&request(0, None));
    s.wait(MS);
    assert_eq!(rejection(&s), (1, None));
    assert!(s.events.is_empty(), "nobody is asked: {:?}", s.events);
    assert_eq!(s.engine.stats().revisions_refused, 1);
}

/// RFC 6581 §9.2: the responder's B, C and D are its own, at least one of them; without A they are 0.
#[test]
fn a_rejection_names_rtr_kinds_as_the_rfc_wants() {
    let read_write = RtrKinds::READ.union(RtrKinds::WRITE);
    for (peer_to_peer, offered, named) in [
        (true, read_write, RtrKinds::READ),
        (true, RtrKinds::SEND, RtrKinds::SEND),
        (true, RtrKinds::NONE, RtrKinds::READ),
        (false, RtrKinds::NONE, RtrKinds::NONE),
        // To be ignored, and not to be said again.
        (false, RtrKinds::ALL, RtrKinds::NONE),
    ] {
        let mut s = Script::new(false);
        s.open(Options::default());
        let theirs = Enhanced {
            peer_to_peer,
            rtr: offered,
            ird: 5,
            ord: 0x3fff,
            ..Enhanced::default()
        };
        s.data(&request(2, Some(theirs)));
        let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
            panic!("{:?}", s.events);
        };
        s.engine.reject(s.now, conn, b"", &mut s.card).unwrap();
        s.wait(MS);
        let ours = Enhanced {
            peer_to_peer,
            rtr: named,
            ird: 0x3fff,
            ord: 5,
            ..Enhanced::default()
        };
        assert_eq!(rejection(&s), (2, Some(ours)), "{offered:?}");
    }
}

/// The card's buckets of a connection between the peer's `port` and 7000, with eight flows.
fn place(port: u16) -> (u32, u32) {
    let mut key = [10, 0, 0, 9, 10, 0, 0, 1, 0, 0, 0x1b, 0x58];
    key[8..10].copy_from_slice(&port.to_be_bytes());
    let hash = weft_wire::crc32c::crc32c(&key);
    (hash & 7, hash >> 16 & 7)
}

/// Connections whose addresses fall into the same buckets of the card's lookup: the one that finds no room
/// is rejected, not left hanging, and its queue pair can be used again.
#[test]
fn no_room_in_the_card() {
    assert!(is_full(HashSecret::default()), "all found room");
}

/// Who does not know the secret cannot choose ports that fill a bucket: those that meet without one part.
#[test]
fn ports_that_meet_without_a_secret_part_with_one() {
    for seed in 0..20 {
        assert!(!is_full(Seed::from(seed).hash_secret()), "seed {seed}");
    }
}

/// Six connections that meet where there is no secret: does one of them find no room?
fn is_full(secret: HashSecret) -> bool {
    let mut s = Script::with(false, &|config| {
        config.num_flows = 8;
        config.hash_secret = secret;
    });
    assert_eq!(s.port, 0x1b58);
    let same = |port: &u16| place(*port) == place(5000);
    s.engine.listen(s.port, 8).unwrap();
    for port in (5000..=u16::MAX).filter(same).take(6) {
        s.peer_port = port;
        s.sent.clear();
        let seq = s.seq;
        s.seq = seq.wrapping_add(1);
        s.ack = 0;
        s.send(flag::SYN, seq, Options::default(), &[]);
        s.data(&request(1, None));
        let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
            panic!("{:?}", s.events);
        };
        s.sent.clear();
        let qp = s.qp();
        let accept = AcceptParams::default();
        s.engine
            .accept(s.now, conn, qp, &accept, &mut s.card)
            .unwrap();
        s.wait(MS);
        if let Some(event) = s.events.pop() {
            let reason = ConnectFailure::NoResources;
            assert_eq!(event, Event::ConnectError { conn, reason });
            assert_eq!(rejection(&s), (1, None));
            assert_eq!(s.engine.qp_state(qp), Ok(QpState::Idle));
            s.engine.destroy_qp(s.now, qp, &mut s.card).unwrap();
            return true;
        }
    }
    false
}

/// Who connects has the card's room before the SYN goes: nothing is left to fail when the reply is there, so that nobody hears
/// Terminate 2005 (RFC 6581 §9.3).
#[test]
fn no_room_in_the_card_for_who_connects() {
    let mut s = Script::with(false, &|config| config.num_flows = 8);
    s.hello(PEER_MAC);
    let same = |port: &u16| place(*port) == place(5000);
    for (index, port) in (5000..=u16::MAX).filter(same).take(5).enumerate() {
        s.sent.clear();
        let qp = s.qp();
        let params = ConnectParams {
            remote: Endpoint { ip: PEER_IP, port },
            local_port: Some(s.port),
            ..Default::default()
        };
        let conn = s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
        s.work();
        if index < 4 {
            assert!(s.events.is_empty());
            assert_eq!(s.sent[0].flags, flag::SYN);
        } else {
            let reason = ConnectFailure::NoResources;
            assert_eq!(s.events, [Event::ConnectError { conn, reason }]);
            assert!(s.sent.is_empty());
            assert_eq!(s.engine.qp_state(qp), Ok(QpState::Idle));
        }
    }
}
