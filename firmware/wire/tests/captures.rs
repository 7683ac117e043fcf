//! Every MPA frame and FPDU of the captured sessions of Linux siw (`data/`): parsed, checked, and
//! written again octet for octet.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use weft_wire::ddp::{DdpHeader, Target, VERSION};
use weft_wire::ethernet::{ethertype, EthernetHeader};
use weft_wire::fpdu::{self, Markers};
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::mpa::{FrameKind, RtrKinds, StartupFrame};
use weft_wire::rdmap::{self, opcode, ReadRequest};
use weft_wire::tcp::{flag, FrameHeader, TcpSegment};

/// From and to: address and port.
type Direction = ([u8; 4], u16, [u8; 4], u16);

/// The frames of a classic pcap file of either byte order.
fn frames(name: &str) -> Vec<Vec<u8>> {
    let path = format!("{}/tests/data/{name}.pcap", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::read(path).unwrap();
    let little = matches!(
        file[..4],
        [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1]
    );
    let word = |at: usize| {
        let bytes: [u8; 4] = file[at..at + 4].try_into().unwrap();
        if little {
            u32::from_le_bytes(bytes) as usize
        } else {
            u32::from_be_bytes(bytes) as usize
        }
    };
    let mut frames = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let length = word(at + 8);
        assert_eq!(length, word(at + 12), "a frame is cut off");
        frames.push(file[at + 16..at + 16 + length].to_vec());
        at += 16 + length;
    }
    frames
}

/// The streams of the RDMA connections: those that begin with an MPA frame.
fn streams(name: &str) -> BTreeMap<Direction, Vec<u8>> {
    let mut starts = BTreeMap::new();
    let mut streams: BTreeMap<Direction, Vec<u8>> = BTreeMap::new();
    for frame in frames(name) {
        let (ethernet, packet) = EthernetHeader::parse(&frame).unwrap();
        if ethernet.ethertype != ethertype::IPV4 {
            continue;
        }
        let packet = Ipv4Packet::parse(packet).unwrap();
        if packet.protocol != protocol::TCP {
            continue;
        }
        let segment = TcpSegment::parse_unchecked(packet.payload).unwrap();
        let direction = (
            packet.source,
            segment.source_port,
            packet.destination,
            segment.destination_port,
        );
        if segment.flags & flag::SYN != 0 {
            starts.insert(direction, segment.seq.wrapping_add(1));
            streams.insert(direction, Vec::new());
            assert!(segment.options.mss.is_some());
        }
        // The answer to a SYN on a port without listener has no SYN itself.
        let Some(start) = starts.get(&direction) else {
            continue;
        };
        let at = segment.seq.wrapping_sub(*start) as usize;
        let stream = streams.get_mut(&direction).unwrap();
        let end = at.wrapping_add(segment.payload.len());
        if !segment.payload.is_empty() && end > stream.len() {
            assert!(at <= stream.len(), "a segment is missing in the capture");
            stream.truncate(at);
            stream.extend_from_slice(segment.payload);
        }
    }
    streams.retain(|_, stream| stream.starts_with(b"MPA ID Re"));
    streams
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    connections: usize,
    fpdus: usize,
    writes: usize,
    nonzero_pads: usize,
}

/// Parses everything; the start-up frames must be the same on all connections.
fn parse(name: &str, rtr: [Option<RtrKinds>; 2], crc: bool) -> Found {
    let mut found = Found::default();
    for (direction, stream) in streams(name) {
        let (frame, length) = StartupFrame::parse(&stream).unwrap();
        assert_eq!(frame.revision, 2);
        assert!(!frame.markers && !frame.reject && frame.private_data.len() < 256);
        assert_eq!(frame.crc, crc);
        let enhanced = frame.enhanced.unwrap();
        let expected = match frame.kind {
            FrameKind::Request => {
                found.connections += 1;
                rtr[0]
            }
            FrameKind::Reply => rtr[1],
            FrameKind::Rtr => panic!("siw has none"),
        };
        assert_eq!(enhanced.peer_to_peer, expected.is_some(), "{direction:?}");
        assert_eq!(enhanced.rtr, expected.unwrap_or_default(), "{direction:?}");
        let mut again = vec![0; length];
        assert_eq!(frame.write(&mut again), Some(length));
        assert_eq!(again, stream[..length]);

        let mut at = length;
        let mut ulpdu = vec![0; 65535];
        while at < stream.len() {
            let seq = at as u32;
            let unit = fpdu::decode(&stream[at..], seq, Markers::OFF, crc, &mut ulpdu).unwrap();
            let octets = &stream[at..at + unit.wire_length];
            let (header, payload) = DdpHeader::parse(&ulpdu[..unit.ulpdu_length]).unwrap();
            assert_eq!(header.version(), VERSION);
            assert_eq!(header.rdmap_control & rdmap::VERSION_MASK, rdmap::VERSION);
            let opcode = rdmap::opcode_of(header.rdmap_control);
            match header.target {
                Target::Tagged { .. } => assert!(rdmap::is_tagged_opcode(opcode)),
                Target::Untagged { qn, .. } => assert!(rdmap::is_queue_opcode(qn, opcode)),
            }
            if opcode == opcode::READ_REQUEST {
                let request = ReadRequest::parse(payload).unwrap();
                assert_eq!(request.to_bytes(), payload);
            }
            found.writes += usize::from(opcode == opcode::WRITE);
            found.nonzero_pads += usize::from(unit.nonzero_pad);
            if !unit.nonzero_pad {
                let head = &header.to_bytes()[..header.length()];
                let mut again = vec![0; octets.len()];
                let written = fpdu::encode(&[head, payload], seq, Markers::OFF, crc, &mut again);
                assert_eq!(written, Some(octets.len()));
                assert_eq!(again, octets);
            }
            found.fpdus += 1;
            at += unit.wire_length;
        }
    }
    found
}

#[test]
fn rping_stock() {
    let found = parse("rping-stock", [None, None], false);
    assert_eq!((found.connections, found.fpdus), (1, 35));
}

#[test]
fn rping_with_the_write_rtr() {
    let kinds = Some(RtrKinds::WRITE);
    let found = parse("rping-p2p-write", [kinds, kinds], false);
    assert_eq!((found.connections, found.fpdus), (1, 36));
}

#[test]
fn rping_with_the_read_rtr() {
    let kinds = Some(RtrKinds::READ);
    let found = parse("rping-p2p-read", [kinds, kinds], false);
    assert_eq!((found.connections, found.fpdus), (1, 37));
}

#[test]
fn rping_with_the_read_rtr_and_crc() {
    let kinds = Some(RtrKinds::READ);
    let found = parse("rping-p2p-read-crc", [kinds, kinds], true);
    assert_eq!((found.connections, found.fpdus), (1, 37));
}

#[test]
fn writes_of_64_kib() {
    let found = parse("write-64k", [None, None], false);
    assert_eq!((found.connections, found.writes), (2, 920));
    assert_eq!(found.nonzero_pads, 2);
}

#[test]
fn ucmatose_stuck() {
    let both = RtrKinds::WRITE.union(RtrKinds::READ);
    let found = parse(
        "ucmatose-p2p-stuck",
        [Some(both), Some(RtrKinds::WRITE)],
        false,
    );
    assert_eq!(found.connections, 4);
    assert_eq!(found.writes, 4, "the four RTRs");
}

/// Headers written again from what was parsed are the captured ones.
#[test]
fn tcp_headers_are_written_as_they_were() {
    let mut same = 0;
    for frame in frames("rping-p2p-read-crc") {
        let (ethernet, packet) = EthernetHeader::parse(&frame).unwrap();
        let Ok(ip) = Ipv4Packet::parse(packet) else {
            continue;
        };
        // A sender's own checksum may be left to its network card.
        let Ok(segment) = TcpSegment::parse(ip.source, ip.destination, ip.payload) else {
            continue;
        };
        let header = FrameHeader {
            source_mac: ethernet.source,
            destination_mac: ethernet.destination,
            source_ip: ip.source,
            destination_ip: ip.destination,
            identification: u16::from_be_bytes([packet[4], packet[5]]),
            tos: packet[1],
            source_port: segment.source_port,
            destination_port: segment.destination_port,
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            options: segment.options,
        };
        let mut again = vec![0; 2000];
        let length = header.write(segment.payload, &mut again).unwrap();
        again.truncate(length);
        // siw's host pads and orders the options of a SYN otherwise.
        if segment.flags & flag::SYN == 0 && segment.options.sack.as_slice().is_empty() {
            assert_eq!(again[14..], frame[14..14 + length - 14]);
            same += 1;
        } else {
            let (_, packet) = EthernetHeader::parse(&again).unwrap();
            let ip = Ipv4Packet::parse(packet).unwrap();
            let parsed = TcpSegment::parse(ip.source, ip.destination, ip.payload).unwrap();
            assert_eq!(parsed.options, segment.options);
        }
    }
    assert!(same > 20, "{same}");
}
