//! The host's own stack beside the engine: who gets which frame, and who answers.
#![allow(missing_docs)]

use crate::bench;

use bench::script::{Script, PEER_IP, PEER_MAC};
use weft_engine::*;
use weft_wire::arp::{Arp, Operation};
use weft_wire::checksum::Checksum;
use weft_wire::tcp::{flag, Options};

const OWN_IP: [u8; 4] = [10, 0, 0, 1];
const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// Gives the engine a frame without flow: is it for the host, and what was sent because of it?
fn frame(s: &mut Script, frame: &[u8]) -> (bool, Vec<Vec<u8>>) {
    let mut report = [0; 64];
    report[0] = 3;
    let for_host = s.engine.on_report(s.now, &report, Some(frame), &mut s.card);
    s.card.run_jobs();
    (for_host, std::mem::take(&mut s.card.out))
}

fn arp(operation: Operation) -> Vec<u8> {
    let arp = Arp {
        operation,
        sender_mac: PEER_MAC,
        sender_ip: PEER_IP,
        target_mac: OWN_MAC,
        target_ip: OWN_IP,
    };
    arp.frame().to_vec()
}

fn echo_request() -> Vec<u8> {
    ipv4(1, 0x4000, &[8, 0, 0xf7, 0xff, 0, 0, 0, 0])
}

/// A packet to the engine's address.
fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [&OWN_MAC[..], &PEER_MAC[..], &[8, 0]].concat();
    let mut header = vec![0x45, 0];
    header.extend((20 + payload.len() as u16).to_be_bytes());
    header.extend([0, 7]);
    header.extend(fragment.to_be_bytes());
    header.extend([64, protocol, 0, 0]);
    header.extend(PEER_IP);
    header.extend(OWN_IP);
    let checksum = Checksum::default().bytes(&header).finish();
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    frame.extend(header);
    frame.extend(payload);
    frame
}

fn segment(s: &Script, port: u16, flags: u8) -> Vec<u8> {
    let mut peer = Script::new(false);
    (peer.port, peer.peer_port) = (port, s.peer_port);
    peer.frame(flags, s.seq, Options::default(), &[])
}

#[test]
fn alone_the_engine_answers_everything_and_hands_nothing_up() {
    let mut s = Script::new(false);
    let unknown = segment(&s, 22, flag::SYN);
    for (name, bytes) in [
        ("ARP", arp(Operation::Request)),
        ("echo", echo_request()),
        ("SYN", unknown),
    ] {
        let (for_host, answers) = frame(&mut s, &bytes);
        assert!(!for_host, "{name}");
        assert_eq!(answers.len(), 1, "{name}");
    }
    assert!(!frame(&mut s, &ipv4(17, 0, &[0; 12])).0, "UDP");
    assert_eq!(s.engine.stats().frames_for_host, 0);
}

#[test]
fn beside_a_host_stack_it_answers_only_for_its_own_connections() {
    let mut s = Script::new(false);
    s.engine.set_host_stack(true);
    s.engine.listen(7000, 4).unwrap();
    let udp = ipv4(17, 0, &[0; 12]);
    let ipv6 = [&OWN_MAC[..], &PEER_MAC[..], &[0x86, 0xdd, 0x60, 0]].concat();
    let mut vlan = [&OWN_MAC[..], &PEER_MAC[..], &[0x81, 0, 0, 5]].concat();
    vlan.extend(&arp(Operation::Request)[12..]);
    let mut damaged = segment(&s, 7000, flag::SYN);
    damaged[33] ^= 1; // the header checksum is wrong now
    let cases = [
        ("ARP request", arp(Operation::Request)),
        ("ARP reply", arp(Operation::Reply)),
        ("echo", echo_request()),
        ("UDP", udp),
        ("IPv6", ipv6),
        ("VLAN", vlan),
        ("too short", vec![1, 2, 3]),
        ("damaged header", damaged),
        ("SYN to a port of the host", segment(&s, 22, flag::SYN)),
        (
            "ACK to the listener, of no connection",
            segment(&s, 7000, flag::ACK),
        ),
        (
            "RST to the listener, of no connection",
            segment(&s, 7000, flag::RST),
        ),
        ("later piece", ipv4(6, 0x0010, &[0x55; 16])),
    ];
    for (name, bytes) in &cases {
        let (for_host, answers) = frame(&mut s, bytes);
        assert!(for_host, "{name}");
        assert!(answers.is_empty(), "{name}: {answers:02x?}");
    }
    assert_eq!(s.engine.stats().frames_for_host, cases.len() as u64);

    // A SYN for the listener, the connection that follows, and pieces of its segments.
    let syn = segment(&s, 7000, flag::SYN);
    let (for_host, answers) = frame(&mut s, &syn);
    assert!(!for_host, "SYN to the listener");
    assert_eq!(answers.len(), 1, "SYN-ACK");
    assert_eq!(answers[0][47], flag::SYN | flag::ACK);
    let mut damaged = segment(&s, 7000, flag::ACK);
    damaged[34 + 19] ^= 1; // the TCP checksum is wrong now
    let first_piece = ipv4(6, 0x2000, &damaged[34..54]);
    for (name, bytes) in [
        ("damaged segment", damaged),
        ("first piece", first_piece),
        ("ACK", segment(&s, 7000, flag::ACK)),
    ] {
        assert!(!frame(&mut s, &bytes).0, "{name} of a connection");
    }

    // The host's stack goes: the engine is alone again.
    s.engine.set_host_stack(false);
    let (for_host, answers) = frame(&mut s, &echo_request());
    assert_eq!((for_host, answers.len()), (false, 1));
}

#[test]
fn it_learns_from_replies_that_the_host_sees_too() {
    let mut s = Script::new(false);
    s.engine.set_host_stack(true);
    let qp = s.qp();
    let remote = Endpoint {
        ip: PEER_IP,
        port: 7001,
    };
    let params = ConnectParams {
        remote,
        ..Default::default()
    };
    s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
    s.card.run_jobs();
    let question = std::mem::take(&mut s.card.out);
    assert_eq!(question[0][12..14], [8, 6], "it asks by ARP itself");
    let (for_host, answers) = frame(&mut s, &arp(Operation::Reply));
    assert!(for_host);
    assert_eq!(answers[0][47], flag::SYN, "and goes on with the answer");
    assert_eq!(answers[0][..6], PEER_MAC);
}
