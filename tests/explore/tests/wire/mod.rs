//! The octets of an exploration as octets on the wire, each so many of them: FPDUs of Writes, each with its own place and contents.
#![allow(dead_code)]

use weft_explore::stream::{end_of, start_of};
use weft_sim::model::mpa;

/// Octets on the wire for one of the exploration.
pub const OCTET: u32 = 256;
/// Of an FPDU, what is no payload: length, tagged header, CRC.
const AROUND: u32 = 2 + 14 + 4;
/// Octets of the exploration after which places are used anew.
const PLACES: u32 = 1 << 13;
/// The sink's length.
pub const SINK: usize = (PLACES * OCTET) as usize;

/// A payload, and where in the sink it belongs.
pub struct Payload {
    pub at: usize,
    pub bytes: Vec<u8>,
}

/// Of the FPDU that begins at this octet.
pub fn payload(start: u32) -> Payload {
    let length = (end_of(start) - start) * OCTET - AROUND;
    Payload {
        at: (start % PLACES * OCTET) as usize,
        bytes: (0..length)
            .map(|at| (start * 7 + at * 31 + at / 256 + 1) as u8 | 1)
            .collect(),
    }
}

/// Those of the FPDUs of `[from, to)`.
pub fn payloads(from: u32, to: u32) -> Vec<Payload> {
    let mut all = Vec::new();
    let mut start = from;
    while start < to {
        all.push(payload(start));
        start = end_of(start);
    }
    all
}

/// `[from, to)` as they lie in segments, for a sink at tagged offset `base` of this STag.
pub fn octets(from: u32, to: u32, stag: u32, base: u64) -> Vec<u8> {
    let mut stream = Vec::new();
    let first = start_of(from);
    let mut start = first;
    while start < to {
        let payload = payload(start);
        let mut ulpdu = vec![0xc1, 0x40];
        ulpdu.extend_from_slice(&stag.to_be_bytes());
        ulpdu.extend_from_slice(&(base + payload.at as u64).to_be_bytes());
        ulpdu.extend_from_slice(&payload.bytes);
        stream.extend(mpa::frame(0, None, true, &ulpdu));
        start = end_of(start);
    }
    let at = |octet: u32| ((octet - first) * OCTET) as usize;
    stream[at(from)..at(to)].to_vec()
}
