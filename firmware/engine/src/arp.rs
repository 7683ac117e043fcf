//! Station addresses of neighbours.

use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::{Mac, MIN_FRAME};

const ENTRIES: usize = 64;

/// The addresses known, oldest replaced first.
#[derive(Debug)]
pub struct Neighbours {
    entries: [Option<([u8; 4], Mac)>; ENTRIES],
    oldest: usize,
}

impl Neighbours {
    /// None known.
    pub fn new() -> Self {
        Neighbours {
            entries: [None; ENTRIES],
            oldest: 0,
        }
    }

    /// The station of an IPv4 address.
    pub fn find(&self, ip: [u8; 4]) -> Option<Mac> {
        self.entries
            .iter()
            .flatten()
            .find(|entry| entry.0 == ip)
            .map(|entry| entry.1)
    }

    /// Takes what an ARP packet says about its sender (RFC 826: an entry that exists is always
    /// updated, a new one is made only if the packet is for this station). The reply, if the
    /// packet calls for one; the second value is true if an address became known or has changed.
    pub fn receive(&mut self, arp: &Arp, ip: [u8; 4], mac: Mac) -> (Option<[u8; MIN_FRAME]>, bool) {
        let for_us = arp.target_ip == ip;
        let unicast = arp.sender_mac[0] & 1 == 0;
        let mut learned = false;
        if unicast && arp.sender_ip != [0; 4] && arp.sender_ip != ip {
            let known = self
                .entries
                .iter_mut()
                .flatten()
                .find(|entry| entry.0 == arp.sender_ip);
            if let Some(entry) = known {
                learned = entry.1 != arp.sender_mac;
                entry.1 = arp.sender_mac;
            } else if for_us {
                self.entries[self.oldest] = Some((arp.sender_ip, arp.sender_mac));
                self.oldest = (self.oldest + 1) % ENTRIES;
                learned = true;
            }
        }
        let reply = (for_us && arp.operation == Operation::Request).then(|| {
            Arp {
                operation: Operation::Reply,
                sender_mac: mac,
                sender_ip: ip,
                target_mac: arp.sender_mac,
                target_ip: arp.sender_ip,
            }
            .frame()
        });
        (reply, learned)
    }

    /// The question for an address.
    pub fn request(ip: [u8; 4], mac: Mac, wanted: [u8; 4]) -> [u8; MIN_FRAME] {
        Arp {
            operation: Operation::Request,
            sender_mac: mac,
            sender_ip: ip,
            target_mac: [0; 6],
            target_ip: wanted,
        }
        .frame()
    }
}
