//! MMIO writes of a host whose steps take time: they reach the card when the step that made them ends.

use std::collections::VecDeque;

/// A write on its way.
pub(crate) enum Write {
    /// A word.
    Word(u32, u32),
    /// Several words.
    Block(u32, Vec<u8>),
}

/// The writes of one card's host, in their order.
#[derive(Default)]
pub(crate) struct Held {
    /// A step goes on.
    is_on: bool,
    /// Each with the time at which it is due; `None`: its step has not ended.
    writes: VecDeque<(Option<u64>, Write)>,
    /// When the latest is due: none overtakes another.
    last: u64,
}

impl Held {
    /// A step begins.
    pub(crate) fn begin(&mut self) {
        self.is_on = true;
    }

    /// It ends, and its writes are due at this time.
    pub(crate) fn end(&mut self, due: u64) {
        self.is_on = false;
        for (at, _) in self.writes.iter_mut().filter(|(at, _)| at.is_none()) {
            self.last = self.last.max(due);
            *at = Some(self.last);
        }
    }

    /// Whether a write reaches the card at once: no step goes on, and no other one waits.
    pub(crate) fn is_free(&self) -> bool {
        !self.is_on && self.writes.is_empty()
    }

    /// Keeps a write until the step that made it ends.
    pub(crate) fn keep(&mut self, now: u64, write: Write) {
        let at = (!self.is_on).then(|| self.last.max(now));
        self.writes.push_back((at, write));
    }

    /// When the next one is due.
    pub(crate) fn due(&self) -> Option<u64> {
        self.writes.front()?.0
    }

    /// The next one that is due by `now`.
    pub(crate) fn take(&mut self, now: u64) -> Option<Write> {
        let is_due = self.due().is_some_and(|at| at <= now);
        is_due.then(|| self.take_any())?
    }

    /// The next one, due or not.
    pub(crate) fn take_any(&mut self) -> Option<Write> {
        self.writes.pop_front().map(|(_, write)| write)
    }

    /// None of them reaches the card any more.
    pub(crate) fn clear(&mut self) {
        self.writes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(held: &mut Held, now: u64) -> Vec<u32> {
        let all = std::iter::from_fn(|| held.take(now));
        all.map(|write| match write {
            Write::Word(at, _) | Write::Block(at, _) => at,
        })
        .collect()
    }

    #[test]
    fn writes_come_when_their_step_ends_and_in_their_order() {
        let mut held = Held::default();
        assert!(held.is_free());
        held.begin();
        held.keep(0, Write::Word(2, 0));
        assert_eq!((held.due(), taken(&mut held, 1000)), (None, vec![]));
        held.end(500);
        // A step on another core that ends sooner.
        held.begin();
        held.keep(100, Write::Block(3, vec![0; 8]));
        held.end(200);
        assert!(!held.is_free());
        held.keep(300, Write::Word(4, 0));
        assert_eq!(held.due(), Some(500));
        assert!(taken(&mut held, 499).is_empty());
        assert_eq!(taken(&mut held, 500), [2, 3, 4]);
        assert!(held.is_free());
    }
}
