//! Connections in TIME_WAIT hold their slots only as long as nobody else needs one.
#![allow(missing_docs)]

use crate::bench;

use bench::script::Script;
use bench::*;
use weft_engine::*;
use weft_wire::tcp::{flag, Options};

const SLOTS: u16 = 4;

fn small(config: &mut EngineConfig) {
    config.max_connections = Some(SLOTS);
}

/// Connects and closes; the initiator's connection is in TIME_WAIT then, the responder's is gone.
fn come_and_go(b: &mut Bench) -> ConnId {
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.call(0, |e, now, card| e.disconnect(now, pair.conns[0], card))
        .unwrap();
    for n in 0..2 {
        let event = b.event_of(n, 100 * MS);
        assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
        b.call(n, |e, now, card| e.destroy_qp(now, pair.qps[n], card))
            .unwrap();
    }
    b.run(MS);
    pair.conns[0]
}

#[test]
fn who_waits_longest_makes_room_for_a_connection() {
    let mut b = Bench::with(31, &small);
    let stands = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let gone: Vec<_> = (0..20).map(|_| come_and_go(&mut b)).collect();
    assert!(b.now < 500 * MS, "all within one TIME_WAIT");
    let engine = &b.hosts[0].engine;
    let remembered: Vec<_> = gone.iter().map(|id| engine.remembers(*id)).collect();
    let wanted: Vec<_> = (0..20).map(|at| at >= 17).collect();
    assert_eq!(
        remembered, wanted,
        "the last three, beside the one that stands"
    );
    assert_eq!(engine.stats().time_waits_cut, 17);
    assert!(engine.remembers(stands.conns[0]));
    b.run(2_000 * MS);
    let engine = &b.hosts[0].engine;
    assert!(gone.iter().all(|id| !engine.remembers(*id)));
}

#[test]
fn who_still_stands_makes_no_room() {
    let mut b = Bench::with(32, &small);
    for _ in 0..SLOTS {
        b.connect(&ConnectParams::default(), &AcceptParams::default());
    }
    let qp = b.hosts[0].qp();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        ..ConnectParams::default()
    };
    let refused = b.call(0, |e, now, card| e.connect(now, qp, &params, card));
    assert_eq!(refused, Err(Error::NoConnections));
    assert_eq!(b.hosts[0].engine.stats().time_waits_cut, 0);
}

/// The acknowledgment of a FIN that the card has reported before the engine's FIN took the flow from it, as of a slow engine: it is the connection's all the
/// same, which would wait for the peer to say it again.
#[test]
fn the_last_acknowledgment_comes_by_a_flow_that_was_left() {
    let mut s = Script::new(false);
    let qp = s.qp();
    let conn = s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let fin = s.frame(flag::FIN | flag::ACK, s.seq, Options::default(), &[]);
    s.seq = s.seq.wrapping_add(1);
    s.ack = s.ack.wrapping_add(1);
    let last = s.frame(flag::ACK, s.seq, Options::default(), &[]);
    s.card.receive(&fin);
    s.card.receive(&last);
    s.work();
    assert!(!s.engine.remembers(conn));
}
