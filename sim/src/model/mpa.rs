//! FPDUs (RFC 5044 §4) as vectors: made and read by [`weft_wire`], as the engine's are.

use weft_wire::fpdu::{self, Markers};

/// Puts a ULPDU of at most 65535 bytes into an FPDU that begins at `seq`; `markers` is the sequence number of the first marker
/// of the stream. Without CRC its field is 0.
pub fn frame(seq: u32, markers: Option<u32>, crc: bool, ulpdu: &[u8]) -> Vec<u8> {
    let markers = Markers(markers);
    let mut out = vec![0; markers.fpdu_length(seq, ulpdu.len())];
    let length = fpdu::encode(&[ulpdu], seq, markers, crc, &mut out);
    out.truncate(length.unwrap_or(0));
    out
}
