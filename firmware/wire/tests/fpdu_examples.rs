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

/// RFC 5044 §4.2: a receiver ignores the reserved half of a marker and takes the two low bits of FPDUPTR for
/// zero; the CRC covers them as they are.
#[test]
fn what_a_receiver_ignores_in_a_marker() {
    let markers = Markers(Some(1000));
    let data = [0x5a; 1200];
    let mut wire = vec![0; 2000];
    let length = fpdu::encode(&[&data], 1000, markers, true, &mut wire).unwrap();
    let mut ulpdu = vec![0; 65535];
    for (mask, good) in [
        ([0xff, 0xff, 0, 0], true),
        ([0, 0, 0, 3], true),
        ([0x80, 1, 0, 2], true),
        ([0, 0, 0, 4], false),
        ([0, 0, 0x80, 0], false),
    ] {
        // The leading one and one in the middle.
        for at in [0, 512, 1024] {
            let mut odd = wire[..length].to_vec();
            for (octet, mask) in odd[at..].iter_mut().zip(mask) {
                *octet ^= mask;
            }
            let without = fpdu::decode(&odd, 1000, markers, true, &mut ulpdu);
            let sum = weft_wire::crc32c::crc32c(&odd[..length - 4]).to_le_bytes();
            odd[length - 4..].copy_from_slice(&sum);
            let found = fpdu::decode(&odd, 1000, markers, true, &mut ulpdu);
            if good {
                assert_eq!(without, Err(FpduError::Crc), "{mask:x?} at {at}");
                assert_eq!(found.map(|f| f.ulpdu_length), Ok(1200), "{mask:x?} at {at}");
                assert_eq!(ulpdu[..1200], data);
            } else {
                assert_eq!(found, Err(FpduError::Marker), "{mask:x?} at {at}");
            }
        }
    }
}

/// A marker that is due where an FPDU ends is the next one's; one due before the CRC field is this one's.
#[test]
fn an_fpdu_that_ends_at_a_marker() {
    let markers = Markers(Some(0));
    let mut ulpdu = vec![0; 65535];
    for seq in (0u32..512).step_by(4) {
        // So that the FPDU ends at 512, 1024 or 1536, or its CRC field begins there.
        for (end, before) in [512usize, 1024, 1536]
            .into_iter()
            .flat_map(|end| [(end, false), (end + 8, true)])
        {
            let leading = if seq == 0 { 4 } else { 0 };
            let inside = (end - 1) / 512 - (seq as usize) / 512 - usize::from(before);
            let room = end - seq as usize - leading - 4 * inside - if before { 4 } else { 0 };
            if room < 12 {
                continue;
            }
            let data = vec![7; room - 6];
            let mut wire = vec![0xee; 4000];
            let first = fpdu::encode(&[&data], seq, markers, true, &mut wire).unwrap();
            assert_eq!(seq as usize + first, end, "from {seq}");
            let second = fpdu::encode(
                &[&[1; 20]],
                seq.wrapping_add(first as u32),
                markers,
                true,
                &mut wire[first..],
            );
            assert_eq!(second, Some(28 + if before { 0 } else { 4 }));
            let whole = &wire[..first + second.unwrap()];
            let found = fpdu::decode(whole, seq, markers, true, &mut ulpdu).unwrap();
            assert_eq!((found.wire_length, found.ulpdu_length), (first, room - 6));
            // Exactly its octets suffice, one less does not.
            let exact = fpdu::decode(&whole[..first], seq, markers, true, &mut ulpdu);
            assert_eq!(exact, Ok(found));
            let short = fpdu::decode(&whole[..first - 1], seq, markers, true, &mut ulpdu);
            assert_eq!(short, Err(FpduError::Incomplete(first)));
            let next = fpdu::decode(
                &whole[first..],
                seq.wrapping_add(first as u32),
                markers,
                true,
                &mut ulpdu,
            );
            assert_eq!(next.map(|f| f.ulpdu_length), Ok(20), "from {seq} to {end}");
        }
    }
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
