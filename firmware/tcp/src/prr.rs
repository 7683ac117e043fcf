//! Proportional rate reduction (RFC 6937): how much goes out for each acknowledgment of a recovery, so that at its end as much
//! is under way as the controller wants, without a pause and without a burst.

/// A recovery's account, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Under way when it began (RecoverFS).
    begin: u32,
    /// Arrived since (prr_delivered).
    delivered: u64,
    /// Sent since (prr_out).
    out: u64,
}

impl Prr {
    /// A recovery begins with so much not acknowledged.
    pub fn new(flight: u32) -> Self {
        Prr {
            begin: flight.max(1),
            ..Prr::default()
        }
    }

    /// It was sent.
    pub fn sent(&mut self, bytes: u32) {
        self.out += u64::from(bytes);
    }

    /// The congestion window after an acknowledgment that told of `delivered` more bytes, with `pipe` under way (§3.1, with the
    /// slow-start reduction bound).
    pub fn acknowledged(&mut self, delivered: u32, pipe: u32, ssthresh: u32, mss: u32) -> u32 {
        self.delivered += u64::from(delivered);
        let may = if pipe > ssthresh {
            let share = (self.delivered * u64::from(ssthresh)).div_ceil(u64::from(self.begin));
            share.saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out);
            let limit = limit.max(u64::from(delivered)) + u64::from(mss);
            limit.min(u64::from(ssthresh - pipe))
        };
        pipe.saturating_add(may.min(u64::from(u32::MAX)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 §4, the first example: of 20 segments one is lost, the window shall be 10 (the RFC's CUBIC: 14). Each
    /// acknowledgment tells of one segment; at the end the window is 10 and nothing went in a burst.
    #[test]
    fn one_loss_sends_for_every_second_acknowledgment() {
        let mut prr = Prr::new(20);
        // The retransmission.
        prr.sent(1);
        let (mut pipe, mut sent, mut cwnd) = (20u32, 1, 0);
        for _ in 0..18 {
            pipe -= 1;
            cwnd = prr.acknowledged(1, pipe, 10, 1);
            let may = cwnd - pipe;
            assert!(may <= 1, "{may} at once");
            prr.sent(may);
            pipe += may;
            sent += may;
        }
        assert_eq!((cwnd, pipe), (10, 10));
        assert_eq!(sent, 9);
    }

    /// More is lost than the reduction asks for: it goes up to ssthresh by one segment for each acknowledgment and one more.
    #[test]
    fn many_losses_are_made_up_for_slowly() {
        let mut prr = Prr::new(20);
        prr.sent(1);
        let mut pipe = 4;
        let mut steps = 0;
        while pipe < 10 {
            pipe -= 1;
            let may = prr.acknowledged(1, pipe, 10, 1) - pipe;
            assert!((1..=2).contains(&may), "{may} at once");
            prr.sent(may);
            pipe += may;
            steps += 1;
        }
        assert_eq!(pipe, 10);
        assert!((5..=8).contains(&steps), "{steps}");
    }

    #[test]
    fn nothing_delivered_allows_nothing_above_ssthresh() {
        let mut prr = Prr::new(10_000);
        prr.sent(1000);
        assert_eq!(prr.acknowledged(0, 8000, 5000, 1000), 8000);
        // Half of what arrives, less what was sent.
        assert_eq!(prr.acknowledged(3000, 5500, 5000, 1000), 5500 + 500);
    }
}
