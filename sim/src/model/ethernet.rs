//! Ethernet, IPv4 and TCP: taking frames apart with all checks of the receive path, and making them.

use weft_layout::{Counter, FlowTxRow, Job};

/// Bytes of the Ethernet header.
pub const ETHERNET: usize = 14;
const IPV4: usize = 20;
const TCP: usize = 20;

/// TCP flag bits.
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronize sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment field counts.
    pub const ACK: u8 = 0x10;
    /// Urgent pointer.
    pub const URG: u8 = 0x20;
}

/// The Internet checksum (RFC 1071) of the parts, each of which but the last has an even length.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u64;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u64::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        }
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Marks an IPv4 frame as a congested port does (RFC 3168 §5), if its flow knows marks; else it is as it was. The header's
/// checksum is mended by the difference (RFC 1624 §3): one that was wrong stays wrong.
pub fn mark(frame: &mut [u8]) -> bool {
    let ip4 = frame.len() >= ETHERNET + IPV4 && be16(frame, 12) == 0x0800;
    if !ip4 || matches!(frame[ETHERNET + 1] & 3, 0 | 3) {
        return false;
    }
    let before = be16(frame, ETHERNET);
    frame[ETHERNET + 1] |= 3;
    let mut sum = u32::from(!be16(frame, ETHERNET + 10))
        + u32::from(!before)
        + u32::from(be16(frame, ETHERNET));
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    true
}

/// What the receive path reads of a TCP segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// remote_ip, local_ip, remote_port, local_port as on the wire.
    pub key: [u8; 12],
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Window field.
    pub window: u16,
    /// Flags.
    pub flags: u8,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// The first three SACK blocks.
    pub sacks: Vec<(u32, u32)>,
    /// Where the payload begins in the frame.
    pub offset: usize,
    /// Its bytes.
    pub len: usize,
    /// Its TCP options were not read: the IP header has options, or one of them an impossible length.
    pub unread: bool,
    /// ECN field of the IP header, and the AE flag above it.
    pub ecn: u8,
}

impl Segment {
    /// Is the frame itself wanted, whether or not it carries payload?
    pub fn wants_raw(&self) -> bool {
        self.unread || self.flags & (flag::SYN | flag::RST) != 0
    }
}

/// What the headers of a frame say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// To be dropped, and counted here.
    Drop(Counter),
    /// No TCP segment the card understands: for the raw ring.
    Other,
    /// A TCP segment with good checksums.
    Tcp(Segment),
}

fn be16(b: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([b[at], b[at + 1]])
}

fn be32(b: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// Takes a frame apart, of at least 14 bytes, that is for this station.
pub fn parse(frame: &[u8]) -> Parsed {
    parse_for(frame, true)
}

/// Takes a frame apart; TCP is looked at only if the frame is for this station alone.
pub fn parse_for(frame: &[u8], station: bool) -> Parsed {
    if be16(frame, 12) != 0x0800 {
        return Parsed::Other;
    }
    let ip = &frame[ETHERNET..];
    if ip.len() < IPV4 || ip[0] >> 4 != 4 {
        return Parsed::Drop(Counter::RxDropIpHeader);
    }
    let (header, total) = (usize::from(ip[0] & 15) * 4, usize::from(be16(ip, 2)));
    if header < IPV4 || total < header || total > ip.len() {
        return Parsed::Drop(Counter::RxDropIpHeader);
    }
    if checksum(&[&ip[..header]]) != 0 {
        return Parsed::Drop(Counter::RxDropIpChecksum);
    }
    let fragment = be16(ip, 6) & 0x3fff != 0;
    if !station || fragment || ip[9] != 6 {
        return Parsed::Other;
    }
    let tcp = &ip[header..total];
    if tcp.len() < TCP {
        return Parsed::Drop(Counter::RxDropTcpHeader);
    }
    let data = usize::from(tcp[12] >> 4) * 4;
    if data < TCP || data > tcp.len() {
        return Parsed::Drop(Counter::RxDropTcpHeader);
    }
    let mut segment = Segment {
        seq: be32(tcp, 4),
        ack: be32(tcp, 8),
        window: be16(tcp, 14),
        flags: tcp[13],
        offset: ETHERNET + header + data,
        len: tcp.len() - data,
        unread: header != IPV4,
        ecn: ip[1] & 3 | (tcp[12] & 1) << 2,
        ..Segment::default()
    };
    segment.key[..8].copy_from_slice(&ip[12..20]);
    segment.key[8..].copy_from_slice(&tcp[..4]);
    if !segment.unread && !options(&tcp[TCP..data], &mut segment) {
        // Software reads them up to there, as Linux does.
        (segment.timestamps, segment.sacks) = (None, Vec::new());
        segment.unread = true;
    }
    let pseudo = [0, 6, (tcp.len() >> 8) as u8, tcp.len() as u8];
    if checksum(&[&ip[12..20], &pseudo, tcp]) != 0 {
        return Parsed::Drop(Counter::RxDropTcpChecksum);
    }
    Parsed::Tcp(segment)
}

/// Reads the TCP options; `false` if a length is impossible.
fn options(mut rest: &[u8], segment: &mut Segment) -> bool {
    loop {
        match rest {
            [] | [0, ..] => return true,
            [1, tail @ ..] => rest = tail,
            [_] => return false,
            [kind, len, ..] => {
                let len = usize::from(*len);
                if len < 2 || len > rest.len() {
                    return false;
                }
                match (kind, len) {
                    (8, 10) => segment.timestamps = Some((be32(rest, 2), be32(rest, 6))),
                    (5, 10 | 18 | 26 | 34) => {
                        segment.sacks = (2..len)
                            .step_by(8)
                            .take(3)
                            .map(|at| (be32(rest, at), be32(rest, at + 4)))
                            .collect();
                    }
                    _ => {}
                }
                rest = &rest[len..];
            }
        }
    }
}

/// The frame of one TCP segment of a flow: addresses and options from its row, the rest from the job.
pub fn segment(
    row: &FlowTxRow,
    job: &Job,
    seq: u32,
    flags: u8,
    id: u16,
    payload: &[u8],
) -> Vec<u8> {
    let timestamps = row.timestamps();
    let header = if timestamps { TCP + 12 } else { TCP };
    let total = IPV4 + header + payload.len();
    let mut f = Vec::with_capacity(ETHERNET + total);
    f.extend_from_slice(&row.remote_mac);
    f.extend_from_slice(&row.local_mac);
    f.extend_from_slice(&[8, 0]);
    f.extend_from_slice(&[0x45, row.tos | u8::from(job.ect()) << 1]);
    f.extend_from_slice(&(total as u16).to_be_bytes());
    f.extend_from_slice(&id.to_be_bytes());
    f.extend_from_slice(&[0x40, 0, row.ttl, 6, 0, 0]);
    f.extend_from_slice(&row.local_ip);
    f.extend_from_slice(&row.remote_ip);
    f.extend_from_slice(&row.local_port);
    f.extend_from_slice(&row.remote_port);
    f.extend_from_slice(&seq.to_be_bytes());
    f.extend_from_slice(&job.ack.to_be_bytes());
    f.extend_from_slice(&[(header as u8 / 4) << 4, flags]);
    f.extend_from_slice(&job.window.to_be_bytes());
    f.extend_from_slice(&[0; 4]);
    if timestamps {
        f.extend_from_slice(&[1, 1, 8, 10]);
        f.extend_from_slice(&job.ts_val.to_be_bytes());
        f.extend_from_slice(&job.ts_ecr.to_be_bytes());
    }
    f.extend_from_slice(payload);
    fill_checksums(&mut f);
    f
}

/// The frame with these IP options, a multiple of 4 bytes and at most 40.
pub fn with_ip_options(frame: &[u8], options: &[u8]) -> Vec<u8> {
    let words = (options.len() / 4) as u8;
    with_options(frame, ETHERNET + IPV4, options, ETHERNET, words)
}

/// The frame with these TCP options behind those that it has, a multiple of 4 bytes and at most 40 in all; it has no IP options.
pub fn with_tcp_options(frame: &[u8], options: &[u8]) -> Vec<u8> {
    let offset = ETHERNET + IPV4 + 12;
    let at = ETHERNET + IPV4 + usize::from(frame[offset] >> 4) * 4;
    let words = (options.len() / 4) as u8;
    with_options(frame, at, options, offset, words << 4)
}

/// The frame with options at `at`, and with `more` in the byte that tells the length of their header.
fn with_options(frame: &[u8], at: usize, options: &[u8], length: usize, more: u8) -> Vec<u8> {
    let mut f = [&frame[..at], options, &frame[at..]].concat();
    f[length] += more;
    let total = be16(&f, ETHERNET + 2) + options.len() as u16;
    f[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&total.to_be_bytes());
    fill_checksums(&mut f);
    f
}

/// Writes both checksums of an IPv4 TCP frame.
pub fn fill_checksums(f: &mut [u8]) {
    let (ip, tcp) = (ETHERNET, ETHERNET + usize::from(f[ETHERNET] & 15) * 4);
    let end = ip + usize::from(be16(f, ip + 2));
    f[ip + 10..ip + 12].fill(0);
    let sum = checksum(&[&f[ip..tcp]]);
    f[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    f[tcp + 16..tcp + 18].fill(0);
    let len = (end - tcp) as u16;
    let pseudo = [0, 6, (len >> 8) as u8, len as u8];
    let sum = checksum(&[&f[ip + 12..ip + 20], &pseudo, &f[tcp..end]]);
    f[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Cuts a TCP segment in two as a middle box would, at a byte chosen by `choice`. `None` if it has
/// fewer than two payload bytes or is no TCP.
pub fn cut_segment(frame: &[u8], choice: u32) -> Option<(Vec<u8>, Vec<u8>)> {
    if frame.len() < ETHERNET {
        return None;
    }
    let Parsed::Tcp(segment) = parse(frame) else {
        return None;
    };
    if segment.len < 2 || segment.flags & (flag::SYN | flag::RST) != 0 {
        return None;
    }
    let first = 1 + choice as usize % (segment.len - 1);
    let part = |from: usize, to: usize, keep: u8| {
        let mut f = frame[..segment.offset].to_vec();
        f.extend_from_slice(&frame[segment.offset + from..segment.offset + to]);
        let total = (f.len() - ETHERNET) as u16;
        f[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&total.to_be_bytes());
        let tcp = ETHERNET + usize::from(f[ETHERNET] & 15) * 4;
        f[tcp + 4..tcp + 8].copy_from_slice(&segment.seq.wrapping_add(from as u32).to_be_bytes());
        f[tcp + 13] &= keep;
        fill_checksums(&mut f);
        f
    };
    Some((
        part(0, first, !(flag::PSH | flag::FIN)),
        part(first, segment.len, 0xff),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> FlowTxRow {
        FlowTxRow {
            flags: FlowTxRow::VALID | FlowTxRow::TIMESTAMPS,
            ttl: 64,
            local_ip: [10, 0, 0, 1],
            remote_ip: [10, 0, 0, 2],
            local_port: [0x30, 0x39],
            remote_port: [0, 80],
            ..FlowTxRow::default()
        }
    }

    #[test]
    fn what_is_made_is_understood() {
        let job = Job {
            ack: 7,
            window: 500,
            ts_val: 11,
            ts_ecr: 12,
            ..Job::default()
        };
        let frame = segment(&row(), &job, 1000, flag::ACK | flag::PSH, 3, b"odd");
        let Parsed::Tcp(s) = parse(&frame) else {
            panic!("not understood")
        };
        assert_eq!((s.seq, s.ack, s.window, s.flags), (1000, 7, 500, 0x18));
        assert_eq!(s.timestamps, Some((11, 12)));
        assert_eq!(&frame[s.offset..s.offset + s.len], b"odd");
        for bit in 0..frame.len() * 8 {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            if bit / 8 >= ETHERNET {
                assert!(
                    !matches!(parse(&bad), Parsed::Tcp(_)),
                    "bit {bit} flipped, not noticed"
                );
            }
        }
    }

    #[test]
    fn a_mark_is_on_what_may_be_marked_and_the_checksum_stays_as_right_as_it_was() {
        for identification in [0, 1, 0x1234, 0xfffe, 0xffff] {
            for field in 0..4 {
                let mut frame =
                    segment(&row(), &Job::default(), 1, flag::ACK, identification, b"x");
                frame[ETHERNET + 1] |= field;
                let header = ETHERNET + 10..ETHERNET + 12;
                frame[header.clone()].fill(0);
                let sum = checksum(&[&frame[ETHERNET..ETHERNET + IPV4]]);
                frame[header.clone()].copy_from_slice(&sum.to_be_bytes());
                let mut wrong = frame.clone();
                wrong[ETHERNET + 10] ^= 0x20;
                let before = frame.clone();

                let may = matches!(field, 1 | 2);
                assert_eq!((mark(&mut frame), mark(&mut wrong)), (may, may));
                assert_eq!(frame[ETHERNET + 1] & 3, if may { 3 } else { field });
                let Parsed::Tcp(seen) = parse(&frame) else {
                    panic!("the checksum of a marked frame is wrong")
                };
                assert_eq!(seen.ecn & 3, frame[ETHERNET + 1] & 3);
                assert!(!matches!(parse(&wrong), Parsed::Tcp(_)));
                frame[ETHERNET + 1] = before[ETHERNET + 1];
                frame[header.clone()].copy_from_slice(&before[header]);
                assert_eq!(frame, before, "something else was changed");
            }
        }
        for other in [&[0; 60][..], &[0x45; 33]] {
            let mut frame = other.to_vec();
            assert!(!mark(&mut frame) && frame == other);
        }
    }

    #[test]
    fn a_cut_segment_is_two_good_ones() {
        let frame = segment(
            &row(),
            &Job::default(),
            u32::MAX,
            flag::ACK | flag::PSH,
            3,
            b"abcdef",
        );
        for choice in 0..20 {
            let (a, b) = cut_segment(&frame, choice).expect("has payload");
            let (Parsed::Tcp(x), Parsed::Tcp(y)) = (parse(&a), parse(&b)) else {
                panic!("bad part")
            };
            assert_eq!(y.seq, x.seq.wrapping_add(x.len as u32));
            assert_eq!([&a[x.offset..], &b[y.offset..]].concat(), b"abcdef");
        }
    }

    #[test]
    fn impossible_options_are_noticed() {
        let mut s = Segment::default();
        assert!(options(&[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2], &mut s));
        assert_eq!(s.sacks, [(1, 2)]);
        assert!(options(&[0, 3, 99], &mut s));
        assert!(!options(&[3, 1], &mut s));
        assert!(!options(&[3, 5, 0], &mut s));
        assert!(!options(&[8], &mut s));
    }
}
