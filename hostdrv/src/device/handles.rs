//! What a program has of a device, and its end.
//!
//! All that a program makes holds a handle. When the last is gone the device closes: connections on their way to an orderly end get there first,
//! within [`DeviceConfig::linger`](super::DeviceConfig::linger). A process that ends by returning from `main` or by `exit` does so for each device that it still has.

use std::ops::Deref;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, Weak};
use std::time::Duration;

use weft_card_transport::fork::Birthplace;

use super::{fork, Device, Shared};
use crate::error::DeviceError;

/// What the handles of a program share.
pub(super) struct Handles {
    shared: Arc<Shared>,
    /// They are the driver's own, for what it has to do at the end.
    is_inner: bool,
    born: Birthplace,
}

/// Devices that linger, and the process that opened them.
struct Open {
    process: u32,
    devices: Mutex<Vec<Weak<Shared>>>,
}

static OPEN: OnceLock<Open> = OnceLock::new();

impl Deref for Handles {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Handles {
    /// The first one of a device.
    pub(super) fn new(shared: Shared) -> Arc<Self> {
        let shared = Arc::new(shared);
        fork::watch(&shared);
        if shared.linger.is_some() {
            let open = OPEN.get_or_init(|| Open {
                process: process::id(),
                devices: Mutex::default(),
            });
            let mut devices = open.devices.lock().unwrap_or_else(PoisonError::into_inner);
            devices.retain(|device| device.strong_count() > 0);
            devices.push(Arc::downgrade(&shared));
            close_at_exit();
        }
        Arc::new(Self {
            shared,
            is_inner: false,
            born: Birthplace::here(),
        })
    }
}

impl Device {
    /// A handle of the driver's own to the same device.
    pub(super) fn as_inner(&self) -> Self {
        Self::inner(self.shared.shared.clone())
    }

    fn inner(shared: Arc<Shared>) -> Self {
        Self {
            shared: Arc::new(Handles {
                shared,
                is_inner: true,
                born: Birthplace::here(),
            }),
        }
    }

    /// Has a connection something to do before its end?
    fn is_closing(&self) -> bool {
        let mut state = self.lock();
        // What was given to the card goes out before it is turned off.
        state.place.refresh_jobs_done();
        let here = state.place.here();
        here.is_some_and(|(engine, card)| engine.is_closing() || card.jobs_outstanding() > 0)
    }

    /// Lets connections that are closing get to their end.
    fn linger(&self, limit: Duration) -> Result<(), DeviceError> {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let end = self.now().saturating_add(limit);
        while self.progress()? > 0 || self.is_closing() {
            if self.now() >= end {
                tracing::warn!(
                    device = self.name(),
                    "connections are cut off: they did not close in time"
                );
                return Ok(());
            }
            let seen = self.seen();
            if self.progress()? == 0 && self.is_closing() {
                let soon = self.now().saturating_add(LOOK_NS);
                self.wait_since(seen, Some(end.min(soon)))?;
            }
        }
        Ok(())
    }
}

/// How often it is looked at whether the card has done its jobs: that makes no interrupt.
const LOOK_NS: u64 = 1_000_000;

impl Drop for Handles {
    fn drop(&mut self) {
        // A child made by fork has neither the connections nor the thread of the device.
        if self.is_inner || !self.born.is_here() {
            return;
        }
        if let Some(limit) = self.shared.linger {
            let device = Device::inner(self.shared.clone());
            if let Err(error) = device.linger(limit) {
                tracing::debug!(%error, "nothing is left to close");
            }
        }
        self.shared.driver.close(&self.shared.sleepers);
    }
}

/// Once for the process.
fn close_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function is there as long as the process, takes nothing and lets no panic out.
        let refused = unsafe { libc::atexit(close_all) };
        if refused != 0 {
            tracing::warn!("connections that are closing will be cut off at exit");
        }
    });
}

/// Lets all devices close that the program still has.
extern "C" fn close_all() {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // A child by fork has its parent's memory, and not its card.
        let Some(open) = OPEN.get().filter(|open| open.process == process::id()) else {
            return;
        };
        let devices =
            std::mem::take(&mut *open.devices.lock().unwrap_or_else(PoisonError::into_inner));
        let devices: Vec<_> = devices.iter().filter_map(Weak::upgrade).collect();
        std::thread::scope(|scope| {
            for shared in devices {
                scope.spawn(move || {
                    let limit = shared.linger.unwrap_or_default();
                    let device = Device::inner(shared);
                    let ended = device.linger(limit);
                    tracing::debug!(device = device.name(), ?ended, "closed at exit");
                    // The memory of the process goes with it.
                    std::mem::forget(device);
                });
            }
        });
    }));
}
