//! A network interface of Linux on a card: the card's raw frames joined to a TAP.
//!
//! The kernel's stack sends and receives through the card (`ping`, `ssh`, anything), while the engine's
//! iWARP connections go on beside it, on the same station address and the same IPv4 address. See
//! `docs/tap.md` for who gets which frame.

mod probe;
mod segment;

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use thiserror::Error;

use self::probe::Probe;
use crate::tap::{Tap, TapConfig, TapError, Written};
use weft_hostdrv::device::Device;
use weft_hostdrv::raw::{RawConfig, RawPort, RawStats, Sent};
use weft_hostdrv::DeviceError;

/// Frames moved each way in one call, so that it ends.
const FRAMES_PER_CALL: usize = 64;

/// What went wrong with an interface.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// On the card's side.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// On the kernel's side.
    #[error(transparent)]
    Tap(#[from] TapError),
    /// The kernel's packet filter cannot be asked.
    #[error("the kernel cannot be asked whom its packet filter lets in: {0}; it takes root or CAP_NET_RAW, and an interface with the card's IPv4 address")]
    Filter(io::Error),
}

/// What an interface counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceStats {
    /// Frames that the kernel has received.
    pub to_kernel: u64,
    /// Their bytes.
    pub to_kernel_bytes: u64,
    /// Frames for the kernel lost because the interface was down.
    pub to_kernel_dropped_down: u64,
    /// Frames for the kernel lost because it had no room.
    pub to_kernel_dropped_full: u64,
    /// Frames that the kernel has sent.
    pub from_kernel: u64,
    /// Their bytes.
    pub from_kernel_bytes: u64,
    /// Requests for the engine's listeners that the kernel's packet filter kept out.
    pub requests_kept_out: u64,
    /// What the card's side counts.
    pub raw: RawStats,
}

impl InterfaceStats {
    /// Name and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (String, u64)> {
        let own = [
            ("to_kernel", self.to_kernel),
            ("to_kernel_bytes", self.to_kernel_bytes),
            ("to_kernel_dropped_down", self.to_kernel_dropped_down),
            ("to_kernel_dropped_full", self.to_kernel_dropped_full),
            ("from_kernel", self.from_kernel),
            ("from_kernel_bytes", self.from_kernel_bytes),
            ("requests_kept_out", self.requests_kept_out),
        ];
        let own = own.into_iter().map(|(name, n)| (name.to_owned(), n));
        own.chain(self.raw.iter().map(|(name, n)| (format!("raw_{name}"), n)))
    }
}

/// A card's interface in the kernel. It is there as long as this is.
#[must_use = "the interface goes when this is dropped"]
pub struct NetInterface {
    port: RawPort,
    tap: Arc<Tap>,
    probe: Option<Arc<Probe>>,
    stats: InterfaceStats,
}

impl NetInterface {
    /// Makes the interface `name` (or takes the TAP of this name) with the device's station address and
    /// MTU, and turns it on. With `prefix` the kernel gets the device's IPv4 address, too, with a prefix of
    /// that length.
    pub fn open(device: &Device, name: &str, prefix: Option<u8>) -> Result<Self, InterfaceError> {
        let config = TapConfig {
            mac: Some(device.mac()),
            mtu: Some(device.mtu()),
            ip: prefix.map(|prefix| (device.ip(), prefix)),
        };
        let port = device.raw(RawConfig::default())?;
        let tap = Tap::open(name, &config)?;
        Ok(Self::join(port, tap))
    }

    /// Joins a port and a TAP that was set up by the caller.
    pub fn join(port: RawPort, tap: Tap) -> Self {
        Self {
            port,
            tap: Arc::new(tap),
            probe: None,
            stats: InterfaceStats::default(),
        }
    }

    /// From now on the kernel's packet filter decides as well who may connect to the engine's listeners: each request is rejected whose first segment
    /// the kernel would not let in on this interface. As long as this lives; the interface has the card's IPv4 address.
    pub fn honour_packet_filter(&mut self) -> Result<(), InterfaceError> {
        let device = self.port.device();
        let probe = Probe::new(self.tap.clone(), device.ip()).map_err(InterfaceError::Filter)?;
        let probe = Arc::new(probe);
        device.set_packet_filter(Some(probe.clone()));
        self.probe = Some(probe);
        Ok(())
    }

    /// The card's side.
    pub fn port(&self) -> &RawPort {
        &self.port
    }

    /// The kernel's side.
    pub fn tap(&self) -> &Tap {
        &self.tap
    }

    /// Lets the device handle what is there and moves frames both ways; never blocks. Answers how much
    /// there was; 0: nothing to do before [`wait`](Self::wait) comes back.
    ///
    /// When the card is busy, frames of the kernel stay in the TAP's own queue: none is lost here.
    pub fn progress(&mut self) -> Result<usize, InterfaceError> {
        let mut handled = self.port.device().progress()?;
        for _ in 0..FRAMES_PER_CALL {
            let Some(frame) = self.port.try_receive()? else {
                break;
            };
            handled += 1;
            match self.tap.write_frame(&frame)? {
                Written::Taken => {
                    self.stats.to_kernel += 1;
                    self.stats.to_kernel_bytes += frame.len() as u64;
                }
                Written::Down => self.stats.to_kernel_dropped_down += 1,
                Written::Full => self.stats.to_kernel_dropped_full += 1,
            }
        }
        for _ in 0..FRAMES_PER_CALL.min(self.port.room()) {
            let Some(frame) = self.tap.read_frame()? else {
                break;
            };
            handled += 1;
            if self.probe.as_ref().is_some_and(|probe| probe.takes(&frame)) {
                continue;
            }
            self.stats.from_kernel += 1;
            self.stats.from_kernel_bytes += frame.len() as u64;
            if self.port.send(&frame)? == Sent::Waiting {
                tracing::trace!("the card is busy: frames of the kernel wait");
            }
        }
        Ok(handled)
    }

    /// Sleeps until there is something to do for [`progress`](Self::progress), or `deadline` (in
    /// [`Device::now`]'s time) has come.
    pub fn wait(&self, deadline: Option<u64>) -> Result<(), InterfaceError> {
        // Without room a readable TAP is no reason to wake up.
        let tap = (self.port.room() > 0).then(|| self.tap.as_fd());
        Ok(self.port.wait(tap, deadline)?)
    }

    /// What it counted.
    pub fn stats(&self) -> InterfaceStats {
        InterfaceStats {
            requests_kept_out: self.probe.as_ref().map_or(0, |probe| probe.kept_out()),
            raw: self.port.stats(),
            ..self.stats
        }
    }
}

impl Drop for NetInterface {
    fn drop(&mut self) {
        if self.probe.is_some() {
            self.port.device().set_packet_filter(None);
        }
    }
}

impl fmt::Debug for NetInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetInterface")
            .field("port", &self.port)
            .field("tap", &self.tap)
            .field("honours_packet_filter", &self.probe.is_some())
            .finish_non_exhaustive()
    }
}
