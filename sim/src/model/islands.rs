//! Islands: ranges of a flow's stream beyond a gap that were placed (`docs/card.md`, *Beyond a gap*).

use std::collections::BTreeMap;

use weft_layout::FlowRxRow;
use weft_wire::checks::Position;

/// Islands of a flow at most.
pub const ISLANDS: usize = 8;
/// So many messages behind one that an element was posted for there is none for.
const NOWHERE: u32 = 1 << 30;

/// The flow keeps islands at all.
pub fn may_have(row: &FlowRxRow) -> bool {
    row.beyond() && !row.check_only() && !row.carry()
}

/// What a segment beyond a gap is to the islands of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Wholly in one of them.
    Inside,
    /// Partly in one of them.
    Meets,
    /// In none, and there is no room for one more.
    Full,
    /// In none.
    Free,
}

/// Where its octets begin and end.
type Range = (u32, u32);

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

fn meets(island: Range, (left, right): Range) -> bool {
    before(left, island.1) && before(island.0, right)
}

fn touches(island: Range, (left, right): Range) -> bool {
    island.1 == left || right == island.0
}

/// The FPDUs of queue 0 in a range: where the first of them lies, and what follows the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receives {
    /// Left edge.
    pub first: Position,
    /// Right edge.
    pub next: Position,
}

/// A range of the stream that was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Island {
    range: Range,
    receives: Option<Receives>,
    torn: bool,
}

impl Island {
    /// A segment that was walked as a whole.
    pub fn of(range: Range, receives: Option<Receives>) -> Self {
        Self {
            range,
            receives,
            torn: false,
        }
    }

    /// One with the island that begins where it ends. Torn: the messages of one do not go on in the other.
    fn and(self, right: Self) -> Self {
        let (receives, fit) = match (self.receives, right.receives) {
            (Some(Receives { first, next }), Some(right)) => {
                let both = Receives {
                    first,
                    next: right.next,
                };
                (Some(both), next == right.first)
            }
            (one, other) => (one.or(other), true),
        };
        Self {
            range: (self.range.0, right.range.1),
            receives,
            torn: self.torn || right.torn || !fit,
        }
    }

    /// Where queue 0 stands behind it, if it has stood at `at` before it. Where that is not what the island begins with it is a message for which there
    /// is no element: so no receive is used twice.
    pub fn passed(&self, at: Position) -> Position {
        match self.receives {
            None => at,
            Some(receives) if !self.torn && receives.first == at => receives.next,
            Some(Receives { next, .. }) => Position {
                msn: next.msn.wrapping_add(NOWHERE),
                mo: next.mo,
            },
        }
    }
}

/// The islands of all flows.
#[derive(Clone, Debug, Default)]
pub struct Islands(BTreeMap<u16, Vec<Island>>);

impl Islands {
    /// Those of a flow are forgotten.
    pub fn forget(&mut self, flow: u16) {
        self.0.remove(&flow);
    }

    fn of(&self, flow: u16) -> &[Island] {
        self.0.get(&flow).map_or(&[], Vec::as_slice)
    }

    /// Some of `[left, right)` was placed.
    pub fn meet(&self, flow: u16, range: Range) -> bool {
        self.of(flow)
            .iter()
            .any(|island| meets(island.range, range))
    }

    /// Where a segment lies that is beyond a gap.
    pub fn place(&self, flow: u16, (left, right): Range) -> Place {
        let islands = self.of(flow);
        let inside =
            |island: &Island| !before(left, island.range.0) && !before(island.range.1, right);
        let apart = |island: &Island| !touches(island.range, (left, right));
        if islands.iter().any(inside) {
            Place::Inside
        } else if self.meet(flow, (left, right)) {
            Place::Meets
        } else if islands.len() == ISLANDS && islands.iter().all(apart) {
            Place::Full
        } else {
            Place::Free
        }
    }

    /// An island ends here, and so does an FPDU: its messages.
    pub fn end_at(&self, flow: u16, at: u32) -> Option<Option<Receives>> {
        let mut islands = self.of(flow).iter();
        let island = islands.find(|island| island.range.1 == at)?;
        Some(island.receives)
    }

    /// This is an island, one with those that it touches.
    pub fn add(&mut self, flow: u16, segment: Island) {
        let islands = self.0.entry(flow).or_default();
        let mut whole = segment;
        islands.retain(|island| {
            if island.range.1 == segment.range.0 {
                whole = island.and(whole);
            } else if island.range.0 == segment.range.1 {
                whole = whole.and(*island);
            } else {
                return true;
            }
            false
        });
        islands.push(whole);
    }

    /// The island that begins at `next`, which is gone, and where it ends.
    pub fn pass(&mut self, flow: u16, next: u32) -> Option<(Island, u32)> {
        let islands = self.0.get_mut(&flow)?;
        let at = islands.iter().position(|island| island.range.0 == next)?;
        let island = islands.swap_remove(at);
        Some((island, island.range.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: u16 = 3;

    fn island(range: Range) -> Island {
        Island::of(range, None)
    }

    fn at(msn: u32, mo: u32) -> Position {
        Position { msn, mo }
    }

    fn with(range: Range, first: Position, next: Position) -> Island {
        Island::of(range, Some(Receives { first, next }))
    }

    /// Behind the island that begins at `next`.
    fn pass(islands: &mut Islands, next: u32) -> u32 {
        islands.pass(FLOW, next).map_or(next, |(_, end)| end)
    }

    #[test]
    fn those_that_touch_are_one() {
        let mut islands = Islands::default();
        for at in (0..ISLANDS as u32).map(|n| 20 * n) {
            islands.add(FLOW, island((at, at + 10)));
        }
        assert_eq!(islands.place(FLOW, (200, 210)), Place::Full);
        assert_eq!(islands.place(FLOW, (10, 20)), Place::Free);
        assert_eq!(islands.place(FLOW, (22, 30)), Place::Inside);
        assert_eq!(islands.place(FLOW, (28, 32)), Place::Meets);
        islands.add(FLOW, island((10, 20)));
        assert_eq!(islands.place(FLOW, (200, 210)), Place::Free);
        assert_eq!(islands.place(FLOW, (5, 25)), Place::Inside);
        assert_eq!(pass(&mut islands, 1), 1);
        assert_eq!(pass(&mut islands, 0), 30);
        assert_eq!(islands.place(FLOW, (5, 25)), Place::Free);
    }

    #[test]
    fn a_range_between_two_joins_them_across_the_wrap() {
        let mut islands = Islands::default();
        islands.add(FLOW, island((u32::MAX - 19, u32::MAX - 9)));
        islands.add(FLOW, island((10, 20)));
        assert!(islands.meet(FLOW, (u32::MAX - 10, 0)));
        islands.add(FLOW, island((u32::MAX - 9, 10)));
        assert_eq!(pass(&mut islands, u32::MAX - 19), 20);
        assert!(!islands.meet(FLOW, (u32::MAX - 19, 20)));
    }

    /// The island of these, in whichever order they come.
    fn joined(these: [Island; 3]) -> Island {
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let all = orders.map(|order| {
            let mut islands = Islands::default();
            order.into_iter().for_each(|n| islands.add(FLOW, these[n]));
            islands.pass(FLOW, 10).unwrap().0
        });
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        all[0]
    }

    /// Of its parts an island has the first edge and the last one, and is torn where two of them do not fit.
    #[test]
    fn edges_are_those_of_the_outer_parts() {
        let (left, right) = (
            with((10, 20), at(3, 0), at(4, 100)),
            with((30, 40), at(4, 100), at(6, 0)),
        );
        let fits = joined([left, island((20, 30)), right]);
        let both = Receives {
            first: at(3, 0),
            next: at(6, 0),
        };
        assert_eq!((fits.receives, fits.torn), (Some(both), false));
        assert_eq!(fits.passed(at(3, 0)), at(6, 0));
        for wrong in [at(3, 1), at(2, 0), at(4, 100)] {
            assert_eq!(fits.passed(wrong), at(6 + NOWHERE, 0));
        }
        let alone = joined([island((10, 20)), island((20, 30)), right]);
        assert_eq!(alone.receives, right.receives);
        let none = joined([island((10, 20)), island((20, 30)), island((30, 40))]);
        assert_eq!(none.passed(at(9, 9)), at(9, 9));
        for other in [at(4, 99), at(5, 100)] {
            let other = with((30, 40), other, at(6, 0));
            let torn = joined([left, island((20, 30)), other]);
            assert!(torn.torn);
            assert_eq!(torn.passed(at(3, 0)), at(6 + NOWHERE, 0));
        }
    }
}
