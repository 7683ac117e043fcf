//! Frames and FPDUs, made here: nothing of the card's model is in them.

use weft_sim::bench::Ends;
use weft_wire::crc32c::crc32c;

/// A TCP segment as it is to be sent.
#[derive(Clone, Debug)]
pub struct Spec {
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub ts_val: Option<u32>,
    /// Bytes of IP options, a multiple of 4.
    pub ip_options: usize,
    /// Flags and offset of fragments.
    pub fragment: u16,
    pub protocol: u8,
    pub payload: Vec<u8>,
}

fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// From the peer to the card's end of a flow.
pub fn frame(ends: &Ends, spec: &Spec) -> Vec<u8> {
    let mut tcp = Vec::new();
    tcp.extend(ends.remote_port.to_be_bytes());
    tcp.extend(ends.local_port.to_be_bytes());
    tcp.extend(spec.seq.to_be_bytes());
    tcp.extend(spec.ack.to_be_bytes());
    let words = if spec.ts_val.is_some() { 8 } else { 5 };
    tcp.extend([words << 4, spec.flags, 0x12, 0x34, 0, 0, 0, 0]);
    if let Some(value) = spec.ts_val {
        tcp.extend([1, 1, 8, 10]);
        tcp.extend(value.to_be_bytes());
        tcp.extend([0, 0, 0, 9]);
    }
    tcp.extend(&spec.payload);
    let mut ip = vec![0x45 + (spec.ip_options / 4) as u8, 0];
    ip.extend(((20 + spec.ip_options + tcp.len()) as u16).to_be_bytes());
    ip.extend([0, 7]);
    ip.extend(spec.fragment.to_be_bytes());
    ip.extend([64, spec.protocol, 0, 0]);
    ip.extend(ends.remote_ip);
    ip.extend(ends.local_ip);
    ip.resize(20 + spec.ip_options, 1);
    let check = sum(&[&ip]);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    let pseudo = [0, 6, (tcp.len() >> 8) as u8, tcp.len() as u8];
    let check = sum(&[&ends.remote_ip, &ends.local_ip, &pseudo, &tcp]);
    tcp[16..18].copy_from_slice(&check.to_be_bytes());
    let ethernet = [&ends.local_mac[..], &ends.remote_mac, &[8, 0]].concat();
    [ethernet, ip, tcp].concat()
}

/// Is a marker due at `seq`?
pub fn marker_due(seq: u32, markers: Option<u32>) -> bool {
    markers.is_some_and(|base| seq.wrapping_sub(base) % 512 == 0)
}

/// An FPDU that begins at `seq` (RFC 5044 §4).
pub fn fpdu(seq: u32, markers: Option<u32>, ulpdu: &[u8]) -> Vec<u8> {
    let mut plain = (ulpdu.len() as u16).to_be_bytes().to_vec();
    plain.extend(ulpdu);
    plain.resize(plain.len().next_multiple_of(4), 0);
    let (mut out, mut begin) = (Vec::new(), 0);
    for (n, word) in plain.chunks(4).chain([&[0; 4][..]]).enumerate() {
        if marker_due(seq.wrapping_add(out.len() as u32), markers) {
            let distance = if n == 0 { 0 } else { out.len() - begin };
            out.extend((distance as u32).to_be_bytes());
        }
        if n == 0 {
            begin = out.len();
        }
        out.extend(word);
    }
    let end = out.len() - 4;
    let crc = crc32c(&out[..end]);
    out[end..].copy_from_slice(&crc.to_le_bytes());
    out
}

/// A tagged ULPDU.
pub fn tagged(opcode: u8, stag: u32, to: u64, data: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, 0x40 | opcode];
    ulpdu.extend(stag.to_be_bytes());
    ulpdu.extend(to.to_be_bytes());
    ulpdu.extend(data);
    ulpdu
}

/// An untagged ULPDU.
pub fn untagged(last: bool, opcode: u8, [qn, msn, mo]: [u32; 3], data: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![if last { 0x41 } else { 1 }, 0x40 | opcode, 0, 0, 0, 0];
    for word in [qn, msn, mo] {
        ulpdu.extend(word.to_be_bytes());
    }
    ulpdu.extend(data);
    ulpdu
}
