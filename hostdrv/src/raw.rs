//! Raw frames: the card as an ordinary Ethernet port, beside the engine's connections, for a stack of
//! the host's own.
//!
//! While there is a [`RawPort`], the engine answers nothing but its own connections and listeners.
//! Their frames never come to the port; every other frame that the card takes does: ARP (which the
//! engine sees as well, to learn from), ICMP, UDP, other TCP, IPv6, group addresses, VLANs.

use std::os::fd::BorrowedFd;

use crate::card::ETHERNET_HEADER;
use crate::device::{Device, RawQueues, State};
pub use crate::device::{RawConfig, RawStats, Sent};
use crate::error::DeviceError;

/// The device's port for raw frames. There is one at a time; dropping it makes the engine the only
/// stack again.
#[derive(Debug)]
#[must_use = "the port is closed when this is dropped"]
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
        let (engine, _) = state.engine_for("port for raw frames")?;
        engine.set_host_stack(true);
        state.raw = Some(RawQueues::new(config, max_frame));
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
        self.device.lock().raw.as_mut()?.take()
    }

    /// Sends a frame, from its Ethernet header on, without FCS, unchanged. Never blocks.
    pub fn send(&self, frame: &[u8]) -> Result<Sent, DeviceError> {
        let now = self.device.now();
        let mut state = self.device.lock();
        state.check_fault()?;
        let State { raw, place, .. } = &mut *state;
        let sent = match (raw, place.here()) {
            (Some(queues), Some((_, card))) => queues.send(now, frame, card),
            _ => Sent::Dropped,
        };
        state.finish_turn()?;
        Ok(sent)
    }

    /// How many more frames can be sent before one is dropped. It grows as [`Device::progress`] goes on.
    pub fn room(&self) -> usize {
        let state = self.device.lock();
        state.raw.as_ref().map_or(0, RawQueues::room)
    }

    /// Sleeps until there is a frame, [`Device::progress`] has something to do, `other` can be read, or
    /// `deadline` (in [`Device::now`]'s time) has come. It may also come back early.
    pub fn wait(
        &self,
        other: Option<BorrowedFd<'_>>,
        deadline: Option<u64>,
    ) -> Result<(), DeviceError> {
        let seen = self.device.seen();
        if self
            .device
            .lock()
            .raw
            .as_ref()
            .is_some_and(RawQueues::has_received)
        {
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
            .map_or(RawStats::default(), RawQueues::stats)
    }
}

impl Drop for RawPort {
    fn drop(&mut self) {
        let mut state = self.device.lock();
        state.raw = None;
        if let Some((engine, _)) = state.place.here() {
            engine.set_host_stack(false);
        }
    }
}
