//! Whether a card with jobs still does any.

/// A card with jobs that does none for so long is stuck.
const LIMIT_NS: u64 = 10_000_000_000;
/// Time between two looks counts as far as this: a host that was away saw nothing of what the card did meanwhile.
const STEP_NS: u64 = 1_000_000_000;

/// What the host's looks at the count of jobs done have shown.
#[derive(Debug, Default)]
pub(super) struct Watch {
    standing: Option<Standing>,
}

/// Jobs were seen waiting, and since then none was done.
#[derive(Clone, Copy, Debug)]
struct Standing {
    done: u32,
    /// The last look.
    look: u64,
    /// Time from look to look, [`STEP_NS`] each at most.
    waited: u64,
}

impl Watch {
    /// The host looks: so many jobs are done as far as it knows, and some are not. Answers the time in which it has seen none done, once
    /// that is too long. Then the card is to be asked, and [`asked`](Self::asked) says what it answered.
    pub(super) fn look(&mut self, now: u64, done: u32, waiting: bool) -> Option<u64> {
        let before = self.standing.filter(|before| before.done == done);
        let waited = before.map_or(0, |before| {
            let step = now.saturating_sub(before.look).min(STEP_NS);
            before.waited.saturating_add(step)
        });
        let look = now;
        self.standing = waiting.then_some(Standing { done, look, waited });
        (waiting && waited >= LIMIT_NS).then_some(waited)
    }

    /// The card has answered: what it did not tell is known now, and the watch begins anew.
    pub(super) fn asked(&mut self) {
        self.standing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// After how many looks, so far apart, a card that does nothing is suspected.
    fn looks(apart: u64) -> u64 {
        let mut watch = Watch::default();
        (0..)
            .find(|n| watch.look(5 + n * apart, 7, true).is_some())
            .expect("some time")
    }

    #[test]
    fn only_time_between_looks_counts_and_of_an_absence_little() {
        assert_eq!(looks(SECOND / 1000), 10_000);
        assert_eq!(looks(SECOND), 10);
        assert_eq!(looks(3600 * SECOND), 10);
    }

    #[test]
    fn it_begins_anew_with_each_job_done_and_with_rest() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(0, 7, false), None);
        assert_eq!(watch.look(100 * SECOND, 7, true), None, "just posted");
        for second in 101..110 {
            assert_eq!(watch.look(second * SECOND, 7, true), None);
        }
        assert_eq!(watch.look(110 * SECOND, 8, true), None, "one was done");
        for second in 111..120 {
            assert_eq!(watch.look(second * SECOND, 8, true), None);
        }
        assert_eq!(watch.look(120 * SECOND, 8, true), Some(10 * SECOND));
        watch.asked();
        assert_eq!(watch.look(121 * SECOND, 8, true), None, "it was asked");
    }
}
