//! The other end of a TCP connection, and iWARP's frames, written from the RFCs, byte by byte, sharing no code with Weft: it
//! says what a test wants it to say, however wrong, and keeps what it is answered.

use std::collections::VecDeque;

/// Where one end of a connection is.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    /// Ethernet address.
    pub mac: [u8; 6],
    /// IPv4 address.
    pub ip: [u8; 4],
    /// TCP port.
    pub port: u16,
}

/// TCP flags.
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise.
    pub const SYN: u8 = 0x02;
    /// Reset.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// Acknowledgment is valid.
    pub const ACK: u8 = 0x10;
}

/// One end of a connection.
pub struct Peer {
    /// This end.
    pub local: Station,
    /// The card.
    pub remote: Station,
    /// Next sequence number to send.
    pub snd_nxt: u32,
    /// Next sequence number expected.
    pub rcv_nxt: u32,
    /// Everything received in order so far.
    pub received: Vec<u8>,
    /// The handshake is done.
    pub connected: bool,
    /// A FIN came.
    pub closed: bool,
    /// An RST came.
    pub reset: bool,
    /// Takes a SYN: its connection replaces the one before.
    pub listening: bool,
    /// SYNs taken.
    pub taken: usize,
    outbox: VecDeque<Vec<u8>>,
}

impl Peer {
    /// A peer that has not connected yet.
    pub fn new(local: Station, remote: Station, isn: u32) -> Self {
        Self {
            local,
            remote,
            snd_nxt: isn,
            rcv_nxt: 0,
            received: Vec::new(),
            connected: false,
            closed: false,
            reset: false,
            listening: false,
            taken: 0,
            outbox: VecDeque::new(),
        }
    }

    /// Frames that wait to be sent.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        self.outbox.drain(..).collect()
    }

    /// Starts the handshake.
    pub fn connect(&mut self) {
        let mss = [2, 4, 0x05, 0xb4];
        let frame = self.segment(self.snd_nxt, flag::SYN, &mss, &[]);
        self.snd_nxt = self.snd_nxt.wrapping_add(1);
        self.outbox.push_back(frame);
    }

    /// Sends stream bytes in one segment.
    pub fn send(&mut self, payload: &[u8]) {
        let frame = self.segment(self.snd_nxt, flag::ACK | flag::PSH, &[], payload);
        self.snd_nxt = self.snd_nxt.wrapping_add(payload.len() as u32);
        self.outbox.push_back(frame);
    }

    /// Ends this direction in order.
    pub fn close(&mut self) {
        let frame = self.segment(self.snd_nxt, flag::ACK | flag::FIN, &[], &[]);
        self.snd_nxt = self.snd_nxt.wrapping_add(1);
        self.outbox.push_back(frame);
    }

    /// Ends both directions at once.
    pub fn abort(&mut self) {
        let frame = self.segment(self.snd_nxt, flag::ACK | flag::RST, &[], &[]);
        self.outbox.push_back(frame);
    }

    /// Answers a SYN as the passive end.
    fn take_syn(&mut self, from: u16, seq: u32) {
        self.remote.port = from;
        self.taken += 1;
        self.rcv_nxt = seq.wrapping_add(1);
        self.received.clear();
        (self.connected, self.closed, self.reset) = (true, false, false);
        let mss = [2, 4, 0x05, 0xb4];
        let frame = self.segment(self.snd_nxt, flag::SYN | flag::ACK, &mss, &[]);
        self.snd_nxt = self.snd_nxt.wrapping_add(1);
        self.outbox.push_back(frame);
    }

    /// Sends a frame as it is.
    pub fn send_frame(&mut self, frame: Vec<u8>) {
        self.outbox.push_back(frame);
    }

    /// A whole Ethernet frame with a TCP segment in it, all checksums right.
    pub fn segment(&self, seq: u32, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut tcp = Vec::new();
        tcp.extend(self.local.port.to_be_bytes());
        tcp.extend(self.remote.port.to_be_bytes());
        tcp.extend(seq.to_be_bytes());
        let ack = if flags & flag::ACK != 0 {
            self.rcv_nxt
        } else {
            0
        };
        tcp.extend(ack.to_be_bytes());
        tcp.push(((20 + options.len()) as u8 / 4) << 4);
        tcp.push(flags);
        tcp.extend([0xff, 0xff, 0, 0, 0, 0]);
        tcp.extend(options);
        tcp.extend(payload);
        let mut pseudo = Vec::new();
        pseudo.extend(self.local.ip);
        pseudo.extend(self.remote.ip);
        pseudo.extend([0, 6]);
        pseudo.extend((tcp.len() as u16).to_be_bytes());
        pseudo.extend(&tcp);
        let sum = internet_checksum(&pseudo);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());

        let mut ip = vec![0x45, 0];
        ip.extend((20 + tcp.len() as u16).to_be_bytes());
        ip.extend([0, 1, 0x40, 0, 64, 6, 0, 0]);
        ip.extend(self.local.ip);
        ip.extend(self.remote.ip);
        let sum = internet_checksum(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());

        let mut frame = Vec::new();
        frame.extend(self.remote.mac);
        frame.extend(self.local.mac);
        frame.extend([0x08, 0x00]);
        frame.extend(ip);
        frame.extend(tcp);
        frame
    }

    /// Takes a frame from the wire; answers of ARP and TCP are put into the outbox.
    pub fn receive(&mut self, frame: &[u8]) {
        match frame.get(12..14) {
            Some([0x08, 0x06]) => self.receive_arp(frame),
            Some([0x08, 0x00]) => self.receive_ip(frame),
            _ => {}
        }
    }

    fn receive_arp(&mut self, frame: &[u8]) {
        let (Some(operation), Some(target)) = (frame.get(20..22), frame.get(38..42)) else {
            return;
        };
        if operation != [0, 1] || target != self.local.ip {
            return;
        }
        let mut reply = Vec::new();
        reply.extend(&frame[6..12]);
        reply.extend(self.local.mac);
        reply.extend([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2]);
        reply.extend(self.local.mac);
        reply.extend(self.local.ip);
        reply.extend(&frame[22..32]);
        self.outbox.push_back(reply);
    }

    fn receive_ip(&mut self, frame: &[u8]) {
        let ip = &frame[14..];
        if ip.len() < 40 || ip[9] != 6 || ip[16..20] != self.local.ip {
            return;
        }
        let header = usize::from(ip[0] & 15) * 4;
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        let tcp = &ip[header..total];
        if u16::from_be_bytes([tcp[2], tcp[3]]) != self.local.port {
            return;
        }
        let from = u16::from_be_bytes([tcp[0], tcp[1]]);
        let seq = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let flags = tcp[13];
        if self.listening && flags & (flag::SYN | flag::ACK) == flag::SYN {
            self.take_syn(from, seq);
            return;
        }
        if from != self.remote.port {
            return;
        }
        let payload = &tcp[usize::from(tcp[12] >> 4) * 4..];
        if flags & flag::RST != 0 {
            self.reset = true;
            return;
        }
        if flags & flag::SYN != 0 {
            self.rcv_nxt = seq.wrapping_add(1);
            self.connected = true;
        } else if seq != self.rcv_nxt {
            return;
        } else {
            self.received.extend(payload);
            self.rcv_nxt = self.rcv_nxt.wrapping_add(payload.len() as u32);
            if flags & flag::FIN != 0 {
                self.closed = true;
                self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
            } else if payload.is_empty() {
                return;
            }
        }
        let ack = self.segment(self.snd_nxt, flag::ACK, &[], &[]);
        self.outbox.push_back(ack);
    }

    /// The MPA reply frame, if all of it has come: flags, revision, private data.
    pub fn mpa_reply(&self) -> Option<(u8, u8, Vec<u8>)> {
        let length = usize::from(u16::from_be_bytes([
            *self.received.get(18)?,
            *self.received.get(19)?,
        ]));
        let private = self.received.get(20..20 + length)?;
        assert_eq!(&self.received[..16], b"MPA ID Rep Frame");
        Some((self.received[16], self.received[17], private.to_vec()))
    }

    /// The ULPDUs that came behind the MPA reply (no markers), each with its CRC checked if `crc`.
    pub fn ulpdus(&self, crc: bool) -> Vec<Vec<u8>> {
        let Some((_, _, private)) = self.mpa_reply() else {
            return Vec::new();
        };
        let mut rest = &self.received[20 + private.len()..];
        let mut ulpdus = Vec::new();
        while rest.len() >= 2 {
            let length = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
            let padded = (2 + length).next_multiple_of(4);
            let Some(field) = rest.get(padded..padded + 4) else {
                break;
            };
            if crc {
                assert_eq!(
                    field,
                    crc32c(&rest[..padded]).to_le_bytes(),
                    "CRC of an FPDU of the card"
                );
            }
            ulpdus.push(rest[2..2 + length].to_vec());
            rest = &rest[padded + 4..];
        }
        ulpdus
    }
}

/// An MPA request frame (RFC 5044 §7.1.1).
pub fn mpa_request(flags: u8, revision: u8, private: &[u8]) -> Vec<u8> {
    mpa_frame(b"MPA ID Req Frame", flags, revision, private)
}

/// An MPA start-up frame: its key, the octet of M, C, R and S, the revision, all of the private data.
pub fn mpa_frame(key: &[u8; 16], flags: u8, revision: u8, private: &[u8]) -> Vec<u8> {
    let mut frame = key.to_vec();
    frame.extend([flags, revision]);
    frame.extend((private.len() as u16).to_be_bytes());
    frame.extend(private);
    frame
}

/// The enhanced private data (RFC 6581 §9): the IRD half with A and B, the ORD half with C and D.
pub fn enhanced(ird_half: u16, ord_half: u16) -> Vec<u8> {
    [ird_half.to_be_bytes(), ord_half.to_be_bytes()].concat()
}

/// An FPDU with a right CRC (RFC 5044 §4.1).
pub fn fpdu(ulpdu: &[u8]) -> Vec<u8> {
    let mut bytes = (ulpdu.len() as u16).to_be_bytes().to_vec();
    bytes.extend(ulpdu);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let crc = crc32c(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// A tagged DDP segment (RFC 5041 §4.1): DDP control, RDMAP control, STag, TO, payload.
pub fn tagged(ddp: u8, rdmap: u8, stag: u32, to: u64, payload: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![ddp, rdmap];
    ulpdu.extend(stag.to_be_bytes());
    ulpdu.extend(to.to_be_bytes());
    ulpdu.extend(payload);
    ulpdu
}

/// An untagged DDP segment (RFC 5041 §4.2): DDP control, RDMAP control, QN, MSN, MO, payload.
pub fn untagged(ddp: u8, rdmap: u8, qn: u32, msn: u32, mo: u32, payload: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![ddp, rdmap, 0, 0, 0, 0];
    for word in [qn, msn, mo] {
        ulpdu.extend(word.to_be_bytes());
    }
    ulpdu.extend(payload);
    ulpdu
}

/// RFC 1071.
pub fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c.get(1).copied().unwrap_or(0)])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Castagnoli (RFC 3720 §12.1); on the wire its least significant byte goes first.
pub fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (crc >> 8) ^ CASTAGNOLI[usize::from(crc as u8 ^ byte)]
    })
}

/// What eight steps of the division do to each byte.
const CASTAGNOLI: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(crc & 1));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_iscsi_examples() {
        // RFC 3720 §B.4: 32 bytes of zeroes, of ones.
        assert_eq!(crc32c(&[0; 32]).to_le_bytes(), [0xaa, 0x36, 0x91, 0x8a]);
        assert_eq!(crc32c(&[0xff; 32]).to_le_bytes(), [0x43, 0xab, 0xa8, 0x62]);
    }

    #[test]
    fn crc_of_the_worked_examples_of_rfc_5044() {
        // §4.4, figure 5: a marker, the length, a Send with 24 bytes of zeroes.
        let send = |msn: u32| untagged(0x41, 0x43, 0, msn, 0, &[0; 24]);
        let first = [&[0, 0, 0, 0, 0, 0x2a], &send(1)[..]].concat();
        assert_eq!(crc32c(&first).to_le_bytes(), [0x52, 0x23, 0x99, 0x83]);
        // Figure 6: a marker behind the DDP header.
        let mut second = [&[0, 0x2a], &send(2)[..]].concat();
        second.splice(20..20, [0, 0, 0, 0x14]);
        assert_eq!(crc32c(&second).to_le_bytes(), [0x84, 0x92, 0x58, 0x98]);
    }
}
