//! The tail loss probe (RFC 8985 §7): when the last segments of what there was to send are lost, no acknowledgment tells of it.
//! Before the timer expires one segment goes, new or the last again, and what comes back tells.

use super::{Ack, Phase, Sender, NEVER};
use crate::control::{Control, Event};
use crate::seq;

/// How far a probe has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    None,
    /// To be sent: something new.
    Due,
    /// To be sent: the last segment again, there is nothing new.
    Last,
}

/// The state of the algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    step: Step,
    at: u64,
    /// One was sent, and its outcome is open: SND.NXT then, and whether it was the last segment again.
    out: Option<(u32, bool)>,
    /// There was a sample of the round-trip time since.
    sampled: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            step: Step::None,
            at: NEVER,
            out: None,
            sampled: false,
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

    /// The outcome of one is open that was the last segment again, up to here.
    pub(super) fn is_of(&self, end: u32) -> bool {
        self.out == Some((end, true))
    }

    #[inline]
    pub(super) fn deadline(&self) -> u64 {
        self.at
    }

    /// There was a sample of the round-trip time.
    pub(super) fn sampled(&mut self) {
        self.sampled = true;
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
    /// Sets the timer, where a probe may help (§7.2): on new data, and when the acknowledgment number moves.
    #[inline]
    pub(super) fn arm_probe(&mut self, now: u64) {
        self.probe.at = NEVER;
        let Some(smoothed) = self.rtt.smoothed() else {
            return;
        };
        let helps = self.sack
            && self.phase == Phase::None
            && self.probe.step == Step::None
            && self.probe.out.is_none()
            && self.probe.sampled
            && self.board.sacked() == 0
            && self.flight() > 0
            && self.has_room();
        if !helps {
            return;
        }
        let mut wait = smoothed.saturating_mul(2);
        if self.flight() <= self.mss {
            // Perhaps one segment: its acknowledgment may be waiting for company.
            wait = wait.saturating_add(self.peer_ack_delay);
        }
        self.probe.at = now.saturating_add(wait).min(self.rto_at);
    }

    /// The probe's timer expired.
    pub fn probe(&mut self, now: u64) {
        self.probe.at = NEVER;
        if self.flight() == 0 || self.phase != Phase::None {
            return;
        }
        self.probe.step = Step::Due;
        self.start_timer(now);
    }

    /// Something was sent.
    pub(super) fn probe_sent(&mut self, now: u64, again: bool) {
        if self.probe.step == Step::None {
            return;
        }
        self.probe.step = Step::None;
        self.probe.out = Some((self.nxt, again));
        self.probe.sampled = false;
        self.counts.probes += 1;
        self.start_timer(now);
    }

    /// What an acknowledgment says of the probe (§7.4.2). True if the block of what arrived twice is the probe's.
    pub(super) fn probe_answered(
        &mut self,
        now: u64,
        ack: &Ack<'_>,
        twice: Option<(u32, u32)>,
    ) -> bool {
        let Some((end, again)) = self.probe.out else {
            return false;
        };
        if seq::lt(ack.ack, end) {
            return false;
        }
        let unneeded = again && twice.is_some_and(|(_, right)| right == end);
        if !again || unneeded {
            self.probe.out = None;
        } else if seq::lt(end, ack.ack) {
            // It has repaired a loss: that is congestion as any other.
            self.probe.out = None;
            if self.phase == Phase::None {
                let flight = self.flight();
                self.control.congestion(Event::Loss, now, flight);
                self.counts.recoveries += 1;
            }
        } else if ack.sack.is_empty() && self.repeats(ack) {
            self.probe.out = None;
        }
        unneeded
    }
}
