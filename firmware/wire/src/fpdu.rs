//! FPDUs (RFC 5044 §4): `ULPDU_Length | ULPDU | pad | CRC32C`, with a marker wherever the sequence
//! number, counted from the first marker, is a multiple of 512.
//!
//! ```text
//!   FPDU begin (its leading marker, if the sequence number asks for one)
//!   │  length field                       marker, every 512 octets
//!   ▼  ▼                                  ▼
//!   M  LL UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU M UUUUUUUUUUUUUUU PP CCCC
//! ```
//!
//! A marker holds 16 zero bits and FPDUPTR, the octets from the length field to the marker. One
//! that stands where an FPDU begins has FPDUPTR 0 and belongs to that FPDU's CRC.

use core::convert::Infallible;

use crate::crc32c::crc32c;

/// Octets from one marker to the next.
pub const MARKER_SPACING: u32 = 512;
/// Octets of a marker.
pub const MARKER: usize = 4;
/// Octets of the CRC field.
pub const CRC: usize = 4;
/// Octets of the length field.
pub const LENGTH: usize = 2;

/// Length field, ULPDU and pad: the FPDU without CRC and markers.
pub const fn padded(ulpdu: usize) -> usize {
    (LENGTH + ulpdu).next_multiple_of(4)
}

/// Markers in one direction of a stream: none, or the sequence number of the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Markers(pub Option<u32>);

impl Markers {
    /// No markers.
    pub const OFF: Self = Self(None);

    /// Octets from `seq` to the next marker (0: a marker is due at `seq`); `None`: never.
    pub fn distance(self, seq: u32) -> Option<usize> {
        let base = self.0?;
        Some((base.wrapping_sub(seq) % MARKER_SPACING) as usize)
    }

    /// Octets that `octets` of FPDU take on the wire when the first of them is due at `seq`:
    /// with the marker before the first, if one is due there, but none behind the last.
    pub fn wire_length(self, seq: u32, octets: usize) -> usize {
        let Some(distance) = self.distance(seq) else {
            return octets;
        };
        if octets <= distance {
            return octets;
        }
        // One marker after `distance` octets, then one after each 508 more.
        let gap = MARKER_SPACING as usize - MARKER;
        octets + MARKER * (1 + (octets - distance - 1) / gap)
    }

    /// Octets on the wire of an FPDU with so long a ULPDU that begins at `seq`.
    pub fn fpdu_length(self, seq: u32, ulpdu: usize) -> usize {
        self.wire_length(seq, padded(ulpdu) + CRC)
    }

    /// The largest ULPDU (RFC 5044 §4.5, MULPDU) for segments of `emss` octets, never below 128.
    pub fn mulpdu(self, emss: usize) -> usize {
        let markers = match self.0 {
            Some(_) => MARKER * emss.div_ceil(MARKER_SPACING as usize),
            None => 0,
        };
        emss.saturating_sub(6 + markers + emss % 4).max(128)
    }
}

/// Why octets are no FPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FpduError {
    /// Octets are missing: at least so many are needed.
    Incomplete(usize),
    /// A marker's FPDUPTR, without its two low bits, is not the distance to the length field.
    Marker,
    /// The CRC is wrong.
    Crc,
}

/// An FPDU found at the front of some octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fpdu {
    /// Octets on the wire, leading marker included.
    pub wire_length: usize,
    /// Octets of the ULPDU.
    pub ulpdu_length: usize,
    /// A pad octet is not zero (tolerated).
    pub nonzero_pad: bool,
}

/// How many octets the FPDU at the front of `wire` has, whose first octet has the sequence number
/// `seq`; as soon as its length field is there.
pub fn peek_length(wire: &[u8], seq: u32, markers: Markers) -> Result<usize, FpduError> {
    let length_at = match markers.distance(seq) {
        Some(0) => MARKER,
        _ => 0,
    };
    // The length field is whole: a marker stands at a multiple of four octets, and so does an FPDU.
    // A stream that is not so aligned still works: the marker may then split the field.
    let first = *wire
        .get(length_at)
        .ok_or(FpduError::Incomplete(length_at + LENGTH))?;
    let mut second_at = length_at + 1;
    if markers.distance(seq.wrapping_add(second_at as u32)) == Some(0) {
        second_at += MARKER;
    }
    let second = *wire
        .get(second_at)
        .ok_or(FpduError::Incomplete(second_at + 1))?;
    let ulpdu = usize::from(u16::from_be_bytes([first, second]));
    Ok(markers.fpdu_length(seq, ulpdu))
}

/// Checks the FPDU at the front of `wire` (markers, then CRC if `check_crc`) and moves its ULPDU
/// to `ulpdu`, which must have room for it (65535 octets always suffice).
pub fn decode(
    wire: &[u8],
    seq: u32,
    markers: Markers,
    check_crc: bool,
    ulpdu: &mut [u8],
) -> Result<Fpdu, FpduError> {
    let found = measure(wire, seq, markers)?;
    let octets = wire.get(..found.wire_length).unwrap_or_default();
    // Markers first, as the card does.
    if !markers_are_right(octets, seq, markers) {
        return Err(FpduError::Marker);
    }
    if check_crc && !crc_is_right(octets) {
        return Err(FpduError::Crc);
    }
    if ulpdu.len() < found.ulpdu_length {
        return Err(FpduError::Incomplete(found.wire_length));
    }
    unmark(wire, seq, markers, &found, ulpdu);
    Ok(found)
}

/// Moves the ULPDU of an FPDU that was checked to `ulpdu`, without markers: as much as there is room for.
pub fn unmark<'a>(
    wire: &[u8],
    seq: u32,
    markers: Markers,
    found: &Fpdu,
    ulpdu: &'a mut [u8],
) -> &'a [u8] {
    let count = found.ulpdu_length.min(ulpdu.len());
    let ulpdu = &mut ulpdu[..count];
    let mut fields = Unmarked::new(wire, seq, markers);
    for _ in 0..LENGTH {
        fields.next();
    }
    fields.copy(ulpdu);
    ulpdu
}

/// Where the ULPDU of an FPDU that was checked lies in it as a whole; `None`: there is a marker in it.
pub fn whole_ulpdu<'a>(
    wire: &'a [u8],
    seq: u32,
    markers: Markers,
    found: &Fpdu,
) -> Option<&'a [u8]> {
    let leading = match markers.distance(seq) {
        Some(0) => MARKER,
        _ => 0,
    };
    let from = leading + LENGTH;
    let until = from + found.ulpdu_length;
    let next = markers.distance(seq.wrapping_add(leading.max(1) as u32));
    let clear = next.is_none_or(|distance| leading.max(1) + distance >= until);
    wire.get(from..until).filter(|_| clear)
}

/// The lengths of the FPDU at the front of `wire`, if it is whole. Neither markers nor CRC are looked at.
pub fn measure(wire: &[u8], seq: u32, markers: Markers) -> Result<Fpdu, FpduError> {
    let wire_length = peek_length(wire, seq, markers)?;
    let octets = wire
        .get(..wire_length)
        .ok_or(FpduError::Incomplete(wire_length))?;
    // A marker never stands inside the CRC field: FPDUs have a multiple of four octets. In a stream
    // that is not so aligned, what is left of the field after markers are taken out decides.
    let mut fields = Unmarked::new(octets, seq, markers);
    let length = u16::from_be_bytes([fields.next().unwrap_or(0), fields.next().unwrap_or(0)]);
    let ulpdu_length = usize::from(length);
    fields.skip(ulpdu_length);
    let pad = padded(ulpdu_length) - LENGTH - ulpdu_length;
    let mut nonzero_pad = false;
    for _ in 0..pad {
        nonzero_pad |= fields.next().unwrap_or(0) != 0;
    }
    Ok(Fpdu {
        wire_length,
        ulpdu_length,
        nonzero_pad,
    })
}

/// True if each marker of a whole FPDU says how far it stands behind the length field.
pub fn markers_are_right(octets: &[u8], seq: u32, markers: Markers) -> bool {
    let Some(first) = markers.distance(seq) else {
        return true;
    };
    let leading = if first == 0 { MARKER } else { 0 };
    let mut places = (first..octets.len()).step_by(MARKER_SPACING as usize);
    places.all(|at| {
        let Some(marker) = octets.get(at..at + MARKER) else {
            return false;
        };
        // The reserved half is ignored, and so are the two low bits (RFC 5044 §4.2). Both count for the CRC.
        let pointer = u16::from_be_bytes([marker[2], marker[3]]);
        (pointer ^ at.saturating_sub(leading) as u16) & !3 == 0
    })
}

/// True if the CRC field of a whole FPDU is that of what stands before it.
pub fn crc_is_right(octets: &[u8]) -> bool {
    octets
        .split_last_chunk::<CRC>()
        .is_some_and(|(covered, field)| crc32c(covered).to_le_bytes() == *field)
}

/// Writes the FPDU of a ULPDU that is given in pieces, to begin at `seq`. With `crc` false the
/// field is 0. Its length, or `None` if it does not fit or the ULPDU is over 65535 octets.
pub fn encode(
    pieces: &[&[u8]],
    seq: u32,
    markers: Markers,
    crc: bool,
    out: &mut [u8],
) -> Option<usize> {
    let ulpdu: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut writer = Writer::new(ulpdu, seq, markers, out)?;
    for piece in pieces {
        writer.put(piece);
    }
    Some(writer.finish(crc))
}

/// An FPDU that is being written: its ULPDU comes piece by piece, each octet goes to its place at once.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    seq: u32,
    markers: Markers,
    leading: usize,
}

impl<'a> Writer<'a> {
    /// An FPDU with so long a ULPDU, to begin at `seq`, at the front of `out`. `None` if it does not fit or the ULPDU is over
    /// 65535 octets.
    pub fn new(ulpdu: usize, seq: u32, markers: Markers, out: &'a mut [u8]) -> Option<Self> {
        let length = u16::try_from(ulpdu).ok()?;
        let out = out.get_mut(..markers.fpdu_length(seq, ulpdu))?;
        let mut writer = Writer {
            out,
            at: 0,
            seq,
            markers,
            leading: match markers.distance(seq) {
                Some(0) => MARKER,
                _ => 0,
            },
        };
        writer.put(&length.to_be_bytes());
        Some(writer)
    }

    /// Appends octets of the ULPDU. What is beyond its length is left out.
    pub fn put(&mut self, mut octets: &[u8]) {
        let Ok(()) = self.fill(octets.len(), |room| {
            let (now, later) = octets.split_at(room.len());
            room.copy_from_slice(now);
            octets = later;
            Ok::<(), Infallible>(())
        });
    }

    /// Appends `count` octets of the ULPDU that `read` writes to their places: it is called once for each run of them between two
    /// markers. Its first error ends it.
    pub fn fill<E>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = count;
        while left > 0 {
            let run = self.run().min(left);
            let end = self.at.saturating_add(run).min(self.out.len());
            let Some(room) = self
                .out
                .get_mut(self.at..end)
                .filter(|room| !room.is_empty())
            else {
                return Ok(());
            };
            let taken = room.len();
            read(room)?;
            self.at += taken;
            left -= taken;
        }
        Ok(())
    }

    /// The octets that can be written before the next marker; one that is due now is written.
    fn run(&mut self) -> usize {
        match self.markers.distance(self.seq.wrapping_add(self.at as u32)) {
            None => usize::MAX,
            Some(0) => {
                let pointer = self.at.saturating_sub(self.leading) as u16;
                let bytes = pointer.to_be_bytes();
                if let Some(room) = self.out.get_mut(self.at..self.at + MARKER) {
                    room.copy_from_slice(&[0, 0, bytes[0], bytes[1]]);
                }
                self.at += MARKER;
                MARKER_SPACING as usize - MARKER
            }
            Some(distance) => distance,
        }
    }

    /// Zeros to its end, and its CRC if it has one; what of the ULPDU was not given is zero. How long it is.
    pub fn finish(mut self, crc: bool) -> usize {
        // The octets of the CRC field are zeros first: that also puts a marker before it.
        let Ok(()) = self.fill(usize::MAX, |room| {
            room.fill(0);
            Ok::<(), Infallible>(())
        });
        let wire_length = self.out.len();
        if crc {
            let (covered, field) = self.out.split_at_mut(wire_length - CRC);
            field.copy_from_slice(&crc32c(covered).to_le_bytes());
        }
        wire_length
    }
}

/// The octets of a stream without its markers.
struct Unmarked<'a> {
    octets: &'a [u8],
    at: usize,
    seq: u32,
    markers: Markers,
}

impl<'a> Unmarked<'a> {
    fn new(octets: &'a [u8], seq: u32, markers: Markers) -> Self {
        Unmarked {
            octets,
            at: 0,
            seq,
            markers,
        }
    }

    /// Octets that can be taken before the next marker, a marker due now being skipped.
    fn run(&mut self) -> usize {
        let here = self.seq.wrapping_add(self.at as u32);
        match self.markers.distance(here) {
            None => usize::MAX,
            Some(0) => {
                self.at += MARKER;
                MARKER_SPACING as usize - MARKER
            }
            Some(distance) => distance,
        }
    }

    fn next(&mut self) -> Option<u8> {
        self.run();
        let octet = self.octets.get(self.at).copied();
        self.at += 1;
        octet
    }

    fn skip(&mut self, mut count: usize) {
        while count > 0 {
            let run = self.run().min(count);
            self.at += run;
            count -= run;
        }
    }

    fn copy(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            let count = self.run().min(out.len());
            let Some(from) = self.octets.get(self.at..self.at + count) else {
                return;
            };
            let (now, later) = out.split_at_mut(count);
            now.copy_from_slice(from);
            self.at += count;
            out = later;
        }
    }
}
