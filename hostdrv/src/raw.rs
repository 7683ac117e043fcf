//! Raw frames: the card as an ordinary Ethernet port, beside the engine's connections, for a stack of
//! the host's own.
//!
//! While there is a [`RawPort`], the engine answers nothing but its own connections and listeners.
//! Their frames never come to the port; every other frame that the card takes does: ARP (which the
//! engine sees as well, to learn from), ICMP, UDP, other TCP, IPv6, group addresses, VLANs.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use crate::card::{Card, ETHERNET_HEADER};
use crate::device::Device;
use crate::error::DeviceError;

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
    fn new(config: RawConfig, max_frame: usize) -> Self {
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

    fn send(&mut self, now: u64, frame: &[u8], card: &mut Card) -> Sent {
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

    /// When the frames that wait are to be tried again.
    pub(crate) fn retry_at(&self) -> Option<u64> {
        self.retry_at
    }
}

/// The device's port for raw frames. There is one at a time; dropping it makes the engine the only
/// stack again.
#[derive(Debug)]
pub struct RawPort {
    device: Device,
}

impl Device {
    /// Opens the device's port for raw frames.
    pub fn raw(&self, config: RawConfig) -> Result<RawPort, DeviceError> {
        let max_frame = usize::from(self.config().mtu + ETHERNET_HEADER);
        let mut state = self.lock();
        state.check_fault()?;
        if state.raw.is_some() {
            return Err(DeviceError::RawPortTaken {
                device: self.name().to_owned(),
            });
        }
        state.raw = Some(RawQueues::new(config, max_frame));
        state.engine.set_host_stack(true);
        Ok(RawPort {
            device: self.clone(),
        })
    }
}

impl RawPort {
    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The next frame received, from its Ethernet header on, without FCS. Never blocks; looks for new
    /// reports if the queue is empty.
    pub fn try_receive(&self) -> Result<Option<Vec<u8>>, DeviceError> {
        if let Some(frame) = self.take() {
            return Ok(Some(frame));
        }
        self.device.progress()?;
        Ok(self.take())
    }

    fn take(&self) -> Option<Vec<u8>> {
        self.device.lock().raw.as_mut()?.received.pop_front()
    }

    /// Sends a frame, from its Ethernet header on, without FCS, unchanged. Never blocks.
    pub fn send(&self, frame: &[u8]) -> Result<Sent, DeviceError> {
        let now = self.device.now();
        let mut state = self.device.lock();
        state.check_fault()?;
        let crate::device::State { raw, card, .. } = &mut *state;
        let sent = match raw {
            Some(queues) => queues.send(now, frame, card),
            None => Sent::Dropped,
        };
        state.finish_turn()?;
        Ok(sent)
    }

    /// How many more frames can be sent before one is dropped. It grows as [`Device::progress`] goes on.
    pub fn room(&self) -> usize {
        let state = self.device.lock();
        let room = |queues: &RawQueues| queues.config.send.saturating_sub(queues.waiting.len());
        state.raw.as_ref().map_or(0, room)
    }

    /// Sleeps until there is a frame, [`Device::progress`] has something to do, `other` can be read, or
    /// `deadline` (in [`Device::now`]'s time) has come. It may also come back early.
    pub fn wait(
        &self,
        other: Option<BorrowedFd<'_>>,
        deadline: Option<u64>,
    ) -> Result<(), DeviceError> {
        let seen = self.device.seen();
        let queued = |queues: &RawQueues| !queues.received.is_empty();
        if self.device.lock().raw.as_ref().is_some_and(queued) {
            return Ok(());
        }
        match other {
            Some(other) => self.device.wait_or_readable(other, deadline),
            None => self.device.wait_since(seen, deadline),
        }
    }

    /// What it counted.
    pub fn stats(&self) -> RawStats {
        let state = self.device.lock();
        state
            .raw
            .as_ref()
            .map_or(RawStats::default(), |queues| queues.stats)
    }
}

impl Drop for RawPort {
    fn drop(&mut self) {
        let mut state = self.device.lock();
        state.raw = None;
        state.engine.set_host_stack(false);
    }
}
