//! When the card saw what its reports tell, and what it had begun to send by then. A host that looks late is to take neither for the
//! path's delay.

use weft_tcp::seq;

/// When the card saw what a report tells, in the engine's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrived {
    /// Now: whoever hands the report on is never late.
    #[default]
    Now,
    /// Then.
    At(u64),
    /// Nobody knows: no round-trip time is taken from it.
    Unknown,
}

/// Counts of jobs done that are remembered. One that is forgotten makes a round trip seem longer, never shorter.
const KEPT: usize = 64;

/// The card's times, as far as they are known.
#[derive(Clone, Debug)]
pub struct CardTimes {
    arrived: Arrived,
    /// Jobs done, and when they were no more than that: the latest is at `newest`, and those before it come before.
    done: [(u32, u64); KEPT],
    newest: usize,
}

impl Default for CardTimes {
    fn default() -> Self {
        Self {
            arrived: Arrived::default(),
            done: [(0, 0); KEPT],
            newest: 0,
        }
    }
}

impl CardTimes {
    /// The next report came then, and the card has done no more than so many jobs by then.
    #[inline]
    pub fn report(&mut self, arrived: Arrived, jobs_done: u32) {
        self.arrived = arrived;
        let Arrived::At(at) = arrived else {
            return;
        };
        let (count, latest) = self.done[self.newest];
        if count != jobs_done {
            self.newest = (self.newest + 1) % KEPT;
        }
        self.done[self.newest] = (jobs_done, at.max(latest));
    }

    /// That report is handled: what comes by another way comes now.
    #[inline]
    pub fn handled(&mut self) {
        self.arrived = Arrived::Now;
    }

    /// When what is handled at `now` came.
    #[inline]
    pub fn word(&self, now: u64) -> Option<u64> {
        match self.arrived {
            Arrived::Now => Some(now),
            Arrived::At(at) => Some(at.min(now)),
            Arrived::Unknown => None,
        }
    }

    /// The card had not begun with this job then; 0: nothing is known.
    pub fn before(&self, job: u32) -> u64 {
        (0..KEPT)
            .map(|back| self.done[(self.newest + KEPT - back) % KEPT])
            // It begins with a job when those before it are done.
            .find(|(done, _)| seq::lt(*done, job))
            .map_or(0, |(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_not_begun_while_one_before_it_is_not_done() {
        let mut times = CardTimes::default();
        for (at, done) in [(100, 5), (110, 5), (120, 6), (130, 9)] {
            times.report(Arrived::At(at), done);
        }
        assert_eq!(times.before(6), 110, "job 5 was done between 110 and 120");
        assert_eq!(times.before(7), 120);
        assert_eq!(times.before(10), 130);
        assert_eq!(times.before(4), 0, "it was begun before all that is known");
    }

    #[test]
    fn what_is_forgotten_and_what_is_unknown_say_nothing() {
        let mut times = CardTimes::default();
        for n in 0..100 {
            times.report(Arrived::At(u64::from(n) * 10), n);
        }
        times.report(Arrived::Unknown, 101);
        assert_eq!(times.word(1000), None);
        assert_eq!(times.before(36), 0);
        assert_eq!(times.before(37), 360);
        assert_eq!(times.before(999), 990);
    }

    #[test]
    fn no_word_comes_from_the_future() {
        let mut times = CardTimes::default();
        assert_eq!(times.word(7), Some(7));
        times.report(Arrived::At(9), 0);
        assert_eq!(times.word(7), Some(7));
        assert_eq!(times.word(20), Some(9));
    }
}
