//! What is under way: runs of bytes that share one fate, in order (RFC 6675 §4, RFC 8985 §5.2).
//!
//! ```text
//!   una                                                   nxt
//!    │ lost │ sent, at 3 │ SACKed │ sent again, at 7 │ sent, at 5 │
//! ```

use alloc::collections::VecDeque;

use crate::seq;
use crate::spare::Spare;

/// Runs at most, where nobody says how many. With more the oldest knowledge is given up: that costs a retransmission, never a byte.
pub const CAPACITY: u16 = 2048;
/// Kept free by what only adds knowledge, for what has to be noted.
const SPARE: usize = 16;

/// Bytes `[seq, end)` of one fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First byte.
    pub seq: u32,
    /// Behind the last.
    pub end: u32,
    /// When it was sent last.
    pub sent_at: u64,
    /// It was sent more than once.
    pub again: bool,
    /// The peer has it (RFC 2018).
    pub sacked: bool,
    /// Thought lost, and not sent again since.
    pub lost: bool,
    /// Segments that were SACKed, if it is SACKed.
    segments: u32,
}

impl Run {
    /// Bytes.
    pub fn length(&self) -> u32 {
        self.end.wrapping_sub(self.seq)
    }

    /// Takes off and returns what lies before `at`, which lies inside.
    fn cut_front(&mut self, at: u32) -> Run {
        let mut front = *self;
        front.end = at;
        if self.segments > 0 {
            let part = u64::from(self.segments) * u64::from(front.length());
            front.segments = (part / u64::from(self.length().max(1))) as u32;
        }
        self.seq = at;
        self.segments -= front.segments;
        front
    }

    fn is_like(&self, other: &Run) -> bool {
        self.sacked && other.sacked
            || self.sent_at == other.sent_at
                && (self.again, self.sacked, self.lost) == (other.again, other.sacked, other.lost)
    }
}

/// All runs between SND.UNA and SND.NXT.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    runs: VecDeque<Run>,
    most: usize,
    total: u32,
    sacked: u32,
    lost: u32,
    segments: u32,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Scoreboard::new(CAPACITY)
    }
}

impl Scoreboard {
    /// Nothing is under way, and will be in so many runs at most.
    pub fn new(most: u16) -> Self {
        Scoreboard {
            runs: VecDeque::new(),
            most: usize::from(most).max(2 * SPARE),
            total: 0,
            sacked: 0,
            lost: 0,
            segments: 0,
        }
    }

    /// The runs, in order.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.iter()
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        *self = Scoreboard::new(self.most as u16);
    }

    /// Something is about to be sent: where nothing is under way there is no memory for it.
    pub fn lend(&mut self, spare: &mut Spare<Run>) {
        spare.lend(&mut self.runs);
    }

    /// If nothing is under way the memory is for others.
    pub fn take_back(&mut self, spare: &mut Spare<Run>) {
        spare.take_back(&mut self.runs);
    }

    /// Bytes thought to be in the network (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.total - self.sacked - self.lost
    }

    /// Bytes that the peer has beyond a gap.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments that the peer has beyond a gap.
    pub fn sacked_segments(&self) -> u32 {
        self.segments
    }

    /// Bytes lost and not sent again.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// The first run that is lost.
    pub fn first_lost(&self) -> Option<&Run> {
        if self.lost == 0 {
            return None;
        }
        self.runs.iter().find(|run| run.lost)
    }

    /// The last byte that the peer is not known to have.
    pub fn last_missing(&self) -> Option<u32> {
        let missing = self.runs.iter().rev().find(|run| !run.sacked)?;
        Some(missing.end.wrapping_sub(1))
    }

    /// New bytes behind all others.
    pub fn sent(&mut self, now: u64, seq: u32, end: u32) {
        let length = end.wrapping_sub(seq);
        let new = Run {
            seq,
            end,
            sent_at: now,
            again: false,
            sacked: false,
            lost: false,
            segments: 0,
        };
        self.total += length;
        let full = self.runs.len() >= self.most;
        match self.runs.back_mut() {
            Some(last) if last.is_like(&new) => last.end = end,
            Some(_) if full => {
                // What is known of the last one is given up.
                let at = self.runs.len() - 1;
                self.count_out(at);
                let last = self.runs[at];
                self.runs[at] = Run {
                    seq: last.seq,
                    again: last.again,
                    ..new
                };
            }
            _ => self.runs.push_back(new),
        }
    }

    /// Takes a run's bytes out of what is SACKed and lost.
    fn count_out(&mut self, at: usize) {
        let run = &self.runs[at];
        if run.sacked {
            self.sacked -= run.length();
            self.segments -= run.segments;
        }
        if run.lost {
            self.lost -= run.length();
        }
    }

    /// Everything before `una` has arrived; `news` hears of what was not SACKed before.
    pub fn acknowledged(&mut self, una: u32, mut news: impl FnMut(&Run)) {
        while let Some(front) = self.runs.front_mut() {
            if !seq::lt(front.seq, una) {
                break;
            }
            let mut gone = *front;
            let whole = seq::le(front.end, una);
            if !whole {
                gone = front.cut_front(una);
            } else {
                self.runs.pop_front();
            }
            self.total -= gone.length();
            if gone.sacked {
                self.sacked -= gone.length();
                self.segments -= gone.segments;
            } else {
                self.lost -= if gone.lost { gone.length() } else { 0 };
                news(&gone);
            }
        }
    }

    /// Everything before `una` has arrived: the usual case, where nothing is SACKed or lost, and neither what has arrived nor what
    /// follows was sent again. When the first and the last of it were sent. `None`: it is not the usual case, or `may` says no to
    /// when the last was sent and where it ends; then nothing was done.
    #[inline]
    pub fn advance(
        &mut self,
        una: u32,
        may: impl FnOnce((u64, u32)) -> bool,
    ) -> Option<(u64, u64)> {
        if self.sacked > 0 || self.lost > 0 {
            return None;
        }
        let front = self.runs.front_mut()?;
        let first = front.sent_at;
        if front.again {
            return None;
        }
        if seq::lt(una, front.end) {
            // The usual case: what was sent at once is longer.
            if !may((first, una)) {
                return None;
            }
            self.total -= una.wrapping_sub(front.seq);
            front.seq = una;
            return Some((first, first));
        }
        let gone = self.runs.partition_point(|run| seq::le(run.end, una));
        let rest = self.runs.get(gone);
        let cut = rest.filter(|run| seq::lt(run.seq, una));
        let last = cut.or_else(|| self.runs.get(gone.checked_sub(1)?))?.sent_at;
        let again = self.runs.iter().take(gone + 1).any(|run| run.again);
        if again || !may((last, una)) {
            return None;
        }
        let begin = self.runs.front()?.seq;
        self.total -= una.wrapping_sub(begin);
        self.runs.drain(..gone);
        if let Some(run) = self.runs.front_mut() {
            run.seq = una;
        }
        Some((first, last))
    }

    /// The peer has `[left, right)`; `news` hears of what it was not known to have.
    pub fn sack(&mut self, left: u32, right: u32, mss: u32, mut news: impl FnMut(&Run)) {
        if self.runs.len() + SPARE >= self.most {
            return;
        }
        let (from, to) = self.cut(left, right);
        for at in from..to {
            if self.runs[at].sacked {
                continue;
            }
            news(&self.runs[at]);
            self.count_out(at);
            let run = &mut self.runs[at];
            run.lost = false;
            run.sacked = true;
            run.segments = run.length().div_ceil(mss.max(1));
            self.sacked += run.length();
            self.segments += run.segments;
        }
        self.join(from, to);
    }

    /// `[from, to)` was sent again.
    pub fn sent_again(&mut self, now: u64, from: u32, to: u32) {
        let (first, last) = self.cut(from, to);
        for at in first..last {
            if self.runs[at].sacked {
                continue;
            }
            self.count_out(at);
            let run = &mut self.runs[at];
            run.lost = false;
            run.again = true;
            run.sent_at = now;
        }
        self.join(first, last);
    }

    /// Marks as lost, of each run that is neither SACKed nor lost, its part before what `upto` says, if it says anything.
    /// `news` hears of it.
    pub fn lose(&mut self, upto: impl Fn(&Run) -> Option<u32>, news: impl FnMut(&Run)) {
        self.lose_until(|_| false, upto, news);
    }

    /// The same, up to the first run of which `over` says that neither it nor any behind it is concerned.
    pub fn lose_until(
        &mut self,
        over: impl Fn(&Run) -> bool,
        upto: impl Fn(&Run) -> Option<u32>,
        mut news: impl FnMut(&Run),
    ) {
        let (mut at, mut touched) = (0, None);
        while at < self.runs.len() {
            let run = self.runs[at];
            if over(&run) {
                break;
            }
            if let Some(edge) = upto(&run).filter(|_| !run.sacked && !run.lost) {
                let whole = seq::le(run.end, edge);
                let part = seq::lt(run.seq, edge) && self.runs.len() < self.most;
                if !whole && part {
                    self.split(at, edge);
                }
                if whole || part {
                    let run = &mut self.runs[at];
                    run.lost = true;
                    self.lost += run.length();
                    news(run);
                    touched = Some((touched.map_or(at, |(first, _)| first), at + 1));
                }
            }
            at += 1;
        }
        if let Some((first, last)) = touched {
            self.join(first, last);
        }
    }

    /// Nothing is thought lost any more.
    pub fn nothing_lost(&mut self) {
        self.runs.iter_mut().for_each(|run| run.lost = false);
        self.lost = 0;
        self.join(0, self.runs.len());
    }

    /// Forgets what the peer said it has (RFC 2018 §8).
    pub fn forget_sacks(&mut self) {
        for run in self.runs.iter_mut().filter(|run| run.sacked) {
            run.sacked = false;
            run.segments = 0;
        }
        (self.sacked, self.segments) = (0, 0);
    }

    /// The first byte is said to have arrived beyond a gap that there is not: the peer has dropped it.
    pub fn has_reneged(&self) -> bool {
        self.runs.front().is_some_and(|run| run.sacked)
    }

    /// The runs of `[left, right)`, cut at its edges.
    fn cut(&mut self, left: u32, right: u32) -> (usize, usize) {
        let from = self.edge(left);
        let to = self.edge(right);
        (from, to.max(from))
    }

    /// The first run that begins at `at` or later, after cutting the one that holds it in its middle.
    fn edge(&mut self, at: u32) -> usize {
        let index = self.runs.partition_point(|run| seq::le(run.end, at));
        match self.runs.get(index) {
            Some(run) if seq::lt(run.seq, at) && self.runs.len() < self.most => {
                self.split(index, at);
                index + 1
            }
            Some(run) if seq::lt(run.seq, at) => index + 1,
            _ => index,
        }
    }

    fn split(&mut self, index: usize, at: u32) {
        let front = self.runs[index].cut_front(at);
        self.runs.insert(index, front);
    }

    /// Joins neighbours of one fate between the runs before `from` and behind `to`.
    fn join(&mut self, from: usize, to: usize) {
        let mut at = (to + 1).min(self.runs.len());
        while at > from.max(1) {
            at -= 1;
            if at == 0 {
                break;
            }
            let run = self.runs[at];
            let before = &mut self.runs[at - 1];
            if before.is_like(&run) {
                before.end = run.end;
                before.segments += run.segments;
                before.sent_at = before.sent_at.max(run.sent_at);
                before.again |= run.again;
                self.runs.remove(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn edges(board: &Scoreboard) -> Vec<(u32, u32, bool, bool)> {
        let edges = |run: &Run| (run.seq, run.end, run.sacked, run.lost);
        board.runs().map(edges).collect()
    }

    #[test]
    fn runs_are_cut_and_joined_across_the_wrap() {
        let base = u32::MAX - 1500;
        let at = |n: u32| base.wrapping_add(n);
        let mut board = Scoreboard::default();
        board.sent(1, at(0), at(2000));
        board.sent(1, at(2000), at(4000));
        assert_eq!(board.runs().count(), 1, "one moment, one run");
        board.sent(2, at(4000), at(6000));
        let mut news = 0;
        board.sack(at(1000), at(2000), 1000, |run| news += run.length());
        board.sack(at(3000), at(5000), 1000, |run| news += run.length());
        board.sack(at(3000), at(5000), 1000, |run| news += run.length());
        assert_eq!(news, 3000, "each byte is news once");
        assert_eq!((board.sacked(), board.sacked_segments()), (3000, 3));
        assert_eq!(board.pipe(), 3000);
        board.lose(|run| seq::lt(run.seq, at(3000)).then_some(run.end), |_| ());
        assert_eq!((board.lost(), board.pipe()), (2000, 1000));
        assert_eq!(
            edges(&board),
            [
                (at(0), at(1000), false, true),
                (at(1000), at(2000), true, false),
                (at(2000), at(3000), false, true),
                (at(3000), at(5000), true, false),
                (at(5000), at(6000), false, false),
            ]
        );
        board.sent_again(5, at(0), at(1000));
        assert_eq!((board.lost(), board.pipe()), (1000, 2000));
        let mut fresh = Vec::new();
        board.acknowledged(at(4000), |run| fresh.push((run.seq, run.again)));
        assert_eq!(fresh, [(at(0), true), (at(2000), false)]);
        assert_eq!((board.sacked(), board.sacked_segments()), (1000, 1));
        assert_eq!((board.lost(), board.pipe()), (0, 1000));
        assert!(board.has_reneged());
        board.forget_sacks();
        assert_eq!(board.pipe(), 2000);
    }

    #[test]
    fn what_was_thought_lost_and_has_arrived_is_lost_no_more() {
        let mut board = Scoreboard::default();
        board.sent(1, 0, 3000);
        board.sack(1000, 2000, 1000, |_| ());
        board.lose(|run| Some(run.end), |_| ());
        board.sack(0, 1000, 1000, |_| ());
        let first = board.first_lost().map(|run| (run.seq, run.end));
        assert_eq!((first, board.lost()), (Some((2000, 3000)), 1000));
    }

    /// However it is cut, no byte is lost from sight.
    #[test]
    fn a_full_board_gives_up_knowledge_only() {
        let mut board = Scoreboard::default();
        for n in 0..2000u32 {
            board.sent(n.into(), n * 100, n * 100 + 100);
            if n % 3 == 1 {
                board.sack(n * 100, n * 100 + 100, 100, |_| ());
            }
        }
        assert!(board.runs.len() <= usize::from(CAPACITY));
        let mut next = 0;
        for run in board.runs() {
            assert_eq!(run.seq, next);
            next = run.end;
        }
        assert_eq!(next, 200_000);
        let sacked: u32 = board.runs().filter(|run| run.sacked).map(Run::length).sum();
        assert_eq!((board.sacked(), board.pipe()), (sacked, 200_000 - sacked));
        assert!(sacked > 0);
    }
}
