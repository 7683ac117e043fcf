//! Station addresses of neighbours.

use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::{Mac, MIN_FRAME};

const ENTRIES: usize = 64;
/// Time between two requests for an address.
pub const INTERVAL: u64 = 1_000_000_000;

/// The addresses known, oldest replaced first.
#[derive(Debug)]
pub struct Neighbours {
    entries: [Option<([u8; 4], Mac)>; ENTRIES],
    oldest: usize,
    /// Addresses that were asked for, and when.
    asked: [Option<([u8; 4], u64)>; ENTRIES],
    oldest_asked: usize,
}

impl Neighbours {
    /// None known.
    pub fn new() -> Self {
        Neighbours {
            entries: [None; ENTRIES],
            oldest: 0,
            asked: [None; ENTRIES],
            oldest_asked: 0,
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

    /// May this address be asked for now? Once a second, however many wait for it (RFC 1122 §2.3.2.1).
    pub fn may_ask(&self, now: u64, ip: [u8; 4]) -> bool {
        let asked = self.asked.iter().flatten().find(|asked| asked.0 == ip);
        asked.is_none_or(|(_, at)| now >= at.saturating_add(INTERVAL))
    }

    /// It was asked for.
    pub fn asked(&mut self, now: u64, ip: [u8; 4]) {
        let same = |asked: &Option<([u8; 4], u64)>| asked.is_some_and(|asked| asked.0 == ip);
        let place = self.asked.iter().position(same).unwrap_or_else(|| {
            self.oldest_asked = (self.oldest_asked + 1) % ENTRIES;
            self.oldest_asked
        });
        self.asked[place] = Some((ip, now));
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
