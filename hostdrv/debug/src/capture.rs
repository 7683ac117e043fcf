//! Copies of the frames that a card receives and sends, taken by the card at its MAC port.
//!
//! It works on a device in use and does not disturb it: the card writes the copies with what the bus has to spare, and
//! leaves frames out, and counts them, when that is not enough. Frames are captured whatever becomes of them:
//! placed, dropped, or with a bad FCS.
//!
//! ```
//! # use weft_debug::capture::{Capture, CaptureConfig};
//! # use weft_hostdrv::{Device, DeviceError};
//! fn watch(device: &Device) -> Result<(), DeviceError> {
//!     let mut capture = Capture::start(device, CaptureConfig::default())?;
//!     while let Some(frame) = capture.poll()? {
//!         println!("{} {:?} {} bytes", frame.time_cycles, frame.direction, frame.original_length);
//!     }
//!     Ok(())
//! }
//! ```

mod ring;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use weft_hostdrv::{Device, DeviceError};

use self::ring::CaptureRing;

/// Who starts a capture looks first whether one runs: one starter at a time.
static STARTING: Mutex<()> = Mutex::new(());

/// What is to be captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// Received frames.
    pub received: bool,
    /// Sent frames.
    pub sent: bool,
    /// Bytes of a frame that are kept at most.
    pub snap: u16,
    /// log2 of the frames that the ring holds, 1 to 16.
    pub slots_log2: u8,
}

impl Default for CaptureConfig {
    /// Both directions, whole frames, 256 of them.
    fn default() -> Self {
        Self {
            received: true,
            sent: true,
            snap: u16::MAX,
            slots_log2: 8,
        }
    }
}

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The card received it.
    Received,
    /// The card sent it.
    Sent,
}

/// A captured frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// The card's clock when its last beat passed, in cycles.
    pub time_cycles: u64,
    /// Which way it went.
    pub direction: Direction,
    /// The MAC flagged it bad.
    pub bad_fcs: bool,
    /// Its bytes on the wire, FCS not included.
    pub original_length: u16,
    /// Frames of its direction that were left out between the one before and this one.
    pub lost_before: u32,
    /// Its bytes, as many as were kept.
    pub bytes: Vec<u8>,
}

/// A capture in progress. It ends when dropped.
#[must_use = "the capture ends when this is dropped"]
pub struct Capture {
    device: Device,
    config: CaptureConfig,
    ring: Option<CaptureRing>,
}

impl Capture {
    /// Starts to capture frames. One capture of a card at a time, whoever has the card's engine.
    pub fn start(device: &Device, config: CaptureConfig) -> Result<Self, DeviceError> {
        if !(1..=16).contains(&config.slots_log2) {
            return Err(DeviceError::Setting {
                setting: "slots_log2",
                value: config.slots_log2.into(),
                allowed: "1 to 16",
            });
        }
        let ring = {
            let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
            CaptureRing::start(device.mmio(), &config)?
        };
        tracing::info!(device = device.name(), ?config, "capture is on");
        Ok(Self {
            device: device.clone(),
            config,
            ring: Some(ring),
        })
    }

    /// The next frame, if there is one. Frames of one direction come in their order.
    pub fn poll(&mut self) -> Result<Option<CapturedFrame>, DeviceError> {
        let Some(ring) = &mut self.ring else {
            return Ok(None);
        };
        let Some(slot) = ring.take()? else {
            return Ok(None);
        };
        ring.return_room(self.device.mmio())?;
        Ok(Some(CapturedFrame {
            time_cycles: slot.header.clock,
            direction: if slot.sent() {
                Direction::Sent
            } else {
                Direction::Received
            },
            bad_fcs: slot.bad(),
            original_length: slot.header.length,
            lost_before: slot.lost,
            bytes: slot.bytes,
        }))
    }

    /// What is captured.
    pub fn config(&self) -> &CaptureConfig {
        &self.config
    }

    /// The device that is watched.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let Some(ring) = self.ring.take() else {
            return;
        };
        if let Some(memory) = ring.stop(self.device.mmio()) {
            self.device.retire(memory);
        }
        tracing::info!(device = self.device.name(), "capture is off");
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("device", &self.device)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
