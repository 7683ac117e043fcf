//! A card that two engines share, each by a port of its own (`docs/card.md`, Ports): which of its flows, rows, STags, domains and TCP ports are whose.
//!
//! Neither knows of the other one. What is one's own follows from which of both it is, so that nothing has to be agreed on: no row is written by both, and no
//! domain of one has the number of one of the other's, so that no stream of one may reach a region of the other.

use core::ops::{Range, RangeInclusive};

use weft_layout::FlowRxRow;

/// What an engine has of its card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResourceSplit {
    /// All of it.
    #[default]
    Whole,
    /// Of a card with two ports the first, and all that is not the second one's. Frames of no flow come to it.
    First,
    /// The second port, 32 flows, a quarter of the STags, a row of the two of each bucket of FLOW_KEY.
    Second,
    /// As `First`, and the other one has as much.
    FirstHalf,
    /// As `Second`, and half of the flows and of the STags.
    SecondHalf,
}

/// The second one's flows.
const SECOND_FLOWS: u16 = 32;
/// Ports that nobody asked for are taken from here on (RFC 6335 §6), the second one's from there.
const FIRST_PORT: u16 = 49152;
const SECOND_PORTS: u16 = 57344;

impl ResourceSplit {
    /// Its flows, of so many.
    pub fn flows(self, flows: u16) -> Range<u16> {
        let few = flows - SECOND_FLOWS.min(flows / 2);
        let half = flows / 2;
        match self {
            ResourceSplit::Whole => 0..flows,
            ResourceSplit::First => 0..few,
            ResourceSplit::Second => few..flows,
            ResourceSplit::FirstHalf => 0..half,
            ResourceSplit::SecondHalf => half..flows,
        }
    }

    /// The rows of a bucket of FLOW_KEY that it may use.
    pub(crate) fn ways(self) -> Range<usize> {
        match self {
            ResourceSplit::Whole => 0..2,
            ResourceSplit::First | ResourceSplit::FirstHalf => 0..1,
            ResourceSplit::Second | ResourceSplit::SecondHalf => 1..2,
        }
    }

    /// Its STag indices, of so many.
    pub fn stags(self, stags: u32) -> Range<u32> {
        let (few, half) = (stags - stags / 4, stags / 2);
        match self {
            ResourceSplit::Whole => 1..stags,
            ResourceSplit::First => 1..few,
            ResourceSplit::Second => few..stags,
            ResourceSplit::FirstHalf => 1..half,
            ResourceSplit::SecondHalf => half..stags,
        }
    }

    /// The number before its first domain.
    pub(crate) fn domains(self) -> u32 {
        match self {
            // More than anybody has.
            ResourceSplit::Second | ResourceSplit::SecondHalf => 1 << 31,
            _ => 0,
        }
    }

    /// TCP ports that it takes where nobody asked for one.
    pub fn ports(self) -> RangeInclusive<u16> {
        match self {
            ResourceSplit::Whole => FIRST_PORT..=u16::MAX,
            ResourceSplit::First | ResourceSplit::FirstHalf => FIRST_PORT..=SECOND_PORTS - 1,
            ResourceSplit::Second | ResourceSplit::SecondHalf => SECOND_PORTS..=u16::MAX,
        }
    }

    /// What its rows of FLOW_RX have beside the usual flags.
    pub(crate) fn row_flags(self) -> u8 {
        match self {
            ResourceSplit::Second | ResourceSplit::SecondHalf => FlowRxRow::PORT,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_s_and_nothing_is_nobody_s() {
        let few = (ResourceSplit::First, ResourceSplit::Second);
        let halves = (ResourceSplit::FirstHalf, ResourceSplit::SecondHalf);
        for (one, other) in [few, halves] {
            for log2 in [1, 4, 6, 8, 12] {
                let flows = 1_u16 << log2;
                let (first, second) = (one.flows(flows), other.flows(flows));
                assert_eq!(
                    (first.start, first.end, second.end),
                    (0, second.start, flows)
                );
                let most = if one == ResourceSplit::First {
                    32
                } else {
                    first.len()
                };
                assert!(!second.is_empty() && second.len() <= most);
                let stags = 4 * u32::from(flows);
                let (first, second) = (one.stags(stags), other.stags(stags));
                assert_eq!(
                    (first.start, first.end, second.end),
                    (1, second.start, stags)
                );
            }
            assert_eq!(one.ways().end, other.ways().start);
            assert_eq!(one.ports().end() + 1, *other.ports().start());
            assert_ne!(one.row_flags(), other.row_flags());
            assert_ne!(one.domains(), other.domains());
        }
    }
}
