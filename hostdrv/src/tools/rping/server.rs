//! rping's server.

use std::net::SocketAddrV4;

use super::super::connection::{terminate_of, PeerError, Terms};
use super::super::{Latency, Machine};
use super::pattern::{expected, MAX_SIZE};
use super::report::{Note, Observer, Role, ServerReport, SessionReport};
use super::{work, Info, PORT};
use crate::cm::{CmEvent, CmEventType, CmId, EventChannel};
use crate::device::Device;
use crate::verbs::{Access, Cq, Mr, Qp, QpInit, RecvWr, SendWr, Wc, WcStatus};

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The port to listen on.
    pub port: u16,
    /// Connections at a time.
    pub at_a_time: usize,
    /// Ends after so many connections; 0: when it is stopped.
    pub sessions: u64,
    /// How to accept.
    pub terms: Terms,
    /// Give a connection up when nothing happens on it for so long; `None`: never.
    pub patience_ns: Option<u64>,
}

impl Default for ServerConfig {
    /// One connection, like rping without `-P`.
    fn default() -> Self {
        Self {
            port: PORT,
            at_a_time: 1,
            sessions: 1,
            terms: Terms::default(),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Waits for the advertisement of a source (or for the connection).
    Source,
    Reading,
    /// Waits for the advertisement of a sink.
    Sink,
    Writing,
    Over,
}

impl Step {
    fn waiting_for(self) -> &'static str {
        match self {
            Step::Source => "waiting for a ping",
            Step::Reading => "reading the ping",
            Step::Sink => "waiting for the client's sink",
            Step::Writing => "writing the ping back",
            Step::Over => "closing",
        }
    }
}

/// One connection of a server.
struct Session {
    device: Device,
    // The queue pair goes before its regions.
    id: CmId,
    qp: Qp,
    cq: Cq,
    data: Mr,
    message: Mr,
    step: Step,
    /// Bytes of the ping that is being moved.
    length: u32,
    started: u64,
    ping_started: u64,
    moved: u64,
    durations: Vec<u64>,
    report: SessionReport,
}

impl Session {
    fn accept(device: &Device, request: &CmEvent, terms: &Terms) -> Result<Self, PeerError> {
        let id = request.id.clone();
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(64, None)?;
        let data = pd.alloc_mr(MAX_SIZE, Access::READ_SINK | Access::LOCAL_WRITE)?;
        let message = pd.alloc_mr(Info::SIZE, Access::LOCAL_WRITE)?;
        let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
        let now = device.now();
        let session = Self {
            device: device.clone(),
            report: SessionReport {
                role: Role::Server,
                peer: id.peer_addr(),
                negotiated: None,
                peer_private_data: request.private_data.escape_ascii().to_string(),
                iterations: 0,
                bytes_verified: 0,
                elapsed_ns: 0,
                connect_ns: None,
                latency: None,
                error: None,
            },
            id,
            qp,
            cq,
            data,
            message,
            step: Step::Source,
            length: 0,
            started: now,
            ping_started: now,
            moved: now,
            durations: Vec::new(),
        };
        // Before accepting: the client's first message may come at once.
        session.post_recv()?;
        session.id.accept(&terms.accept(request))?;
        Ok(session)
    }

    fn post_recv(&self) -> Result<(), PeerError> {
        let room = self.message.sge(0, Info::SIZE as u32);
        Ok(self.qp.post_recv(RecvWr::new(work::RECV).sge(room))?)
    }

    fn go_ahead(&self) -> Result<(), PeerError> {
        let info = Info::default();
        Ok(self
            .qp
            .post_send(SendWr::send(work::SEND).inline(&info.to_bytes()).signaled())?)
    }

    fn on_message(&mut self) -> Result<(), PeerError> {
        let mut bytes = [0; Info::SIZE];
        self.message.read(0, &mut bytes)?;
        self.post_recv()?;
        let info = Info::from_bytes(&bytes);
        match self.step {
            Step::Source => {
                if info.size == 0 || info.size as usize > MAX_SIZE {
                    return Err(PeerError::Advertised {
                        got: info.size,
                        allowed: format!("1 to {MAX_SIZE}"),
                    });
                }
                self.length = info.size;
                self.ping_started = self.device.now();
                // What is left from the ping before must not pass for this one.
                self.data.fill(0, info.size as usize, 0xff)?;
                let read = SendWr::read(work::READ, info.region());
                self.qp
                    .post_send(read.sge(self.data.sge(0, info.size)).signaled())?;
                self.step = Step::Reading;
                Ok(())
            }
            Step::Sink => {
                // As rping has it: the text and its final zero.
                let bytes = self.data.to_vec(0, self.length as usize)?;
                let text = bytes.iter().position(|byte| *byte == 0);
                let length = text.map_or(bytes.len(), |at| at + 1) as u32;
                if info.size < length {
                    return Err(PeerError::Advertised {
                        got: info.size,
                        allowed: format!("at least {length}"),
                    });
                }
                let write = SendWr::write(work::WRITE, info.region());
                self.qp
                    .post_send(write.sge(self.data.sge(0, length)).signaled())?;
                self.step = Step::Writing;
                Ok(())
            }
            Step::Reading | Step::Writing | Step::Over => Err(PeerError::Ended {
                when: self.step.waiting_for(),
                why: "the client sent a message out of turn".into(),
            }),
        }
    }

    fn on_completion(&mut self, wc: Wc, observer: &mut Option<Observer>) -> Result<(), PeerError> {
        match wc.status {
            WcStatus::Success => {}
            // The receive that nothing is left for; else the DISCONNECTED says more.
            WcStatus::WrFlushError => return Ok(()),
            status => {
                return Err(PeerError::Completion {
                    work: work::name(wc.wr_id),
                    status,
                    terminate: terminate_of(&self.device, self.qp.qp_num()),
                })
            }
        }
        match wc.wr_id {
            work::RECV if wc.byte_len != Info::SIZE as u32 => Err(PeerError::MessageSize {
                got: wc.byte_len,
                expected: Info::SIZE as u32,
            }),
            work::RECV => self.on_message(),
            work::READ => {
                let ping = self.data.to_vec(0, self.length as usize)?;
                if let Some(observer) = observer {
                    observer(Note::Ping(&ping));
                }
                let number = self.report.iterations;
                let right = expected(number, ping.len());
                if let Some(mismatch) = PeerError::mismatch("ping", number, &right, &ping) {
                    return Err(mismatch);
                }
                self.step = Step::Sink;
                self.go_ahead()
            }
            work::WRITE => {
                self.report.iterations += 1;
                self.report.bytes_verified += u64::from(self.length);
                self.durations.push(self.device.now() - self.ping_started);
                self.step = Step::Source;
                self.go_ahead()
            }
            _ => Ok(()),
        }
    }

    fn on_event(&mut self, event: &CmEvent) -> Result<(), PeerError> {
        match event.event {
            CmEventType::Established => {
                self.report.negotiated = event.agreed.map(Into::into);
                self.report.connect_ns = Some(self.device.now() - self.started);
                Ok(())
            }
            // Between two pings the client may go, in order.
            CmEventType::Disconnected if self.step == Step::Source && event.status == 0 => {
                self.step = Step::Over;
                Ok(())
            }
            CmEventType::Disconnected => Err(PeerError::ended(event, self.step.waiting_for())),
            _ => Err(PeerError::not_connected(event)),
        }
    }

    /// Its completions; false: there were none.
    fn advance(&mut self, observer: &mut Option<Observer>) -> Result<bool, PeerError> {
        let mut moved = false;
        while let Some(wc) = self.cq.poll_one()? {
            moved = true;
            self.moved = self.device.now();
            if let Some(observer) = observer {
                observer(Note::Step(format!(
                    "{} completed: {:?}",
                    work::name(wc.wr_id),
                    wc.status
                )));
            }
            self.on_completion(wc, observer)?;
        }
        Ok(moved)
    }

    fn check_patience(&self, patience_ns: Option<u64>) -> Result<(), PeerError> {
        let waited = self.device.now().saturating_sub(self.moved);
        if self.step != Step::Over && patience_ns.is_some_and(|limit| waited >= limit) {
            return Err(PeerError::Silence {
                waited_ms: waited / 1_000_000,
                waiting_for: self.step.waiting_for(),
            });
        }
        Ok(())
    }

    fn fail(&mut self, error: PeerError) {
        self.report.error.get_or_insert(error);
        self.step = Step::Over;
    }

    fn finish(mut self) -> SessionReport {
        self.report.elapsed_ns = self.device.now() - self.started;
        self.report.latency = Latency::of(&mut self.durations);
        self.report
    }
}

/// The server's state. Dropping it aborts its connections.
pub struct Server {
    device: Device,
    config: ServerConfig,
    channel: EventChannel,
    observer: Option<Observer>,
    listener: CmId,
    sessions: Vec<Session>,
    /// Accepted so far.
    accepted: u64,
    stopping: bool,
    report: ServerReport,
}

impl Server {
    /// Begins to listen.
    pub fn start(
        device: &Device,
        config: ServerConfig,
        observer: Option<Observer>,
    ) -> Result<Self, PeerError> {
        let channel = device.create_event_channel();
        let listener = channel.create_id();
        listener.bind_addr(SocketAddrV4::new(device.ip(), config.port))?;
        listener.listen(config.at_a_time.max(1) + 8)?;
        Ok(Self {
            device: device.clone(),
            config,
            channel,
            observer,
            listener,
            sessions: Vec::new(),
            accepted: 0,
            stopping: false,
            report: ServerReport::default(),
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddrV4 {
        self.listener.local_addr()
    }

    fn is_last(&self) -> bool {
        self.config.sessions != 0 && self.accepted >= self.config.sessions
    }

    fn on_request(&mut self, request: &CmEvent) {
        let full = self.sessions.len() >= self.config.at_a_time.max(1);
        if full || self.stopping || self.is_last() {
            self.report.rejected += 1;
            let rejected = request.id.reject(b"rping: busy");
            tracing::debug!(?rejected, "a request beyond the limit");
            return;
        }
        match Session::accept(&self.device, request, &self.config.terms) {
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
            observer(Note::Step(format!("event {}", event.event)));
        }
        if event.event == CmEventType::ConnectRequest {
            self.on_request(event);
            return;
        }
        let Some(session) = self.sessions.iter_mut().find(|s| s.id.is(&event.id)) else {
            return;
        };
        session.moved = self.device.now();
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
            if let Some(event) = self.channel.try_get_event()? {
                moved = true;
                self.on_event(&event);
            }
            let (over, running) = std::mem::take(&mut self.sessions)
                .into_iter()
                .partition(|session| session.step == Step::Over);
            self.sessions = running;
            for session in Vec::<Session>::into_iter(over) {
                let report = session.finish();
                if let Some(observer) = &mut self.observer {
                    observer(Note::Ended(&report));
                }
                self.report.sessions.push(report);
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

impl Machine for Server {
    type Report = ServerReport;

    fn poll(&mut self) -> Option<ServerReport> {
        if let Err(error) = self.advance() {
            self.report.error.get_or_insert(error);
            let sessions = std::mem::take(&mut self.sessions);
            let reports = sessions.into_iter().map(Session::finish);
            self.report.sessions.extend(reports);
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
                when: session.step.waiting_for(),
                why: "this server was stopped".into(),
            });
        }
    }
}
