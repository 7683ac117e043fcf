//! Bare acknowledgments that need no report of their own while the report ring is full.

use crate::{report_kind, JobReport, SegmentReport};

/// ACK of the TCP flags.
const ACK: u8 = 0x10;

/// A segment of an attached flow that acknowledges, and has nothing else to tell.
fn acknowledges(report: &[u8; JobReport::SIZE]) -> Option<SegmentReport> {
    if report[SegmentReport::KIND_AT] != report_kind::SEGMENT {
        return None;
    }
    let segment = SegmentReport::from_bytes(report);
    let bare = segment.flags == SegmentReport::ATTACHED
        && segment.tcp_flags == ACK
        && segment.status == 0
        && segment.payload_len == 0;
    bare.then_some(segment)
}

/// The later one tells all that the earlier one tells, and repeats nothing.
fn goes_on(earlier: &SegmentReport, later: &SegmentReport) -> bool {
    let step = later.ack.wrapping_sub(earlier.ack);
    (earlier.flow, earlier.epoch, earlier.seq) == (later.flow, later.epoch, later.seq)
        && (1..1 << 31).contains(&step)
        && earlier.window <= later.window
}

/// Of three reports that follow each other, the third stands for the second as well.
pub fn stands_for_both(reports: [&[u8; JobReport::SIZE]; 3]) -> bool {
    let [older, middle, newer] = reports.map(acknowledges);
    let (Some(older), Some(middle), Some(newer)) = (older, middle, newer) else {
        return false;
    };
    goes_on(&older, &middle) && goes_on(&middle, &newer) && goes_on(&older, &newer)
}
