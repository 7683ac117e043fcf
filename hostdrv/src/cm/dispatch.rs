//! From the event ring's events to the identifiers'.

use std::net::SocketAddrV4;
use std::sync::{Arc, Weak};

use weft_engine::{ConnId, Endpoint, Event};

use super::backend;
use super::device_state::DeviceState;
use super::event::{of_failure, of_reason, of_rejection, CmEvent, CmEventType};
use super::id::{CmId, CmState, Decision, IdData, IdInner};
use super::packet_filter::lets_in;
use super::policy::{Asker, Judgement, PolicyDirection, REJECTED_BUSY, REJECTED_BY_POLICY};
use super::start_up::{Agreed, ConnectFailure};
use super::TransportKind;
use crate::device::{Device, EventOwner};
use crate::error::DeviceError;

/// Private data of a request without peer-to-peer that a listener with it rejected.
pub const REJECTED_NO_PEER_TO_PEER: &[u8] = b"weft: peer-to-peer is required";
/// Private data of a request with peer-to-peer that a listener without it rejected.
pub const REJECTED_PEER_TO_PEER: &[u8] = b"weft: the client has to send first";

impl CmId {
    /// As the device knows it.
    pub(super) fn owner(&self) -> Weak<dyn EventOwner> {
        Arc::<IdInner>::downgrade(&self.inner)
    }

    /// Before the first event of a connection, or the `last`: what it takes over.
    fn begin(&self, conn: ConnId, last: bool) {
        let listener = {
            let mut data = self.data();
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
    }
}

impl EventOwner for IdInner {
    fn event(self: Arc<Self>, conn: ConnId, event: Event, last: bool) {
        let id = CmId { inner: self };
        let asked = matches!(id.state(), CmState::Requested | CmState::Accepting);
        id.begin(conn, last);
        let told = match event {
            // Of a stream that was taken over: its identifier is asked.
            event @ Event::ConnectRequest { .. } => {
                {
                    let mut data = id.data();
                    data.state = CmState::Requested;
                    data.rtr_offered = offers_rtr(&event);
                }
                request_of(id.clone(), event)
            }
            Event::Established {
                qp,
                private_data,
                agreed,
                ird,
                ord,
                ..
            } => {
                let ring;
                {
                    let mut data = id.data();
                    if data.state == CmState::Accepting {
                        id.inner.device.lock().qp_established(qp);
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
                event.agreed = Some(Agreed::of_engine(agreed));
                (event.peer_ird, event.peer_ord) = (ird, ord);
                remember_next_hop(&id);
                event
            }
            Event::Rejected {
                private_data,
                ird,
                ord,
                ..
            } => {
                let mut event = CmEvent::new(id.clone(), CmEventType::Rejected)
                    .with_status(of_rejection(&private_data));
                event.private_data = private_data.to_vec();
                event.responder_resources = ord;
                event.initiator_depth = ird;
                event
            }
            Event::ConnectError { reason, .. } => {
                let channel = id.lock_channel().upgrade();
                if channel.is_some_and(|channel| channel.forget_request(&id)) {
                    return;
                }
                let reason = ConnectFailure::of_engine(reason);
                let (kind, errno) = match of_failure(reason) {
                    // Who was asked is neither rejected nor without an answer.
                    (_, errno) if asked => (CmEventType::ConnectError, errno),
                    as_asker => as_asker,
                };
                let mut event = CmEvent::new(id.clone(), kind).with_status(errno);
                event.failure = Some(reason);
                event
            }
            Event::StreamEstablished { .. } => {
                id.data().state = CmState::Streaming;
                CmEvent::new(id.clone(), CmEventType::StreamEstablished)
            }
            Event::Disconnected { reason, .. } | Event::StreamClosed { reason, .. } => {
                let mut event = CmEvent::new(id.clone(), CmEventType::Disconnected)
                    .with_status(of_reason(reason));
                event.reason = Some(reason);
                id.tell(event);
                return wait_for_exit(conn, &id);
            }
            other => {
                tracing::debug!(event = ?other, "event for nobody");
                return;
            }
        };
        id.tell(told);
    }

    fn request(self: Arc<Self>, conn: ConnId, event: Event) -> Result<(), DeviceError> {
        let Event::ConnectRequest {
            port,
            remote,
            ref private_data,
            ..
        } = event
        else {
            return Ok(());
        };
        let listener = CmId { inner: self };
        let device = &listener.inner.device;
        let channel = listener.lock_channel().upgrade();
        if channel.is_some_and(|channel| channel.is_full()) {
            tracing::warn!(port, "request rejected: nobody takes the channel's events");
            refuse(device, conn, &[]);
            return Ok(());
        }
        let asker = Asker {
            direction: PolicyDirection::In,
            user: None,
            from: remote.ip.into(),
            port,
            transport: match conn.is_inside() {
                true => TransportKind::Loop,
                false => TransportKind::Iwarp,
            },
            private_data,
        };
        let let_in = asker_is_inside(&asker) || lets_in(device, address(remote), port);
        let reason = match let_in {
            true => turned_away(device, &listener, &asker, offers_rtr(&event)),
            false => Some(REJECTED_BY_POLICY.to_vec()),
        };
        if let Some(reason) = reason {
            tracing::info!(port, from = %asker.from, reason = %String::from_utf8_lossy(&reason), "request rejected");
            refuse(device, conn, &reason);
            return Ok(());
        }
        let data = IdData {
            state: CmState::Requested,
            conn: Some(conn),
            local_port: port,
            remote: Some(address(remote)),
            rtr_offered: offers_rtr(&event),
            listener: Arc::downgrade(&listener.inner),
            options: listener.data().options.of_connection(),
            ..IdData::default()
        };
        let channel = listener.lock_channel().clone();
        let id = CmId::with(device, channel, data);
        listener.data().requests.push(Arc::downgrade(&id.inner));
        device.lock().event_routing.add_connection(conn, id.owner());
        let mut request = request_of(id, event);
        request.listen_id = Some(listener.clone());
        decide(&listener, request);
        Ok(())
    }
}

/// Does who asks offer an RTR?
fn offers_rtr(event: &Event) -> bool {
    matches!(event, Event::ConnectRequest { rtr: Some(_), .. })
}

/// What an identifier is told of an [`Event::ConnectRequest`].
fn request_of(id: CmId, event: Event) -> CmEvent {
    let mut request = CmEvent::new(id, CmEventType::ConnectRequest);
    if let Event::ConnectRequest {
        private_data,
        ird,
        ord,
        rtr,
        revision,
        xrc,
        ..
    } = event
    {
        request.xrc = xrc;
        request.private_data = private_data.to_vec();
        request.responder_resources = ord;
        request.initiator_depth = ird;
        request.rtr = rtr;
        request.mpa_revision = Some(revision).filter(|revision| *revision != 0);
    }
    request
}

/// Why the listener is not asked: the host's policy, its own settings, too many that wait.
fn turned_away(
    device: &Device,
    listener: &CmId,
    asker: &Asker<'_>,
    peer_to_peer: bool,
) -> Option<Vec<u8>> {
    let policy = DeviceState::of(device).policy().clone().flatten();
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
        // The engine has those beyond it wait in a line.
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
    (backlog > 0 && waiting >= backlog).then(|| REJECTED_BUSY.to_vec())
}

fn asker_is_inside(asker: &Asker<'_>) -> bool {
    asker.transport == TransportKind::Loop
}

/// A connection is over: its identifier may want to hear when its addresses are free.
fn wait_for_exit(conn: ConnId, id: &CmId) {
    let channel = id.lock_channel().upgrade();
    if channel.is_some_and(|channel| channel.wants_everything()) {
        let waiting = (conn, Arc::downgrade(&id.inner));
        DeviceState::of(id.device()).pending().wait(waiting);
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
pub(super) fn refuse(device: &Device, conn: ConnId, reason: &[u8]) {
    if let Err(error) = backend::reject(device, conn, reason) {
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

pub(super) fn address(endpoint: Endpoint) -> SocketAddrV4 {
    SocketAddrV4::new(endpoint.ip.into(), endpoint.port)
}
