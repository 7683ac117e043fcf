//! Keepalive (RFC 9293 §3.8.4): an idle peer is asked, one that does not answer is given up.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

const SECOND: u64 = 1_000 * MS;
const IDLE: u64 = 7200 * SECOND;

fn standing() -> Bench {
    let mut b = Bench::with(1, &|c| c.keepalive = Some(IDLE));
    b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.run(SECOND);
    b.capture.clear();
    b
}

#[test]
fn an_idle_peer_that_answers_stays() {
    let mut b = standing();
    b.run(IDLE - 2 * SECOND);
    assert!(b.capture.is_empty(), "too early");
    b.run(10 * IDLE);
    // One question in two hours, whoever asks first, and its answer.
    let questions = b.capture.len() / 2;
    assert!((9..=11).contains(&questions), "{questions}");
    assert!(b.hosts.iter().all(|h| h.events.is_empty()));
}

#[test]
fn a_peer_that_vanished_is_given_up() {
    let mut b = standing();
    b.tamper = Some(Box::new(|_, _| false));
    let start = b.now;
    for n in 0..2 {
        match b.event_of(n, IDLE + 11 * 60 * SECOND) {
            Event::Disconnected { reason, .. } => assert_eq!(reason, DisconnectReason::TimedOut),
            other => panic!("{other:?}"),
        }
    }
    // Eight questions, 75 s apart.
    let took = b.now - start;
    assert!(took >= IDLE - SECOND + 8 * 75 * SECOND, "{took}");
}

/// MUST-26: not while something is in flight that calls for an answer itself. A peer that says nothing is given up
/// by the retransmission timer then, and one that answers has its two hours again.
#[test]
fn nobody_is_asked_while_data_is_under_way() {
    use bench::script::*;
    use weft_wire::ddp::DdpHeader;
    use weft_wire::tcp::flag;

    let interval = SECOND / 10;
    let mut s = Script::with(false, &|c| c.keepalive = Some(interval));
    let qp = s.qp();
    let access = Access::LOCAL_WRITE;
    let stag = s
        .engine
        .register(s.pd, 0x1000, card::MEMORY, 1000, access, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    s.auto_ack = false;
    s.wait(interval / 2);
    let post = |s: &mut Script, id| {
        let sges = [sge(stag, 0, 500)];
        let wr = write(id, 0x100, 0, &sges);
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
    };
    post(&mut s, 1);
    s.work();
    s.sent.clear();
    // 0.2, 0.4 and so on; the interval passes many times.
    s.wait(10 * SECOND);
    assert!(s.sent.len() >= 4);
    assert!(s.sent.iter().all(|s| !s.payload.is_empty()), "a question");
    assert!(s.events.is_empty());
    // All is acknowledged: an interval later it is asked.
    let last = s.sent.last().unwrap();
    s.ack = last.seq.wrapping_add(last.payload.len() as u32);
    s.sent.clear();
    s.acknowledge();
    s.wait(interval - MS);
    assert_eq!(s.completions.len(), 1);
    assert!(s.sent.is_empty(), "too early");
    s.wait(2 * MS);
    assert_eq!(s.sent.len(), 1);
    assert_eq!(s.sent[0].seq, s.ack.wrapping_sub(1));
    // Its answer, then silence under data: twelve retransmissions and not eight questions end it.
    s.sent.clear();
    s.acknowledge();
    let before = s.engine.stats().tail_probes;
    post(&mut s, 2);
    s.wait(3600 * SECOND);
    let [Event::Disconnected { reason, .. }] = s.events[..] else {
        panic!("{:?}", s.events);
    };
    assert_eq!(reason, DisconnectReason::TimedOut);
    let (end, data) = s.sent.split_last().unwrap();
    assert!(end.flags & flag::RST != 0);
    let probes = s.engine.stats().tail_probes - before;
    assert_eq!(data.len() as u64, 13 + probes);
    assert!(probes < 10, "{probes}");
    assert!(data.iter().all(|s| !s.payload.is_empty()), "a question");
}
