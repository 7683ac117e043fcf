//! Complaints that somebody else can cause as often as it likes: the first is said, and then each time that there are twice as many.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often there was cause to complain.
#[derive(Debug, Default)]
pub(crate) struct Said(AtomicU64);

impl Said {
    /// Once more; if it is to be said: how often so far.
    pub(crate) fn again(&self) -> Option<u64> {
        let times = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        times.is_power_of_two().then_some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_complaints_are_twenty_lines() {
        let said = Said::default();
        let lines: Vec<_> = (0..1_000_000).filter_map(|_| said.again()).collect();
        assert_eq!(lines.len(), 20);
        assert_eq!(lines[..3], [1, 2, 4]);
    }
}
