//! Requests that wait until the program may hear of them (`docs/engine.md`, who waits at a listener).

use alloc::collections::VecDeque;

use crate::interface::cm::ConnId;

/// What has changed for the lines of the listeners.
#[derive(Debug, Default)]
pub struct Admission {
    /// Connections whose requests have just become whole.
    pub asking: VecDeque<ConnId>,
    /// Requests in the listeners' lines, some of which may have gone.
    pub in_line: usize,
    /// A request that the program had heard of waits no longer.
    pub answered: bool,
}

impl Admission {
    /// A request may be told: one has become whole, or one makes room for another in a line.
    pub fn may_admit(&mut self) -> bool {
        let answered = core::mem::take(&mut self.answered);
        !self.asking.is_empty() || answered && self.in_line > 0
    }
}
