//! A PCIe port between the bus and host memory: what its link carries each way, what may be in flight, how long a read takes.

use crate::Seed;
use fastrand::Rng;
use std::collections::VecDeque;

/// Bytes around a TLP of a write or a read request: framing, sequence number, header of four words, LCRC. (Neugebauer et al., "Understanding PCIe
/// performance for end host networking", SIGCOMM 2018.)
pub const REQUEST_AROUND: f64 = 24.0;
/// The same of a completion, whose header has three words.
pub const COMPLETION_AROUND: f64 = 20.0;

/// A PCIe port. Writes and read requests share the way to the host, completions have the way back.
#[derive(Clone, Debug, PartialEq)]
pub struct PciePort {
    /// Bytes a cycle, each way, TLPs with what is around them.
    pub bytes_per_cycle: f64,
    /// Most payload of a TLP, a write's or a completion's.
    pub payload: u32,
    /// Most that one read request asks for.
    pub request: u32,
    /// Read requests in flight at most.
    pub tags: u32,
    /// Bytes of writes on their way at most: the credit for posted data.
    pub posted: u32,
    /// Cycles from a write's data to the return of their credit.
    pub posted_cycles: u32,
    /// Cycles from a read request to its first completion, as a distribution: shares of the requests, rising to 1, and the cycles that none of them
    /// exceeds. Between two points it is even; the first one's share is of its cycles exactly.
    pub latency: Vec<(f64, u32)>,
    /// Share of each way that another device behind the same switch takes, in TLPs of full payload.
    pub beside: f64,
}

/// The port at work.
pub(super) struct Port {
    pcie: PciePort,
    rng: Rng,
    /// Bytes that may go now; less than 0: what went is still on the link.
    up: f64,
    down: f64,
    replenished: u64,
    /// Writes on their way: when their credit comes back, and how much.
    writes: VecDeque<(u64, u32)>,
    posted: u32,
    tags: u32,
}

impl Port {
    pub(super) fn new(pcie: PciePort, seed: Seed) -> Self {
        Port {
            pcie,
            rng: seed.rng("pcie"),
            up: 0.0,
            down: 0.0,
            replenished: 0,
            writes: VecDeque::new(),
            posted: 0,
            tags: 0,
        }
    }

    /// A cycle begins.
    pub(super) fn cycle(&mut self, now: u64) {
        let rate = self.pcie.bytes_per_cycle;
        let more = rate * (now - self.replenished) as f64;
        self.replenished = now;
        // A link that was idle has nothing saved up.
        self.up = (self.up + more).min(rate);
        self.down = (self.down + more).min(rate);
        if self.pcie.beside > 0.0 {
            let tlp = f64::from(self.pcie.payload) + REQUEST_AROUND;
            let often = self.pcie.beside * rate / tlp;
            for way in [&mut self.up, &mut self.down] {
                if self.rng.f64() < often {
                    *way -= tlp;
                }
            }
        }
        while let Some((_, bytes)) = self.writes.front().filter(|(due, _)| *due <= now) {
            self.posted -= bytes;
            self.writes.pop_front();
        }
    }

    pub(super) fn may_write(&self, bytes: usize) -> bool {
        self.up >= 0.0 && (self.posted == 0 || self.posted + bytes as u32 <= self.pcie.posted)
    }

    /// A beat of a write goes.
    pub(super) fn write(&mut self, now: u64, addr: u64, bytes: u32, first: bool) {
        let begins = first || addr % u64::from(self.pcie.payload) == 0;
        self.up -= f64::from(bytes) + if begins { REQUEST_AROUND } else { 0.0 };
        self.posted += bytes;
        let due = now + u64::from(self.pcie.posted_cycles);
        self.writes.push_back((due, bytes));
    }

    /// Asks for a burst up to `end`, if it may: how long until its first completion.
    pub(super) fn request(&mut self, addr: u64, end: u64) -> Option<u64> {
        let request = u64::from(self.pcie.request);
        let tlps = (end.saturating_sub(1).max(addr) / request - addr / request + 1) as u32;
        if self.up < 0.0 || (self.tags > 0 && self.tags + tlps > self.pcie.tags) {
            return None;
        }
        self.tags += tlps;
        self.up -= f64::from(tlps) * REQUEST_AROUND;
        Some(self.latency())
    }

    fn latency(&mut self) -> u64 {
        let share = self.rng.f64();
        let (mut below, mut from) = (0.0, None);
        for &(up_to, cycles) in &self.pcie.latency {
            if share <= up_to {
                let from = from.unwrap_or(f64::from(cycles));
                let part = (share - below) / (up_to - below).max(f64::EPSILON);
                return (from + part * (f64::from(cycles) - from)).round() as u64;
            }
            (below, from) = (up_to, Some(f64::from(cycles)));
        }
        from.unwrap_or(0.0) as u64
    }

    pub(super) fn may_complete(&self) -> bool {
        self.down >= 0.0
    }

    /// A beat of a read burst comes.
    pub(super) fn complete(&mut self, addr: u64, bytes: usize, first: bool, last: bool) {
        let begins = first || addr % u64::from(self.pcie.payload) == 0;
        self.down -= bytes as f64 + if begins { COMPLETION_AROUND } else { 0.0 };
        if last || (addr + bytes as u64) % u64::from(self.pcie.request) == 0 {
            self.tags = self.tags.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(change: impl FnOnce(&mut PciePort)) -> Port {
        let mut pcie = PciePort {
            bytes_per_cycle: 58.0,
            payload: 256,
            request: 512,
            tags: 256,
            posted: 1 << 20,
            posted_cycles: 75,
            latency: vec![(0.5, 100), (0.9, 200), (1.0, 1000)],
            beside: 0.0,
        };
        change(&mut pcie);
        Port::new(pcie, Seed(1))
    }

    /// Payload of writes of 256 bytes in a cycle, over so many cycles.
    fn written(mut port: Port) -> f64 {
        const CYCLES: u64 = 20_000;
        let mut addr = 0;
        for now in 0..CYCLES {
            port.cycle(now);
            if port.may_write(64) {
                port.write(now, addr, 64, addr % 256 == 0);
                addr += 64;
            }
        }
        addr as f64 / CYCLES as f64
    }

    #[test]
    fn a_link_carries_what_it_can_with_what_is_around() {
        let share = 256.0 / (256.0 + REQUEST_AROUND);
        let all = written(port(|_| {}));
        assert!((all - 58.0 * share).abs() < 0.2, "{all}");
        let half = written(port(|pcie| pcie.beside = 0.5));
        assert!((half - 29.0 * share).abs() < 1.5, "{half}");
        // 1024 bytes each 75 cycles.
        let few = written(port(|pcie| pcie.posted = 1024));
        assert!((few - 1024.0 / 75.0).abs() < 0.5, "{few}");
    }

    #[test]
    fn a_request_waits_for_a_tag() {
        let mut port = port(|pcie| pcie.tags = 4);
        let mut asked = 0;
        for now in 0..100 {
            port.cycle(now);
            asked += u32::from(port.request(512 * now, 512 * now + 64).is_some());
        }
        assert_eq!(asked, 4);
        port.cycle(100);
        // A burst over two requests' boundary wants two.
        port.complete(0, 64, true, true);
        assert_eq!(port.request(448, 576), None);
        port.complete(0, 64, true, true);
        assert!(port.request(448, 576).is_some());
    }

    #[test]
    fn reads_take_as_long_as_the_distribution_says() {
        let mut port = port(|_| {});
        let mut all: Vec<u64> = (0..10_000).map(|_| port.latency()).collect();
        all.sort_unstable();
        let at = |share: f64| all[(share * all.len() as f64) as usize] as i64;
        assert_eq!(at(0.25), 100);
        assert!((at(0.7) - 150).abs() < 8, "{}", at(0.7));
        assert!((at(0.95) - 600).abs() < 40, "{}", at(0.95));
        assert!(all.last().is_some_and(|longest| *longest <= 1000));
    }
}
