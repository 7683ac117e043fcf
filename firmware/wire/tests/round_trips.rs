//! Codecs: what is written is read, and no octets make a parser fail but by saying so.
#![allow(missing_docs)]

use proptest::prelude::*;
use weft_wire::arp::Arp;
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::mpa::{Enhanced, Extensions, FrameKind, RtrKinds, StartupFrame};
use weft_wire::rdmap::ReadRequest;
use weft_wire::tcp::{FrameHeader, Options, SackBlocks, TcpSegment};
use weft_wire::terminate::{Terminate, TerminateCode};

fn rtr() -> impl Strategy<Value = RtrKinds> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(a, b, c)| {
        [
            (a, RtrKinds::SEND),
            (b, RtrKinds::WRITE),
            (c, RtrKinds::READ),
        ]
        .into_iter()
        .filter(|kind| kind.0)
        .fold(RtrKinds::NONE, |set, kind| set.union(kind.1))
    })
}

fn extensions() -> impl Strategy<Value = Extensions> {
    (any::<bool>(), any::<bool>()).prop_map(|(xrc, aligned)| {
        [(xrc, Extensions::XRC), (aligned, Extensions::ALIGNED)]
            .into_iter()
            .filter(|extension| extension.0)
            .fold(Extensions::NONE, |set, extension| set.union(extension.1))
    })
}

/// What nobody knows yet is dropped, and what stands beside it is not.
#[test]
fn extensions_that_are_unknown() {
    let known = Extensions::XRC.union(Extensions::ALIGNED);
    let frame = StartupFrame {
        kind: FrameKind::Request,
        markers: false,
        crc: true,
        reject: false,
        revision: 2,
        enhanced: Some(Enhanced {
            extensions: known,
            ..Enhanced::default()
        }),
        private_data: b"data",
    };
    let mut bytes = [0; 64];
    let length = frame.write(&mut bytes).unwrap();
    assert_eq!(&bytes[24..length], b"wft\x05data");
    bytes[27] = 0xfd;
    assert_eq!(StartupFrame::parse(&bytes[..length]), Ok((frame, length)));
    bytes[27] = 0xf8;
    let (parsed, _) = StartupFrame::parse(&bytes[..length]).unwrap();
    let enhanced = Some(Enhanced::default());
    assert_eq!(
        (parsed.enhanced, parsed.private_data),
        (enhanced, &b"data"[..])
    );
}

proptest! {
    #[test]
    fn mpa_frames(
        reply in any::<bool>(), markers in any::<bool>(), crc in any::<bool>(), reject in any::<bool>(),
        enhanced in proptest::option::of((any::<bool>(), rtr(), 0u16..0x4000, 0u16..0x4000, extensions())),
        data in proptest::collection::vec(any::<u8>(), 0..=504),
        tail in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let frame = StartupFrame {
            kind: if reply { FrameKind::Reply } else { FrameKind::Request },
            markers, crc, reject,
            revision: if enhanced.is_some() { 2 } else { 1 },
            enhanced: enhanced.map(|(peer_to_peer, rtr, ird, ord, extensions)| Enhanced {
                peer_to_peer, rtr, ird, ord, extensions,
            }),
            private_data: &data,
        };
        let mut bytes = vec![0; 600];
        let length = frame.write(&mut bytes).unwrap();
        bytes.truncate(length);
        for cut in [0, 1, 15, 16, 19, length - 1] {
            prop_assert!(StartupFrame::parse(&bytes[..cut]).is_err());
        }
        bytes.extend(&tail);
        prop_assert_eq!(StartupFrame::parse(&bytes), Ok((frame, length)));
    }

    #[test]
    fn tcp_frames(
        ports in any::<(u16, u16)>(), numbers in any::<(u32, u32)>(), flags in any::<u8>(), window in any::<u16>(),
        mss in proptest::option::of(any::<u16>()), scale in proptest::option::of(0u8..15),
        sack_permitted in any::<bool>(), timestamps in proptest::option::of(any::<(u32, u32)>()),
        blocks in proptest::collection::vec(any::<(u32, u32)>(), 0..3),
        payload in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut sack = SackBlocks::default();
        if mss.is_none() && scale.is_none() && !sack_permitted {
            for (left, right) in blocks {
                sack.push(left, right);
            }
        }
        let header = FrameHeader {
            source_mac: [1; 6], destination_mac: [2; 6], source_ip: [10, 0, 0, 1], destination_ip: [10, 0, 0, 2],
            identification: 7, tos: 0x28, source_port: ports.0, destination_port: ports.1, seq: numbers.0, ack: numbers.1,
            flags, window,
            options: Options { mss, window_scale: scale, sack_permitted, timestamps, sack },
        };
        let mut frame = vec![0; 300];
        let length = header.write(&payload, &mut frame).unwrap();
        // Padding behind the packet is not part of it.
        let (_, packet) = EthernetHeader::parse(&frame[..length + 6]).unwrap();
        let packet = Ipv4Packet::parse(packet).unwrap();
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).unwrap();
        prop_assert_eq!(segment.options, header.options);
        prop_assert_eq!(segment.payload, &payload[..]);
        prop_assert_eq!((segment.seq, segment.ack, segment.flags, segment.window), (numbers.0, numbers.1, flags, window));
        let at = 14 + 20 + numbers.0 as usize % (length - 34);
        frame[at] ^= 1;
        let (_, packet) = EthernetHeader::parse(&frame[..length]).unwrap();
        let packet = Ipv4Packet::parse(packet).unwrap();
        prop_assert!(TcpSegment::parse(packet.source, packet.destination, packet.payload).is_err());
    }

    #[test]
    fn headers(control in any::<u8>(), rdmap in any::<u8>(), a in any::<u32>(), b in any::<u64>(), c in any::<u32>(), d in any::<u32>()) {
        let header = DdpHeader {
            control,
            rdmap_control: rdmap,
            target: if control & 0x80 != 0 {
                Target::Tagged { stag: a, to: b }
            } else {
                Target::Untagged { rsvd_ulp: a, qn: b as u32, msn: c, mo: d }
            },
        };
        let bytes = header.to_bytes();
        prop_assert_eq!(DdpHeader::parse(&bytes[..header.length()]), Some((header, &[][..])));
        prop_assert_eq!(DdpHeader::parse(&bytes[..header.length() - 1]), None);
        let request = ReadRequest { sink_stag: a, sink_to: b, size: c, source_stag: d, source_to: !b };
        prop_assert_eq!(ReadRequest::parse(&request.to_bytes()), Some(request));
    }

    #[test]
    fn any_octets_are_survived(octets in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = StartupFrame::parse(&octets);
        let _ = Options::parse(&octets);
        let _ = TcpSegment::parse_unchecked(&octets);
        let _ = Ipv4Packet::parse(&octets);
        let _ = Arp::parse(&octets);
        let _ = DdpHeader::parse(&octets);
        let _ = ReadRequest::parse(&octets);
        if let Some(terminate) = Terminate::parse(&octets) {
            let _ = std::format!("{}", terminate.code);
        }
    }

    #[test]
    fn terminates(code in prop::sample::select(vec![0x0000u16, 0x0101, 0x0206, 0x1100, 0x1203, 0x2002, 0x2007]), header in any::<[u8; 18]>(), tagged in any::<bool>(), read in proptest::option::of(any::<[u8; 28]>()), length in any::<u16>()) {
        let mut header = header;
        header[0] = if tagged { header[0] | 0x80 } else { header[0] & 0x7f };
        let used = if tagged { 14 } else { 18 };
        let terminate = Terminate {
            code: TerminateCode(code),
            ddp: Some((length, &header[..used])),
            read_request: read.as_ref().map(|r| &r[..]),
            siw_layout: false,
        };
        let mut bytes = [0; 52];
        let written = terminate.write(&mut bytes).unwrap();
        prop_assert_eq!(Terminate::parse(&bytes[..written]), Some(terminate));
    }
}
