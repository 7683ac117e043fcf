//! Runs a script: the engine with a card for the station, the script for its peer and its user.

use std::collections::VecDeque;

use super::line::{Item, Line, Packet, Script, What, TOLERANCE};
use crate::bench::card::{Card, MEMORY};
use crate::bench::script::{with_tcp_options, PEER_IP, PEER_MAC};
use crate::bench::{arp_request, ecn, set_ecn};
use weft_engine::*;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const IP: [u8; 4] = [10, 0, 0, 1];
const PORT: u16 = 8080;
const PEER_PORT: u16 = 5000;
const RING: u32 = 200_000;
/// The peer's first sequence number: soon it goes over the end.
const PEER_ISN: u32 = u32::MAX - 700;

/// A packet that the station sent.
#[derive(Clone, Debug)]
struct Sent {
    at: u64,
    ecn: u8,
    segment: Whole,
}

#[derive(Clone, Debug)]
struct Whole {
    port: u16,
    seq: u32,
    ack: u32,
    flags: u8,
    window: u16,
    options: Options,
    payload: Vec<u8>,
}

struct Station {
    now: u64,
    engine: Engine,
    card: Card,
    qp: QpId,
    ring: Sge,
    conn: Option<ConnId>,
    events: Vec<Event>,
    sent: VecDeque<Sent>,
    /// Our initial sequence number, once it is known.
    isn: Option<u32>,
    /// The port of the station's side.
    port: u16,
    /// TSval that it sent last.
    stamp: u32,
    written: u32,
    read: u32,
}

/// Byte number `at` of what a side sends, the first after its SYN being number 1.
fn byte(side: u32, at: u32) -> u8 {
    (at.wrapping_mul(2_654_435_761).wrapping_add(side) >> 13) as u8
}

fn bytes(side: u32, from: u32, count: usize) -> Vec<u8> {
    (0..count as u32)
        .map(|i| byte(side, from.wrapping_add(i)))
        .collect()
}

const STATION: u32 = 1;
const PEER: u32 = 2;

type Result<T> = std::result::Result<T, String>;

/// Runs a script to its end; why it failed.
pub fn run(script: &Script) -> Result<()> {
    let mut station = Station::new(&script.settings)?;
    for line in &script.lines {
        station
            .line(line)
            .map_err(|error| format!("line {}: {error}", line.number))?;
    }
    station.nothing_else()
}

fn config_of(settings: &[(String, String)]) -> Result<EngineConfig> {
    let mut config = EngineConfig {
        mac: MAC,
        ip: IP,
        num_flows: 4,
        num_stags: 8,
        max_connections: Some(8),
        // What is not a script's matter stays away from it.
        congestion: Congestion::Reno,
        ..Default::default()
    };
    for (name, value) in settings {
        let number: f64 = value.parse().unwrap_or_default();
        let ns = (number * 1e9) as u64;
        match name.as_str() {
            "timestamps" => config.timestamps = value == "on",
            "ecn" => {
                config.ecn = match value.as_str() {
                    "ask" => Ecn::Ask,
                    "never" => Ecn::Never,
                    _ => Ecn::WhenAsked,
                }
            }
            "delayed_ack" => config.delayed_ack = ns,
            "rto_min_in_flight" => config.rto_min_in_flight = ns,
            "peer_ack_delay" => config.peer_ack_delay = ns,
            "keepalive" => config.keepalive = Some(ns),
            "retries" => config.retries = number as u8,
            "syn_retries" => config.syn_retries = number as u8,
            "syn_cache" => config.syn_cache = number as u16,
            "initial_window" => config.initial_window_segments = number as u16,
            "mtu" => config.mtu = number as u16,
            "window" => config.receive_window = number as u32,
            _ => return Err(format!("no setting {name}")),
        }
    }
    Ok(config)
}

impl Station {
    fn new(settings: &[(String, String)]) -> Result<Self> {
        let config = config_of(settings)?;
        let mut card = Card::new(MAC, config.num_flows, config.num_stags);
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        let length = u64::from(RING);
        let stag = engine.register(pd, 0, MEMORY, length, Access::NONE, &mut card);
        let depths = QpConfig {
            pd,
            send_depth: 1,
            recv_depth: 1,
            max_sge: 1,
            rung: None,
        };
        let qp = engine.create_qp(&depths, &mut card);
        let (stag, qp) = (stag.map_err(text)?, qp.map_err(text)?);
        let mut station = Station {
            now: 1_000_000,
            engine,
            card,
            qp,
            ring: Sge {
                stag,
                to: 0,
                length: RING,
            },
            conn: None,
            events: Vec::new(),
            sent: VecDeque::new(),
            isn: None,
            port: PORT,
            stamp: 0,
            written: 1,
            read: 1,
        };
        let hello = arp_request(PEER_MAC, PEER_IP, IP);
        station.card.receive(&hello);
        station.work();
        Ok(station)
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        if let What::Expect(packet, late) = &line.what {
            return self.expect(packet, self.now + line.after, *late);
        }
        self.advance(self.now + line.after);
        self.nothing_else()?;
        match &line.what {
            What::Inject(packet) => {
                let frame = self.frame(packet);
                self.card.receive(&frame);
            }
            What::Expect(..) | What::Quiet => {}
            What::Listen => {
                self.engine.listen_stream(PORT, 4).map_err(text)?;
            }
            What::Connect => {
                let remote = Endpoint {
                    ip: PEER_IP,
                    port: PEER_PORT,
                };
                let (engine, card) = (&mut self.engine, &mut self.card);
                let conn = engine.connect_stream(self.now, self.qp, &self.ring, remote, card);
                self.conn = Some(conn.map_err(text)?);
            }
            What::Read(count) => {
                let mut got = vec![0; *count];
                let conn = self.conn()?;
                let (engine, card) = (&mut self.engine, &mut self.card);
                let read = engine.read_stream(self.now, conn, &mut got, card);
                let read = read.map_err(text)?;
                if read != *count {
                    return Err(format!("there are only {read} bytes to read"));
                }
                if got != bytes(PEER, self.read, *count) {
                    return Err("other bytes than the peer sent".into());
                }
                self.read = self.read.wrapping_add(*count as u32);
            }
            What::ReadEnd => {
                let state = self.engine.stream_state(self.conn()?).map_err(text)?;
                if !state.at_end || state.readable > 0 {
                    return Err(format!("not the end: {state:?}"));
                }
            }
            What::Write(count) => {
                let data = bytes(STATION, self.written, *count);
                let conn = self.conn()?;
                let (engine, card) = (&mut self.engine, &mut self.card);
                let written = engine.write_stream(self.now, conn, &data, card);
                if written != Ok(*count) {
                    return Err(format!("{written:?} written"));
                }
                self.written = self.written.wrapping_add(*count as u32);
            }
            What::NoDelay => {
                let conn = self.conn()?;
                self.engine.set_no_delay(conn, true).map_err(text)?;
            }
            What::Close => {
                let conn = self.conn()?;
                let (engine, card) = (&mut self.engine, &mut self.card);
                engine.disconnect(self.now, conn, card).map_err(text)?;
            }
            What::Abort => {
                let conn = self.conn()?;
                let (engine, card) = (&mut self.engine, &mut self.card);
                engine.abort(self.now, conn, card).map_err(text)?;
            }
            What::Over(why) => return self.over(why),
        }
        self.work();
        Ok(())
    }

    fn conn(&self) -> Result<ConnId> {
        self.conn.ok_or_else(|| "there is no stream".into())
    }

    fn over(&mut self, why: &str) -> Result<()> {
        let last = self.events.pop();
        let is = match &last {
            Some(Event::StreamClosed { reason, .. }) => format!("{reason:?}"),
            Some(Event::ConnectError { reason, .. }) => format!("{reason:?}"),
            other => return Err(format!("it is not over: {other:?}")),
        };
        match is.eq_ignore_ascii_case(why) {
            true => Ok(()),
            false => Err(format!("over, but because of {is}")),
        }
    }

    /// Reports to the engine, jobs to the wire, until both are quiet.
    fn work(&mut self) {
        loop {
            self.card.run_jobs();
            let out = std::mem::take(&mut self.card.out);
            let mut busy = !out.is_empty();
            for frame in out {
                self.take(&frame);
            }
            while let Some((report, raw)) = self.card.take_report() {
                busy = true;
                let card = &mut self.card;
                self.engine
                    .on_report(self.now, &report, raw.as_deref(), card);
            }
            while let Some(event) = self.engine.poll_event() {
                busy = true;
                if let Event::StreamRequest { conn, .. } = event {
                    let (engine, card) = (&mut self.engine, &mut self.card);
                    let taken = engine.accept_stream(self.now, conn, self.qp, &self.ring, card);
                    self.conn = taken.is_ok().then_some(conn);
                } else if !matches!(event, Event::StreamEstablished { .. }) {
                    self.events.push(event);
                }
            }
            if !busy {
                return;
            }
        }
    }

    fn take(&mut self, frame: &[u8]) {
        let Some((_, packet)) = EthernetHeader::parse(frame) else {
            return;
        };
        let Ok(packet) = Ipv4Packet::parse(packet) else {
            return;
        };
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload);
        let segment = segment.expect("checksums");
        if segment.flags & flag::SYN != 0 {
            // A new connection has new numbers.
            self.isn = Some(segment.seq);
            self.port = segment.source_port;
        }
        if let Some((value, _)) = segment.options.timestamps {
            self.stamp = value;
        }
        self.sent.push_back(Sent {
            at: self.now,
            ecn: ecn(frame),
            segment: Whole {
                port: segment.source_port,
                seq: segment.seq,
                ack: segment.ack,
                flags: segment.flags,
                window: segment.window,
                options: segment.options,
                payload: segment.payload.to_vec(),
            },
        });
    }

    /// Lets time pass, timers included.
    fn advance(&mut self, to: u64) {
        self.work();
        while let Some(at) = self.engine.next_deadline().filter(|at| *at <= to) {
            self.now = self.now.max(at);
            self.engine.on_timer(self.now, &mut self.card);
            self.work();
        }
        self.now = self.now.max(to);
    }

    fn nothing_else(&mut self) -> Result<()> {
        match self.sent.pop_front() {
            None => Ok(()),
            Some(sent) => Err(format!("nobody expects {}", self.show(&sent))),
        }
    }

    fn expect(&mut self, packet: &Packet, from: u64, late: u64) -> Result<()> {
        let until = from + late;
        while self.sent.is_empty() {
            let next = self.engine.next_deadline().filter(|at| *at <= until);
            let Some(at) = next else {
                return Err(format!("expected by now: {packet:?}"));
            };
            self.advance(at.max(self.now));
        }
        let Some(sent) = self.sent.pop_front() else {
            return Err("nothing was sent".into());
        };
        self.now = self.now.max(sent.at);
        let shown = self.show(&sent);
        let wrong = |what: &str| Err(format!("{what}: {shown}, expected {packet:?}"));
        if sent.at + TOLERANCE < from || sent.at > until {
            return wrong("too early or too late");
        }
        let segment = &sent.segment;
        // PSH need not be asked for.
        let ignored = flag::PSH & !packet.flags;
        if segment.flags & !ignored != packet.flags {
            return wrong("flags");
        }
        let isn = self.isn.unwrap_or_default();
        if segment.flags & flag::RST != 0 && segment.flags & flag::ACK == 0 {
            // Its number is one that the peer has acknowledged.
            if segment.seq != isn.wrapping_add(packet.seq) {
                return wrong("RST's number");
            }
        } else if self.isn.is_some() && segment.seq != isn.wrapping_add(packet.seq) {
            return wrong("sequence number");
        }
        if segment.payload.len() != packet.length as usize {
            return wrong("length");
        }
        if segment.payload != bytes(STATION, packet.seq, segment.payload.len()) {
            return wrong("other bytes than were written");
        }
        if let Some(ack) = packet.ack {
            if segment.ack != PEER_ISN.wrapping_add(ack) {
                return wrong("acknowledgment");
            }
        }
        if packet.window.is_some_and(|window| window != segment.window) {
            return wrong("window");
        }
        if packet.ecn.is_some_and(|mark| mark != sent.ecn) {
            return wrong("mark");
        }
        if let Some(items) = &packet.options {
            if !self.options_fit(items, &segment.options) {
                return wrong("options");
            }
        }
        Ok(())
    }

    fn options_fit(&self, items: &[Item], options: &Options) -> bool {
        let (mut mss, mut scale, mut stamps, mut permitted) = (false, false, false, false);
        let mut blocks = options.sack.as_slice().iter();
        for item in items {
            let fits = match *item {
                Item::Mss(value) => {
                    mss = true;
                    options.mss.is_some_and(|m| value.is_none_or(|v| v == m))
                }
                Item::Scale(value) => {
                    scale = true;
                    let scale = options.window_scale;
                    scale.is_some_and(|s| value.is_none_or(|v| v == s))
                }
                Item::SackPermitted => {
                    permitted = true;
                    options.sack_permitted
                }
                Item::Stamps(value, echo) => {
                    stamps = true;
                    options.timestamps.is_some_and(|(v, e)| {
                        value.is_none_or(|value| value == v) && echo.is_none_or(|echo| echo == e)
                    })
                }
                Item::Sack(left, right) => {
                    let at = |n: u32| PEER_ISN.wrapping_add(n);
                    blocks.next() == Some(&(at(left), at(right)))
                }
                Item::Octets(_) => false,
            };
            if !fits {
                return false;
            }
        }
        blocks.next().is_none()
            && mss == options.mss.is_some()
            && scale == options.window_scale.is_some()
            && stamps == options.timestamps.is_some()
            && permitted == options.sack_permitted
    }

    fn show(&self, sent: &Sent) -> String {
        let (isn, segment) = (self.isn.unwrap_or_default(), &sent.segment);
        let mut flags = String::new();
        let letters = [
            (flag::SYN, 'S'),
            (flag::FIN, 'F'),
            (flag::RST, 'R'),
            (flag::PSH, 'P'),
            (flag::ECE, 'E'),
            (flag::CWR, 'W'),
            (flag::ACK, '.'),
        ];
        for (bit, letter) in letters {
            if segment.flags & bit != 0 {
                flags.push(letter);
            }
        }
        let seq = segment.seq.wrapping_sub(isn);
        let length = segment.payload.len() as u32;
        let sack = segment.options.sack.as_slice().iter();
        let number = |n: u32| n.wrapping_sub(PEER_ISN);
        let sack: Vec<_> = sack.map(|(l, r)| (number(*l), number(*r))).collect();
        format!(
            "at {:.6}: {flags} {seq}:{}({length}) ack {} win {} sack {sack:?} mss {:?} scale {:?} stamps {:?} mark {}",
            sent.at as f64 / 1e9,
            seq.wrapping_add(length),
            number(segment.ack),
            segment.window,
            segment.options.mss,
            segment.options.window_scale,
            segment.options.timestamps,
            sent.ecn,
        )
    }

    fn frame(&self, packet: &Packet) -> Vec<u8> {
        let mut options = Options::default();
        let mut octets: &[u8] = &[];
        for item in packet.options.iter().flatten() {
            match *item {
                Item::Mss(value) => options.mss = value,
                Item::Scale(value) => options.window_scale = value,
                Item::SackPermitted => options.sack_permitted = true,
                Item::Stamps(value, echo) => {
                    let echo = echo.unwrap_or(self.stamp);
                    options.timestamps = Some((value.unwrap_or_default(), echo));
                }
                Item::Sack(left, right) => {
                    let at = |n: u32| self.isn.unwrap_or_default().wrapping_add(n);
                    options.sack.push(at(left), at(right));
                }
                Item::Octets(ref these) => octets = these,
            }
        }
        let ack = packet.ack.unwrap_or_default();
        let header = FrameHeader {
            source_mac: PEER_MAC,
            destination_mac: MAC,
            source_ip: PEER_IP,
            destination_ip: IP,
            identification: 1,
            tos: 0,
            source_port: PEER_PORT,
            destination_port: self.port,
            seq: PEER_ISN.wrapping_add(packet.seq),
            ack: match packet.flags & flag::ACK {
                0 => 0,
                _ => self.isn.unwrap_or_default().wrapping_add(ack),
            },
            flags: packet.flags,
            window: packet.window.unwrap_or(u16::MAX),
            options,
        };
        let payload = bytes(PEER, packet.seq, packet.length as usize);
        let mut frame = vec![0; payload.len() + 100];
        let length = header.write(&payload, &mut frame).expect("it fits");
        frame.truncate(length);
        if !octets.is_empty() {
            frame = with_tcp_options(&frame, octets);
        }
        if let Some(mark) = packet.ecn {
            set_ecn(&mut frame, mark);
        }
        frame
    }
}

fn text(error: Error) -> String {
    error.to_string()
}
