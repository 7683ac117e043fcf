//! What a connection owes its peer beside messages: start-up frame, Terminate, acknowledgments.

use alloc::vec::Vec;

use weft_wire::terminate::MAX_TERMINATE;

/// The start-up frame of this side, kept until it is acknowledged.
#[derive(Default)]
pub struct Startup {
    /// The frame; no memory without one.
    pub bytes: Vec<u8>,
    /// Its bytes; 0: none.
    pub length: usize,
    /// Where it was sent.
    pub seq: Option<u32>,
    /// How much of it was sent.
    pub sent: usize,
}

impl Startup {
    /// What was not sent yet.
    pub fn unsent(&self) -> usize {
        self.length.saturating_sub(self.sent)
    }
}

impl core::fmt::Debug for Startup {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Startup({} bytes at {:?})", self.length, self.seq)
    }
}

/// A Terminate to be sent.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingTerminate {
    /// Its payload.
    pub bytes: [u8; MAX_TERMINATE],
    /// How many of them.
    pub length: usize,
}

/// What a message that was received has ended. The later here, the sooner it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Nothing, or what a message answers.
    #[default]
    Nothing,
    /// A Send: the program hears of it, and its answer can carry the acknowledgment.
    Send,
    /// A Write: nobody here hears of it who would answer.
    Write,
}

/// Acknowledgments owed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckState {
    /// At once.
    pub now: bool,
    /// At once and without data: something lies beyond a gap.
    pub beside: bool,
    /// What has ended since: its sender waits for the acknowledgment.
    pub ended: Ended,
    /// The peer waits for the acknowledgment owed.
    pub urgent: bool,
    /// Segments received since the last one sent.
    pub pending: u8,
}

impl AckState {
    /// A message has ended.
    #[inline]
    pub fn ends(&mut self, ended: Ended) {
        self.ended = self.ended.max(ended);
    }
}
