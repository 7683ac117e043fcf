//! A TCP segment without payload, as it stands in a frame, and what a kernel answers to it.

use std::net::SocketAddrV4;

/// Flags.
pub(super) const SYN: u8 = 0x02;
pub(super) const RST: u8 = 0x04;
const ACK: u8 = 0x10;

const ETHERNET: usize = 14;
const IP: usize = 20;
const TCP: usize = 24;
const IPV4: [u8; 2] = [0x08, 0x00];
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_ICMP: u8 = 1;
const UNREACHABLE: u8 = 3;
/// A station that is nobody's: the kernel learns none from a frame.
const SOMEBODY: [u8; 6] = [0x02, 0, 0, 0, 0, 0];

/// Who sends what number to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) from: SocketAddrV4,
    pub(super) to: SocketAddrV4,
    pub(super) seq: u32,
}

/// What a kernel answers to a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// SYN and ACK: somebody listens.
    Accepted,
    /// RST, or ICMP says why not.
    Refused,
}

/// The one's complement sum of 16-bit words, from `sum` on, folded and inverted.
fn checksum(sum: u32, bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| {
        let second = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], second]))
    });
    let mut sum = words.fold(sum, |sum, word| sum + word);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

/// Protocol, addresses, and what is behind the header of an IPv4 packet that is no later piece of one.
fn open(packet: &[u8]) -> Option<(u8, [u32; 2], &[u8])> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    if packet[0] >> 4 != 4 || length < IP || half(packet, 6)? & 0x1fff != 0 {
        return None;
    }
    let addresses = [word(packet, 12)?, word(packet, 16)?];
    Some((*packet.get(9)?, addresses, packet.get(length..)?))
}

impl Segment {
    /// The frame, to this station: an IPv4 packet with a TCP header that has an MSS.
    pub(super) fn frame(&self, station: [u8; 6], flags: u8) -> Vec<u8> {
        let mut tcp = [0; TCP];
        tcp[..2].copy_from_slice(&self.from.port().to_be_bytes());
        tcp[2..4].copy_from_slice(&self.to.port().to_be_bytes());
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[12] = (TCP as u8 / 4) << 4;
        tcp[13] = flags;
        tcp[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
        tcp[20..24].copy_from_slice(&[2, 4, 0x05, 0xb4]);
        let [from, to] = [self.from.ip().octets(), self.to.ip().octets()];
        let pseudo = [&from[..], &to, &[0, PROTOCOL_TCP, 0, TCP as u8]].concat();
        let sum = u32::from(!checksum(0, &pseudo));
        let sum = checksum(sum, &tcp).to_be_bytes();
        tcp[16..18].copy_from_slice(&sum);
        let mut ip = [0; IP];
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&((IP + TCP) as u16).to_be_bytes());
        // Not to be cut.
        ip[6] = 0x40;
        ip[8] = 64;
        ip[9] = PROTOCOL_TCP;
        ip[12..16].copy_from_slice(&from);
        ip[16..20].copy_from_slice(&to);
        let sum = checksum(0, &ip).to_be_bytes();
        ip[10..12].copy_from_slice(&sum);
        [&station[..], &SOMEBODY, &IPV4, &ip, &tcp].concat()
    }

    /// Is it this IPv4 packet, or the begin of it?
    pub(super) fn is_packet(&self, packet: &[u8]) -> bool {
        self.is_in(packet).is_some()
    }

    fn is_in(&self, packet: &[u8]) -> Option<()> {
        let (protocol, addresses, tcp) = open(packet)?;
        let is_it = protocol == PROTOCOL_TCP
            && addresses == [*self.from.ip(), *self.to.ip()].map(u32::from)
            && [half(tcp, 0)?, half(tcp, 2)?] == [self.from.port(), self.to.port()]
            && word(tcp, 4)? == self.seq;
        is_it.then_some(())
    }

    /// What a frame answers to this SYN, if it does.
    pub(super) fn answer(&self, frame: &[u8]) -> Option<Answer> {
        if frame.get(12..ETHERNET)? != IPV4 {
            return None;
        }
        let (protocol, addresses, rest) = open(frame.get(ETHERNET..)?)?;
        if addresses != [*self.to.ip(), *self.from.ip()].map(u32::from) {
            return None;
        }
        if protocol == PROTOCOL_ICMP && rest.first() == Some(&UNREACHABLE) {
            // What it is about stands in it.
            self.is_in(rest.get(8..)?)?;
            return Some(Answer::Refused);
        }
        let is_answer = protocol == PROTOCOL_TCP
            && [half(rest, 0)?, half(rest, 2)?] == [self.to.port(), self.from.port()]
            && word(rest, 8)? == self.seq.wrapping_add(1);
        let flags = *rest.get(13)?;
        match is_answer {
            true if flags & RST != 0 => Some(Answer::Refused),
            true if flags & (SYN | ACK) == SYN | ACK => Some(Answer::Accepted),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATION: [u8; 6] = [2, 0x57, 10, 0, 0, 1];

    fn syn() -> Segment {
        Segment {
            from: "10.0.0.2:40000".parse().expect("an address"),
            to: "10.0.0.1:7471".parse().expect("an address"),
            seq: 0xffff_ffff,
        }
    }

    /// As it was sent by a stack: `from` and `to` the other way, `ack`, flags.
    fn back(ack: u32, flags: u8) -> Vec<u8> {
        let one = syn();
        let mut frame = Segment {
            from: one.to,
            to: one.from,
            seq: 77,
        }
        .frame(STATION, flags);
        frame[ETHERNET + IP + 8..ETHERNET + IP + 12].copy_from_slice(&ack.to_be_bytes());
        frame
    }

    #[test]
    fn sums_are_right() {
        let frame = syn().frame(STATION, SYN);
        let (ip, tcp) = frame[ETHERNET..].split_at(IP);
        assert_eq!(checksum(0, ip), 0);
        let pseudo = [&ip[12..20], &[0, PROTOCOL_TCP, 0, TCP as u8]].concat();
        assert_eq!(checksum(u32::from(!checksum(0, &pseudo)), tcp), 0);
        assert_eq!(frame.len(), ETHERNET + IP + TCP);
    }

    #[test]
    fn only_answers_are_answers() {
        let one = syn();
        assert_eq!(one.answer(&back(0, RST | ACK)), Some(Answer::Refused));
        assert_eq!(one.answer(&back(0, SYN | ACK)), Some(Answer::Accepted));
        // To another segment; of the connection's middle; the SYN itself.
        assert_eq!(one.answer(&back(1, RST | ACK)), None);
        assert_eq!(one.answer(&back(0, ACK)), None);
        assert_eq!(one.answer(&one.frame(STATION, SYN)), None);
        let mut icmp = back(0, ACK)[..ETHERNET + IP].to_vec();
        icmp[ETHERNET + 9] = PROTOCOL_ICMP;
        icmp.extend([UNREACHABLE, 13, 0, 0, 0, 0, 0, 0]);
        let of = |segment: Segment| {
            let about = &segment.frame(STATION, SYN)[ETHERNET..ETHERNET + IP + 8];
            [&icmp[..], about].concat()
        };
        assert_eq!(one.answer(&of(one)), Some(Answer::Refused));
        assert_eq!(one.answer(&of(Segment { seq: 5, ..one })), None);
    }

    /// Whatever a frame is, it is looked at within its bounds.
    #[test]
    fn pieces_of_frames_are_nothing() {
        let one = syn();
        for frame in [back(0, RST | ACK), back(0, SYN | ACK)] {
            for length in 0..frame.len() {
                let cut = &frame[..length];
                let whole = length >= ETHERNET + IP + 14;
                assert_eq!(one.answer(cut).is_some(), whole, "{length}");
            }
            for at in ETHERNET..ETHERNET + IP {
                for bit in 0..8 {
                    let mut wrong = frame.clone();
                    wrong[at] ^= 1 << bit;
                    let _ = one.answer(&wrong);
                    let _ = one.is_packet(&wrong[ETHERNET..]);
                }
            }
        }
        let packet = &one.frame(STATION, SYN)[ETHERNET..];
        for length in 0..packet.len() {
            assert_eq!(
                one.is_packet(&packet[..length]),
                length >= IP + 8,
                "{length}"
            );
        }
    }
}
