//! No segment is larger than what the peer's MSS allows (RFC 9293 §3.7.1, MUST-15, MUST-16): not the start-up frame, and
//! no FPDU. What leaves no room for an FPDU of 128 octets is refused (RFC 5044 §4.5).
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::mpa::StartupFrame;
use weft_wire::tcp::{flag, Options};

const SECOND: u64 = 1_000 * MS;

fn options(mss: Option<u16>) -> Options {
    Options {
        mss,
        window_scale: Some(0),
        sack_permitted: true,
        ..Default::default()
    }
}

/// The octets of the stream from `start` on, each as it was sent last, as far as there is no gap; and the longest segment.
fn stream(sent: &[Sent], start: u32) -> (Vec<u8>, usize) {
    let mut octets = Vec::new();
    let mut longest = 0;
    for segment in sent {
        longest = longest.max(segment.payload.len());
        let at = segment.seq.wrapping_sub(start) as usize;
        if at <= octets.len() {
            octets.truncate(at);
            octets.extend_from_slice(&segment.payload);
        }
    }
    (octets, longest)
}

/// The same MSS for a few ways of saying it: the option, whether there are timestamps, and the most of data.
fn cases() -> Vec<(Option<u16>, bool, usize)> {
    vec![
        (Some(140), false, 140),
        (Some(152), true, 140),
        (Some(200), false, 200),
        (Some(536), true, 524),
        (None, false, 536),
        (None, true, 524),
        (Some(0), false, 536),
        (Some(1460), true, 1448),
        (Some(9000), false, 1460),
    ]
}

#[test]
fn the_reply_and_what_follows_are_cut() {
    let private_data: Vec<u8> = (0..500).map(|n| n as u8).collect();
    for (mss, timestamps, most) in cases() {
        for markers in [false, true] {
            let note = format!("MSS {mss:?}, timestamps {timestamps}, markers {markers}");
            let mut s = Script::with(false, &|c| c.timestamps = timestamps);
            s.ts_val = timestamps.then_some(7);
            let qp = s.qp();
            s.open(options(mss));
            let mut request = Script::request(RtrKinds::NONE, b"");
            request[16] |= if markers { 0x80 } else { 0 };
            s.data(&request);
            let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
                panic!("{note}: {:?}", s.events);
            };
            s.sent.clear();
            let start = s.ack;
            let accept = AcceptParams {
                private_data: &private_data,
                ..Default::default()
            };
            s.engine
                .accept(s.now, conn, qp, &accept, &mut s.card)
                .unwrap();
            s.wait(MS);
            let (reply, longest) = stream(&s.sent, start);
            assert!(longest <= most, "{note}: {longest}");
            let (frame, length) = StartupFrame::parse(&reply).unwrap();
            assert_eq!(
                (frame.private_data, length),
                (&private_data[..], reply.len())
            );
            // FPDUs, with markers and without.
            s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
            let access = Access::LOCAL_WRITE;
            let pd = s.pd;
            let stag = s
                .engine
                .register(pd, 0x1000, card::MEMORY, 9000, access, &mut s.card)
                .unwrap();
            s.sent.clear();
            let sges = [sge(stag, 0, 9000)];
            for wr in [send(1, &sges), write(2, 0x100, 0, &sges)] {
                s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
            }
            s.wait(SECOND);
            assert_eq!(s.completions.len(), 2, "{note}");
            let longest = s.sent.iter().map(|s| s.payload.len()).max().unwrap();
            assert!(longest <= most && longest + 12 > most, "{note}: {longest}");
        }
    }
}

/// Each piece is lost once; the peer's window is small for a while.
#[test]
fn the_reply_comes_in_pieces_that_are_lost() {
    let private_data: Vec<u8> = (0..500).map(|n| n as u8).collect();
    let mut s = Script::new(false);
    let qp = s.qp();
    // Its acknowledgments tell of a loss by their number alone.
    s.open(Options {
        sack_permitted: false,
        ..options(Some(140))
    });
    s.data(&Script::request(RtrKinds::NONE, b""));
    let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
        panic!("{:?}", s.events);
    };
    s.sent.clear();
    s.auto_ack = false;
    s.window = 100;
    s.acknowledge();
    let start = s.ack;
    let accept = AcceptParams {
        private_data: &private_data,
        ..Default::default()
    };
    s.engine
        .accept(s.now, conn, qp, &accept, &mut s.card)
        .unwrap();
    s.work();
    // Not even a segment fits: it is probed, and then goes in smaller ones.
    assert!(s.sent.is_empty());
    s.wait(9 * SECOND / 10);
    assert!(s.sent.iter().any(|s| s.payload.is_empty()), "no probe");
    let mut reply = Vec::new();
    let mut lost = std::collections::HashSet::new();
    let mut all = Vec::new();
    for round in 0..100 {
        for segment in std::mem::take(&mut s.sent) {
            let at = segment.seq.wrapping_sub(start) as usize;
            if segment.payload.is_empty() || lost.insert(at) || at > reply.len() {
                continue;
            }
            assert!(segment.payload.len() <= 140);
            reply.truncate(at);
            reply.extend_from_slice(&segment.payload);
            all.push(segment.payload.len());
        }
        s.ack = start.wrapping_add(reply.len() as u32);
        s.window = if round < 10 { 100 } else { 60000 };
        s.acknowledge();
        s.wait(SECOND / 20);
    }
    let (frame, length) = StartupFrame::parse(&reply).unwrap();
    assert_eq!(
        (frame.private_data, length),
        (&private_data[..], reply.len())
    );
    assert!(all.contains(&100) && all.contains(&140), "{all:?}");
    s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
    assert!(matches!(s.events[..], [Event::Established { .. }]));
}

fn connecting(s: &mut Script, private_data: &[u8], mss: Option<u16>) -> ConnId {
    let params = ConnectParams {
        private_data,
        ..Default::default()
    };
    let (_, conn, _) = s.call(&params);
    let seq = s.seq;
    s.seq = seq.wrapping_add(1);
    s.send(flag::SYN | flag::ACK, seq, options(mss), &[]);
    conn
}

#[test]
fn the_request_is_cut() {
    let private_data = [0x5a; 500];
    for (mss, timestamps, most) in cases() {
        let mut s = Script::with(false, &|c| c.timestamps = timestamps);
        s.ts_val = timestamps.then_some(7);
        connecting(&mut s, &private_data, mss);
        let start = s.sent.iter().find(|s| !s.payload.is_empty()).unwrap().seq;
        s.wait(MS);
        let (request, longest) = stream(&s.sent, start);
        assert!(longest <= most, "{mss:?}: {longest}");
        let (frame, length) = StartupFrame::parse(&request).unwrap();
        assert_eq!(
            (frame.private_data, length),
            (&private_data[..], request.len())
        );
    }
}

#[test]
fn a_segment_without_room_for_an_fpdu_is_refused() {
    for (mss, timestamps) in [(1u16, false), (139, false), (151, true)] {
        // Who asks gets an RST, also where a cookie would be sent.
        for syn_cache in [0, 256] {
            let mut s = Script::with(false, &|c| {
                (c.timestamps, c.syn_cache) = (timestamps, syn_cache);
            });
            s.ts_val = timestamps.then_some(7);
            s.engine.listen(s.port, 4).unwrap();
            let seq = s.seq;
            s.send(flag::SYN, seq, options(Some(mss)), &[]);
            let [answer] = &s.sent[..] else {
                panic!("{:?}", s.sent);
            };
            assert_eq!(answer.flags, flag::RST | flag::ACK);
            assert_eq!(answer.ack, seq.wrapping_add(1));
            assert_eq!(s.engine.stats().segments_too_small, 1);
        }
        // Who answers gets one, too, and the application hears of it.
        let mut s = Script::with(false, &|c| c.timestamps = timestamps);
        s.ts_val = timestamps.then_some(7);
        let conn = connecting(&mut s, b"", Some(mss));
        let [answer] = &s.sent[..] else {
            panic!("{:?}", s.sent);
        };
        assert!(answer.flags & flag::RST != 0);
        assert_eq!(answer.seq, s.ack);
        let reason = ConnectFailure::SegmentTooSmall;
        assert_eq!(s.events, [Event::ConnectError { conn, reason }]);
        assert_eq!(s.engine.stats().segments_too_small, 1);
    }
}

/// A cookie remembers no more than the peer takes.
#[test]
fn a_cookie_does_not_forget_a_small_segment() {
    let mut s = Script::with(false, &|c| c.syn_cache = 0);
    let qp = s.qp();
    s.open(options(Some(150)));
    assert_eq!(s.engine.stats().syn_cookies_sent, 1);
    s.data(&Script::request(RtrKinds::NONE, b""));
    let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
        panic!("{:?}", s.events);
    };
    s.sent.clear();
    let accept = AcceptParams {
        private_data: &[1; 400],
        ..Default::default()
    };
    s.engine
        .accept(s.now, conn, qp, &accept, &mut s.card)
        .unwrap();
    s.wait(MS);
    let longest = s.sent.iter().map(|s| s.payload.len()).max().unwrap();
    assert!((130..=150).contains(&longest), "{longest}");
}
