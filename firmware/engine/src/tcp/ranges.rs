//! A small set of disjoint ranges of sequence numbers, in order: what was received beyond a gap,
//! or what the peer says it has received beyond one.

use super::seq;

const CAPACITY: usize = 32;

/// Disjoint, non-adjacent ranges `[left, right)` in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    list: [(u32, u32); CAPACITY],
    count: usize,
}

impl Ranges {
    /// The ranges.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.list[..self.count]
    }

    /// No range at all.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a range, merging it with those it touches. False if there was no room for one more.
    pub fn add(&mut self, left: u32, right: u32) -> bool {
        if !seq::lt(left, right) {
            return true;
        }
        let (mut left, mut right) = (left, right);
        // [first, last) are the ranges it touches.
        let first = self.as_slice().partition_point(|r| seq::lt(r.1, left));
        let mut last = first;
        while last < self.count && seq::le(self.list[last].0, right) {
            left = seq::min(left, self.list[last].0);
            right = seq::max(right, self.list[last].1);
            last += 1;
        }
        if first == last {
            if self.count == CAPACITY {
                return false;
            }
            self.list.copy_within(first..self.count, first + 1);
            self.count += 1;
        } else {
            self.list.copy_within(last..self.count, first + 1);
            self.count -= last - first - 1;
        }
        self.list[first] = (left, right);
        true
    }

    /// Removes everything before `edge`.
    pub fn remove_before(&mut self, edge: u32) {
        let gone = self.as_slice().partition_point(|r| seq::le(r.1, edge));
        self.list.copy_within(gone..self.count, 0);
        self.count -= gone;
        if self.count > 0 {
            self.list[0].0 = seq::max(self.list[0].0, edge);
        }
    }

    /// The end of the range that holds `at`.
    pub fn end_of(&self, at: u32) -> Option<u32> {
        let after = self.as_slice().partition_point(|r| seq::le(r.1, at));
        let range = self.as_slice().get(after)?;
        seq::le(range.0, at).then_some(range.1)
    }

    /// Numbers in all ranges.
    pub fn total(&self) -> u32 {
        self.as_slice()
            .iter()
            .fold(0, |sum, r| sum.wrapping_add(r.1.wrapping_sub(r.0)))
    }

    /// Numbers of `[left, right)` that are in a range.
    pub fn covered(&self, left: u32, right: u32) -> u32 {
        self.as_slice()
            .iter()
            .map(|r| {
                let length = seq::diff(seq::min(r.1, right), seq::max(r.0, left));
                length.max(0) as u32
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_and_removes_across_the_wrap() {
        let mut ranges = Ranges::default();
        let base = u32::MAX - 10;
        let at = |n: u32| base.wrapping_add(n);
        assert!(ranges.add(at(10), at(20)));
        assert!(ranges.add(at(30), at(40)));
        assert!(ranges.add(at(50), at(60)));
        assert_eq!(ranges.total(), 30);
        assert!(ranges.add(at(20), at(30)));
        assert_eq!(ranges.as_slice(), &[(at(10), at(40)), (at(50), at(60))]);
        assert_eq!(ranges.end_of(at(15)), Some(at(40)));
        assert_eq!(ranges.end_of(at(45)), None);
        assert_eq!(ranges.covered(at(35), at(55)), 10);
        ranges.remove_before(at(55));
        assert_eq!(ranges.as_slice(), &[(at(55), at(60))]);
    }

    #[test]
    fn an_edge_before_the_wrap_leaves_what_ends_behind_it() {
        let mut ranges = Ranges::default();
        assert!(ranges.add(u32::MAX - 9, 2));
        ranges.remove_before(u32::MAX - 7);
        assert_eq!(ranges.as_slice(), &[(u32::MAX - 7, 2)]);
    }

    #[test]
    fn a_full_set_refuses_one_more_but_still_merges() {
        let mut ranges = Ranges::default();
        for n in 0..CAPACITY as u32 {
            assert!(ranges.add(n * 10, n * 10 + 5));
        }
        assert!(!ranges.add(10_000, 10_001));
        assert!(ranges.add(5, 10));
        assert_eq!(ranges.as_slice().len(), CAPACITY - 1);
    }
}
