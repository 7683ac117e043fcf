//! Rare paths of TCP (RFC 9293): both sides open at once, SYNs from nobody, a peer that moves, closing without end.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};
use weft_wire::tcp::{flag, Options};

const SECOND: u64 = 1_000 * MS;

fn mss() -> Options {
    Options {
        mss: Some(1460),
        ..Default::default()
    }
}

/// RFC 9293 §3.5, figure 8.
#[test]
fn both_sides_open_at_once() {
    let mut s = Script::new(false);
    s.auto_ack = false;
    let (_, _, syn) = s.call(&ConnectParams::default());
    let iss = syn.seq;
    let seq = s.seq;
    s.send(flag::SYN, seq, mss(), &[]);
    let answer = s.sent.pop().unwrap();
    assert_eq!((answer.flags, answer.seq), (flag::SYN | flag::ACK, iss));
    assert_eq!(answer.ack, seq.wrapping_add(1));
    s.ack = iss.wrapping_add(1);
    s.send(flag::SYN | flag::ACK, seq, mss(), &[]);
    let request = s.sent.iter().find(|s| !s.payload.is_empty()).unwrap();
    assert!(request.payload.starts_with(b"MPA ID Req Frame"));
}

/// RFC 9293 §3.9.2.3 (MUST-57, MUST-63): not even an RST.
#[test]
fn nothing_is_heard_of_groups() {
    let mut s = Script::new(false);
    s.engine.listen(s.port, 4).unwrap();
    let own = [10, 0, 0, 1];
    for ip in [
        [224, 0, 0, 1],
        [255; 4],
        [10, 0, 0, 255],
        own,
        [0; 4],
        [127, 0, 0, 1],
    ] {
        s.peer_ip = ip;
        for flags in [flag::SYN, flag::ACK] {
            s.send(flags, 1, mss(), &[]);
        }
    }
    s.peer_ip = PEER_IP;
    let mut frame = s.frame(flag::SYN, 1, mss(), &[]);
    frame[..6].copy_from_slice(&[0xff; 6]);
    s.card.receive(&frame);
    s.work();
    assert!(s.sent.is_empty());
    assert_eq!(s.engine.stats().frames_from_nobody, 13);
}

#[test]
fn a_peer_with_a_new_station_address_is_followed() {
    let mut s = Script::new(false);
    let qp = s.qp();
    s.hello(PEER_MAC);
    s.accepted(qp, RtrKinds::WRITE, &AcceptParams::default());
    let moved = [2, 0, 0, 0, 0, 0x77];
    s.hello(moved);
    let frame = s.frame(flag::RST, s.seq.wrapping_add(5), Options::default(), &[]);
    s.card.receive(&frame);
    while let Some((report, raw)) = s.card.take_report() {
        s.engine
            .on_report(s.now, &report, raw.as_deref(), &mut s.card);
    }
    s.card.run_jobs();
    assert_eq!(s.card.out.last().unwrap()[..6], moved);
}

#[test]
fn a_first_message_that_never_comes_is_not_waited_for_for_ever() {
    let mut s = Script::new(false);
    let qp = s.qp();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    s.wait(299_000 * MS);
    assert!(s.events.is_empty());
    s.wait(2_000 * MS);
    let [Event::ConnectError { reason, .. }] = s.events[..] else {
        panic!("{:?}", s.events);
    };
    assert_eq!(reason, ConnectFailure::NoRtr);
}

/// A peer that does not do its part of the close: in none of TCP's states is it waited for longer than `close_timeout`.
/// FIN-WAIT-1: our FIN is never acknowledged. FIN-WAIT-2: it never closes. CLOSING: its FIN came, and did not acknowledge
/// ours. LAST-ACK: it closed first, and is gone.
#[test]
fn no_state_of_the_close_lasts_for_ever() {
    for state in ["FIN-WAIT-1", "FIN-WAIT-2", "CLOSING", "LAST-ACK"] {
        let mut s = Script::with(false, &|config| config.max_connections = Some(1));
        let limit = s.engine.config().close_timeout;
        let qp = s.qp();
        let conn = s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
        let write = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
        s.data(&message(&write, &[]));
        assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
        s.wait(MS);
        s.sent.clear();
        let fin = |s: &mut Script| {
            let seq = s.seq;
            s.seq = seq.wrapping_add(1);
            s.send(flag::FIN | flag::ACK, seq, Options::default(), &[]);
        };
        s.auto_ack = false;
        if state == "LAST-ACK" {
            fin(&mut s);
        } else {
            s.engine.disconnect(s.now, conn, &mut s.card).unwrap();
            s.work();
        }
        assert!(s.sent.iter().any(|s| s.flags & flag::FIN != 0), "{state}");
        match state {
            "FIN-WAIT-2" => {
                s.ack = s.ack.wrapping_add(1);
                s.acknowledge();
            }
            "CLOSING" => fin(&mut s),
            _ => {}
        }
        // It is alive: it answers each FIN that comes again, and acknowledges nothing.
        let end = s.now + limit - SECOND;
        while s.now < end {
            s.wait(SECOND);
            if !std::mem::take(&mut s.sent).is_empty() {
                s.acknowledge();
            }
        }
        let resets = |s: &Script| s.sent.iter().filter(|s| s.flags & flag::RST != 0).count();
        assert_eq!(resets(&s), 0, "{state}");
        s.wait(2 * SECOND);
        assert_eq!(resets(&s), 1, "{state}");
        assert_eq!(s.events.len(), 1, "{state}: {:?}", s.events);
        assert!(matches!(s.events[0], Event::Disconnected { .. }));
        assert_eq!(s.engine.next_deadline(), None, "{state}");
        // Its place is free.
        s.events.clear();
        s.engine.destroy_qp(s.now, qp, &mut s.card).unwrap();
        let qp = s.qp();
        s.auto_ack = true;
        s.peer_port += 1;
        s.accepted_again(qp, RtrKinds::NONE, &AcceptParams::default());
    }
}
