//! ucmatose's client.

use std::net::SocketAddrV4;

use super::super::peer_error::PeerError;
use super::super::{Latency, Machine};
use super::report::{UcmatoseNote, UcmatoseObserver, UcmatoseReport};
use super::session::{Role, Session, Sessions};
use super::Load;
use weft_hostdrv::cm::EventChannel;
use weft_hostdrv::device::Device;

/// The client's state. Dropping it aborts its connections.
pub struct UcmatoseClient {
    device: Device,
    server: SocketAddrV4,
    load: Load,
    observer: Option<UcmatoseObserver>,
    sessions: Sessions,
    channel: EventChannel,
    started: u64,
    round_started: u64,
    rounds: Vec<u64>,
    stopping: bool,
}

impl UcmatoseClient {
    /// Begins the first round.
    pub fn start(
        device: &Device,
        server: SocketAddrV4,
        load: Load,
        observer: Option<UcmatoseObserver>,
    ) -> Result<Self, PeerError> {
        let sessions = Sessions::new(device, &load)?;
        let now = device.now();
        let mut client = Self {
            device: device.clone(),
            server,
            load,
            observer,
            sessions,
            channel: device.create_event_channel(),
            started: now,
            round_started: now,
            rounds: Vec::new(),
            stopping: false,
        };
        client.begin_round();
        Ok(client)
    }

    fn begin_round(&mut self) {
        self.round_started = self.device.now();
        self.sessions.round = self.sessions.report.rounds;
        for number in 0..self.load.connections {
            match self.connect(number) {
                Ok(session) => self.sessions.list.push(session),
                Err(error) => self.sessions.fail(number, error),
            }
        }
    }

    fn connect(&self, number: usize) -> Result<Session, PeerError> {
        let id = self.channel.create_id();
        id.resolve_addr(self.server)?;
        id.resolve_route()?;
        let shared = self.sessions.shared.as_ref();
        let session = Session::new(&self.device, Role::Client, id, &self.load, number, shared)?;
        session.id.connect(&self.load.terms.connect())?;
        Ok(session)
    }
}

impl Machine for UcmatoseClient {
    type Report = UcmatoseReport;

    fn poll(&mut self) -> Option<UcmatoseReport> {
        loop {
            let event = match self.channel.try_get_event() {
                Ok(event) => event,
                Err(error) => {
                    self.sessions.report.error = Some(error.into());
                    break;
                }
            };
            let moved = self.sessions.advance(&self.load, event.as_ref());
            if self.sessions.list.is_empty() {
                self.rounds.push(self.device.now() - self.round_started);
                self.sessions.report.rounds += 1;
                let done = self.sessions.report.rounds;
                if let Some(observer) = &mut self.observer {
                    let of = self.load.rounds;
                    observer(UcmatoseNote::Round { done, of });
                }
                if self.stopping || done >= self.load.rounds.max(1) {
                    break;
                }
                self.begin_round();
            } else if event.is_none() && !moved {
                return None;
            }
        }
        let mut report = self.sessions.finish(self.device.now() - self.started);
        report.round = Latency::of(&mut self.rounds);
        Some(report)
    }

    fn deadline(&self) -> Option<u64> {
        let deadlines = self.sessions.list.iter();
        deadlines.filter_map(|s| s.deadline(&self.load)).min()
    }

    fn stop(&mut self) {
        self.stopping = true;
    }
}
