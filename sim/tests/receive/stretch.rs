//! Stretches of a stream: ULPDUs, and FPDUs that follow each other.

use weft_sim::model::mpa;

use super::setup::{BASE, SEQ, STAG};

/// A Write of these octets to an offset in the region.
pub fn tagged(to: usize, octets: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, 0x40];
    ulpdu.extend_from_slice(&STAG.to_be_bytes());
    ulpdu.extend_from_slice(&(BASE + to as u64).to_be_bytes());
    ulpdu.extend_from_slice(octets);
    ulpdu
}

/// A Read Response's segment.
pub fn response(to: usize, octets: &[u8]) -> Vec<u8> {
    let mut ulpdu = tagged(to, octets);
    ulpdu[1] = 0x42;
    ulpdu
}

/// A Send's segment, or with queue 1 a Read Request's.
pub fn untagged(qn: u32, msn: u32, mo: u32, last: bool, octets: &[u8]) -> Vec<u8> {
    let opcode = if qn == 0 { 0x43 } else { 0x41 };
    let mut ulpdu = vec![u8::from(last) << 6 | 1, opcode, 0, 0, 0, 0];
    for word in [qn, msn, mo] {
        ulpdu.extend_from_slice(&word.to_be_bytes());
    }
    ulpdu.extend_from_slice(octets);
    ulpdu
}

/// Octets that tell their place, others by `salt`.
pub fn pattern(length: usize, salt: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i * 7 + i / 251 + salt) as u8)
        .collect()
}

/// FPDUs from `SEQ` on, and where they begin and end.
pub struct Stretch {
    pub octets: Vec<u8>,
    pub ends: Vec<usize>,
}

impl Stretch {
    /// Where the FPDU with this number begins.
    pub fn seq(&self, at: usize) -> u32 {
        SEQ.wrapping_add(self.ends[at] as u32)
    }
}

/// These in FPDUs, with markers from `markers` on.
pub fn stretch(markers: Option<u32>, ulpdus: &[Vec<u8>]) -> Stretch {
    let (mut octets, mut ends) = (Vec::new(), vec![0]);
    for ulpdu in ulpdus {
        let seq = SEQ.wrapping_add(octets.len() as u32);
        octets.extend(mpa::frame(seq, markers, true, ulpdu));
        ends.push(octets.len());
    }
    Stretch { octets, ends }
}
