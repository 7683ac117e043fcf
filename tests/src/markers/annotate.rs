//! A connection's first frames, octet by octet, for people.

use std::fmt::Write;

use super::start_up::{StartUp, StartUpFrame};

/// Octets of a line.
const WIDTH: usize = 16;

/// Both start-up frames.
pub fn start_up(start_up: &StartUp) -> String {
    let mut text = frame("request", &start_up.request);
    if let Some(reply) = &start_up.reply {
        text += "\n";
        text += &frame("reply", reply);
    }
    text
}

fn frame(name: &str, frame: &StartUpFrame) -> String {
    let mut text = format!("MPA {name}, frame {}\n", frame.frame);
    let bytes = &frame.bytes;
    let mut say = |from: usize, to: usize, what: &str| line(&mut text, &bytes[from..to], what);
    let key = String::from_utf8_lossy(&bytes[..16]).into_owned();
    say(0, 16, &format!("key \"{key}\""));
    let bit = |on: bool| u8::from(on);
    say(
        16,
        17,
        &format!(
            "M={} ({} towards the sender of this)  C={} ({})  R={} ({})  S={} ({})",
            bit(frame.markers),
            if frame.markers {
                "markers"
            } else {
                "no markers"
            },
            bit(frame.crc),
            if frame.crc { "CRC" } else { "no CRC asked for" },
            bit(frame.reject),
            if frame.reject {
                "rejected"
            } else {
                "not rejected"
            },
            bit(bytes[16] & 0x10 != 0),
            if frame.enhanced.is_some() {
                "enhanced, RFC 6581"
            } else {
                "not enhanced"
            },
        ),
    );
    say(17, 18, &format!("Rev {}", frame.revision));
    say(18, 20, &format!("PD_Length {}", bytes.len() - 20));
    let mut at = 20;
    if let Some(enhanced) = frame.enhanced {
        let peer_to_peer = match enhanced.peer_to_peer {
            true => "A=1 (peer-to-peer)",
            false => "A=0 (the initiator speaks first)",
        };
        let (send, write, read) = (bit(enhanced.send), bit(enhanced.write), bit(enhanced.read));
        let ird = format!(
            "{peer_to_peer}  B={send} (RTR by Send)  IRD {}",
            enhanced.ird
        );
        say(20, 22, &ird);
        let ord = format!(
            "C={write} (RTR by Write)  D={read} (RTR by Read)  ORD {}",
            enhanced.ord
        );
        say(22, 24, &ord);
        at = 24;
    }
    if at < bytes.len() {
        let data = frame.private_data.escape_ascii().to_string();
        say(at, bytes.len(), &format!("private data \"{data}\""));
    }
    text
}

/// An FPDU from its length field to its CRC, without markers.
pub fn fpdu(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let length = usize::from(u16::from_be_bytes([*bytes.first()?, *bytes.get(1)?]));
    let padded = (2 + length).next_multiple_of(4);
    let ulpdu = bytes.get(2..2 + length)?;
    let crc = bytes.get(padded..padded + 4)?;
    let (ddp, rdmap) = (*ulpdu.first()?, *ulpdu.get(1)?);
    line(&mut text, &bytes[..2], &format!("ULPDU_Length {length}"));
    let last = if ddp & 0x40 != 0 {
        "last segment"
    } else {
        "more to come"
    };
    let tagged = ddp & 0x80 != 0;
    let kind = if tagged { "tagged" } else { "untagged" };
    line(
        &mut text,
        &ulpdu[..1],
        &format!("DDP: {kind}, {last}, version {}", ddp & 3),
    );
    let names = [
        "Write",
        "Read Request",
        "Read Response",
        "Send",
        "Send with Invalidate",
        "Send with SE",
        "Send with SE and Invalidate",
        "Terminate",
    ];
    let name = names.get(usize::from(rdmap & 15)).unwrap_or(&"another");
    line(
        &mut text,
        &ulpdu[1..2],
        &format!(
            "RDMAP: version {}, opcode {} ({name})",
            rdmap >> 6,
            rdmap & 15
        ),
    );
    let mut at = 2;
    let mut field = |text: &mut String, count: usize, name: &str| {
        if let Some(part) = ulpdu.get(at..at + count) {
            let value = part.iter().fold(0u64, |v, b| v << 8 | u64::from(*b));
            line(text, part, &format!("{name} {value:#x}"));
            at += count;
        }
    };
    if tagged {
        field(&mut text, 4, "STag");
        field(&mut text, 8, "TO");
    } else {
        field(&mut text, 4, "reserved for RDMAP:");
        field(&mut text, 4, "queue");
        field(&mut text, 4, "MSN");
        field(&mut text, 4, "MO");
    }
    if rdmap & 15 == 1 {
        field(&mut text, 4, "sink STag");
        field(&mut text, 8, "sink TO");
        field(&mut text, 4, "size");
        field(&mut text, 4, "source STag");
        field(&mut text, 8, "source TO");
    }
    if at < length {
        line(
            &mut text,
            &ulpdu[at..],
            &format!("{} octets of payload", length - at),
        );
    }
    if padded > 2 + length {
        line(&mut text, &bytes[2 + length..padded], "pad");
    }
    line(&mut text, crc, "CRC32C");
    Some(text)
}

fn line(text: &mut String, bytes: &[u8], what: &str) {
    let shown = bytes.len().min(3 * WIDTH);
    for (n, part) in bytes[..shown].chunks(WIDTH).enumerate() {
        let hex: Vec<_> = part.iter().map(|b| format!("{b:02x}")).collect();
        let what = if n == 0 { what } else { "" };
        let row = format!("  {:<width$}  {what}", hex.join(" "), width = 3 * WIDTH - 1);
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if shown < bytes.len() {
        let _ = writeln!(text, "  ...");
    }
}
