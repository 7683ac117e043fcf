//! A detached flow whose payload lies in raw slots, event by event: behind a FIN, at a replay that the card has stopped, and when the flow is another
//! connection's.
#![allow(missing_docs)]

use crate::bench;

use bench::script::{with_ip_options, Script};
use bench::under::{Under, LENGTH};
use bench::MS;
use weft_engine::*;
use weft_wire::tcp::{flag, Options};

/// Without a gap, what comes raw is copied, where the card carries nothing: the flow is attached behind the FPDU that was cut. A replay would only be overtaken.
#[test]
fn a_segment_that_is_cut_in_two() {
    let mut t = Under::with(&|config| config.carry = false);
    for (n, cut) in [1, 2, 500, 1019].into_iter().enumerate() {
        let write = t.writes(n..n + 1);
        let cut_at = t.at(n).wrapping_add(cut as u32);
        for (seq, piece) in [(t.at(n), &write[..cut]), (cut_at, &write[cut..])] {
            let frame = t.frame(0, seq, piece);
            t.s.card.receive(&frame);
            assert_eq!(t.s.card.attached(), 0);
            t.host();
        }
        t.has(n + 1);
        assert_eq!(t.s.card.attached(), 1, "behind the FPDU");
    }
    let stats = t.s.engine.stats();
    assert_eq!((stats.segments_held, stats.replays), (0, 0));
    assert_eq!((t.s.card.carried, stats.segments_carried), (0, 0));
    // Whole ones go by the card.
    t.arrives(4..6, 0);
    assert_eq!(t.s.card.placed, 2 * LENGTH as u64);
}

/// Data in order with a FIN, while the card walks over what came before: the FIN waits for the replay's report, and nothing is framed beside it.
#[test]
fn data_and_a_fin_behind_a_replay() {
    let mut t = Under::new(4);
    t.arrives(1..2, 0);
    t.arrives(2..3, 0);
    t.arrives(0..1, 0);
    assert!(t.s.card.will_replay());
    t.arrives(3..4, flag::FIN);
    assert_eq!(t.s.card.placed_by_hand, 0, "framed beside a replay");
    assert!(t.s.events.is_empty(), "{:?}", t.s.events);
    t.replays();
    t.has(4);
    t.has_fin(t.at(4));
    assert_eq!(t.s.card.placed, 3 * LENGTH as u64, "by the replay");
    t.has_no_slot();
}

/// Data with a FIN beyond a gap: it stays in its slot until what is missing has come. With that come the same data again and more, behind the FIN.
#[test]
fn data_and_a_fin_beyond_a_gap() {
    for held_before in [false, true] {
        let mut t = Under::new(4);
        if held_before {
            t.arrives(1..2, 0);
            assert_eq!(t.s.card.lent_out(), 1);
        }
        t.arrives(2..3, flag::FIN);
        t.has(0);
        t.arrives(0..5, 0);
        t.has(3);
        t.has_fin(t.at(3));
        t.has_no_slot();
    }
}

/// The stream stands between two FPDUs before a FIN that has come: the card knows nothing of that, and would place what is sent behind it.
#[test]
fn no_attach_before_a_fin() {
    let mut t = Under::new(4);
    let fin = t.frame(flag::FIN, t.at(2), &[]);
    t.s.card.receive(&fin);
    t.host();
    let attaches = t.s.engine.stats().attaches;
    let odd = with_ip_options(&t.frame(0, t.at(0), &t.writes(0..1)));
    t.s.card.receive(&odd);
    t.host();
    t.has(1);
    assert_eq!(t.s.engine.stats().attaches, attaches, "behind a FIN");
    assert_eq!(t.s.card.attached(), 0);
    t.arrives(1..3, 0);
    t.has(2);
    t.has_fin(t.at(2));
}

/// An FPDU whose end has not come is walked over once, and not again before there is more of it.
#[test]
fn half_an_fpdu_waits_for_the_rest() {
    let mut t = Under::new(4);
    t.arrives(1..2, 0);
    let write = t.writes(2..3);
    let (first, rest) = write.split_at(500);
    let frame = t.frame(0, t.at(2), first);
    t.s.card.receive(&frame);
    t.host();
    t.arrives(0..1, 0);
    t.replays();
    assert_eq!(t.s.card.placed, 2 * LENGTH as u64);
    for _ in 0..3 {
        t.s.now += MS;
        t.host();
        assert_eq!(
            t.s.card.replays_to_do().count(),
            0,
            "asked again for the same"
        );
    }
    let frame = t.frame(0, t.at(2).wrapping_add(500), rest);
    t.s.card.receive(&frame);
    t.host();
    t.replays();
    t.has(3);
    assert_eq!(t.s.card.attached(), 1);
    t.has_no_slot();
}

/// A replay that the card has stopped is refused, and says how far it came: the rest is copied, from there on.
#[test]
fn a_replay_that_was_stopped() {
    for follow in [false, true] {
        let mut t = Under::new(4);
        for n in [1, 2, 3] {
            t.arrives(n..n + 1, 0);
        }
        if follow {
            for n in [4, 5, 6, 7] {
                t.arrives(n..n + 1, 0);
            }
        }
        t.arrives(0..1, 0);
        let jobs = t.s.card.replays_to_do().count();
        assert_eq!(jobs, 1 + usize::from(follow));
        t.s.card.stops_replay = Some(t.writes(0..2).len());
        t.replays();
        let fpdus = t.s.engine.stats();
        assert_eq!(fpdus.bytes_replayed, t.writes(0..2).len() as u64);
        if follow {
            assert_eq!(t.s.card.placed_by_hand, 0, "framed beside a replay");
            t.replays();
        }
        let writes = if follow { 8 } else { 4 };
        t.has(writes);
        assert_eq!(t.s.card.placed, 2 * LENGTH as u64);
        assert_eq!(t.s.engine.stats().replays_failed, 1);
        t.has_no_slot();
        // It goes on, and the card has the flow.
        assert_eq!(t.s.card.attached(), 1);
        t.arrives(writes..writes + 1, 0);
        t.has(writes + 1);
        assert_eq!(t.acked, t.at(writes + 1));
    }
}

/// The flow is another connection's, and reports of the one before, of a segment and of a replay, are on their way: they are nobody's.
#[test]
fn a_flow_that_is_bound_anew() {
    let mut t = Under::new(2);
    // Nobody else may have the flow next.
    let _other = t.s.qp();
    let before = t.s.card.epoch_of(t.qp.flow());
    t.arrives(1..2, 0);
    t.arrives(0..1, 0);
    t.s.card.run_next_job();
    let late = t.frame(0, t.at(2), &t.writes(2..3));
    t.s.card.receive(&late);
    let now = t.s.now;
    t.s.engine.abort(now, t.conn, &mut t.s.card).unwrap();
    t.s.engine.destroy_qp(now, t.qp, &mut t.s.card).unwrap();
    let on_way: Vec<_> = t.s.card.reports.drain(..).collect();
    t.host();
    let qp = t.s.qp();
    assert_eq!(qp.flow(), t.qp.flow());
    t.s.events.clear();
    t.s.auto_ack = true;
    t.s.peer_port += 1;
    t.s.accepted_again(qp, RtrKinds::NONE, &AcceptParams::default());
    assert_ne!(t.s.card.epoch_of(qp.flow()), before);
    t.start = t.s.seq.wrapping_sub(t.writes(0..3).len() as u32);
    t.s.auto_ack = false;
    let (stats, placed) = (*t.s.engine.stats(), t.s.card.placed);
    let count = on_way.len() as u64;
    t.s.card.reports.extend(on_way);
    t.host();
    let new = t.s.engine.stats();
    assert_eq!(new.reports_stale, stats.reports_stale + count);
    assert_eq!(new.segments, stats.segments);
    assert_eq!(new.fpdus_card, stats.fpdus_card);
    assert_eq!(new.bytes_replayed, stats.bytes_replayed);
    t.has_no_slot();
    assert!(t.s.events.is_empty(), "{:?}", t.s.events);
    // It begins where it would have without them.
    t.arrives(3..4, 0);
    let all = t.s.card.placed + t.s.card.placed_by_hand;
    assert_eq!(all, placed + LENGTH as u64);
}

/// A replay is to be done yet when its connection ends, and the next one, which gets the flow, has asked already: nothing of it goes through the
/// job ring before it is accepted. What lies in the replay's slots is of the connection that is over, and is not placed for the next.
#[test]
fn a_flow_is_not_bound_anew_before_its_replays_are_done() {
    let mut t = Under::new(2);
    // Nobody else may have the flow next.
    let _other = t.s.qp();
    let first = (t.s.peer_port, t.s.seq, t.s.ack);
    t.s.auto_ack = true;
    t.s.peer_port += 1;
    t.s.open_again(Options {
        mss: Some(1460),
        sack_permitted: true,
        ..Default::default()
    });
    t.s.data(&Script::request(RtrKinds::SEND, b""));
    let Some(Event::ConnectRequest { conn: next, .. }) = t.s.events.pop() else {
        panic!("{:?}", t.s.events);
    };
    let second = (t.s.peer_port, t.s.seq, t.s.ack);
    t.s.auto_ack = false;

    (t.s.peer_port, t.s.seq, t.s.ack) = first;
    t.arrives(1..2, 0);
    t.arrives(0..1, 0);
    assert!(t.s.card.will_replay());
    let now = t.s.now;
    t.s.engine.abort(now, t.conn, &mut t.s.card).unwrap();
    t.host();
    // The card is slow: the flow is nobody's until it has done them.
    let config = QpConfig {
        pd: t.s.pd,
        send_depth: 4,
        recv_depth: 4,
        max_sge: 1,
        rung: None,
    };
    t.s.engine.destroy_qp(now, t.qp, &mut t.s.card).unwrap();
    let early = t.s.engine.create_qp(&config, &mut t.s.card);
    assert_eq!(early, Err(Error::NoFlows));
    while t.s.card.will_replay() {
        t.s.card.run_next_job();
    }
    let qp = t.s.engine.create_qp(&config, &mut t.s.card).unwrap();
    assert_eq!(qp.flow(), t.qp.flow());
    (t.s.peer_port, t.s.seq, t.s.ack) = second;
    let params = AcceptParams::default();
    t.s.engine
        .accept(now, next, qp, &params, &mut t.s.card)
        .unwrap();
    t.host();
    assert_eq!(t.s.card.placed, 0, "placed for another connection");
}
