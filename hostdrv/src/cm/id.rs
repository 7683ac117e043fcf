//! Identifiers: one end of a connection, or a listener.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use weft_engine::commands::{self, Refusal};
use weft_engine::{AcceptParams, ConnId, ConnectParams, Endpoint, EngineConfig, Route, RtrKinds};

use super::addr_info::AddrInfo;
use super::address::{is_near, is_unicast, Address, Gid, GidAddr, NativeError};
use super::backend;
use super::channel::ChannelInner;
use super::device_state::DeviceState;
use super::event::{errno, CmEvent, CmEventType};
use super::host_config::HostConfig;
use super::loopback::{is_inside, LoopbackHost};
use super::options::Options;
use super::param::ConnParam;
use super::policy::HostPolicy;
use super::{CmError, TransportKind};
use crate::device::Device;
use crate::error::DeviceError;
use crate::verbs::{Mr, Pd, Qp, QpInit};

/// States of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmState {
    /// New, perhaps bound to an address.
    Idle,
    /// The way to the peer's address is known.
    AddrResolved,
    /// `connect` is possible.
    RouteResolved,
    /// Taken over from the kernel: carries plain bytes.
    Streaming,
    /// Waits for the peer's answer.
    Connecting,
    /// A request that waits for accept or reject.
    Requested,
    /// Accepted; waits for the RTR or the peer's first message.
    Accepting,
    /// The connection stands.
    Established,
    /// `disconnect` was called.
    Disconnecting,
    /// Over, or never came about.
    Closed,
    /// Listens.
    Listening,
}

/// A request as the callback of [`CmId::listen_with`] sees it. (With a plain [`CmId::listen`] the same comes as
/// an event.)
pub type ConnectRequest = CmEvent;

/// A callback's answer to a request.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Accept; the callback has given the identifier a queue pair.
    Accept(ConnParam),
    /// Reject, with private data.
    Reject(Vec<u8>),
    /// Deliver it as an event: somebody else decides.
    Later,
}

pub(super) type Callback = dyn Fn(&ConnectRequest) -> Decision + Send + Sync;

/// An identifier (`rdma_cm_id`). Clones are the same one; when the last is dropped, what it stands
/// for ends: a listener stops, a request is rejected, a connection is aborted, but one that is [closing](Self::disconnect) goes on to its end.
#[derive(Clone)]
pub struct CmId {
    pub(super) inner: Arc<IdInner>,
}

pub(super) struct IdInner {
    pub(super) device: Device,
    channel: Mutex<Weak<ChannelInner>>,
    pub(super) data: Mutex<IdData>,
}

pub(super) struct IdData {
    pub(super) state: CmState,
    pub(super) conn: Option<ConnId>,
    pub(super) local_port: u16,
    pub(super) remote: Option<SocketAddrV4>,
    /// The GIDs of both sides, where somebody named them.
    pub(super) gid: Option<Gid>,
    pub(super) peer_gid: Option<Gid>,
    /// The way there, if somebody has found it before.
    pub(super) route: Option<Route>,
    /// By way of the loop.
    pub(super) inside: bool,
    pub(super) qp: Option<Qp>,
    /// What a stream has written and the peer has not acknowledged lies here.
    pub(super) ring: Option<Mr>,
    /// The request had peer-to-peer.
    pub(super) rtr_offered: bool,
    pub(super) callback: Option<Arc<Callback>>,
    /// A listener's: connections its callback accepted, kept until their next event takes them over.
    pub(super) accepted: BTreeMap<ConnId, CmId>,
    pub(super) listener: Weak<IdInner>,
    pub(super) options: Options,
    /// A listener's: requests that may wait, and those that came.
    pub(super) backlog: usize,
    pub(super) requests: Vec<Weak<IdInner>>,
    /// The next station on the way, if somebody wants to hear of another one.
    pub(super) next_hop: Option<[u8; 6]>,
}

impl Default for IdData {
    fn default() -> Self {
        Self {
            state: CmState::Idle,
            conn: None,
            local_port: 0,
            remote: None,
            gid: None,
            peer_gid: None,
            route: None,
            inside: false,
            qp: None,
            ring: None,
            rtr_offered: false,
            callback: None,
            accepted: BTreeMap::new(),
            listener: Weak::new(),
            options: Options::default(),
            backlog: 0,
            requests: Vec::new(),
            next_hop: None,
        }
    }
}

impl CmId {
    pub(super) fn new(device: &Device, channel: &Arc<ChannelInner>) -> Self {
        Self::with(device, Arc::downgrade(channel), IdData::default())
    }

    pub(super) fn with(device: &Device, channel: Weak<ChannelInner>, data: IdData) -> Self {
        let inner = Arc::new(IdInner {
            device: device.clone(),
            channel: Mutex::new(channel.clone()),
            data: Mutex::new(data),
        });
        if let Some(channel) = channel.upgrade() {
            channel.know(&inner);
        }
        Self { inner }
    }

    /// Where its events go; nothing is told while this is held.
    pub(super) fn lock_channel(&self) -> MutexGuard<'_, Weak<ChannelInner>> {
        self.inner
            .channel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn data(&self) -> MutexGuard<'_, IdData> {
        self.inner
            .data
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, event: CmEvent) {
        let to = self.lock_channel();
        match to.upgrade() {
            Some(channel) => {
                channel.push(event);
                drop(to);
                self.inner.device.announce();
            }
            None => {
                tracing::warn!(event = %event.event, "connection event lost: its channel is gone")
            }
        }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Its state.
    pub fn state(&self) -> CmState {
        self.data().state
    }

    /// Its queue pair, if it has one.
    pub fn qp(&self) -> Option<Qp> {
        self.data().qp.clone()
    }

    /// The peer's address.
    #[doc(alias = "rdma_get_peer_addr")]
    pub fn peer_addr(&self) -> Option<SocketAddrV4> {
        self.data().remote
    }

    /// Its own address; port 0: not chosen, or chosen by the engine for an outgoing connection.
    #[doc(alias("rdma_get_local_addr", "rdma_get_src_port"))]
    pub fn local_addr(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.device().ip(), self.data().local_port)
    }

    /// Its own address natively: the GID that it was bound to, else the first of the device's.
    pub fn native_addr(&self) -> GidAddr {
        let data = self.data();
        let gid = data.gid.unwrap_or(self.device().gids()[0]);
        GidAddr::new(gid, data.local_port)
    }

    /// The peer's address natively: the GID that was connected to, else the one of its IP address.
    pub fn peer_native_addr(&self) -> Option<GidAddr> {
        let data = self.data();
        let remote = data.remote?;
        let gid = data.peer_gid.unwrap_or(Gid::of_ip(*remote.ip()));
        Some(GidAddr::new(gid, remote.port()))
    }

    /// What carries its connection; of a listener, any.
    pub fn transport(&self) -> TransportKind {
        let data = self.data();
        let inside = data.conn.map_or(data.inside, ConnId::is_inside);
        match inside {
            true => TransportKind::Loop,
            false => TransportKind::Iwarp,
        }
    }

    /// Are the two the same identifier?
    pub fn is(&self, other: &CmId) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Chooses the local address: the device's or 0.0.0.0, and a port (0: any).
    #[tracing::instrument(name = "bind_addr", level = "debug", skip_all, fields(device = self.device().name(), %local))]
    #[doc(alias = "rdma_bind_addr")]
    pub fn bind_addr(&self, local: SocketAddrV4) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "bind_addr", &[CmState::Idle])?;
        let device = self.device().ip();
        if *local.ip() != device && !local.ip().is_unspecified() {
            return Err(CmError::NotLocal {
                given: *local.ip(),
                device,
            });
        }
        data.local_port = local.port();
        Ok(())
    }

    /// Chooses the local address natively: one of the device's GIDs ([`Device::gids`]) or `::`, the default partition, and a service ID that is a
    /// TCP port (0: any). A listener is then reached by GID and by IP: they are the same port.
    #[tracing::instrument(name = "bind_native", level = "debug", skip_all, fields(device = self.device().name(), %local))]
    pub fn bind_native(&self, local: GidAddr) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "bind_native", &[CmState::Idle])?;
        let port = local.check()?;
        let device = self.device().gids();
        if local.gid != Gid([0; 16]) {
            if !device.contains(&local.gid) {
                let given = local.gid;
                return Err(NativeError::NotLocal { given, device }.into());
            }
            data.gid = Some(local.gid);
        }
        data.local_port = port;
        Ok(())
    }

    /// [`resolve_addr`](Self::resolve_addr) of a native address with an IPv4 address in its GID. What other GIDs are mapped to, a record says:
    /// [`resolve_with`](Self::resolve_with).
    pub fn resolve_native(&self, remote: GidAddr) -> Result<(), CmError> {
        let port = remote.check()?;
        let ip = remote.gid.ip().ok_or(NativeError::Unmapped(remote.gid))?;
        self.resolve_addr(SocketAddrV4::new(ip, port))
    }

    /// Finds the way to the peer's address. ADDR_RESOLVED or ADDR_ERROR follows at once: the device has
    /// one address, and ARP is part of connecting.
    #[tracing::instrument(name = "resolve_addr", level = "debug", skip_all, fields(device = self.device().name(), %remote))]
    #[doc(alias = "rdma_resolve_addr")]
    pub fn resolve_addr(&self, remote: SocketAddrV4) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "resolve_addr", &[CmState::Idle])?;
        data.remote = Some(remote);
        data.inside = is_inside(self.device(), *remote.ip());
        let event = if reachable(self.device().config(), *remote.ip()) {
            data.state = CmState::AddrResolved;
            CmEvent::new(self.clone(), CmEventType::AddrResolved)
        } else {
            data.state = CmState::Closed;
            CmEvent::new(self.clone(), CmEventType::AddrError).with_status(errno::EHOSTUNREACH)
        };
        drop(data);
        self.tell(event);
        Ok(())
    }

    /// Takes an entry of [`Device::get_addr_info`] instead of resolving: `connect` is possible at once, without an event, and asks nobody for
    /// the way. An identifier that was bound to a port keeps it; else the entry's source port holds.
    ///
    /// If nobody answers the first SYN, the way is doubted: the neighbour is asked for, and the connection goes to who answers, which
    /// costs a second ([`Qp::query`] then has the next hop that it found). If nobody does: UNREACHABLE.
    ///
    /// # Errors
    /// [`CmError::Route`] if the record is of no use for this device, or leads elsewhere than the entry says.
    #[tracing::instrument(name = "resolve_with", level = "debug", skip_all, fields(device = self.device().name(), destination = %info.destination))]
    #[doc(alias = "rdma_create_ep")]
    pub fn resolve_with(&self, info: &AddrInfo) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "resolve_with", &[CmState::Idle])?;
        let host = LoopbackHost::of(self.device());
        let route = info.check(self.device().config(), host.as_ref())?;
        if data.local_port == 0 {
            data.local_port = info.source_port();
        }
        data.remote = Some(info.route.destination);
        if let Address::Gid(to) = info.destination {
            data.peer_gid = Some(to.gid);
        }
        data.inside = route.is_none();
        data.route = route;
        data.state = CmState::RouteResolved;
        Ok(())
    }

    /// iWARP has no routes to resolve: ROUTE_RESOLVED follows at once.
    #[tracing::instrument(name = "resolve_route", level = "debug", skip_all, fields(device = self.device().name()))]
    #[doc(alias = "rdma_resolve_route")]
    pub fn resolve_route(&self) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "resolve_route", &[CmState::AddrResolved])?;
        data.state = CmState::RouteResolved;
        drop(data);
        self.tell(CmEvent::new(self.clone(), CmEventType::RouteResolved));
        Ok(())
    }

    /// Gives the identifier a new queue pair (`rdma_create_qp`).
    #[tracing::instrument(name = "cm_create_qp", level = "debug", skip_all, fields(device = self.device().name()))]
    #[doc(alias("rdma_create_qp", "rdma_destroy_qp"))]
    pub fn create_qp(&self, pd: &Pd, init: &QpInit) -> Result<Qp, CmError> {
        if !pd.device().is(self.device()) {
            return Err(CmError::WrongDevice {
                what: "protection domain",
            });
        }
        let mut data = self.data();
        if let Some(qp) = &data.qp {
            return Err(CmError::HasQp(qp.qp_num()));
        }
        let qp = pd.create_qp(init)?;
        data.qp = Some(qp.clone());
        Ok(qp)
    }

    /// Gives the identifier a queue pair that is there already.
    pub(super) fn adopt_qp(&self, qp: &Qp) -> Result<(), CmError> {
        let mut data = self.data();
        match &data.qp {
            Some(qp) => Err(CmError::HasQp(qp.qp_num())),
            None => {
                data.qp = Some(qp.clone());
                Ok(())
            }
        }
    }

    /// From this port to that address, without events: then `connect` is possible.
    pub(super) fn prepare(&self, local_port: u16, remote: SocketAddrV4) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "prepare", &[CmState::Idle])?;
        if !reachable(self.device().config(), *remote.ip()) {
            return Err(weft_engine::Error::InvalidAddress.into());
        }
        (data.local_port, data.remote) = (local_port, Some(remote));
        data.inside = is_inside(self.device(), *remote.ip());
        data.state = CmState::RouteResolved;
        Ok(())
    }

    /// Connects (`rdma_connect`). ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR follows.
    #[tracing::instrument(name = "connect", level = "debug", skip_all, fields(device = self.device().name(), qp_num = tracing::field::Empty))]
    #[doc(alias = "rdma_connect")]
    pub fn connect(&self, param: &ConnParam) -> Result<(), CmError> {
        const OPERATION: &str = "connect";
        let mut data = self.data();
        expect(&data, OPERATION, &[CmState::RouteResolved])?;
        let qp = data.qp.clone().ok_or(CmError::NoQp {
            operation: OPERATION,
        })?;
        let remote = data.remote.ok_or(CmError::WrongState {
            operation: OPERATION,
            state: data.state,
        })?;
        let params = ConnectParams {
            remote: Endpoint {
                ip: remote.ip().octets(),
                port: remote.port(),
            },
            local_port: (data.local_port != 0).then_some(data.local_port),
            fall_back: param.fall_back,
            route: data.route,
            tos: data.options.type_of_service,
            ..param.start_up()?
        };
        let device = self.device();
        device.check_fault()?;
        if data.options.reuse_address && data.local_port != 0 {
            self.reuse(data.local_port, remote);
        }
        // A connection of the loop has its name before anybody is asked.
        let loopback = match data.inside {
            true => {
                let host = backend::host(device)?;
                let conn = host.exchange.prepare(device, qp.id(), &params)?;
                Some((host, conn))
            }
            false => None,
        };
        let mut state = device.lock();
        let conn = match &loopback {
            Some((_, conn)) => *conn,
            None => {
                state.check_fault()?;
                let connect = commands::connect(qp.id(), &params);
                let answer = device.command_in(&mut state, &connect, params.private_data)?;
                let conn = ConnId::from_number(answer.conn);
                conn.ok_or_else(|| DeviceError::Command(Refusal::NoAnswer.to_string()))?
            }
        };
        state.event_routing.add_connection(conn, self.owner());
        state.bind(qp.id());
        data.conn = Some(conn);
        data.state = CmState::Connecting;
        tracing::Span::current().record("qp_num", qp.qp_num());
        tracing::info!(%remote, peer_to_peer = params.peer_to_peer, ?conn, "connecting");
        let turn = state.finish_turn();
        drop(state);
        if let Some((host, conn)) = loopback {
            host.exchange.ask(device, conn, &params);
        }
        Ok(turn?)
    }

    /// Listens on the bound port, or on one that is chosen ([`local_addr`](Self::local_addr) tells). Each
    /// connection wanted comes as a CONNECT_REQUEST; `backlog` of them may wait for their answer, 0: any number, as with `rdma_listen`.
    #[doc(alias = "rdma_listen")]
    pub fn listen(&self, backlog: usize) -> Result<(), CmError> {
        self.start_listening(backlog, None)
    }

    /// Listens, and asks `callback` about each request. It runs inside [`Device::progress`], without any lock:
    /// it may use the device, create the queue pair of the request's identifier and post receives.
    pub fn listen_with(
        &self,
        backlog: usize,
        callback: impl Fn(&ConnectRequest) -> Decision + Send + Sync + 'static,
    ) -> Result<(), CmError> {
        self.start_listening(backlog, Some(Arc::new(callback)))
    }

    #[tracing::instrument(name = "listen", level = "debug", skip_all, fields(device = self.device().name(), backlog = backlog))]
    fn start_listening(
        &self,
        backlog: usize,
        callback: Option<Arc<Callback>>,
    ) -> Result<(), CmError> {
        let mut data = self.data();
        expect(&data, "listen", &[CmState::Idle])?;
        let wanted = data.local_port;
        let device = self.device();
        device.take_host_policy()?;
        let insists = HostConfig::of_host()?.listeners;
        let mut state = device.lock();
        state.check_fault()?;
        let listen = commands::listen(wanted, data.options.backlog(backlog));
        let port = device.command_in(&mut state, &listen, &[])?.port;
        state.event_routing.add_listener(port, self.owner());
        data.local_port = port;
        data.state = CmState::Listening;
        data.callback = callback;
        data.backlog = backlog;
        if data.options.peer_to_peer.is_none() {
            data.options.peer_to_peer = insists.get(&port).copied();
        }
        drop((state, data));
        tracing::info!(device = device.name(), port, backlog, "listening");
        device.tell_resolver(None);
        Ok(())
    }

    /// Accepts a request (`rdma_accept`). ESTABLISHED follows when the RTR or the peer's first message has
    /// arrived, else CONNECT_ERROR.
    #[tracing::instrument(name = "accept", level = "debug", skip_all, fields(device = self.device().name(), qp_num = tracing::field::Empty))]
    #[doc(alias = "rdma_accept")]
    pub fn accept(&self, param: &ConnParam) -> Result<(), CmError> {
        const OPERATION: &str = "accept";
        let mut data = self.data();
        expect(&data, OPERATION, &[CmState::Requested])?;
        let qp = data.qp.clone().ok_or(CmError::NoQp {
            operation: OPERATION,
        })?;
        let conn = connection(&data, OPERATION)?;
        if param.peer_to_peer == Some(true) && !data.rtr_offered {
            return Err(CmError::PeerToPeerNotOffered);
        }
        let params = AcceptParams {
            private_data: &param.private_data,
            ird: param.responder_resources,
            ord: param.initiator_depth,
            rtr: param.rtr_or(RtrKinds::ALL)?,
            crc: param.crc,
            markers: param.markers,
            aligned: param.aligned,
            tos: data.options.type_of_service,
        };
        let device = self.device();
        let mut state = device.lock();
        state.check_fault()?;
        if let Some(host) = backend::host_of(device, conn) {
            drop(state);
            host.exchange.accept(device, conn, qp.id(), &params)?;
            state = device.lock();
            state.bind(qp.id());
        } else {
            let accept = commands::accept(conn, qp.id(), &params);
            device.command_in(&mut state, &accept, params.private_data)?;
            state.bind(qp.id());
        }
        data.state = CmState::Accepting;
        tracing::Span::current().record("qp_num", qp.qp_num());
        tracing::info!(remote = ?data.remote, ?conn, "accepted");
        Ok(state.finish_turn()?)
    }

    /// Rejects a request (`rdma_reject`).
    #[tracing::instrument(name = "reject", level = "debug", skip_all, fields(device = self.device().name()))]
    #[doc(alias = "rdma_reject")]
    pub fn reject(&self, private_data: &[u8]) -> Result<(), CmError> {
        const OPERATION: &str = "reject";
        let mut data = self.data();
        expect(&data, OPERATION, &[CmState::Requested])?;
        let conn = connection(&data, OPERATION)?;
        backend::reject(self.device(), conn, private_data)?;
        data.state = CmState::Closed;
        data.conn = None;
        Ok(())
    }

    /// Closes the connection in order (`rdma_disconnect`): what is posted is done first. DISCONNECTED
    /// follows on both sides.
    #[tracing::instrument(name = "disconnect", level = "debug", skip_all, fields(device = self.device().name()))]
    #[doc(alias = "rdma_disconnect")]
    pub fn disconnect(&self) -> Result<(), CmError> {
        const OPERATION: &str = "disconnect";
        let mut data = self.data();
        expect(
            &data,
            OPERATION,
            &[
                CmState::Streaming,
                CmState::Connecting,
                CmState::Accepting,
                CmState::Established,
            ],
        )?;
        let conn = connection(&data, OPERATION)?;
        if matches!(data.state, CmState::Established | CmState::Streaming) {
            backend::disconnect(self.device(), conn)?;
            data.state = CmState::Disconnecting;
        } else {
            backend::give_up(self.device(), conn)?;
            // The engine aborts it, without an event.
            data.state = CmState::Closed;
            data.conn = None;
        }
        Ok(())
    }
}

pub(super) fn expect(
    data: &IdData,
    operation: &'static str,
    states: &[CmState],
) -> Result<(), CmError> {
    if states.contains(&data.state) {
        return Ok(());
    }
    Err(CmError::WrongState {
        operation,
        state: data.state,
    })
}

pub(super) fn connection(data: &IdData, operation: &'static str) -> Result<ConnId, CmError> {
    data.conn.ok_or(CmError::WrongState {
        operation,
        state: data.state,
    })
}

impl fmt::Debug for CmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut form = f.debug_struct("CmId");
        // An event is logged while its identifier is in use.
        if let Ok(data) = self.inner.data.try_lock() {
            form.field("state", &data.state)
                .field("conn", &data.conn)
                .field("remote", &data.remote);
        }
        form.finish_non_exhaustive()
    }
}

impl Drop for IdInner {
    fn drop(&mut self) {
        let data = self.data.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (state, conn, port) = (data.state, data.conn, data.local_port);
        let _span = tracing::debug_span!("destroy_id", device = self.device.name()).entered();
        let device = &self.device;
        let ended = match (state, conn) {
            (CmState::Listening, _) => {
                let ended = device.command(&commands::unlisten(port), &[]);
                Some(ended.map(|_| ()).map_err(CmError::from))
            }
            (CmState::Requested, Some(conn)) => Some(backend::reject(device, conn, &[])),
            // It goes on to its orderly end by itself.
            (CmState::Disconnecting, Some(conn)) if !conn.is_inside() => None,
            (CmState::Closed, _) | (_, None) => None,
            (_, Some(conn)) => {
                if let Some(qp) = &data.qp {
                    qp.abandon();
                }
                Some(backend::abort(device, conn))
            }
        };
        if let Some(conn) = conn {
            self.device.lock().event_routing.remove_connection(conn);
        }
        tracing::debug!(?state, ?conn, ?ended, "identifier destroyed");
    }
}

impl Device {
    /// Who may connect to this device's listeners; `None`: everybody, whatever the host's file says. Unless this says otherwise before the first
    /// `listen`, it is [`HostPolicy::of_host`].
    pub fn set_host_policy(&self, policy: Option<HostPolicy>) {
        *DeviceState::of(self).policy() = Some(policy);
    }

    /// The host's policy, if nobody has set one.
    pub(super) fn take_host_policy(&self) -> Result<(), CmError> {
        if DeviceState::of(self).policy().is_none() {
            let policy = HostPolicy::of_host()?;
            DeviceState::of(self).policy().get_or_insert(policy);
        }
        Ok(())
    }

    /// Its names in native addresses: of its MAC address, as Linux gives it to iWARP ports, and of its IP address.
    #[doc(alias = "ibv_query_gid")]
    pub fn gids(&self) -> [Gid; 2] {
        [Gid::of_mac(self.config().mac), Gid::of_ip(self.ip())]
    }
}

/// Can a device with these settings reach an address?
pub(super) fn reachable(config: &EngineConfig, remote: Ipv4Addr) -> bool {
    let mask = u32::from_be_bytes(config.netmask);
    let to = u32::from(remote);
    let local = is_near(config.ip.into(), config.netmask.into(), remote);
    let host = to & !mask;
    let is_host = !local || mask >= u32::MAX - 1 || (host != 0 && host != !mask);
    is_unicast(remote) && is_host && (local || config.gateway.is_some())
}
