//! How long the peer keeps the acknowledgment of a lone segment back (TLP.max_ack_delay of RFC 8985 §7.2): no longer than it may, and
//! when it has acknowledged some, no longer than twice the longest of late. A peer that delays others than those is found out by a probe that was
//! not needed: then it may again, and twice as many have to come before that is believed.

/// Lone segments that have to be acknowledged before the longest of them says anything; the most that it becomes.
const FEW: u16 = 8;
const MANY: u16 = 1 << 12;

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckDelay {
    /// The longest time to an acknowledgment among so many, and among those before them; 0: there were too few.
    longest: [u64; 2],
    count: u16,
    needed: u16,
}

impl Default for AckDelay {
    fn default() -> Self {
        AckDelay {
            longest: [0; 2],
            count: 0,
            needed: FEW,
        }
    }
}

impl AckDelay {
    /// A segment that was alone was acknowledged after this time.
    pub(super) fn take(&mut self, time: u64) {
        self.longest[0] = self.longest[0].max(time).max(1);
        self.count += 1;
        if self.count >= self.needed {
            self.longest = [0, self.longest[0]];
            self.count = 0;
        }
    }

    /// An acknowledgment that seemed lost was kept back.
    pub(super) fn refuted(&mut self) {
        *self = AckDelay {
            needed: (2 * self.needed).min(MANY),
            ..AckDelay::default()
        };
    }

    /// So much longer a lone segment waits, where the peer keeps an acknowledgment back no longer than `most`.
    pub(super) fn allowance(&self, most: u64) -> u64 {
        match self.longest {
            [_, 0] => most,
            [now, before] => most.min(now.max(before).saturating_mul(2)),
        }
    }
}
