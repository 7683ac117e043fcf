//! Those who come while there is no room: who ended a moment ago may still be leaving.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long one waits for room.
const PATIENCE: Duration = Duration::from_millis(250);

/// No more wait: whoever comes then is turned away at once.
const ROOM: usize = 16;

/// Somebody who wants to be a client.
pub(super) struct Newcomer {
    pub(super) socket: UnixStream,
    since: Instant,
}

impl Newcomer {
    pub(super) fn new(socket: UnixStream) -> Self {
        let since = Instant::now();
        Self { socket, since }
    }
}

/// Bounded, and in the order in which they came.
#[derive(Default)]
pub(super) struct Waiting(VecDeque<Newcomer>);

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The one who has waited longest.
    pub(super) fn next(&mut self) -> Option<Newcomer> {
        self.0.pop_front()
    }

    /// It waits, or waits on. An error: it has for long enough, or too many do.
    pub(super) fn admit(&mut self, newcomer: Newcomer) -> Result<(), Newcomer> {
        if self.0.len() == ROOM || newcomer.since.elapsed() >= PATIENCE {
            return Err(newcomer);
        }
        self.0.push_back(newcomer);
        Ok(())
    }
}
