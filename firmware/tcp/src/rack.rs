//! Which segments are lost, by time (RFC 8985 §6): whatever was sent before something that has arrived should have arrived as
//! well, give or take a window for reordering, which adapts.

use crate::scoreboard::{Run, Scoreboard};
use crate::seq;

/// Recoveries without D-SACK after which the window is what it was (§6.2 step 4).
const PERSIST: u8 = 16;
/// SACKed segments that speak for loss as long as no reordering was seen.
const DUP_THRESH: u32 = 3;

/// Where the connection stands when losses are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time.
    pub now: u64,
    /// Least round-trip time of late.
    pub min_rtt: u64,
    /// SRTT.
    pub smoothed: u64,
    /// Fast or timeout recovery is under way.
    pub recovering: bool,
}

/// The state of the algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rack {
    /// Send time and end of what was sent last among all that has arrived.
    newest: Option<(u64, u32)>,
    /// Its round-trip time.
    rtt: u64,
    /// Highest byte that has arrived.
    fack: Option<u32>,
    reordering_seen: bool,
    multiplier: u32,
    persist: u8,
    /// The round in which a D-SACK was counted ends here.
    round: Option<u32>,
}

/// `a` was sent after `b`: send time and end of a segment.
#[inline]
fn sent_after(a: (u64, u32), b: (u64, u32)) -> bool {
    a.0 > b.0 || a.0 == b.0 && seq::lt(b.1, a.1)
}

impl Rack {
    /// Something has arrived that was not known to have (steps 1 to 3), and the word of it came then, if that is known.
    pub fn arrived(&mut self, run: &Run, word: Option<u64>, min_rtt: u64) {
        match self.fack {
            Some(fack) if seq::le(run.end, fack) => self.reordering_seen |= !run.again,
            _ => self.fack = Some(run.end),
        }
        let rtt = word.map(|at| at.saturating_sub(run.sent_at));
        if run.again && rtt.is_none_or(|rtt| rtt < min_rtt.max(self.rtt / 2)) {
            // It is what was sent first that has arrived: no queue empties so fast. Or nobody can tell.
            return;
        }
        let this = (run.sent_at, run.end);
        if self.newest.is_none_or(|newest| sent_after(this, newest)) {
            self.newest = Some(this);
            // It may still be what was sent first: then that took longer, and nothing has become faster.
            let known = rtt.unwrap_or(self.rtt);
            self.rtt = if run.again {
                self.rtt.max(known)
            } else {
                known
            };
        }
    }

    /// Behind this number nothing has arrived, and nothing was sent later than `last`, where that is: what follows is not late.
    #[inline]
    pub fn may_advance(&self, una: u32, last: (u64, u32)) -> bool {
        self.fack.is_none_or(|fack| seq::le(fack, una))
            && self.newest.is_none_or(|newest| !sent_after(newest, last))
    }

    /// What was sent once, and then, has arrived, and with it all before ([`Rack::may_advance`]).
    #[inline]
    pub fn advance(&mut self, last: (u64, u32), rtt: u64) {
        self.fack = Some(last.1);
        if self.newest != Some(last) {
            self.newest = Some(last);
            self.rtt = rtt;
        }
    }

    /// An acknowledgment was taken: how far that round has come, and whether it says that something arrived twice (step 4).
    #[inline]
    pub fn round(&mut self, una: u32, nxt: u32, twice: bool) {
        self.round = self.round.filter(|end| seq::lt(una, *end));
        if self.round.is_none() && twice {
            self.round = Some(nxt);
            self.multiplier = self.multiplier.max(1).saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// A recovery is over.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// What was thought lost came late.
    pub fn saw_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Reordering was seen.
    pub fn reorders(&self) -> bool {
        self.reordering_seen
    }

    /// How much later than what was sent after it something may arrive.
    pub fn window(&self, at: &Moment, sacked_segments: u32) -> u64 {
        if !self.reordering_seen && (at.recovering || sacked_segments >= DUP_THRESH) {
            return 0;
        }
        let quarter = at.min_rtt / 4;
        (u64::from(self.multiplier.max(1)).saturating_mul(quarter)).min(at.smoothed)
    }

    /// Marks what is lost (step 5); `news` hears of each run. When to look again, if something may be lost by then.
    pub fn detect(
        &self,
        at: &Moment,
        board: &mut Scoreboard,
        news: impl FnMut(&Run),
    ) -> Option<u64> {
        let newest = self.newest?;
        let first = board.runs().next()?;
        if !first.again && !first.sacked && !sent_after(newest, (first.sent_at, first.seq)) {
            // The usual case: nothing that was sent before it is missing.
            return None;
        }
        let allowance = self
            .rtt
            .saturating_add(self.window(at, board.sacked_segments()));
        let before = |run: &Run| {
            // Of a run that was sent at the same moment, what lies before it.
            if sent_after(newest, (run.sent_at, run.end)) {
                Some(run.end)
            } else if run.sent_at == newest.0 && seq::lt(run.seq, newest.1) {
                Some(newest.1)
            } else {
                None
            }
        };
        let due = |run: &Run| run.sent_at.saturating_add(allowance);
        // What was sent once was sent in order: behind the first such run that is not concerned no other is, not even one that
        // was sent again, for that was later still.
        let over = |run: &Run| !run.again && before(run).is_none();
        debug_assert!(
            board
                .runs()
                .skip_while(|run| !over(run))
                .all(|run| before(run).is_none()),
            "{newest:?}: {board:?}"
        );
        let late = |run: &Run| before(run).filter(|_| due(run) <= at.now);
        board.lose_until(over, late, news);
        board
            .runs()
            .take_while(|run| !over(run))
            .filter(|run| !run.sacked && !run.lost && before(run).is_some())
            .map(due)
            .filter(|due| *due > at.now)
            .max()
    }

    /// Marks what is lost when the retransmission timer has expired (§6.3).
    pub fn expired(&self, at: &Moment, una: u32, mss: u32, board: &mut Scoreboard) {
        let allowance = self.rtt.saturating_add(self.window(at, 0));
        let first = una.wrapping_add(mss.max(1));
        board.lose(
            |run| {
                if run.sent_at.saturating_add(allowance) <= at.now {
                    Some(run.end)
                } else {
                    (run.seq == una).then_some(first)
                }
            },
            |_| (),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const RTT: u64 = 1000;

    fn moment(now: u64) -> Moment {
        Moment {
            now,
            min_rtt: RTT,
            smoothed: RTT,
            recovering: false,
        }
    }

    /// Ten segments of 100 bytes, one each 10 ns.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..10u32 {
            board.sent(u64::from(n) * 10, n * 100, n * 100 + 100);
        }
        board
    }

    fn sack(rack: &mut Rack, board: &mut Scoreboard, now: u64, from: u32, to: u32) {
        board.sack(from, to, 100, |run| rack.arrived(run, Some(now), RTT));
    }

    fn lost(rack: &Rack, board: &mut Scoreboard, at: &Moment) -> (Vec<u32>, Option<u64>) {
        let mut lost = Vec::new();
        let again = rack.detect(at, board, |run| lost.push(run.seq));
        (lost, again)
    }

    #[test]
    fn what_was_sent_before_is_lost_after_the_window() {
        let (mut rack, mut board) = (Rack::default(), board());
        sack(&mut rack, &mut board, 1030, 300, 400);
        // RTT 1000, a quarter of it for reordering: the third goes first, at 20 + 1250.
        assert_eq!(
            lost(&rack, &mut board, &moment(1030)),
            (Vec::new(), Some(1270))
        );
        assert_eq!(lost(&rack, &mut board, &moment(1255)).0, [0]);
        assert_eq!(lost(&rack, &mut board, &moment(1270)).0, [100, 200]);
        assert_eq!(board.lost(), 300, "what was sent later is not");
    }

    #[test]
    fn what_was_sent_again_hides_nothing_behind_it() {
        let (mut rack, mut board) = (Rack::default(), board());
        board.sent_again(1000, 0, 100);
        sack(&mut rack, &mut board, 1050, 500, 600);
        let (lost, again) = lost(&rack, &mut board, &moment(1400));
        assert_eq!(lost, [100, 200, 300, 400]);
        assert_eq!(again, None, "what was sent after it is not concerned");
    }

    #[test]
    fn three_segments_need_no_window_until_reordering_is_seen() {
        let (mut rack, mut board) = (Rack::default(), board());
        sack(&mut rack, &mut board, 1050, 300, 600);
        assert_eq!(lost(&rack, &mut board, &moment(1050)).0, [0, 100, 200]);
        board.nothing_lost();
        // The first was only late.
        board.acknowledged(100, |run| rack.arrived(run, Some(1060), RTT));
        assert!(rack.reorders());
        assert_eq!(lost(&rack, &mut board, &moment(1060)).0, [0; 0]);
        assert_eq!(rack.window(&moment(0), 3), RTT / 4);
    }

    #[test]
    fn the_window_follows_what_arrives_twice() {
        let mut rack = Rack::default();
        let window = |rack: &Rack| rack.window(&moment(0), 0);
        assert_eq!(window(&rack), RTT / 4);
        rack.round(0, 1000, true);
        assert_eq!(window(&rack), RTT / 2);
        rack.round(500, 1500, true);
        assert_eq!(window(&rack), RTT / 2, "once in a round");
        rack.round(1000, 2000, true);
        rack.round(2000, 3000, true);
        rack.round(3000, 4000, true);
        assert_eq!(window(&rack), RTT, "SRTT at most");
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(window(&rack), RTT);
        rack.recovered();
        assert_eq!(window(&rack), RTT / 4, "after 16 recoveries without");
    }

    #[test]
    fn a_lost_retransmission_is_found() {
        let (mut rack, mut board) = (Rack::default(), board());
        sack(&mut rack, &mut board, 1050, 300, 600);
        assert_eq!(lost(&rack, &mut board, &moment(1050)).0, [0, 100, 200]);
        board.sent_again(1050, 0, 300);
        board.sent(1060, 1000, 1100);
        // What was sent after it has arrived.
        sack(&mut rack, &mut board, 2060, 600, 1100);
        let recovering = Moment {
            recovering: true,
            ..moment(2060)
        };
        assert_eq!(lost(&rack, &mut board, &recovering).0, [0]);
    }

    /// An acknowledgment sooner than any round trip is of what was sent first: it says nothing of what was sent meanwhile.
    #[test]
    fn an_original_that_was_late_is_not_taken_for_its_copy() {
        let (mut rack, mut board) = (Rack::default(), board());
        board.sent_again(1500, 0, 100);
        board.acknowledged(100, |run| rack.arrived(run, Some(1600), RTT));
        assert_eq!(lost(&rack, &mut board, &moment(1600)), (Vec::new(), None));
    }

    /// Where a queue stands, the least round trip says little of what one takes now.
    #[test]
    fn an_original_that_was_late_is_found_out_where_a_queue_stands() {
        let queued = |rack: &mut Rack, board: &mut Scoreboard| {
            sack(rack, board, 8000, 200, 300);
            board.sent_again(8000, 0, 100);
        };
        let (mut rack, mut board) = (Rack::default(), board());
        queued(&mut rack, &mut board);
        board.acknowledged(100, |run| rack.arrived(run, Some(11_900), RTT));
        let found = lost(&rack, &mut board, &moment(11_900)).0;
        assert_eq!(found, [100], "what was sent later is in the queue");

        let (mut rack, mut board) = (Rack::default(), self::board());
        queued(&mut rack, &mut board);
        board.acknowledged(100, |run| rack.arrived(run, Some(12_100), RTT));
        let (found, again) = lost(&rack, &mut board, &moment(8030));
        assert_eq!((found, again), (alloc::vec![], Some(90 + 7980 + RTT / 4)));
    }
}
