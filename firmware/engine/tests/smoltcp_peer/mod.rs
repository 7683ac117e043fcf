//! smoltcp on one end of a link, a station of ours on the other, in one deterministic loop.
#![allow(dead_code, missing_docs)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::bench::path::{Path, To};
use crate::bench::site::{pattern, Site, IP};
use crate::bench::MS;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use weft_engine::*;
use weft_watchdog::Watchdog;

const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
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

/// Ours, smoltcp, and the path between them.
pub struct Meeting {
    pub now: u64,
    pub ours: Site,
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    pub path: Path,
    _limit: Option<Watchdog>,
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
            path: Path::new(seed, faults),
            _limit: Watchdog::usual(format_args!("seed {seed}")),
        }
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

    /// The next thing that happens.
    pub fn step(&mut self) {
        let peer = self
            .interface
            .poll_at(instant(self.now), &self.sockets)
            .map(|at| (at.total_micros() as u64 * 1000).max(self.now));
        let soonest = [self.path.next(), self.ours.engine.next_deadline(), peer];
        let soonest = soonest.into_iter().flatten().min();
        // The users may have something to do.
        let at = soonest.unwrap_or(self.now + MS);
        // smoltcp's clock has microseconds.
        self.now = self.now.max(at) + 1000;
        while let Some((to, frame)) = self.path.take(self.now) {
            match to {
                To::Peer => self.wire.received.push_back(frame),
                To::Ours => self.ours.receive(self.now, &frame),
            }
        }
        self.ours.timers(self.now);
        let now = instant(self.now);
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        for frame in self.ours.sent() {
            self.path.put(self.now, To::Peer, frame);
        }
        for frame in std::mem::take(&mut self.wire.sent) {
            self.path.put(self.now, To::Ours, frame);
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
