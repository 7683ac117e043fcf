//! A host that is behind: its card goes on, and it handles a report only when so many more are there.

use super::US;

/// So long nothing new has come when a host that is behind catches up.
pub const IDLE: u64 = 20 * US;

/// How far a host is behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Late {
    /// Reports.
    pub behind: usize,
    /// It is drawn anew now and then, up to so many.
    pub drawn_to: Option<usize>,
    /// When the card has reported last.
    pub last: u64,
}

impl Late {
    /// Always so many.
    pub fn fixed(behind: usize) -> Self {
        Late {
            behind,
            ..Late::default()
        }
    }

    /// Any number up to so many.
    pub fn up_to(most: usize) -> Self {
        Late {
            behind: most,
            drawn_to: Some(most),
            last: 0,
        }
    }

    /// The host looks at its reports; `random` is any number.
    pub fn looks(&mut self, random: u32) {
        if let (Some(most), 0) = (self.drawn_to, random % 16) {
            self.behind = random as usize / 16 % (most + 1);
        }
    }

    /// Nothing comes any more.
    pub fn is_idle(&self, now: u64) -> bool {
        now >= self.last + IDLE
    }
}
