//! Streams that somebody has connected and that their user has not taken yet: what comes meanwhile is theirs.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::tcp::{flag, Options};

const RING: u32 = 4096;

fn listening(bytes_first: &[u8], cookies: bool) -> (Script, ConnId, QpId, Sge) {
    let mut s = Script::with(false, &|c| c.syn_cache = if cookies { 0 } else { 16 });
    let pd = s.pd;
    let stag = s
        .engine
        .register(
            pd,
            0x1000,
            card::MEMORY,
            RING.into(),
            Access::NONE,
            &mut s.card,
        )
        .unwrap();
    let qp = s.qp();
    s.engine.listen_stream(s.port, 4).unwrap();
    let options = Options {
        mss: Some(1460),
        sack_permitted: true,
        ..Default::default()
    };
    s.open_again(options);
    for piece in bytes_first.chunks(100) {
        s.data(piece);
    }
    let [Event::StreamRequest { conn, .. }] = s.events[..] else {
        panic!("{:?}", s.events);
    };
    s.events.clear();
    (s, conn, qp, sge(stag, 0, RING))
}

/// A client that speaks first, before the server's program has taken the stream.
#[test]
fn what_comes_before_the_stream_is_taken_is_kept_and_acknowledged() {
    for cookies in [false, true] {
        let said: Vec<u8> = (0..500u32).map(|i| (i * 3) as u8).collect();
        let (mut s, conn, qp, ring) = listening(&said, cookies);
        s.wait(50 * MS);
        assert_eq!(s.sent.last().unwrap().ack, s.seq, "cookies: {cookies}");
        s.engine
            .accept_stream(s.now, conn, qp, &ring, &mut s.card)
            .unwrap();
        s.wait(MS);
        let more = [9; 50];
        s.data(&more);
        let mut got = vec![0; 600];
        let read = s
            .engine
            .read_stream(s.now, conn, &mut got, &mut s.card)
            .unwrap();
        assert_eq!(got[..read], [&said[..], &more].concat()[..]);
        s.wait(MS);
        assert_eq!(s.sent.last().unwrap().ack, s.seq);
    }
}

/// The same of its FIN: the program hears of the stream and of its end.
#[test]
fn a_client_that_has_closed_before_the_stream_is_taken() {
    let (mut s, conn, qp, ring) = listening(b"hello", false);
    s.send(flag::FIN | flag::ACK, s.seq, Options::default(), &[]);
    s.seq = s.seq.wrapping_add(1);
    s.wait(50 * MS);
    assert_eq!(s.sent.last().unwrap().ack, s.seq);
    s.engine
        .accept_stream(s.now, conn, qp, &ring, &mut s.card)
        .unwrap();
    s.wait(MS);
    let state = s.engine.stream_state(conn).unwrap();
    assert_eq!((state.readable, state.at_end), (5, true));
}

/// What the card had handed up before it knew the flow, and the engine sees after: it costs nobody a retransmission.
#[test]
fn what_was_on_its_way_up_when_the_stream_was_taken_is_kept() {
    let (mut s, conn, qp, ring) = listening(b"", false);
    for piece in [&b"first "[..], b"second"] {
        let frame = s.frame(flag::ACK, s.seq, Options::default(), piece);
        s.seq = s.seq.wrapping_add(piece.len() as u32);
        s.card.receive(&frame);
    }
    s.engine
        .accept_stream(s.now, conn, qp, &ring, &mut s.card)
        .unwrap();
    s.data(b", third");
    s.wait(MS);
    let mut got = vec![0; 100];
    let read = s
        .engine
        .read_stream(s.now, conn, &mut got, &mut s.card)
        .unwrap();
    assert_eq!(&got[..read], b"first second, third");
    assert_eq!(s.sent.last().unwrap().ack, s.seq);
    assert_eq!(s.engine.stats().frames_of_bound, 0);
}

/// A stream that TCP is through with stays its user's until everything is read: a SYN that the card handed up without a flow takes no place.
#[test]
fn a_syn_takes_no_stream_that_is_not_read_yet() {
    let (mut s, conn, qp, ring) = listening(b"", false);
    s.engine
        .accept_stream(s.now, conn, qp, &ring, &mut s.card)
        .unwrap();
    s.engine.disconnect(s.now, conn, &mut s.card).unwrap();
    s.wait(MS);
    let last = s.seq;
    s.send(
        flag::FIN | flag::ACK,
        last,
        Options::default(),
        b"last words",
    );
    s.seq = last.wrapping_add(11);
    s.wait(MS);
    assert_eq!(s.sent.last().unwrap().ack, s.seq, "TIME_WAIT");
    // As of a card that does not know the flow.
    let mut other = card::Card::new([2, 0, 0, 0, 0, 1], 4, 16);
    let syn = s.frame(
        flag::SYN,
        s.seq.wrapping_add(100_000),
        Options::default(),
        &[],
    );
    other.receive(&syn);
    let (report, raw) = other.take_report().unwrap();
    s.engine
        .on_report(s.now, &report, raw.as_deref(), &mut s.card);
    s.work();
    let mut got = [0; 20];
    let read = s.engine.read_stream(s.now, conn, &mut got, &mut s.card);
    assert_eq!((read, &got[..10]), (Ok(10), &b"last words"[..]));
    s.work();
    let over = &s.events[..];
    assert!(matches!(over, [.., Event::StreamClosed { conn: c, .. }] if *c == conn));
}
