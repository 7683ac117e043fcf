//! How a connection of the loop comes about, and how it ends: what the engine does by MPA and TCP.

use weft_engine::{
    AcceptParams, Agreed, ConnId, ConnectFailure, ConnectParams, DisconnectReason, Endpoint, Error,
    Event, PrivateData, QpId, RtrKinds,
};

use super::{lock, End, Exchange, Phase};
use crate::cm::CmError;
use crate::device::{Both, Device, State};

/// As an MPA frame of revision 2 has room for, so that a program finds the same limits.
const MAX_PRIVATE_DATA: usize = 508;
const FIRST_PORT: u16 = 49152;
/// Requests that wait for a member at most, whatever its listeners' backlogs: it may not look at them.
const MOST_ASKED: usize = 1024;

fn check_private_data(bytes: &[u8]) -> Result<(), Error> {
    match bytes.len() {
        0..=MAX_PRIVATE_DATA => Ok(()),
        given => Err(Error::PrivateDataTooLong {
            given,
            limit: MAX_PRIVATE_DATA,
        }),
    }
}

/// Puts an event into a device's ring.
fn tell(state: &mut State, event: Event) {
    if let Some((engine, _)) = state.place.here() {
        engine.tell(event);
    }
    state.finish_foreign_turn();
}

/// A connection stands at this end, which hears of it and may send. `theirs`: the IRD and ORD that the other end has asked for.
fn establish(
    state: &mut State,
    (conn, qp, (ird, ord)): (ConnId, QpId, (u16, u16)),
    theirs: (u16, u16),
    private_data: &[u8],
) -> Result<(), Error> {
    let (engine, _) = state.place.here().ok_or(Error::UnknownQp)?;
    engine.connect_loopback(qp, conn, ord)?;
    engine.tell(Event::Established {
        conn,
        qp,
        private_data: PrivateData::new(private_data),
        // As revision 2 has it, both have said their IRD and ORD.
        agreed: Agreed {
            revision: 2,
            ird,
            ord,
            ..Agreed::default()
        },
        ird: Some(theirs.0),
        ord: Some(theirs.1),
    });
    state.finish_foreign_turn();
    Ok(())
}

impl Exchange {
    /// The name of a new connection; nobody has heard of it yet.
    pub(in crate::cm) fn prepare(
        &self,
        from: &Device,
        qp: QpId,
        params: &ConnectParams<'_>,
    ) -> Result<ConnId, CmError> {
        check_private_data(params.private_data)?;
        let mut state = from.lock();
        let (engine, _) = state.engine_for("loop inside the host")?;
        let xrc = engine.check_loopback_caller(qp)?;
        drop(state);
        let Some((member, _)) = self.at(from.ip()) else {
            return Err(CmError::NotJoined);
        };
        let mut table = lock(&self.table);
        // Two names, one for each end.
        let made = table.made;
        table.made = made.wrapping_add(2);
        let conn = ConnId::inside(made);
        let chosen = FIRST_PORT + (made / 2 % u32::from(u16::MAX - FIRST_PORT)) as u16;
        let end = End {
            member,
            qp: Some(qp),
            peer: ConnId::inside(made.wrapping_add(1)),
            phase: Phase::Asking,
            local: Endpoint {
                ip: from.ip().octets(),
                port: params.local_port.unwrap_or(chosen),
            },
            ird: params.ird,
            ord: params.ord,
            xrc,
        };
        table.ends.insert(conn, end);
        Ok(conn)
    }

    /// Asks who listens; what becomes of it comes as an event.
    pub(in crate::cm) fn ask(&self, from: &Device, conn: ConnId, params: &ConnectParams<'_>) {
        let Err(reason) = self.try_ask(conn, params) else {
            return;
        };
        lock(&self.table).ends.remove(&conn);
        tell(&mut from.lock(), Event::ConnectError { conn, reason });
    }

    fn try_ask(&self, conn: ConnId, params: &ConnectParams<'_>) -> Result<(), ConnectFailure> {
        let to = params.remote;
        let (member, device) = self.at(to.ip.into()).ok_or(ConnectFailure::Unreachable)?;
        device
            .check_fault()
            .map_err(|_| ConnectFailure::Unreachable)?;
        if !device.lock().listens(to.port) {
            return Err(ConnectFailure::Refused);
        }
        let request = {
            let mut table = lock(&self.table);
            let waits = |end: &&End| end.phase == Phase::Asked && end.member == member;
            if table.ends.values().filter(waits).count() >= MOST_ASKED {
                return Err(ConnectFailure::NoResources);
            }
            let from = table.ends.get(&conn).ok_or(ConnectFailure::Closed)?.clone();
            let end = End {
                member,
                qp: None,
                peer: conn,
                phase: Phase::Asked,
                local: to,
                ird: 0,
                ord: 0,
                xrc: from.xrc,
            };
            table.ends.insert(from.peer, end);
            Event::ConnectRequest {
                xrc: from.xrc,
                conn: from.peer,
                port: to.port,
                remote: from.local,
                private_data: PrivateData::new(params.private_data),
                ird: Some(from.ird),
                ord: Some(from.ord),
                rtr: params.peer_to_peer.then_some(RtrKinds::ALL),
                revision: 0,
            }
        };
        tell(&mut device.lock(), request);
        Ok(())
    }

    /// Both ends of a connection of which this is the end that was asked.
    fn asked(&self, conn: ConnId) -> Result<(End, End), Error> {
        let table = lock(&self.table);
        let own = table.ends.get(&conn).ok_or(Error::UnknownConnection)?;
        if own.phase != Phase::Asked {
            return Err(Error::WrongConnectionState);
        }
        let peer = table.ends.get(&own.peer).ok_or(Error::UnknownConnection)?;
        Ok((own.clone(), peer.clone()))
    }

    /// Accepts; both ends hear that the connection stands.
    pub(in crate::cm) fn accept(
        &self,
        device: &Device,
        conn: ConnId,
        qp: QpId,
        params: &AcceptParams<'_>,
    ) -> Result<(), CmError> {
        check_private_data(params.private_data)?;
        let (own, peer) = self.asked(conn)?;
        let initiator = self.member(peer.member);
        let (peers_qp, initiator) = peer.qp.zip(initiator).ok_or(Error::UnknownConnection)?;
        if own.member == peer.member && qp == peers_qp {
            // No queue pair is both ends.
            return Err(Error::WrongQpState.into());
        }
        // It stands at both ends at once: neither can end it before the other has heard of it.
        let mut both = Both::lock(device, &initiator);
        let (engine, _) = both.near().engine_for("loop inside the host")?;
        // What is wrong with the queue pair is said while the request still waits.
        engine.check_loopback_accepter(qp, own.xrc)?;
        let there = both.far().place.here();
        let may = there.map(|(engine, _)| engine.check_loopback_caller(peers_qp));
        if may != Some(Ok(own.xrc)) {
            // The initiator's queue pair went, or has another connection by now.
            self.forget(conn);
            let (conn, reason) = (own.peer, ConnectFailure::NoResources);
            tell(both.far(), Event::ConnectError { conn, reason });
            return Err(Error::UnknownConnection.into());
        }
        self.raise(conn, qp)?;
        let (ird, ord) = (params.ird.min(peer.ord), params.ord.min(peer.ird));
        let theirs = (params.ird.max(1), ord);
        let data = params.private_data;
        // The responder first: what the initiator does as soon as it hears finds both there.
        let near = (conn, qp, (ird, ord));
        establish(both.near(), near, (peer.ird, peer.ord), &[])?;
        let far = (own.peer, peers_qp, (ord, ird));
        establish(both.far(), far, theirs, data)?;
        Ok(())
    }

    /// From now on a connection that was asked for stands, with this queue pair at the end that was asked.
    fn raise(&self, conn: ConnId, qp: QpId) -> Result<(), Error> {
        let mut table = lock(&self.table);
        let asked = |end: &&mut End| end.phase == Phase::Asked;
        let own = table.ends.get_mut(&conn).filter(asked);
        let own = own.ok_or(Error::UnknownConnection)?;
        (own.phase, own.qp) = (Phase::Up, Some(qp));
        let peer = own.peer;
        let peer = table.ends.get_mut(&peer).ok_or(Error::UnknownConnection)?;
        peer.phase = Phase::Up;
        Ok(())
    }

    /// Rejects; the other end hears of it.
    pub(in crate::cm) fn reject(&self, conn: ConnId, private_data: &[u8]) -> Result<(), CmError> {
        check_private_data(private_data)?;
        let (own, peer) = self.asked(conn)?;
        self.forget(conn);
        if let Some(device) = self.member(peer.member) {
            tell(
                &mut device.lock(),
                Event::Rejected {
                    conn: own.peer,
                    private_data: PrivateData::new(private_data),
                    ird: None,
                    ord: None,
                },
            );
        }
        Ok(())
    }

    /// Closes in order: what is posted is done first.
    pub(in crate::cm) fn disconnect(&self, device: &Device, conn: ConnId) {
        let qp = lock(&self.table).ends.get(&conn).and_then(|end| end.qp);
        if let Some(qp) = qp {
            let mut state = device.lock();
            let now = device.now();
            state.take_posted(now);
            if let Some((engine, _)) = state.place.here() {
                engine.close_loopback(qp);
            }
            let _ = state.finish_turn();
        }
    }

    /// Ends it at once; this end hears nothing of it.
    pub(in crate::cm) fn abort(&self, device: &Device, conn: ConnId) {
        let Some(own) = lock(&self.table).ends.get(&conn).cloned() else {
            return;
        };
        device.lock().event_routing.remove_connection(conn);
        match own.phase {
            Phase::Up => self.end(conn, None, DisconnectReason::Aborted),
            Phase::Asked => {
                let _ = self.reject(conn, &[]);
            }
            Phase::Asking => {
                let asked = self.forget(conn).and_then(|peer| self.member(peer.member));
                if let Some(device) = asked {
                    let (conn, reason) = (own.peer, ConnectFailure::Closed);
                    tell(&mut device.lock(), Event::ConnectError { conn, reason });
                }
            }
        }
    }

    /// Both ends go from the table; the other one.
    fn forget(&self, conn: ConnId) -> Option<End> {
        let mut table = lock(&self.table);
        let own = table.ends.remove(&conn)?;
        table.ends.remove(&own.peer)
    }

    /// Both ends of a connection that stands.
    pub(super) fn up(&self, conn: ConnId) -> Option<(End, End)> {
        let table = lock(&self.table);
        let own = table.ends.get(&conn)?;
        let peer = table.ends.get(&own.peer)?;
        (own.phase == Phase::Up && peer.phase == Phase::Up).then(|| (own.clone(), peer.clone()))
    }

    /// A connection that stands ends. `terminate`: the other end found that this one broke a rule. `reason`: this end's.
    pub(super) fn end(
        &self,
        conn: ConnId,
        terminate: Option<weft_engine::TerminateCode>,
        reason: DisconnectReason,
    ) {
        let Some((own, peer)) = self.up(conn) else {
            return;
        };
        self.forget(conn);
        let of_peer = match reason {
            DisconnectReason::Local => DisconnectReason::Peer,
            DisconnectReason::Terminated => DisconnectReason::Terminated,
            _ => DisconnectReason::Reset,
        };
        let part = |state: &mut State, end: &End, reason, received| {
            let terminate = terminate.map(|code| (code, received));
            if let (Some((engine, _)), Some(qp)) = (state.place.here(), end.qp) {
                engine.part_qp(qp, terminate, reason);
            }
            state.finish_foreign_turn();
        };
        // At both at once: what who ends it does next, a new connection perhaps, finds that the other has heard.
        match (self.member(own.member), self.member(peer.member)) {
            (Some(near), Some(far)) => {
                let mut both = Both::lock(&near, &far);
                part(both.far(), &peer, of_peer, false);
                part(both.near(), &own, reason, true);
            }
            (Some(near), None) => part(&mut near.lock(), &own, reason, true),
            (None, Some(far)) => part(&mut far.lock(), &peer, of_peer, false),
            (None, None) => {}
        }
    }
}
