//! Which payload of a known flow is taken: the table "Rule of acceptance" of `docs/card.md`.

use weft_layout::{AttachRow, FlowRxRow, Refusal};

use super::ethernet::{flag, Segment};
use super::islands::{may_have, Islands, Place};

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
    /// Beyond a gap, where its flow may have an island: walked.
    Beyond,
    /// Not what the card can go on with: up raw, and the flow leaves the card.
    Leave,
    /// The same, for want of an island.
    NoIsland,
}

/// Judges a segment of a known flow.
pub fn judge(
    s: &Segment,
    flow: u16,
    row: &FlowRxRow,
    position: &AttachRow,
    islands: &Islands,
) -> Judgement {
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
    } else if s.flags & flag::URG != 0 || s.unread {
        Judgement::Leave
    } else if s.seq == position.rcv_nxt {
        match islands.meet(flow, range(s)) {
            true => Judgement::Leave,
            false => Judgement::Walk,
        }
    } else {
        beyond(s, flow, row, position, islands)
    }
}

/// The octets of its payload.
pub fn range(s: &Segment) -> (u32, u32) {
    (s.seq, s.seq.wrapping_add(s.len as u32))
}

/// Judges a segment of an attached flow that is not next in sequence.
fn beyond(
    s: &Segment,
    flow: u16,
    row: &FlowRxRow,
    position: &AttachRow,
    islands: &Islands,
) -> Judgement {
    let behind = (s.seq.wrapping_sub(position.rcv_nxt) as i32) < 0;
    if behind || s.flags & flag::FIN != 0 || !may_have(row) {
        return Judgement::Leave;
    }
    match islands.place(flow, range(s)) {
        Place::Inside => Judgement::Duplicate,
        Place::Meets => Judgement::Leave,
        Place::Full => Judgement::NoIsland,
        Place::Free => Judgement::Beyond,
    }
}

/// A walked segment's TSval is the newest.
pub fn note_timestamp(s: &Segment, row: &FlowRxRow, position: &mut AttachRow) {
    if let Some((value, _)) = s.timestamps.filter(|_| row.timestamps()) {
        position.ts_recent = value;
        position.attached |= AttachRow::TS_RECENT_VALID;
    }
}
