//! The engine's face: what the driver calls.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weft_layout::{FpduReport, JobReport, SegmentReport};
use weft_wire::mpa;

use crate::cm::{
    AcceptParams, ConnId, ConnectFailure, ConnectParams, DisconnectReason, Endpoint, Event,
    PrivateData, Revision,
};
use crate::config::EngineConfig;
use crate::conn::{Conn, Phase, Role, TcpState};
use crate::error::Error;
use crate::input::Seen;
use crate::link::{Link, Shared};
use crate::negotiation::{Proposal, Terms, MAX_READS};
use crate::port::Port;
use crate::qp::Qp;
use crate::stats::EngineStats;
use crate::tcp::seq;
use crate::verbs::{
    Access, Completion, PdId, QpConfig, QpId, QpState, RecvWr, SendOp, SendWr, MAX_SGE,
};
use crate::work;

/// Deepest work queue.
const MAX_DEPTH: u32 = 1 << 15;
/// First port that is chosen for a connection (RFC 6335 §6).
const FIRST_PORT: u16 = 49152;

/// How often JOB_DONE is read at most before a queue pair is destroyed in spite of jobs under way.
const MAX_WAITS: u32 = 1000;

const REPORT_SEGMENT: u8 = 1;
const REPORT_FPDU: u8 = 2;
const REPORT_FRAME: u8 = 3;
const REPORT_JOB: u8 = 4;

#[derive(Debug)]
struct Listener {
    port: u16,
    backlog: usize,
}

/// One per card: flows, queue pairs, regions, listeners, connections, timers.
#[derive(Debug)]
pub struct Engine {
    pub(crate) shared: Shared,
    conns: Vec<Option<Box<Conn>>>,
    qps: Vec<Option<Box<Qp>>>,
    /// Flows without queue pair: the one unused for longest is taken next.
    free_flows: VecDeque<u16>,
    generations: Vec<u16>,
    listeners: Vec<Listener>,
    connections_made: u32,
}

impl Engine {
    /// An engine for a card that was just reset (its tables are empty).
    pub fn new(config: EngineConfig) -> Self {
        let flows = config.num_flows;
        let slots = usize::from(config.max_connections.max(1));
        Engine {
            conns: (0..slots).map(|_| None).collect(),
            qps: (0..flows).map(|_| None).collect(),
            free_flows: (0..flows).collect(),
            generations: (0..flows).map(|_| 0).collect(),
            listeners: Vec::new(),
            connections_made: 0,
            shared: Shared::new(config),
        }
    }

    /// Its settings.
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// What it counted.
    pub fn stats(&self) -> &EngineStats {
        &self.shared.stats
    }

    // ------------------------------------------------------------------ events in

    /// Handles one report of the card; `raw` is the frame in its raw slot, if it has one. Reports
    /// must come in the card's order, and each only once. True: the frame is for the host's own
    /// stack; only after [`Engine::set_host_stack`].
    pub fn on_report<P: Port>(
        &mut self,
        now: u64,
        report: &[u8; 64],
        raw: Option<&[u8]>,
        port: &mut P,
    ) -> bool {
        self.shared.stats.steps += 1;
        match report[0] {
            REPORT_SEGMENT => {
                let report = SegmentReport::from_bytes(report);
                let Some(slot) = self.slot_of_flow(report.flow) else {
                    return false;
                };
                let seen = Seen::of_report(&report, raw);
                self.run(now, slot, port, |link| {
                    link.segment_report(&report, seen.payload);
                    link.segment(&seen);
                    link.try_attach();
                });
            }
            REPORT_FPDU => {
                let report = FpduReport::from_bytes(report);
                let Some(slot) = self.slot_of_flow(report.flow) else {
                    return false;
                };
                // What follows from it waits for the segment's own report.
                self.with(now, slot, port, |link| link.fpdu_report(&report));
            }
            REPORT_FRAME => {
                self.shared.stats.frames += 1;
                if self.shared.host_stack {
                    let for_host =
                        raw.is_some_and(|frame| self.frame_beside_host(now, frame, port));
                    self.shared.stats.frames_for_host += u64::from(for_host);
                    return for_host;
                }
                let done = raw.and_then(|frame| self.frame(now, frame, port));
                if done.is_none() {
                    self.shared.stats.frames_ignored += 1;
                }
            }
            REPORT_JOB => {
                let report = JobReport::from_bytes(report);
                if report.status == 0 {
                    return false;
                }
                self.shared.stats.jobs_failed += 1;
                if let Some(slot) = self.slot_of_flow(report.flow) {
                    self.run(now, slot, port, |link| link.local_failure(report.job));
                }
            }
            _ => {}
        }
        false
    }

    /// Does what is due; early or needless calls do no harm.
    pub fn on_timer<P: Port>(&mut self, now: u64, port: &mut P) {
        self.shared.stats.steps += 1;
        for slot in 0..self.conns.len() {
            let due = self.conns[slot]
                .as_ref()
                .and_then(|conn| conn.timers.next())
                .is_some_and(|at| at <= now);
            if due {
                self.run(now, slot as u16, port, |link| link.timers_due());
            }
        }
    }

    /// When to call [`Engine::on_timer`] next; `None`: not before the next report or call. May lie in
    /// the past: then call at once.
    pub fn next_deadline(&self) -> Option<u64> {
        self.conns
            .iter()
            .flatten()
            .filter_map(|conn| conn.timers.next())
            .min()
    }

    // ------------------------------------------------------------------ events out

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }

    /// The oldest completion not yet taken: for each queue pair in the order of its queues.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.shared.completions.pop_front()
    }

    // ------------------------------------------------------------------ domains and regions

    /// A new protection domain.
    pub fn alloc_pd(&mut self) -> PdId {
        self.shared.regions.alloc_pd()
    }

    /// Removes a domain that no region and no queue pair belongs to.
    pub fn dealloc_pd(&mut self, pd: PdId) -> Result<(), Error> {
        self.shared.regions.dealloc_pd(pd)
    }

    /// Registers `length` bytes at `iova` (mapped for the card as long as the region exists) and
    /// returns their STag. The region's first byte has the tagged offset `base_to`.
    pub fn register<P: Port>(
        &mut self,
        pd: PdId,
        base_to: u64,
        iova: u64,
        length: u64,
        access: Access,
        port: &mut P,
    ) -> Result<u32, Error> {
        self.shared
            .regions
            .register(pd, base_to, iova, length, access, port)
    }

    /// Removes a region: from now on the card refuses its STag. The caller sees to it that no
    /// work request uses it any more.
    pub fn deregister<P: Port>(&mut self, stag: u32, port: &mut P) -> Result<(), Error> {
        self.shared.regions.deregister(stag, port)
    }

    // ------------------------------------------------------------------ queue pairs

    /// A new queue pair; it takes a flow of the card until it is destroyed.
    pub fn create_qp<P: Port>(&mut self, config: &QpConfig, port: &mut P) -> Result<QpId, Error> {
        let depths = 1..=MAX_DEPTH;
        if !depths.contains(&config.send_depth)
            || !depths.contains(&config.recv_depth)
            || !(1..=MAX_SGE).contains(&usize::from(config.max_sge))
        {
            return Err(Error::InvalidQpConfig);
        }
        let flow = *self.free_flows.front().ok_or(Error::NoFlows)?;
        self.shared.regions.join(config.pd)?;
        let log2 = config.recv_depth.next_power_of_two().trailing_zeros() as u8;
        let Some(iova) = port.rq_memory(flow, log2) else {
            self.shared.regions.leave(config.pd);
            return Err(Error::NoMemory);
        };
        self.free_flows.pop_front();
        port.rq_tail(flow, 0);
        let index = usize::from(flow);
        self.generations[index] = self.generations[index].wrapping_add(1);
        let id = QpId {
            flow,
            generation: self.generations[index],
        };
        self.qps[index] = Some(Box::new(Qp::new(id, *config, iova)));
        // Room for every completion there can be, so that none is allocated when data moves.
        let room: usize = self
            .qps
            .iter()
            .flatten()
            .map(|qp| qp.rq.capacity() + qp.config.send_depth as usize)
            .sum();
        self.shared.completions.reserve(room);
        Ok(id)
    }

    /// Removes a queue pair. A connection it has is aborted (RST), with its last event; work
    /// requests it holds are gone without completion, and so are completions not yet polled.
    pub fn destroy_qp<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        if let Some(slot) = self.qp(qp)?.conn {
            self.run(now, slot, port, |link| {
                link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
            });
            // The memory of the work requests is free for others only when the card has read it.
            for _ in 0..MAX_WAITS {
                if self.qp(qp)?.conn.is_none() {
                    break;
                }
                port.refresh_jobs_done();
                self.run(now, slot, port, |_| ());
            }
            self.run(now, slot, port, |link| link.conn.parts.clear());
        }
        let index = usize::from(qp.flow);
        if let Some(gone) = self.qps[index].take() {
            self.shared.regions.leave(gone.config.pd);
            self.free_flows.push_back(qp.flow);
        }
        self.shared
            .completions
            .retain(|completion| completion.qp != qp);
        Ok(())
    }

    /// The state of a queue pair.
    pub fn qp_state(&self, qp: QpId) -> Result<QpState, Error> {
        Ok(self.qp(qp)?.state)
    }

    /// Moves a queue pair to the error state: its connection is aborted and everything in it is
    /// flushed.
    pub fn set_qp_error<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        match self.qp(qp)?.conn {
            Some(slot) => {
                self.run(now, slot, port, |link| {
                    // Its work requests are flushed even if nothing was sent yet.
                    link.conn.committed = true;
                    link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
                });
            }
            None => {
                if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
                    qp.flush(None, &mut self.shared.completions);
                }
            }
        }
        Ok(())
    }

    /// Puts a work request into the send queue. Before the connection is established it waits
    /// there. After the queue pair failed it completes with `Status::Flushed`.
    pub fn post_send<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        wr: &SendWr<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        self.shared.stats.steps += 1;
        self.qp(qp)?;
        let shared = &mut self.shared;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.sq.is_full() {
            return Err(Error::QueueFull);
        }
        let conn = queue
            .conn
            .and_then(|slot| self.conns[usize::from(slot)].as_ref());
        let no_reads = conn.is_some_and(|conn| conn.reported && conn.agreed.ord == 0);
        if no_reads && matches!(wr.op, SendOp::Read { .. }) {
            return Err(Error::NoReadsAllowed);
        }
        let entry = work::send_entry(queue, &shared.regions, wr)?;
        queue.sq.push(entry);
        if queue.state == QpState::Error {
            queue.flush(None, &mut shared.completions);
        } else if let Some(slot) = queue.conn {
            self.run(now, slot, port, |_| ());
        }
        Ok(())
    }

    /// Puts a work request into the receive queue; possible before the connection is made.
    pub fn post_recv<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        wr: &RecvWr<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        self.shared.stats.steps += 1;
        let _ = now;
        self.qp(qp)?;
        let shared = &mut self.shared;
        let Some(queue) = self.qps[usize::from(qp.flow)].as_mut() else {
            return Err(Error::UnknownQp);
        };
        if queue.rq.is_full() {
            return Err(Error::QueueFull);
        }
        let entry = work::recv_entry(queue, &shared.regions, wr)?;
        let number = queue.rq.push(entry);
        if queue.state == QpState::Error {
            queue.flush(None, &mut shared.completions);
            return Ok(());
        }
        port.write_element(qp.flow, queue.rq.slot(number), &work::element(&entry));
        port.rq_tail(qp.flow, queue.rq.tail());
        Ok(())
    }

    // ------------------------------------------------------------------ connections

    /// Listens on a TCP port; at most `backlog` connections wait for their answer at a time.
    /// Port 0: one is chosen. Returns the port.
    pub fn listen(&mut self, port_number: u16, backlog: usize) -> Result<u16, Error> {
        let taken = |port| self.listeners.iter().any(|listener| listener.port == port);
        let port = match port_number {
            0 => (FIRST_PORT..=u16::MAX)
                .find(|port| !taken(*port))
                .ok_or(Error::NoPorts)?,
            port if taken(port) => return Err(Error::PortInUse(port)),
            port => port,
        };
        self.listeners.push(Listener {
            port,
            backlog: backlog.max(1),
        });
        Ok(port)
    }

    /// Stops listening. Connection requests not yet answered are reset.
    pub fn unlisten<P: Port>(
        &mut self,
        now: u64,
        port_number: u16,
        port: &mut P,
    ) -> Result<(), Error> {
        let at = self
            .listeners
            .iter()
            .position(|listener| listener.port == port_number)
            .ok_or(Error::UnknownConnection)?;
        self.listeners.remove(at);
        for slot in 0..self.conns.len() {
            let waits = self.conns[slot]
                .as_ref()
                .is_some_and(|conn| conn.listener == port_number && waits_for_answer(conn));
            if waits {
                self.run(now, slot as u16, port, |link| {
                    link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
                });
            }
        }
        Ok(())
    }

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
        let group = params.remote.ip[0] >= 224 || params.remote.ip[0] == 0;
        if group || params.remote.port == 0 || params.remote.ip == self.shared.config.ip {
            return Err(Error::InvalidAddress);
        }
        check_reads(params.ird, params.ord)?;
        let rev2 = params.revision == Revision::Rev2;
        if params.peer_to_peer && (!rev2 || params.rtr.is_empty()) {
            return Err(Error::InvalidPeerToPeer);
        }
        check_private_data(params.private_data, rev2)?;
        let port_number = match params.local_port {
            Some(port) => port,
            None => self.free_port(params.remote).ok_or(Error::NoPorts)?,
        };
        let local = Endpoint {
            ip: self.shared.config.ip,
            port: port_number,
        };
        if self.find_connection(local, params.remote).is_some() {
            return Err(Error::PortInUse(port_number));
        }
        let slot = self
            .new_connection(Role::Initiator, local, params.remote)
            .ok_or(Error::NoConnections)?;
        let Some(conn) = self.conns[usize::from(slot)].as_mut() else {
            return Err(Error::NoConnections);
        };
        conn.qp = Some(qp.flow);
        conn.private_data = PrivateData::new(params.private_data);
        conn.fall_back = params.fall_back && rev2;
        conn.proposal = Some(Proposal {
            revision: params.revision,
            markers: params.markers,
            crc: params.crc,
            rtr: if params.peer_to_peer {
                params.rtr
            } else {
                mpa::RtrKinds::NONE
            },
            ird: params.ird,
            ord: params.ord,
        });
        let id = conn.id;
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = Some(slot);
        }
        self.run(now, slot, port, |link| link.start());
        Ok(id)
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
        if state.state != QpState::Idle || state.conn.is_some() {
            return Err(Error::WrongQpState);
        }
        check_reads(params.ird, params.ord)?;
        let Some(found) = self.conns[usize::from(slot)].as_mut() else {
            return Err(Error::UnknownConnection);
        };
        if found.phase != Phase::AwaitAnswer {
            return Err(Error::WrongConnectionState);
        }
        check_private_data(params.private_data, found.request.enhanced.is_some())?;
        found.qp = Some(qp.flow);
        if let Some(qp) = &mut self.qps[usize::from(qp.flow)] {
            qp.conn = Some(slot);
        }
        let terms = Terms {
            markers: params.markers,
            crc: params.crc,
            rtr: params.rtr,
            ird: params.ird,
            ord: params.ord,
        };
        self.run(now, slot, port, |link| {
            link.accept(&terms, params.private_data);
            link.try_attach();
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
        let Some(found) = self.conns[usize::from(slot)].as_ref() else {
            return Err(Error::UnknownConnection);
        };
        if found.phase != Phase::AwaitAnswer {
            return Err(Error::WrongConnectionState);
        }
        check_private_data(private_data, found.request.enhanced.is_some())?;
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

    /// The queue pair's connection, if it has one.
    pub fn connection_of(&self, qp: QpId) -> Option<ConnId> {
        let slot = self.qp(qp).ok()?.conn?;
        self.conns[usize::from(slot)].as_ref().map(|conn| conn.id)
    }

    // ------------------------------------------------------------------ inside

    fn qp(&self, id: QpId) -> Result<&Qp, Error> {
        self.qps
            .get(usize::from(id.flow))
            .and_then(|qp| qp.as_deref())
            .filter(|qp| qp.id == id)
            .ok_or(Error::UnknownQp)
    }

    /// The slot of a connection that the application still knows.
    fn slot_of(&self, id: ConnId) -> Result<u16, Error> {
        self.conns
            .get(usize::from(id.slot))
            .and_then(|conn| conn.as_ref())
            .filter(|conn| conn.id == id && conn.phase != Phase::Finished)
            .map(|_| id.slot)
            .ok_or(Error::UnknownConnection)
    }

    fn slot_of_flow(&self, flow: u16) -> Option<u16> {
        self.qps.get(usize::from(flow))?.as_ref()?.conn
    }

    pub(crate) fn find_connection(&self, local: Endpoint, remote: Endpoint) -> Option<u16> {
        let found = |conn: &Option<Box<Conn>>| {
            conn.as_ref()
                .is_some_and(|conn| conn.local == local && conn.remote == remote)
        };
        self.conns.iter().position(found).map(|slot| slot as u16)
    }

    /// Does somebody listen on this port?
    pub(crate) fn listens(&self, port: u16) -> bool {
        self.listeners.iter().any(|listener| listener.port == port)
    }

    /// A SYN may reuse the addresses of a connection in TIME_WAIT (RFC 9293 §3.10.7.4).
    pub(crate) fn may_be_replaced(&self, slot: u16, syn: u32) -> bool {
        self.conns[usize::from(slot)]
            .as_ref()
            .is_some_and(|conn| conn.tcp == TcpState::TimeWait && seq::lt(conn.rcv_nxt(), syn))
    }

    pub(crate) fn forget(&mut self, slot: u16) {
        self.conns[usize::from(slot)] = None;
    }

    fn free_port(&mut self, remote: Endpoint) -> Option<u16> {
        let span = u32::from(u16::MAX - FIRST_PORT) + 1;
        let start = self.shared.random.next() % span;
        (0..span)
            .map(|step| FIRST_PORT + ((start + step) % span) as u16)
            .find(|port| {
                let local = Endpoint {
                    ip: self.shared.config.ip,
                    port: *port,
                };
                self.find_connection(local, remote).is_none()
                    && !self.listeners.iter().any(|listener| listener.port == *port)
            })
    }

    fn new_connection(&mut self, role: Role, local: Endpoint, remote: Endpoint) -> Option<u16> {
        let slot = self.conns.iter().position(Option::is_none)?;
        self.connections_made = self.connections_made.wrapping_add(1);
        let id = ConnId {
            slot: slot as u16,
            generation: self.connections_made,
        };
        let iss = self.shared.random.next();
        let conn = Conn::new(id, role, local, remote, iss, &self.shared.config);
        self.conns[slot] = Some(Box::new(conn));
        Some(slot as u16)
    }

    /// A SYN from somebody new. False if nobody listens there.
    pub(crate) fn incoming<P: Port>(
        &mut self,
        now: u64,
        mac: [u8; 6],
        local: Endpoint,
        remote: Endpoint,
        seen: &Seen<'_>,
        port: &mut P,
    ) -> bool {
        let Some(listener) = self.listeners.iter().find(|l| l.port == local.port) else {
            return false;
        };
        let waiting = self
            .conns
            .iter()
            .flatten()
            .filter(|conn| conn.listener == local.port && waits_for_answer(conn))
            .count();
        // With a full backlog the SYN is dropped: the peer will send it again.
        if waiting >= listener.backlog || mac[0] & 1 != 0 {
            return true;
        }
        let Some(slot) = self.new_connection(Role::Responder, local, remote) else {
            return true;
        };
        self.run(now, slot, port, |link| {
            link.conn.listener = local.port;
            link.conn.remote_mac = mac;
            link.take_options(seen);
            link.conn.tcp = TcpState::SynReceived;
            link.send_syn();
        });
        true
    }

    /// A neighbour's address became known: who waited for it goes on.
    pub(crate) fn neighbour_found<P: Port>(&mut self, now: u64, port: &mut P) {
        for slot in 0..self.conns.len() {
            let found = self.conns[slot]
                .as_ref()
                .is_some_and(|conn| conn.phase == Phase::Resolving);
            if found {
                self.run(now, slot as u16, port, |link| {
                    let hop = link.next_hop();
                    if hop.is_some_and(|hop| link.shared.neighbours.find(hop).is_some()) {
                        link.start();
                    }
                });
            }
        }
    }

    /// Lets a connection work, and nothing more.
    fn with<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let Some(Some(conn)) = self.conns.get_mut(usize::from(slot)) else {
            return;
        };
        let qp = match conn.qp {
            Some(flow) => self.qps[usize::from(flow)].as_deref_mut(),
            None => None,
        };
        work(&mut Link {
            now,
            conn,
            qp,
            shared: &mut self.shared,
            port,
        });
    }

    /// Lets a connection work, sends what follows from it, and looks whether it is over.
    pub(crate) fn run<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let mut again = None;
        self.with(now, slot, port, |link| {
            work(link);
            if link.wants_fall_back() {
                again = Some(link.conn.remote);
                return;
            }
            link.transmit();
            link.settle();
        });
        if let Some(remote) = again {
            let local = self.free_port(remote);
            let iss = self.shared.random.next();
            self.with(now, slot, port, |link| link.fall_back(local, iss));
        }
        let gone = self.conns[usize::from(slot)]
            .as_ref()
            .is_some_and(|conn| conn.tcp == TcpState::Dead && conn.phase == Phase::Finished);
        if gone {
            self.forget(slot);
        }
    }
}

/// A connection that came in and that the application has not answered.
fn waits_for_answer(conn: &Conn) -> bool {
    conn.role == Role::Responder
        && matches!(
            conn.phase,
            Phase::Handshake | Phase::AwaitRequest | Phase::AwaitAnswer
        )
}

fn check_reads(ird: u16, ord: u16) -> Result<(), Error> {
    match ird.max(ord) {
        reads if reads > MAX_READS => Err(Error::InvalidReadDepth(reads)),
        _ => Ok(()),
    }
}

fn check_private_data(data: &[u8], enhanced: bool) -> Result<(), Error> {
    let limit = mpa::MAX_PRIVATE_DATA - if enhanced { 4 } else { 0 };
    if data.len() > limit {
        return Err(Error::PrivateDataTooLong {
            given: data.len(),
            limit,
        });
    }
    Ok(())
}
