//! RST and SYN where none should be: RFC 9293 §3.5.1 and §3.10.7, RFC 5961, RFC 1337. (The established
//! state is in `bad_input.rs`.)
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::{flag, Options};

fn mss() -> Options {
    Options {
        mss: Some(1460),
        ..Default::default()
    }
}

/// Control bits, sequence number, acknowledgment number.
type Answer = (u8, u32, u32);

/// What the engine has sent since the last call.
fn answers(s: &mut Script) -> Vec<Answer> {
    let sent = std::mem::take(&mut s.sent);
    sent.iter().map(|s| (s.flags, s.seq, s.ack)).collect()
}

#[test]
fn a_half_open_connection_of_the_peer_is_ended() {
    let mut s = Script::new(false);
    s.auto_ack = false;
    let (_, _, syn) = s.call(&ConnectParams::default());
    let iss = syn.seq;
    assert!(s.sent.is_empty(), "one SYN");
    // The peer has this connection from before a crash of ours: it says where it stands.
    s.ack = iss.wrapping_sub(70_000);
    let seq = s.seq;
    s.send(flag::ACK, seq, Options::default(), &[]);
    assert_eq!(answers(&mut s), [(flag::RST, s.ack, 0)]);
    assert!(s.events.is_empty(), "it is still connecting");
    // To a RST there is no answer.
    s.send(flag::ACK | flag::RST, seq, Options::default(), &[]);
    assert!(answers(&mut s).is_empty() && s.events.is_empty());
    // The next SYN finds nobody in its way.
    s.wait(2_000 * MS);
    let again = answers(&mut s);
    assert_eq!(again[0], (flag::SYN, iss, 0));
    s.ack = iss.wrapping_add(1);
    s.send(flag::SYN | flag::ACK, seq, mss(), &[]);
    assert!(s.sent.iter().any(|s| !s.payload.is_empty()), "MPA request");
}

#[test]
fn before_the_handshake_is_done_only_the_exact_reset_is_believed() {
    let mut s = Script::new(false);
    s.auto_ack = false;
    let syn_ack = s.open(mss());
    let (next, back) = (s.seq, syn_ack.seq.wrapping_add(1));
    s.sent.clear();
    let challenge = [(flag::ACK, back, next)];
    // Each of them: control bits, distance from the sequence number expected, the answer.
    let cases: [(&str, u8, u32, &[Answer]); 5] = [
        ("RST in the window", flag::RST, 100, &challenge),
        ("RST before the window", flag::RST, 0xffff_0000, &[]),
        ("RST beyond the window", flag::RST, 1 << 30, &[]),
        ("another SYN", flag::SYN, 100, &challenge),
        (
            "the SYN again",
            flag::SYN,
            u32::MAX,
            &[(flag::SYN | flag::ACK, syn_ack.seq, next)],
        ),
    ];
    for (name, flags, distance, expected) in cases {
        s.send(flags, next.wrapping_add(distance), mss(), &[]);
        assert_eq!(answers(&mut s), expected, "{name}");
    }
    s.ack = back.wrapping_add(7);
    s.send(flag::ACK, next, Options::default(), &[]);
    let refused = answers(&mut s);
    assert_eq!(
        (refused.len(), refused[0].0, refused[0].1),
        (1, flag::RST, s.ack)
    );
    s.send(flag::RST, next, Options::default(), &[]);
    assert!(answers(&mut s).is_empty());
    // It is gone: an acknowledgment meets nobody.
    s.ack = back;
    s.send(flag::ACK, next, Options::default(), &[]);
    assert_eq!(answers(&mut s), [(flag::RST, back, 0)]);
}

#[test]
fn nothing_ends_time_wait_early_but_a_new_connection() {
    let mut s = Script::new(false);
    let qp = s.qp();
    let conn = s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    // The initiator's first message makes it stand: a Write of nothing.
    let write = DdpHeader::tagged(true, 0x40, 1, 0);
    s.data(&message(&write, &[]));
    s.engine.disconnect(s.now, conn, &mut s.card).unwrap();
    s.work();
    let fin = s.seq;
    s.seq = fin.wrapping_add(1);
    s.send(flag::ACK | flag::FIN, fin, Options::default(), &[]);
    s.sent.clear();
    let next = s.seq;
    let back = s.ack;
    s.send(flag::RST, next, Options::default(), &[]);
    assert!(answers(&mut s).is_empty(), "RFC 1337");
    s.send(flag::SYN, fin.wrapping_sub(9), Options::default(), &[]);
    assert_eq!(answers(&mut s), [(flag::ACK, back, next)], "RFC 5961 §4.2");
    s.send(flag::ACK | flag::FIN, fin, Options::default(), &[]);
    assert_eq!(answers(&mut s), [(flag::ACK, back, next)], "the FIN again");
    s.auto_ack = false;
    s.send(flag::SYN, next.wrapping_add(1000), mss(), &[]);
    let answers = answers(&mut s);
    let [(flags, _, ack)] = answers[..] else {
        panic!("one answer, not {answers:?}");
    };
    assert_eq!(
        (flags, ack),
        (flag::SYN | flag::ACK, next.wrapping_add(1001))
    );
}
