//! lwIP on one end of a path, a station of ours on the other, in one deterministic loop.
#![allow(dead_code, missing_docs)]

pub mod options;

use crate::bench::path::{Path, To};
use crate::bench::site::{pattern, Site, IP};
use crate::bench::MS;
use options::Seen;
use weft_engine::*;
use weft_lwip::{Listener, Socket, Stack, TICK_MS};
use weft_watchdog::Watchdog;

const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub const PEER_IP: [u8; 4] = [10, 0, 0, 2];
const PATIENCE: u64 = 3_600_000 * MS;

/// Ours, lwIP, and the path between them.
pub struct Meeting {
    pub now: u64,
    pub ours: Site,
    pub stack: Stack,
    pub path: Path,
    next_tick: u64,
    /// What the segments on the path had for options.
    pub seen: Seen,
    /// Takes the window scale out of what lwIP offers, as if it were built without.
    pub unscaled: bool,
    _limit: Option<Watchdog>,
}

impl Meeting {
    /// `None`: skipped, lwIP is not here.
    pub fn new(seed: u64, faults: u64, change: impl Fn(&mut EngineConfig)) -> Option<Self> {
        let stack = Stack::new(PEER_MAC, PEER_IP)?;
        let ours = Site::new(|config| {
            config.seed = seed.into();
            change(config);
        });
        Some(Meeting {
            now: 1000,
            ours,
            stack,
            path: Path::new(seed, faults),
            next_tick: (1 + seed * 37 % TICK_MS) * MS,
            seen: Seen::default(),
            unscaled: false,
            _limit: Watchdog::usual(format_args!("seed {seed}")),
        })
    }

    /// A connection of lwIP's to a service.
    pub fn connect(&mut self, port: u16, local: u16) -> Socket {
        self.stack.connect(local, (IP, port))
    }

    pub fn listen(&mut self, port: u16) -> Listener {
        self.stack.listen(port)
    }

    /// Calls our engine.
    pub fn call<R>(
        &mut self,
        f: impl FnOnce(&mut Engine, u64, &mut crate::bench::card::Card) -> R,
    ) -> R {
        let result = f(&mut self.ours.engine, self.now, &mut self.ours.card);
        self.ours.timers(self.now);
        result
    }

    /// What both have to say sets out.
    fn collect(&mut self) {
        for frame in self.ours.sent() {
            self.seen.frame(To::Peer, &frame);
            self.path.put(self.now, To::Peer, frame);
        }
        for mut frame in self.stack.sent() {
            if self.unscaled {
                options::without_window_scale(&mut frame);
            }
            self.seen.frame(To::Ours, &frame);
            self.path.put(self.now, To::Ours, frame);
        }
    }

    /// The next thing that happens.
    fn step(&mut self) {
        self.collect();
        let soonest = [
            self.path.next(),
            self.ours.engine.next_deadline(),
            Some(self.next_tick),
        ];
        let soonest = soonest.into_iter().flatten().min();
        self.now = self.now.max(soonest.unwrap_or(self.now));
        while self.next_tick <= self.now {
            self.stack.tick();
            self.next_tick += TICK_MS * MS;
        }
        while let Some((to, frame)) = self.path.take(self.now) {
            match to {
                To::Peer => self.stack.receive(&frame),
                To::Ours => self.ours.receive(self.now, &frame),
            }
        }
        self.ours.timers(self.now);
    }

    /// Goes on until it is so.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let end = self.now + PATIENCE;
        while !condition(self) {
            assert!(self.now < end, "{what}: {:?}", self.ours.engine.stats());
            self.step();
        }
    }

    /// Goes on for a while.
    pub fn wait(&mut self, time: u64) {
        let end = self.now + time;
        self.until("some time", |meeting| meeting.now >= end);
    }

    /// The last stream of ours is over, and lwIP has no connection; why ours ended.
    #[track_caller]
    pub fn end(&mut self) -> DisconnectReason {
        self.until("the end", |meeting| {
            meeting.ours.services.streams() == 0 && meeting.stack.is_idle()
        });
        match self.ours.events.last() {
            Some(Event::StreamClosed { reason, .. }) => *reason,
            other => panic!("{other:?}"),
        }
    }
}

/// Sends a pattern, closes, and keeps what comes back.
pub struct EchoClient {
    pub socket: Socket,
    data: Vec<u8>,
    sent: usize,
    closed: bool,
    got: Vec<u8>,
}

impl EchoClient {
    pub fn new(socket: Socket, length: usize) -> Self {
        Self {
            socket,
            data: pattern(length),
            sent: 0,
            closed: false,
            got: Vec::new(),
        }
    }

    /// What can be done now; true: all is sent, and the peer has closed.
    pub fn step(&mut self) -> bool {
        let socket = &self.socket;
        assert_eq!(socket.failure(), None, "after {} bytes", self.got.len());
        if self.sent < self.data.len() {
            self.sent += socket.write(&self.data[self.sent..]);
        } else if socket.stands() && !self.closed {
            self.closed = socket.close();
        }
        self.got.extend(socket.read(5000));
        self.closed && socket.at_end() && socket.readable() == 0
    }

    /// What came back is what was sent.
    pub fn check(&self, note: &str) {
        let (got, length) = (self.got.len(), self.data.len());
        assert!(self.got == self.data, "{note}: {got} of {length} bytes");
    }
}
