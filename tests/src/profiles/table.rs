//! The table of the peers' page.

use std::fmt::Write;

use super::meeting::Met;
use super::scenarios::{Role, Scenario};

/// Markdown: a row for each meeting.
pub fn table(rows: &[(Scenario, Met)]) -> String {
    let mut text = String::from(
        "| peer | its part | request | reply | agreed | RTR on the wire | Send, Write, Read each way | events at Weft |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (scenario, met) in rows {
        let mut peer = scenario.profile.name.to_owned();
        if !scenario.remark.is_empty() {
            let _ = write!(peer, "<br>*{}*", scenario.remark);
        }
        for what in &met.story {
            let _ = write!(peer, "<br>it {what}");
        }
        let role = match scenario.role {
            Role::Initiator => "initiator",
            Role::Responder => "responder",
        };
        let agreed = met.agreed.map_or("–".into(), |a| {
            let crc = if a.crc { "CRC" } else { "no CRC" };
            format!("rev {}, {crc}, IRD {}, ORD {}", a.revision, a.ird, a.ord)
        });
        let mut rtr = met.rtr.clone().unwrap_or("–".into());
        if met.stats.terminates_siw_layout > 0 {
            rtr = "– (Terminate 2007, in siw's layout)".into();
        }
        let data = if met.data { "verified" } else { "–" };
        let [request, reply] = met.frames.each_ref().map(|frame| frame_text(frame));
        let events = met.events.join("<br>");
        let _ = writeln!(
            text,
            "| {peer} | {role} | {request} | {reply} | {agreed} | {rtr} | {data} | {events} |"
        );
    }
    text
}

/// A start-up frame in a few words.
fn frame_text(frame: &[u8]) -> String {
    let Some(header) = frame.get(16..20) else {
        return "–".into();
    };
    let (flags, revision) = (header[0], header[1]);
    let mut text = format!("rev {revision}");
    for (bit, name) in [(0x80, "M"), (0x40, "C"), (0x20, "R"), (0x10, "S")] {
        if flags & bit != 0 {
            text += &format!(" {name}");
        }
    }
    if let (true, Some([a, b, c, d])) = (flags & 0x10 != 0, frame.get(20..24)) {
        let (ird, ord) = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
        let bits = [
            (ird & 0x8000, "A"),
            (ird & 0x4000, "B"),
            (ord & 0x8000, "C"),
            (ord & 0x4000, "D"),
        ];
        let set: Vec<_> = bits.iter().filter(|b| b.0 != 0).map(|b| b.1).collect();
        let set = if set.is_empty() {
            "A=0".into()
        } else {
            set.join("")
        };
        text += &format!(", {set} {}/{}", ird & 0x3fff, ord & 0x3fff);
    }
    text
}
