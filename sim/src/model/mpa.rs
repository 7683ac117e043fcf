//! MPA framing (RFC 5044 §4): FPDUs with pad, CRC32C and markers.

/// A marker every so many octets of sequence space.
const MARKER_SPACING: u32 = 512;

fn marker_at(seq: u32, base: Option<u32>) -> bool {
    base.is_some_and(|b| seq.wrapping_sub(b) % MARKER_SPACING == 0)
}

/// Puts a ULPDU into an FPDU that begins at `seq`; `markers` is the sequence number of the first marker
/// of the stream. Without CRC its field is 0.
pub fn frame(seq: u32, markers: Option<u32>, crc: bool, ulpdu: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ulpdu.len() + 16 + ulpdu.len() / 120);
    // Where the length field is: behind a marker, if one comes first.
    let mut header = 0;
    if marker_at(seq, markers) {
        out.extend_from_slice(&[0; 4]);
        header = 4;
    }
    let pad = (4 - (2 + ulpdu.len()) % 4) % 4;
    let mut put = |bytes: &[u8], end: bool| {
        for byte in bytes {
            if out.len() != header && marker_at(seq.wrapping_add(out.len() as u32), markers) {
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(&((out.len() - 2 - header) as u16).to_be_bytes());
            }
            out.push(*byte);
        }
        // A marker between pad and CRC belongs to this FPDU.
        if end && marker_at(seq.wrapping_add(out.len() as u32), markers) {
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&((out.len() - 2 - header) as u16).to_be_bytes());
        }
    };
    put(&(ulpdu.len() as u16).to_be_bytes(), false);
    put(ulpdu, false);
    put(&[0; 3][..pad], true);
    let value = if crc { crc32c::crc32c(&out) } else { 0 };
    out.extend_from_slice(&value.to_le_bytes());
    out
}

/// An FPDU found in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fpdu {
    /// All its bytes, a leading marker included.
    pub bytes: usize,
    /// The ULPDU.
    pub ulpdu: Vec<u8>,
    /// All FPDUPTRs are right.
    pub markers_good: bool,
    /// The CRC is right.
    pub crc_good: bool,
    /// Some pad byte is not zero.
    pub nonzero_pad: bool,
}

/// Takes the FPDU at the front of `stream`, which begins at `seq`. `None`: it is not whole in it.
pub fn deframe(stream: &[u8], seq: u32, markers: Option<u32>) -> Option<Fpdu> {
    let mut reader = Reader {
        stream,
        seq,
        markers,
        at: 0,
        header: 0,
        markers_good: true,
    };
    reader.skip_marker()?;
    reader.header = reader.at;
    let length = reader.take(2)?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    let ulpdu = reader.take(length)?;
    let pad = reader.take((4 - (2 + length) % 4) % 4)?;
    reader.skip_marker()?;
    let covered = reader.at;
    let field = stream.get(covered..covered + 4)?;
    Some(Fpdu {
        bytes: covered + 4,
        ulpdu,
        markers_good: reader.markers_good,
        crc_good: crc32c::crc32c(&stream[..covered]).to_le_bytes() == field,
        nonzero_pad: pad.iter().any(|b| *b != 0),
    })
}

/// Reads a stream past its markers.
struct Reader<'a> {
    stream: &'a [u8],
    seq: u32,
    markers: Option<u32>,
    at: usize,
    header: usize,
    markers_good: bool,
}

impl Reader<'_> {
    fn skip_marker(&mut self) -> Option<()> {
        if marker_at(self.seq.wrapping_add(self.at as u32), self.markers) {
            let marker = self.stream.get(self.at..self.at + 4)?;
            // FPDUs are whole words: the low two bits are no part of the distance (RFC 5044 §4.2).
            let pointer = usize::from(u16::from_be_bytes([marker[2], marker[3]]) & !3);
            self.markers_good &= pointer == self.at - self.header;
            self.at += 4;
        }
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            // The marker at the length field itself was skipped before `header` was set.
            if self.at != self.header {
                self.skip_marker()?;
            }
            let run = match self.markers {
                None => count,
                Some(base) => {
                    let past =
                        self.seq.wrapping_add(self.at as u32).wrapping_sub(base) % MARKER_SPACING;
                    (MARKER_SPACING - past) as usize
                }
            };
            let n = run.min(count - bytes.len());
            bytes.extend_from_slice(self.stream.get(self.at..self.at + n)?);
            self.at += n;
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ULPDU of RFC 5044 §4.4: a Send of 24 zero octets, Last flag set.
    fn example(msn: u8) -> Vec<u8> {
        let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, msn, 0, 0, 0, 0];
        ulpdu.extend_from_slice(&[0; 24]);
        ulpdu
    }

    #[test]
    fn rfc5044_figure_5() {
        let fpdu = frame(0, Some(0), true, &example(1));
        assert_eq!(fpdu.len(), 0x34);
        assert_eq!(&fpdu[..8], [0, 0, 0, 0, 0, 0x2a, 0x41, 0x43]);
        assert_eq!(&fpdu[0x30..], [0x52, 0x23, 0x99, 0x83]);
        let back = deframe(&fpdu, 0, Some(0)).expect("whole");
        assert_eq!(back.ulpdu, example(1));
        assert!(back.markers_good && back.crc_good);
    }

    #[test]
    fn rfc5044_figure_6() {
        let fpdu = frame(0x1ec, Some(0), true, &example(2));
        assert_eq!(fpdu.len(), 0x220 - 0x1ec);
        assert_eq!(&fpdu[0x14..0x18], [0, 0, 0, 0x14]);
        assert_eq!(&fpdu[0x30..], [0x84, 0x92, 0x58, 0x98]);
        let back = deframe(&fpdu, 0x1ec, Some(0)).expect("whole");
        assert_eq!(back.ulpdu, example(2));
        assert!(back.markers_good && back.crc_good);
    }

    #[test]
    fn every_length_and_phase_survives() {
        for markers in [None, Some(0xffff_ff00)] {
            for phase in (0..512).step_by(4) {
                for len in [0, 1, 2, 3, 18, 500, 509, 510, 511, 1442, 1500] {
                    let seq = 0xffff_ff00u32.wrapping_add(phase);
                    let ulpdu: Vec<u8> = (0..len).map(|i| (i * 7 + 1) as u8).collect();
                    let fpdu = frame(seq, markers, true, &ulpdu);
                    assert_eq!(fpdu.len() % 4, 0);
                    let back = deframe(&fpdu, seq, markers).expect("whole");
                    assert_eq!((back.bytes, &back.ulpdu), (fpdu.len(), &ulpdu));
                    assert!(back.markers_good && back.crc_good && !back.nonzero_pad);
                    for cut in [0, 1, 3, 4, fpdu.len() / 2, fpdu.len() - 1] {
                        assert_eq!(
                            deframe(&fpdu[..cut.min(fpdu.len() - 1)], seq, markers),
                            None
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let fpdu = frame(0x1ec, Some(0), true, &example(2));
        for bit in 0..fpdu.len() * 8 {
            let mut bad = fpdu.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let noticed = deframe(&bad, 0x1ec, Some(0)).is_none_or(|f| !f.crc_good);
            assert!(noticed, "bit {bit}");
        }
    }
}
