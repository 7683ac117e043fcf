//! What the connection manager keeps with a device.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::ConnId;

use super::dispatch;
use super::looped::LoopHost;
use super::packet_filter::PacketFilter;
use super::policy::HostPolicy;
use super::settle::{self, Unsettled};
use crate::device::{Device, Manager};

/// Of one device. Each has a lock of its own, which is held for the moment of a look; the device's lock may be held around it, and is never taken inside.
#[derive(Default)]
pub(super) struct Kept {
    /// The loop that the device is a member of.
    host: Mutex<Option<LoopHost>>,
    /// Who may connect; `None`: not asked for yet.
    policy: Mutex<Option<Option<HostPolicy>>>,
    /// Asked before the policy.
    filter: Mutex<Option<Arc<dyn PacketFilter>>>,
    unsettled: Mutex<Unsettled>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    pub(super) fn of(device: &Device) -> Arc<Self> {
        device.manager()
    }

    pub(super) fn host(&self) -> MutexGuard<'_, Option<LoopHost>> {
        lock(&self.host)
    }

    pub(super) fn policy(&self) -> MutexGuard<'_, Option<Option<HostPolicy>>> {
        lock(&self.policy)
    }

    pub(super) fn filter(&self) -> MutexGuard<'_, Option<Arc<dyn PacketFilter>>> {
        lock(&self.filter)
    }

    pub(super) fn unsettled(&self) -> MutexGuard<'_, Unsettled> {
        lock(&self.unsettled)
    }
}

impl Manager for Kept {
    fn is_settled(&self) -> bool {
        self.unsettled().is_empty()
    }

    fn settle(&self, device: &Device) -> usize {
        settle::settle(self, device)
    }

    fn forgotten(&self, conn: ConnId) {
        settle::forgotten(self, conn);
    }

    fn moved(&self) {
        settle::moved(self);
    }

    fn removed(&self, _: &Device) {
        settle::removed(self);
    }

    fn refuse(&self, device: &Device, conn: ConnId) {
        dispatch::refuse(device, conn, &[]);
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
