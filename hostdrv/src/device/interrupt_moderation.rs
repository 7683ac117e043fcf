//! How many reports the device may wait for when it sleeps: `REPORT_ARM_AFTER`.
//!
//! Where a long message passes, one interrupt and one doorbell are enough for many reports. Where somebody waits for the next one, each
//! makes its own: the card sees to it for the end of a message and whatever is not usual, this for acknowledgments. A device waits for
//! * one report more for each 16 that came in calm, and never for more than 48. A loss or anything unusual ends the calm, and where the
//!   sender has nothing more to send before it hears of us, which is when `REPORT_GAP` woke us, we wait for half of what came;
//! * the acknowledgments for a quarter of what is under way: less is a small message, or a small window;
//! * one report if nothing is under way and no message stands in its middle.
//!
//! Where it waits for many in the middle of a message, what the peer is owed goes before: an odd segment's acknowledgment would wake the
//! device sooner than the reports it waits for.

use weft_engine::Engine;
use weft_layout::{is_bulk, report_kind, SegmentReport};

/// Reports that the device waits for at most.
const MOST: u32 = 48;
/// Reports in calm for each that it waits for.
const CALM: u32 = 16;
/// An acknowledgment is for two segments: with so many under way for each report, a quarter of them is acknowledged.
const SEGMENTS: u32 = 8;

/// What came since the device last asked for an interrupt.
#[derive(Debug, Default)]
pub(crate) struct InterruptModeration {
    /// Reports since there was anything unusual.
    calm: u32,
    /// Reports that the device had asked for, and that came.
    asked: u32,
    came: u32,
    /// Flow of the last report.
    flow: u16,
    /// It was of an FPDU in the middle of a message.
    middle: bool,
    /// The least that the flows allow on which something was posted.
    posted: Option<u32>,
}

impl InterruptModeration {
    /// A report came.
    pub(super) fn saw(&mut self, report: &[u8; SegmentReport::SIZE]) {
        let kind = report[SegmentReport::KIND_AT];
        let bulk = is_bulk(report);
        let flow = [
            report[SegmentReport::FLOW_AT],
            report[SegmentReport::FLOW_AT + 1],
        ];
        self.flow = u16::from_le_bytes(flow);
        self.middle = bulk && matches!(kind, report_kind::PLACED | report_kind::FPDU);
        self.came += 1;
        self.calm = if kind == report_kind::SEGMENT && !bulk {
            0
        } else {
            (self.calm + 1).min(MOST * CALM)
        };
    }

    /// A flow whose reports come while the device sleeps: what it owes its peer when it has read those that are there must not wake it.
    pub(super) fn asleep_over(&self) -> Option<u16> {
        (self.middle && self.asked >= SEGMENTS).then_some(self.flow)
    }

    /// Something was posted on a flow, and so many segments are under way there.
    pub(crate) fn posted(&mut self, segments: Option<u32>) {
        if let Some(segments) = segments {
            let limit = segments / SEGMENTS;
            self.posted = Some(self.posted.map_or(limit, |least| least.min(limit)));
        }
    }

    /// What was posted since allows less than was asked for.
    pub(super) fn is_late(&self, asked: u32) -> bool {
        self.posted.is_some_and(|limit| limit < asked)
    }

    /// So many reports the device may wait for now.
    pub(super) fn reports(&mut self, engine: &Engine) -> u32 {
        if self.middle && self.came < self.asked {
            self.calm = self.calm.min(self.came * CALM / 2);
        }
        let by_flow = match engine.segments_in_flight(self.flow) {
            Some(segments) => segments / SEGMENTS,
            None if self.middle => MOST,
            None => 1,
        };
        let by_posts = self.posted.take().unwrap_or(MOST);
        self.came = 0;
        self.asked = (self.calm / CALM).min(by_flow).min(by_posts).clamp(1, MOST);
        self.asked
    }
}
