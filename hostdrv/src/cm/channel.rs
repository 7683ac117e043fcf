//! Event channels.

use std::fmt;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use super::addr_info::AddrInfo;
use super::event::{CmEvent, CmEventType};
use super::id::CmId;
use super::param::ConnParam;
use super::CmError;
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;
use crate::verbs::{deadline, Pd, Qp, QpInit};

/// Where the events of its identifiers arrive, in order (`rdma_event_channel`). Clones are the same
/// channel. Keep it longer than its identifiers: without it their events are lost.
#[derive(Clone)]
pub struct EventChannel {
    device: Device,
    inner: Arc<ChannelInner>,
}

pub(super) struct ChannelInner {
    events: Arc<Events<CmEvent>>,
    most_waiting: AtomicUsize,
}

/// Events that wait in a channel beyond which requests are rejected, unless the program says otherwise.
const MOST_WAITING: usize = 1024;

impl Default for ChannelInner {
    fn default() -> Self {
        Self {
            events: Arc::default(),
            most_waiting: AtomicUsize::new(MOST_WAITING),
        }
    }
}

impl ChannelInner {
    /// The program does not take its events: nobody new is let in.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= self.most_waiting.load(Ordering::Relaxed)
    }

    /// The connection of this identifier is over. True if its request still waited here: then nobody has heard of it, and
    /// nobody will.
    pub(super) fn forget_request(&self, id: &CmId) -> bool {
        let is = |event: &CmEvent| event.event == CmEventType::ConnectRequest && event.id.is(id);
        // What it holds is dropped behind the lock.
        let request = self.events.remove(is);
        request.is_some()
    }

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

    /// Listens with a new identifier: each connection wanted comes as a CONNECT_REQUEST.
    pub fn listen(&self, port: u16, backlog: usize) -> Result<CmId, CmError> {
        let id = self.create_id();
        id.bind_addr(SocketAddrV4::new(self.device.ip(), port))?;
        id.listen(backlog)?;
        Ok(id)
    }

    /// A request that comes while so many events wait in the channel is rejected, without private data; 1024 unless this says
    /// otherwise. It bounds the channel: a request whose peer gives up before anybody took it disappears, and all other
    /// events are of identifiers and connections that the program has, a few for each.
    pub fn limit_waiting(&self, most: usize) {
        self.inner.most_waiting.store(most, Ordering::Relaxed);
    }

    /// Events that wait to be taken.
    pub fn waiting(&self) -> usize {
        self.inner.events.len()
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

    /// The next event, which has to be this one: another one, or none in time, is an error. For programs that do one thing
    /// after the other.
    pub fn expect_event(
        &self,
        wanted: CmEventType,
        timeout: Option<Duration>,
    ) -> Result<CmEvent, CmError> {
        match self.get_event(timeout)? {
            Some(event) if event.event == wanted => Ok(event),
            other => Err(CmError::Unexpected {
                wanted,
                came: other.map(|event| (event.event, event.status)),
            }),
        }
    }

    /// Connects with a new identifier and queue pair, and waits until the connection stands: ESTABLISHED. Nothing else may go
    /// on in this channel meanwhile. (`rdma_create_ep` and `rdma_connect` of an identifier without a channel.)
    pub fn connect(
        &self,
        remote: SocketAddrV4,
        pd: &Pd,
        init: &QpInit,
        param: &ConnParam,
        timeout: Option<Duration>,
    ) -> Result<(CmEvent, Qp), CmError> {
        let id = self.create_id();
        id.resolve_addr(remote)?;
        self.expect_event(CmEventType::AddrResolved, timeout)?;
        id.resolve_route()?;
        self.expect_event(CmEventType::RouteResolved, timeout)?;
        self.finish_connecting(&id, pd, init, param, timeout)
    }

    /// The same by an entry of [`Device::get_addr_info`].
    pub fn connect_with(
        &self,
        info: &AddrInfo,
        pd: &Pd,
        init: &QpInit,
        param: &ConnParam,
        timeout: Option<Duration>,
    ) -> Result<(CmEvent, Qp), CmError> {
        let id = self.create_id();
        id.resolve_with(info)?;
        self.finish_connecting(&id, pd, init, param, timeout)
    }

    fn finish_connecting(
        &self,
        id: &CmId,
        pd: &Pd,
        init: &QpInit,
        param: &ConnParam,
        timeout: Option<Duration>,
    ) -> Result<(CmEvent, Qp), CmError> {
        let qp = id.create_qp(pd, init)?;
        id.connect(param)?;
        let established = self.expect_event(CmEventType::Established, timeout)?;
        Ok((established, qp))
    }
}

impl fmt::Debug for EventChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventChannel")
            .field("device", &self.device.name())
            .finish()
    }
}
