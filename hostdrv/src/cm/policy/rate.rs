//! How often an address asks.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Addresses whose requests are counted at a time.
pub(super) const MAX_COUNTED: usize = 4096;
pub(super) const SECOND: u64 = 1_000_000_000;

/// Requests of one address under one rule: what is left of a second's, and since when.
#[derive(Clone, Copy)]
struct Bucket {
    left: u64,
    at: u64,
}

/// Requests of each address under each rule.
#[derive(Default)]
pub(super) struct Rates {
    counted: BTreeMap<(usize, Ipv4Addr), Bucket>,
}

impl Rates {
    /// Forgets what was counted.
    pub(super) fn clear(&mut self) {
        self.counted.clear();
    }

    /// Counts a request; false: it is one too many.
    pub(super) fn count(&mut self, now: u64, of: (usize, Ipv4Addr), rate: u32) -> bool {
        let full = u64::from(rate) * SECOND;
        if !self.counted.contains_key(&of) && self.counted.len() >= MAX_COUNTED {
            // Who has not asked for a second has a full bucket: nothing is forgotten with it.
            let idle = |bucket: &Bucket| now.saturating_sub(bucket.at) < SECOND;
            self.counted.retain(|_, bucket| idle(bucket));
            if self.counted.len() >= MAX_COUNTED {
                return false;
            }
        }
        let bucket = self.counted.entry(of).or_insert(Bucket {
            left: full,
            at: now,
        });
        let passed = now.saturating_sub(bucket.at).min(SECOND);
        bucket.left = bucket
            .left
            .saturating_add(passed * u64::from(rate))
            .min(full);
        bucket.at = now;
        match bucket.left.checked_sub(SECOND) {
            Some(left) => {
                bucket.left = left;
                true
            }
            None => false,
        }
    }
}
