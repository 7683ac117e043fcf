//! Into recovery and out of it, and back from one that was none.

use super::undo::Spared;
use super::{Phase, Sender, DUP_THRESH, NEVER};
use crate::control::{Control, Controller, Event};
use crate::prr::Prr;
use crate::seq;

/// What is known of whether the timer expired for nothing (RFC 5682).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spurious {
    /// Nothing; nothing is looked for.
    Unknown,
    /// The first segment went again; its acknowledgment is waited for.
    First,
    /// Up to two new segments went; the next acknowledgment tells. What lies behind this edge is new.
    Second {
        /// SND.NXT when the first acknowledgment came.
        edge: u32,
    },
}

impl Sender {
    /// The reordering timer expired: what has not come by now is lost.
    pub fn look_again(&mut self, now: u64) {
        let lost = self.look_for_losses(now, now, 0);
        self.lost_meanwhile = self.lost_meanwhile.saturating_add(lost);
    }

    /// The retransmission timer expired.
    pub fn timeout(&mut self, now: u64) {
        let flight = self.flight();
        let phase = self.phase;
        if matches!(phase, Phase::Timeout { .. }) {
            let window = self.control.window_mut();
            window.set(window.mss);
        } else {
            self.undo.forget();
            if phase == Phase::None {
                self.undo.begin(self.control.clone(), self.una);
            }
            self.control.congestion(Event::Timeout, now, flight);
        }
        // RFC 5682 §2.1 step 1: not in a recovery that was there before.
        self.spurious = match phase {
            Phase::None if self.has_room() => Spurious::First,
            _ => Spurious::Unknown,
        };
        let moment = self.moment(now);
        self.phase = Phase::Timeout { point: self.nxt };
        self.dup_acks = 0;
        self.urgent = true;
        self.probe.forget();
        if self.board.has_reneged() {
            // The peer has dropped what it said it had (RFC 2018 §8).
            self.board.forget_sacks();
        }
        if self.sack && self.has_room() {
            self.rack
                .expired(&moment, self.una, self.mss, &mut self.board);
        } else {
            self.board.lose(|run| Some(run.end), |_| ());
        }
        self.retries = self.retries.saturating_add(1);
        self.rtt.back_off();
        self.reordering_at = NEVER;
        self.start_timer(now);
    }

    /// Up to two new segments tell whether the timer expired for nothing: nothing else goes meanwhile. How much of them is
    /// still to go.
    #[inline]
    pub(super) fn awaits_news(&self) -> Option<u32> {
        match (self.phase, self.spurious) {
            (Phase::Timeout { .. }, Spurious::Second { edge }) => {
                Some((2 * self.mss).saturating_sub(self.nxt.wrapping_sub(edge)))
            }
            _ => None,
        }
    }

    /// Finds what is lost by the word that came then, and begins a recovery if anything is. Bytes found.
    pub(super) fn look_for_losses(&mut self, now: u64, word: u64, newly: u32) -> u32 {
        let moment = self.moment(word);
        let since = self.fast_since;
        let (mut lost, mut twice) = (0u32, false);
        self.reordering_at = NEVER;
        if self.sack {
            let Sender { board, rack, .. } = self;
            let again = rack.detect(&moment, board, |run| {
                lost += run.length();
                twice |= run.again && run.sent_at >= since;
            });
            self.reordering_at = again.unwrap_or(NEVER);
        }
        lost += self.by_duplicates(newly);
        match self.phase {
            Phase::None if self.board.lost() > 0 => self.enter(now),
            Phase::Fast { .. } if twice => {
                self.probe.judged();
                self.reduce_again(now);
            }
            _ => {}
        }
        lost
    }

    /// RFC 5681 §4.3: the loss of a retransmission is congestion once more.
    pub(super) fn reduce_again(&mut self, now: u64) {
        let flight = self.flight() - self.board.sacked();
        let used = flight.min(self.control.window().cwnd);
        self.control.congestion(Event::Loss, now, used);
        self.phase = Phase::Fast { point: self.nxt };
        self.prr = Prr::new(flight);
        self.fast_since = now;
    }

    /// After the timer: the first segment that is missing goes again. Only that says nothing of whether the timer expired for nothing if
    /// others were sent since (RFC 5682).
    pub(super) fn lose_first(&mut self) {
        if self.spurious != Spurious::First {
            self.spurious = Spurious::Unknown;
        }
        let (una, first) = (self.una, self.una.wrapping_add(self.mss.max(1)));
        self.board
            .lose(|run| (run.seq == una).then_some(first), |_| ());
    }

    /// Three duplicates, or a partial acknowledgment, where there are no SACK blocks (RFC 5681 §3.2, RFC 6582 §3.2).
    fn by_duplicates(&mut self, newly: u32) -> u32 {
        let (una, mss) = (self.una, self.mss);
        let entering = self.phase == Phase::None && self.dup_acks >= DUP_THRESH;
        let partial = matches!(self.phase, Phase::Fast { .. }) && newly > 0 && !self.sack;
        if self.board.sacked() > 0 || self.flight() == 0 || !(entering || partial) {
            return 0;
        }
        let mut lost = 0;
        let first = una.wrapping_add(mss.min(self.flight()));
        self.board.lose(
            |run| (run.seq == una && !run.again).then_some(first),
            |run| lost += run.length(),
        );
        self.urgent |= lost > 0;
        lost
    }

    /// Fast recovery begins.
    fn enter(&mut self, now: u64) {
        let flight = self.flight();
        self.undo.begin(self.control.clone(), self.una);
        self.control.congestion(Event::Loss, now, flight);
        self.phase = Phase::Fast { point: self.nxt };
        self.prr = Prr::new(flight);
        self.fast_window = self.pipe();
        self.fast_since = now;
        self.urgent = true;
        self.probe.forget();
        self.counts.recoveries += 1;
    }

    /// Recovery ends when everything that was under way when it began is acknowledged.
    pub(super) fn leave(&mut self, newly: u32) {
        match self.phase {
            Phase::Fast { point } | Phase::Timeout { point }
                if newly > 0 && seq::le(point, self.una) =>
            {
                self.phase = Phase::None;
                self.urgent = false;
                self.spurious = Spurious::Unknown;
                self.rack.recovered();
            }
            _ => {}
        }
    }

    /// What was sent again has arrived twice: if all of it has, nothing was lost (RFC 3708).
    pub(super) fn take_back(&mut self, now: u64, twice: Option<(u32, u32)>) {
        let spared = twice.and_then(|(left, right)| self.undo.arrived_twice(left, right));
        let before = match spared {
            None => return,
            Some(Spared::Latest(before)) => {
                self.end_recovery();
                before
            }
            Some(Spared::Earlier(mut before)) => {
                // From where it would have been the latest one reduces all the same.
                let cwnd = before.window().cwnd;
                before.congestion(Event::Loss, now, cwnd);
                before
            }
        };
        self.rack.saw_reordering();
        self.go_back_to(before);
    }

    /// As if there had been no congestion.
    pub(super) fn restore(&mut self) {
        if let Some(before) = self.undo.take_latest() {
            self.end_recovery();
            self.go_back_to(before);
        }
    }

    fn go_back_to(&mut self, mut before: Controller) {
        before.raise_to(&self.control);
        self.control = before;
        self.counts.undone += 1;
    }

    fn end_recovery(&mut self) {
        if self.phase != Phase::None {
            self.phase = Phase::None;
            self.rack.recovered();
        }
        self.board.nothing_lost();
        self.urgent = false;
        self.spurious = Spurious::Unknown;
    }
}
