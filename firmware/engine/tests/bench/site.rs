//! A station of ours with the small services on it, for a peer that is not ours: frames in, frames out.

use weft_engine::services::{Service, Services};
use weft_engine::*;

use super::card::{Card, MEMORY};

pub const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const IP: [u8; 4] = [10, 0, 0, 1];
/// Where the services are.
pub const PORTS: [(u16, Service); 3] = [
    (7, Service::Echo),
    (9, Service::Discard),
    (19, Service::Chargen),
];
/// Streams at a time.
const PLACES: u64 = 4;
/// Bytes of each ring. No power of two, and no multiple of a segment.
pub const RING: u32 = 100_003;

pub struct Site {
    pub engine: Engine,
    pub card: Card,
    pub services: Services,
    /// The queue pair and the ring of each of their places.
    pub places: Vec<(QpId, Sge)>,
    pub events: Vec<Event>,
    /// Nobody serves the streams: what comes stays where it is.
    pub asleep: bool,
}

impl Site {
    pub fn new(change: impl Fn(&mut EngineConfig)) -> Self {
        let mut config = EngineConfig {
            mac: MAC,
            ip: IP,
            num_flows: 8,
            num_stags: 16,
            ..Default::default()
        };
        change(&mut config);
        let mut card = Card::new(MAC, config.num_flows, config.num_stags);
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        let places: Vec<_> = (0..PLACES)
            .map(|number| {
                let at = MEMORY + number * u64::from(RING);
                let length = u64::from(RING);
                let stag = engine.register(pd, 0, at, length, Access::NONE, &mut card);
                let config = QpConfig {
                    pd,
                    send_depth: 1,
                    recv_depth: 1,
                    max_sge: 1,
                    rung: None,
                };
                let ring = Sge {
                    stag: stag.unwrap(),
                    to: 0,
                    length: RING,
                };
                (engine.create_qp(&config, &mut card).unwrap(), ring)
            })
            .collect();
        let services = Services::start(&mut engine, &PORTS, places.clone()).unwrap();
        Site {
            engine,
            card,
            services,
            places,
            events: Vec::new(),
            asleep: false,
        }
    }

    /// A frame from the wire.
    pub fn receive(&mut self, now: u64, frame: &[u8]) {
        self.card.receive(frame);
        self.work(now);
    }

    /// Does what is due.
    pub fn timers(&mut self, now: u64) {
        while self.engine.next_deadline().is_some_and(|at| at <= now) {
            self.engine.on_timer(now, &mut self.card);
        }
        self.work(now);
    }

    fn work(&mut self, now: u64) {
        loop {
            let mut busy = false;
            while let Some((report, raw)) = self.card.take_report() {
                let card = &mut self.card;
                self.engine.on_report(now, &report, raw.as_deref(), card);
                busy = true;
            }
            while let Some(event) = self.engine.poll_event() {
                let (engine, card) = (&mut self.engine, &mut self.card);
                self.services.on_event(now, &event, engine, card);
                self.events.push(event);
                busy = true;
            }
            if !self.asleep {
                self.services.poll(now, &mut self.engine, &mut self.card);
            }
            self.card.run_jobs();
            if !busy && self.card.reports.is_empty() {
                return;
            }
        }
    }

    /// Frames that it has sent.
    pub fn sent(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.card.out)
    }
}

/// Bytes to be known again.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u32)
        .map(|i| (i * 7 + i / 251) as u8)
        .collect()
}
