//! Pacing: where the controller wants it, what the congestion window allows is spread over the round. A virtual clock says when what
//! was sent has left at the controller's rate; when it has come a burst may go, and until then what is left of the last one. The
//! clock is no timer of its own: it is in [`Sender::deadline`] while it is what new data waits for.
//!
//! What is sent again takes its time of the clock and does not wait for it: PRR and slow start meter that by what arrives. Nor does
//! anything wait after the timer, where the round-trip times are from before.

use super::{Phase, Sender, NEVER};
use crate::control::Control;

/// Of each round so much goes at once: 1/8.
const BURSTS: u32 = 8;
/// Or what leaves in so many nanoseconds: on short paths the host works for bursts and not for segments.
const LEAST: u64 = 2000;

/// The state of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    /// The controller's rate counts.
    on: bool,
    /// What is left of this burst.
    left: u32,
    /// When what was sent has left.
    free_at: u64,
    /// New data waits for that.
    at: u64,
    /// So much later the host has come to it.
    late: u64,
}

impl Pacing {
    pub(super) fn new(on: bool) -> Self {
        Pacing {
            on,
            left: 0,
            free_at: 0,
            at: NEVER,
            late: 0,
        }
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    #[inline]
    pub(super) fn deadline(&self) -> u64 {
        self.at
    }

    /// The clock has come to where new data waited for it.
    pub(super) fn take_due(&mut self, now: u64) {
        if self.at <= now {
            self.late = now - self.at;
            self.at = NEVER;
        }
    }
}

impl Sender {
    /// How much may go now of what the congestion window allows; the peer's window is there to tell what new data waits for.
    pub(super) fn paced(&mut self, now: u64, room: u32, window: u32) -> u32 {
        let rate = self.control.pace();
        let Some(rate) = rate.filter(|_| !matches!(self.phase, Phase::Timeout { .. })) else {
            self.pacing.at = NEVER;
            return room;
        };
        if self.pacing.at <= now {
            self.pacing.late = now - self.pacing.at;
        }
        if self.pacing.free_at <= now {
            let share = rate.bytes_in(LEAST).max(rate.bytes / BURSTS);
            // What would have gone while the host was away goes as well, and the window still limits all.
            let missed = rate.bytes_in(core::mem::take(&mut self.pacing.late).min(rate.time));
            self.pacing.left = share.max(2 * self.mss).max(missed);
        }
        let left = self.pacing.left;
        let waits = left < room.min(window).min(self.mss);
        self.pacing.at = if waits { self.pacing.free_at } else { NEVER };
        left.min(room)
    }

    /// So many bytes were sent: the clock goes on by the time that they take, and is ahead by a round at most.
    pub(super) fn spend(&mut self, now: u64, length: u32) {
        let Some(rate) = self.control.pace() else {
            return;
        };
        let free_at = self
            .pacing
            .free_at
            .max(now)
            .saturating_add(rate.time_of(length));
        self.pacing.free_at = free_at.min(now.saturating_add(rate.time));
        self.pacing.left = self.pacing.left.saturating_sub(length);
    }
}
