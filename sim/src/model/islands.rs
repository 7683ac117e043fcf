//! Islands: ranges of a flow's stream beyond a gap that were placed (`docs/card.md`, *Beyond a gap*).

use std::collections::BTreeMap;

use weft_layout::FlowRxRow;

/// Islands of a flow at most.
pub const ISLANDS: usize = 8;

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

type Island = (u32, u32);

fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

fn meets(island: &Island, (left, right): Island) -> bool {
    before(left, island.1) && before(island.0, right)
}

fn touches(island: &Island, (left, right): Island) -> bool {
    island.1 == left || right == island.0
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
    pub fn meet(&self, flow: u16, range: Island) -> bool {
        self.of(flow).iter().any(|island| meets(island, range))
    }

    /// Where a segment lies that is beyond a gap.
    pub fn place(&self, flow: u16, (left, right): Island) -> Place {
        let islands = self.of(flow);
        let inside = |island: &Island| !before(left, island.0) && !before(island.1, right);
        if islands.iter().any(inside) {
            Place::Inside
        } else if self.meet(flow, (left, right)) {
            Place::Meets
        } else if islands.len() == ISLANDS && !islands.iter().any(|i| touches(i, (left, right))) {
            Place::Full
        } else {
            Place::Free
        }
    }

    /// An island ends here, and so does an FPDU.
    pub fn end_at(&self, flow: u16, at: u32) -> bool {
        self.of(flow).iter().any(|island| island.1 == at)
    }

    /// The range is an island, one with those that it touches.
    pub fn add(&mut self, flow: u16, mut range: Island) {
        let islands = self.0.entry(flow).or_default();
        islands.retain(|island| {
            let apart = !touches(island, range);
            if island.1 == range.0 {
                range.0 = island.0;
            } else if island.0 == range.1 {
                range.1 = island.1;
            }
            apart
        });
        islands.push(range);
    }

    /// Behind the island that begins at `next`, which is gone; else `next` itself.
    pub fn pass(&mut self, flow: u16, next: u32) -> u32 {
        let Some(islands) = self.0.get_mut(&flow) else {
            return next;
        };
        match islands.iter().position(|island| island.0 == next) {
            Some(at) => islands.swap_remove(at).1,
            None => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: u16 = 3;

    #[test]
    fn those_that_touch_are_one() {
        let mut islands = Islands::default();
        for at in (0..ISLANDS as u32).map(|n| 20 * n) {
            islands.add(FLOW, (at, at + 10));
        }
        assert_eq!(islands.place(FLOW, (200, 210)), Place::Full);
        assert_eq!(islands.place(FLOW, (10, 20)), Place::Free);
        assert_eq!(islands.place(FLOW, (22, 30)), Place::Inside);
        assert_eq!(islands.place(FLOW, (28, 32)), Place::Meets);
        islands.add(FLOW, (10, 20));
        assert_eq!(islands.place(FLOW, (200, 210)), Place::Free);
        assert_eq!(islands.place(FLOW, (5, 25)), Place::Inside);
        assert_eq!(islands.pass(FLOW, 1), 1);
        assert_eq!(islands.pass(FLOW, 0), 30);
        assert_eq!(islands.place(FLOW, (5, 25)), Place::Free);
    }

    #[test]
    fn a_range_between_two_joins_them_across_the_wrap() {
        let mut islands = Islands::default();
        islands.add(FLOW, (u32::MAX - 19, u32::MAX - 9));
        islands.add(FLOW, (10, 20));
        assert!(islands.meet(FLOW, (u32::MAX - 10, 0)));
        islands.add(FLOW, (u32::MAX - 9, 10));
        assert_eq!(islands.pass(FLOW, u32::MAX - 19), 20);
        assert!(!islands.meet(FLOW, (u32::MAX - 19, 20)));
    }
}
