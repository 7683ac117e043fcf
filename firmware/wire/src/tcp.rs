//! TCP segments (RFC 9293 §3.1) with the options MSS, window scale, SACK and timestamps.

use crate::bytes::{array_at, u16_at, u32_at, u8_at, Writer};
use crate::ethernet::{ethertype, EthernetHeader, Mac};
use crate::ipv4::{protocol, pseudo_header, Ipv4Header};

/// Bytes of a header without options.
pub const HEADER: usize = 20;
/// Most bytes of options.
pub const MAX_OPTIONS: usize = 40;
/// Headers of a frame, options included, are never longer.
pub const MAX_FRAME_HEADER: usize =
    crate::ethernet::HEADER + crate::ipv4::HEADER + HEADER + MAX_OPTIONS;

/// Control bits.
pub mod flag {
    /// FIN.
    pub const FIN: u8 = 0x01;
    /// SYN.
    pub const SYN: u8 = 0x02;
    /// RST.
    pub const RST: u8 = 0x04;
    /// PSH.
    pub const PSH: u8 = 0x08;
    /// ACK.
    pub const ACK: u8 = 0x10;
    /// URG.
    pub const URG: u8 = 0x20;
    /// ECE: data came with a mark of congestion (RFC 3168 §6.1); in a SYN and its answer: ECN is wanted.
    pub const ECE: u8 = 0x40;
    /// CWR: the echo was heeded; in a SYN: ECN is wanted.
    pub const CWR: u8 = 0x80;
}

/// Up to four SACK blocks: left and right edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// Adds a block; the fifth is left out.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = (left, right);
            self.count += 1;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The options that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 §2), at most 14.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// TSval and TSecr (RFC 7323 §3).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks (RFC 2018 §3).
    pub sack: SackBlocks,
}

/// The option in front, kind and length included; one octet if it is padding. `None` behind the last, or where a length makes no sense.
fn first_option(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let kind = u8_at(bytes, 0).filter(|kind| *kind != 0)?;
    let length = match kind {
        1 => 1,
        _ => u8_at(bytes, 1)
            .map(usize::from)
            .filter(|length| *length >= 2)?,
    };
    Some((kind, bytes.get(..length)?))
}

impl Options {
    /// Reads the option bytes of a header, up to one whose length is impossible: below 2, or beyond the header. What was read before it counts
    /// (as in Linux, `tcp_parse_options`; the reset of RFC 9293 §3.1, MUST-7, is a suggestion).
    pub fn parse(mut bytes: &[u8]) -> Self {
        let mut options = Options::default();
        while let Some((kind, option)) = first_option(bytes) {
            options.take(kind, option);
            bytes = &bytes[option.len()..];
        }
        options
    }

    fn take(&mut self, kind: u8, option: &[u8]) {
        match (kind, option.len()) {
            (2, 4) => self.mss = u16_at(option, 2),
            (3, 3) => self.window_scale = u8_at(option, 2).map(|scale| scale.min(14)),
            (4, 2) => self.sack_permitted = true,
            (5, 10..) => {
                for block in option[2..].chunks_exact(8) {
                    if let (Some(left), Some(right)) = (u32_at(block, 0), u32_at(block, 4)) {
                        self.sack.push(left, right);
                    }
                }
            }
            (8, 10) => self.timestamps = u32_at(option, 2).zip(u32_at(option, 6)),
            _ => {}
        }
    }

    /// Writes the options, padded to a multiple of four; how many bytes they take. SACK blocks
    /// that do not fit are left out.
    pub fn write(&self, out: &mut [u8; MAX_OPTIONS]) -> usize {
        let mut writer = Writer::new(out);
        if let Some(mss) = self.mss {
            writer.u8(2).u8(4).u16(mss);
        }
        if let Some(scale) = self.window_scale {
            writer.put(&[1, 3, 3, scale]);
        }
        if self.sack_permitted {
            writer.put(&[1, 1, 4, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            writer.put(&[1, 1, 8, 10]).u32(value).u32(echo);
        }
        let used = writer.finish().unwrap_or(0);
        let room = (MAX_OPTIONS - used).saturating_sub(4) / 8;
        let blocks = self.sack.as_slice();
        let blocks = &blocks[..blocks.len().min(room)];
        if !blocks.is_empty() {
            writer.put(&[1, 1, 5, (2 + 8 * blocks.len()) as u8]);
            for (left, right) in blocks {
                writer.u32(*left).u32(*right);
            }
        }
        writer.finish().unwrap_or(0)
    }
}

/// Why bytes are no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpError {
    /// The data offset is impossible.
    Header,
    /// The checksum is wrong.
    Checksum,
}

/// A segment received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSegment<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Data.
    pub payload: &'a [u8],
}

impl<'a> TcpSegment<'a> {
    /// Reads and checks an IPv4 packet's payload.
    pub fn parse(source: [u8; 4], destination: [u8; 4], bytes: &'a [u8]) -> Result<Self, TcpError> {
        let segment = Self::parse_unchecked(bytes)?;
        let sum = pseudo_header(source, destination, protocol::TCP, bytes.len()).bytes(bytes);
        if sum.finish() != 0 {
            return Err(TcpError::Checksum);
        }
        Ok(segment)
    }

    /// Reads a segment whose checksum somebody else has checked.
    pub fn parse_unchecked(bytes: &'a [u8]) -> Result<Self, TcpError> {
        let header: [u8; HEADER] = array_at(bytes, 0).ok_or(TcpError::Header)?;
        let offset = usize::from(header[12] >> 4) * 4;
        let options = bytes.get(HEADER..offset).ok_or(TcpError::Header)?;
        let field = |at| u16_at(&header, at).ok_or(TcpError::Header);
        Ok(TcpSegment {
            source_port: field(0)?,
            destination_port: field(2)?,
            seq: u32_at(&header, 4).ok_or(TcpError::Header)?,
            ack: u32_at(&header, 8).ok_or(TcpError::Header)?,
            flags: header[13],
            window: field(14)?,
            options: Options::parse(options),
            payload: &bytes[offset..],
        })
    }
}

/// Headers of a frame to send, from Ethernet to TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Ethernet source.
    pub source_mac: Mac,
    /// Ethernet destination.
    pub destination_mac: Mac,
    /// IPv4 source.
    pub source_ip: [u8; 4],
    /// IPv4 destination.
    pub destination_ip: [u8; 4],
    /// IPv4 identification.
    pub identification: u16,
    /// IPv4 type of service.
    pub tos: u8,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// Options.
    pub options: Options,
}

impl FrameHeader {
    /// Writes the frame with its checksums, not padded; its length, or `None` if it does not fit.
    pub fn write(&self, payload: &[u8], out: &mut [u8]) -> Option<usize> {
        let mut option_bytes = [0; MAX_OPTIONS];
        let option_length = self.options.write(&mut option_bytes);
        let tcp_length = HEADER + option_length + payload.len();
        if tcp_length > 0xffff - crate::ipv4::HEADER {
            return None;
        }
        let mut tcp = [0; HEADER];
        let mut fields = Writer::new(&mut tcp);
        fields
            .u16(self.source_port)
            .u16(self.destination_port)
            .u32(self.seq)
            .u32(self.ack)
            .u8((((HEADER + option_length) / 4) << 4) as u8)
            .u8(self.flags)
            .u16(self.window);
        let checksum = pseudo_header(
            self.source_ip,
            self.destination_ip,
            protocol::TCP,
            tcp_length,
        )
        .bytes(&tcp)
        .bytes(&option_bytes[..option_length])
        .bytes(payload)
        .finish();
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());

        let mut writer = Writer::new(out);
        EthernetHeader {
            destination: self.destination_mac,
            source: self.source_mac,
            ethertype: ethertype::IPV4,
        }
        .write(&mut writer);
        Ipv4Header {
            source: self.source_ip,
            destination: self.destination_ip,
            protocol: protocol::TCP,
            ttl: 64,
            tos: self.tos,
            identification: self.identification,
        }
        .write(tcp_length, &mut writer);
        writer
            .put(&tcp)
            .put(&option_bytes[..option_length])
            .put(payload);
        writer.finish()
    }
}
