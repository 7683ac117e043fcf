//! Who manages the connections of a device, beyond single ones: it keeps what it knows with the device, which does not know what that is.

use std::any::Any;
use std::sync::Arc;

use weft_engine::ConnId;

use super::Device;

/// What whoever manages connections keeps with a device.
pub(crate) trait Manager: Any + Send + Sync {
    /// Is there nothing to be looked at? With the device's lock.
    fn is_idle(&self) -> bool;
    /// IdlePolls at it; how much there was. Without any lock.
    fn housekeep(&self, device: &Device) -> usize;
    /// An engine on the card says that nothing is left of a connection. Without any lock.
    fn forgotten(&self, conn: ConnId);
    /// It says that a connection's next station is another one. Without any lock.
    fn moved(&self);
    /// The device does no more. Without any lock.
    fn removed(&self, device: &Device);
    /// Refuses a request that nobody takes. Without any lock.
    fn refuse(&self, device: &Device, conn: ConnId);
    /// To become what it is again.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl Device {
    /// What it keeps, made when it is asked for first.
    pub(crate) fn manager<M: Manager + Default>(&self) -> Arc<M> {
        let kept = self.shared.manager.get_or_init(|| Arc::new(M::default()));
        // There is one kind.
        kept.clone().as_any().downcast().unwrap_or_default()
    }

    pub(super) fn is_idle(&self) -> bool {
        let manager = self.shared.manager.get();
        manager.is_none_or(|manager| manager.is_idle())
    }

    pub(super) fn housekeep(&self) -> usize {
        let manager = self.shared.manager.get();
        manager.map_or(0, |manager| manager.housekeep(self))
    }

    pub(super) fn tell_removal(&self) {
        if let Some(manager) = self.shared.manager.get() {
            manager.removed(self);
        }
    }

    pub(super) fn forgotten(&self, conn: ConnId) {
        if let Some(manager) = self.shared.manager.get() {
            manager.forgotten(conn);
        }
    }

    pub(super) fn moved(&self) {
        if let Some(manager) = self.shared.manager.get() {
            manager.moved();
        }
    }

    /// Nobody takes a request any more: its listener is gone.
    pub(super) fn refuse(&self, conn: ConnId) {
        if let Some(manager) = self.shared.manager.get() {
            manager.refuse(self, conn);
        }
    }
}
