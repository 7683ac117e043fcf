//! smoltcp on one end of a link, a station of ours on the other, in one deterministic loop.
#![allow(dead_code, missing_docs)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::bench::site::{Site, IP};
use crate::bench::{MS, US};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
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
pub struct Meeting {
    pub now: u64,
    pub ours: Site,
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    queue: BinaryHeap<OnTheWay>,
    count: u64,
    random: u64,
    /// In parts of 1000, each.
    pub faults: u64,
    _limit: Option<Limit>,
}

/// A clock for timestamps that goes on with each look at it.
fn clock() -> u32 {
    static LOOKS: AtomicU32 = AtomicU32::new(u32::MAX - 20);
    LOOKS.fetch_add(1, Ordering::Relaxed)
}

fn instant(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}

impl Meeting {
    pub fn new(seed: u64, faults: u64, change: impl Fn(&mut EngineConfig)) -> Self {
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
    pub fn connect(&mut self, port: u16, local: u16, room: usize) -> SocketHandle {
        let buffer = || SocketBuffer::new(vec![0; room]);
        let mut socket = Socket::new(buffer(), buffer());
        if self.ours.engine.config().timestamps {
            socket.set_tsval_generator(Some(clock));
        }
        let remote = (IpAddress::v4(IP[0], IP[1], IP[2], IP[3]), port);
        socket
            .connect(self.interface.context(), remote, local)
            .unwrap();
        self.sockets.add(socket)
    }

    pub fn socket(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
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
    pub fn step(&mut self) {
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
        // The users may have something to do.
        let at = soonest.unwrap_or(self.now + MS);
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
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let end = self.now + PATIENCE;
        while !condition(self) {
            assert!(self.now < end, "{what}: {:?}", self.ours.engine.stats());
            self.step();
        }
    }
}

pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u32)
        .map(|i| (i * 7 + i / 251) as u8)
        .collect()
}

/// With timestamps. smoltcp leaves no room for the option in its segments (RFC 6691 §2), and an MTU of its own stops them: so it is told a
/// smaller MSS.
pub fn stamped(config: &mut EngineConfig) {
    config.timestamps = true;
    config.mtu = 1400;
}

/// Sends a pattern, closes, and keeps what comes back.
pub struct EchoClient {
    data: Vec<u8>,
    sent: usize,
    got: Vec<u8>,
}

impl EchoClient {
    pub fn new(length: usize) -> Self {
        Self {
            data: pattern(length),
            sent: 0,
            got: Vec::new(),
        }
    }

    /// What can be done now.
    pub fn step(&mut self, socket: &mut Socket<'_>) {
        if socket.can_send() && self.sent < self.data.len() {
            self.sent += socket.send_slice(&self.data[self.sent..]).unwrap();
            if self.sent == self.data.len() {
                socket.close();
            }
        }
        if socket.can_recv() {
            let mut buffer = vec![0; 5000];
            let count = socket.recv_slice(&mut buffer).unwrap();
            self.got.extend_from_slice(&buffer[..count]);
        }
    }

    /// All is sent, and the peer has closed.
    pub fn is_done(&self, socket: &Socket<'_>) -> bool {
        self.sent == self.data.len() && !socket.may_recv() && socket.recv_queue() == 0
    }

    /// What came back is what was sent.
    pub fn check(&self, seed: u64) {
        let (got, length) = (self.got.len(), self.data.len());
        assert!(
            self.got == self.data,
            "seed {seed}: {got} of {length} bytes"
        );
    }
}
