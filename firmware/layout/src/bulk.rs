//! Reports of which many come alike, and nobody waits for a single one.

use crate::{
    fpdu_verdict, refusal, report_kind, FpduReport, JobReport, PlacedReport, SegmentReport,
};

/// L in the DDP control byte.
const LAST: u8 = 0x40;
/// FIN, SYN and RST of the TCP flags.
const ENDS: u8 = 0x07;

/// A placed FPDU in the middle of a message, or a segment that only acknowledges.
pub fn is_bulk(report: &[u8; JobReport::SIZE]) -> bool {
    let quiet = |flags: u8| flags & ENDS == 0;
    match report[SegmentReport::KIND_AT] {
        report_kind::PLACED => {
            let placed = PlacedReport::from_bytes(report);
            quiet(placed.tcp_flags) && placed.ddp_control & LAST == 0
        }
        report_kind::FPDU => {
            let fpdu = FpduReport::from_bytes(report);
            fpdu.verdict == fpdu_verdict::PLACED && fpdu.ddp_control & LAST == 0
        }
        report_kind::SEGMENT => {
            let segment = SegmentReport::from_bytes(report);
            quiet(segment.tcp_flags)
                && segment.status & (SegmentReport::REFUSAL_MASK | SegmentReport::RAW_FAILED)
                    == refusal::NONE
                && !segment.raw()
                && !segment.duplicate()
                && segment.sack_count() == 0
        }
        _ => false,
    }
}
