//! Round-trip time and retransmission timeout (RFC 6298), and the least round-trip time of late, in nanoseconds.

/// Initial timeout (RFC 6298 §2.1).
const INITIAL: u64 = 1_000_000_000;
/// What it is when a SYN was lost (RFC 6298 §5.7).
const AFTER_LOST_SYN: u64 = 3_000_000_000;

/// The least of late is that of so long.
pub const MEMORY: u64 = 10_000_000_000;

/// The least of a window of time, from three candidates: the least, the least since, and the least since that.
#[derive(Clone, Copy, Debug, Default)]
struct Least([(u64, u64); 3]);

impl Least {
    #[inline]
    fn take(&mut self, now: u64, value: u64) {
        let [first, _, third] = &self.0;
        if value > third.1 && first.1 > 0 && now.saturating_sub(first.0) <= MEMORY / 4 {
            // The usual case: it is greater than all three, and they are young.
            return;
        }
        self.replace(now, value);
    }

    fn replace(&mut self, now: u64, value: u64) {
        let new = (now, value);
        let [first, second, third] = &mut self.0;
        if first.1 == 0 || value <= first.1 || now.saturating_sub(third.0) > MEMORY {
            self.0 = [new; 3];
            return;
        }
        if value <= second.1 {
            (*second, *third) = (new, new);
        } else if value <= third.1 {
            *third = new;
        }
        let age = now.saturating_sub(first.0);
        if age > MEMORY {
            // The first is too old: the others move up.
            (*first, *second, *third) = (*second, *third, new);
            if now.saturating_sub(first.0) > MEMORY {
                (*first, *second) = (*second, *third);
            }
        } else if second.0 == first.0 && age > MEMORY / 4 {
            (*second, *third) = (new, new);
        } else if third.0 == second.0 && age > MEMORY / 2 {
            *third = new;
        }
    }
}

/// The least that the variance counts for in the timeout (G of RFC 6298 §2.3): what the peer may add to a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granularity {
    /// With less than two full segments under way, and no gap at the peer: it may keep the acknowledgment back.
    pub alone: u64,
    /// Otherwise it may not (RFC 5681 §4.2); for the first three expiries in a row only.
    pub in_flight: u64,
}

/// So often in a row the timer may expire by the lesser granularity: then the path is in a state that nobody measured.
const QUICK: u32 = 3;

/// The estimator.
#[derive(Clone, Debug)]
pub struct Rtt {
    smoothed: Option<u64>,
    variation: u64,
    /// The timeout without a sample.
    unknown: u64,
    backoff: u32,
    granularity: Granularity,
    max: u64,
    least: Least,
}

impl Rtt {
    /// Without a sample.
    pub fn new(granularity: Granularity, max: u64) -> Self {
        Rtt {
            smoothed: None,
            variation: 0,
            unknown: INITIAL.min(max),
            backoff: 0,
            granularity,
            max,
            least: Least::default(),
        }
    }

    /// Takes a sample (of a segment that was not sent again: Karn). Only that ends the backing off (§5.7: a timeout that
    /// was doubled stands until there is a new one to be computed).
    #[inline]
    pub fn sample(&mut self, rtt: u64) {
        let smoothed = match self.smoothed {
            None => {
                self.variation = rtt / 2;
                rtt
            }
            Some(smoothed) => {
                self.variation = (3 * self.variation + smoothed.abs_diff(rtt)) / 4;
                (7 * smoothed + rtt) / 8
            }
        };
        self.smoothed = Some(smoothed);
        self.backoff = 0;
    }

    /// What the newest segment that arrived took, if it was sent once.
    #[inline]
    pub fn observe(&mut self, now: u64, rtt: u64) {
        self.least.take(now, rtt.max(1));
    }

    /// The least of late; 0: none was seen.
    pub fn least(&self) -> u64 {
        self.least.0[0].1
    }

    /// SRTT; `None` without a sample.
    pub fn smoothed(&self) -> Option<u64> {
        self.smoothed
    }

    /// The timer expired: wait twice as long next time (§5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// The handshake is done, and its SYN had to be sent again (§5.7).
    pub fn syn_was_lost(&mut self) {
        self.unknown = self.unknown.max(AFTER_LOST_SYN).min(self.max);
        self.backoff = 0;
    }

    /// The timeout now, with little or nothing under way.
    #[inline]
    pub fn timeout(&self) -> u64 {
        self.timeout_by(self.granularity.alone, self.backoff)
    }

    /// The timeout now, with two full segments under way or more, or a gap at the peer.
    #[inline]
    pub fn timeout_in_flight(&self) -> u64 {
        let quick = self.timeout_by(self.granularity.in_flight, self.backoff);
        match self.backoff < QUICK {
            true => quick,
            // The doubling begins anew: three expiries of a millisecond are no reason to wait eight times the greater one.
            false => quick.max(self.timeout_by(self.granularity.alone, self.backoff - QUICK)),
        }
    }

    #[inline]
    fn timeout_by(&self, granularity: u64, backoff: u32) -> u64 {
        let rto = self.smoothed.map_or(self.unknown, |smoothed| {
            smoothed.saturating_add(self.variation.saturating_mul(4).max(granularity))
        });
        (rto.min(self.max) << backoff).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(granularity: u64) -> Granularity {
        Granularity {
            alone: granularity,
            in_flight: granularity,
        }
    }

    #[test]
    fn the_lesser_granularity_is_for_the_first_expiries() {
        let granularity = Granularity {
            alone: 1000,
            in_flight: 10,
        };
        let mut rtt = Rtt::new(granularity, u64::MAX >> 20);
        assert_eq!(rtt.timeout_in_flight(), INITIAL);
        for _ in 0..60 {
            rtt.sample(100);
        }
        assert_eq!((rtt.timeout(), rtt.timeout_in_flight()), (1100, 110));
        rtt.back_off();
        rtt.back_off();
        assert_eq!((rtt.timeout(), rtt.timeout_in_flight()), (4400, 440));
        rtt.back_off();
        // The greater one begins to double where it takes over: what was doubled before is no measure of it.
        assert_eq!((rtt.timeout(), rtt.timeout_in_flight()), (8800, 1100));
        rtt.back_off();
        assert_eq!(rtt.timeout_in_flight(), 2200);
        rtt.sample(100);
        assert_eq!(rtt.timeout_in_flight(), 110);
    }

    #[test]
    fn no_expiry_waits_less_than_twice_as_long_as_the_one_before() {
        for (alone, in_flight) in [(1000, 10), (1000, 1000), (20, 10), (0, 0)] {
            let mut rtt = Rtt::new(Granularity { alone, in_flight }, u64::MAX >> 20);
            rtt.sample(100);
            let mut before = rtt.timeout_in_flight();
            for _ in 0..10 {
                rtt.back_off();
                let now = rtt.timeout_in_flight();
                assert!(now >= 2 * before, "{alone} {in_flight}: {before} {now}");
                before = now;
            }
        }
    }

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = Rtt::new(same(1), u64::MAX >> 20);
        assert_eq!(rtt.timeout(), INITIAL);
        rtt.sample(100);
        assert_eq!(rtt.timeout(), 100 + 4 * 50);
        rtt.sample(200);
        // RTTVAR = 3/4 * 50 + 1/4 * 100 = 62, SRTT = 7/8 * 100 + 1/8 * 200 = 112
        assert_eq!(rtt.timeout(), 112 + 4 * 62);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), 4 * (112 + 4 * 62));
        rtt.sample(112);
        assert_eq!(rtt.timeout(), 112 + 4 * 46);
    }

    #[test]
    fn a_lost_syn_makes_it_three_seconds() {
        let mut rtt = Rtt::new(same(1), u64::MAX >> 20);
        rtt.back_off();
        rtt.syn_was_lost();
        assert_eq!(rtt.timeout(), AFTER_LOST_SYN);
        rtt.sample(100);
        assert_eq!(rtt.timeout(), 300);
    }

    #[test]
    fn the_least_is_forgotten_after_a_while() {
        let mut rtt = Rtt::new(same(1), u64::MAX);
        assert_eq!(rtt.least(), 0);
        rtt.observe(0, 50);
        rtt.observe(1, 20);
        rtt.observe(2, 90);
        assert_eq!(rtt.least(), 20);
        // The path has become longer: the old least holds for as long as the memory, then the new one.
        for n in 0..100 {
            rtt.observe(1000 + n * MEMORY / 50, 70);
            let least = if n * MEMORY / 50 + 999 <= MEMORY {
                20
            } else {
                70
            };
            assert_eq!(rtt.least(), least, "{n}");
        }
        rtt.observe(4 * MEMORY, 30);
        rtt.observe(7 * MEMORY, 80);
        assert_eq!(rtt.least(), 80, "nothing was seen for long");
    }

    #[test]
    fn stays_in_bounds() {
        let mut rtt = Rtt::new(same(1000), 5000);
        rtt.sample(1);
        assert_eq!(rtt.timeout(), 1001, "SRTT + max(G, 4 RTTVAR)");
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), 5000);
    }
}
