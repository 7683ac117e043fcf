//! rping's client.

use std::net::SocketAddrV4;
use std::os::fd::AsFd;

use super::super::connection::ConnectionTerms;
use super::super::peer_error::{terminate_of, PeerError};
use super::super::{Latency, Machine};
use super::keys::{Keys, Lent};
use super::pattern::{expected, MAX_SIZE, MIN_SIZE};
use super::report::{Role, RpingNote, RpingObserver, SessionReport};
use super::{work, Info, SIZE};
use weft_hostdrv::cm::{AddrInfo, CmEvent, CmEventType, CmId, EventChannel, MpaStart};
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{Access, Cq, Mr, Qp, QpInit, RecvWr, SendWr, Wc, WcOpcode, WcStatus};

/// A server that has heard of the end closes its side within this, or the client aborts the connection.
const CLOSES_WITHIN_NS: u64 = 1_000_000_000;

/// How to ping.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: SocketAddrV4,
    /// Pings; 0: until it is stopped.
    pub count: u64,
    /// Bytes of a ping.
    pub size: usize,
    /// How to connect.
    pub terms: ConnectionTerms,
    /// The way there, so that nobody is asked.
    pub way: Option<AddrInfo>,
    /// What the server is given to read and to write with.
    pub keys: Keys,
    /// Give up when nothing happens for so long; `None`: never.
    pub patience_ns: Option<u64>,
}

impl ClientConfig {
    /// rping's defaults, one ping.
    pub fn new(server: SocketAddrV4) -> Self {
        Self {
            server,
            count: 1,
            size: SIZE,
            terms: ConnectionTerms::default(),
            way: None,
            keys: Keys::default(),
            patience_ns: Some(60_000_000_000),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Connecting,
    /// The source was advertised.
    Reading,
    /// The sink was advertised.
    Writing,
    Closing,
    Over,
}

impl Step {
    fn waiting_for(self) -> &'static str {
        match self {
            Step::Connecting => "waiting for the connection",
            Step::Reading => "waiting for the server to read the ping",
            Step::Writing => "waiting for the server to write the ping back",
            Step::Closing | Step::Over => "waiting for the connection to close",
        }
    }
}

/// The client's state. Dropping it aborts the connection.
pub struct RpingClient {
    device: Device,
    config: ClientConfig,
    channel: EventChannel,
    observer: Option<RpingObserver>,
    // The queue pair goes before its regions.
    id: CmId,
    qp: Qp,
    cq: Cq,
    source: Lent,
    sink: Lent,
    message: Mr,
    step: Step,
    ping: Vec<u8>,
    started: u64,
    ping_started: u64,
    moved: u64,
    stopping: bool,
    durations: Vec<u64>,
    report: SessionReport,
}

impl RpingClient {
    /// Makes its buffers and begins to connect.
    pub fn start(
        device: &Device,
        config: ClientConfig,
        observer: Option<RpingObserver>,
    ) -> Result<Self, PeerError> {
        let mut client = Self::make(device, config, observer)?;
        match &client.config.way {
            Some(way) => client.id.resolve_with(way)?,
            None => {
                client.id.resolve_addr(client.config.server)?;
                client.id.resolve_route()?;
            }
        }
        client.id.connect(&client.config.terms.connect())?;
        client.note(|| "connecting".into());
        Ok(client)
    }

    /// The same on a connection that the kernel has made, taken out of it (see [`CmId::take_over`]).
    pub fn take_over(
        device: &Device,
        config: ClientConfig,
        socket: &impl AsFd,
        observer: Option<RpingObserver>,
    ) -> Result<Self, PeerError> {
        let mut client = Self::make(device, config, observer)?;
        client.id.take_over(socket).map_err(PeerError::taking)?;
        client.note(|| "taking the connection over".into());
        Ok(client)
    }

    fn make(
        device: &Device,
        config: ClientConfig,
        observer: Option<RpingObserver>,
    ) -> Result<Self, PeerError> {
        if !(MIN_SIZE..=MAX_SIZE).contains(&config.size) {
            return Err(PeerError::Setting {
                setting: "the size of a ping",
                value: config.size as u64,
                allowed: format!("{MIN_SIZE} to {MAX_SIZE}"),
            });
        }
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(64, None)?;
        let source = Lent::new(&pd, config.keys, config.size, Access::REMOTE_READ)?;
        let sink = Lent::new(&pd, config.keys, config.size, Access::REMOTE_WRITE)?;
        let message = pd.alloc_mr(Info::SIZE, Access::LOCAL_WRITE)?;
        let channel = device.create_event_channel();
        let id = channel.create_id();
        let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
        let started = device.now();
        let client = Self {
            device: device.clone(),
            report: SessionReport {
                role: Role::Client,
                peer: Some(config.server),
                negotiated: None,
                peer_private_data: String::new(),
                iterations: 0,
                bytes_verified: 0,
                elapsed_ns: 0,
                connect_ns: None,
                latency: None,
                error: None,
            },
            config,
            channel,
            observer,
            id,
            qp,
            cq,
            source,
            sink,
            message,
            step: Step::Connecting,
            ping: Vec::new(),
            started,
            ping_started: started,
            moved: started,
            stopping: false,
            durations: Vec::new(),
        };
        client.post_recv()?;
        Ok(client)
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(observer) = &mut self.observer {
            observer(RpingNote::Step(text()));
        }
    }

    fn post_recv(&self) -> Result<(), PeerError> {
        let room = self.message.sge(0, Info::SIZE as u32);
        Ok(self.qp.post_recv(RecvWr::new(work::RECV).sge(room))?)
    }

    fn advertise(&self, memory: &Lent) -> Result<(), PeerError> {
        let info = memory.share(&self.qp)?;
        Ok(self
            .qp
            .post_send(SendWr::send(work::SEND).inline(&info.to_bytes()).signaled())?)
    }

    /// Begins the next ping, or closes.
    fn next_ping(&mut self) -> Result<(), PeerError> {
        let number = self.report.iterations;
        if self.stopping || (self.config.count != 0 && number == self.config.count) {
            self.step = Step::Closing;
            self.id.disconnect()?;
            self.note(|| "disconnecting".into());
            return Ok(());
        }
        self.ping = expected(number, self.config.size);
        self.source.memory.write(0, &self.ping)?;
        // What is left from the ping before must not pass for this one.
        let wrong: Vec<u8> = self.ping.iter().map(|byte| !byte).collect();
        self.sink.memory.write(0, &wrong)?;
        self.ping_started = self.device.now();
        self.step = Step::Reading;
        self.advertise(&self.source)?;
        self.note(|| format!("ping {number}: source advertised"));
        Ok(())
    }

    fn check_ping(&mut self) -> Result<(), PeerError> {
        let number = self.report.iterations;
        let back = self.sink.memory.to_vec(0, self.config.size)?;
        if let Some(mismatch) = PeerError::mismatch("ping", number, &self.ping, &back) {
            return Err(mismatch);
        }
        self.durations.push(self.device.now() - self.ping_started);
        self.report.iterations += 1;
        self.report.bytes_verified += back.len() as u64;
        if let Some(observer) = &mut self.observer {
            observer(RpingNote::Ping(&back));
        }
        Ok(())
    }

    fn on_event(&mut self, event: &CmEvent) -> Result<(), PeerError> {
        self.note(|| format!("event {}", event.event));
        match event.event {
            CmEventType::AddrResolved | CmEventType::RouteResolved => Ok(()),
            CmEventType::StreamEstablished => {
                let param = self.config.terms.connect();
                Ok(self.id.start_mpa(&MpaStart::Active(&param))?)
            }
            CmEventType::Established => {
                self.report.negotiated = event.agreed.map(Into::into);
                self.report.peer_private_data = event.private_data.escape_ascii().to_string();
                self.report.connect_ns = Some(self.device.now() - self.started);
                self.next_ping()
            }
            CmEventType::Disconnected if self.step == Step::Closing => {
                self.step = Step::Over;
                Ok(())
            }
            CmEventType::Disconnected => Err(PeerError::ended(event, self.step.waiting_for())),
            _ => Err(PeerError::not_connected(event)),
        }
    }

    fn on_completion(&mut self, wc: Wc) -> Result<(), PeerError> {
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
        if wc.opcode != WcOpcode::Recv {
            return Ok(());
        }
        if wc.byte_len != Info::SIZE as u32 {
            return Err(PeerError::MessageSize {
                got: wc.byte_len,
                expected: Info::SIZE as u32,
            });
        }
        self.post_recv()?;
        match self.step {
            Step::Reading => {
                self.step = Step::Writing;
                self.source.take_back(&self.qp)?;
                self.advertise(&self.sink)?;
                self.note(|| "the source was read; sink advertised".into());
                Ok(())
            }
            Step::Writing => {
                self.sink.take_back(&self.qp)?;
                self.check_ping()?;
                self.next_ping()
            }
            Step::Connecting | Step::Closing | Step::Over => Ok(()),
        }
    }

    /// Everything that is there.
    fn advance(&mut self) -> Result<(), PeerError> {
        loop {
            // Completions first: what arrived before the connection ended counts.
            if let Some(wc) = self.cq.poll_one()? {
                self.moved = self.device.now();
                self.on_completion(wc)?;
            } else if let Some(event) = self.channel.try_get_event()? {
                self.moved = self.device.now();
                self.on_event(&event)?;
            } else {
                break;
            }
        }
        let waited = self.device.now().saturating_sub(self.moved);
        // All has been said: that the server leaves its end open is no fault of the pings.
        if self.step == Step::Closing && waited >= CLOSES_WITHIN_NS {
            self.note(|| "the server does not close: aborting".into());
            self.step = Step::Over;
        }
        if self.step != Step::Over && self.config.patience_ns.is_some_and(|limit| waited >= limit) {
            return Err(PeerError::Silence {
                waited_ms: waited / 1_000_000,
                waiting_for: self.step.waiting_for(),
            });
        }
        Ok(())
    }

    /// Stopped before everything was done that was asked for: not even one ping, where their number was left open.
    fn is_cut_short(&self) -> bool {
        self.stopping && self.report.iterations < self.config.count.max(1)
    }

    fn finish(&mut self) -> SessionReport {
        if self.is_cut_short() {
            let (done, asked) = (self.report.iterations, self.config.count);
            self.report
                .error
                .get_or_insert(PeerError::Interrupted { done, asked });
        }
        self.report.elapsed_ns = self.device.now() - self.started;
        self.report.latency = Latency::of(&mut self.durations);
        if let Some(observer) = &mut self.observer {
            observer(RpingNote::Ended(&self.report));
        }
        self.report.clone()
    }
}

impl Machine for RpingClient {
    type Report = SessionReport;

    fn poll(&mut self) -> Option<SessionReport> {
        if let Err(error) = self.advance() {
            self.report.error.get_or_insert(error);
            self.step = Step::Over;
        }
        (self.step == Step::Over).then(|| self.finish())
    }

    fn deadline(&self) -> Option<u64> {
        let closing = (self.step == Step::Closing).then_some(CLOSES_WITHIN_NS);
        let limit = self.config.patience_ns.into_iter().chain(closing).min()?;
        Some(self.moved.saturating_add(limit))
    }

    fn stop(&mut self) {
        self.stopping = true;
        if self.step == Step::Connecting {
            self.step = Step::Over;
        }
    }
}
