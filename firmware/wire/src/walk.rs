//! The walk over FPDUs: which of them are whole at the front of octets of a stream, and where in them the ULPDU lies.
//! What an FPDU has to be is checked step by step, so that one who reports can say what stood in one that is wrong.

use crate::checks::Violation;
use crate::fpdu::{self, Fpdu, Markers};

/// The FPDUs that are whole in some octets, from the front. It ends before the first that is not.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    octets: &'a [u8],
    at: usize,
    seq: u32,
    markers: Markers,
}

/// An FPDU that is whole. Of what it says nothing was checked.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// All its octets, those of a leading marker included.
    pub wire: &'a [u8],
    /// Where it begins in the octets that were walked.
    pub at: usize,
    /// Sequence number of its first octet.
    pub seq: u32,
    /// Its lengths.
    pub found: Fpdu,
    markers: Markers,
}

impl<'a> Walk<'a> {
    /// Over octets of which the first has the sequence number `seq` and an FPDU begins with it.
    pub fn new(octets: &'a [u8], seq: u32, markers: Markers) -> Self {
        Walk {
            octets,
            at: 0,
            seq,
            markers,
        }
    }

    /// How many octets were walked.
    pub fn done(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        let rest = self.octets.get(self.at..)?;
        let seq = self.seq.wrapping_add(self.at as u32);
        let found = fpdu::measure(rest, seq, self.markers).ok()?;
        let wire = rest.get(..found.wire_length)?;
        let at = self.at;
        self.at += found.wire_length;
        Some(Unit {
            wire,
            at,
            seq,
            found,
            markers: self.markers,
        })
    }
}

impl<'a> Unit<'a> {
    /// Its markers, then its CRC if `crc` (RFC 5044 §4).
    pub fn check(&self, crc: bool) -> Result<(), Violation> {
        if !fpdu::markers_are_right(self.wire, self.seq, self.markers) {
            return Err(Violation::Marker);
        }
        if crc && !fpdu::crc_is_right(self.wire) {
            return Err(Violation::Crc);
        }
        Ok(())
    }

    /// Its ULPDU if no marker stands in it.
    pub fn whole_ulpdu(&self) -> Option<&'a [u8]> {
        fpdu::whole_ulpdu(self.wire, self.seq, self.markers, &self.found)
    }

    /// Its ULPDU, moved to `room` without markers: 65535 octets always suffice, else it is cut.
    pub fn unmarked<'b>(&self, room: &'b mut [u8]) -> &'b [u8] {
        fpdu::unmark(self.wire, self.seq, self.markers, &self.found, room)
    }
}
