//! The calls for connections: listen, connect, accept, reject, disconnect.

use weft_wire::mpa::{self, Extensions, RtrKinds, StartupFrame};

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{Phase, Role};
use crate::connection::timers::Timer;
use crate::interface::cm::{
    is_station, AcceptParams, ConnId, ConnectFailure, ConnectParams, DisconnectReason, Endpoint,
    Revision,
};
use crate::interface::error::Error;
use crate::interface::verbs::{QpId, QpState};
use crate::mpa::negotiation::{Proposal, Terms};
use crate::queues::qp::Receives;

impl Engine {
    /// Connects a queue pair. Ends in `Established`, `Rejected` or `ConnectError`.
    pub fn connect<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        params: &ConnectParams<'_>,
        port: &mut P,
    ) -> Result<ConnId, Error> {
        let state = self.qp(qp)?;
        if state.state != QpState::Idle || state.conn.is_some() {
            return Err(Error::WrongQpState);
        }
        if !self.may_be_peer(params.remote.ip) || params.remote.port == 0 {
            return Err(Error::InvalidAddress);
        }
        if params
            .route
            .is_some_and(|route| !is_station(route.next_hop))
        {
            return Err(Error::InvalidAddress);
        }
        let extensions = match state.receives {
            // What is reserved in a Send is agreed on in enhanced start-up data.
            Receives::Nowhere if params.revision == Revision::Rev2 => Extensions::XRC,
            Receives::Nowhere | Receives::Domain(..) => return Err(Error::WrongQpKind),
            Receives::Own | Receives::Shared(_) => Extensions::NONE,
        };
        self.check_reads(params.ird, params.ord)?;
        let proposal = proposal(params, extensions)?;
        let port_number = match params.local_port {
            Some(port) => port,
            None => self.free_port(params.remote).ok_or(Error::NoPorts)?,
        };
        let local = Endpoint {
            ip: self.shared.config.ip,
            port: port_number,
        };
        if self.shared.outbox.events.len() >= self.shared.outbox.most_events {
            // Nobody takes what there is to tell.
            return Err(Error::NoConnections);
        }
        if self.find_connection(local, params.remote).is_some() {
            return Err(Error::PortInUse(port_number));
        }
        let slot = self
            .new_connection(now, Role::Initiator, (local, params.remote), port)
            .ok_or(Error::NoConnections)?;
        let Some(conn) = self.conns.get_mut(slot) else {
            return Err(Error::NoConnections);
        };
        conn.qp = Some(qp.flow);
        conn.private_data = params.private_data.to_vec();
        let is_plain = extensions.is_empty();
        conn.fall_back = params.fall_back && params.revision == Revision::Rev2 && is_plain;
        conn.proposal = Some(proposal);
        conn.set_tos(params.tos);
        if let Some(route) = params.route {
            conn.routed = true;
            conn.remote_mac = route.next_hop;
            conn.mtu = conn.mtu.min(route.mtu);
        }
        let id = conn.id;
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = Some(slot);
        }
        self.run(now, slot, port, |link| link.start());
        Ok(id)
    }

    /// The next station on the way to an address; `None`: not known. Then it was asked for, unless that was done within a second.
    pub fn resolve<P: Port>(
        &mut self,
        now: u64,
        remote: [u8; 4],
        port: &mut P,
    ) -> Result<Option<[u8; 6]>, Error> {
        let hop = self.shared.next_hop(remote);
        let hop = hop.filter(|_| self.may_be_peer(remote));
        let hop = hop.ok_or(Error::InvalidAddress)?;
        let found = self.shared.neighbours.find(hop);
        if found.is_none() {
            self.shared.ask_for_station(now, hop, port);
        }
        Ok(found)
    }

    /// Answers a `ConnectRequest` with a queue pair. Ends in `Established` or `ConnectError`.
    pub fn accept<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        qp: QpId,
        params: &AcceptParams<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        let state = self.qp(qp)?;
        let receives = state.receives;
        // A stream that has become a request has its queue pair.
        let others = state.conn.is_some_and(|conn| conn != slot);
        if state.state != QpState::Idle || others {
            return Err(Error::WrongQpState);
        }
        self.check_reads(params.ird, params.ord)?;
        let Some(found) = self.conns.get_mut(slot) else {
            return Err(Error::UnknownConnection);
        };
        if found.phase != Phase::AwaitAnswer {
            return Err(Error::WrongConnectionState);
        }
        if found.qp.is_some_and(|flow| flow != qp.flow) {
            return Err(Error::WrongQpState);
        }
        let asked = found.request.extensions();
        let is_target = matches!(receives, Receives::Domain(..));
        if receives == Receives::Nowhere || is_target != asked.contains(Extensions::XRC) {
            return Err(Error::WrongQpKind);
        }
        let terms = Terms {
            markers: params.markers,
            crc: params.crc,
            rtr: params.rtr,
            ird: params.ird,
            ord: params.ord,
            aligned: params.aligned,
        };
        let (reply, _) = found.request.accept(&terms, params.private_data);
        check_private_data(&reply)?;
        found.reassembly.accept(&mut self.shared.buffers.pool);
        found.qp = Some(qp.flow);
        found.set_tos(params.tos);
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = Some(slot);
        }
        self.run(now, slot, port, |link| {
            link.accept(&terms, params.private_data);
            link.offer();
        });
        Ok(())
    }

    /// Answers a `ConnectRequest` with no.
    pub fn reject<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        private_data: &[u8],
        port: &mut P,
    ) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        let Some(found) = self.conns.get(slot) else {
            return Err(Error::UnknownConnection);
        };
        if found.phase != Phase::AwaitAnswer {
            return Err(Error::WrongConnectionState);
        }
        check_private_data(&found.request.reject(private_data))?;
        self.run(now, slot, port, |link| link.reject(private_data));
        Ok(())
    }

    /// Closes in order: what is posted is done first. Ends in `Disconnected`. A connection not
    /// yet established is aborted, without event.
    pub fn disconnect<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        port: &mut P,
    ) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        self.run(now, slot, port, |link| link.disconnect());
        Ok(())
    }

    /// Closes at once (RST). `Disconnected` follows if the connection was established.
    pub fn abort<P: Port>(&mut self, now: u64, conn: ConnId, port: &mut P) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        self.run(now, slot, port, |link| {
            link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
        });
        Ok(())
    }

    /// May there be so many Reads at a time?
    pub(super) fn check_reads(&self, ird: u16, ord: u16) -> Result<(), Error> {
        match ird.max(ord) {
            reads if reads > self.shared.config.memory.reads => Err(Error::InvalidReadDepth(reads)),
            _ => Ok(()),
        }
    }

    /// The queue pair's connection, if it has one.
    pub fn connection_of(&self, qp: QpId) -> Option<ConnId> {
        let slot = self.qp(qp).ok()?.conn?;
        self.conns.get(slot).map(|conn| conn.id)
    }

    /// The slot of a connection that the application still knows.
    pub(super) fn slot_of(&self, id: ConnId) -> Result<u16, Error> {
        self.conns
            .get(id.slot)
            .filter(|conn| conn.id == id && conn.phase != Phase::Finished)
            .map(|_| id.slot)
            .ok_or(Error::UnknownConnection)
    }

    /// A port nobody can foresee (RFC 6056 §3.3.1).
    pub(super) fn free_port(&mut self, remote: Endpoint) -> Option<u16> {
        let own = self.shared.config.split.ports();
        let span = u32::from(own.end() - own.start()) + 1;
        let start = self.random.next() % span;
        (0..span)
            .map(|step| own.start() + ((start + step) % span) as u16)
            .find(|port| {
                let local = Endpoint {
                    ip: self.shared.config.ip,
                    port: *port,
                };
                self.find_connection(local, remote).is_none()
                    && !self.listeners.iter().any(|listener| listener.port == *port)
            })
    }

    /// Where there is no place, one that is over gives up its own, or one that is silent.
    pub(super) fn new_connection<P: Port>(
        &mut self,
        now: u64,
        role: Role,
        (local, remote): (Endpoint, Endpoint),
        port: &mut P,
    ) -> Option<u16> {
        if self.conns.is_full() {
            self.cut_time_wait();
        }
        if !self.make_place(now, port) {
            return None;
        }
        let generation = self.connections_made.wrapping_add(1);
        let slot = self.conns.insert(|slot| {
            let id = ConnId { slot, generation };
            self.shared.new_conn(id, role, (local, remote), now)
        })?;
        self.connections_made = generation;
        if let (Role::Initiator, Some(conn)) = (role, self.conns.get_mut(slot)) {
            conn.reassembly.accept(&mut self.shared.buffers.pool);
        }
        Some(slot)
    }

    /// The connection that is in TIME_WAIT for the longest time makes room for another one. What may come late for it is then of nobody, as
    /// behind its end; a new connection between its addresses begins beyond its sequence numbers (RFC 6528), as it does in TIME_WAIT.
    fn cut_time_wait(&mut self) {
        let waiting = self.conns.iter().filter(|conn| conn.only_waits());
        let longest = waiting.min_by_key(|conn| conn.timers.expires_at(Timer::Phase));
        if let Some(slot) = longest.map(|conn| conn.id.slot) {
            self.forget(slot);
            self.shared.stats.time_waits_cut += 1;
        }
    }
}

/// What an initiator asks for, checked.
pub(super) fn proposal(
    params: &ConnectParams<'_>,
    extensions: Extensions,
) -> Result<Proposal, Error> {
    let rev2 = params.revision == Revision::Rev2;
    if params.peer_to_peer && (!rev2 || params.rtr.is_empty()) {
        return Err(Error::InvalidPeerToPeer);
    }
    if params.aligned && !(rev2 && params.crc) {
        return Err(Error::InvalidAligned);
    }
    let proposal = Proposal {
        revision: params.revision,
        markers: params.markers,
        crc: params.crc,
        rtr: match params.peer_to_peer {
            true => params.rtr,
            false => RtrKinds::NONE,
        },
        ird: params.ird,
        ord: params.ord,
        extensions: match params.aligned {
            true => extensions.union(Extensions::ALIGNED),
            false => extensions,
        },
    };
    check_private_data(&proposal.request(params.private_data))?;
    Ok(proposal)
}

/// Is there room for the application's beside what else a start-up frame has?
fn check_private_data(frame: &StartupFrame<'_>) -> Result<(), Error> {
    let (data, enhanced) = (frame.private_data, frame.enhanced);
    let reserved = enhanced.map_or(0, |enhanced| enhanced.reserved());
    let limit = mpa::MAX_PRIVATE_DATA - reserved;
    if data.len() > limit {
        return Err(Error::PrivateDataTooLong {
            given: data.len(),
            limit,
        });
    }
    Ok(())
}
