//! Who moves messages between this device's queue pairs and others of the host.

use std::net::Ipv4Addr;
use std::sync::{Arc, Weak};

use weft_engine::commands::Refusal;
use weft_engine::{AcceptParams, ConnId, ConnectParams, QpId};

use super::{Device, DeviceConfig, Handles, Shared, State};
use crate::error::DeviceError;
use weft_card_transport::{NoCard, TransportError};

/// The loop that a device is joined to. Each call is made without the device's lock.
pub(crate) trait Loopback: Send + Sync {
    /// The device's joined queue pairs have something to say: look at them.
    fn look(&self);
    /// Is it the way to this address?
    fn reaches(&self, ip: Ipv4Addr) -> bool;
    /// The name of a connection of this queue pair's; nobody has heard of it yet.
    fn prepare(&self, qp: QpId, params: &ConnectParams<'_>) -> Result<ConnId, Refusal>;
    /// Asks who listens; what becomes of it comes as an event.
    fn ask(&self, conn: ConnId, params: &ConnectParams<'_>);
    /// Answers a request with a queue pair.
    fn accept(&self, conn: ConnId, qp: QpId, params: &AcceptParams<'_>) -> Result<(), Refusal>;
    /// Answers a request with no.
    fn reject(&self, conn: ConnId, private_data: &[u8]) -> Result<(), Refusal>;
    /// Closes in order.
    fn disconnect(&self, conn: ConnId);
    /// Ends a connection at once.
    fn abort(&self, conn: ConnId);
}

/// A device that may be gone.
#[derive(Clone)]
pub(crate) struct WeakDevice(Weak<Handles>);

impl WeakDevice {
    pub(crate) fn upgrade(&self) -> Option<Device> {
        self.0.upgrade().map(|shared| Device { shared })
    }
}

impl Shared {
    pub(super) fn notify_loopback(&self) {
        if let Some(loopback) = self.loopback.get() {
            loopback.look();
        }
    }
}

impl State {
    /// Ends a turn that another device's thread took: files of this device's are readable until its own have looked.
    pub(crate) fn finish_foreign_turn(&mut self) {
        // A failure is the device's, and kept there.
        let _ = self.finish_turn();
        if let Some(watch) = self.watched() {
            watch.set_timer(Some(1));
        }
    }
}

impl Device {
    /// A device without a card, which reaches nobody but members of its [`LoopbackHost`](crate::cm::LoopbackHost). The configuration's IP address
    /// is what they know it by.
    pub fn without_card(config: DeviceConfig) -> Result<Self, DeviceError> {
        let no_card = NoCard::new().map_err(|error| TransportError::Interrupt {
            vector: 0,
            reason: error.to_string(),
        })?;
        Self::open(Arc::new(no_card), config)
    }

    pub(crate) fn downgrade(&self) -> WeakDevice {
        WeakDevice(Arc::downgrade(&self.shared))
    }

    /// From now on this one is told; false: another one is already.
    pub(crate) fn set_loopback(&self, loopback: Arc<dyn Loopback>) -> bool {
        self.shared.loopback.set(loopback).is_ok()
    }

    /// Is it joined with others of the host?
    pub(crate) fn is_loopback_member(&self) -> bool {
        self.shared.loopback.get().is_some()
    }

    /// Is there a card behind it?
    pub fn has_card(&self) -> bool {
        self.shared.mmio.transport.has_card()
    }
}
