//! Records and frames as text.

use std::fmt::Write;

use weft_layout::{FlowRxRow, Job, PlacedReport, SegmentReport, StagRow};

/// Bytes, 16 a line, with their offsets; `from` is the offset of the first.
pub fn hex(bytes: &[u8], from: usize) -> String {
    let mut text = String::new();
    for (line, row) in bytes.chunks(16).enumerate() {
        let _ = write!(text, "{:04x} ", from + 16 * line);
        for (at, byte) in row.iter().enumerate() {
            let gap = if at == 8 { "  " } else { " " };
            let _ = write!(text, "{gap}{byte:02x}");
        }
        text.push('\n');
    }
    text
}

/// Bytes in one line.
fn run(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let gap = if at > 0 { " " } else { "" };
        let _ = write!(text, "{gap}{byte:02x}");
    }
    text
}

/// A table of fields: where, which bytes, name, meaning.
struct Fields<'a> {
    bytes: &'a [u8],
    text: String,
}

impl<'a> Fields<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let text = hex(bytes, 0) + "\n";
        Self { bytes, text }
    }

    fn field(&mut self, at: usize, len: usize, name: &str, meaning: impl AsRef<str>) {
        let bytes = run(&self.bytes[at..at + len]);
        let line = format!("{at:4}  {bytes:<24} {name:<13} {}", meaning.as_ref());
        self.text += line.trim_end();
        self.text.push('\n');
    }
}

/// TCP's control bits.
fn flags(bits: u8) -> String {
    let names = [(2, "SYN"), (16, "ACK"), (8, "PSH"), (1, "FIN"), (4, "RST")];
    let set = names.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// A job.
pub fn job(slot: &[u8; Job::SIZE]) -> String {
    let job = Job::from_bytes(slot);
    let mut f = Fields::of(slot);
    let kind = match job.kind {
        1 => "raw frame",
        2 => "segment",
        3 => "message",
        _ => "unknown",
    };
    f.field(0, 1, "kind", kind);
    if job.kind == 3 {
        let tagged = if job.flags & 1 != 0 {
            "tagged"
        } else {
            "untagged"
        };
        let last = if job.flags & 2 != 0 {
            ", the message ends here"
        } else {
            ""
        };
        f.field(1, 1, "flags", format!("{tagged}{last}"));
    }
    f.field(2, 2, "flow", format!("{}", job.flow));
    f.field(4, 4, "seq", format!("{:#010x}: SND.NXT", job.seq));
    f.field(8, 4, "ack", format!("{:#010x}: RCV.NXT", job.ack));
    f.field(
        12,
        2,
        "window",
        format!("{}, scaled by the receiver of it", job.window),
    );
    f.field(14, 1, "tcp_flags", flags(job.tcp_flags));
    f.field(15, 1, "sge_count", format!("{}", job.sge_count));
    f.field(24, 4, "length", format!("{} bytes of payload", job.length));
    if job.kind == 3 {
        f.field(
            28,
            2,
            "fpdu_payload",
            format!("{} bytes in each FPDU but the last", job.fpdu_payload),
        );
        f.field(
            30,
            1,
            "rdmap_control",
            format!(
                "version {}, opcode {:x}",
                job.rdmap_control >> 6,
                job.rdmap_control & 15
            ),
        );
        f.field(
            32,
            4,
            "stag_or_qn",
            format!("STag {:#010x}", job.stag_or_qn),
        );
        f.field(40, 8, "to_or_mo", format!("TO {:#x}", job.to_or_mo));
    }
    if job.sge_count > 0 {
        f.field(64, 8, "sge0_iova", format!("{:#x}", job.sge0_iova));
        f.field(72, 4, "sge0_length", format!("{}", job.sge0_length));
    }
    f.text
}

/// A row of the STAG table.
pub fn stag_row(index: u32, row: &[u8; 64]) -> String {
    let s = StagRow::from_bytes(row);
    let rights = ["local write", "remote read", "remote write", "Read sink"];
    let rights: Vec<_> = (0..4)
        .filter(|bit| s.access >> bit & 1 == 1)
        .map(|bit| rights[bit])
        .collect();
    format!(
        "STAG row {index}:    valid {}, key {:#04x}, access {} ({}), pd {},\n                base {:#x}, length {}, iova {:#x}\n",
        s.valid, s.key, s.access, rights.join(", "), s.pd, s.base, s.length, s.iova
    )
}

/// A row of the FLOW_RX table.
pub fn flow_rx_row(index: u32, row: &[u8; 64]) -> String {
    let r = FlowRxRow::from_bytes(row);
    let on = |bit: u8| if r.flags & bit != 0 { "on" } else { "off" };
    let valid = r.flags >> 2 & 1;
    format!(
        "FLOW_RX row {index}:  valid {valid}, markers {}, CRC {}, pd {}\n",
        on(1),
        on(2),
        r.pd
    )
}

/// The report of a segment and its one FPDU.
pub fn placed_report(bytes: &[u8; 64]) -> String {
    let r = PlacedReport::from_bytes(bytes);
    let mut f = Fields::of(bytes);
    f.field(0, 1, "kind", "placed");
    f.field(1, 1, "flags", if r.attached() { "attached" } else { "" });
    f.field(2, 2, "flow", format!("{}", r.flow));
    f.field(
        4,
        4,
        "seq",
        format!("{:#010x}: of the segment and the FPDU", r.seq),
    );
    f.field(8, 4, "ack", format!("{:#010x}", r.ack));
    f.field(12, 2, "window", format!("{}", r.window));
    f.field(14, 1, "tcp_flags", flags(r.tcp_flags));
    f.field(15, 1, "epoch", format!("{}", r.epoch));
    f.field(24, 2, "payload_len", format!("{} of TCP", r.payload_len));
    f.field(26, 2, "ulpdu_len", format!("{}", r.ulpdu_len));
    f.field(28, 1, "ddp_control", "T, L, version 1");
    let control = format!(
        "version {}, opcode {:x}",
        r.rdmap_control >> 6,
        r.rdmap_control & 15
    );
    f.field(29, 1, "rdmap_control", control);
    f.field(
        30,
        2,
        "ddp_payload_len",
        format!("{}: in host memory", r.ddp_payload_len),
    );
    f.field(32, 4, "stag_or_qn", format!("STag {:#010x}", r.stag_or_qn));
    f.field(40, 8, "to_or_mo", format!("TO {:#x}", r.to_or_mo));
    f.field(56, 3, "job_done", format!("{}", r.job_done));
    f.field(
        59,
        3,
        "arrival",
        format!("{}: in units of 8 cycles", r.arrival),
    );
    f.field(63, 1, "phase", format!("{}", r.phase));
    f.text
}

/// A segment report.
pub fn segment_report(bytes: &[u8; 64]) -> String {
    let r = SegmentReport::from_bytes(bytes);
    let mut f = Fields::of(bytes);
    f.field(0, 1, "kind", "segment");
    let mut set = Vec::new();
    for (bit, name) in [
        (1, "raw frame"),
        (2, "timestamps"),
        (4, "attached"),
        (8, "duplicate"),
    ] {
        if r.flags & bit != 0 {
            set.push(name);
        }
    }
    f.field(
        1,
        1,
        "flags",
        format!("{}; {} SACK blocks", set.join(", "), r.flags >> 4),
    );
    f.field(2, 2, "flow", format!("{}", r.flow));
    f.field(4, 4, "seq", format!("{:#010x}", r.seq));
    f.field(8, 4, "ack", format!("{:#010x}", r.ack));
    f.field(12, 2, "window", format!("{}", r.window));
    f.field(14, 1, "tcp_flags", flags(r.tcp_flags));
    f.field(15, 1, "epoch", format!("{}", r.epoch));
    f.field(24, 2, "payload_len", format!("{}", r.payload_len));
    f.field(
        26,
        2,
        "done_len",
        format!("{} of these are the card's doing", r.done_len),
    );
    f.field(56, 3, "job_done", format!("{}", r.job_done));
    f.field(
        59,
        3,
        "arrival",
        format!("{}: in units of 8 cycles", r.arrival),
    );
    f.field(63, 1, "phase", format!("{}", r.phase));
    f.text
}

/// A frame with one tagged FPDU, part by part, with the section that defines each.
pub fn frame(frame: &[u8], payload: usize) -> String {
    let mut text = String::new();
    let mut at = 0;
    let mut part = |len: usize, name: &str, section: &str| {
        let bytes = &frame[at..at + len];
        for (line, row) in bytes.chunks(16).enumerate() {
            let (name, section) = if line == 0 { (name, section) } else { ("", "") };
            let row = format!(
                "{:4}  {:<47}  {name:<22} {section}",
                at + 16 * line,
                run(row)
            );
            text += row.trim_end();
            text.push('\n');
        }
        at += len;
    };
    part(6, "destination", "Ethernet");
    part(6, "source", "");
    part(2, "type: IPv4", "");
    part(12, "IPv4: DF, TTL, TCP, checksum", "RFC 791 §3.1");
    part(4, "source address", "");
    part(4, "destination address", "");
    part(4, "ports", "RFC 9293 §3.1");
    part(4, "sequence number", "");
    part(4, "acknowledgment", "");
    part(8, "PSH ACK, window, checksum", "");
    part(2, "ULPDU length", "RFC 5044 §4.1");
    part(1, "T, L, DDP version 1", "RFC 5041 §4.1");
    part(1, "RDMAP version 1, Write", "RFC 5040 §4.1");
    part(4, "STag", "RFC 5041 §4.2");
    part(8, "TO", "RFC 5041 §4.2");
    part(payload, "payload", "");
    let pad = frame.len() - at_end(payload) - 4;
    if pad > 0 {
        part(pad, "pad", "RFC 5044 §4.1");
    }
    part(4, "CRC32C", "RFC 5044 §4.4");
    text
}

/// Where the payload of the frame's FPDU ends.
fn at_end(payload: usize) -> usize {
    14 + 20 + 20 + 2 + 14 + payload
}
