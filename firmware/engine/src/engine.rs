//! The engine's face: what the driver calls.

use crate::cm::{AcceptParams, ConnId, ConnectParams, Event};
use crate::config::EngineConfig;
use crate::error::Error;
use crate::port::Port;
use crate::stats::EngineStats;
use crate::verbs::{Access, Completion, PdId, QpConfig, QpId, QpState, RecvWr, SendWr};

/// One per card: flows, queue pairs, regions, listeners, connections, timers.
#[derive(Debug)]
pub struct Engine {
    config: EngineConfig,
    stats: EngineStats,
}

impl Engine {
    /// An engine for a card that was just reset (its tables are empty).
    pub fn new(config: EngineConfig) -> Self {
        Engine {
            config,
            stats: EngineStats::default(),
        }
    }

    /// Its settings.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// What it counted.
    pub fn stats(&self) -> &EngineStats {
        &self.stats
    }

    // ------------------------------------------------------------------ events in

    /// Handles one report of the card; `raw` is the frame in its raw slot, if it has one. Reports
    /// must come in the card's order, and each only once.
    pub fn on_report<P: Port>(
        &mut self,
        now: u64,
        report: &[u8; 64],
        raw: Option<&[u8]>,
        port: &mut P,
    ) {
        let _ = (now, report, raw, port);
    }

    /// Does what is due; early or needless calls do no harm.
    pub fn on_timer<P: Port>(&mut self, now: u64, port: &mut P) {
        let _ = (now, port);
    }

    /// When to call [`Engine::on_timer`] next; `None`: not before the next report or call. May lie in
    /// the past: then call at once.
    pub fn next_deadline(&self) -> Option<u64> {
        None
    }

    // ------------------------------------------------------------------ events out

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// The oldest completion not yet taken: for each queue pair in the order of its queues.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        None
    }

    // ------------------------------------------------------------------ domains and regions

    /// A new protection domain.
    pub fn alloc_pd(&mut self) -> PdId {
        PdId(0)
    }

    /// Removes a domain that no region and no queue pair belongs to.
    pub fn dealloc_pd(&mut self, pd: PdId) -> Result<(), Error> {
        let _ = pd;
        Err(Error::UnknownPd)
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
        let _ = (pd, base_to, iova, length, access, port);
        Err(Error::NoStags)
    }

    /// Removes a region: from now on the card refuses its STag. The caller sees to it that no
    /// work request uses it any more.
    pub fn deregister<P: Port>(&mut self, stag: u32, port: &mut P) -> Result<(), Error> {
        let _ = port;
        Err(Error::UnknownStag(stag))
    }

    // ------------------------------------------------------------------ queue pairs

    /// A new queue pair; it takes a flow of the card until it is destroyed.
    pub fn create_qp<P: Port>(&mut self, config: &QpConfig, port: &mut P) -> Result<QpId, Error> {
        let _ = (config, port);
        Err(Error::NoFlows)
    }

    /// Removes a queue pair. A connection it has is aborted (RST); work requests it holds are gone
    /// without completion, and so are completions not yet polled.
    pub fn destroy_qp<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        let _ = (now, qp, port);
        Err(Error::UnknownQp)
    }

    /// The state of a queue pair.
    pub fn qp_state(&self, qp: QpId) -> Result<QpState, Error> {
        let _ = qp;
        Err(Error::UnknownQp)
    }

    /// Moves a queue pair to the error state: its connection is aborted and everything in it is
    /// flushed.
    pub fn set_qp_error<P: Port>(&mut self, now: u64, qp: QpId, port: &mut P) -> Result<(), Error> {
        let _ = (now, qp, port);
        Err(Error::UnknownQp)
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
        let _ = (now, qp, wr, port);
        Err(Error::UnknownQp)
    }

    /// Puts a work request into the receive queue; possible before the connection is made.
    pub fn post_recv<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        wr: &RecvWr<'_>,
        port: &mut P,
    ) -> Result<(), Error> {
        let _ = (now, qp, wr, port);
        Err(Error::UnknownQp)
    }

    // ------------------------------------------------------------------ connections

    /// Listens on a TCP port; at most `backlog` connections wait for their answer at a time.
    /// Port 0: one is chosen. Returns the port.
    pub fn listen(&mut self, port_number: u16, backlog: usize) -> Result<u16, Error> {
        let _ = backlog;
        Err(Error::PortInUse(port_number))
    }

    /// Stops listening. Connection requests not yet answered are reset.
    pub fn unlisten<P: Port>(
        &mut self,
        now: u64,
        port_number: u16,
        port: &mut P,
    ) -> Result<(), Error> {
        let _ = (now, port_number, port);
        Err(Error::UnknownConnection)
    }

    /// Connects a queue pair. Ends in `Established`, `Rejected` or `ConnectError`.
    pub fn connect<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        params: &ConnectParams<'_>,
        port: &mut P,
    ) -> Result<ConnId, Error> {
        let _ = (now, qp, params, port);
        Err(Error::UnknownQp)
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
        let _ = (now, conn, qp, params, port);
        Err(Error::UnknownConnection)
    }

    /// Answers a `ConnectRequest` with no.
    pub fn reject<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        private_data: &[u8],
        port: &mut P,
    ) -> Result<(), Error> {
        let _ = (now, conn, private_data, port);
        Err(Error::UnknownConnection)
    }

    /// Closes in order: what is posted is done first. Ends in `Disconnected`. A connection not
    /// yet established is aborted, without event.
    pub fn disconnect<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        port: &mut P,
    ) -> Result<(), Error> {
        let _ = (now, conn, port);
        Err(Error::UnknownConnection)
    }

    /// Closes at once (RST). `Disconnected` follows if the connection was established.
    pub fn abort<P: Port>(&mut self, now: u64, conn: ConnId, port: &mut P) -> Result<(), Error> {
        let _ = (now, conn, port);
        Err(Error::UnknownConnection)
    }

    /// The queue pair's connection, if it has one.
    pub fn connection_of(&self, qp: QpId) -> Option<ConnId> {
        let _ = qp;
        None
    }
}
