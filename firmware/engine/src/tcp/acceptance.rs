//! Which segments with payload are taken: one rule for the card (docs/card.md, "Acceptance") and for what the
//! engine takes by hand, in the same order.

use weft_layout::refusal;
use weft_wire::tcp::flag;

use weft_tcp::seq;

/// What the receiver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// RCV.NXT.
    pub rcv_nxt: u32,
    /// The most that was ever promised beyond it.
    pub window: u32,
    /// Timestamps were agreed.
    pub timestamps: bool,
    /// TS.Recent, if it is valid.
    pub ts_recent: Option<u32>,
}

/// What decides, of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Sequence number.
    pub seq: u32,
    /// Bytes of payload, at least one.
    pub length: u32,
    /// Control bits.
    pub flags: u8,
    /// TSval.
    pub ts_val: Option<u32>,
    /// The IP header has options.
    pub ip_options: bool,
}

/// Why a segment is refused: nothing of it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// It has no ACK flag (RFC 9293 §3.10.7.4).
    NoAck,
    /// It ends beyond the window (RFC 9293 §3.4).
    Window,
    /// It is older than TS.Recent: PAWS (RFC 7323 §5.3).
    Timestamp,
    /// It lacks the timestamp that was agreed (RFC 7323 §3.2).
    NoTimestamp,
}

impl DropReason {
    /// From a report.
    pub fn of_card(number: u8) -> Option<Self> {
        match number {
            refusal::NO_ACK => Some(DropReason::NoAck),
            refusal::WINDOW => Some(DropReason::Window),
            refusal::PAWS => Some(DropReason::Timestamp),
            refusal::NO_TIMESTAMP => Some(DropReason::NoTimestamp),
            _ => None,
        }
    }
}

/// What becomes of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// SYN or RST is set: its payload is nobody's.
    Nobody,
    /// Nothing is done with it.
    Refused(DropReason),
    /// All of it was received before.
    Duplicate,
    /// It is the next one: the card walks it.
    InSequence,
    /// In the window, but for the engine: a gap, an overlap, URG, IP options.
    ByHand,
}

/// The rule.
pub fn judge(segment: &Arriving, position: &Position) -> Verdict {
    if segment.flags & (flag::SYN | flag::RST) != 0 {
        return Verdict::Nobody;
    }
    if segment.flags & flag::ACK == 0 {
        return Verdict::Refused(DropReason::NoAck);
    }
    if let Some(refusal) = timestamp(segment.ts_val, position) {
        return Verdict::Refused(refusal);
    }
    let end = seq::diff(segment.seq.wrapping_add(segment.length), position.rcv_nxt);
    if end <= 0 {
        return Verdict::Duplicate;
    }
    if position.window != 0 && end as u32 > position.window {
        return Verdict::Refused(DropReason::Window);
    }
    if segment.seq == position.rcv_nxt && segment.flags & flag::URG == 0 && !segment.ip_options {
        Verdict::InSequence
    } else {
        Verdict::ByHand
    }
}

/// The third step alone: it holds for segments without payload, too.
pub fn timestamp(ts_val: Option<u32>, position: &Position) -> Option<DropReason> {
    if !position.timestamps {
        return None;
    }
    match (ts_val, position.ts_recent) {
        (None, _) => Some(DropReason::NoTimestamp),
        (Some(value), Some(recent)) if seq::lt(value, recent) => Some(DropReason::Timestamp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u32 = 0xffff_ff00;

    fn verdict(change: impl Fn(&mut Arriving, &mut Position)) -> Verdict {
        let mut segment = Arriving {
            seq: S,
            length: 100,
            flags: flag::ACK,
            ts_val: Some(7),
            ip_options: false,
        };
        let mut position = Position {
            rcv_nxt: S,
            window: 1000,
            timestamps: true,
            ts_recent: Some(7),
        };
        change(&mut segment, &mut position);
        judge(&segment, &position)
    }

    #[test]
    fn the_order_and_the_edges() {
        use DropReason::*;
        use Verdict::*;
        let far = |s: &mut Arriving| s.seq = S.wrapping_add(1 << 30);
        assert_eq!(verdict(|_, _| ()), InSequence);
        assert_eq!(
            verdict(|s, _| (s.flags, s.ts_val) = (flag::SYN, None)),
            Nobody
        );
        assert_eq!(verdict(|s, _| s.flags = flag::RST | flag::ACK), Nobody);
        assert_eq!(
            verdict(|s, _| (s.flags, s.ts_val) = (0, None)),
            Refused(NoAck)
        );
        let old = |s: &mut Arriving, _: &mut Position| {
            s.seq = S.wrapping_sub(200);
            s.ts_val = Some(6);
        };
        assert_eq!(verdict(old), Refused(Timestamp), "PAWS before the position");
        assert_eq!(
            verdict(|s, _| {
                far(s);
                s.ts_val = None;
            }),
            Refused(NoTimestamp)
        );
        assert_eq!(
            verdict(|s, p| (s.ts_val, p.timestamps) = (None, false)),
            InSequence
        );
        assert_eq!(
            verdict(|s, p| (s.ts_val, p.ts_recent) = (Some(0), None)),
            InSequence
        );
        assert_eq!(
            verdict(|s, _| s.ts_val = Some(7 + (1 << 31))),
            Refused(Timestamp)
        );
        assert_eq!(verdict(|s, _| s.ts_val = Some(6 + (1 << 31))), InSequence);
        assert_eq!(verdict(|s, _| s.seq = S.wrapping_sub(100)), Duplicate);
        assert_eq!(verdict(|s, _| s.seq = S.wrapping_sub(99)), ByHand);
        assert_eq!(verdict(|s, _| s.seq = S.wrapping_add(900)), ByHand);
        assert_eq!(verdict(|s, _| s.seq = S.wrapping_add(901)), Refused(Window));
        assert_eq!(
            verdict(|s, p| {
                far(s);
                p.window = 0;
            }),
            ByHand
        );
        assert_eq!(verdict(|s, _| s.flags |= flag::URG), ByHand);
        assert_eq!(verdict(|s, _| s.ip_options = true), ByHand);
    }
}
