//! Names of registers and doorbells, for accesses that the card recorded.

use weft_layout::{doorbell, reg};

/// The register at this offset.
pub(super) fn register_name(offset: u32) -> &'static str {
    reg::ALL
        .iter()
        .find(|(_, at, words)| (*at..at + 4 * words).contains(&offset))
        .map_or("(reserved)", |(name, _, _)| name)
}

/// The doorbell at this offset.
pub(super) fn doorbell_name(offset: u32) -> &'static str {
    match offset {
        doorbell::JOB_TAIL => "JOB_TAIL",
        doorbell::REPORT_HEAD => "REPORT_HEAD",
        doorbell::RAW_HEAD => "RAW_HEAD",
        doorbell::REPORT_ARM => "REPORT_ARM",
        doorbell::CAPTURE_HEAD => "CAPTURE_HEAD",
        doorbell::RQ_TAIL.. => "RQ_TAIL",
        doorbell::REPORT_ARM_AFTER..doorbell::JOB_PUSH => "REPORT_ARM_AFTER",
        _ => "JOB_PUSH",
    }
}
