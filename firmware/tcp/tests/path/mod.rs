//! A sender, a path and a receiver, in simulated time: the path has a rate, a delay, a queue, and faults by seed.
#![allow(dead_code, missing_docs)]

use std::collections::{BTreeMap, VecDeque};

use weft_tcp::control::Congestion;
use weft_tcp::pages::Pool;
use weft_tcp::reassembly::Reassembly;
use weft_tcp::rtt::Granularity;
use weft_tcp::sender::{Ack, Acked, Due, Sender, Settings};

pub const US: u64 = 1000;
pub const MS: u64 = 1_000_000;
pub const MSS: u32 = 1460;
/// Bytes of a frame beside its payload, with all that is between two of them.
const OVERHEAD: u64 = 78;

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// True `per` times of a million.
    pub fn happens(&mut self, per: u32) -> bool {
        (self.next() >> 32) % 1_000_000 < u64::from(per)
    }
}

#[derive(Clone, Copy)]
pub struct Path {
    pub seed: u64,
    pub congestion: Congestion,
    /// Gb/s.
    pub rate: u64,
    /// One way, in nanoseconds.
    pub delay: u64,
    /// Bytes that wait for the wire at most.
    pub queue: u64,
    /// The receive window.
    pub window: u32,
    /// Of a million packets, either way.
    pub loss: u32,
    pub ack_loss: u32,
    pub duplicate: u32,
    pub reorder: u32,
    /// Places that such a packet falls behind.
    pub places: u64,
    /// Bytes in the queue above which a packet is marked.
    pub mark: Option<u64>,
    pub sack: bool,
    pub pacing: bool,
    /// The bytes come so many at a time, each time so long after the last ones were acknowledged.
    pub lone: Option<(u64, u64)>,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            seed: 1,
            congestion: Congestion::Cubic,
            rate: 10,
            delay: 10 * US,
            queue: 1 << 30,
            window: 1 << 22,
            loss: 0,
            ack_loss: 0,
            duplicate: 0,
            reorder: 0,
            places: 16,
            mark: None,
            sack: true,
            pacing: true,
            lone: None,
        }
    }
}

enum Packet {
    Data {
        seq: u32,
        length: u32,
        marked: bool,
        cwr: bool,
    },
    Ack {
        ack: u32,
        window: u32,
        sack: Vec<(u32, u32)>,
        echo: bool,
    },
}

/// What came of it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Outcome {
    pub time: u64,
    pub bytes: u64,
    pub sent_again: u64,
    pub packets: u64,
    pub dropped: u64,
    pub timeouts: u64,
    pub probes: u64,
    pub recoveries: u64,
    pub undone: u64,
    pub echoes: u64,
    /// The longest that the queue was; where the bytes come so many at a time, in the second half.
    pub queue: u64,
}

impl Outcome {
    /// Gb/s of payload.
    pub fn goodput(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time as f64
    }
}

pub struct Run {
    path: Path,
    random: Random,
    now: u64,
    order: u64,
    events: BTreeMap<(u64, u64), Packet>,
    /// The wire is free from here on.
    free: u64,
    pub sender: Sender,
    receiver: Reassembly,
    pool: Pool,
    iss: u32,
    total: u64,
    /// Bytes that there are to send yet, and when there are more.
    ready: u64,
    ready_at: Option<u64>,
    consumed: u64,
    /// The receiver's: segments since the last acknowledgment, when it is due, and the mark that it echoes.
    pending: u32,
    ack_at: Option<u64>,
    echo: bool,
    pub outcome: Outcome,
    /// Where segments were cut.
    cuts: VecDeque<(u32, u32)>,
}

/// The byte at a place of the stream.
fn byte(at: u64) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

impl Run {
    pub fn new(path: Path, total: u64) -> Self {
        let settings = Settings {
            granularity: Granularity {
                alone: 20 * MS,
                in_flight: 20 * MS,
            },
            rto_max: 60_000 * MS,
            peer_ack_delay: 100 * US,
            congestion: path.congestion,
            pacing: path.pacing,
            runs: 2048,
        };
        let iss = (path.seed as u32).wrapping_mul(0x9e37_79b9);
        let mut sender = Sender::new(iss, &settings);
        sender.sent(0, 1);
        let first = iss.wrapping_add(1);
        let ack = Ack {
            seq: 0,
            ack: first,
            window: path.window,
            is_pure: false,
            sack: &[],
            echo: false,
            arrived: Some(2 * path.delay),
            departed: 0,
        };
        let now = 2 * path.delay;
        assert_eq!(sender.acknowledge(now, &ack), Acked::New(1));
        sender.establish(MSS, 10, path.sack, path.window, (0, first));
        let mut receiver = Reassembly::new(path.window, 128);
        let mut pool = Pool::new(path.window as usize, 68_000);
        receiver.restart(first, &mut pool);
        receiver.accept(&mut pool);
        Run {
            random: Random::new(path.seed),
            path,
            now,
            order: 0,
            events: BTreeMap::new(),
            free: 0,
            sender,
            receiver,
            pool,
            iss: first,
            total,
            ready: path.lone.map_or(total, |(bytes, _)| bytes.min(total)),
            ready_at: None,
            consumed: 0,
            pending: 0,
            ack_at: None,
            echo: false,
            outcome: Outcome::default(),
            cuts: VecDeque::new(),
        }
    }

    /// Runs to the end: all bytes have arrived once, in order, and are acknowledged.
    pub fn finish(mut self) -> Outcome {
        let mut steps = 0u64;
        self.send();
        while self.sender.una != self.iss.wrapping_add(self.total as u32)
            || self.consumed < self.total
        {
            steps += 1;
            assert!(
                steps < 200_000_000 && self.now < 3_600_000 * MS,
                "seed {}: stuck",
                self.path.seed
            );
            let next = [
                self.events.keys().next().map(|key| key.0),
                self.sender.deadline(),
                self.ack_at,
                self.ready_at,
            ];
            let next = next.into_iter().flatten().min();
            self.now = next
                .unwrap_or_else(|| panic!("seed {}: nothing wakes it", self.path.seed))
                .max(self.now);
            while let Some(entry) = self.events.first_entry().filter(|e| e.key().0 <= self.now) {
                let packet = entry.remove();
                self.arrive(packet);
            }
            if self.ack_at.is_some_and(|at| at <= self.now) {
                self.acknowledge();
            }
            self.more();
            match self.sender.due(self.now) {
                Due::Nothing => {}
                Due::Reordering => self.sender.look_again(self.now),
                Due::Probe => self.sender.probe(self.now),
                Due::Timeout => {
                    self.outcome.timeouts += 1;
                    self.sender.timeout(self.now);
                }
            }
            self.send();
        }
        let counts = self.sender.counts;
        self.outcome.time = self.now;
        self.outcome.bytes = self.total;
        self.outcome.probes = counts.probes;
        self.outcome.recoveries = counts.recoveries;
        self.outcome.undone = counts.undone;
        self.outcome.echoes = counts.echoes;
        self.outcome
    }

    /// All there was is acknowledged: after a while there is more.
    fn more(&mut self) {
        let Some((bytes, pause)) = self.path.lone else {
            return;
        };
        if self.ready_at.is_some_and(|at| at <= self.now) {
            self.ready = (self.ready + bytes).min(self.total);
            self.ready_at = None;
            if self.ready < self.total / 2 {
                self.outcome.queue = 0;
            }
        }
        let acked = self.sender.una == self.iss.wrapping_add(self.ready as u32);
        if acked && self.ready < self.total {
            self.ready_at.get_or_insert(self.now + pause);
        }
    }

    fn send(&mut self) {
        self.again();
        loop {
            let (congestion, window) = self.sender.allowed(self.now);
            let sent = self.sender.nxt.wrapping_sub(self.iss);
            let left = self.ready - u64::from(sent);
            let length = left.min(u64::from(MSS)) as u32;
            if length == 0 || window < length || congestion < length && self.sender.flight() > 0 {
                break;
            }
            let seq = self.sender.nxt;
            self.cuts.push_back((seq, seq.wrapping_add(length)));
            self.sender.sent(self.now, length);
            self.put(seq, length);
        }
        if self.sender.no_news() {
            self.again();
        }
        while self
            .cuts
            .front()
            .is_some_and(|cut| weft_tcp::seq::le(cut.1, self.sender.una))
        {
            self.cuts.pop_front();
        }
    }

    fn again(&mut self) {
        while let Some(seq) = self.sender.next_lost() {
            let at = self
                .cuts
                .partition_point(|cut| weft_tcp::seq::le(cut.1, seq));
            let (from, end) = self.cuts[at];
            self.sender.sent_again(self.now, from, end);
            self.outcome.sent_again += 1;
            self.put(from, end.wrapping_sub(from));
        }
    }

    fn put(&mut self, seq: u32, length: u32) {
        self.outcome.packets += 1;
        let cwr = self.sender.take_cwr();
        let bits = |bytes: u64| bytes * 8 / self.path.rate;
        let waiting = self.free.saturating_sub(self.now) * self.path.rate / 8;
        self.outcome.queue = self.outcome.queue.max(waiting);
        if waiting > self.path.queue {
            self.outcome.dropped += 1;
            return;
        }
        self.free = self.free.max(self.now) + bits(u64::from(length) + OVERHEAD);
        if self.random.happens(self.path.loss) {
            self.outcome.dropped += 1;
            return;
        }
        let marked = self.path.mark.is_some_and(|mark| waiting > mark);
        let mut at = self.free + self.path.delay;
        if self.random.happens(self.path.reorder) {
            let places = 1 + self.random.next() % self.path.places;
            at += places * bits(u64::from(MSS) + OVERHEAD);
        }
        let times = 1 + u64::from(self.random.happens(self.path.duplicate));
        for n in 0..times {
            self.order += 1;
            let packet = Packet::Data {
                seq,
                length,
                marked,
                cwr,
            };
            self.events.insert((at + n * 3 * US, self.order), packet);
        }
    }

    fn arrive(&mut self, packet: Packet) {
        match packet {
            Packet::Data {
                seq,
                length,
                marked,
                cwr,
            } => self.data(seq, length, marked, cwr),
            Packet::Ack {
                ack,
                window,
                sack,
                echo,
            } => {
                let ack = Ack {
                    seq: 0,
                    ack,
                    window,
                    is_pure: true,
                    sack: &sack,
                    echo,
                    arrived: Some(self.now),
                    departed: 0,
                };
                assert_ne!(self.sender.acknowledge(self.now, &ack), Acked::Unacceptable);
            }
        }
    }

    fn data(&mut self, seq: u32, length: u32, marked: bool, cwr: bool) {
        let offset = u64::from(seq.wrapping_sub(self.iss));
        let bytes: Vec<u8> = (0..u64::from(length)).map(|n| byte(offset + n)).collect();
        // DCTCP's receiver tells of each mark; RFC 3168's goes on until it hears CWR.
        let dctcp = self.path.congestion == Congestion::Dctcp;
        let changed = dctcp && self.echo != marked;
        if changed && self.pending > 0 {
            // RFC 8257 §3.2: what came before is told at once.
            self.acknowledge();
        }
        self.echo = if dctcp {
            marked
        } else {
            marked || self.echo && !cwr
        };
        let before = self.receiver.next();
        let gap = self.receiver.has_gap();
        self.receiver.insert(seq, &bytes, &mut self.pool);
        let mut out = vec![0; self.receiver.available()];
        self.receiver.copy_front(&mut out);
        self.receiver.consume(out.len(), &mut self.pool);
        for got in out {
            assert_eq!(
                got,
                byte(self.consumed),
                "seed {}: byte {}",
                self.path.seed,
                self.consumed
            );
            self.consumed += 1;
        }
        self.pending += 1;
        let odd = before == self.receiver.next() || gap || self.receiver.has_gap();
        if odd || self.pending >= 2 || self.receiver.twice().is_some() {
            self.acknowledge();
        } else {
            self.ack_at.get_or_insert(self.now + 20 * US);
        }
    }

    fn acknowledge(&mut self) {
        self.pending = 0;
        self.ack_at = None;
        let mut sack: Vec<(u32, u32)> = self.receiver.sack_blocks().take(3).collect();
        if !self.path.sack {
            sack.clear();
        }
        self.receiver.told();
        if self.random.happens(self.path.ack_loss) {
            return;
        }
        let packet = Packet::Ack {
            ack: self.receiver.next(),
            window: self.receiver.limit().wrapping_sub(self.receiver.next()),
            sack,
            echo: self.echo,
        };
        self.order += 1;
        self.events
            .insert((self.now + self.path.delay, self.order), packet);
    }
}

/// Sends so many bytes over the path.
pub fn run(path: Path, total: u64) -> Outcome {
    Run::new(path, total).finish()
}
