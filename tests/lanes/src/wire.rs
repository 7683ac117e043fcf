//! Captures of the lanes are judged by two that are not Weft: tshark, and the checker of FPDUs and markers.

use std::net::Ipv4Addr;
use std::path::Path;

use weft_tests::markers::{self, Report, Rules};
use weft_tests::tshark::{self, Decoded};

use crate::steps::NoPass;

/// What was seen on the wire.
#[derive(Debug)]
pub struct Seen {
    /// By tshark.
    pub decoded: Decoded,
    /// By the checker.
    pub report: Report,
}

/// Judges a capture; `ours` are the addresses of Weft's cards, of which more is asked. It fails on a complaint of either.
pub fn judge(capture: &Path, ours: &[Ipv4Addr]) -> Result<Seen, NoPass> {
    let decoded = tshark::decode(capture)?;
    let ours = ours.to_vec();
    let report = markers::check(capture, &Rules { ours })?;
    let violations = report.violations();
    let complaints: Vec<_> = decoded
        .complaints
        .iter()
        .chain(&violations)
        .cloned()
        .collect();
    if complaints.is_empty() {
        return Ok(Seen { decoded, report });
    }
    Err(NoPass::Fail(format!(
        "{}:\n{}",
        capture.display(),
        complaints.join("\n")
    )))
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
