//! From the event ring's events to the identifiers'.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::{Arc, Weak};

use weft_engine::{ConnId, Endpoint, Event};

use super::carrier;
use super::event::{of_failure, of_reason, of_rejection, CmEvent, CmEventType};
use super::id::{CmId, CmState, Decision, IdData, IdInner};
use super::looped::LoopHost;
use super::policy::{Asker, HostPolicy, Judgement, REJECTED_BUSY};
use super::settle::Unsettled;
use super::TransportKind;
use crate::device::Device;
use crate::error::DeviceError;

/// Whose connections and listeners the engine's are. It keeps nobody alive.
#[derive(Default)]
pub(crate) struct CmRegistry {
    listeners: BTreeMap<u16, Weak<IdInner>>,
    connections: BTreeMap<ConnId, Weak<IdInner>>,
    /// The loop that the device is a member of.
    pub(super) host: Option<LoopHost>,
    /// Who may connect; `None`: not asked for yet.
    pub(super) policy: Option<Option<HostPolicy>>,
    pub(super) unsettled: Unsettled,
}

impl CmRegistry {
    pub(super) fn add_listener(&mut self, port: u16, id: &Arc<IdInner>) {
        self.listeners.insert(port, Arc::downgrade(id));
    }

    /// Has [`settle`](super::settle) anything to look at?
    pub(crate) fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// Does somebody listen on this port?
    pub(super) fn listens(&self, port: u16) -> bool {
        let listener = self.listeners.get(&port);
        listener.is_some_and(|listener| listener.strong_count() > 0)
    }

    /// Is it an identifier's connection?
    pub(crate) fn knows(&self, conn: ConnId) -> bool {
        self.connections.contains_key(&conn)
    }

    pub(super) fn remove_connection(&mut self, conn: ConnId) {
        self.connections.remove(&conn);
    }

    pub(super) fn add_connection(&mut self, conn: ConnId, id: &Arc<IdInner>) {
        self.connections.insert(conn, Arc::downgrade(id));
    }
}

/// Private data of a request without peer-to-peer that a listener with it rejected.
pub const REJECTED_NO_PEER_TO_PEER: &[u8] = b"weft: peer-to-peer is required";
/// Private data of a request with peer-to-peer that a listener without it rejected.
pub const REJECTED_PEER_TO_PEER: &[u8] = b"weft: the client has to send first";

/// Hands one event on. Called without any lock.
pub(crate) fn dispatch(device: &Device, event: Event) -> Result<(), DeviceError> {
    match event {
        Event::ConnectRequest {
            conn,
            port,
            remote,
            private_data,
            ird,
            ord,
            rtr,
            revision,
        } => {
            // Of a stream that was taken over: its identifier is asked.
            if let Some(id) = find(device, conn, false) {
                {
                    let mut data = id.data();
                    data.state = CmState::Requested;
                    data.rtr_offered = rtr.is_some();
                }
                let mut request = CmEvent::new(id.clone(), CmEventType::ConnectRequest);
                request.private_data = private_data.to_vec();
                request.responder_resources = ord;
                request.initiator_depth = ird;
                request.rtr = rtr;
                request.mpa_revision = Some(revision).filter(|revision| *revision != 0);
                id.tell(request);
                return Ok(());
            }
            let listener = {
                let state = device.lock();
                state.cm.listeners.get(&port).and_then(Weak::upgrade)
            };
            let Some(listener) = listener.map(|inner| CmId { inner }) else {
                tracing::debug!(port, "request for a listener that is gone");
                refuse(device, conn, &[]);
                return Ok(());
            };
            let channel = listener.lock_channel().upgrade();
            if channel.is_some_and(|channel| channel.is_full()) {
                tracing::warn!(port, "request rejected: nobody takes the channel's events");
                refuse(device, conn, &[]);
                return Ok(());
            }
            let asker = Asker {
                from: remote.ip.into(),
                port,
                transport: match conn.is_inside() {
                    true => TransportKind::Loop,
                    false => TransportKind::Iwarp,
                },
                private_data: &private_data,
            };
            if let Some(reason) = turned_away(device, &listener, &asker, rtr.is_some()) {
                tracing::info!(port, from = %asker.from, reason = %String::from_utf8_lossy(&reason), "request rejected");
                refuse(device, conn, &reason);
                return Ok(());
            }
            let data = IdData {
                state: CmState::Requested,
                conn: Some(conn),
                local_port: port,
                remote: Some(address(remote)),
                rtr_offered: rtr.is_some(),
                listener: Arc::downgrade(&listener.inner),
                ..IdData::default()
            };
            let channel = listener.lock_channel().clone();
            let id = CmId::with(device, channel, data);
            listener.data().requests.push(Arc::downgrade(&id.inner));
            device.lock().cm.add_connection(conn, &id.inner);
            let mut request = CmEvent::new(id, CmEventType::ConnectRequest);
            request.listen_id = Some(listener.clone());
            request.private_data = private_data.to_vec();
            request.responder_resources = ord;
            request.initiator_depth = ird;
            request.rtr = rtr;
            request.mpa_revision = Some(revision).filter(|revision| *revision != 0);
            decide(&listener, request);
        }
        Event::Established {
            conn,
            qp,
            private_data,
            agreed,
        } => {
            if agreed.ord == 0 {
                device.lock().refuse_reads(qp);
            }
            if let Some(id) = find(device, conn, false) {
                let ring;
                {
                    let mut data = id.data();
                    if data.state == CmState::Accepting {
                        device.lock().qp_established(qp);
                    }
                    // Another thread may have called `disconnect` meanwhile.
                    if matches!(data.state, CmState::Connecting | CmState::Accepting) {
                        data.state = CmState::Established;
                    }
                    ring = data.ring.take();
                }
                // Of a stream that has become this connection; nobody writes to it any more.
                drop(ring);
                let mut event = CmEvent::new(id.clone(), CmEventType::Established);
                event.private_data = private_data.to_vec();
                event.responder_resources = Some(agreed.ird);
                event.initiator_depth = Some(agreed.ord);
                event.agreed = Some(agreed);
                remember_next_hop(&id);
                id.tell(event);
            }
        }
        Event::Rejected {
            conn,
            private_data,
            ird,
            ord,
        } => {
            if let Some(id) = find(device, conn, true) {
                let mut event = CmEvent::new(id.clone(), CmEventType::Rejected)
                    .with_status(of_rejection(&private_data));
                event.private_data = private_data.to_vec();
                event.responder_resources = ord;
                event.initiator_depth = ird;
                id.tell(event);
            }
        }
        Event::ConnectError { conn, reason } => {
            if let Some(id) = find(device, conn, true) {
                let channel = id.lock_channel().upgrade();
                if channel.is_some_and(|channel| channel.forget_request(&id)) {
                    return Ok(());
                }
                let (kind, errno) = of_failure(reason);
                let mut event = CmEvent::new(id.clone(), kind).with_status(errno);
                event.failure = Some(reason);
                id.tell(event);
            }
        }
        Event::StreamEstablished { conn, .. } => {
            if let Some(id) = find(device, conn, false) {
                id.data().state = CmState::Streaming;
                id.tell(CmEvent::new(id.clone(), CmEventType::StreamEstablished));
            }
        }
        Event::Disconnected { conn, reason, .. } | Event::StreamClosed { conn, reason, .. } => {
            if let Some(id) = find(device, conn, true) {
                let mut event = CmEvent::new(id.clone(), CmEventType::Disconnected)
                    .with_status(of_reason(reason));
                event.reason = Some(reason);
                id.tell(event);
                wait_for_exit(device, conn, &id);
            }
        }
        other => tracing::debug!(event = ?other, "event for nobody"),
    }
    Ok(())
}

/// Why the listener is not asked: the host's policy, its own settings, too many that wait.
fn turned_away(
    device: &Device,
    listener: &CmId,
    asker: &Asker<'_>,
    peer_to_peer: bool,
) -> Option<Vec<u8>> {
    let policy = device.lock().cm.policy.clone().flatten();
    if let Some(policy) = policy {
        if let Judgement::Rejected(reason) = policy.judge(device.now(), asker) {
            return Some(reason);
        }
    }
    let (options, backlog, requests) = {
        let mut data = listener.data();
        data.requests.retain(|request| request.strong_count() > 0);
        (data.options, data.backlog, data.requests.clone())
    };
    match (options.peer_to_peer, peer_to_peer) {
        (Some(true), false) => return Some(REJECTED_NO_PEER_TO_PEER.to_vec()),
        (Some(false), true) => return Some(REJECTED_PEER_TO_PEER.to_vec()),
        _ => {}
    }
    if !options.answer_busy && !asker_is_inside(asker) {
        // The engine leaves those beyond it without an answer.
        return None;
    }
    let requests = requests.iter().filter_map(Weak::upgrade);
    let waits = |inner: &Arc<IdInner>| {
        let id = CmId {
            inner: inner.clone(),
        };
        id.state() == CmState::Requested
    };
    let waiting = requests.filter(waits).count();
    (waiting >= backlog).then(|| REJECTED_BUSY.to_vec())
}

fn asker_is_inside(asker: &Asker<'_>) -> bool {
    asker.transport == TransportKind::Loop
}

/// A connection is over: its identifier may want to hear when its addresses are free.
fn wait_for_exit(device: &Device, conn: ConnId, id: &CmId) {
    let channel = id.lock_channel().upgrade();
    if channel.is_some_and(|channel| channel.wants_everything()) {
        let waiting = (conn, Arc::downgrade(&id.inner));
        device.lock().cm.unsettled.waiting.push(waiting);
    }
}

/// A connection stands: its identifier may want to hear when the way there changes.
fn remember_next_hop(id: &CmId) {
    let channel = id.lock_channel().upgrade();
    if channel.is_none_or(|channel| !channel.wants_everything()) {
        return;
    }
    let attributes = id.qp().and_then(|qp| qp.query().ok());
    if let Some(connection) = attributes.and_then(|attributes| attributes.connection) {
        id.data().next_hop = Some(connection.next_hop);
    }
}

/// Rejects a request that nobody is to hear of.
fn refuse(device: &Device, conn: ConnId, reason: &[u8]) {
    if let Err(error) = carrier::reject(device, conn, reason) {
        tracing::debug!(?conn, %error, "it went by itself");
    }
}

/// Lets the listener's callback answer a request, or delivers it.
fn decide(listener: &CmId, request: CmEvent) {
    let callback = listener.data().callback.clone();
    let decision = callback.map_or(Decision::Later, |callback| callback(&request));
    let id = request.id.clone();
    let answer = match &decision {
        Decision::Later => {
            listener.tell(request);
            return;
        }
        Decision::Accept(param) => {
            // Before accepting: what follows it may come at once.
            let conn = id.data().conn;
            if let Some(conn) = conn {
                listener.data().accepted.insert(conn, id.clone());
            }
            id.accept(param).inspect_err(|_| {
                if let Some(conn) = conn {
                    listener.data().accepted.remove(&conn);
                }
            })
        }
        Decision::Reject(private_data) => id.reject(private_data),
    };
    if let Err(error) = answer {
        // The identifier goes now, and what is still a request with it is rejected.
        tracing::warn!(?id, ?decision, %error, "a callback's decision could not be carried out");
    }
}

/// The identifier of a connection; `last`: the connection is over.
fn find(device: &Device, conn: ConnId, last: bool) -> Option<CmId> {
    let id = {
        let mut state = device.lock();
        let id = state.cm.connections.get(&conn).and_then(Weak::upgrade);
        if last || id.is_none() {
            state.cm.connections.remove(&conn);
        }
        id
    };
    let id = CmId { inner: id? };
    let listener = {
        let mut data = id.data();
        if last {
            data.state = CmState::Closed;
            data.conn = None;
        }
        std::mem::take(&mut data.listener).upgrade()
    };
    if let Some(inner) = listener {
        // The event takes over from the listener; dropped after the lock.
        let kept = CmId { inner }.data().accepted.remove(&conn);
        drop(kept);
    }
    Some(id)
}

pub(super) fn address(endpoint: Endpoint) -> SocketAddrV4 {
    SocketAddrV4::new(endpoint.ip.into(), endpoint.port)
}
