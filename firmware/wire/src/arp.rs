//! ARP for IPv4 over Ethernet (RFC 826).

use crate::bytes::{array_at, u16_at, Writer};
use crate::ethernet::{ethertype, EthernetHeader, Mac, BROADCAST, MIN_FRAME};

/// Request or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Who has the address?
    Request,
    /// I have.
    Reply,
}

/// An ARP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// Request or reply.
    pub operation: Operation,
    /// Station address of the sender.
    pub sender_mac: Mac,
    /// Its IPv4 address.
    pub sender_ip: [u8; 4],
    /// Station address of the target (of no meaning in a request).
    pub target_mac: Mac,
    /// The IPv4 address in question.
    pub target_ip: [u8; 4],
}

impl Arp {
    /// Reads what follows the Ethernet header.
    pub fn parse(packet: &[u8]) -> Option<Self> {
        if array_at(packet, 0)? != [0, 1, 8, 0, 6, 4] {
            return None;
        }
        Some(Arp {
            operation: match u16_at(packet, 6)? {
                1 => Operation::Request,
                2 => Operation::Reply,
                _ => return None,
            },
            sender_mac: array_at(packet, 8)?,
            sender_ip: array_at(packet, 14)?,
            target_mac: array_at(packet, 18)?,
            target_ip: array_at(packet, 24)?,
        })
    }

    /// The whole frame, padded to the shortest Ethernet frame: a request to all stations, a reply
    /// to the target.
    pub fn frame(&self) -> [u8; MIN_FRAME] {
        let mut frame = [0; MIN_FRAME];
        let mut out = Writer::new(&mut frame);
        EthernetHeader {
            destination: match self.operation {
                Operation::Request => BROADCAST,
                Operation::Reply => self.target_mac,
            },
            source: self.sender_mac,
            ethertype: ethertype::ARP,
        }
        .write(&mut out);
        out.put(&[0, 1, 8, 0, 6, 4])
            .u16(match self.operation {
                Operation::Request => 1,
                Operation::Reply => 2,
            })
            .put(&self.sender_mac)
            .put(&self.sender_ip)
            .put(&self.target_mac)
            .put(&self.target_ip);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let arp = Arp {
            operation: Operation::Reply,
            sender_mac: [2, 0, 0, 0, 0, 1],
            sender_ip: [10, 0, 0, 1],
            target_mac: [2, 0, 0, 0, 0, 2],
            target_ip: [10, 0, 0, 2],
        };
        let frame = arp.frame();
        let (ethernet, packet) = EthernetHeader::parse(&frame).unwrap();
        assert_eq!(ethernet.ethertype, ethertype::ARP);
        assert_eq!(ethernet.destination, arp.target_mac);
        assert_eq!(Arp::parse(packet), Some(arp));
        assert_eq!(Arp::parse(&packet[..27]), None);
    }
}
