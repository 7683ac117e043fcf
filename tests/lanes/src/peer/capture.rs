//! Every scenario's capture is judged by two that are not Weft: tshark, and the checker of FPDUs and markers.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_tests::markers::{self, Report, Rules};
use weft_tests::tshark::{self, Decoded};

use crate::steps::NoPass;

use super::{Capture, CARD_IP};

/// What was seen on the wire.
#[derive(Debug)]
pub struct Seen {
    /// By tshark.
    pub decoded: Decoded,
    /// By the checker.
    pub report: Report,
}

/// Judges a capture.
pub(super) fn judge(capture: &Path, wanted: Capture) -> Result<Seen, NoPass> {
    let decoded = tshark::decode(capture)?;
    let ours = CARD_IP.parse().into_iter().collect();
    let report = markers::check(capture, &Rules { ours })?;
    let seen = Seen { decoded, report };
    let violations = seen.report.violations();
    let complaints: Vec<_> = seen
        .decoded
        .complaints
        .iter()
        .chain(&violations)
        .cloned()
        .collect();
    let missing = match wanted {
        Capture::Clean if seen.report.sum(|direction| direction.fpdus) == 0 => Some("no FPDU"),
        Capture::StartUp if seen.report.connections.is_empty() => Some("no MPA start-up"),
        _ => None,
    };
    match (complaints.is_empty(), missing) {
        (true, None) => Ok(seen),
        (true, Some(what)) => Err(NoPass::Fail(format!("{what} in {}", capture.display()))),
        (false, _) => Err(NoPass::Fail(format!(
            "{}:\n{}",
            capture.display(),
            complaints.join("\n")
        ))),
    }
}

/// siw as responder can lose the first FPDU of a connection: what arrives between its MPA reply and the moment when it
/// hands the socket to its receive side wakes nobody, and stays unread until more comes. The initiator, who was
/// acknowledged by TCP, waits for an answer forever (about one connection in twenty under emulation). Recognised by a
/// connection of ours in which siw sends nothing behind its reply though there was something to answer.
pub(super) fn siw_lost_it(capture: &Path) -> Result<bool, NoPass> {
    let (_, _, segments) = markers::read_segments(capture)?;
    let ours: Ipv4Addr = CARD_IP.parse().unwrap_or(Ipv4Addr::UNSPECIFIED);
    let replies = segments.iter().enumerate().filter(|(_, segment)| {
        *segment.to.ip() == ours && segment.payload.starts_with(b"MPA ID Rep Frame")
    });
    for (at, reply) in replies {
        let behind = |from, to| {
            let later = segments[at + 1..].iter();
            later.filter(move |s| s.from == from && s.to == to && !s.payload.is_empty())
        };
        let asked = behind(reply.to, reply.from).next().is_some();
        if asked && behind(reply.from, reply.to).next().is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "wire: {} frames, {} connections, {} FPDUs ({} CRCs), tshark: {} FPDUs, no complaints",
            self.report.frames,
            self.report.connections.len(),
            self.report.sum(|direction| direction.fpdus),
            self.report.sum(|direction| direction.crcs),
            self.decoded.fpdus,
        )?;
        let replies = self.report.connections.iter();
        for no in replies.filter_map(|c| c.start_up.reply.as_ref()) {
            if no.reject && !no.private_data.is_empty() {
                write!(f, ", rejected with \"{}\"", no.private_data.escape_ascii())?;
            }
        }
        Ok(())
    }
}
