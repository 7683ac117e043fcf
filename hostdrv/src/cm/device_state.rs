//! What the connection manager keeps with a device.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::ConnId;

use super::dispatch;
use super::housekeeping::{self, Pending};
use super::loopback::LoopbackHost;
use super::packet_filter::PacketFilter;
use super::policy::HostPolicy;
use crate::device::{Device, Manager};

/// Of one device. Each has a lock of its own, which is held for the moment of a look; the device's lock may be held around it, and is never taken inside.
#[derive(Default)]
pub(super) struct DeviceState {
    /// The loop that the device is a member of.
    host: Mutex<Option<LoopbackHost>>,
    /// Who may connect; `None`: not asked for yet.
    policy: Mutex<Option<Option<HostPolicy>>>,
    /// Asked before the policy.
    filter: Mutex<Option<Arc<dyn PacketFilter>>>,
    pending: Mutex<Pending>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceState {
    pub(super) fn of(device: &Device) -> Arc<Self> {
        device.manager()
    }

    pub(super) fn host(&self) -> MutexGuard<'_, Option<LoopbackHost>> {
        lock(&self.host)
    }

    pub(super) fn policy(&self) -> MutexGuard<'_, Option<Option<HostPolicy>>> {
        lock(&self.policy)
    }

    pub(super) fn filter(&self) -> MutexGuard<'_, Option<Arc<dyn PacketFilter>>> {
        lock(&self.filter)
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

impl Manager for DeviceState {
    fn is_idle(&self) -> bool {
        self.pending().is_empty()
    }

    fn housekeep(&self, device: &Device) -> usize {
        housekeeping::housekeep(self, device)
    }

    fn forgotten(&self, conn: ConnId) {
        housekeeping::forgotten(self, conn);
    }

    fn moved(&self) {
        housekeeping::moved(self);
    }

    fn removed(&self, _: &Device) {
        housekeeping::removed(self);
    }

    fn refuse(&self, device: &Device, conn: ConnId) {
        dispatch::refuse(device, conn, &[]);
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
