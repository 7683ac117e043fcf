//! The calls for connections that carry plain bytes: TCP as a service, without MPA.

use alloc::boxed::Box;

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase, Role};
use crate::interface::cm::{ConnId, Endpoint};
use crate::interface::error::Error;
use crate::interface::verbs::{Access, QpId, QpState, Sge};
use crate::memory::region::IovaRange;

/// How a stream stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Bytes that can be read now.
    pub readable: usize,
    /// Bytes that can be written now.
    pub writable: usize,
    /// Bytes written that the peer has not acknowledged.
    pub unacknowledged: usize,
    /// The peer will send no more than can be read now.
    pub at_end: bool,
    /// This side has closed.
    pub closed: bool,
}

impl Engine {
    /// Listens on a TCP port for connections that carry plain bytes; at most `backlog` of them wait for their answer at a time. Port 0:
    /// one is chosen. Returns the port. Each connection is a [`StreamRequest`](crate::Event::StreamRequest).
    pub fn listen_stream(&mut self, port_number: u16, backlog: usize) -> Result<u16, Error> {
        self.listen_for(port_number, backlog, true)
    }

    /// Answers a `StreamRequest` with a queue pair, whose flow in the card the connection takes, and with memory of a region of its domain
    /// for what is written and not acknowledged. The queue pair's own work waits meanwhile; when the connection is over, it can be
    /// connected again.
    pub fn accept_stream<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        qp: QpId,
        ring: &Sge,
        port: &mut P,
    ) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        let memory = self.ring(qp, ring)?;
        let found = self.stream_mut(slot)?;
        if found.phase != Phase::AwaitAnswer {
            return Err(Error::WrongConnectionState);
        }
        self.take_queue_pair(slot, qp, memory, ring.stag);
        let mut bound = false;
        self.run(now, slot, port, |link| {
            bound = link.bind();
            if bound {
                link.byte_stream_established();
            }
        });
        if bound {
            return Ok(());
        }
        // It waits for another answer.
        if let Some(conn) = self.conns.get_mut(slot) {
            conn.qp = None;
        }
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = None;
        }
        Err(Error::NoFlowKey)
    }

    /// Connects, as [`accept_stream`](Self::accept_stream) accepts. Ends in `StreamEstablished` or `ConnectError`.
    pub fn connect_stream<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        ring: &Sge,
        remote: Endpoint,
        port: &mut P,
    ) -> Result<ConnId, Error> {
        let memory = self.ring(qp, ring)?;
        if !self.may_be_peer(remote.ip) || remote.port == 0 {
            return Err(Error::InvalidAddress);
        }
        let local = Endpoint {
            ip: self.shared.config.ip,
            port: self.free_port(remote).ok_or(Error::NoPorts)?,
        };
        let slot = self
            .new_connection(now, Role::Initiator, (local, remote), port)
            .ok_or(Error::NoConnections)?;
        if let Some(conn) = self.conns.get_mut(slot) {
            conn.byte_stream = Some(Box::default());
        }
        self.take_queue_pair(slot, qp, memory, ring.stag);
        self.run(now, slot, port, |link| link.start());
        self.conns
            .get(slot)
            .map(|conn| conn.id)
            .ok_or(Error::NoFlowKey)
    }

    /// Takes bytes in order from the front of the stream; how many. The peer may send as many more.
    pub fn read_stream<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        out: &mut [u8],
        port: &mut P,
    ) -> Result<usize, Error> {
        let slot = self.slot_of(conn)?;
        self.still_bytes(slot)?;
        let mut count = 0;
        self.run(now, slot, port, |link| count = link.read_stream(out));
        Ok(count)
    }

    /// Gives bytes to be sent: as many as there is room for; how many.
    pub fn write_stream<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        bytes: &[u8],
        port: &mut P,
    ) -> Result<usize, Error> {
        let slot = self.slot_of(conn)?;
        if self.still_bytes(slot)?.phase != Phase::Established {
            return Err(Error::WrongConnectionState);
        }
        let mut count = Ok(0);
        self.run(now, slot, port, |link| count = link.write_stream(bytes));
        count.map_err(|_| Error::InvalidRegion)
    }

    /// A small segment does not wait for the acknowledgment of what was sent before (TCP_NODELAY).
    pub fn set_no_delay(&mut self, conn: ConnId, no_delay: bool) -> Result<(), Error> {
        let slot = self.slot_of(conn)?;
        if let Some(bytes) = &mut self.stream_mut(slot)?.byte_stream {
            bytes.no_delay = no_delay;
        }
        Ok(())
    }

    /// How it stands.
    pub fn stream_state(&self, conn: ConnId) -> Result<StreamState, Error> {
        let conn = self.standing(self.slot_of(conn)?)?;
        let bytes = conn
            .byte_stream
            .as_ref()
            .ok_or(Error::WrongConnectionState)?;
        Ok(StreamState {
            readable: conn.reassembly.available(),
            writable: bytes.room() as usize,
            unacknowledged: bytes.kept().0 as usize,
            at_end: conn.peer_fin_done,
            closed: conn.phase == Phase::Closing,
        })
    }

    /// A connection in stream mode whose user has it.
    pub(super) fn standing(&self, slot: u16) -> Result<&Conn, Error> {
        let conn = self.conns.get(slot).ok_or(Error::UnknownConnection)?;
        let stands = matches!(conn.phase, Phase::Established | Phase::Closing);
        match conn.byte_stream.is_some() && stands {
            true => Ok(conn),
            false => Err(Error::WrongConnectionState),
        }
    }

    /// The same, whose bytes have not come to an end by `start_mpa`.
    fn still_bytes(&self, slot: u16) -> Result<&Conn, Error> {
        let conn = self.standing(slot)?;
        match conn
            .byte_stream
            .as_ref()
            .is_some_and(|b| b.stream_to_mpa.is_some())
        {
            true => Err(Error::WrongConnectionState),
            false => Ok(conn),
        }
    }

    pub(super) fn stream_mut(&mut self, slot: u16) -> Result<&mut Conn, Error> {
        let conn = self.conns.get_mut(slot).ok_or(Error::UnknownConnection)?;
        match conn.byte_stream {
            Some(_) => Ok(conn),
            None => Err(Error::WrongConnectionState),
        }
    }

    /// The memory of a ring, of a queue pair that has no connection.
    pub(super) fn ring(&self, qp: QpId, ring: &Sge) -> Result<IovaRange, Error> {
        let state = self.qp(qp)?;
        if state.state != QpState::Idle || state.conn.is_some() {
            return Err(Error::WrongQpState);
        }
        if state.receives.is_xrc() {
            return Err(Error::WrongQpKind);
        }
        if ring.length == 0 {
            return Err(Error::InvalidRegion);
        }
        let (pd, regions) = (state.config.pd, &self.shared.regions);
        regions.local(pd, ring.stag, ring.to, ring.length, Access::NONE)
    }

    pub(super) fn take_queue_pair(&mut self, slot: u16, qp: QpId, memory: IovaRange, stag: u32) {
        if let Some(conn) = self.conns.get_mut(slot) {
            conn.qp = Some(qp.flow);
            conn.reassembly.accept(&mut self.shared.buffers.pool);
            if let Some(bytes) = &mut conn.byte_stream {
                bytes.begin(memory, stag);
                self.shared.regions.post(stag);
            }
        }
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = Some(slot);
        }
    }
}
