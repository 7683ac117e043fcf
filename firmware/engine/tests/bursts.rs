//! Many connections at the same moment.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::tcp::{flag, Options};

/// Six SYNs, and room for two frames: the other SYN-ACKs go as soon as there is room, not when the peer asks again after a second.
#[test]
fn a_syn_ack_without_room_goes_soon() {
    let mut s = Script::new(false);
    s.engine.listen(s.port, 8).unwrap();
    s.auto_ack = false;
    let ring = std::mem::replace(&mut s.card.ring, 2);
    for port in 0..6 {
        s.peer_port = 6000 + port;
        let frame = s.frame(flag::SYN, 77, Options::default(), &[]);
        s.card.receive(&frame);
    }
    let syn_acks = |s: &Script| {
        let both = flag::SYN | flag::ACK;
        s.sent.iter().filter(|sent| sent.flags == both).count()
    };
    s.work();
    assert!(syn_acks(&s) < 6, "the ring was not full");
    s.card.ring = ring;
    s.wait(MS);
    assert_eq!(syn_acks(&s), 6);
    s.wait(900 * MS);
    assert_eq!(syn_acks(&s), 6, "and then they wait for their answers");
    s.wait(300 * MS);
    assert_eq!(syn_acks(&s), 12);
}

/// RFC 1122 §2.3.2.1: no more than one request a second for an address, however many wait for it.
#[test]
fn one_question_a_second_for_a_neighbour() {
    let mut s = Script::new(false);
    for port in 1..=3 {
        let qp = s.qp();
        let remote = Endpoint { ip: PEER_IP, port };
        let params = ConnectParams {
            remote,
            ..Default::default()
        };
        s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
        s.wait(100 * MS);
    }
    assert_eq!(s.engine.stats().frames_sent, 1);
    s.wait(900 * MS);
    assert_eq!(s.engine.stats().frames_sent, 2);
    // Another address is another question.
    let qp = s.qp();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 77],
            port: 1,
        },
        ..Default::default()
    };
    s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
    assert_eq!(s.engine.stats().frames_sent, 3);
    s.hello(PEER_MAC);
    let syns = s.sent.iter().filter(|sent| sent.flags == flag::SYN).count();
    assert_eq!(syns, 3, "all of them go on");
}
