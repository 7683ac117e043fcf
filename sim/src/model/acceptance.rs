//! Which payload of a known flow is taken: the table "Rule of acceptance" of `docs/card.md`.

use weft_layout::{AttachRow, FlowRxRow, Refusal};

use super::ethernet::{flag, Segment};

/// What becomes of a segment of a known flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It carries nothing that counts.
    Bare,
    /// Report only, and nothing changes.
    Refused(Refusal),
    /// The flow is not attached: up raw.
    Bypassed,
    /// Wholly old.
    Duplicate,
    /// Next in sequence: walked.
    Walk,
    /// Not what the card can go on with: up raw, and the flow leaves the card.
    Leave,
}

/// Judges a segment of a known flow.
pub fn judge(s: &Segment, row: &FlowRxRow, position: &AttachRow) -> Judgement {
    if s.len == 0 || s.flags & (flag::SYN | flag::RST) != 0 {
        return Judgement::Bare;
    }
    if s.flags & flag::ACK == 0 {
        return Judgement::Refused(Refusal::NoAck);
    }
    if !row.valid() || !position.attached() {
        return Judgement::Bypassed;
    }
    if row.timestamps() && !s.unread {
        match s.timestamps {
            None => return Judgement::Refused(Refusal::NoTimestamp),
            Some((value, _)) => {
                if position.ts_recent_valid() && (value.wrapping_sub(position.ts_recent) as i32) < 0
                {
                    return Judgement::Refused(Refusal::Paws);
                }
            }
        }
    }
    let ahead = s
        .seq
        .wrapping_add(s.len as u32)
        .wrapping_sub(position.rcv_nxt);
    if ahead as i32 <= 0 {
        Judgement::Duplicate
    } else if position.window != 0 && ahead > position.window {
        Judgement::Refused(Refusal::Window)
    } else if s.seq == position.rcv_nxt && s.flags & flag::URG == 0 && !s.unread {
        Judgement::Walk
    } else {
        Judgement::Leave
    }
}

/// A walked segment's TSval is the newest.
pub fn note_timestamp(s: &Segment, row: &FlowRxRow, position: &mut AttachRow) {
    if let Some((value, _)) = s.timestamps.filter(|_| row.timestamps()) {
        position.ts_recent = value;
        position.attached |= AttachRow::TS_RECENT_VALID;
    }
}
