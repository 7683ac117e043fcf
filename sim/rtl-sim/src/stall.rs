//! When a bus model is willing: the pattern of its valid or ready signal.

use fastrand::Rng;
use std::ops::RangeInclusive;

/// How a valid or ready signal pauses.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stall {
    /// Willing in every cycle.
    #[default]
    Never,
    /// Unwilling in this share of the cycles (0.0 to 1.0), each drawn on its own.
    Random(f64),
    /// Runs of willing and unwilling cycles, their lengths drawn from these ranges.
    Runs {
        /// Cycles willing.
        go: RangeInclusive<u32>,
        /// Cycles unwilling.
        pause: RangeInclusive<u32>,
    },
    /// For ready signals: low until valid was seen. Finds a design whose valid waits for ready.
    /// As the pattern of a valid signal it never pauses.
    AfterValid,
}

impl Stall {
    /// One of the patterns, drawn at random: for tests that want them all over many seeds.
    pub fn any(rng: &mut Rng) -> Stall {
        match rng.u32(0..4) {
            0 => Stall::Never,
            1 => Stall::Random(f64::from(rng.u32(1..10)) / 10.0),
            2 => Stall::Runs {
                go: 1..=rng.u32(1..40),
                pause: 1..=rng.u32(1..40),
            },
            _ => Stall::AfterValid,
        }
    }
}

/// A [`Stall`] pattern in progress.
#[derive(Clone, Debug)]
pub struct Pace {
    stall: Stall,
    threshold: u32,
    rng: Rng,
    willing: bool,
    left: u32,
}

impl Pace {
    /// Starts the pattern.
    pub fn new(stall: Stall, rng: Rng) -> Pace {
        let threshold = match stall {
            Stall::Random(share) => (share.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32,
            _ => 0,
        };
        Pace {
            stall,
            threshold,
            rng,
            willing: false,
            left: 0,
        }
    }

    /// Whether to be willing in the next cycle. `waiting`: the other side's valid was high in this one, without
    /// a handshake.
    #[inline]
    pub fn next(&mut self, waiting: bool) -> bool {
        match &self.stall {
            Stall::Never => true,
            Stall::Random(_) => self.rng.u32(..) >= self.threshold,
            Stall::Runs { go, pause } => {
                if self.left == 0 {
                    self.willing = !self.willing;
                    let lengths = if self.willing { go } else { pause };
                    self.left = self.rng.u32(lengths.clone()).max(1);
                }
                self.left -= 1;
                self.willing
            }
            Stall::AfterValid => waiting,
        }
    }

    /// Whether to start a transfer in the next cycle, for the side that drives valid.
    #[inline]
    pub fn start(&mut self) -> bool {
        self.next(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_runs() {
        let mut pace = Pace::new(Stall::Random(0.25), Rng::with_seed(1));
        let willing = (0..10_000).filter(|_| pace.next(false)).count();
        assert!((7300..7700).contains(&willing), "{willing}");

        let runs = Stall::Runs {
            go: 3..=3,
            pause: 2..=2,
        };
        let mut pace = Pace::new(runs, Rng::with_seed(1));
        let seen: Vec<bool> = (0..10).map(|_| pace.next(false)).collect();
        assert_eq!(
            seen,
            [true, true, true, false, false, true, true, true, false, false]
        );
    }
}
