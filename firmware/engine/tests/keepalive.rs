//! Keepalive (RFC 9293 §3.8.4): an idle peer is asked, one that does not answer is given up.
#![allow(missing_docs)]

mod bench;

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
