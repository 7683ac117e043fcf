//! What makes an FPDU (RFC 5044 §4) and a DDP segment, in words of its own: it shares no code with what the engine, the driver and
//! the functional model make and take FPDUs with. The tests' card and their peer by hand make and check theirs with it.

pub mod fpdu;
pub mod segment;

use std::collections::BTreeSet;

/// One direction of a TCP stream, put together from the frames that carried it.
#[derive(Default)]
pub struct Stream {
    first: Option<u32>,
    /// By their place behind the SYN.
    octets: Vec<Option<u8>>,
    /// Where each segment with payload began and ended.
    segments: Vec<(usize, usize)>,
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
        if payload.is_empty() {
            // Its number may lie behind the FIN.
            return;
        }
        let begin = seq.wrapping_sub(first) as usize;
        let end = begin + payload.len();
        assert!(end < 1 << 24, "octets before the first, or very many");
        self.segments.push((begin, end));
        self.octets.resize(self.octets.len().max(end), None);
        for (at, octet) in (begin..).zip(payload) {
            let before = self.octets[at].replace(*octet);
            assert!(
                before.is_none_or(|before| before == *octet),
                "octet {at} was sent twice, and differs"
            );
        }
    }

    /// Reads the stream: its [`ulpdus`].
    pub fn ulpdus(&self, markers: bool) -> Vec<Vec<u8>> {
        let octets: Option<Vec<u8>> = self.octets.iter().copied().collect();
        let octets = octets.expect("octets are missing");
        ulpdus(&octets, markers)
    }

    /// Each segment behind the start-up frames is one FPDU, and none is partly behind them; there are no markers. How many FPDUs were sent, and
    /// how many segments.
    pub fn one_fpdu_in_each_segment(&self) -> (usize, usize) {
        let octets: Option<Vec<u8>> = self.octets.iter().copied().collect();
        let octets = octets.expect("octets are missing");
        let mut at = 0;
        while octets[at..].starts_with(b"MPA ") {
            at += 20 + usize::from(u16::from_be_bytes([octets[at + 18], octets[at + 19]]));
        }
        let startup = at;
        let mut units = BTreeSet::new();
        while at < octets.len() {
            let unit = fpdu::deframe(&octets[at..], 0, None);
            let unit = unit.unwrap_or_else(|| panic!("the FPDU at {at} is not whole"));
            assert!(unit.crc_good, "the CRC of the FPDU at {at}");
            units.insert((at, at + unit.octets));
            at += unit.octets;
        }
        let mut count = 0;
        for own in &self.segments {
            if own.0 < startup {
                assert!(own.1 <= startup, "{own:?} goes beyond the start-up");
            } else {
                assert!(units.contains(own), "{own:?} is no FPDU");
                count += 1;
            }
        }
        (units.len(), count)
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
    let mut units = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        // The first marker stands at the first octet behind the start-up frame.
        let markers = markers.then_some(0);
        let unit = fpdu::deframe(&stream[at..], at as u32, markers);
        let unit = unit.unwrap_or_else(|| panic!("the FPDU at {at} is not whole"));
        assert!(unit.markers_exact, "a marker of the FPDU at {at}");
        assert!(unit.crc_good, "the CRC of the FPDU at {at}");
        assert!(unit.pad_good, "the pad of the FPDU at {at}");
        at += unit.octets;
        units.push(unit.ulpdu);
    }
    units
}
