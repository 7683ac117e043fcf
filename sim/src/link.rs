//! A link between two ends: delay, bandwidth, and faults by seed (loss, duplication, reordering,
//! corruption, another cutting of TCP segments, as a middle box may do).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::capture::Capture;
use crate::model::ethernet;

/// How often a link does harm: chances per million frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The frame is lost.
    pub loss: u32,
    /// The frame arrives twice.
    pub duplicate: u32,
    /// The frame arrives late, behind others.
    pub reorder: u32,
    /// A bit is flipped; half of these are not seen by the MAC's FCS.
    pub corrupt: u32,
    /// A TCP segment with payload is cut in two at any byte.
    pub resegment: u32,
}

/// What a link is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One-way delay in nanoseconds.
    pub delay_ns: u64,
    /// Rate in Gb/s; each frame takes 24 bytes more on the wire (preamble, FCS, gap).
    pub gbps: u64,
    /// Faults.
    pub faults: Faults,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            delay_ns: 500,
            gbps: 100,
            faults: Faults::default(),
        }
    }
}

/// A frame on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    arrival: u64,
    number: u64,
    to: usize,
    bad: bool,
    frame: Vec<u8>,
}

/// A frame at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The end it came to.
    pub to: usize,
    /// The frame.
    pub frame: Vec<u8>,
    /// The FCS is wrong.
    pub bad: bool,
}

/// A frame as the link saw it go in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When it was sent.
    pub time: u64,
    /// Which end sent it.
    pub from: usize,
    /// The frame.
    pub frame: Vec<u8>,
    /// What the link did to it, if anything.
    pub fate: Option<String>,
}

/// A link.
pub struct Link {
    config: LinkConfig,
    rng: ChaCha8Rng,
    busy_until: [u64; 2],
    flights: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    capture: Option<Capture>,
    seen: Option<Vec<Seen>>,
    capture_error: Option<String>,
}

impl Link {
    /// A link that draws its faults from `rng`.
    pub fn new(config: LinkConfig, rng: ChaCha8Rng) -> Self {
        Self {
            config,
            rng,
            busy_until: [0; 2],
            flights: BinaryHeap::new(),
            sent: 0,
            capture: None,
            seen: None,
            capture_error: None,
        }
    }

    /// Captures what is sent from now on.
    pub fn set_capture(&mut self, capture: Capture) {
        self.capture = Some(capture);
    }

    /// Changes what the link is like, for the frames sent from now on.
    pub fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
    }

    /// Keeps a copy of every frame sent from now on, until [`take_seen`](Self::take_seen).
    pub fn watch(&mut self) {
        self.seen.get_or_insert_with(Vec::new);
    }

    /// The frames since [`watch`](Self::watch); stops watching.
    pub fn take_seen(&mut self) -> Vec<Seen> {
        self.seen.take().unwrap_or_default()
    }

    /// Writes out the capture; tells the first error of it.
    pub fn flush(&mut self) -> Result<(), String> {
        if let Some(capture) = &mut self.capture {
            capture.flush().map_err(|e| e.to_string())?;
        }
        self.capture_error.take().map_or(Ok(()), Err)
    }

    /// Frames sent so far.
    pub fn frames(&self) -> u64 {
        self.sent
    }

    fn chance(&mut self, per_million: u32) -> bool {
        per_million != 0 && self.rng.random_range(0..1_000_000) < per_million
    }

    /// The end `from` sends a frame at `time`.
    pub fn send(&mut self, time: u64, from: usize, frame: Vec<u8>) {
        let faults = self.config.faults;
        let mut fate = Vec::new();
        let wire = (frame.len() as u64 + 24) * 8;
        let start = time.max(self.busy_until[from]);
        self.busy_until[from] = start + wire.div_ceil(self.config.gbps.max(1));
        let mut arrival = self.busy_until[from] + self.config.delay_ns;

        let mut copies = vec![(frame.clone(), false)];
        if self.chance(faults.loss) {
            fate.push("lost");
            copies.clear();
        }
        if self.chance(faults.resegment) && !copies.is_empty() {
            let at = self.rng.random_range(0..u32::MAX);
            if let Some((a, b)) = ethernet::cut_segment(&frame, at) {
                fate.push("cut in two");
                copies = vec![(a, false), (b, false)];
            }
        }
        if self.chance(faults.corrupt) && !copies.is_empty() {
            let (bytes, bad) = &mut copies[0];
            let bit = self.rng.random_range(0..bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            *bad = self.rng.random_bool(0.5);
            fate.push(if *bad {
                "corrupted, seen by the FCS"
            } else {
                "corrupted, not seen by the FCS"
            });
        }
        if self.chance(faults.duplicate) && !copies.is_empty() {
            fate.push("duplicated");
            copies.push(copies[0].clone());
        }
        if self.chance(faults.reorder) {
            fate.push("late");
            arrival += self.rng.random_range(1..20) * 1000;
        }

        let fate = (!fate.is_empty()).then(|| fate.join(", "));
        if let Some(capture) = &mut self.capture {
            if let Err(e) = capture.frame(time, from, &frame, fate.as_deref()) {
                self.capture_error.get_or_insert(e.to_string());
            }
        }
        if let Some(seen) = &mut self.seen {
            seen.push(Seen {
                time,
                from,
                frame,
                fate,
            });
        }
        for (frame, bad) in copies {
            self.sent += 1;
            self.flights.push(Reverse(Flight {
                arrival,
                number: self.sent,
                to: 1 - from,
                bad,
                frame,
            }));
        }
    }

    /// When the next frame arrives.
    pub fn next_arrival(&self) -> Option<u64> {
        self.flights.peek().map(|f| f.0.arrival)
    }

    /// Takes the next frame that has arrived by `time`.
    pub fn arrived(&mut self, time: u64) -> Option<Arrival> {
        if self.next_arrival()? > time {
            return None;
        }
        self.flights.pop().map(|Reverse(f)| Arrival {
            to: f.to,
            frame: f.frame,
            bad: f.bad,
        })
    }
}
