//! Two engines with their cards and a link between them, in one deterministic loop.
#![allow(dead_code, missing_docs)]

pub mod bulk;
pub mod card;
pub mod crowd;
pub mod late;
pub mod middlebox;
pub mod oracle;
pub mod path;
pub mod script;
pub mod site;
pub mod traffic;
pub mod under;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use card::{Card, MEMORY};
use late::Late;
use middlebox::Middlebox;
use weft_engine::*;
use weft_watchdog::Watchdog;
use weft_wire::arp::{Arp, Operation};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::tcp::{FrameHeader, Options, TcpSegment};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

/// Who frames, checks and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The card.
    Card,
    /// The engine, for a card that never attaches.
    ByHand,
    /// The engine, as the rung says; it makes FPDUs as well.
    Host,
    /// The engine, but the card computes and checks the CRCs.
    Crc,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::Card, Way::ByHand, Way::Host, Way::Crc];

    fn rung(self) -> Rung {
        match self {
            Way::Card | Way::ByHand => Rung::Placement,
            Way::Host => Rung::Host,
            Way::Crc => Rung::Crc,
        }
    }
}

/// What the link does to frames, in parts of 65536.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub loss: u32,
    pub duplicate: u32,
    pub reorder: u32,
    pub split: u32,
    /// Marked, if it may be.
    pub mark: u32,
    /// It is lost, and all of its direction for up to 100 µs.
    pub burst: u32,
    /// A bit of a TCP packet is flipped, which the FCS does not see.
    pub corrupt: u32,
}

impl Faults {
    /// All of them at once.
    pub const EVERYTHING: Self = Self {
        loss: 600,
        burst: 60,
        duplicate: 2000,
        reorder: 3000,
        split: 3000,
        corrupt: 600,
        mark: 3000,
    };
}

pub struct Host {
    pub engine: Engine,
    pub card: Card,
    pub pd: PdId,
    pub events: Vec<Event>,
    pub completions: Vec<Completion>,
    next_memory: u64,
}

impl Host {
    fn new(n: u8, seed: u64, change: &dyn Fn(&mut EngineConfig)) -> Self {
        let mac = [2, 0, 0, 0, 0, n];
        let seed = Seed::from(seed.wrapping_mul(977).wrapping_add(u64::from(n)));
        let mut config = EngineConfig {
            mac,
            ip: [10, 0, 0, n],
            hash_secret: seed.hash_secret(),
            seed,
            num_flows: 8,
            num_stags: 64,
            max_connections: Some(16),
            send_buffer: 1 << 17,
            ..Default::default()
        };
        change(&mut config);
        let mut card = Card::new(mac, config.num_flows, config.num_stags);
        card.secret = config.hash_secret;
        if config.replay > 0 {
            // So that it runs short of them.
            card.raw_slots(64);
            card.most_replayed = config.replay.into();
        }
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        Host {
            engine,
            card,
            pd,
            events: Vec::new(),
            completions: Vec::new(),
            next_memory: MEMORY,
        }
    }

    /// A new region with room for `length` bytes; its STag and IOVA. Tagged offsets begin at 0x1000.
    pub fn region(&mut self, length: u64, access: Access) -> (u32, u64) {
        let iova = self.next_memory;
        self.next_memory += length.next_multiple_of(64) + 64;
        assert!(self.next_memory < MEMORY + (6 << 20));
        let stag = self
            .engine
            .register(self.pd, 0x1000, iova, length, access, &mut self.card)
            .unwrap();
        (stag, iova)
    }

    pub fn qp(&mut self) -> QpId {
        let config = QpConfig {
            pd: self.pd,
            send_depth: 64,
            recv_depth: 64,
            max_sge: 4,
            rung: None,
        };
        self.engine.create_qp(&config, &mut self.card).unwrap()
    }

    pub fn take_event(&mut self) -> Option<Event> {
        (!self.events.is_empty()).then(|| self.events.remove(0))
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A frame arrives at a host.
    Frame(usize, Vec<u8>),
    /// The host looks at its reports.
    Reports(usize),
    /// It catches up, if nothing has come meanwhile.
    CatchUp(usize),
    /// The card runs its jobs.
    Jobs(usize),
}

/// Sees a frame of a host; false drops it.
pub type Tamper = Box<dyn FnMut(usize, &mut Vec<u8>) -> bool>;

pub struct Bench {
    pub now: u64,
    pub hosts: [Host; 2],
    queue: BinaryHeap<Reverse<(u64, u64, What)>>,
    count: u64,
    random: u64,
    pub faults: Faults,
    /// When the burst of loss of each direction is over.
    burst_end: [u64; 2],
    pub delay: u64,
    /// From the card's write of a report to its handling.
    pub report_delay: u64,
    pub job_delay: u64,
    /// How far each host is behind its card.
    pub late: [Late; 2],
    /// What makes segments anew, at the sender's.
    pub middlebox: Option<Middlebox>,
    pub frames: u64,
    /// Every frame sent: time, from, bytes.
    pub capture: Vec<(u64, usize, Vec<u8>)>,
    /// Off: there is none, for long runs.
    pub keep_capture: bool,
    /// Sees every frame before it goes out, and may change or drop it.
    pub tamper: Option<Tamper>,
    _limit: Option<Watchdog>,
}

impl Bench {
    pub fn new(seed: u64) -> Self {
        Self::with(seed, &|_| ())
    }

    /// Both the same way.
    pub fn by(way: Way, seed: u64) -> Self {
        let mut bench = Self::with(seed, &|c| c.rung = way.rung());
        for host in &mut bench.hosts {
            host.card.no_attach = way == Way::ByHand;
        }
        bench
    }

    pub fn with(seed: u64, change: &dyn Fn(&mut EngineConfig)) -> Self {
        Bench {
            now: 0,
            hosts: [Host::new(1, seed, change), Host::new(2, seed, change)],
            queue: BinaryHeap::new(),
            count: 0,
            random: seed ^ 0x5deece66d,
            faults: Faults::default(),
            burst_end: [0; 2],
            delay: 5 * US,
            report_delay: 500,
            job_delay: 300,
            late: [Late::default(); 2],
            middlebox: None,
            frames: 0,
            capture: Vec::new(),
            keep_capture: true,
            tamper: None,
            _limit: Watchdog::usual(format_args!("seed {seed}")),
        }
    }

    pub fn random(&mut self) -> u32 {
        self.random = self
            .random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.random >> 33) as u32
    }

    fn chance(&mut self, part: u32) -> bool {
        part > 0 && self.random() % 65536 < part
    }

    fn push(&mut self, at: u64, what: What) {
        self.count += 1;
        self.queue.push(Reverse((at, self.count, what)));
    }

    fn send(&mut self, from: usize, mut frame: Vec<u8>) {
        if let Some(tamper) = &mut self.tamper {
            if !tamper(from, &mut frame) {
                return;
            }
        }
        if ecn(&frame) == ECT && self.chance(self.faults.mark) {
            set_ecn(&mut frame, CE);
        }
        self.frames += 1;
        if self.keep_capture {
            self.capture.push((self.now, from, frame.clone()));
        }
        let pieces = if self.chance(self.faults.split) {
            let cut = self.random();
            split(&frame, cut)
        } else {
            vec![frame]
        };
        for mut piece in pieces {
            if self.chance(self.faults.burst) {
                self.burst_end[from] = self.now + 1 + u64::from(self.random() % 100) * US;
            }
            if self.now < self.burst_end[from] {
                continue;
            }
            if self.chance(self.faults.loss) {
                continue;
            }
            if is_tcp(&piece) && self.chance(self.faults.corrupt) {
                let bit = self.random() as usize % ((piece.len() - 14) * 8);
                piece[14 + bit / 8] ^= 1 << (bit % 8);
            }
            let mut at = self.now + self.delay;
            if self.chance(self.faults.reorder) {
                at += u64::from(self.random() % 40) * US;
            }
            if self.chance(self.faults.duplicate) {
                self.push(at + 3 * US, What::Frame(1 - from, piece.clone()));
            }
            self.push(at, What::Frame(1 - from, piece));
        }
    }

    /// What the engines and cards have to say after a step.
    fn collect(&mut self) {
        for n in 0..2 {
            let host = &mut self.hosts[n];
            while let Some(event) = host.engine.poll_event() {
                host.events.push(event);
            }
            host.card.take_back(&mut host.engine);
            while let Some(completion) = host.engine.poll_completion() {
                host.completions.push(completion);
            }
            self.push(self.now + self.job_delay, What::Jobs(n));
        }
    }

    /// Calls an engine.
    pub fn call<R>(&mut self, n: usize, f: impl FnOnce(&mut Engine, u64, &mut Card) -> R) -> R {
        let host = &mut self.hosts[n];
        let result = f(&mut host.engine, self.now, &mut host.card);
        self.collect();
        result
    }

    /// One step; false if nothing will ever happen again.
    pub fn step(&mut self) -> bool {
        let next = self.queue.peek().map(|Reverse((at, _, _))| *at);
        let deadline = |n: usize| self.hosts[n].engine.next_deadline();
        let timer = [deadline(0), deadline(1)].into_iter().flatten().min();
        match (next, timer) {
            (None, None) => return false,
            (Some(at), Some(timer)) if timer < at => self.timers(timer),
            (None, Some(timer)) => self.timers(timer),
            (Some(_), _) => self.event(),
        }
        true
    }

    fn timers(&mut self, at: u64) {
        self.now = self.now.max(at);
        for n in 0..2 {
            let host = &mut self.hosts[n];
            if host.engine.next_deadline().is_some_and(|at| at <= self.now) {
                host.engine.on_timer(self.now, &mut host.card);
            }
        }
        self.collect();
    }

    fn event(&mut self) {
        let Some(Reverse((at, _, what))) = self.queue.pop() else {
            return;
        };
        self.now = self.now.max(at);
        match what {
            What::Frame(n, frame) => {
                self.hosts[n].card.receive(&frame);
                self.reported(n);
            }
            What::Jobs(n) => {
                let before = self.hosts[n].card.reports.len();
                self.hosts[n].card.run_jobs();
                let frames = std::mem::take(&mut self.hosts[n].card.out);
                let frames = match &mut self.middlebox {
                    Some(middlebox) => middlebox.pass(n, frames),
                    None => frames.into_iter().map(|frame| (n, frame)).collect(),
                };
                for (from, frame) in frames {
                    self.send(from, frame);
                }
                if self.hosts[n].card.reports.len() > before {
                    self.reported(n);
                }
            }
            What::Reports(n) => {
                let random = self.late[n].drawn_to.map(|_| self.random());
                self.late[n].looks(random.unwrap_or(1));
                self.handle(n, self.late[n].behind);
            }
            What::CatchUp(n) => {
                if self.late[n].is_idle(self.now) {
                    self.handle(n, 0);
                }
            }
        }
    }

    /// The card may have reported something.
    fn reported(&mut self, n: usize) {
        self.push(self.now + self.report_delay, What::Reports(n));
        if self.late[n].behind > 0 || self.late[n].drawn_to.is_some() {
            self.late[n].last = self.now;
            self.push(self.now + late::IDLE, What::CatchUp(n));
        }
    }

    /// A host handles its reports until so many are left.
    fn handle(&mut self, n: usize, left: usize) {
        let host = &mut self.hosts[n];
        let mut any = false;
        host.card.merge();
        while host.card.reports.len() > left {
            let Some(report) = host.card.next_report() else {
                break;
            };
            any = true;
            host.card.hand(self.now, &mut host.engine, report);
        }
        if any {
            self.collect();
        }
    }

    /// Runs until the condition holds; panics after `limit` of simulated time.
    #[track_caller]
    pub fn until(&mut self, what: &str, limit: u64, mut condition: impl FnMut(&mut Bench) -> bool) {
        let end = self.now + limit;
        while !condition(self) {
            let alive = self.step();
            assert!(
                alive && self.now <= end,
                "waiting for {what} at {} ns: {:?} / {:?}\n{:?}\n{:?}",
                self.now,
                self.hosts[0].events,
                self.hosts[1].events,
                self.hosts[0].engine.stats(),
                self.hosts[1].engine.stats(),
            );
        }
    }

    /// Runs for a while.
    pub fn run(&mut self, time: u64) {
        let end = self.now + time;
        loop {
            let next = self.queue.peek().map(|Reverse((at, _, _))| *at);
            let deadline = |n: usize| self.hosts[n].engine.next_deadline();
            let soonest = [next, deadline(0), deadline(1)].into_iter().flatten().min();
            if soonest.is_none_or(|at| at > end) {
                self.now = end;
                return;
            }
            self.step();
        }
    }

    #[track_caller]
    pub fn event_of(&mut self, n: usize, limit: u64) -> Event {
        self.until("an event", limit, |b| !b.hosts[n].events.is_empty());
        self.hosts[n].events.remove(0)
    }

    #[track_caller]
    pub fn completions_of(&mut self, n: usize, count: usize, limit: u64) -> Vec<Completion> {
        self.until("completions", limit, |b| {
            b.hosts[n].completions.len() >= count
        });
        self.hosts[n].completions.drain(..count).collect()
    }

    /// Host 0 connects to host 1. Both have a queue pair; the connection stands on both sides if
    /// the RTR says so, else only on the initiator's.
    #[track_caller]
    pub fn connect(&mut self, params: &ConnectParams<'_>, accept: &AcceptParams<'_>) -> Pair {
        let qps = [self.hosts[0].qp(), self.hosts[1].qp()];
        self.connect_qps(qps, params, accept)
    }

    #[track_caller]
    pub fn connect_qps(
        &mut self,
        qps: [QpId; 2],
        params: &ConnectParams<'_>,
        accept: &AcceptParams<'_>,
    ) -> Pair {
        let _ = self.call(1, |e, _, _| e.listen(4791, 8));
        let params = ConnectParams {
            remote: Endpoint {
                ip: self.hosts[1].engine.config().ip,
                port: 4791,
            },
            ..*params
        };
        let first = self
            .call(0, |e, now, card| e.connect(now, qps[0], &params, card))
            .unwrap();
        let limit = 600_000 * MS;
        let conn = match self.event_of(1, limit) {
            Event::ConnectRequest { conn, .. } => conn,
            other => panic!("{other:?}"),
        };
        self.call(1, |e, now, card| e.accept(now, conn, qps[1], accept, card))
            .unwrap();
        let agreed = match self.event_of(0, limit) {
            Event::Established {
                conn, qp, agreed, ..
            } => {
                assert_eq!((conn, qp), (first, qps[0]));
                agreed
            }
            other => panic!("{other:?}"),
        };
        if params.peer_to_peer {
            match self.event_of(1, limit) {
                Event::Established { conn: c, qp, .. } => assert_eq!((c, qp), (conn, qps[1])),
                other => panic!("{other:?}"),
            }
        }
        Pair {
            qps,
            conns: [first, conn],
            agreed,
        }
    }

    /// The ULPDUs of what a host has sent, read from its frames by the judge; `markers`: its peer asked for them. For one connection.
    pub fn judged(&self, from: usize, markers: bool) -> Vec<Vec<u8>> {
        let mut stream = oracle::Stream::default();
        let own = self.capture.iter().filter(|(_, host, _)| *host == from);
        own.for_each(|(_, _, frame)| stream.frame(frame));
        stream.ulpdus(markers)
    }

    /// Each segment that a host has sent behind its start-up is one FPDU, as the judge finds: how many FPDUs, how many segments.
    pub fn judged_aligned(&self, from: usize) -> (usize, usize) {
        let mut stream = oracle::Stream::default();
        let own = self.capture.iter().filter(|(_, host, _)| *host == from);
        own.for_each(|(_, _, frame)| stream.frame(frame));
        stream.one_fpdu_in_each_segment()
    }

    /// The judge finds all FPDUs of both hosts right, and each was taken by the other, once. `markers`: asked for by each.
    #[track_caller]
    pub fn judge(&self, markers: [bool; 2]) {
        for (n, host) in self.hosts.iter().enumerate() {
            let sent = self.judged(1 - n, markers[n]).len() as u64;
            let stats = host.engine.stats();
            let taken = stats.fpdus_card + stats.fpdus_software;
            assert_eq!(taken, sent, "host {n}: {stats:?}");
        }
    }

    pub fn post_send(&mut self, n: usize, qp: QpId, wr: &SendWr<'_>) -> Result<(), Error> {
        self.call(n, |e, now, card| e.post_send(now, qp, wr, card))
    }

    pub fn post_recv(&mut self, n: usize, qp: QpId, id: u64, sges: &[Sge]) -> Result<(), Error> {
        self.call(n, |e, now, card| {
            e.post_recv(now, qp, &RecvWr { id, sges }, card)
        })
    }

    pub fn memory(&mut self, n: usize, iova: u64, length: usize) -> &mut [u8] {
        self.hosts[n].card.bytes(iova, length).unwrap()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub qps: [QpId; 2],
    pub conns: [ConnId; 2],
    pub agreed: Agreed,
}

pub fn send<'a>(id: u64, sges: &'a [Sge]) -> SendWr<'a> {
    SendWr {
        id,
        op: SendOp::Send {
            solicited: false,
            invalidate: None,
        },
        payload: Payload::Sges(sges),
        signalled: true,
        fence: false,
    }
}

pub fn write<'a>(id: u64, stag: u32, to: u64, sges: &'a [Sge]) -> SendWr<'a> {
    SendWr {
        op: SendOp::Write { stag, to },
        ..send(id, sges)
    }
}

pub fn read<'a>(id: u64, stag: u32, to: u64, sges: &'a [Sge]) -> SendWr<'a> {
    SendWr {
        op: SendOp::Read { stag, to },
        ..send(id, sges)
    }
}

pub fn sge(stag: u32, at: u64, length: u32) -> Sge {
    Sge {
        stag,
        to: 0x1000 + at,
        length,
    }
}

/// Codepoints of the IP header's ECN field (RFC 3168 §5).
pub const ECT: u8 = 2;
pub const CE: u8 = 3;

/// The ECN field of a frame; 0: it is not IPv4.
pub fn ecn(frame: &[u8]) -> u8 {
    match EthernetHeader::parse(frame) {
        Some((header, packet)) if header.ethertype == 0x0800 => packet[1] & 3,
        _ => 0,
    }
}

fn is_tcp(frame: &[u8]) -> bool {
    let packet = match EthernetHeader::parse(frame) {
        Some((header, packet)) if header.ethertype == 0x0800 => packet,
        _ => return false,
    };
    Ipv4Packet::parse(packet).is_ok_and(|packet| packet.protocol == protocol::TCP)
}

pub fn set_ecn(frame: &mut [u8], ecn: u8) {
    frame[15] = frame[15] & !3 | ecn;
    frame[24..26].fill(0);
    let words = frame[14..34].chunks_exact(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = ((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&(!sum).to_be_bytes());
}

/// Cuts a TCP segment in two, as a middle box might; other frames stay whole.
pub fn split(frame: &[u8], cut: u32) -> Vec<Vec<u8>> {
    let whole = || vec![frame.to_vec()];
    let Some((ethernet, packet)) = EthernetHeader::parse(frame) else {
        return whole();
    };
    let Ok(packet) = Ipv4Packet::parse(packet) else {
        return whole();
    };
    let Ok(segment) = TcpSegment::parse(packet.source, packet.destination, packet.payload) else {
        return whole();
    };
    let length = segment.payload.len();
    if length < 2 {
        return whole();
    }
    let cut = 1 + cut as usize % (length - 1);
    [(0, cut), (cut, length)]
        .into_iter()
        .map(|(from, to)| {
            let header = FrameHeader {
                source_mac: ethernet.source,
                destination_mac: ethernet.destination,
                source_ip: packet.source,
                destination_ip: packet.destination,
                identification: 0,
                tos: 0,
                source_port: segment.source_port,
                destination_port: segment.destination_port,
                seq: segment.seq.wrapping_add(from as u32),
                ack: segment.ack,
                flags: if to == length {
                    segment.flags
                } else {
                    segment.flags & !9
                },
                window: segment.window,
                options: Options {
                    timestamps: segment.options.timestamps,
                    ..Options::default()
                },
            };
            let mut out = vec![0; 2048];
            let used = header.write(&segment.payload[from..to], &mut out).unwrap();
            out.truncate(used);
            out
        })
        .collect()
}

/// An ARP request of this station; for its own address: an announcement.
pub fn arp_request(mac: [u8; 6], ip: [u8; 4], asked: [u8; 4]) -> Vec<u8> {
    let request = Arp {
        operation: Operation::Request,
        sender_mac: mac,
        sender_ip: ip,
        target_mac: [0; 6],
        target_ip: asked,
    };
    request.frame().to_vec()
}
