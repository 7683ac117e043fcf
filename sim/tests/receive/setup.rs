//! A card with one flow, and what it says of a frame.

use weft_layout::{
    doorbell, report_kind, table, AttachRow, FlowRxRow, FpduReport, Job, ReceiveElement,
    SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::mpa;

pub const FLOW: u16 = 3;
pub const PD: u32 = 7;
pub const SEQ: u32 = 0xffff_ff00;
pub const STAG: u32 = 0x0000_05a5;
pub const BASE: u64 = 0x1_0000_0000;
pub const EPOCH: u8 = 0xe7;

/// Flags of a flow: a CRC, no markers.
pub const PLAIN: u8 = FlowRxRow::CRC | FlowRxRow::VALID;
/// And TCP timestamps.
pub const TIMED: u8 = PLAIN | FlowRxRow::TIMESTAMPS;

/// A receive report: its own record, those of its FPDUs, its raw frame.
#[derive(Debug)]
pub struct Heard {
    pub fpdus: Vec<FpduReport>,
    pub segment: SegmentReport,
    pub raw: Option<Vec<u8>>,
}

impl Heard {
    /// Raw, attached, status, bytes done.
    pub fn outcome(&self) -> (bool, bool, u8, u16) {
        let s = &self.segment;
        (s.raw(), s.attached(), s.status, s.done_len)
    }
}

/// The region of a card's flow: peers may write.
pub fn region_row(memory: &Region) -> StagRow {
    StagRow {
        valid: StagRow::VALID,
        key: 0xa5,
        access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
        pd: PD,
        base: BASE,
        length: 1 << 16,
        iova: memory.iova,
    }
}

/// A card with a flow that has one region and one receive element.
pub struct Setup {
    pub bench: Bench,
    pub memory: Region,
    pub ends: Ends,
    pub rx: FlowRxRow,
    rq: Region,
}

impl Setup {
    pub fn new(card: Box<dyn Card>, flags: u8, attach: AttachRow) -> Self {
        Self::with_rings(card, flags, attach, Rings::default())
    }

    pub fn with_rings(card: Box<dyn Card>, flags: u8, attach: AttachRow, rings: Rings) -> Self {
        let mut bench = Bench::new(card, 1, LinkConfig::default(), rings).unwrap();
        let memory = bench.region(1 << 16);
        let rq = bench.region(4096);
        let ends = Ends::of(FLOW);
        let stag = region_row(&memory);
        bench.stag(STAG, &stag).unwrap();
        let element = ReceiveElement {
            sge0_to: BASE,
            sge0_length: 1000,
            sge0_stag: STAG,
            ..ReceiveElement::default()
        };
        rq.write(0, &element.to_bytes()).unwrap();
        let rx = FlowRxRow {
            flags,
            rq_log2: 2,
            epoch: EPOCH,
            pd: PD,
            rq_base: rq.iova,
            ..FlowRxRow::default()
        };
        let tx = ends.tx(flags, 0);
        bench.flow(FLOW, &ends, &rx, &tx, &attach).unwrap();
        bench.ring(doorbell::RQ_TAIL + 4 * u32::from(FLOW), 1);
        Self {
            bench,
            memory,
            ends,
            rx,
            rq,
        }
    }

    /// Receives for four messages from this one on, in a row with these flags: what was posted before is gone.
    pub fn post(&mut self, flags: u8, first: u32, element: impl Fn(u32) -> ReceiveElement) {
        let tail = doorbell::RQ_TAIL + 4 * u32::from(FLOW);
        self.bench.ring(tail, 0);
        for slot in 0..4 {
            let bytes = element(slot).to_bytes();
            self.rq.write(64 * slot as usize, &bytes).unwrap();
        }
        let row = FlowRxRow { flags, ..self.rx };
        let written = self
            .bench
            .write_table(table::FLOW_RX, FLOW.into(), &row.to_bytes());
        assert!(written.unwrap());
        self.bench.ring(tail, first.wrapping_add(3));
    }

    /// The region is the sink of a Read as well.
    pub fn opens_sink(&mut self) {
        let row = region_row(&self.memory);
        let row = StagRow {
            access: row.access | StagRow::READ_SINK,
            ..row
        };
        self.bench.stag(STAG, &row).unwrap();
    }

    /// A segment of the flow; `ts` is its TSval.
    pub fn segment(&self, seq: u32, flags: u8, ts: Option<u32>, payload: &[u8]) -> Vec<u8> {
        let row = self.ends.peer_tx(if ts.is_some() { 4 | 8 } else { 4 }, 0);
        let job = Job {
            ts_val: ts.unwrap_or(0),
            ..Job::default()
        };
        ethernet::segment(&row, &job, seq, flags, 9, payload)
    }

    pub fn inject(&mut self, frame: &[u8]) -> Vec<([u8; 64], Option<Vec<u8>>)> {
        self.bench.inject(frame.to_vec());
        self.bench.settle(100_000).unwrap();
        self.bench.reports()
    }

    pub fn hear(&mut self, frame: &[u8]) -> Heard {
        let mut reports = self.inject(frame);
        let (last, raw) = reports.pop().expect("a report");
        assert_eq!(last[0], report_kind::SEGMENT, "a segment report");
        let fpdus = reports.iter().map(|r| {
            assert_eq!(r.0[0], report_kind::FPDU);
            FpduReport::from_bytes(&r.0)
        });
        Heard {
            fpdus: fpdus.collect(),
            segment: SegmentReport::from_bytes(&last),
            raw,
        }
    }

    pub fn data(&mut self, seq: u32, payload: &[u8]) -> Heard {
        let frame = self.segment(seq, flag::ACK, None, payload);
        self.hear(&frame)
    }

    pub fn position(&mut self) -> AttachRow {
        let row = self.bench.read_table(table::ATTACH, FLOW.into()).unwrap();
        AttachRow::from_bytes(&row.unwrap())
    }

    pub fn attach(&mut self, row: &AttachRow) {
        assert!(self.is_applied(row));
    }

    pub fn is_applied(&mut self, row: &AttachRow) -> bool {
        let bytes = row.to_bytes();
        self.bench
            .write_table(table::ATTACH, FLOW.into(), &bytes)
            .unwrap()
    }
}

pub const ATTACHED: AttachRow = AttachRow {
    attached: AttachRow::ATTACHED,
    raw_seen: 0,
    rcv_nxt: SEQ,
    msn: 1,
    mo: 0,
    ts_recent: 0,
    window: 0,
};

pub fn each(flags: u8, attach: AttachRow, test: impl Fn(&mut Setup)) {
    for kind in CardKind::available() {
        eprintln!("card: {kind}");
        let mut setup = Setup::new(kind.build(1, 0), flags, attach);
        test(&mut setup);
        let faults = setup.bench.world.iommu(0).take_faults();
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// An FPDU that may come any number of times.
pub fn write(len: usize) -> Vec<u8> {
    let mut u = vec![0xc1, 0x40];
    u.extend_from_slice(&STAG.to_be_bytes());
    u.extend_from_slice(&(BASE + 2000).to_be_bytes());
    u.resize(14 + len, 0x5a);
    mpa::frame(SEQ, None, true, &u)
}
