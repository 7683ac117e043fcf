//! The timers of a connection.

/// Which timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    /// Retransmission (or SYN again).
    Retransmit,
    /// A delayed acknowledgment is due.
    DelayedAck,
    /// The peer's window is closed: probe it.
    Persist,
    /// The present phase has lasted too long.
    Phase,
    /// No traffic.
    Keepalive,
    /// The sender is to use a window that has opened.
    Window,
    /// A job must be done before something can go on: ask the card.
    JobsDone,
    /// The job ring was full: try again.
    Retry,
}

const COUNT: usize = 8;

/// All timers of a connection, and when to look at them. A timer that is cleared or set later leaves that time as it is: whoever
/// comes then finds out that it was too early. So what moves with each segment costs a comparison.
#[derive(Clone, Debug)]
pub struct Timers {
    at: [u64; COUNT],
    look_at: u64,
}

impl Timers {
    /// None set.
    pub fn new() -> Self {
        Timers {
            at: [u64::MAX; COUNT],
            look_at: u64::MAX,
        }
    }

    /// Sets or clears one.
    #[inline]
    pub fn set(&mut self, timer: Timer, at: Option<u64>) {
        let at = at.unwrap_or(u64::MAX);
        self.at[timer as usize] = at;
        self.look_at = self.look_at.min(at);
    }

    /// Is it set?
    #[inline]
    pub fn is_set(&self, timer: Timer) -> bool {
        self.at[timer as usize] != u64::MAX
    }

    /// When it is due; `u64::MAX`: it is not set.
    pub fn expires_at(&self, timer: Timer) -> u64 {
        self.at[timer as usize]
    }

    /// Takes one that is due.
    pub fn take_expired(&mut self, timer: Timer, now: u64) -> bool {
        let expired = self.at[timer as usize] <= now;
        if expired {
            self.set(timer, None);
        }
        expired
    }

    /// None is due before. `u64::MAX`: none is set.
    #[inline]
    pub fn look_at(&self) -> u64 {
        self.look_at
    }

    /// Somebody looks: when the first one is due.
    pub fn look(&mut self) -> Option<u64> {
        self.look_at = self.at.into_iter().min().unwrap_or(u64::MAX);
        Some(self.look_at).filter(|at| *at != u64::MAX)
    }

    /// Clears all.
    pub fn clear(&mut self) {
        self.at = [u64::MAX; COUNT];
    }
}
