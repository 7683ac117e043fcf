//! The second try, with revision 1 (RFC 6581 §5), is the first one's connection: what the program has said of it holds.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, TcpSegment};

/// Type of service, MSS and where it goes, of each SYN of the first host.
fn syns(b: &Bench) -> Vec<(u8, Option<u16>, [u8; 6])> {
    let own = b.capture.iter().filter(|(_, host, _)| *host == 0);
    let syn = |frame: &Vec<u8>| {
        let (ethernet, packet) = EthernetHeader::parse(frame)?;
        let packet = Ipv4Packet::parse(packet).ok()?;
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).ok()?;
        let is_syn = segment.flags & flag::SYN != 0;
        is_syn.then_some((packet.tos, segment.options.mss, ethernet.destination))
    };
    own.filter_map(|(_, _, frame)| syn(frame)).collect()
}

#[test]
fn the_second_try_goes_the_same_way_at_the_same_service() {
    let mut b = Bench::new(12);
    let qp = b.hosts[0].qp();
    b.call(1, |e, _, _| e.listen(4791, 4)).unwrap();
    let mac = b.hosts[1].engine.config().mac;
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        fall_back: true,
        tos: 0xb8,
        route: Some(Route {
            next_hop: mac,
            mtu: 1000,
        }),
        ..Default::default()
    };
    b.call(0, |e, now, c| e.connect(now, qp, &params, c))
        .unwrap();
    let Event::ConnectRequest { conn, .. } = b.event_of(1, 10_000 * MS) else {
        panic!();
    };
    // It closes instead of replying.
    b.call(1, |e, now, c| e.abort(now, conn, c)).unwrap();
    let request = loop {
        match b.event_of(1, 10_000 * MS) {
            Event::ConnectRequest { revision, .. } => break revision,
            Event::ConnectError { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(request, 1);
    assert_eq!(syns(&b), [(0xb8, Some(960), mac); 2]);
}
