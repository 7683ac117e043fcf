//! Connections whose way somebody has found before: nobody is asked for it, unless it leads nowhere.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ethernet::{ethertype, EthernetHeader};
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, TcpSegment};

/// Where the peer was before it moved.
const OLD_MAC: [u8; 6] = [2, 0, 0, 0, 0, 8];

/// What the engine sends: ARP, or the MSS of a SYN; and to whom.
#[derive(Debug, PartialEq, Eq)]
enum Frame {
    Arp,
    Syn([u8; 6], Option<u16>),
}

/// All frames that wait to be seen. Nobody answers them.
fn frames(s: &mut Script) -> Vec<Frame> {
    s.card.run_jobs();
    let out = std::mem::take(&mut s.card.out);
    let seen = |frame: &Vec<u8>| {
        let (ethernet, packet) = EthernetHeader::parse(frame).unwrap();
        if ethernet.ethertype == ethertype::ARP {
            return Frame::Arp;
        }
        let packet = Ipv4Packet::parse(packet).unwrap();
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).unwrap();
        assert_eq!(segment.flags & flag::SYN, flag::SYN);
        Frame::Syn(ethernet.destination, segment.options.mss)
    };
    out.iter().map(seen).collect()
}

fn connect(s: &mut Script, next_hop: [u8; 6], mtu: u16) -> Result<(QpId, ConnId), Error> {
    let qp = s.qp();
    let remote = Endpoint {
        ip: PEER_IP,
        port: 5000,
    };
    let params = ConnectParams {
        remote,
        route: Some(Route { next_hop, mtu }),
        ..Default::default()
    };
    let conn = s.engine.connect(s.now, qp, &params, &mut s.card)?;
    Ok((qp, conn))
}

/// Lets timers run until `at`; frames stay where they are.
fn until(s: &mut Script, at: u64) {
    while let Some(due) = s.engine.next_deadline().filter(|due| *due <= at) {
        s.now = s.now.max(due);
        s.engine.on_timer(s.now, &mut s.card);
    }
    s.now = at;
}

#[test]
fn the_first_frame_is_the_syn() {
    let mut s = Script::new(false);
    connect(&mut s, PEER_MAC, 1000).unwrap();
    assert_eq!(frames(&mut s), [Frame::Syn(PEER_MAC, Some(960))]);
    // What passes on the way, and no more than this side has.
    connect(&mut s, PEER_MAC, 9000).unwrap();
    assert_eq!(frames(&mut s), [Frame::Syn(PEER_MAC, Some(1460))]);
}

#[test]
fn a_way_to_nobody_in_particular_is_refused() {
    let mut s = Script::new(false);
    for mac in [[0; 6], [255; 6], [1, 0, 0x5e, 0, 0, 1]] {
        let refused = connect(&mut s, mac, 1500).unwrap_err();
        assert_eq!(refused, Error::InvalidAddress, "{mac:?}");
    }
    assert_eq!(frames(&mut s), []);
}

/// The first SYN goes where nobody is; then the neighbour is asked for, and the SYN goes to who answers, at once.
#[test]
fn a_way_out_of_date_is_asked_for_anew() {
    let mut s = Script::new(false);
    let (qp, _) = connect(&mut s, OLD_MAC, 1500).unwrap();
    let old = || Frame::Syn(OLD_MAC, Some(1460));
    assert_eq!(frames(&mut s), [old()]);
    until(&mut s, 900 * MS);
    assert_eq!(frames(&mut s), [], "the SYN has its time");
    until(&mut s, 1500 * MS);
    assert_eq!(frames(&mut s), [Frame::Arp, old()]);
    s.auto_ack = false;
    s.hello(PEER_MAC);
    let syn = s.sent.pop().expect("a SYN");
    assert_eq!(syn.flags, flag::SYN);
    assert!(s.sent.is_empty());
    let info = s.engine.conn_info(qp).unwrap();
    assert_eq!(info.map(|info| info.next_hop), Some(PEER_MAC));
}

/// Somebody has said meanwhile where the peer is: no question is needed.
#[test]
fn what_is_known_by_then_is_used() {
    let mut s = Script::new(false);
    s.hello(PEER_MAC);
    connect(&mut s, OLD_MAC, 1500).unwrap();
    assert_eq!(frames(&mut s), [Frame::Syn(OLD_MAC, Some(1460))]);
    until(&mut s, 1500 * MS);
    assert_eq!(frames(&mut s), [Frame::Syn(PEER_MAC, Some(1460))]);
}

/// Nobody is there at all: it ends as it does without a route.
#[test]
fn a_way_to_nobody_ends() {
    let mut s = Script::new(false);
    let (_, conn) = connect(&mut s, OLD_MAC, 1500).unwrap();
    s.auto_ack = false;
    s.wait(600_000 * MS);
    let reason = ConnectFailure::Unreachable;
    assert_eq!(s.events, [Event::ConnectError { conn, reason }]);
}

#[test]
fn a_station_is_resolved() {
    let mut s = Script::new(false);
    let resolve = |s: &mut Script, ip| s.engine.resolve(s.now, ip, &mut s.card);
    for nobody in [
        [0; 4],
        [10, 0, 0, 1],
        [10, 0, 0, 255],
        [224, 0, 0, 1],
        [8, 8, 8, 8],
    ] {
        let refused = resolve(&mut s, nobody).unwrap_err();
        assert_eq!(refused, Error::InvalidAddress, "{nobody:?}");
    }
    assert_eq!(resolve(&mut s, PEER_IP), Ok(None));
    assert_eq!(resolve(&mut s, PEER_IP), Ok(None));
    assert_eq!(frames(&mut s), [Frame::Arp], "asked once");
    s.now += 1100 * MS;
    assert_eq!(resolve(&mut s, PEER_IP), Ok(None));
    assert_eq!(frames(&mut s), [Frame::Arp], "and once a second");
    s.hello(PEER_MAC);
    assert_eq!(resolve(&mut s, PEER_IP), Ok(Some(PEER_MAC)));
    assert_eq!(s.engine.stats().frames_sent, 3, "two questions, one answer");
}

/// Neither to all of a network, nor to a group, nor to what is nobody's on a wire: the callers of the calls that connect hear of it at once.
#[test]
fn addresses_that_no_peer_has_are_refused() {
    let mut s = Script::new(false);
    let qp = s.qp();
    for ip in [
        [10, 0, 0, 255],
        [255, 255, 255, 255],
        [224, 0, 0, 1],
        [127, 0, 0, 1],
        [0, 0, 0, 0],
        [10, 0, 0, 1],
    ] {
        let remote = Endpoint { ip, port: 5000 };
        let params = ConnectParams {
            remote,
            ..Default::default()
        };
        let refused = s.engine.connect(s.now, qp, &params, &mut s.card);
        assert_eq!(refused, Err(Error::InvalidAddress), "{ip:?}");
    }
    assert_eq!(frames(&mut s), []);
}
