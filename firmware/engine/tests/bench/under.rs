//! An engine whose flow the card has, and a peer that writes to it, event by event.

use super::card::MEMORY;
use super::oracle::fpdu;
use super::oracle::segment::Segment;
use super::script::{message, Script};
use super::MS;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::mpa::Extensions;
use weft_wire::tcp::{flag, Options, TcpSegment};

/// Tagged offsets of the sink begin here.
pub const BASE: u64 = 0x1000;
/// Payload of a Write of one FPDU.
pub const LENGTH: usize = 1000;
/// Writes that the sink has room for.
pub const WRITES: usize = 20;

/// An engine with a connection that stands, a flow that the card has, and a peer that writes.
pub struct Under {
    pub s: Script,
    pub qp: QpId,
    pub conn: ConnId,
    pub stag: u32,
    /// Where the first Write begins.
    pub start: u32,
    /// What the engine acknowledged last.
    pub acked: u32,
    /// The blocks beside it.
    pub sack: Vec<(u32, u32)>,
    /// What it said last in its stream.
    pub told: Vec<u8>,
}

impl Under {
    pub fn new(flows: u16) -> Self {
        Self::with(&|config| config.num_flows = flows)
    }

    pub fn with(change: &dyn Fn(&mut EngineConfig)) -> Self {
        Self::agreed(change, &AcceptParams::default())
    }

    /// The same of what the engine asks for in its reply: the peer's stream has markers, if that says so. The peer asks for what the engine grants.
    pub fn agreed(change: &dyn Fn(&mut EngineConfig), accept: &AcceptParams<'_>) -> Self {
        let extensions = match accept.aligned {
            true => Extensions::ALIGNED,
            false => Extensions::NONE,
        };
        Self::asked(change, extensions, accept)
    }

    /// The same of a peer that asks for this.
    pub fn asked(
        change: &dyn Fn(&mut EngineConfig),
        extensions: Extensions,
        accept: &AcceptParams<'_>,
    ) -> Self {
        let mut s = Script::with(false, &|config| {
            config.delayed_ack = 0;
            config.replay = 8192;
            config.num_flows = 4;
            change(config);
        });
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let length = (WRITES * LENGTH) as u64;
        let stag = s
            .engine
            .register(s.pd, BASE, MEMORY, length, access, &mut s.card)
            .unwrap();
        let request = Script::request_for(RtrKinds::NONE, extensions, b"");
        let conn = s.accepted_by(qp, &request, accept);
        let first = Segment::from(&DdpHeader::tagged(true, 0x40, stag, BASE)).with(&[]);
        let markers = accept.markers.then_some(s.seq);
        s.data(&fpdu::frame(s.seq, markers, true, &first));
        s.wait(MS);
        s.auto_ack = false;
        assert_eq!(s.card.attached(), 1);
        s.events.clear();
        let start = s.seq;
        Under {
            s,
            qp,
            conn,
            stag,
            start,
            acked: start,
            sack: Vec::new(),
            told: Vec::new(),
        }
    }

    /// The FPDUs of these Writes, each with a place of its own.
    pub fn writes(&self, these: std::ops::Range<usize>) -> Vec<u8> {
        let fpdu = |n: usize| {
            let to = BASE + (n * LENGTH) as u64;
            let header = DdpHeader::tagged(true, 0x40, self.stag, to);
            message(&header, &[n as u8 + 1; LENGTH])
        };
        these.flat_map(fpdu).collect()
    }

    /// Where a Write begins.
    pub fn at(&self, write: usize) -> u32 {
        self.start.wrapping_add(self.writes(0..write).len() as u32)
    }

    pub fn frame(&self, flags: u8, seq: u32, payload: &[u8]) -> Vec<u8> {
        let flags = flag::ACK | flags;
        self.s.frame(flags, seq, Options::default(), payload)
    }

    /// A segment of these Writes arrives, and the host sees its report.
    pub fn arrives(&mut self, these: std::ops::Range<usize>, flags: u8) {
        let frame = self.frame(flags, self.at(these.start), &self.writes(these));
        self.s.card.receive(&frame);
        self.host();
    }

    /// Octets of the first six Writes' stream from one to another arrive in a segment, and the host sees its report.
    pub fn piece(&mut self, these: std::ops::Range<usize>, flags: u8) {
        let seq = self.start.wrapping_add(these.start as u32);
        let frame = self.frame(flags, seq, &self.writes(0..6)[these]);
        self.s.card.receive(&frame);
        self.host();
    }

    /// The host handles all reports, and leaves frames in their slots. Everything goes out but replays.
    pub fn host(&mut self) {
        let s = &mut self.s;
        while let Some(report) = s.card.next_report() {
            s.card.hand(s.now, &mut s.engine, report);
        }
        while s.engine.next_deadline().is_some_and(|at| at <= s.now) {
            s.engine.on_timer(s.now, &mut s.card);
        }
        s.card.take_back(&mut s.engine);
        s.card.run_jobs_before_replay();
        while let Some(event) = s.engine.poll_event() {
            s.events.push(event);
        }
        for frame in s.card.out.drain(..) {
            let (_, packet) = EthernetHeader::parse(&frame).unwrap();
            let packet = Ipv4Packet::parse(packet).unwrap();
            let (from, to) = (packet.source, packet.destination);
            let segment = TcpSegment::parse(from, to, packet.payload).unwrap();
            self.acked = segment.ack;
            self.sack = segment.options.sack.as_slice().to_vec();
            if !segment.payload.is_empty() {
                self.told = segment.payload.to_vec();
            }
        }
    }

    /// All slots are free, when JOB_DONE has been looked at.
    #[track_caller]
    pub fn has_no_slot(&mut self) {
        self.s.now += MS;
        self.host();
        assert_eq!(self.s.card.lent_out(), 0, "a slot is lost");
    }

    /// The card does a replay.
    pub fn replays(&mut self) {
        assert!(self.s.card.will_replay());
        self.s.card.run_next_job();
        self.host();
    }

    /// So many Writes from the first on are there, each octet placed once, and nothing behind them.
    #[track_caller]
    pub fn has(&mut self, writes: usize) {
        let card = &mut self.s.card;
        let all = (writes * LENGTH) as u64;
        assert_eq!(card.placed + card.placed_by_hand, all, "each octet once");
        let sink = card.bytes(MEMORY, WRITES * LENGTH).unwrap();
        for (n, write) in sink.chunks(LENGTH).enumerate() {
            let is = if n < writes { n as u8 + 1 } else { 0 };
            assert!(write.iter().all(|byte| *byte == is), "Write {n}");
        }
    }

    /// The peer's FIN, which lies there, was taken.
    #[track_caller]
    pub fn has_fin(&self, at: u32) {
        let acked = self.acked.wrapping_sub(at);
        assert_eq!(acked, 1, "acknowledged from the FIN on");
    }
}
