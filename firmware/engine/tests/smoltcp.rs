//! The services over plain TCP, with smoltcp for a peer: another stack, which nobody here wrote.
#![allow(missing_docs)]

mod bench;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use bench::site::{Site, IP, RING};
use bench::{MS, US};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use weft_engine::services::chargen;
use weft_engine::*;
use weft_limit::Limit;

const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
const DELAY: u64 = 20 * US;
const PATIENCE: u64 = 600_000 * MS;

/// The wire's end at smoltcp.
#[derive(Default)]
struct Wire {
    received: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

struct Rx(Vec<u8>);
struct Tx<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Rx {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Tx<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut frame = vec![0; len];
        let result = f(&mut frame);
        self.0.push(frame);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Rx;
    type TxToken<'a> = Tx<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Rx, Tx<'_>)> {
        let frame = self.received.pop_front()?;
        Some((Rx(frame), Tx(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Tx<'_>> {
        Some(Tx(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities
    }
}

/// A frame on its way, to smoltcp or to us.
type OnTheWay = Reverse<(u64, u64, bool, Vec<u8>)>;

/// Ours, smoltcp, and a link between them that loses, reorders and duplicates frames by seed.
struct Meeting {
    now: u64,
    ours: Site,
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    queue: BinaryHeap<OnTheWay>,
    count: u64,
    random: u64,
    /// In parts of 1000, each.
    faults: u64,
    _limit: Option<Limit>,
}

fn instant(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}

impl Meeting {
    fn new(seed: u64, faults: u64, change: impl Fn(&mut EngineConfig)) -> Self {
        let ours = Site::new(|config| {
            config.seed = seed.into();
            change(config);
        });
        let mut wire = Wire::default();
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(PEER_MAC)));
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut wire, instant(0));
        interface.update_ip_addrs(|addresses| {
            addresses
                .push(IpCidr::new(IpAddress::v4(10, 0, 0, 2), 24))
                .unwrap();
        });
        Meeting {
            now: 1000,
            ours,
            wire,
            interface,
            sockets: SocketSet::new(Vec::new()),
            queue: BinaryHeap::new(),
            count: 0,
            random: seed ^ 0x5deece66d,
            faults,
            _limit: Limit::usual(format_args!("seed {seed}")),
        }
    }

    fn chance(&mut self) -> bool {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) % 1000 < self.faults
    }

    /// A socket of smoltcp's with so much room each way, which connects to a service.
    fn connect(&mut self, port: u16, local: u16, room: usize) -> SocketHandle {
        let buffer = || SocketBuffer::new(vec![0; room]);
        let mut socket = Socket::new(buffer(), buffer());
        let remote = (IpAddress::v4(IP[0], IP[1], IP[2], IP[3]), port);
        socket
            .connect(self.interface.context(), remote, local)
            .unwrap();
        self.sockets.add(socket)
    }

    fn socket(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
        self.sockets.get_mut(handle)
    }

    fn put(&mut self, to_peer: bool, frame: Vec<u8>) {
        if self.chance() {
            return;
        }
        let mut at = self.now + DELAY;
        if self.chance() {
            at += 200 * US;
        }
        if self.chance() {
            self.count += 1;
            let again = (at + 30 * US, self.count, to_peer, frame.clone());
            self.queue.push(Reverse(again));
        }
        self.count += 1;
        self.queue.push(Reverse((at, self.count, to_peer, frame)));
    }

    /// The next thing that happens.
    fn step(&mut self) {
        let peer = self
            .interface
            .poll_at(instant(self.now), &self.sockets)
            .map(|at| (at.total_micros() as u64 * 1000).max(self.now));
        let soonest = [
            self.queue.peek().map(|Reverse(next)| next.0),
            self.ours.engine.next_deadline(),
            peer,
        ];
        let soonest = soonest.into_iter().flatten().min();
        let at = soonest.expect("somebody has something to do");
        // smoltcp's clock has microseconds.
        self.now = self.now.max(at) + 1000;
        while let Some(Reverse(next)) = self.queue.peek() {
            if next.0 > self.now {
                break;
            }
            let Some(Reverse((_, _, to_peer, frame))) = self.queue.pop() else {
                break;
            };
            if to_peer {
                self.wire.received.push_back(frame);
            } else {
                self.ours.receive(self.now, &frame);
            }
        }
        self.ours.timers(self.now);
        let now = instant(self.now);
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        for frame in self.ours.sent() {
            self.put(true, frame);
        }
        for frame in std::mem::take(&mut self.wire.sent) {
            self.put(false, frame);
        }
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let end = self.now + PATIENCE;
        while !condition(self) {
            assert!(self.now < end, "{what}: {:?}", self.ours.engine.stats());
            self.step();
        }
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length as u32)
        .map(|i| (i * 7 + i / 251) as u8)
        .collect()
}

/// Sends a pattern to the echo service and takes it back, closes, and waits until both sides are through.
fn echo(
    seed: u64,
    length: usize,
    room: usize,
    faults: u64,
    change: impl Fn(&mut EngineConfig),
) -> Meeting {
    let mut meeting = Meeting::new(seed, faults, change);
    let handle = meeting.connect(7, 50_000, room);
    let data = pattern(length);
    let (mut sent, mut got) = (0, Vec::new());
    meeting.until("the echo", |meeting| {
        let socket = meeting.socket(handle);
        if socket.can_send() && sent < data.len() {
            sent += socket.send_slice(&data[sent..]).unwrap();
            if sent == data.len() {
                socket.close();
            }
        }
        if socket.can_recv() {
            let mut buffer = vec![0; 5000];
            let count = socket.recv_slice(&mut buffer).unwrap();
            got.extend_from_slice(&buffer[..count]);
        }
        sent == data.len() && !socket.may_recv() && socket.recv_queue() == 0
    });
    assert!(got == data, "seed {seed}: {} of {length} bytes", got.len());
    meeting.until("the end", |meeting| {
        let closed = matches!(
            meeting.socket(handle).state(),
            State::Closed | State::TimeWait
        );
        closed && meeting.ours.services.streams() == 0
    });
    let last = meeting.ours.events.last();
    let peer = DisconnectReason::Peer;
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == peer),
        "seed {seed}: {last:?}"
    );
    meeting
}

#[test]
fn echo_over_a_path_that_loses_reorders_and_duplicates() {
    for seed in 1..=20 {
        let meeting = echo(seed, 200_000, 20_000, 20, |_| ());
        let stats = meeting.ours.engine.stats();
        assert!(stats.retransmits > 0, "seed {seed}: {stats:?}");
    }
}

#[test]
fn echo_through_a_window_of_a_few_hundred_bytes() {
    let meeting = echo(2, 20_000, 700, 0, |_| ());
    let stats = meeting.ours.engine.stats();
    assert_eq!(stats.resets_sent, 0, "{stats:?}");
    echo(3, 20_000, 700, 20, |_| ());
}

#[test]
fn echo_without_selective_acknowledgments_by_a_syn_cookie() {
    for seed in 1..=5 {
        let meeting = echo(seed, 100_000, 20_000, 20, |config| config.syn_cache = 0);
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.syn_cookies_taken, 1, "seed {seed}: {stats:?}");
    }
}

#[test]
fn discard_takes_everything() {
    let mut meeting = Meeting::new(4, 10, |_| ());
    let handle = meeting.connect(9, 50_000, 30_000);
    let data = pattern(300_000);
    let mut sent = 0;
    meeting.until("all to be sent", |meeting| {
        let socket = meeting.socket(handle);
        if socket.can_send() && sent < data.len() {
            sent += socket.send_slice(&data[sent..]).unwrap();
        }
        sent == data.len()
    });
    meeting.socket(handle).close();
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let counts = meeting.ours.services.counts();
    assert_eq!((counts.read, counts.written), (data.len() as u64, 0));
}

/// Who only takes fills the window, the ring and nothing else; then it goes on where it was.
#[test]
fn chargen_waits_for_whoever_does_not_read() {
    let mut meeting = Meeting::new(5, 0, |_| ());
    let handle = meeting.connect(19, 50_000, 10_000);
    meeting.until("a full buffer", |meeting| {
        meeting.socket(handle).recv_queue() == 10_000
    });
    let end = meeting.now + 20_000 * MS;
    meeting.until("some time", |meeting| meeting.now > end);
    let counts = meeting.ours.services.counts();
    assert_eq!(counts.written, 10_000 + u64::from(RING));
    assert!(meeting.ours.engine.stats().window_probes > 3);
    let mut at = 0;
    meeting.until("a million characters", |meeting| {
        let mut buffer = [0; 3000];
        let count = meeting.socket(handle).recv_slice(&mut buffer).unwrap();
        for byte in &buffer[..count] {
            assert_eq!(*byte, chargen(at), "number {at}");
            at += 1;
        }
        at > 1_000_000
    });
    meeting.socket(handle).abort();
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let reset = DisconnectReason::Reset;
    let last = meeting.ours.events.last();
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == reset),
        "{last:?}"
    );
}

#[test]
fn more_streams_than_there_are_places_for() {
    let mut meeting = Meeting::new(6, 0, |_| ());
    let handles: Vec<_> = (0..6)
        .map(|n| meeting.connect(7, 50_000 + n, 1000))
        .collect();
    meeting.until("four streams and two refusals", |meeting| {
        let refused = meeting.ours.services.counts().refused;
        let state = |meeting: &mut Meeting, n: usize| meeting.socket(handles[n]).state();
        let states = (0..6).map(|n| state(meeting, n));
        let standing = states.filter(|state| *state == State::Established).count();
        refused == 2 && standing == 4
    });
    // Each place is there for others when its stream is over.
    for handle in &handles {
        meeting.socket(*handle).close();
    }
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    for round in 0..6 {
        let handle = meeting.connect(7, 51_000 + round, 1000);
        meeting.until("the echo of one byte", |meeting| {
            let socket = meeting.socket(handle);
            if socket.can_send() && socket.send_queue() == 0 && !socket.can_recv() {
                socket.send_slice(b"x").unwrap();
            }
            socket.can_recv()
        });
        meeting.socket(handle).close();
        meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    }
    assert_eq!(meeting.ours.services.counts().streams, 10);
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    let mut meeting = Meeting::new(7, 0, |_| ());
    let handle = meeting.connect(19, 50_000, 10_000);
    meeting.until("some bytes", |meeting| {
        meeting.socket(handle).recv_queue() > 5000
    });
    meeting.faults = 1000;
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let late = DisconnectReason::TimedOut;
    let last = meeting.ours.events.last();
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == late),
        "{last:?}"
    );
}

#[test]
fn echo_of_a_megabyte() {
    let meeting = echo(1, 1 << 20, 65_535, 0, |_| ());
    let stats = meeting.ours.engine.stats();
    assert_eq!(stats.retransmits, 0, "{stats:?}");
    assert_eq!(stats.resets_sent + stats.challenge_acks, 0, "{stats:?}");
}
