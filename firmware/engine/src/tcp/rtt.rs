//! Round-trip time and retransmission timeout (RFC 6298), in nanoseconds.

/// Initial timeout (RFC 6298 §2.1).
const INITIAL: u64 = 1_000_000_000;
/// What it is when a SYN was lost (RFC 6298 §5.7).
const AFTER_LOST_SYN: u64 = 3_000_000_000;

/// The estimator.
#[derive(Clone, Debug)]
pub struct Rtt {
    smoothed: Option<u64>,
    variation: u64,
    rto: u64,
    backoff: u32,
    granularity: u64,
    max: u64,
}

impl Rtt {
    /// Without a sample. `granularity` is the least the variance counts for (G of RFC 6298 §2).
    pub fn new(granularity: u64, max: u64) -> Self {
        Rtt {
            smoothed: None,
            variation: 0,
            rto: INITIAL.min(max),
            backoff: 0,
            granularity,
            max,
        }
    }

    /// Takes a sample (of a segment that was not sent again: Karn). Only that ends the backing off (§5.7: a timeout that
    /// was doubled stands until there is a new one to be computed).
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
        self.rto = smoothed
            .saturating_add(self.variation.saturating_mul(4).max(self.granularity))
            .min(self.max);
        self.backoff = 0;
    }

    /// The timer expired: wait twice as long next time (§5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// The handshake is done, and its SYN had to be sent again (§5.7).
    pub fn syn_was_lost(&mut self) {
        self.rto = self.rto.max(AFTER_LOST_SYN).min(self.max);
        self.backoff = 0;
    }

    /// The timeout now.
    pub fn timeout(&self) -> u64 {
        (self.rto << self.backoff).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = Rtt::new(1, u64::MAX >> 20);
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
        let mut rtt = Rtt::new(1, u64::MAX >> 20);
        rtt.back_off();
        rtt.syn_was_lost();
        assert_eq!(rtt.timeout(), AFTER_LOST_SYN);
        rtt.sample(100);
        assert_eq!(rtt.timeout(), 300);
    }

    #[test]
    fn stays_in_bounds() {
        let mut rtt = Rtt::new(1000, 5000);
        rtt.sample(1);
        assert_eq!(rtt.timeout(), 1001, "SRTT + max(G, 4 RTTVAR)");
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), 5000);
    }
}
