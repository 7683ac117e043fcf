//! Echo, discard and chargen over plain TCP on the card's address: the engine's TCP without MPA, so that other people's suites
//! judge it.

use std::collections::VecDeque;
use std::mem;
use std::num::NonZeroU16;

use serde::Serialize;
use weft_engine::services::Services;
pub use weft_engine::services::{chargen, Service, ServiceCounts};
use weft_engine::{Access, QpConfig, QpId, Sge};

use super::Machine;
use crate::device::Device;
use crate::error::DeviceError;
use crate::verbs::{Mr, Pd, VerbsError};

/// Bytes written and not acknowledged that a stream may have.
const RING: usize = 256 << 10;

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
    device: Device,
    ports: Vec<(u16, Service)>,
    services: Services,
    qps: Vec<QpId>,
    stopping: bool,
    // Behind what is dropped by hand.
    _rings: Mr,
    _pd: Pd,
}

impl StreamServer {
    /// Begins to listen.
    pub fn start(device: &Device, config: &StreamConfig) -> Result<Self, VerbsError> {
        let pd = device.alloc_pd()?;
        let places = usize::from(config.at_a_time.max(1));
        let rings = pd.alloc_mr_at(places * RING, 0, Access::NONE)?;
        let stag = rings.lkey();
        let qp = QpConfig {
            pd: pd.id(),
            send_depth: 1,
            recv_depth: 1,
            max_sge: 1,
            rung: None,
        };
        {
            let mut state = device.lock();
            if state.stream_events.is_some() {
                let device = device.name().to_owned();
                return Err(DeviceError::StreamServerTaken { device }.into());
            }
            state.stream_events = Some(VecDeque::new());
        }
        let mut qps = Vec::with_capacity(places);
        let ports = config.ports();
        let started = device.with_engine(|engine, now, card| {
            let mut start = || {
                for _ in 0..places {
                    qps.push(engine.create_qp(&qp, card)?);
                }
                let ring = |place: usize| Sge {
                    stag,
                    to: (place * RING) as u64,
                    length: RING as u32,
                };
                let places = qps.iter().copied().zip((0..places).map(ring));
                Services::start(engine, &ports, places)
            };
            start().inspect_err(|_| {
                for qp in &qps {
                    let _ = engine.destroy_qp(now, *qp, card);
                }
            })
        });
        let services = match started.map_err(VerbsError::from).and_then(|s| Ok(s?)) {
            Ok(services) => services,
            Err(error) => {
                device.lock().stream_events = None;
                return Err(error);
            }
        };
        Ok(Self {
            device: device.clone(),
            ports,
            services,
            qps,
            stopping: false,
            _rings: rings,
            _pd: pd,
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

    fn advance(&mut self) -> Result<(), DeviceError> {
        let waiting = self.device.lock().stream_events.as_mut().map(mem::take);
        let events = waiting.unwrap_or_default();
        let services = &mut self.services;
        self.device.with_engine(|engine, now, card| {
            for event in &events {
                services.on_event(now, event, engine, card);
            }
            services.poll(now, engine, card);
        })
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
        match self.advance() {
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

impl Drop for StreamServer {
    fn drop(&mut self) {
        self.device.lock().stream_events = None;
        let (ports, qps) = (&self.ports, &self.qps);
        let gone = self.device.with_engine(|engine, now, card| {
            for (port, _) in ports {
                let _ = engine.unlisten(now, *port, card);
            }
            for qp in qps {
                let _ = engine.destroy_qp(now, *qp, card);
            }
        });
        if let Err(error) = gone {
            tracing::debug!(%error, "streams not reset");
        }
    }
}
