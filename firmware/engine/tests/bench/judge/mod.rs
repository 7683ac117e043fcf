//! What makes an FPDU (RFC 5044 §4), in words of its own: it shares nothing with what the engine and the tests' card make and take FPDUs
//! with.

use std::collections::BTreeMap;

/// CRC32C, bit by bit.
fn crc32c(octets: impl Iterator<Item = u8>) -> u32 {
    let mut crc = !0u32;
    for octet in octets {
        crc ^= u32::from(octet);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
        }
    }
    !crc
}

/// One direction of a TCP stream, put together from the frames that carried it.
#[derive(Default)]
pub struct Stream {
    first: Option<u32>,
    octets: BTreeMap<u32, u8>,
}

impl Stream {
    /// Takes a frame: Ethernet, IPv4, TCP, no checks. An octet that is sent twice has to be the same.
    pub fn frame(&mut self, frame: &[u8]) {
        if frame[12..14] != [8, 0] || frame[23] != 6 {
            return;
        }
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        let tcp = &frame[34..14 + total];
        let seq = u32::from_be_bytes(tcp[4..8].try_into().unwrap());
        let payload = &tcp[usize::from(tcp[12] >> 4) * 4..];
        if tcp[13] & 2 != 0 {
            self.first = Some(seq.wrapping_add(1));
            return;
        }
        let Some(first) = self.first else {
            return;
        };
        for (at, octet) in (seq.wrapping_sub(first)..).zip(payload) {
            let before = self.octets.insert(at, *octet);
            assert!(
                before.is_none_or(|before| before == *octet),
                "octet {at} was sent twice, and differs"
            );
        }
    }

    /// Reads the stream: its [`ulpdus`].
    pub fn ulpdus(&self, markers: bool) -> Vec<Vec<u8>> {
        let end = self.octets.keys().next_back().map_or(0, |last| last + 1);
        assert_eq!(self.octets.len() as u32, end, "octets are missing");
        let octets: Vec<u8> = self.octets.values().copied().collect();
        ulpdus(&octets, markers)
    }
}

/// Reads a stream from its first octet on: the start-up frame, then FPDUs with CRCs, with markers or without. The ULPDUs.
pub fn ulpdus(octets: &[u8], markers: bool) -> Vec<Vec<u8>> {
    if octets.is_empty() {
        return Vec::new();
    }
    assert_eq!(&octets[..4], b"MPA ");
    let startup = 20 + usize::from(u16::from_be_bytes([octets[18], octets[19]]));
    let stream = &octets[startup..];
    let is_marker = |at: usize| markers && at % 512 < 4;
    let mut units = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        let begin = at;
        // A marker that stands before the length field says 0.
        let length_at = if is_marker(at) { at + 4 } else { at };
        let length = usize::from(u16::from_be_bytes([
            stream[length_at],
            stream[length_at + 1],
        ]));
        let padded = (2 + length).next_multiple_of(4);
        let mut unit = Vec::new();
        at = length_at;
        while unit.len() < padded {
            if is_marker(at) {
                assert_eq!(&stream[at..at + 2], &[0, 0], "a marker's first half");
                let pointer = u16::from_be_bytes([stream[at + 2], stream[at + 3]]);
                assert_eq!(usize::from(pointer), at - length_at, "a marker");
                at += 4;
            } else {
                unit.push(stream[at]);
                at += 1;
            }
        }
        if is_marker(at) {
            let pointer = u16::from_be_bytes([stream[at + 2], stream[at + 3]]);
            assert_eq!(
                usize::from(pointer),
                at - length_at,
                "a marker before the CRC"
            );
            at += 4;
        }
        let crc = u32::from_le_bytes(stream[at..at + 4].try_into().unwrap());
        let covered = stream[begin..at].iter().copied();
        assert_eq!(crc, crc32c(covered), "the CRC of the FPDU at {begin}");
        at += 4;
        assert!(unit[2 + length..].iter().all(|pad| *pad == 0), "a pad");
        units.push(unit[2..2 + length].to_vec());
    }
    units
}

/// An FPDU with its CRC, without markers.
pub fn fpdu(ulpdu: &[u8]) -> Vec<u8> {
    let mut octets = (ulpdu.len() as u16).to_be_bytes().to_vec();
    octets.extend(ulpdu);
    octets.resize(octets.len().next_multiple_of(4), 0);
    let crc = crc32c(octets.iter().copied());
    octets.extend(crc.to_le_bytes());
    octets
}
