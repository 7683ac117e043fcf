//! Event channels.

use std::fmt;
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::addr_info::AddrInfo;
use super::device_state::DeviceState;
use super::event::{CmEvent, CmEventType};
use super::id::{CmId, CmState, IdInner};
use super::param::ConnParam;
use super::{CmError, Connection};
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;
use crate::verbs::{deadline, Pd, QpInit};

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
    /// It gets the events that were asked for as well.
    everything: AtomicBool,
    /// Its identifiers, if it gets all events.
    ids: Mutex<Vec<Weak<IdInner>>>,
    removed: AtomicBool,
    /// Who is called with its events.
    function: Option<Box<Function>>,
    /// A thread calls it.
    calling: AtomicBool,
}

type Function = dyn Fn(CmEvent) + Send + Sync;

/// Events that wait in a channel beyond which requests are rejected, unless the program says otherwise.
const MOST_WAITING: usize = 1024;

impl Default for ChannelInner {
    fn default() -> Self {
        Self {
            events: Arc::default(),
            most_waiting: AtomicUsize::new(MOST_WAITING),
            everything: AtomicBool::new(false),
            ids: Mutex::default(),
            removed: AtomicBool::new(false),
            function: None,
            calling: AtomicBool::new(false),
        }
    }
}

impl ChannelInner {
    /// Does it get the events that a channel has to ask for?
    pub(super) fn wants_everything(&self) -> bool {
        self.everything.load(Ordering::Relaxed)
    }

    /// An identifier has its events here.
    pub(super) fn know(&self, id: &Arc<IdInner>) {
        if self.wants_everything() {
            let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
            if ids.len() == ids.capacity() {
                ids.retain(|id| id.strong_count() > 0);
            }
            ids.push(Arc::downgrade(id));
        }
    }

    /// Its identifiers that are not over.
    pub(super) fn ids(&self) -> Vec<CmId> {
        let ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let ids: Vec<_> = ids.iter().filter_map(Weak::upgrade).collect();
        let ids = ids.into_iter().map(|inner| CmId { inner });
        let is_here = |id: &CmId| {
            let channel = id.lock_channel().upgrade();
            channel.is_some_and(|channel| std::ptr::eq(&*channel, self))
        };
        ids.filter(is_here)
            .filter(|id| id.state() != CmState::Closed)
            .collect()
    }

    /// Has it heard that its device is gone? It has from now on.
    pub(super) fn is_removed(&self) -> bool {
        self.removed.swap(true, Ordering::AcqRel)
    }

    /// Is it this channel?
    pub(super) fn is(&self, channel: &EventChannel) -> bool {
        std::ptr::eq(self, &*channel.inner)
    }

    /// Takes the events of an identifier out.
    pub(super) fn take_events_of(&self, id: &CmId) -> Vec<CmEvent> {
        let taken = || self.events.remove(|event| event.id.is(id));
        std::iter::from_fn(taken).collect()
    }

    /// Calls its function with the events that are there, in order, one thread at a time; how many.
    pub(super) fn call(&self) -> usize {
        let Some(function) = &self.function else {
            return 0;
        };
        let mut called = 0;
        while self.events.len() > 0 && !self.calling.swap(true, Ordering::Acquire) {
            while let Some(event) = self.events.pop(Some) {
                function(event);
                called += 1;
            }
            self.calling.store(false, Ordering::Release);
        }
        called
    }

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
    #[doc(alias = "rdma_create_event_channel")]
    pub fn create_event_channel(&self) -> EventChannel {
        EventChannel {
            device: self.clone(),
            inner: Arc::default(),
        }
    }

    /// A channel whose events, all of them (as [`EventChannel::report_everything`]), go to a function as they come: DAT's way. It is called inside
    /// [`progress`](Self::progress), by one thread at a time, in order, without any lock: it may use the device and all that is on it. What
    /// it is called with, it owns. A function that panics is not called again.
    #[tracing::instrument(name = "create_callback_channel", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_callback_channel(
        &self,
        function: impl Fn(CmEvent) + Send + Sync + 'static,
    ) -> EventChannel {
        let inner = ChannelInner {
            function: Some(Box::new(function)),
            ..ChannelInner::default()
        };
        let channel = EventChannel {
            device: self.clone(),
            inner: Arc::new(inner),
        };
        channel.report_everything();
        channel
    }
}

impl EventChannel {
    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A new identifier (`rdma_create_id`).
    #[tracing::instrument(name = "create_id", level = "debug", skip_all, fields(device = self.device.name()))]
    #[doc(alias("rdma_create_id", "rdma_destroy_id"))]
    pub fn create_id(&self) -> CmId {
        CmId::new(&self.device, &self.inner)
    }

    /// From now on it also gets what librdmacm has and programs for iWARP do not expect, of identifiers made or let in from now on:
    /// TIMEWAIT_EXIT, ADDR_CHANGE and DEVICE_REMOVAL.
    pub fn report_everything(&self) {
        self.inner.everything.store(true, Ordering::Relaxed);
        DeviceState::of(&self.device).pending().add(&self.inner);
    }

    pub(super) fn push(&self, event: CmEvent) {
        self.inner.push(event);
    }

    /// For an identifier that has its events here from now on.
    pub(super) fn downgrade_and_know(&self, id: &CmId) -> Weak<ChannelInner> {
        self.inner.know(&id.inner);
        Arc::downgrade(&self.inner)
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
        let progress = self.device.progress();
        match (self.pop(), progress) {
            // What came before the end, or tells of it.
            (Some(event), _) => Ok(Some(event)),
            (None, Ok(_)) => Ok(None),
            (None, Err(error)) => Err(error.into()),
        }
    }

    /// The oldest event; sleeps until there is one or the time is over. Inside the callback of a listener of the device none comes:
    /// [`CmError::InCallback`].
    #[tracing::instrument(name = "get_cm_event", level = "debug", skip_all, fields(device = self.device.name()))]
    #[doc(alias = "rdma_get_cm_event")]
    pub fn get_event(&self, timeout: Option<Duration>) -> Result<Option<CmEvent>, CmError> {
        if self.device.calls_back() {
            return self.pop().map(Some).ok_or(CmError::InCallback);
        }
        let end = deadline(&self.device, timeout);
        match self.device.wait_for(end, || self.pop()) {
            Ok(event) => Ok(event),
            Err(error) => self.pop().map(Some).ok_or(error.into()),
        }
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

    /// The oldest event that is like this; those before it stay.
    pub(super) fn wait_for_any(
        &self,
        is: impl Fn(&CmEvent) -> bool,
        timeout: Option<Duration>,
    ) -> Result<Option<CmEvent>, CmError> {
        let take = || self.inner.events.remove(&is);
        if self.device.calls_back() {
            return take().map(Some).ok_or(CmError::InCallback);
        }
        let end = deadline(&self.device, timeout);
        match self.device.wait_for(end, take) {
            Ok(event) => Ok(event),
            Err(error) => take().map(Some).ok_or(error.into()),
        }
    }

    /// The event of this kind of an identifier.
    pub(super) fn wait_for_event(
        &self,
        wanted: CmEventType,
        id: &CmId,
        timeout: Option<Duration>,
    ) -> Result<Option<CmEvent>, CmError> {
        self.wait_for_any(|event| event.event == wanted && event.id.is(id), timeout)
    }

    /// Connects with a new identifier and queue pair, and waits until the connection stands. Other events of the channel stay there.
    /// (`rdma_create_ep` and `rdma_connect` of an identifier without a channel.)
    #[doc(alias = "rdma_create_ep")]
    pub fn connect(
        &self,
        remote: SocketAddrV4,
        pd: &Pd,
        init: &QpInit,
        param: &ConnParam,
        timeout: Option<Duration>,
    ) -> Result<Connection, CmError> {
        let id = self.create_id();
        let expect = |wanted| match self.wait_for_any(|event| event.id.is(&id), timeout)? {
            Some(event) if event.event == wanted => Ok(()),
            other => Err(CmError::Unexpected {
                wanted,
                came: other.map(|event| (event.event, event.status)),
            }),
        };
        id.resolve_addr(remote)?;
        expect(CmEventType::AddrResolved)?;
        id.resolve_route()?;
        expect(CmEventType::RouteResolved)?;
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
    ) -> Result<Connection, CmError> {
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
    ) -> Result<Connection, CmError> {
        let qp = id.create_qp(pd, init)?;
        id.connect(param)?;
        self.established(id, qp, timeout)
    }
}

impl fmt::Debug for EventChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventChannel")
            .field("device", &self.device.name())
            .finish()
    }
}
