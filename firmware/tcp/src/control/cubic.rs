//! CUBIC (RFC 9438): after a loss the window goes back to where the loss was by a cubic curve of the time that it is in use, flat around it, and never
//! grows slower than Reno would (its friendly region), which is what decides where round-trip times are microseconds.
//! Integers only: windows in bytes, times in milliseconds on the curve. Not here: HyStart++ (§4.10).

use super::{whole_bytes, Control, Event, Progress, Window, LIMIT};

const MS: u64 = 1_000_000;
/// β = 7/10 (§4.6).
const BETA: (u64, u64) = (7, 10);
/// α of the friendly region, 3 (1 - β) / (1 + β) = 9/17 (§4.3).
const ALPHA: (u64, u64) = (9, 17);
/// Times on the curve are no longer than this, from its middle: 17 minutes.
const LONGEST: u64 = 1 << 20;

/// The controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic {
    window: Window,
    /// W_max (§4.1.2).
    max: u32,
    /// cwnd when the last congestion was.
    prior: u32,
    epoch: Option<Epoch>,
}

/// A time of congestion avoidance (§4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// How long the window was in use.
    used: u64,
    /// When it was last.
    last: u64,
    /// The window as it was left.
    left: u32,
    /// K, in milliseconds.
    k: u32,
    /// The curve's middle.
    middle: u32,
    /// W_est, and what of its growth is less than a byte.
    friendly: u32,
    credit: u64,
}

/// The whole part of the cube root.
fn cube_root(of: u64) -> u32 {
    let mut root = 0u32;
    for bit in (0..22).rev() {
        let tried = root | 1 << bit;
        if u64::from(tried)
            .checked_pow(3)
            .is_some_and(|cube| cube <= of)
        {
            root = tried;
        }
    }
    root
}

impl Cubic {
    fn begin(&self, now: u64) -> Epoch {
        let Window { cwnd, mss, .. } = self.window;
        let middle = self.max.max(cwnd);
        // K = cbrt((W_max - cwnd) / C) seconds, W in segments, C = 0.4: in milliseconds the cube is 2.5e9 times that.
        let missing = u64::from(middle - cwnd) * 2_500_000_000 / u64::from(mss.max(1));
        Epoch {
            used: 0,
            last: now,
            left: cwnd,
            k: cube_root(missing),
            middle,
            friendly: cwnd,
            credit: 0,
        }
    }

    /// W_cubic after the window was in use for so long in this epoch (§4.2), in bytes.
    fn curve(&self, epoch: &Epoch, since: u64) -> u32 {
        let at = since / MS;
        let distance = at.abs_diff(epoch.k.into()).min(LONGEST);
        // C d³: in thousandths of a segment.
        let height = distance.pow(3) / 2_500_000;
        let bytes = (height * u64::from(self.window.mss) / 1000).min(u64::from(LIMIT)) as u32;
        if at < epoch.k.into() {
            epoch.middle.saturating_sub(bytes)
        } else {
            epoch.middle.saturating_add(bytes)
        }
    }

    /// Congestion avoidance: on the curve, or as Reno.
    fn avoid(&mut self, progress: &Progress) {
        let cwnd = self.window.cwnd;
        let mut epoch = match self.epoch.take() {
            // A window that was taken back after a pause (RFC 5681 §4.1) begins anew.
            Some(epoch) if epoch.left <= cwnd => epoch,
            _ => self.begin(progress.now),
        };
        // §5.8: what was sent later than the last acknowledgment came found the path empty, and the time before it does not count.
        let way = progress.rtt.unwrap_or(progress.smoothed);
        epoch.used += progress.now.saturating_sub(epoch.last).min(way);
        epoch.last = progress.now;
        // §4.3: as Reno would, first so that it is fair with β = 0.7, then a segment for each round.
        let caught_up = epoch.friendly >= self.prior;
        let alpha = if caught_up { (1, 1) } else { ALPHA };
        let part = u64::from(self.window.mss) * u64::from(progress.acked) * alpha.0;
        let whole = u64::from(epoch.friendly.max(1)) * alpha.1;
        let bytes = whole_bytes(&mut epoch.credit, part, whole);
        epoch.friendly = epoch.friendly.saturating_add(bytes).min(LIMIT);
        let since = epoch.used;
        if self.curve(&epoch, since) < epoch.friendly {
            self.window.set(epoch.friendly.max(cwnd));
        } else {
            // §4.4, §4.5: to where the curve is a round-trip time later, by half of the window at most.
            let most = cwnd.saturating_add(cwnd / 2);
            let target = self
                .curve(&epoch, since.saturating_add(progress.smoothed))
                .clamp(cwnd, most);
            let missing = u64::from(target - cwnd);
            self.window
                .add(progress.acked, missing, u64::from(self.window.mss.max(1)));
        }
        epoch.left = self.window.cwnd;
        self.epoch = Some(epoch);
    }
}

impl Control for Cubic {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    #[inline]
    fn acknowledged(&mut self, progress: &Progress) {
        if progress.recovering || !progress.limited {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start(progress.acked);
            return;
        }
        self.avoid(progress);
    }

    fn congestion(&mut self, event: Event, _now: u64, flight: u32) {
        let cwnd = self.window.cwnd;
        // §4.7: fast convergence.
        self.max = if cwnd < self.max {
            (u64::from(cwnd) * (BETA.0 + BETA.1) / (2 * BETA.1)) as u32
        } else {
            cwnd
        };
        self.prior = cwnd;
        self.epoch = None;
        // §4.6: of what is under way, where the window was not in use.
        let used = u64::from(flight.min(cwnd));
        self.window.reduce((used * BETA.0 / BETA.1) as u32, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn cubic(cwnd: u32) -> Cubic {
        let mut cubic = Cubic::default();
        cubic.window = Window {
            cwnd,
            ssthresh: cwnd,
            mss: MSS,
            ..cubic.window
        };
        cubic
    }

    /// Acknowledges the window, a segment at a time, once each `rtt` until `until`.
    fn rounds(cubic: &mut Cubic, from: u64, until: u64, rtt: u64) {
        let mut now = from;
        while now < until {
            for _ in 0..cubic.window.cwnd / MSS {
                cubic.acknowledged(&Progress {
                    now,
                    acked: MSS,
                    rtt: Some(rtt),
                    smoothed: rtt,
                    limited: true,
                    ..Progress::default()
                });
            }
            now += rtt;
        }
    }

    #[test]
    fn cube_roots() {
        for n in [0, 1, 2, 3, 999, 1 << 20] {
            assert_eq!(u64::from(cube_root(n * n * n)), n);
            assert_eq!(u64::from(cube_root((n + 1).pow(3) - 1)), n);
        }
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }

    #[test]
    fn takes_three_tenths() {
        let mut cubic = cubic(100 * MSS);
        cubic.congestion(Event::Loss, 0, 100 * MSS);
        assert_eq!((cubic.window.cwnd, cubic.max), (70 * MSS, 100 * MSS));
        cubic.congestion(Event::Loss, 0, 70 * MSS);
        // Fast convergence: room for others.
        assert_eq!((cubic.window.cwnd, cubic.max), (49 * MSS, 59_500));
    }

    /// §4.2: with W_max = 1000 segments and β = 0.7, K = cbrt(300 / 0.4) = 9.086 s; there the window is W_max again.
    #[test]
    fn comes_back_to_where_the_loss_was_after_k() {
        let mut cubic = cubic(1000 * MSS);
        cubic.congestion(Event::Loss, 0, 1000 * MSS);
        let rtt = 100 * MS;
        rounds(&mut cubic, 0, 5_000 * MS, rtt);
        // 0.4 (5 - 9.086)³ + 1000 = 972.7
        let half = cubic.window.cwnd / MSS;
        assert!((968..=976).contains(&half), "{half}");
        rounds(&mut cubic, 5_000 * MS, 9_086 * MS, rtt);
        let there = cubic.window.cwnd / MSS;
        assert!((995..=1003).contains(&there), "{there}");
        rounds(&mut cubic, 9_086 * MS, 14_086 * MS, rtt);
        // 0.4 * 5³ = 50 more.
        let beyond = cubic.window.cwnd / MSS;
        assert!((1040..=1065).contains(&beyond), "{beyond}");
    }

    /// §4.3: where the curve is slow it grows as Reno: 9/17 of a segment for each round up to W_max, then one.
    #[test]
    fn is_no_slower_than_reno() {
        let mut cubic = cubic(20 * MSS);
        cubic.congestion(Event::Loss, 0, 20 * MSS);
        assert_eq!(cubic.window.cwnd, 14 * MSS);
        let rtt = MS / 1000;
        rounds(&mut cubic, 0, 11 * rtt, rtt);
        let cwnd = cubic.window.cwnd;
        assert!((19_200..=20_000).contains(&cwnd), "{cwnd}");
        rounds(&mut cubic, 11 * rtt, 22 * rtt, rtt);
        let later = cubic.window.cwnd - cwnd;
        assert!((9_500..=11_000).contains(&later), "{later}");
    }

    /// §5.8: time in which the window was not in use moves the curve by nothing, be it a pause or an application that sends little.
    #[test]
    fn time_without_use_does_not_count() {
        let rtt = MS;
        let grown = |quiet: &dyn Fn(&mut Cubic, u64)| {
            let mut cubic = cubic(100 * MSS);
            cubic.congestion(Event::Loss, 0, 100 * MSS);
            rounds(&mut cubic, 0, 50 * rtt, rtt);
            quiet(&mut cubic, 50 * rtt);
            let since = 50 * rtt + 60_000 * MS;
            rounds(&mut cubic, since, since + 50 * rtt, rtt);
            cubic.window.cwnd
        };
        let mut without = cubic(100 * MSS);
        without.congestion(Event::Loss, 0, 100 * MSS);
        rounds(&mut without, 0, 100 * rtt, rtt);
        let without = without.window.cwnd;
        let little = |cubic: &mut Cubic, from: u64| {
            for n in 0..6_000 {
                cubic.acknowledged(&Progress {
                    now: from + n * 10 * MS,
                    acked: MSS,
                    rtt: Some(rtt),
                    smoothed: rtt,
                    ..Progress::default()
                });
            }
        };
        for (what, cwnd) in [
            ("a pause", grown(&|_, _| ())),
            ("little traffic", grown(&little)),
        ] {
            let off = cwnd.abs_diff(without);
            assert!(off <= 2 * MSS, "{what}: {cwnd}, without it {without}");
        }
    }

    /// RFC 5681 §4.1: a window that was taken back after a pause grows from there, not from where it was.
    #[test]
    fn a_window_taken_back_begins_anew() {
        let mut cubic = cubic(200 * MSS);
        cubic.congestion(Event::Loss, 0, 200 * MSS);
        let rtt = MS;
        rounds(&mut cubic, 0, 100 * rtt, rtt);
        cubic.window.cwnd = 10 * MSS;
        cubic.window.ssthresh = 10 * MSS;
        rounds(&mut cubic, 1000 * rtt, 1001 * rtt, rtt);
        let cwnd = cubic.window.cwnd / MSS;
        assert!((10..=15).contains(&cwnd), "{cwnd}");
    }
}
