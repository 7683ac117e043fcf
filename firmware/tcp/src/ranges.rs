//! A small set of disjoint ranges of sequence numbers, in order: what was received beyond a gap.

use alloc::vec::Vec;

use crate::seq;

/// Disjoint, non-adjacent ranges `[left, right)` in ascending order.
///
/// They have memory only while there are any.
#[derive(Clone, Debug)]
pub struct Ranges {
    list: Vec<(u32, u32)>,
    most: usize,
}

impl Ranges {
    /// None yet, of so many at most.
    pub fn new(most: u16) -> Self {
        Ranges {
            list: Vec::new(),
            most: most.into(),
        }
    }

    /// The ranges.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.list
    }

    /// No range at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.list = Vec::new();
    }

    /// Adds a range, merging it with those it touches. False if there was no room for one more.
    pub fn add(&mut self, left: u32, right: u32) -> bool {
        self.add_among(left, right, self.most)
    }

    /// The same, whether there is room or not.
    pub fn add_surely(&mut self, left: u32, right: u32) {
        self.add_among(left, right, usize::MAX);
    }

    fn add_among(&mut self, left: u32, right: u32, most: usize) -> bool {
        if !seq::lt(left, right) {
            return true;
        }
        let (mut left, mut right) = (left, right);
        // [first, last) are the ranges it touches.
        let first = self.as_slice().partition_point(|r| seq::lt(r.1, left));
        let mut last = first;
        while last < self.list.len() && seq::le(self.list[last].0, right) {
            left = seq::min(left, self.list[last].0);
            right = seq::max(right, self.list[last].1);
            last += 1;
        }
        if first == last {
            if self.list.len() >= most {
                return false;
            }
            if self.list.capacity() == 0 {
                // All at once: what grows leaves holes behind.
                self.list.reserve_exact(self.most.min(32));
            }
            self.list.insert(first, (left, right));
        } else {
            self.list.drain(first + 1..last);
            self.list[first] = (left, right);
        }
        true
    }

    /// Removes everything before `edge`.
    pub fn remove_before(&mut self, edge: u32) {
        let gone = self.as_slice().partition_point(|r| seq::le(r.1, edge));
        if gone == self.list.len() {
            self.clear();
            return;
        }
        self.list.drain(..gone);
        self.list[0].0 = seq::max(self.list[0].0, edge);
    }

    /// Removes everything from `edge` on.
    pub fn remove_from(&mut self, edge: u32) {
        self.list.retain(|range| seq::lt(range.0, edge));
        if let Some(last) = self.list.last_mut() {
            last.1 = seq::min(last.1, edge);
        }
        if self.list.is_empty() {
            self.clear();
        }
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

    const CAPACITY: u16 = 128;

    #[test]
    fn merges_and_removes_across_the_wrap() {
        let mut ranges = Ranges::new(CAPACITY);
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
        let mut ranges = Ranges::new(CAPACITY);
        assert!(ranges.add(u32::MAX - 9, 2));
        ranges.remove_before(u32::MAX - 7);
        assert_eq!(ranges.as_slice(), &[(u32::MAX - 7, 2)]);
    }

    #[test]
    fn what_is_given_up_is_cut_off() {
        let mut ranges = Ranges::new(4);
        assert!(ranges.add(10, 20) && ranges.add(30, 40) && ranges.add(50, 60));
        ranges.remove_from(35);
        assert_eq!(ranges.as_slice(), &[(10, 20), (30, 35)]);
        ranges.remove_from(20);
        assert_eq!(ranges.as_slice(), &[(10, 20)]);
        ranges.remove_from(5);
        assert!(ranges.is_empty());
    }

    #[test]
    fn a_full_set_refuses_one_more_but_still_merges() {
        let mut ranges = Ranges::new(CAPACITY);
        for n in 0..u32::from(CAPACITY) {
            assert!(ranges.add(n * 10, n * 10 + 5));
        }
        assert!(!ranges.add(10_000, 10_001));
        assert!(ranges.add(5, 10));
        assert_eq!(ranges.as_slice().len(), usize::from(CAPACITY) - 1);
    }
}
