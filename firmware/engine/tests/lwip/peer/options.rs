//! The options of TCP, read octet by octet, by no code of ours.

use std::collections::BTreeMap;

use crate::bench::path::To;

pub const MSS: u8 = 2;
pub const WINDOW_SCALE: u8 = 3;
pub const SACK_PERMITTED: u8 = 4;
pub const SACK: u8 = 5;
pub const TIMESTAMPS: u8 = 8;

/// An option's kind and its octets.
type Options = BTreeMap<u8, Vec<u8>>;

/// Where the TCP header of a frame is, if it has one.
fn header(frame: &[u8]) -> Option<&[u8]> {
    let is_tcp = frame.len() > 53 && frame[12..15] == [8, 0, 0x45] && frame[23] == 6;
    let length = || usize::from(frame[46] >> 4) * 4;
    is_tcp.then(|| &frame[34..34 + length()])
}

/// The options of a header, and where each is.
fn options(header: &[u8]) -> Vec<(usize, u8, Vec<u8>)> {
    let (mut found, mut at) = (Vec::new(), 20);
    while at < header.len() && header[at] != 0 {
        if header[at] == 1 {
            at += 1;
            continue;
        }
        let length = usize::from(header[at + 1]);
        found.push((at, header[at], header[at + 2..at + length].to_vec()));
        at += length;
    }
    found
}

/// What went over a path.
#[derive(Default)]
pub struct Seen {
    /// The options of each SYN, and where it went.
    pub syns: Vec<(To, Options)>,
    /// How many segments after that had each option.
    pub later: BTreeMap<u8, u64>,
    pub segments: u64,
    /// The greatest payload of ours.
    pub longest: usize,
}

impl Seen {
    pub fn frame(&mut self, to: To, frame: &[u8]) {
        let Some(header) = header(frame) else {
            return;
        };
        self.segments += 1;
        let found = options(header)
            .into_iter()
            .map(|(_, kind, octets)| (kind, octets));
        if header[13] & 2 != 0 {
            self.syns.push((to, found.collect()));
            return;
        }
        for (kind, _) in found {
            *self.later.entry(kind).or_default() += 1;
        }
        if to == To::Peer {
            let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
            self.longest = self.longest.max(total - 20 - header.len());
        }
    }

    /// The options of the first SYN that went there.
    #[track_caller]
    pub fn syn(&self, to: To) -> &Options {
        let (_, options) = self.syns.iter().find(|syn| syn.0 == to).expect("a SYN");
        options
    }
}

/// Turns the window scale of a SYN into padding.
pub fn without_window_scale(frame: &mut [u8]) {
    let Some(header) = header(frame) else {
        return;
    };
    let Some((at, ..)) = options(header)
        .into_iter()
        .find(|option| option.1 == WINDOW_SCALE)
    else {
        return;
    };
    frame[34 + at..34 + at + 3].fill(1);
    // The checksum, over the pseudo header and a segment without payload.
    let end = 14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    frame[50..52].fill(0);
    let words = frame[26..end].chunks(2);
    let sum =
        words.map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| (*low).into()));
    let mut sum = sum.sum::<u32>() + 6 + (end - 34) as u32;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[50..52].copy_from_slice(&(!sum as u16).to_be_bytes());
}
