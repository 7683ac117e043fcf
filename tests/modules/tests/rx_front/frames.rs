//! Frames, and what is to become of them before any table is asked.

use fastrand::Rng;

pub const STATION: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const MTU: usize = 1200;

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;
pub const URG: u8 = 32;

/// What the receive front has to read in a frame.
#[derive(Clone, Debug, Default)]
pub struct Tcp {
    pub key: [u8; 12],
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub flags: u8,
    pub ecn: u8,
    pub ip_options: bool,
    pub ts: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
    pub payload: Vec<u8>,
}

/// A frame and its fate at the store.
#[derive(Clone, Debug)]
pub struct Frame {
    pub bytes: Vec<u8>,
    /// Number of the reason why it is dropped.
    pub drop: Option<u8>,
    /// `None`: a plain frame.
    pub tcp: Option<Tcp>,
}

fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2);
    words
        .map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)))
        .sum()
}

fn put_sum(bytes: &mut [u8], at: usize, mut sum: u32) {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    bytes[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// The frame of a segment, with so many bytes of IP options, and then spoilt in one way or another, or not.
pub fn segment(tcp: Tcp, ip_options: usize, rng: &mut Rng) -> Frame {
    let mut options = vec![];
    if let Some((value, echo)) = tcp.ts {
        options.extend([1, 1, 8, 10]);
        options.extend(value.to_be_bytes());
        options.extend(echo.to_be_bytes());
    }
    if !tcp.sack.is_empty() {
        options.extend([1, 1, 5, 2 + 8 * tcp.sack.len() as u8]);
        for (left, right) in &tcp.sack {
            options.extend(left.to_be_bytes());
            options.extend(right.to_be_bytes());
        }
    }
    let data = 20 + options.len();
    let header = 20 + ip_options;
    let total = header + data + tcp.payload.len();
    let mut f = STATION.to_vec();
    f.extend([2, 0, 0, 0, 0, 2, 8, 0]);
    f.extend([0x40 | (header / 4) as u8, rng.u8(..) & 0xfc | tcp.ecn & 3]);
    f.extend((total as u16).to_be_bytes());
    f.extend([rng.u8(..), rng.u8(..), 0x40, 0, 64, 6, 0, 0]);
    f.extend(&tcp.key[..8]);
    f.extend((0..ip_options).map(|_| rng.u8(..)));
    f.extend(&tcp.key[8..]);
    f.extend(tcp.seq.to_be_bytes());
    f.extend(tcp.ack.to_be_bytes());
    f.extend([((data / 4) as u8 * 16) | (tcp.ecn >> 2), tcp.flags]);
    f.extend(tcp.window.to_be_bytes());
    f.extend([0, 0, rng.u8(..), rng.u8(..)]);
    f.extend(&options);
    f.extend(&tcp.payload);
    let len = (f.len() - 14 - header) as u32;
    let fate = rng.u8(0..60);
    if fate == 0 {
        // A fragment, but good.
        f[14 + 6] = if rng.bool() { 0x20 } else { 0 };
        f[14 + 7] = u8::from(f[14 + 6] == 0);
    }
    if fate == 1 {
        // To a group.
        f[0] |= 1;
    }
    let at = 14 + header;
    let tcp_sum = sum(&f[26..34]) + 6 + len + sum(&f[at..]);
    put_sum(&mut f, at + 16, tcp_sum);
    let ip_sum = sum(&f[14..at]);
    put_sum(&mut f, 24, ip_sum);
    let mut drop = None;
    match fate {
        2 => {
            // Addresses are under both sums; the IP checksum is asked first.
            f[26 + rng.usize(0..8)] ^= 1 << rng.u8(0..8);
            drop = Some(7);
        }
        3 => {
            let end = f.len();
            f[rng.usize(at + 4..end)] ^= 1 << rng.u8(0..8);
            // A wrong data offset or option may be told before the checksum.
            drop = Some(9);
        }
        _ => {}
    }
    if f.len() < 60 && rng.bool() {
        f.resize(60, rng.u8(..));
    }
    if f.len() > MTU {
        drop = Some(4);
    }
    let plain = fate < 2;
    Frame {
        bytes: f,
        drop,
        tcp: (!plain).then_some(Tcp {
            ts: tcp.ts.filter(|_| ip_options == 0),
            sack: if ip_options == 0 { tcp.sack } else { vec![] },
            ip_options: ip_options != 0,
            ..tcp
        }),
    }
}

/// A frame that is no TCP, often of a length at an edge.
pub fn plain(rng: &mut Rng) -> Frame {
    let edges = [13, 14, 63, 64, 65, MTU - 1, MTU, MTU + 1, MTU + 300];
    let len = if rng.bool() {
        edges[rng.usize(..edges.len())]
    } else {
        rng.usize(14..MTU)
    };
    let mut bytes: Vec<u8> = (0..len).map(|_| rng.u8(..)).collect();
    bytes[..6].copy_from_slice(&STATION);
    bytes[12] = 0x88;
    let drop = match len {
        0..14 => Some(3),
        _ if len > MTU => Some(4),
        _ => None,
    };
    Frame {
        bytes,
        drop,
        tcp: None,
    }
}
