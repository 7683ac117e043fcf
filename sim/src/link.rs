//! A link between two ends: delay, bandwidth, and faults by seed (loss, duplication, reordering,
//! corruption, another cutting of TCP segments, as a middle box may do), and a queue before it that
//! marks or drops, as the port of a switch does.

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

/// What the port before a link does with frames that wait for it. Each limit is of the time that a frame would wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Frames that would wait longer are marked if their flow knows marks (RFC 3168 §5). `None`: none is.
    pub mark_ns: Option<u64>,
    /// Frames that would wait longer are dropped. `None`: there is room for all.
    pub drop_ns: Option<u64>,
}

/// What a port's queue did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Frames that came.
    pub frames: u64,
    /// Bytes of the wire of those that found room: each frame's, and 24 more.
    pub wire_bytes: u64,
    /// Those that were marked.
    pub marked: u64,
    /// Those that found no room.
    pub dropped: u64,
    /// Those that were lost on the way.
    pub lost: u64,
    /// The longest wait in nanoseconds.
    pub longest_ns: u64,
    /// All waits together.
    pub waited_ns: u64,
}

impl Waits {
    /// Of two ports.
    pub fn and(self, other: Self) -> Self {
        Self {
            frames: self.frames + other.frames,
            wire_bytes: self.wire_bytes + other.wire_bytes,
            marked: self.marked + other.marked,
            dropped: self.dropped + other.dropped,
            lost: self.lost + other.lost,
            longest_ns: self.longest_ns.max(other.longest_ns),
            waited_ns: self.waited_ns + other.waited_ns,
        }
    }
}

/// What a link is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One-way delay in nanoseconds.
    pub delay_ns: u64,
    /// Rate in Gb/s; each frame takes 24 bytes more on the wire (preamble, FCS, gap).
    pub gbps: u64,
    /// The port at each end.
    pub queue: Queue,
    /// Faults.
    pub faults: Faults,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            delay_ns: 500,
            gbps: 100,
            queue: Queue::default(),
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
    waits: [Waits; 2],
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
            waits: [Waits::default(); 2],
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

    /// What the port of the end `from` did since this was last asked.
    pub fn take_waits(&mut self, from: usize) -> Waits {
        std::mem::take(&mut self.waits[from])
    }

    /// When the frame is on the wire, or `None` if the port has no room for it. The port may mark it.
    fn queue(&mut self, time: u64, from: usize, frame: &mut [u8]) -> Option<u64> {
        let Queue { mark_ns, drop_ns } = self.config.queue;
        let waits = &mut self.waits[from];
        let wait = self.busy_until[from].saturating_sub(time);
        waits.frames += 1;
        if drop_ns.is_some_and(|most| wait > most) {
            waits.dropped += 1;
            return None;
        }
        waits.longest_ns = waits.longest_ns.max(wait);
        waits.waited_ns += wait;
        if mark_ns.is_some_and(|most| wait > most) && ethernet::mark(frame) {
            waits.marked += 1;
        }
        let wire = frame.len() as u64 + 24;
        waits.wire_bytes += wire;
        self.busy_until[from] = time + wait + (wire * 8).div_ceil(self.config.gbps.max(1));
        Some(self.busy_until[from])
    }

    fn chance(&mut self, per_million: u32) -> bool {
        per_million != 0 && self.rng.random_range(0..1_000_000) < per_million
    }

    /// The end `from` sends a frame at `time`.
    pub fn send(&mut self, time: u64, from: usize, frame: Vec<u8>) {
        let faults = self.config.faults;
        let mut fate = Vec::new();
        let mut out = frame.clone();
        let sent = self.queue(time, from, &mut out);
        if out != frame {
            fate.push("marked");
        }
        let mut arrival = sent.unwrap_or(time) + self.config.delay_ns;

        let mut copies = vec![(out, false)];
        if sent.is_none() {
            fate.push("no room");
            copies.clear();
        } else if self.chance(faults.loss) {
            fate.push("lost");
            self.waits[from].lost += 1;
            copies.clear();
        }
        if self.chance(faults.resegment) && !copies.is_empty() {
            let at = self.rng.random_range(0..u32::MAX);
            if let Some((a, b)) = ethernet::cut_segment(&copies[0].0, at) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{generator, Stream};

    /// An IPv4 frame of 125 bytes on the wire, with this ECN field: 1000 ns at 1 Gb/s.
    fn frame(ecn: u8) -> Vec<u8> {
        let mut frame = vec![0; 101];
        frame[12] = 8;
        frame[14..16].copy_from_slice(&[0x45, ecn]);
        frame
    }

    fn link(mark_ns: Option<u64>, drop_ns: Option<u64>) -> Link {
        let config = LinkConfig {
            gbps: 1,
            queue: Queue { mark_ns, drop_ns },
            ..LinkConfig::default()
        };
        Link::new(config, generator(1, Stream::Link(0)))
    }

    /// Sends eight at once; when each arrived that did, and its ECN field.
    fn eight(link: &mut Link, ecn: u8) -> Vec<(u64, u8)> {
        for _ in 0..8 {
            link.send(5000, 0, frame(ecn));
        }
        std::iter::from_fn(|| {
            let at = link.next_arrival()?;
            Some((at, link.arrived(at)?.frame[15]))
        })
        .collect()
    }

    #[test]
    fn a_port_marks_those_that_wait_longer_than_it_likes_and_has_no_room_for_others() {
        let arrival = |n: u64| 5000 + 1000 * (n + 1) + 500;
        // Frame n waits n µs. A wait of the limit itself is none too long.
        let mut port = link(Some(3000), Some(5000));
        let wanted: Vec<_> = (0..6)
            .map(|n| (arrival(n), if n > 3 { 3 } else { 2 }))
            .collect();
        assert_eq!(eight(&mut port, 2), wanted);
        let waits = Waits {
            frames: 8,
            wire_bytes: 6 * 125,
            marked: 2,
            dropped: 2,
            lost: 0,
            longest_ns: 5000,
            waited_ns: 15_000,
        };
        assert_eq!(port.take_waits(0), waits);
        assert_eq!(port.take_waits(0), Waits::default());
        assert_eq!(port.take_waits(1), Waits::default());
    }

    #[test]
    fn a_flow_that_knows_no_marks_gets_none() {
        let mut port = link(Some(0), None);
        assert!(eight(&mut port, 0).iter().all(|&(_, ecn)| ecn == 0));
        assert_eq!(port.take_waits(0).marked, 0);
        assert_eq!(eight(&mut link(None, None), 1).len(), 8);
    }

    #[test]
    fn the_other_direction_has_a_port_of_its_own() {
        let mut link = link(Some(0), Some(0));
        link.send(0, 0, frame(2));
        link.send(0, 1, frame(2));
        assert_eq!([0, 1].map(|end| link.take_waits(end).dropped), [0, 0]);
    }
}
