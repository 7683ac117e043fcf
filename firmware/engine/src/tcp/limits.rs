//! How often something may happen that anybody on the network can cause.

const SECOND: u64 = 1_000_000_000;

/// So many in a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    since: u64,
    used: u32,
}

impl Limit {
    /// True if it may happen once more now; then it is counted.
    pub fn allow(&mut self, now: u64, per_second: u32) -> bool {
        if now.saturating_sub(self.since) >= SECOND {
            self.since = now;
            self.used = 0;
        }
        let allowed = self.used < per_second;
        self.used = self.used.saturating_add(u32::from(allowed));
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_a_second() {
        let mut limit = Limit::default();
        let mut allowed =
            |now: u64, times: usize| (0..times).filter(|_| limit.allow(now, 3)).count();
        assert_eq!(allowed(5 * SECOND, 10), 3);
        assert_eq!(allowed(6 * SECOND - 1, 10), 0);
        assert_eq!(allowed(6 * SECOND, 2), 2);
        assert_eq!(allowed(6 * SECOND + 1, 10), 1);
    }
}
