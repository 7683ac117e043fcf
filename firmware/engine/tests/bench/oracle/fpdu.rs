//! FPDUs (RFC 5044 §4), made and read octet by octet.

/// A marker every so many octets of sequence space.
const SPACING: u32 = 512;

/// CRC32C's remainder of each octet.
const REMAINDERS: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut rest = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = (rest >> 1) ^ (0x82f6_3b78 * (rest & 1));
            bit += 1;
        }
        table[octet] = rest;
        octet += 1;
    }
    table
};

pub fn crc32c(octets: &[u8]) -> u32 {
    !octets.iter().fold(!0u32, |crc, octet| {
        (crc >> 8) ^ REMAINDERS[usize::from(crc as u8 ^ octet)]
    })
}

fn marker_at(seq: u32, base: Option<u32>) -> bool {
    base.is_some_and(|base| seq.wrapping_sub(base) % SPACING == 0)
}

/// Puts a ULPDU into an FPDU that begins at `seq`; `markers` is the sequence number of the first marker of the stream. Without
/// CRC its field is 0.
pub fn frame(seq: u32, markers: Option<u32>, crc: bool, ulpdu: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ulpdu.len() + 16 + ulpdu.len() / 120);
    // Where the length field is: behind a marker, if one comes first.
    let mut header = 0;
    if marker_at(seq, markers) {
        out.extend_from_slice(&[0; 4]);
        header = 4;
    }
    let marker = |out: &mut Vec<u8>| {
        if out.len() != header && marker_at(seq.wrapping_add(out.len() as u32), markers) {
            let distance = (out.len() - header) as u16;
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&distance.to_be_bytes());
        }
    };
    let length = (ulpdu.len() as u16).to_be_bytes();
    let pad = (4 - (2 + ulpdu.len()) % 4) % 4;
    for octet in length.iter().chain(ulpdu).chain(&[0; 3][..pad]) {
        marker(&mut out);
        out.push(*octet);
    }
    // A marker between pad and CRC belongs to this FPDU.
    marker(&mut out);
    let value = if crc { crc32c(&out) } else { 0 };
    out.extend_from_slice(&value.to_le_bytes());
    out
}

/// An FPDU found in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fpdu {
    /// All its octets, a leading marker included.
    pub octets: usize,
    pub ulpdu: Vec<u8>,
    /// All FPDUPTRs are right, as far as a receiver looks at them.
    pub markers_good: bool,
    /// The markers are as a sender has to make them.
    pub markers_exact: bool,
    pub crc_good: bool,
    pub pad_good: bool,
}

/// Takes the FPDU at the front of `stream`, which begins at `seq`. `None`: it is not whole in it.
pub fn deframe(stream: &[u8], seq: u32, markers: Option<u32>) -> Option<Fpdu> {
    let mut reader = Reader {
        stream,
        seq,
        markers,
        at: 0,
        header: 0,
        good: true,
        exact: true,
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
        octets: covered + 4,
        ulpdu,
        markers_good: reader.good,
        markers_exact: reader.exact,
        crc_good: crc32c(&stream[..covered]).to_le_bytes() == field,
        pad_good: pad.iter().all(|octet| *octet == 0),
    })
}

/// The ULPDUs of FPDUs without markers that fill these octets. They have to be right.
pub fn ulpdus(mut octets: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !octets.is_empty() {
        let fpdu = deframe(octets, 0, None).expect("a whole FPDU");
        assert!(fpdu.crc_good && fpdu.pad_good, "{fpdu:?}");
        octets = &octets[fpdu.octets..];
        found.push(fpdu.ulpdu);
    }
    found
}

/// Reads a stream past its markers.
struct Reader<'a> {
    stream: &'a [u8],
    seq: u32,
    markers: Option<u32>,
    at: usize,
    header: usize,
    good: bool,
    exact: bool,
}

impl Reader<'_> {
    fn skip_marker(&mut self) -> Option<()> {
        if marker_at(self.seq.wrapping_add(self.at as u32), self.markers) {
            let marker = self.stream.get(self.at..self.at + 4)?;
            let pointer = usize::from(u16::from_be_bytes([marker[2], marker[3]]));
            let distance = self.at - self.header;
            // FPDUs are whole words: the low two bits are no part of the distance (RFC 5044 §4.2).
            self.good &= pointer & !3 == distance;
            self.exact &= pointer == distance && marker[..2] == [0, 0];
            self.at += 4;
        }
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut octets = Vec::with_capacity(count);
        while octets.len() < count {
            // The marker at the length field itself was skipped before `header` was set.
            if self.at != self.header {
                self.skip_marker()?;
            }
            let run = match self.markers {
                None => count,
                Some(base) => {
                    let here = self.seq.wrapping_add(self.at as u32);
                    (SPACING - here.wrapping_sub(base) % SPACING) as usize
                }
            };
            let n = run.min(count - octets.len());
            octets.extend_from_slice(self.stream.get(self.at..self.at + n)?);
            self.at += n;
        }
        Some(octets)
    }
}
