//! A small set of disjoint ranges of sequence numbers, in order: what was received beyond a gap.

use alloc::vec::Vec;

use crate::seq;

const CAPACITY: usize = 128;

/// Disjoint, non-adjacent ranges `[left, right)` in ascending order.
///
/// They have memory only while there are any.
#[derive(Clone, Debug, Default)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// The ranges.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// No range at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0 = Vec::new();
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
        while last < self.0.len() && seq::le(self.0[last].0, right) {
            left = seq::min(left, self.0[last].0);
            right = seq::max(right, self.0[last].1);
            last += 1;
        }
        if first == last {
            if self.0.len() >= CAPACITY {
                return false;
            }
            self.0.insert(first, (left, right));
        } else {
            self.0.drain(first + 1..last);
            self.0[first] = (left, right);
        }
        true
    }

    /// Removes everything before `edge`.
    pub fn remove_before(&mut self, edge: u32) {
        let gone = self.as_slice().partition_point(|r| seq::le(r.1, edge));
        if gone == self.0.len() {
            self.clear();
            return;
        }
        self.0.drain(..gone);
        self.0[0].0 = seq::max(self.0[0].0, edge);
    }

    /// Some of `[left, right)` lies in a range.
    pub fn meets(&self, left: u32, right: u32) -> bool {
        let after = self.as_slice().partition_point(|r| seq::le(r.1, left));
        let range = self.as_slice().get(after);
        range.is_some_and(|range| seq::lt(range.0, right))
    }

    /// The range that holds `at`.
    pub fn at(&self, at: u32) -> Option<(u32, u32)> {
        let after = self.as_slice().partition_point(|r| seq::le(r.1, at));
        let range = self.as_slice().get(after)?;
        seq::le(range.0, at).then_some(*range)
    }

    /// The end of the range that holds `at`.
    pub fn end_of(&self, at: u32) -> Option<u32> {
        self.at(at).map(|range| range.1)
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
        let three = [(at(10), at(20)), (at(30), at(40)), (at(50), at(60))];
        assert_eq!(ranges.as_slice(), &three);
        assert!(ranges.add(at(20), at(30)));
        assert_eq!(ranges.as_slice(), &[(at(10), at(40)), (at(50), at(60))]);
        assert_eq!(ranges.end_of(at(15)), Some(at(40)));
        assert_eq!(ranges.end_of(at(45)), None);
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
