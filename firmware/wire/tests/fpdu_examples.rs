//! The worked examples of RFC 5044 §4.4, and properties of the framing.
#![allow(missing_docs)]

use proptest::prelude::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::fpdu::{self, FpduError, Markers};

/// The first octet of the stream has this sequence number.
const BASE: u32 = 0xffff_ff00;

#[test]
fn the_first_fpdu_of_a_stream() {
    let mut expected = vec![0, 0, 0, 0, 0, 0x2a, 0x41, 0x43];
    expected.extend([0; 11]);
    expected.push(1);
    expected.extend([0; 28]);
    expected.extend([0x52, 0x23, 0x99, 0x83]);
    let header = DdpHeader::untagged(true, 0x43, 0, 0, 1, 0).to_bytes();
    let mut out = [0xee; 100];
    let markers = Markers(Some(BASE));
    let length = fpdu::encode(&[&header, &[0; 24]], BASE, markers, true, &mut out).unwrap();
    assert_eq!(out[..length], expected[..]);
    let mut ulpdu = [0; 65535];
    let found = fpdu::decode(&expected, BASE, markers, true, &mut ulpdu).unwrap();
    assert_eq!((found.wire_length, found.ulpdu_length), (0x34, 0x2a));
    assert_eq!(ulpdu[..18], header);
}

#[test]
fn the_second_with_a_marker_inside() {
    let mut expected = vec![0, 0x2a, 0x41, 0x43];
    expected.extend([0; 11]);
    expected.push(2);
    expected.extend([0; 4]);
    expected.extend([0, 0, 0, 0x14]);
    expected.extend([0; 24]);
    expected.extend([0x84, 0x92, 0x58, 0x98]);
    let header = DdpHeader::untagged(true, 0x43, 0, 0, 2, 0).to_bytes();
    let seq = BASE.wrapping_add(0x1ec);
    let markers = Markers(Some(BASE));
    let mut out = [0xee; 100];
    let length = fpdu::encode(&[&header, &[0; 24]], seq, markers, true, &mut out).unwrap();
    assert_eq!(out[..length], expected[..]);
    let mut ulpdu = [0; 65535];
    let found = fpdu::decode(&expected, seq, markers, true, &mut ulpdu).unwrap();
    assert_eq!(found.ulpdu_length, 0x2a);
    for at in 0..expected.len() {
        let mut bad = expected.clone();
        bad[at] ^= 4;
        assert!(
            fpdu::decode(&bad, seq, markers, true, &mut ulpdu).is_err(),
            "octet {at}"
        );
    }
}

#[test]
fn mulpdu_of_rfc_5044() {
    assert_eq!(Markers::OFF.mulpdu(1460), 1454);
    assert_eq!(Markers::OFF.mulpdu(1461), 1454);
    assert_eq!(Markers(Some(0)).mulpdu(1460), 1460 - 6 - 12);
    assert_eq!(Markers(Some(0)).mulpdu(8960), 8960 - 6 - 4 * 18);
    assert_eq!(Markers::OFF.mulpdu(100), 128);
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        data in proptest::collection::vec(any::<u8>(), 0..3000),
        offset in 0u32..600,
        base in any::<u32>(),
        with_markers in any::<bool>(),
        crc in any::<bool>(),
    ) {
        let seq = base.wrapping_add(offset * 4);
        let markers = Markers(with_markers.then_some(base));
        let mut wire = vec![0xaa; 4000];
        let length = fpdu::encode(&[&data[..data.len() / 3], &data[data.len() / 3..]], seq, markers, crc, &mut wire).unwrap();
        prop_assert_eq!(length, markers.fpdu_length(seq, data.len()));
        prop_assert_eq!(length % 4, 0);
        let mut ulpdu = vec![0; 65535];
        let found = fpdu::decode(&wire, seq, markers, crc, &mut ulpdu).unwrap();
        prop_assert_eq!(found.wire_length, length);
        prop_assert_eq!(&ulpdu[..found.ulpdu_length], &data[..]);
        prop_assert!(!found.nonzero_pad);
        let cut = fpdu::decode(&wire[..length - 1], seq, markers, crc, &mut ulpdu);
        prop_assert!(matches!(cut, Err(FpduError::Incomplete(_))));
        // Markers count by hand.
        if with_markers {
            let count = (0..length as u32).filter(|i| seq.wrapping_add(*i).wrapping_sub(base) % 512 == 0).count();
            prop_assert_eq!(length, fpdu::padded(data.len()) + 4 + 4 * count);
        }
    }

    #[test]
    fn any_octets_are_survived(
        octets in proptest::collection::vec(any::<u8>(), 0..200),
        seq in any::<u32>(),
        base in proptest::option::of(any::<u32>()),
        crc in any::<bool>(),
        room in 0usize..70_000,
    ) {
        let mut ulpdu = vec![0; room];
        let _ = fpdu::peek_length(&octets, seq, Markers(base));
        let _ = fpdu::decode(&octets, seq, Markers(base), crc, &mut ulpdu);
        let mut long = octets.clone();
        long.resize(70_000, 0);
        let _ = fpdu::decode(&long, seq, Markers(base), crc, &mut ulpdu);
        let _ = fpdu::encode(&[&octets], seq, Markers(base), crc, &mut ulpdu);
    }
}
