//! Station addresses of neighbours.

use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::{Mac, MIN_FRAME};

const ENTRIES: usize = 64;
/// Time between two requests for an address.
pub const INTERVAL: u64 = 1_000_000_000;

/// An address moves once in so long at most, as with Linux (`locktime`): the first word of a move counts at once, and of those that come
/// within this time the last one, when it is over.
pub const LOCK_TIME: u64 = 1_000_000_000;

/// What is known of a neighbour.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ip: [u8; 4],
    mac: Mac,
    /// When it moved last.
    moved_at: Option<u64>,
    /// Where it is by the last word that came too soon behind that.
    next: Option<Mac>,
}

impl Entry {
    /// When the last word counts, if one waits.
    fn expires_at(&self) -> Option<u64> {
        let moved_at = self.moved_at.filter(|_| self.next.is_some())?;
        Some(moved_at.saturating_add(LOCK_TIME))
    }
}

impl Entry {
    /// Somebody says where it is.
    fn is_at(&mut self, now: u64, mac: Mac) -> News {
        let locked = self
            .moved_at
            .is_some_and(|at| now < at.saturating_add(LOCK_TIME));
        match (mac == self.mac, locked) {
            (true, _) => {
                self.next = None;
                News::Nothing
            }
            (false, true) => {
                self.next = Some(mac);
                News::TooSoon
            }
            (false, false) => {
                (self.mac, self.moved_at, self.next) = (mac, Some(now), None);
                News::Found
            }
        }
    }
}

/// What an ARP packet has taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing.
    Nothing,
    /// An address became known, or has changed.
    Found,
    /// It changes again too soon.
    TooSoon,
}

/// The addresses known, oldest replaced first; of those that somebody uses only where all are used.
#[derive(Debug)]
pub struct Neighbours {
    entries: [Option<Entry>; ENTRIES],
    oldest: usize,
    /// The first time that a word which came too soon counts.
    soonest: Option<u64>,
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
            soonest: None,
            asked: [None; ENTRIES],
            oldest_asked: 0,
        }
    }

    /// The station of an IPv4 address.
    pub fn find(&self, ip: [u8; 4]) -> Option<Mac> {
        let mut entries = self.entries.iter().flatten();
        entries.find(|entry| entry.ip == ip).map(|entry| entry.mac)
    }

    /// Takes what an ARP packet says about its sender (RFC 826: an entry that exists is updated, a new one is made only if the packet is for this
    /// station). The reply, if the packet calls for one, and what was learned. `in_use`: somebody sends to that address.
    pub fn receive(
        &mut self,
        now: u64,
        arp: &Arp,
        (ip, mac): ([u8; 4], Mac),
        in_use: impl Fn([u8; 4]) -> bool,
    ) -> (Option<[u8; MIN_FRAME]>, News) {
        let for_us = arp.target_ip == ip;
        let unicast = arp.sender_mac[0] & 1 == 0;
        let mut news = News::Nothing;
        if unicast && arp.sender_ip != [0; 4] && arp.sender_ip != ip {
            let mut entries = self.entries.iter_mut().flatten();
            if let Some(entry) = entries.find(|entry| entry.ip == arp.sender_ip) {
                news = entry.is_at(now, arp.sender_mac);
                self.changed();
            } else if for_us {
                let place = self.place(in_use);
                self.entries[place] = Some(Entry {
                    ip: arp.sender_ip,
                    mac: arp.sender_mac,
                    moved_at: None,
                    next: None,
                });
                self.changed();
                news = News::Found;
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
        (reply, news)
    }

    /// A place for one more.
    fn place(&mut self, in_use: impl Fn([u8; 4]) -> bool) -> usize {
        let order = (0..ENTRIES).map(|n| (self.oldest + n) % ENTRIES);
        let free = |at: &usize| self.entries[*at].is_none_or(|entry| !in_use(entry.ip));
        let place = order.clone().find(free).unwrap_or(self.oldest);
        self.oldest = (place + 1) % ENTRIES;
        place
    }

    fn changed(&mut self) {
        let entries = self.entries.iter().flatten();
        self.soonest = entries.filter_map(Entry::expires_at).min();
    }

    /// When the next word that came too soon counts.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        self.soonest
    }

    /// An address that has moved by such a word.
    pub fn take_expired(&mut self, now: u64) -> Option<([u8; 4], Mac)> {
        self.soonest.filter(|at| *at <= now)?;
        let mut entries = self.entries.iter_mut().flatten();
        let entry = entries.find(|entry| entry.expires_at().is_some_and(|at| at <= now))?;
        let mac = entry.next.take()?;
        (entry.mac, entry.moved_at) = (mac, Some(now));
        let moved = (entry.ip, mac);
        self.changed();
        Some(moved)
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
