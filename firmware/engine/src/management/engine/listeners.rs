//! Listeners, and who waits at them: the silent, the line of those that ask, and those that the program has heard of.
//!
//! ```text
//!   handshake ─► silent: a row of the half-open (syn_cache), then with the first octets of a request a connection
//!                   │ the request is whole
//!                   ▼
//!                the line ──── the backlog has room ───► told: CONNECT_REQUEST, until the program answers
//!                   │ it is full, or the backlog has no room in time
//!                   ▼
//!                rejected
//! ```
//!
//! A backlog is of requests that wait for their program. Who is silent has a budget of its own, and gives way when it is used up: the oldest
//! of the listener that has the most. So nobody is kept out by who says nothing, and at one listener by who is silent at another.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::table::Connections;
use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase, Role};
use crate::interface::cm::{ConnId, ConnectFailure, DisconnectReason};
use crate::interface::error::Error;

/// A port that is listened on.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) port: u16,
    /// Requests that may wait for the program.
    backlog: usize,
    /// Its connections carry plain bytes.
    pub(super) bytes: bool,
    /// Connections without a whole request when last looked at, oldest first.
    silent: VecDeque<ConnId>,
    /// Requests that the program has not heard of, oldest first.
    line: VecDeque<ConnId>,
    /// Requests that it had not answered when last looked at.
    told: Vec<ConnId>,
}

/// The connection of this name, if it waits as is said.
fn waits(conns: &Connections, id: ConnId, how: impl Fn(&Conn) -> bool) -> bool {
    let conn = conns.get(id.slot).filter(|conn| conn.id == id);
    conn.is_some_and(how)
}

/// It came in, and its request is not whole.
fn is_silent(conn: &Conn) -> bool {
    let early = matches!(conn.phase, Phase::Handshake | Phase::AwaitRequest);
    conn.role == Role::Responder && early && conn.qp.is_none()
}

/// A connection that came in and that the application has not answered.
fn waits_for_answer(conn: &Conn) -> bool {
    let asks = matches!(conn.phase, Phase::AwaitBacklog | Phase::AwaitAnswer);
    is_silent(conn) || conn.role == Role::Responder && asks
}

impl Listener {
    /// Of no connection yet.
    fn new(port: u16, backlog: usize, bytes: bool, places: usize) -> Self {
        Listener {
            port,
            // As Linux has it: 0 says nothing of how many.
            backlog: if backlog == 0 {
                places
            } else {
                backlog.min(places)
            },
            bytes,
            silent: VecDeque::new(),
            line: VecDeque::new(),
            told: Vec::new(),
        }
    }

    /// One more request may be told.
    fn has_room(&mut self, conns: &Connections) -> bool {
        if self.told.len() >= self.backlog {
            self.told
                .retain(|id| waits(conns, *id, |conn| conn.phase == Phase::AwaitAnswer));
        }
        self.told.len() < self.backlog
    }
}

impl Engine {
    /// Listens on a TCP port; at most `backlog` requests wait for their answer at a time, and others in a line behind them
    /// (`docs/cm.md`); 0: any number. Port 0: one is chosen. Returns the port.
    pub fn listen(&mut self, port_number: u16, backlog: usize) -> Result<u16, Error> {
        self.listen_for(port_number, backlog, false)
    }

    /// The same for connections with a start-up, or that carry plain bytes.
    pub(super) fn listen_for(
        &mut self,
        port_number: u16,
        backlog: usize,
        bytes: bool,
    ) -> Result<u16, Error> {
        let taken = |port| self.listeners.iter().any(|listener| listener.port == port);
        let port = match port_number {
            0 => (self.shared.config.split.ports())
                .find(|port| !taken(*port))
                .ok_or(Error::NoPorts)?,
            port if taken(port) => return Err(Error::PortInUse(port)),
            port => port,
        };
        self.check_each(self.listeners.len())?;
        let places = usize::from(self.conns.slots());
        self.listeners
            .push(Listener::new(port, backlog, bytes, places));
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
        self.forget_who_left_the_line();
        self.half_open.rows.forget_port(port_number);
        for slot in 0..self.conns.slots() {
            let waits = self
                .conns
                .get(slot)
                .is_some_and(|conn| conn.listener == port_number && waits_for_answer(conn));
            if waits {
                self.run(now, slot, port, |link| {
                    link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
                });
            }
        }
        Ok(())
    }

    /// Does somebody listen on this port?
    pub fn listens(&self, port: u16) -> bool {
        self.listeners.iter().any(|listener| listener.port == port)
    }

    /// And its connections carry plain bytes?
    pub(super) fn listens_for_streams(&self, port: u16) -> bool {
        let mut listeners = self.listeners.iter();
        listeners.any(|listener| listener.port == port && listener.bytes)
    }

    fn listener(&mut self, port: u16) -> Option<&mut Listener> {
        self.listeners.iter_mut().find(|l| l.port == port)
    }

    /// A connection has come in, and perhaps its request is not whole: then it is one of the silent, of which there are so many at most.
    pub(super) fn came_in<P: Port>(&mut self, now: u64, id: ConnId, at: u16, port: &mut P) {
        if !waits(&self.conns, id, is_silent) {
            return;
        }
        if let Some(listener) = self.listener(at) {
            listener.silent.push_back(id);
        }
        let most = self.shared.config.silent();
        let count = |engine: &Self| {
            engine
                .listeners
                .iter()
                .map(|l| l.silent.len())
                .sum::<usize>()
        };
        if count(self) > most {
            self.forget_who_spoke();
        }
        while count(self) > most && self.silent_gives_way(now, port) {}
    }

    /// Those that are silent no longer are in no list of them.
    fn forget_who_spoke(&mut self) {
        let conns = &self.conns;
        for listener in &mut self.listeners {
            listener.silent.retain(|id| waits(conns, *id, is_silent));
        }
    }

    /// The oldest silent connection of the listener that has the most gives way. False: there is none.
    fn silent_gives_way<P: Port>(&mut self, now: u64, port: &mut P) -> bool {
        let most = self.listeners.iter_mut().max_by_key(|l| l.silent.len());
        let Some(id) = most.and_then(|listener| listener.silent.pop_front()) else {
            return false;
        };
        if waits(&self.conns, id, is_silent) {
            self.shared.stats.strangers_gave_way += 1;
            self.run_one(now, id.slot, port, |link| {
                link.reset(ConnectFailure::Closed, DisconnectReason::Aborted);
            });
        }
        true
    }

    /// All connections' places are taken: one that is silent gives up its own. False: there is none.
    pub(super) fn make_place<P: Port>(&mut self, now: u64, port: &mut P) -> bool {
        while self.conns.is_full() && self.silent_gives_way(now, port) {}
        !self.conns.is_full()
    }

    /// Requests that have just become whole, and those that the backlog has room for.
    pub(super) fn admit_requests<P: Port>(&mut self, now: u64, port: &mut P) {
        while let Some(id) = self.shared.admission.asking.pop_front() {
            self.asks(now, id, port);
        }
        for at in 0..self.listeners.len() {
            while let Some(id) = self.next_admitted(at) {
                self.shared.admission.in_line -= 1;
                self.tell_request(now, id, port);
            }
        }
    }

    /// The next one in this listener's line, if the program may hear of one more.
    fn next_admitted(&mut self, at: usize) -> Option<ConnId> {
        let (conns, listener) = (&self.conns, self.listeners.get_mut(at)?);
        if listener.line.is_empty() || !listener.has_room(conns) {
            return None;
        }
        listener.line.pop_front()
    }

    fn asks<P: Port>(&mut self, now: u64, id: ConnId, port: &mut P) {
        let awaits_backlog = |conn: &Conn| conn.phase == Phase::AwaitBacklog;
        let Some(at) = self.conns.get(id.slot).map(|conn| conn.listener) else {
            return;
        };
        if !waits(&self.conns, id, awaits_backlog) {
            return;
        }
        let conns = &self.conns;
        let listener = self.listeners.iter_mut().find(|l| l.port == at);
        let Some(listener) = listener else {
            return;
        };
        if listener.line.is_empty() && listener.has_room(conns) {
            self.tell_request(now, id, port);
            return;
        }
        listener.line.push_back(id);
        self.shared.admission.in_line += 1;
        if self.shared.admission.in_line > self.shared.config.line() {
            self.forget_who_left_the_line();
        }
        if self.shared.admission.in_line > self.shared.config.line() {
            let listener = self.listener(at);
            let last = listener.and_then(|listener| listener.line.pop_back());
            self.shared.admission.in_line -= 1;
            if let Some(id) = last {
                self.run_one(now, id.slot, port, |link| link.reject_busy());
            }
        }
    }

    fn forget_who_left_the_line(&mut self) {
        let conns = &self.conns;
        let mut left = 0;
        for listener in &mut self.listeners {
            let awaits_backlog = |conn: &Conn| conn.phase == Phase::AwaitBacklog;
            listener.line.retain(|id| waits(conns, *id, awaits_backlog));
            left += listener.line.len();
        }
        self.shared.admission.in_line = left;
    }

    /// The program hears of a request, if it is still one.
    fn tell_request<P: Port>(&mut self, now: u64, id: ConnId, port: &mut P) {
        if !waits(&self.conns, id, |conn| conn.phase == Phase::AwaitBacklog) {
            return;
        }
        let at = self.conns.get(id.slot).map(|conn| conn.listener);
        if let Some(listener) = at.and_then(|at| self.listener(at)) {
            listener.told.push(id);
        }
        self.with(now, id.slot, port, |link| link.tell_request());
    }
}
