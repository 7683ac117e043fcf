//! The device's side of the port for raw frames: what was received and nobody has taken, what is to be sent and the card has
//! no room for. `raw::RawPort` is what programs have of it.

use std::collections::VecDeque;
use weft_engine::Endpoint;

use crate::card::Card;

/// The shortest frame: an Ethernet header.
const MIN_FRAME: usize = 14;
/// How long the card has to send something before frames that wait are tried again. It tells of frames
/// sent only by the way, in its reports.
const RETRY_NS: u64 = 50_000;

/// Frames that wait at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawConfig {
    /// Received, and not yet taken from the port.
    pub receive: usize,
    /// To be sent, and not yet given to the card.
    pub send: usize,
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            receive: 1024,
            send: 256,
        }
    }
}

/// What became of a frame that was to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The card has it.
    Posted,
    /// The card is busy; it waits for its turn.
    Waiting,
    /// It is lost, and counted.
    Dropped,
}

/// What a raw port counts; everything since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawStats {
    /// Frames received and taken into the queue.
    pub received: u64,
    /// Frames received and lost: the queue was full.
    pub receive_dropped_full: u64,
    /// Frames given to the card.
    pub sent: u64,
    /// Frames of these that had to wait for it.
    pub sent_after_waiting: u64,
    /// Frames to be sent and lost: the queue was full.
    pub send_dropped_full: u64,
    /// Frames to be sent and lost: shorter than an Ethernet header, or longer than the device's MTU allows.
    pub send_dropped_length: u64,
}

impl RawStats {
    /// Name and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("received", self.received),
            ("receive_dropped_full", self.receive_dropped_full),
            ("sent", self.sent),
            ("sent_after_waiting", self.sent_after_waiting),
            ("send_dropped_full", self.send_dropped_full),
            ("send_dropped_length", self.send_dropped_length),
        ]
        .into_iter()
    }
}

/// The device's side of the port.
pub(crate) struct RawQueues {
    config: RawConfig,
    max_frame: usize,
    received: VecDeque<Vec<u8>>,
    waiting: VecDeque<Vec<u8>>,
    retry_at: Option<u64>,
    stats: RawStats,
}

impl RawQueues {
    pub(crate) fn new(config: RawConfig, max_frame: usize) -> Self {
        Self {
            config,
            max_frame,
            received: VecDeque::new(),
            waiting: VecDeque::new(),
            retry_at: None,
            stats: RawStats::default(),
        }
    }

    /// A frame for the host's stack has arrived.
    pub(crate) fn receive(&mut self, frame: &[u8]) {
        if self.received.len() >= self.config.receive {
            self.stats.receive_dropped_full += 1;
            return;
        }
        self.stats.received += 1;
        self.received.push_back(frame.to_vec());
    }

    /// Gives the card a frame, behind those that wait.
    pub(crate) fn send(&mut self, now: u64, frame: &[u8], card: &mut Card) -> Sent {
        if !(MIN_FRAME..=self.max_frame).contains(&frame.len()) {
            self.stats.send_dropped_length += 1;
            return Sent::Dropped;
        }
        self.send_waiting(now, card);
        if self.waiting.is_empty() && card.send_host_frame(frame, true).is_ok() {
            self.stats.sent += 1;
            return Sent::Posted;
        }
        if self.waiting.len() >= self.config.send {
            self.stats.send_dropped_full += 1;
            return Sent::Dropped;
        }
        self.waiting.push_back(frame.to_vec());
        self.retry_at.get_or_insert(now.saturating_add(RETRY_NS));
        Sent::Waiting
    }

    /// Gives the card what waits, as far as it has room; how many frames those were.
    pub(crate) fn send_waiting(&mut self, now: u64, card: &mut Card) -> usize {
        let ask = self.retry_at.is_some_and(|at| at <= now);
        let mut sent = 0;
        while let Some(frame) = self.waiting.front() {
            if card.send_host_frame(frame, ask).is_err() {
                break;
            }
            self.waiting.pop_front();
            sent += 1;
        }
        self.stats.sent += sent as u64;
        self.stats.sent_after_waiting += sent as u64;
        if self.waiting.is_empty() {
            self.retry_at = None;
        } else if ask {
            self.retry_at = Some(now.saturating_add(RETRY_NS));
        }
        sent
    }

    /// The oldest frame that was received.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.received.pop_front()
    }

    /// Drops the TCP segments that were received from `remote` for `local` and that nobody has taken.
    pub(crate) fn drop_segments(&mut self, local: Endpoint, remote: Endpoint) {
        self.received
            .retain(|frame| ends(frame) != Some((remote, local)));
    }

    /// Is there a frame to be taken?
    pub(crate) fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// How many more frames may wait to be sent.
    pub(crate) fn room(&self) -> usize {
        self.config.send.saturating_sub(self.waiting.len())
    }

    /// What it counted.
    pub(crate) fn stats(&self) -> RawStats {
        self.stats
    }

    /// When the frames that wait are to be tried again.
    pub(crate) fn retry_at(&self) -> Option<u64> {
        self.retry_at
    }
}

/// Source and destination of a frame with TCP over IPv4.
fn ends(frame: &[u8]) -> Option<(Endpoint, Endpoint)> {
    let packet = frame.get(14..).filter(|_| frame[12..14] == [8, 0])?;
    let header = usize::from(packet.first()? & 15) * 4;
    if *packet.get(9)? != 6 {
        return None;
    }
    let end = |ip: usize, port: usize| {
        Some(Endpoint {
            ip: *packet.get(ip..)?.first_chunk()?,
            port: u16::from_be_bytes(*packet.get(header + port..)?.first_chunk()?),
        })
    };
    Some((end(12, 0)?, end(16, 2)?))
}
