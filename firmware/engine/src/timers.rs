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
    /// A job must be done before something can go on: ask the card.
    JobsDone,
    /// The job ring was full: try again.
    Retry,
}

const COUNT: usize = 7;

/// All timers of a connection.
#[derive(Clone, Debug)]
pub struct Timers([u64; COUNT]);

impl Timers {
    /// None set.
    pub fn new() -> Self {
        Timers([u64::MAX; COUNT])
    }

    /// Sets or clears one.
    pub fn set(&mut self, timer: Timer, at: Option<u64>) {
        self.0[timer as usize] = at.unwrap_or(u64::MAX);
    }

    /// Is it set?
    pub fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize] != u64::MAX
    }

    /// Takes one that is due.
    pub fn take_due(&mut self, timer: Timer, now: u64) -> bool {
        let due = self.0[timer as usize] <= now;
        if due {
            self.set(timer, None);
        }
        due
    }

    /// When the first one is due.
    pub fn next(&self) -> Option<u64> {
        self.0.iter().copied().min().filter(|at| *at != u64::MAX)
    }

    /// Clears all.
    pub fn clear(&mut self) {
        *self = Timers::new();
    }
}
