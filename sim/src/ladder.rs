//! Frames as text: one line each, as a ladder between two ends, down to MPA, DDP and RDMAP.

use std::collections::BTreeMap;
use std::fmt::Write;

use weft_wire::bytes::{u16_at, u32_at};
use weft_wire::ddp::{DdpHeader, Target};
use weft_wire::fpdu::Markers;
use weft_wire::rdmap::{opcode, opcode_name, opcode_of};
use weft_wire::walk::Walk;

use crate::link::Seen;
use crate::model::ethernet::{flag, parse, Parsed, Segment};

/// What is known of one direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    /// First sequence number seen; numbers are shown relative to it.
    start: Option<u32>,
    /// Where FPDUs begin: behind the MPA start-up frame.
    fpdus: Option<u32>,
    /// Markers are sent.
    markers: bool,
}

/// Describes frames of one link in the order they were sent.
#[derive(Debug, Default)]
pub struct Ladder {
    directions: BTreeMap<[u8; 12], Direction>,
}

/// The key of the other direction.
fn reversed(key: &[u8; 12]) -> [u8; 12] {
    let mut other = [0; 12];
    other[..4].copy_from_slice(&key[4..8]);
    other[4..8].copy_from_slice(&key[..4]);
    other[8..10].copy_from_slice(&key[10..]);
    other[10..].copy_from_slice(&key[8..10]);
    other
}

impl Ladder {
    /// The lines of a ladder.
    pub fn lines(frames: &[Seen]) -> Vec<String> {
        let mut ladder = Ladder::default();
        let width = 66;
        frames
            .iter()
            .map(|seen| {
                let text = ladder.describe(&seen.frame);
                let text = match &seen.fate {
                    Some(fate) => format!("{text} ({fate})"),
                    None => text,
                };
                let (left, right) = if seen.from == 0 {
                    ("──", "─►")
                } else {
                    ("◄─", "──")
                };
                let micros = seen.time as f64 / 1000.0;
                let fill = "─".repeat(width_left(width, &text));
                format!(
                    "{micros:>12.3} µs  A {left} {text} {fill}{right} B  {:>5}",
                    seen.frame.len()
                )
            })
            .collect()
    }

    /// What a frame is.
    pub fn describe(&mut self, frame: &[u8]) -> String {
        if frame.len() < 14 {
            return "runt".into();
        }
        match parse(frame) {
            Parsed::Drop(counter) => format!("bad frame ({})", counter.name()),
            Parsed::Other => match (frame[12], frame[13]) {
                (8, 6) if frame.get(21) == Some(&1) => "ARP request".into(),
                (8, 6) => "ARP reply".into(),
                (8, 0) if frame.get(23) == Some(&1) => "ICMP".into(),
                (high, low) => format!("Ethernet type {high:02x}{low:02x}"),
            },
            Parsed::Tcp(segment) => self.tcp(frame, &segment),
        }
    }

    fn tcp(&mut self, frame: &[u8], s: &Segment) -> String {
        let mut flags = Vec::new();
        for (bit, name) in [(flag::SYN, "SYN"), (flag::FIN, "FIN"), (flag::RST, "RST")] {
            if s.flags & bit != 0 {
                flags.push(name);
            }
        }
        let start = *self
            .directions
            .entry(s.key)
            .or_default()
            .start
            .get_or_insert(s.seq);
        let payload = &frame[s.offset..s.offset + s.len];
        let mut what = flags.join(" ");
        if !payload.is_empty() {
            if !what.is_empty() {
                what.push(' ');
            }
            what += &self.payload(s, payload);
        } else if what.is_empty() {
            what = "ACK".into();
        }
        let back = self.directions.get(&reversed(&s.key)).and_then(|d| d.start);
        let _ = write!(what, " [{}", s.seq.wrapping_sub(start));
        if let (Some(back), true) = (back, s.flags & flag::ACK != 0) {
            let _ = write!(what, " ack {}", s.ack.wrapping_sub(back));
        }
        what.push(']');
        what
    }

    fn payload(&mut self, s: &Segment, payload: &[u8]) -> String {
        if payload.len() >= 20
            && (payload.starts_with(b"MPA ID Req") || payload.starts_with(b"MPA ID Rep"))
        {
            return self.start_up(s, payload);
        }
        let direction = self.directions.get(&s.key).copied().unwrap_or_default();
        let Some(base) = direction.fpdus else {
            return format!("{} bytes", payload.len());
        };
        let markers = Markers(direction.markers.then_some(base));
        let mut walk = Walk::new(payload, s.seq, markers);
        let mut parts = Vec::new();
        for unit in walk.by_ref() {
            let mut ulpdu = vec![0; unit.found.ulpdu_length];
            parts.push(message(unit.unmarked(&mut ulpdu)));
        }
        if walk.done() < payload.len() {
            parts.push(format!("{} bytes of a part", payload.len() - walk.done()));
        }
        parts.join(" + ")
    }

    fn start_up(&mut self, s: &Segment, payload: &[u8]) -> String {
        let request = payload.starts_with(b"MPA ID Req");
        let (bits, revision) = (payload[16], payload[17]);
        let private = usize::from(u16::from_be_bytes([payload[18], payload[19]]));
        self.directions.entry(s.key).or_default().fpdus =
            Some(s.seq.wrapping_add(20 + private as u32));
        // M asks for markers in what is sent to the one who says it.
        self.directions.entry(reversed(&s.key)).or_default().markers = bits & 0x80 != 0;
        let mut text = format!(
            "MPA {} rev {revision}",
            if request { "request" } else { "reply" }
        );
        for (bit, name) in [(0x80, " M"), (0x40, " C"), (0x20, " reject")] {
            if bits & bit != 0 {
                text += name;
            }
        }
        if let (true, Some(e)) = (bits & 0x10 != 0, payload.get(20..24)) {
            let (ird, ord) = (
                u16::from_be_bytes([e[0], e[1]]),
                u16::from_be_bytes([e[2], e[3]]),
            );
            let _ = write!(text, " IRD {} ORD {}", ird & 0x3fff, ord & 0x3fff);
            for (set, name) in [
                (ird & 0x8000, " peer-to-peer:"),
                (ird & 0x4000, " send"),
                (ord & 0x8000, " write"),
                (ord & 0x4000, " read"),
            ] {
                if set != 0 {
                    text += name;
                }
            }
        }
        text
    }
}

/// What a DDP segment is.
fn message(ulpdu: &[u8]) -> String {
    let Some((header, payload)) = DdpHeader::parse(ulpdu) else {
        return "short ULPDU".into();
    };
    let len = payload.len();
    let last = if header.is_last() { "." } else { "…" };
    let opcode = opcode_of(header.rdmap_control);
    match (header.target, opcode) {
        (Target::Tagged { stag, to }, opcode::WRITE | opcode::READ_RESPONSE) => {
            let name = opcode_name(opcode);
            format!("{name} {len} to {stag:x}:{to:x}{last}")
        }
        (Target::Tagged { to, .. }, _) => format!("unknown opcode {len} at {to}, MSN 0{last}"),
        (Target::Untagged { msn, .. }, opcode::READ_REQUEST) => {
            let size = u32_at(payload, 12).unwrap_or(0);
            format!("Read Request of {size}, MSN {msn}")
        }
        (Target::Untagged { .. }, opcode::TERMINATE) => {
            format!("Terminate {:04x}", u16_at(payload, 0).unwrap_or(0))
        }
        (Target::Untagged { msn, mo, .. }, _) => {
            let name = opcode_name(opcode);
            format!("{name} {len} at {mo}, MSN {msn}{last}")
        }
    }
}

/// Columns left of `width` beside a text.
fn width_left(width: usize, text: &str) -> usize {
    width.saturating_sub(text.chars().count())
}
