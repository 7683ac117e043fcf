//! Echo, discard and chargen over plain TCP on the card's address: the engine's TCP without MPA, so that other people's suites
//! judge it.

use std::num::NonZeroU16;

use serde::Serialize;
use weft_hostdrv::device::Device;
use weft_hostdrv::tcp_services::TcpServices;
pub use weft_hostdrv::tcp_services::{chargen, Service, ServiceCounts};
use weft_hostdrv::verbs::VerbsError;
use weft_hostdrv::DeviceError;

use super::Machine;

/// What to serve.
#[derive(Clone, Debug, Default)]
pub struct StreamConfig {
    /// The port of echo (RFC 862).
    pub echo: Option<NonZeroU16>,
    /// The port of discard (RFC 863).
    pub discard: Option<NonZeroU16>,
    /// The port of chargen (RFC 864).
    pub chargen: Option<NonZeroU16>,
    /// Streams at a time; each takes a flow of the card. One more is reset.
    pub at_a_time: u16,
}

impl StreamConfig {
    /// Ports and what is there.
    pub fn ports(&self) -> Vec<(u16, Service)> {
        let all = [
            (self.echo, Service::Echo),
            (self.discard, Service::Discard),
            (self.chargen, Service::Chargen),
        ];
        let all = all.into_iter();
        all.filter_map(|(port, service)| Some((port?.get(), service)))
            .collect()
    }
}

/// What a server has to say in the end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamReport {
    /// Streams that were served.
    pub streams: u64,
    /// Streams that there was no place for.
    pub refused: u64,
    /// Bytes received.
    #[serde(rename = "received_bytes")]
    pub received: u64,
    /// Bytes sent.
    #[serde(rename = "sent_bytes")]
    pub sent: u64,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The server's state. Dropping it resets its streams.
pub struct StreamServer {
    services: TcpServices,
    stopping: bool,
}

impl StreamServer {
    /// Begins to listen.
    pub fn start(device: &Device, config: &StreamConfig) -> Result<Self, VerbsError> {
        Ok(Self {
            services: TcpServices::start(device, config.ports(), config.at_a_time)?,
            stopping: false,
        })
    }

    /// What it counted so far.
    pub fn counts(&self) -> ServiceCounts {
        self.services.counts()
    }

    /// Streams that it serves now.
    pub fn streams(&self) -> usize {
        self.services.streams()
    }

    fn report(&self, error: Option<&DeviceError>) -> StreamReport {
        let counts = self.services.counts();
        StreamReport {
            streams: counts.streams,
            refused: counts.refused,
            received: counts.read,
            sent: counts.written,
            error: error.map(ToString::to_string),
        }
    }
}

impl Machine for StreamServer {
    type Report = StreamReport;

    fn poll(&mut self) -> Option<StreamReport> {
        match self.services.advance() {
            Err(error) => Some(self.report(Some(&error))),
            Ok(()) => self.stopping.then(|| self.report(None)),
        }
    }

    fn deadline(&self) -> Option<u64> {
        None
    }

    /// Its streams are reset: none of these services has an end of its own.
    fn stop(&mut self) {
        self.stopping = true;
    }
}
