//! The FPDU stream (RFC 5044 §4): markers, lengths, pads, CRCs, and segments.

use std::collections::BTreeSet;

use super::rule::Rule;
use super::start_up::StartUp;
use super::streams::{Octets, Stream};
use super::{Direction, Messages, Rules, Violation};
use crate::peer::crc32c;

/// Octets from one marker to the next.
const INTERVAL: u64 = 512;

/// An FPDU whose framing is right.
#[derive(Debug)]
pub struct Fpdu {
    /// Where its length field is, in the FPDU stream.
    pub at: u64,
    /// The frame in which it was sent first.
    pub frame: usize,
    /// Its ULPDU.
    pub ulpdu: Vec<u8>,
}

/// One direction, framed.
pub struct Walk {
    /// What was counted so far.
    pub direction: Direction,
    /// Its FPDUs up to the first violation.
    pub fpdus: Vec<Fpdu>,
    /// Where the FPDU stream begins in the octet stream.
    pub base: u64,
}

impl Walk {
    /// The first violation is the one that counts.
    pub fn violate(&mut self, octets: &Octets, offset: u64, rule: Rule) {
        if self.direction.violation.is_none() {
            self.direction.violation = Some(Violation {
                seq: octets.seq(self.base + offset),
                offset,
                frame: octets.frame(self.base + offset),
                rule,
            });
        }
    }
}

/// Frames both directions.
pub fn walk(stream: &mut Stream, start_up: &StartUp, rules: &Rules) -> [Walk; 2] {
    let to = [1, 0].map(|n: usize| stream.directions[n].from);
    let bases = [
        Some(start_up.request.bytes.len()),
        start_up.reply.as_ref().map(|r| r.bytes.len()),
    ];
    [0, 1].map(|end| {
        let octets = &stream.directions[end];
        let mut walk = Walk {
            direction: Direction {
                from: octets.from,
                to: to[end],
                with_markers: start_up.markers()[end],
                octets: 0,
                fpdus: 0,
                markers: 0,
                markers_between: [0; 2],
                crcs: 0,
                nonzero_pads: 0,
                cut_segments: 0,
                retransmissions: octets.retransmissions,
                unverified: octets.beyond(),
                messages: Messages::default(),
                violation: None,
            },
            fpdus: Vec::new(),
            base: bases[end].unwrap_or(0) as u64,
        };
        let has_more = octets.bytes.len() as u64 > walk.base;
        if !start_up.accepted() {
            // Without a reply nothing may follow; a rejection ends the conversation.
            let answered = start_up.reply.is_some() || end == 1;
            if has_more && answered {
                walk.violate(octets, 0, Rule::StartUp);
            }
            return walk;
        }
        let ours = rules.ours.contains(octets.from.ip());
        frame_all(&mut walk, octets, start_up.crc(), ours);
        if let Some(piece) = octets.differs {
            let offset = piece.start.saturating_sub(walk.base);
            walk.violate(octets, offset, Rule::Retransmission);
        }
        walk
    })
}

/// Why a walk ends.
enum Stop {
    /// So many octets of the FPDU are missing.
    Missing(u64),
    /// At an offset.
    Broken(u64, Rule),
}

/// What is known of an FPDU.
struct Framed {
    fpdu: Fpdu,
    end: u64,
    markers: usize,
    between: [usize; 2],
    clean_pad: bool,
}

fn frame_all(walk: &mut Walk, octets: &Octets, crc: bool, ours: bool) {
    let base = walk.base;
    let bytes = octets.bytes.get(base as usize..).unwrap_or_default();
    let (mut at, mut borders) = (0, BTreeSet::from([0]));
    let stop = loop {
        if at == bytes.len() as u64 {
            break None;
        }
        match one(bytes, at, walk.direction.with_markers, crc) {
            Ok(mut framed) => {
                framed.fpdu.frame = octets.frame(base + at);
                let d = &mut walk.direction;
                d.fpdus += 1;
                d.crcs += usize::from(crc);
                d.markers += framed.markers;
                for (sum, n) in d.markers_between.iter_mut().zip(framed.between) {
                    *sum += n;
                }
                if !framed.clean_pad {
                    d.nonzero_pads += 1;
                    if ours {
                        break Some(Stop::Broken(framed.fpdu.at, Rule::Pad));
                    }
                }
                at = framed.end;
                borders.insert(at);
                walk.fpdus.push(framed.fpdu);
            }
            Err(stop) => break Some(stop),
        }
    };
    walk.direction.octets = at;
    walk.direction.unverified += bytes.len() as u64 - at;
    let broken = matches!(stop, Some(Stop::Broken(..)));
    match stop {
        Some(Stop::Broken(offset, rule)) => walk.violate(octets, offset, rule),
        Some(Stop::Missing(missing)) if octets.fin == Some(octets.bytes.len() as u64) => {
            walk.violate(octets, at, Rule::Incomplete { missing });
        }
        _ => {}
    }
    // Segments up to where the framing is known, and those that the unfinished FPDU begins.
    for piece in &octets.pieces {
        let (Some(start), end) = (
            piece.start.checked_sub(base),
            piece.end() - base.min(piece.end()),
        ) else {
            continue;
        };
        let known = end <= at || (start == at && !broken);
        if !known || (borders.contains(&start) && borders.contains(&end)) {
            continue;
        }
        walk.direction.cut_segments += 1;
        if ours {
            let length = piece.len;
            if walk.direction.violation.is_none() {
                walk.violate(octets, start, Rule::CutFpdu { length });
            }
        }
    }
}

/// One FPDU, from the marker before it, if there is one, to its CRC.
fn one(bytes: &[u8], at: u64, markers: bool, crc: bool) -> Result<Framed, Stop> {
    let have = bytes.len() as u64;
    let mut framed = Framed {
        fpdu: Fpdu {
            at,
            frame: 0,
            ulpdu: Vec::new(),
        },
        end: at,
        markers: 0,
        between: [0; 2],
        clean_pad: true,
    };
    let is_marker = |pos: u64| markers && pos % INTERVAL == 0;
    let mut pos = at;
    if is_marker(pos) {
        marker(bytes, pos, 0)?;
        pos += 4;
        framed.markers += 1;
        framed.between[0] += 1;
    }
    let header = pos;
    framed.fpdu.at = header;
    let field = word(bytes, pos).ok_or(Stop::Missing((pos + 4).saturating_sub(have)))?;
    let length = u16::from_be_bytes([field[0], field[1]]);
    // The shortest DDP header is the tagged one; which it is, is judged with the header.
    if length < 14 {
        return Err(Stop::Broken(header, Rule::Length { length }));
    }
    let content = 2 + usize::from(length);
    let padded = content.next_multiple_of(4);
    let mut octets = Vec::with_capacity(padded);
    while octets.len() < padded {
        if is_marker(pos) {
            marker(bytes, pos, pos - header)?;
            pos += 4;
            framed.markers += 1;
        }
        let missing = (padded - octets.len()) as u64 + 4;
        let quad = word(bytes, pos).ok_or(Stop::Missing((pos + missing).saturating_sub(have)))?;
        octets.extend(quad);
        pos += 4;
    }
    if is_marker(pos) {
        marker(bytes, pos, pos - header)?;
        pos += 4;
        framed.markers += 1;
        framed.between[1] += 1;
    }
    let field = word(bytes, pos).ok_or(Stop::Missing((pos + 4).saturating_sub(have)))?;
    if crc {
        let expected = crc32c(&bytes[at as usize..pos as usize]);
        // Its least significant octet goes first.
        let found = u32::from_le_bytes(field);
        if found != expected {
            return Err(Stop::Broken(header, Rule::Crc { expected, found }));
        }
    }
    framed.end = pos + 4;
    framed.clean_pad = octets[content..].iter().all(|b| *b == 0);
    framed.fpdu.ulpdu = octets[2..content].to_vec();
    Ok(framed)
}

fn word(bytes: &[u8], at: u64) -> Option<[u8; 4]> {
    bytes.get(at as usize..)?.first_chunk().copied()
}

fn marker(bytes: &[u8], at: u64, expected: u64) -> Result<(), Stop> {
    let missing = (at + 4).saturating_sub(bytes.len() as u64);
    let [a, b, c, d] = word(bytes, at).ok_or(Stop::Missing(missing))?;
    let (reserved, found) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    if reserved != 0 {
        return Err(Stop::Broken(at, Rule::MarkerReserved { found: reserved }));
    }
    if u64::from(found) != expected {
        return Err(Stop::Broken(at, Rule::MarkerPointer { expected, found }));
    }
    Ok(())
}
