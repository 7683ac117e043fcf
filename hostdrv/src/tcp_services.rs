//! Echo, discard and chargen over plain TCP on the card's address: the engine's TCP without MPA.

use std::collections::VecDeque;
use std::{fmt, mem};

use weft_engine::services::Services;
pub use weft_engine::services::{chargen, Service, ServiceCounts};
use weft_engine::{Access, QpConfig, QpId, Sge};

use crate::device::Device;
use crate::error::DeviceError;
use crate::verbs::{Mr, Pd, VerbsError};

/// Bytes written and not acknowledged that a stream may have.
const RING: usize = 256 << 10;

/// The services of a device; one set of them at a time. Dropping it resets its streams.
#[must_use = "the services end when this is dropped"]
pub struct TcpServices {
    device: Device,
    ports: Vec<(u16, Service)>,
    services: Services,
    qps: Vec<QpId>,
    // Behind what is dropped by hand.
    _rings: Mr,
    _pd: Pd,
}

impl TcpServices {
    /// Begins to listen at these ports. `at_a_time`: streams at a time, 1 at least; each takes a flow of the card, and one more is reset.
    pub fn start(
        device: &Device,
        ports: Vec<(u16, Service)>,
        at_a_time: u16,
    ) -> Result<Self, VerbsError> {
        let pd = device.alloc_pd()?;
        let places = usize::from(at_a_time.max(1));
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

    /// Does what is to be done for its streams, after [`Device::progress`]. Never blocks.
    pub fn advance(&mut self) -> Result<(), DeviceError> {
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
}

impl Drop for TcpServices {
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

impl fmt::Debug for TcpServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpServices")
            .field("device", &self.device)
            .field("ports", &self.ports)
            .finish_non_exhaustive()
    }
}
