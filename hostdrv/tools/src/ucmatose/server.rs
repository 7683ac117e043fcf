//! ucmatose's server.

use std::net::SocketAddrV4;

use super::super::peer_error::PeerError;
use super::super::Machine;
use super::report::{UcmatoseNote, UcmatoseObserver, UcmatoseReport};
use super::session::{Role, Session, Sessions};
use super::Load;
use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, EventChannel};
use weft_hostdrv::device::Device;

/// The server's state. Dropping it aborts its connections.
pub struct UcmatoseServer {
    device: Device,
    load: Load,
    observer: Option<UcmatoseObserver>,
    sessions: Sessions,
    listener: CmId,
    channel: EventChannel,
    accepted: usize,
    started: u64,
    stopping: bool,
}

impl UcmatoseServer {
    /// Begins to listen.
    pub fn start(
        device: &Device,
        port: u16,
        load: Load,
        observer: Option<UcmatoseObserver>,
    ) -> Result<Self, PeerError> {
        let sessions = Sessions::new(device, &load)?;
        let channel = device.create_event_channel();
        let listener = channel.create_id();
        listener.bind_addr(SocketAddrV4::new(device.ip(), port))?;
        listener.listen(load.connections + 8)?;
        Ok(Self {
            device: device.clone(),
            load,
            observer,
            sessions,
            listener,
            channel,
            accepted: 0,
            started: device.now(),
            stopping: false,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddrV4 {
        self.listener.local_addr()
    }

    fn is_last(&self) -> bool {
        let all = self
            .load
            .rounds
            .saturating_mul(self.load.connections as u64);
        all != 0 && self.accepted as u64 >= all
    }

    fn on_request(&mut self, request: &CmEvent) {
        if self.stopping || self.is_last() {
            // Dropping the identifier rejects the request.
            self.sessions.report.rejected += 1;
            return;
        }
        let number = self.accepted;
        let accept = || -> Result<Session, PeerError> {
            let id = request.id.clone();
            let shared = self.sessions.shared.as_ref();
            let session = Session::new(&self.device, Role::Server, id, &self.load, number, shared)?;
            session.id.accept(&self.load.terms.accept(request))?;
            Ok(session)
        };
        let session = accept();
        // One that could not be accepted counts, too: it will not come again.
        self.accepted += 1;
        match session {
            Ok(session) => self.sessions.list.push(session),
            Err(error) => self.sessions.fail(number, error),
        }
    }
}

impl Machine for UcmatoseServer {
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
            let before = self.sessions.list.len();
            if let Some(request) = &event {
                if request.event == CmEventType::ConnectRequest {
                    self.on_request(request);
                    continue;
                }
            }
            let moved = self.sessions.advance(&self.load, event.as_ref());
            if self.sessions.list.len() < before {
                if let Some(observer) = &mut self.observer {
                    let done = self.sessions.report.connections + self.sessions.report.failures;
                    observer(UcmatoseNote::Connection { done });
                }
            }
            if self.sessions.list.is_empty() && (self.stopping || self.is_last()) {
                break;
            }
            if event.is_none() && !moved {
                return None;
            }
        }
        let connections = self.load.connections as u64;
        self.sessions.report.rounds = self.sessions.report.connections / connections;
        Some(self.sessions.finish(self.device.now() - self.started))
    }

    fn deadline(&self) -> Option<u64> {
        let deadlines = self.sessions.list.iter();
        deadlines.filter_map(|s| s.deadline(&self.load)).min()
    }

    fn stop(&mut self) {
        self.stopping = true;
        self.sessions.list.clear();
    }
}
