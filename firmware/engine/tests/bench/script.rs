//! A peer that is played by hand: it says exactly what a test wants, right or wrong.

use weft_engine::*;
use weft_wire::checksum::Checksum;
use weft_wire::ddp::DdpHeader;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::mpa::{Enhanced, Extensions, FrameKind, StartupFrame, MAX_FRAME};
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};
use weft_wire::terminate::Terminate;

use super::card::Card;
use super::oracle::fpdu;
use super::oracle::segment::Segment;
use super::{arp_request, Way, US};

pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
pub const PEER_IP: [u8; 4] = [10, 0, 0, 9];

/// A segment that the engine sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub options: Options,
    pub payload: Vec<u8>,
}

/// An engine with its card, and the peer's TCP variables.
pub struct Script {
    pub now: u64,
    pub engine: Engine,
    pub card: Card,
    pub pd: PdId,
    /// The peer's next sequence number and what it acknowledges.
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub sack: Vec<(u32, u32)>,
    pub peer_port: u16,
    pub peer_ip: [u8; 4],
    pub port: u16,
    pub events: Vec<Event>,
    pub completions: Vec<Completion>,
    /// Everything the engine sent and nobody has looked at.
    pub sent: Vec<Sent>,
    /// Bytes of the engine's stream behind its start-up frame.
    pub stream: Vec<u8>,
    stream_next: Option<u32>,
    /// Acknowledge everything at once.
    pub auto_ack: bool,
    /// TSval of everything the peer sends.
    pub ts_val: Option<u32>,
    ts_echo: u32,
}

impl Script {
    pub fn new(no_attach: bool) -> Self {
        Self::with(no_attach, &|_| ())
    }

    pub fn by(way: Way) -> Self {
        Self::with(way == Way::ByHand, &|c| c.rung = way.rung())
    }

    pub fn with(no_attach: bool, change: &dyn Fn(&mut EngineConfig)) -> Self {
        let mac = [2, 0, 0, 0, 0, 1];
        let mut config = EngineConfig {
            mac,
            ip: [10, 0, 0, 1],
            num_flows: 4,
            num_stags: 16,
            max_connections: Some(8),
            send_buffer: 1 << 17,
            ..Default::default()
        };
        change(&mut config);
        let mut card = Card::new(mac, config.num_flows, config.num_stags);
        card.secret = config.hash_secret;
        card.no_attach = no_attach;
        let mut engine = Engine::new(config);
        let pd = engine.alloc_pd();
        Script {
            now: 1000,
            engine,
            card,
            pd,
            seq: 0xffff_ff00,
            ack: 0,
            window: 60000,
            sack: Vec::new(),
            peer_port: 5000,
            peer_ip: PEER_IP,
            port: 7000,
            events: Vec::new(),
            completions: Vec::new(),
            sent: Vec::new(),
            stream: Vec::new(),
            stream_next: None,
            auto_ack: true,
            ts_val: None,
            ts_echo: 0,
        }
    }

    pub fn qp(&mut self) -> QpId {
        let config = QpConfig {
            pd: self.pd,
            send_depth: 16,
            recv_depth: 16,
            max_sge: 4,
            rung: None,
        };
        self.engine.create_qp(&config, &mut self.card).unwrap()
    }

    pub fn frame(&self, flags: u8, seq: u32, mut options: Options, payload: &[u8]) -> Vec<u8> {
        if let Some(value) = self.ts_val {
            options.timestamps = Some((value, self.ts_echo));
        }
        let header = FrameHeader {
            source_mac: PEER_MAC,
            destination_mac: [2, 0, 0, 0, 0, 1],
            source_ip: self.peer_ip,
            destination_ip: [10, 0, 0, 1],
            identification: 1,
            tos: 0,
            source_port: self.peer_port,
            destination_port: self.port,
            seq,
            ack: self.ack,
            flags,
            window: self.window,
            options,
        };
        let mut out = vec![0; payload.len() + 200];
        let length = header.write(payload, &mut out).unwrap();
        out.truncate(length);
        out
    }

    /// Gives the engine a segment and lets it work.
    pub fn send(&mut self, flags: u8, seq: u32, options: Options, payload: &[u8]) {
        let frame = self.frame(flags, seq, options, payload);
        self.card.receive(&frame);
        self.work();
    }

    /// In-order data.
    pub fn data(&mut self, payload: &[u8]) {
        let seq = self.seq;
        self.seq = seq.wrapping_add(payload.len() as u32);
        self.send(flag::ACK | flag::PSH, seq, Options::default(), payload);
    }

    /// A bare acknowledgment.
    pub fn acknowledge(&mut self) {
        let mut options = Options::default();
        for (left, right) in self.sack.clone() {
            options.sack.push(left, right);
        }
        self.send(flag::ACK, self.seq, options, &[]);
    }

    /// Reports to the engine, jobs to the wire, until both are quiet.
    pub fn work(&mut self) {
        loop {
            self.card.run_jobs();
            let out = std::mem::take(&mut self.card.out);
            let mut busy = !out.is_empty();
            for frame in out {
                self.take(&frame);
            }
            while let Some((report, raw)) = self.card.take_report() {
                busy = true;
                self.engine
                    .on_report(self.now, &report, raw.as_deref(), &mut self.card);
            }
            while let Some(event) = self.engine.poll_event() {
                self.events.push(event);
            }
            while let Some(completion) = self.engine.poll_completion() {
                self.completions.push(completion);
            }
            if !busy {
                return;
            }
        }
    }

    /// The same, but nobody looks at events.
    pub fn quiet(&mut self) {
        while let Some((report, raw)) = self.card.take_report() {
            self.engine
                .on_report(self.now, &report, raw.as_deref(), &mut self.card);
        }
        self.card.run_jobs();
        for frame in std::mem::take(&mut self.card.out) {
            self.take(&frame);
        }
    }

    fn take(&mut self, frame: &[u8]) {
        let (_, packet) = EthernetHeader::parse(frame).unwrap();
        let Ok(packet) = Ipv4Packet::parse(packet) else {
            return;
        };
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).unwrap();
        if let Some((value, _)) = segment.options.timestamps {
            self.ts_echo = value;
        }
        self.sent.push(Sent {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            options: segment.options,
            payload: segment.payload.to_vec(),
        });
        let mut length = segment.payload.len() as u32;
        length += u32::from(segment.flags & (flag::SYN | flag::FIN) != 0);
        if segment.flags & flag::SYN != 0 {
            self.ack = segment.seq;
        }
        if segment.seq == self.ack && length > 0 && segment.flags & flag::RST == 0 && self.auto_ack
        {
            if self.stream_next == Some(segment.seq) {
                self.stream.extend_from_slice(segment.payload);
                self.stream_next = Some(segment.seq.wrapping_add(segment.payload.len() as u32));
            }
            self.ack = self.ack.wrapping_add(length);
            let frame = self.frame(flag::ACK, self.seq, Options::default(), &[]);
            self.card.receive(&frame);
        }
    }

    /// Lets time pass, timers included.
    pub fn wait(&mut self, time: u64) {
        let end = self.now + time;
        self.work();
        while let Some(at) = self.engine.next_deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.engine.on_timer(self.now, &mut self.card);
            self.work();
        }
        self.now = end;
    }

    /// The peer asks for the engine's address from this station: so the engine knows where the peer is.
    pub fn hello(&mut self, mac: [u8; 6]) {
        let question = arp_request(mac, PEER_IP, [10, 0, 0, 1]);
        self.card.receive(&question);
        self.work();
    }

    /// The engine calls the peer at the usual ports: its SYN, which nobody has answered.
    pub fn call(&mut self, params: &ConnectParams<'_>) -> (QpId, ConnId, Sent) {
        let qp = self.qp();
        let (conn, syn) = self.call_by(qp, params);
        (qp, conn, syn)
    }

    /// The same of this queue pair.
    pub fn call_by(&mut self, qp: QpId, params: &ConnectParams<'_>) -> (ConnId, Sent) {
        self.hello(PEER_MAC);
        let params = ConnectParams {
            remote: Endpoint {
                ip: PEER_IP,
                port: self.peer_port,
            },
            local_port: Some(self.port),
            ..*params
        };
        let now = self.now;
        let conn = self
            .engine
            .connect(now, qp, &params, &mut self.card)
            .unwrap();
        let auto_ack = std::mem::replace(&mut self.auto_ack, false);
        self.work();
        self.auto_ack = auto_ack;
        let syn = self.sent.pop().unwrap();
        assert_eq!(syn.flags, flag::SYN);
        self.ack = syn.seq.wrapping_add(1);
        (conn, syn)
    }

    /// The engine calls, and the peer's TCP answers: the connection, and the engine's MPA request, which is acknowledged with what comes next.
    pub fn called_by(&mut self, qp: QpId, params: &ConnectParams<'_>) -> (ConnId, Vec<u8>) {
        let (conn, _) = self.call_by(qp, params);
        self.auto_ack = false;
        let seq = self.seq;
        self.seq = seq.wrapping_add(1);
        let options = Options {
            mss: Some(1460),
            ..Default::default()
        };
        self.send(flag::SYN | flag::ACK, seq, options, &[]);
        let sent = self.sent.iter().find(|sent| !sent.payload.is_empty());
        let request = sent.unwrap().payload.clone();
        self.ack = self.ack.wrapping_add(request.len() as u32);
        self.sent.clear();
        (conn, request)
    }

    /// TCP's handshake as a client; what the engine offers in its SYN-ACK.
    pub fn open(&mut self, options: Options) -> Sent {
        self.engine.listen(self.port, 4).unwrap();
        self.open_again(options)
    }

    /// The same when it listens already.
    pub fn open_again(&mut self, options: Options) -> Sent {
        self.sent.clear();
        let seq = self.seq;
        self.seq = seq.wrapping_add(1);
        self.ack = 0;
        self.send(flag::SYN, seq, options, &[]);
        let syn_ack = self
            .sent
            .iter()
            .find(|s| s.flags & flag::SYN != 0)
            .unwrap()
            .clone();
        assert_eq!(syn_ack.flags, flag::SYN | flag::ACK);
        assert_eq!(syn_ack.ack, self.seq);
        syn_ack
    }

    /// The MPA request of the usual kind.
    pub fn request(rtr: RtrKinds, private_data: &[u8]) -> Vec<u8> {
        Self::request_for(rtr, Extensions::NONE, private_data)
    }

    /// The same that asks for what the RFC does not have.
    pub fn request_for(rtr: RtrKinds, extensions: Extensions, private_data: &[u8]) -> Vec<u8> {
        let enhanced = Enhanced {
            peer_to_peer: !rtr.is_empty(),
            rtr,
            ird: 4,
            ord: 4,
            extensions,
        };
        start_up(FrameKind::Request, true, enhanced, private_data)
    }

    /// Everything up to the engine's reply, by the given queue pair; not yet the first FPDU.
    pub fn accepted(&mut self, qp: QpId, rtr: RtrKinds, accept: &AcceptParams<'_>) -> ConnId {
        self.engine.listen(self.port, 4).unwrap();
        self.accepted_again(qp, rtr, accept)
    }

    /// The same when it listens already.
    pub fn accepted_again(&mut self, qp: QpId, rtr: RtrKinds, accept: &AcceptParams<'_>) -> ConnId {
        self.accepted_by(qp, &Self::request(rtr, b""), accept)
    }

    /// The same of this request.
    pub fn accepted_by(&mut self, qp: QpId, request: &[u8], accept: &AcceptParams<'_>) -> ConnId {
        let _ = self.engine.listen(self.port, 4);
        self.open_again(Options {
            mss: Some(1460),
            sack_permitted: true,
            ..Default::default()
        });
        self.data(request);
        let Some(Event::ConnectRequest { conn, .. }) = self.events.pop() else {
            panic!("{:?}", self.events);
        };
        self.sent.clear();
        self.engine
            .accept(self.now, conn, qp, accept, &mut self.card)
            .unwrap();
        self.stream_next = None;
        self.work();
        self.wait(US);
        let reply = self
            .sent
            .iter()
            .find(|s| !s.payload.is_empty())
            .unwrap()
            .clone();
        let (frame, length) = StartupFrame::parse(&reply.payload).unwrap();
        assert_eq!(frame.kind, FrameKind::Reply);
        assert_eq!(length, reply.payload.len());
        self.stream_next = Some(self.ack);
        self.sent.clear();
        conn
    }

    /// The Terminate in the engine's stream: its code, and whether it was the last thing.
    pub fn terminate(&self) -> Option<(u16, Vec<u8>)> {
        let mut found = None;
        for ulpdu in fpdu::ulpdus(&self.stream) {
            let header = Segment::read(&ulpdu).unwrap();
            assert!(found.is_none(), "something follows the Terminate");
            if header.rdmap_control == 0x47 {
                let payload = &ulpdu[header.len..];
                let code = Terminate::parse(payload).unwrap().code.0;
                found = Some((code, payload.to_vec()));
            }
        }
        found
    }
}

/// The same packet with four octets of IP options: no operation.
pub fn with_ip_options(frame: &[u8]) -> Vec<u8> {
    let mut out = frame[..34].to_vec();
    out.extend_from_slice(&[1, 1, 1, 0]);
    out.extend_from_slice(&frame[34..]);
    out[14] = 0x46;
    let total = u16::from_be_bytes([out[16], out[17]]) + 4;
    out[16..18].copy_from_slice(&total.to_be_bytes());
    out[24..26].copy_from_slice(&[0, 0]);
    let sum = Checksum::default().bytes(&out[14..38]).finish();
    out[24..26].copy_from_slice(&sum.to_be_bytes());
    out
}

/// The same packet with these octets behind its TCP options, a multiple of four.
pub fn with_tcp_options(frame: &[u8], octets: &[u8]) -> Vec<u8> {
    let (ip, tcp) = (14, 34);
    let at = tcp + usize::from(frame[tcp + 12] >> 4) * 4;
    let mut out = [&frame[..at], octets, &frame[at..]].concat();
    out[tcp + 12] += (octets.len() as u8 / 4) << 4;
    let total = (out.len() - ip) as u16;
    out[ip + 2..ip + 4].copy_from_slice(&total.to_be_bytes());
    out[ip + 10..ip + 12].fill(0);
    let sum = Checksum::default().bytes(&out[ip..tcp]).finish();
    out[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    out[tcp + 16..tcp + 18].fill(0);
    let length = (out.len() - tcp) as u16;
    let pseudo = [&out[ip + 12..ip + 20], &[0, 6], &length.to_be_bytes()].concat();
    let sum = Checksum::default()
        .bytes(&pseudo)
        .bytes(&out[tcp..])
        .finish();
    out[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
    out
}

/// An FPDU with CRC, without markers.
pub fn fpdu_of(pieces: &[&[u8]]) -> Vec<u8> {
    fpdu::frame(0, None, true, &pieces.concat())
}

/// A start-up frame of revision 2, without markers.
pub fn start_up(kind: FrameKind, crc: bool, enhanced: Enhanced, private_data: &[u8]) -> Vec<u8> {
    let frame = StartupFrame {
        kind,
        markers: false,
        crc,
        reject: false,
        revision: 2,
        enhanced: Some(enhanced),
        private_data,
    };
    let mut out = vec![0; MAX_FRAME];
    let length = frame.write(&mut out).unwrap();
    out.truncate(length);
    out
}

/// The same of a Read as RTR, with what is asked for, or granted, beyond the RFC.
pub fn extended(kind: FrameKind, crc: bool, extensions: Extensions) -> Vec<u8> {
    let enhanced = Enhanced {
        peer_to_peer: true,
        rtr: RtrKinds::READ,
        ird: 4,
        ord: 4,
        extensions,
    };
    start_up(kind, crc, enhanced, b"data")
}

/// An FPDU of a header and its payload.
pub fn message(header: &DdpHeader, payload: &[u8]) -> Vec<u8> {
    fpdu_of(&[&Segment::from(header).with(payload)])
}
