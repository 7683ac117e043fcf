//! The tail loss probe (RFC 8985 §7): when the last segments of what there was to send are lost, no acknowledgment tells of it.
//! Before the timer expires one segment goes, new or the last again, and what comes back tells.
//!
//! RFC 8985 has one probe until there is a sample of the round-trip time, and none in recovery: what is lost then waits for the timer.
//! Where that is hundreds of round trips and windows are a few segments, that is most of the time that losses cost. So here
//! probes go on, as in RFC 9002 §6.2: each later than the one before, in recovery as well, until the timer expires. They put the
//! timer off once, and no window is touched but for what is found lost.
//!
//! ```text
//!   sent ──2 SRTT──► probe ──128 SRTT─► probe ──────256 SRTT─────► probe ..    timer
//!                      └─────────────────────── RTO ────────────────────────────┘
//! ```

use super::{Ack, Phase, Sender, NEVER};
use crate::control::{Control, Event};
use crate::seq;

/// A round-trip time counts for so much at least: what is nothing does not become more.
const LEAST: u64 = 1000;
/// Beyond so many probes the wait becomes no longer.
const MOST_TRIES: u8 = 30;

/// How far a probe has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    None,
    /// To be sent: something new.
    Due,
    /// To be sent: the last segment that is missing, again; there is nothing new.
    Last,
    /// To be sent: the first that is lost, again. That is recovery's own, but for its time.
    Lost,
}

/// The state of the algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    step: Step,
    at: u64,
    /// When it would be due if the peer delayed no acknowledgment.
    soon: u64,
    /// One was sent, and its outcome is open: where it ends, and whether that was sent before.
    out: Option<(u32, bool)>,
    /// Of what ends there so many copies went as probes, of which no word has come that they arrived twice.
    copies: (u32, u8),
    /// Probes since the last sample of the round-trip time.
    tries: u8,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            step: Step::None,
            at: NEVER,
            soon: NEVER,
            out: None,
            copies: (0, 0),
            tries: 0,
        }
    }
}

impl Probe {
    pub(super) fn is_due(&self) -> bool {
        self.step == Step::Due
    }

    pub(super) fn is_for_the_last(&self) -> bool {
        self.step == Step::Last
    }

    pub(super) fn is_out(&self) -> bool {
        self.out.is_some()
    }

    /// One is to go now, new or not.
    #[inline]
    pub(super) fn is_to_go(&self) -> bool {
        self.step != Step::None
    }

    /// What goes again now goes for nothing but to ask.
    pub(super) fn is_a_copy(&self) -> bool {
        matches!(self.step, Step::Due | Step::Last)
    }

    /// Word has come that what ends here arrived twice. True: that is a copy that went as a probe.
    pub(super) fn takes_copy(&mut self, end: u32) -> bool {
        let mine = self.copies.0 == end && self.copies.1 > 0;
        self.copies.1 -= u8::from(mine);
        mine
    }

    #[inline]
    pub(super) fn deadline(&self) -> u64 {
        self.at
    }

    /// The wait for the next one is so many times doubled. Where many connections begin at once their queue makes round trips fifty times as long.
    /// What the first probe asks for may be on its way, so the second one waits 64 times as long, and each further one twice.
    #[inline]
    fn backing_off(&self) -> u8 {
        match self.tries {
            0 => 0,
            tries => tries + 5,
        }
    }

    /// There was a sample of the round-trip time: only that ends the backing off (Karn), and not while a probe's outcome is open
    /// (RFC 8985 §7.2).
    #[inline]
    pub(super) fn sampled(&mut self) {
        if self.out.is_none() {
            self.tries = 0;
        }
    }

    /// What it would tell of congestion is known.
    pub(super) fn judged(&mut self) {
        self.out = None;
    }

    /// Nothing new could be sent.
    pub(super) fn no_news(&mut self) -> bool {
        let due = self.is_due();
        if due {
            self.step = Step::Last;
        }
        due
    }

    /// Recovery knows better.
    pub(super) fn forget(&mut self) {
        (self.step, self.at, self.out) = (Step::None, NEVER, None);
    }
}

impl Sender {
    /// Sets the timer, where a probe may help (§7.2): on what is sent, and on what arrives.
    #[inline]
    pub(super) fn arm_probe(&mut self, now: u64) {
        self.probe.at = NEVER;
        let Some(smoothed) = self.rtt.smoothed() else {
            return;
        };
        let flight = self.flight();
        // What the peer has dropped the timer finds (RFC 2018 §8).
        let dropped = self.board.sacked() > 0 && self.board.has_reneged();
        if !self.sack || self.probe.is_to_go() || flight == 0 || !self.has_room() || dropped {
            return;
        }
        let wait = 2 * smoothed.max(LEAST);
        let mut at = now.saturating_add(wait.saturating_mul(1 << self.probe.backing_off()));
        self.probe.soon = at;
        if flight <= self.mss && !self.is_behind_a_gap() {
            // Perhaps one segment: its acknowledgment may be waiting for company.
            at = at.saturating_add(self.ack_delay.allowance(self.peer_ack_delay));
        }
        if self.is_first_probe() {
            self.probe.at = at.min(self.rto_at);
        } else if at < self.rto_at {
            self.probe.at = at;
        }
    }

    /// It would be the probe of RFC 8985, which puts the timer off (§7.3).
    #[inline]
    fn is_first_probe(&self) -> bool {
        self.probe.tries == 0 && self.phase == Phase::None
    }

    /// The peer has sent data, and acknowledges nothing new. If that left when a lone segment should have been there, no acknowledgment of it
    /// is delayed: it would have gone with the data (RFC 9293 §3.8.6.3).
    pub(super) fn heard(&mut self, now: u64, ack: &Ack<'_>) {
        let late = ack.arrived.is_some_and(|at| at >= self.probe.soon);
        if late && self.probe.at != NEVER && !ack.is_pure {
            self.probe.at = self.probe.at.min(now);
        }
    }

    /// The probe's timer expired.
    pub fn probe(&mut self, now: u64) {
        self.probe.at = NEVER;
        if self.flight() == 0 {
            return;
        }
        if self.is_first_probe() {
            self.start_timer(now);
        }
        self.probe.tries = (self.probe.tries + 1).min(MOST_TRIES);
        self.probe.step = match self.phase {
            Phase::None => Step::Due,
            // What is new tells RACK of all that went before, and reduces nothing by itself.
            Phase::Fast { .. } if self.board.lost() == 0 => Step::Due,
            Phase::Fast { .. } => Step::Lost,
            Phase::Timeout { .. } => {
                self.lose_first();
                Step::Lost
            }
        };
        self.urgent |= self.probe.step == Step::Lost;
    }

    /// Something was sent: `again`, up to here, or new.
    pub(super) fn probe_sent(&mut self, now: u64, again: Option<u32>) {
        match core::mem::take(&mut self.probe.step) {
            Step::None => return,
            Step::Lost => {}
            Step::Due | Step::Last => {
                if let Some((end, true)) = self.probe.out {
                    if seq::le(end, self.una) {
                        self.probe_repaired(now);
                    }
                }
                self.probe.out = Some((again.unwrap_or(self.nxt), again.is_some()));
                if let Some(end) = again {
                    let (last, count) = self.probe.copies;
                    let count = if last == end { count } else { 0 };
                    self.probe.copies = (end, count.saturating_add(1));
                }
            }
        }
        self.counts.probes += 1;
    }

    /// What an acknowledgment says of the probe (§7.4.2). True if the block of what arrived twice is a probe's.
    pub(super) fn probe_answered(
        &mut self,
        now: u64,
        ack: &Ack<'_>,
        twice: Option<(u32, u32)>,
    ) -> bool {
        let unneeded = twice.is_some_and(|(_, right)| self.probe.takes_copy(right));
        if unneeded {
            self.ack_delay.refuted();
        }
        let Some((end, again)) = self.probe.out else {
            return unneeded;
        };
        if unneeded && twice.is_some_and(|(_, right)| right == end) {
            self.probe.out = None;
        } else if seq::lt(ack.ack, end) {
            return unneeded;
        } else if !again {
            self.probe.out = None;
        } else if seq::lt(end, ack.ack) {
            self.probe_repaired(now);
        } else if ack.sack.is_empty() && self.repeats(ack) {
            self.probe.out = None;
        }
        unneeded
    }

    /// The probe has repaired a loss: that is congestion as any other, and once more that of a retransmission (RFC 5681 §4.3).
    fn probe_repaired(&mut self, now: u64) {
        self.probe.out = None;
        match self.phase {
            Phase::None => {
                let flight = self.flight();
                self.control.congestion(Event::Loss, now, flight);
                self.counts.recoveries += 1;
            }
            Phase::Fast { .. } => self.reduce_again(now),
            Phase::Timeout { .. } => {}
        }
    }
}
