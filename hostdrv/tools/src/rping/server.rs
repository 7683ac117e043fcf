//! rping's server.

use std::net::SocketAddrV4;
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver};

use super::super::connection::ConnectionTerms;
use super::super::peer_error::PeerError;
use super::super::Machine;
use super::report::{RpingNote, RpingObserver, ServerReport};
use super::session::Session;
use super::PORT;
use weft_hostdrv::cm::{CmError, CmEvent, CmEventType, CmId, EventChannel, Gid, GidAddr};
use weft_hostdrv::device::Device;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The port to listen on.
    pub port: u16,
    /// Listens at the card's GID and the port's service ID, instead of its IP address and the port. Clients see no difference.
    pub native: bool,
    /// Events come by callback (DAT's way), instead of being taken from a channel.
    pub callbacks: bool,
    /// Connections at a time. Beyond them a client is turned away, unless one has been silent for 10 s, which then gives way.
    pub at_a_time: usize,
    /// Ends after so many connections; 0: when it is stopped.
    pub sessions: u64,
    /// How to accept.
    pub terms: ConnectionTerms,
    /// Give a connection up when nothing happens on it for so long; `None`: never.
    pub patience_ns: Option<u64>,
}

impl Default for ServerConfig {
    /// One connection, like rping without `-P`.
    fn default() -> Self {
        Self {
            port: PORT,
            native: false,
            callbacks: false,
            at_a_time: 1,
            sessions: 1,
            terms: ConnectionTerms::default(),
            patience_ns: None,
        }
    }
}

impl ServerConfig {
    /// Any number of connections, several at a time, like rping with `-P`.
    pub fn persistent() -> Self {
        Self {
            at_a_time: 64,
            sessions: 0,
            ..Self::default()
        }
    }
}

/// A client that has been silent for so long gives way to one for which there is no room.
const GIVES_WAY_NS: u64 = 10_000_000_000;

/// Where the server's events come from.
struct Events {
    channel: EventChannel,
    /// What the callback was called with.
    called: Option<Receiver<CmEvent>>,
}

impl Events {
    fn new(device: &Device, callbacks: bool) -> Self {
        if !callbacks {
            return Self {
                channel: device.create_event_channel(),
                called: None,
            };
        }
        let (sender, called) = mpsc::channel();
        // Nobody receives any more when the server is dropped.
        let channel = device.create_callback_channel(move |event| drop(sender.send(event)));
        Self {
            channel,
            called: Some(called),
        }
    }

    fn next(&self) -> Result<Option<CmEvent>, CmError> {
        let taken = self.channel.try_get_event();
        match &self.called {
            None => taken,
            // What came before the end, or tells of it.
            Some(called) => called
                .try_recv()
                .map_or_else(|_| taken, |event| Ok(Some(event))),
        }
    }
}

/// The server's state. Dropping it aborts its connections.
pub struct RpingServer {
    device: Device,
    config: ServerConfig,
    events: Events,
    observer: Option<RpingObserver>,
    /// `None`: its one connection was taken over.
    listener: Option<CmId>,
    sessions: Vec<Session>,
    /// Accepted so far.
    accepted: u64,
    stopping: bool,
    report: ServerReport,
}

impl RpingServer {
    /// Begins to listen.
    pub fn start(
        device: &Device,
        config: ServerConfig,
        observer: Option<RpingObserver>,
    ) -> Result<Self, PeerError> {
        let events = Events::new(device, config.callbacks);
        let listener = events.channel.create_id();
        match config.native {
            true => listener.bind_native(GidAddr::new(Gid::of_ip(device.ip()), config.port))?,
            false => listener.bind_addr(SocketAddrV4::new(device.ip(), config.port))?,
        }
        listener.listen(config.at_a_time.max(1) + 8)?;
        Ok(Self {
            listener: Some(listener),
            ..Self::idle(device, config, events, observer)
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddrV4 {
        let own = SocketAddrV4::new(self.device.ip(), self.config.port);
        self.listener.as_ref().map_or(own, CmId::local_addr)
    }

    /// The same for one client, on a connection that the kernel has accepted, taken out of it (see [`CmId::take_over`]). What the client has said by
    /// then may have been read by nobody.
    pub fn take_over(
        device: &Device,
        config: ServerConfig,
        socket: &impl AsFd,
        observer: Option<RpingObserver>,
    ) -> Result<Self, PeerError> {
        let events = Events::new(device, config.callbacks);
        let session = Session::new(device, events.channel.create_id())?;
        session.id.take_over(socket).map_err(PeerError::taking)?;
        let config = ServerConfig {
            sessions: 1,
            ..config
        };
        Ok(Self {
            sessions: vec![session],
            accepted: 1,
            ..Self::idle(device, config, events, observer)
        })
    }

    /// With nobody, and listening nowhere.
    fn idle(
        device: &Device,
        config: ServerConfig,
        events: Events,
        observer: Option<RpingObserver>,
    ) -> Self {
        Self {
            device: device.clone(),
            config,
            events,
            observer,
            listener: None,
            sessions: Vec::new(),
            accepted: 0,
            stopping: false,
            report: ServerReport::default(),
        }
    }

    fn is_last(&self) -> bool {
        self.config.sessions != 0 && self.accepted >= self.config.sessions
    }

    /// Is there room for one more client, if need be that of the one that has been silent longest?
    fn makes_room(&mut self) -> bool {
        let running = self.sessions.iter().filter(|session| !session.is_over());
        if running.count() < self.config.at_a_time.max(1) {
            return true;
        }
        let patience = self.config.patience_ns.unwrap_or(u64::MAX);
        let limit = Some(patience.min(GIVES_WAY_NS));
        let running = self
            .sessions
            .iter_mut()
            .filter(|session| !session.is_over());
        let Some(session) = running.min_by_key(|session| session.moved) else {
            return false;
        };
        match session.check_patience(limit) {
            Ok(()) => false,
            Err(silence) => {
                session.fail(silence);
                true
            }
        }
    }

    fn on_request(&mut self, request: &CmEvent) {
        if self.stopping || self.is_last() || !self.makes_room() {
            self.report.rejected += 1;
            let rejected = request.id.reject(b"rping: busy");
            tracing::debug!(?rejected, "a request beyond the limit");
            return;
        }
        let accept = || -> Result<Session, PeerError> {
            let mut session = Session::new(&self.device, request.id.clone())?;
            session.accept(request, &self.config.terms)?;
            Ok(session)
        };
        match accept() {
            Ok(session) => {
                self.accepted += 1;
                self.sessions.push(session);
            }
            Err(error) => {
                // Dropping the identifier rejects the request.
                self.report.rejected += 1;
                self.report.error.get_or_insert(error);
            }
        }
    }

    fn on_event(&mut self, event: &CmEvent) {
        if let Some(observer) = &mut self.observer {
            observer(RpingNote::Step(format!("event {}", event.event)));
        }
        // Only callbacks hear of these: the connection goes on, or was over before.
        if matches!(
            event.event,
            CmEventType::AddrChange | CmEventType::TimewaitExit
        ) {
            return;
        }
        let request = event.event == CmEventType::ConnectRequest;
        let Some(session) = self.sessions.iter_mut().find(|s| s.id.is(&event.id)) else {
            if request {
                self.on_request(event);
            }
            return;
        };
        session.moved = self.device.now();
        if request {
            // On a connection that was taken over the client's request comes on the session's own identifier.
            if let Err(error) = session.accept(event, &self.config.terms) {
                session.fail(error);
            }
            return;
        }
        // What arrived before the connection ended counts.
        let result = session
            .advance(&mut self.observer)
            .and_then(|_| session.on_event(event));
        if let Err(error) = result {
            session.fail(error);
        }
    }

    fn advance(&mut self) -> Result<(), PeerError> {
        loop {
            let mut moved = false;
            for session in &mut self.sessions {
                match session.advance(&mut self.observer) {
                    Ok(did) => moved |= did,
                    Err(error) => session.fail(error),
                }
            }
            if let Some(event) = self.events.next()? {
                moved = true;
                self.on_event(&event);
            }
            let (over, running) = std::mem::take(&mut self.sessions)
                .into_iter()
                .partition(Session::is_over);
            self.sessions = running;
            for session in Vec::<Session>::into_iter(over) {
                let report = session.finish();
                if let Some(observer) = &mut self.observer {
                    observer(RpingNote::Ended(&report));
                }
                self.report.add(report);
            }
            if !moved {
                break;
            }
        }
        for session in &mut self.sessions {
            if let Err(error) = session.check_patience(self.config.patience_ns) {
                session.fail(error);
            }
        }
        Ok(())
    }
}

impl Machine for RpingServer {
    type Report = ServerReport;

    fn poll(&mut self) -> Option<ServerReport> {
        if let Err(error) = self.advance() {
            self.report.error.get_or_insert(error);
            for session in std::mem::take(&mut self.sessions) {
                self.report.add(session.finish());
            }
            return Some(std::mem::take(&mut self.report));
        }
        let over = self.sessions.is_empty() && (self.stopping || self.is_last());
        over.then(|| std::mem::take(&mut self.report))
    }

    fn deadline(&self) -> Option<u64> {
        let limit = self.config.patience_ns?;
        let moved = self.sessions.iter().map(|session| session.moved).min()?;
        Some(moved.saturating_add(limit))
    }

    fn stop(&mut self) {
        self.stopping = true;
        for session in &mut self.sessions {
            session.fail(PeerError::Ended {
                when: session.waiting_for(),
                why: "this server was stopped".into(),
            });
        }
    }
}
