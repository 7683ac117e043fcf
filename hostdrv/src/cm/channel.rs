//! Event channels.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::event::CmEvent;
use super::id::CmId;
use super::CmError;
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;
use crate::verbs::deadline;

/// Where the events of its identifiers arrive, in order (`rdma_event_channel`). Clones are the same
/// channel. Keep it longer than its identifiers: without it their events are lost.
#[derive(Clone)]
pub struct EventChannel {
    device: Device,
    inner: Arc<ChannelInner>,
}

#[derive(Default)]
pub(super) struct ChannelInner {
    events: Arc<Events<CmEvent>>,
}

impl ChannelInner {
    pub(super) fn push(&self, event: CmEvent) {
        tracing::debug!(event = %event.event, status = event.status, id = ?event.id, "connection event");
        self.events.push(event);
    }
}

impl Device {
    /// A new event channel.
    #[tracing::instrument(name = "create_event_channel", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_event_channel(&self) -> EventChannel {
        EventChannel {
            device: self.clone(),
            inner: Arc::default(),
        }
    }
}

impl EventChannel {
    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A new identifier (`rdma_create_id`).
    #[tracing::instrument(name = "create_id", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn create_id(&self) -> CmId {
        CmId::new(&self.device, &self.inner)
    }

    fn pop(&self) -> Option<CmEvent> {
        self.inner.events.pop(Some)
    }

    /// A file that is readable while there is an event, or the device has something to do: then call
    /// [`try_get_event`](Self::try_get_event).
    pub fn readiness(&self) -> Result<Readiness, DeviceError> {
        self.device.readiness_of(&self.inner.events)
    }

    /// The oldest event, if there is one. Lets the device make progress when there is none; never blocks.
    pub fn try_get_event(&self) -> Result<Option<CmEvent>, CmError> {
        if let Some(event) = self.pop() {
            return Ok(Some(event));
        }
        self.device.progress()?;
        Ok(self.pop())
    }

    /// The oldest event; sleeps until there is one or the time is over.
    #[tracing::instrument(name = "get_cm_event", level = "debug", skip_all, fields(device = self.device.name()))]
    pub fn get_event(&self, timeout: Option<Duration>) -> Result<Option<CmEvent>, CmError> {
        Ok(self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?)
    }
}

impl fmt::Debug for EventChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventChannel")
            .field("device", &self.device.name())
            .finish()
    }
}
