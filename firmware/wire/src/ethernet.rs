//! Ethernet II frames.

use crate::bytes::{array_at, u16_at, Writer};

/// A station address.
pub type Mac = [u8; 6];
/// The group address of all stations.
pub const BROADCAST: Mac = [0xff; 6];
/// Bytes of the header.
pub const HEADER: usize = 14;
/// Bytes of the shortest frame, FCS not counted.
pub const MIN_FRAME: usize = 60;

/// What a frame carries.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
}

/// The header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetHeader {
    /// To.
    pub destination: Mac,
    /// From.
    pub source: Mac,
    /// What follows.
    pub ethertype: u16,
}

impl EthernetHeader {
    /// Reads the header; also what follows it.
    pub fn parse(frame: &[u8]) -> Option<(Self, &[u8])> {
        Some((
            EthernetHeader {
                destination: array_at(frame, 0)?,
                source: array_at(frame, 6)?,
                ethertype: u16_at(frame, 12)?,
            },
            &frame[HEADER..],
        ))
    }

    /// Appends the header.
    pub fn write(&self, out: &mut Writer<'_>) {
        out.put(&self.destination)
            .put(&self.source)
            .u16(self.ethertype);
    }
}
