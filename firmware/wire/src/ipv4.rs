//! IPv4 headers (RFC 791).

use crate::bytes::{array_at, u16_at, u8_at, Writer};
use crate::checksum::Checksum;

/// Bytes of a header without options.
pub const HEADER: usize = 20;

/// Protocol numbers.
pub mod protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
}

/// Why a packet is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv4Error {
    /// Version, header length or total length is impossible.
    Header,
    /// The header checksum is wrong.
    Checksum,
}

/// A packet received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Packet<'a> {
    /// From.
    pub source: [u8; 4],
    /// To.
    pub destination: [u8; 4],
    /// What follows.
    pub protocol: u8,
    /// Time to live.
    pub ttl: u8,
    /// Type of service.
    pub tos: u8,
    /// True for a piece of a fragmented packet.
    pub fragment: bool,
    /// Where the piece begins, in units of 8 bytes; 0 for a whole packet.
    pub fragment_offset: u16,
    /// True if the header has options.
    pub has_options: bool,
    /// What follows the header, Ethernet padding removed.
    pub payload: &'a [u8],
}

impl<'a> Ipv4Packet<'a> {
    /// Reads and checks what follows the Ethernet header.
    pub fn parse(packet: &'a [u8]) -> Result<Self, Ipv4Error> {
        let first = u8_at(packet, 0).ok_or(Ipv4Error::Header)?;
        let header_length = usize::from(first & 15) * 4;
        let header = packet.get(..header_length).ok_or(Ipv4Error::Header)?;
        let total = usize::from(u16_at(packet, 2).ok_or(Ipv4Error::Header)?);
        if first >> 4 != 4 || header_length < HEADER || total < header_length {
            return Err(Ipv4Error::Header);
        }
        let payload = packet.get(header_length..total).ok_or(Ipv4Error::Header)?;
        if Checksum::default().bytes(header).finish() != 0 {
            return Err(Ipv4Error::Checksum);
        }
        let fragment = u16_at(header, 6).ok_or(Ipv4Error::Header)?;
        Ok(Ipv4Packet {
            source: array_at(header, 12).ok_or(Ipv4Error::Header)?,
            destination: array_at(header, 16).ok_or(Ipv4Error::Header)?,
            protocol: header[9],
            ttl: header[8],
            tos: header[1],
            fragment: fragment & 0x3fff != 0,
            fragment_offset: fragment & 0x1fff,
            has_options: header_length > HEADER,
            payload,
        })
    }
}

/// A header to send: no options, DF set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// From.
    pub source: [u8; 4],
    /// To.
    pub destination: [u8; 4],
    /// What follows.
    pub protocol: u8,
    /// Time to live.
    pub ttl: u8,
    /// Type of service.
    pub tos: u8,
    /// Identification.
    pub identification: u16,
}

impl Ipv4Header {
    /// Appends the header of a packet with so many bytes behind it.
    pub fn write(&self, payload_length: usize, out: &mut Writer<'_>) {
        let mut header = [0; HEADER];
        let mut fields = Writer::new(&mut header);
        fields
            .u8(0x45)
            .u8(self.tos)
            .u16((HEADER + payload_length) as u16)
            .u16(self.identification)
            .u16(0x4000)
            .u8(self.ttl)
            .u8(self.protocol)
            .u16(0)
            .put(&self.source)
            .put(&self.destination);
        let checksum = Checksum::default().bytes(&header).finish();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        out.put(&header);
    }
}

/// The sum over the pseudo header of TCP (RFC 9293 §3.1).
pub fn pseudo_header(
    source: [u8; 4],
    destination: [u8; 4],
    protocol: u8,
    length: usize,
) -> Checksum {
    Checksum::default()
        .bytes(&source)
        .bytes(&destination)
        .word(u16::from(protocol))
        .word(length as u16)
}
