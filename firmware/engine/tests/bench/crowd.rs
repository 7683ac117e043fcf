//! Many peers of one engine, each a TCP of a few lines: they connect, say what they have to say or nothing, and send again what is not answered.

use std::collections::BTreeMap;

use weft_engine::*;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::mpa::{FrameKind, StartupFrame};
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};

use super::card::Card;
use super::script::PEER_MAC;
use super::MS;

/// What a peer has to say behind the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// Nothing.
    Nothing,
    /// These octets at once.
    These(Vec<u8>),
}

/// What became of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is at it.
    On,
    /// The reply that takes it came, at this time.
    Taken(u64),
    /// A reply that does not, at this time, with these private data.
    Rejected(u64, Vec<u8>),
    /// An RST, at this time.
    Reset(u64),
    /// Nobody has answered for as long as it tries.
    Unanswered,
}

pub struct Caller {
    says: Says,
    port: u16,
    seq: u32,
    /// It has had the SYN-ACK.
    stands: bool,
    ack: u32,
    acked: u32,
    again_at: u64,
    tries: u32,
    pub came: Came,
}

impl Caller {
    /// It finds its tongue.
    pub fn ask(&mut self, now: u64, octets: Vec<u8>) {
        (self.says, self.again_at, self.tries) = (Says::These(octets), now + 1, 0);
    }
}

/// Where a peer is.
type Name = ([u8; 4], u16);

pub struct Crowd {
    pub now: u64,
    pub engine: Engine,
    pub card: Card,
    pub pd: PdId,
    pub callers: BTreeMap<Name, Caller>,
    pub events: Vec<Event>,
    /// The program takes requests from then on, and answers at once.
    pub looks_from: u64,
    /// What it has taken is over as soon as the peer has its answer.
    pub taken: Vec<(ConnId, QpId)>,
    /// Most events that nobody had taken.
    pub most_events: usize,
    /// Of the queues of who is taken.
    pub depth: u32,
    /// Who is taken stays.
    pub stays: bool,
    /// Who asks for segments that begin with FPDUs is granted them.
    pub aligned: bool,
    /// Is told when the engine begins to work, and when it has.
    pub hook: fn(bool),
    queued: Vec<Event>,
}

const RTO: u64 = 200 * MS;
const SYN_RTO: u64 = 1000 * MS;
const TRIES: u32 = 6;

impl Crowd {
    pub fn new(change: &dyn Fn(&mut EngineConfig)) -> Self {
        let mac = [2, 0, 0, 0, 0, 1];
        let mut config = EngineConfig {
            mac,
            ip: [10, 0, 0, 1],
            num_flows: 64,
            num_stags: 64,
            ..Default::default()
        };
        change(&mut config);
        Self::hooked(config, |_| ())
    }

    /// Of an engine of just these settings.
    pub fn hooked(config: EngineConfig, hook: fn(bool)) -> Self {
        let card = Card::new(config.mac, config.num_flows, config.num_stags);
        hook(true);
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        hook(false);
        Crowd {
            now: 1000,
            engine,
            card,
            pd,
            callers: BTreeMap::new(),
            events: Vec::new(),
            looks_from: 0,
            taken: Vec::new(),
            most_events: 0,
            depth: 4,
            stays: false,
            aligned: false,
            hook,
            queued: Vec::new(),
        }
    }

    /// Lets the engine work.
    pub fn call_engine<R>(&mut self, f: impl FnOnce(&mut Engine, u64, &mut Card) -> R) -> R {
        (self.hook)(true);
        let result = f(&mut self.engine, self.now, &mut self.card);
        (self.hook)(false);
        result
    }

    /// A segment of a peer that stands, so many octets behind what it has sent, which says that it has had `ack` octets and these pieces behind them.
    pub fn segment(&mut self, name: Name, at: u32, octets: &[u8], ack: u32, sack: &[(u32, u32)]) {
        let caller = &self.callers[&name];
        let (seq, base) = (caller.acked.wrapping_add(at), caller.ack.wrapping_add(ack));
        let mut options = Options::default();
        for (left, right) in sack {
            options
                .sack
                .push(base.wrapping_add(*left), base.wrapping_add(*right));
        }
        let flags = if octets.is_empty() {
            flag::ACK
        } else {
            flag::ACK | flag::PSH
        };
        self.callers.get_mut(&name).unwrap().ack = base;
        let frame = self.frame(name, flags, seq, options, octets);
        self.card.receive(&frame);
        self.work();
    }

    /// The FIN of a peer that stands, so many octets behind what it has sent, which has had `ack` octets and the engine's FIN.
    pub fn closes(&mut self, name: Name, at: u32, ack: u32) {
        let caller = self.callers.get_mut(&name).unwrap();
        caller.ack = caller.ack.wrapping_add(ack + 1);
        let seq = caller.acked.wrapping_add(at);
        let frame = self.frame(name, flag::ACK | flag::FIN, seq, Options::default(), &[]);
        self.card.receive(&frame);
        self.work();
    }

    /// A peer begins to connect to a port; its name.
    pub fn call(&mut self, name: Name, port: u16, says: Says) -> Name {
        let seq = u32::from(name.1) << 12 | u32::from(name.0[3]);
        let caller = Caller {
            says,
            port,
            seq,
            stands: false,
            ack: 0,
            acked: seq,
            again_at: self.now + SYN_RTO,
            tries: 0,
            came: Came::On,
        };
        self.callers.insert(name, caller);
        self.syn(name);
        self.work();
        name
    }

    pub fn came(&self, name: Name) -> &Came {
        &self.callers[&name].came
    }

    fn frame(&self, name: Name, flags: u8, seq: u32, options: Options, payload: &[u8]) -> Vec<u8> {
        let header = FrameHeader {
            source_mac: PEER_MAC,
            destination_mac: [2, 0, 0, 0, 0, 1],
            source_ip: name.0,
            destination_ip: [10, 0, 0, 1],
            identification: 1,
            tos: 0,
            source_port: name.1,
            destination_port: self.callers[&name].port,
            seq,
            ack: self.callers[&name].ack,
            flags,
            window: 60000,
            options,
        };
        let mut out = vec![0; payload.len() + 200];
        let length = header.write(payload, &mut out).unwrap();
        out.truncate(length);
        out
    }

    fn syn(&mut self, name: Name) {
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            ..Options::default()
        };
        let frame = self.frame(name, flag::SYN, self.callers[&name].seq, options, &[]);
        self.card.receive(&frame);
    }

    fn say(&mut self, name: Name) {
        let caller = &self.callers[&name];
        let (Says::These(octets), false) = (caller.says.clone(), caller.acked != caller.seq + 1)
        else {
            return;
        };
        let frame = self.frame(name, flag::ACK, caller.seq + 1, Options::default(), &octets);
        self.card.receive(&frame);
    }

    /// A frame of the engine's has reached its peer.
    fn arrives(&mut self, frame: &[u8]) {
        let Some((_, packet)) = EthernetHeader::parse(frame) else {
            return;
        };
        let Ok(packet) = Ipv4Packet::parse(packet) else {
            return;
        };
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).unwrap();
        let name = (packet.destination, segment.destination_port);
        let now = self.now;
        let Some(caller) = self.callers.get_mut(&name) else {
            return;
        };
        if caller.came != Came::On {
            return;
        }
        if segment.flags & flag::RST != 0 {
            caller.came = Came::Reset(now);
            return;
        }
        if segment.flags & flag::SYN != 0 {
            caller.ack = segment.seq.wrapping_add(1);
            if !caller.stands {
                (caller.stands, caller.acked) = (true, caller.seq + 1);
                (caller.again_at, caller.tries) = (now + RTO, 0);
            }
            let ack = self.frame(
                name,
                flag::ACK,
                self.callers[&name].seq + 1,
                Options::default(),
                &[],
            );
            self.card.receive(&ack);
            self.say(name);
            return;
        }
        caller.acked = segment.ack;
        if !segment.payload.is_empty() && segment.seq == caller.ack {
            caller.ack = caller.ack.wrapping_add(segment.payload.len() as u32);
            let (reply, _) = StartupFrame::parse(segment.payload).expect("a whole reply");
            assert_eq!(reply.kind, FrameKind::Reply);
            caller.came = match reply.reject {
                true => Came::Rejected(now, reply.private_data.to_vec()),
                false => Came::Taken(now),
            };
            let seq = caller.acked;
            let frame = self.frame(name, flag::ACK, seq, Options::default(), &[]);
            self.card.receive(&frame);
            if self.stays {
                return;
            }
            // It goes as soon as it knows.
            let frame = self.frame(name, flag::RST | flag::ACK, seq, Options::default(), &[]);
            self.card.receive(&frame);
        }
    }

    /// Until nothing moves.
    pub fn work(&mut self) {
        loop {
            let mut busy = false;
            self.card.run_jobs();
            for frame in std::mem::take(&mut self.card.out) {
                busy = true;
                self.arrives(&frame);
            }
            while let Some((report, raw)) = self.card.take_report() {
                busy = true;
                self.call_engine(|e, now, card| e.on_report(now, &report, raw.as_deref(), card));
            }
            if self.now >= self.looks_from {
                busy |= self.look();
            }
            if !busy {
                return;
            }
        }
    }

    /// The program takes its events.
    fn look(&mut self) -> bool {
        let mut taken = 0;
        while let Some(event) = self.call_engine(|e, _, _| e.poll_event()) {
            self.queued.push(event);
            taken += 1;
        }
        self.most_events = self.most_events.max(taken);
        for event in std::mem::take(&mut self.queued) {
            if let Event::ConnectRequest { conn, .. } = event {
                let config = QpConfig {
                    pd: self.pd,
                    send_depth: self.depth,
                    recv_depth: self.depth,
                    max_sge: 4,
                    rung: None,
                };
                let qp = self
                    .call_engine(|e, _, card| e.create_qp(&config, card))
                    .unwrap();
                let params = AcceptParams {
                    aligned: self.aligned,
                    ..AcceptParams::default()
                };
                let accepted =
                    self.call_engine(|e, now, card| e.accept(now, conn, qp, &params, card));
                accepted.unwrap();
                self.taken.push((conn, qp));
            }
            if let Event::ConnectError { conn, .. } | Event::Disconnected { conn, .. } = event {
                let at = self.taken.iter().position(|taken| taken.0 == conn);
                if let Some(at) = at {
                    let (_, qp) = self.taken.swap_remove(at);
                    self.call_engine(|e, now, card| e.destroy_qp(now, qp, card))
                        .unwrap();
                }
            }
            self.events.push(event);
        }
        taken > 0
    }

    /// Lets time pass, in steps of a millisecond at most.
    pub fn wait(&mut self, time: u64) {
        let end = self.now + time;
        self.work();
        while self.now < end {
            let soonest = self.callers.values().filter(|c| c.came == Came::On);
            let soonest = soonest
                .map(|c| c.again_at)
                .filter(|at| *at > self.now)
                .min();
            let timer = self.engine.next_deadline();
            let looks = Some(self.looks_from).filter(|at| *at > self.now);
            let next = [soonest, timer, looks].into_iter().flatten().min();
            self.now = next.unwrap_or(end).clamp(self.now, end);
            if timer.is_some_and(|at| at <= self.now) {
                self.call_engine(|e, now, card| e.on_timer(now, card));
            }
            let due = |c: &Caller| c.came == Came::On && c.again_at <= self.now;
            let due: Vec<Name> = self
                .callers
                .iter()
                .filter(|(_, c)| due(c))
                .map(|(n, _)| *n)
                .collect();
            for name in due {
                let now = self.now;
                let caller = self.callers.get_mut(&name).unwrap();
                caller.tries += 1;
                let stands = caller.stands;
                let rto = if stands { RTO } else { SYN_RTO };
                caller.again_at = now + (rto << caller.tries);
                if caller.tries > TRIES
                    && (!stands || caller.says != Says::Nothing)
                    && caller.acked <= caller.seq + 1
                {
                    caller.came = Came::Unanswered;
                } else if stands {
                    self.say(name);
                } else {
                    self.syn(name);
                }
            }
            self.work();
        }
    }

    /// Peers of which this holds.
    pub fn count(&self, holds: impl Fn(&Came) -> bool) -> usize {
        self.callers.values().filter(|c| holds(&c.came)).count()
    }
}
