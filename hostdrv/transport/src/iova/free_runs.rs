//! Runs of free addresses, by place and by length.

use std::collections::{BTreeMap, BTreeSet};

/// Free runs. None touches another.
#[derive(Debug, Default)]
pub(super) struct FreeRuns {
    /// End of each by its start.
    ends: BTreeMap<u128, u128>,
    /// Length and start of each.
    lengths: BTreeSet<(u128, u128)>,
    /// Runs that were looked at, for the test that counts them.
    #[cfg(test)]
    pub(super) looks: std::cell::Cell<u64>,
}

impl FreeRuns {
    /// Takes `len` from the shortest run that has them for sure at a multiple of `align`; from any that has them, if none is so long.
    pub(super) fn take(&mut self, len: u128, align: u128) -> Option<u128> {
        let sure = len.checked_add(align)?;
        let fits = |(length, start): (u128, u128)| {
            let at = start.checked_next_multiple_of(align)?;
            (at + len <= start + length).then_some((at, start, start + length))
        };
        // The shortest that may fit, and the shortest that does.
        let long_enough = self.lengths.range((len, 0)..).next();
        let long = self.lengths.range((sure, 0)..).next();
        let near = [long_enough, long].into_iter().flatten().copied();
        let found = near.inspect(|_| self.looked()).find_map(fits);
        let (at, start, end) = match found {
            Some(found) => found,
            // The addresses are all but used up.
            None => self.lengths.range((len, 0)..).copied().find_map(fits)?,
        };
        self.cut(start, end);
        self.put(start, at);
        self.put(at + len, end);
        Some(at)
    }

    /// Adds a run, which joins those that it touches.
    pub(super) fn give(&mut self, mut start: u128, mut end: u128) {
        let before = self.ends.range(..start).next_back();
        if let Some((&from, &to)) = before.filter(|(_, to)| **to == start) {
            self.looked();
            self.cut(from, to);
            start = from;
        }
        if let Some(&to) = self.ends.get(&end) {
            self.looked();
            self.cut(end, to);
            end = to;
        }
        self.put(start, end);
    }

    fn cut(&mut self, start: u128, end: u128) {
        self.ends.remove(&start);
        self.lengths.remove(&(end - start, start));
    }

    fn put(&mut self, start: u128, end: u128) {
        if start < end {
            self.ends.insert(start, end);
            self.lengths.insert((end - start, start));
        }
    }

    fn looked(&self) {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_alignment_shortens_is_not_overrun() {
        let mut free = FreeRuns::default();
        free.give(1, 9);
        assert_eq!(free.take(8, 2), None);
        assert_eq!(free.take(7, 2), Some(2));
    }
}
