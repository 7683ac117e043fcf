//! A card with several flows, each with a region and a receive queue of its own, and a peer that writes and sends.

#![allow(dead_code)]

pub mod load;

use weft_layout::{doorbell, AttachRow, FlowRxRow, FlowTxRow, Job, ReceiveElement, StagRow};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::link::LinkConfig;
use weft_sim::model::{ethernet, mpa};

pub const SEQ: u32 = 0x1000;
/// Bytes of a flow's region.
pub const MEMORY: usize = 1 << 16;
/// log2 of a receive queue's elements, and the bytes that each has.
pub const RQ_LOG2: u8 = 6;
pub const ELEMENT: usize = 256;
/// Bytes of frames on their way into the card: less than it can store.
pub const IN_FLIGHT: usize = 40 << 10;
const ACCESS: u8 = StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE | StagRow::READ_SINK;

pub struct Flow {
    pub number: u16,
    pub ends: Ends,
    pub memory: Region,
    pub rq: Region,
    pub seq: u32,
    pub msn: u32,
    pub stag: u32,
    pub epoch: u8,
    /// Flags of its FLOW_RX row beside the usual ones.
    pub flags: u8,
}

impl Flow {
    /// Its protection domain.
    pub fn pd(&self) -> u32 {
        100 + u32::from(self.number)
    }

    /// The row of its region: base 0.
    pub fn region(&self) -> StagRow {
        StagRow {
            valid: StagRow::VALID,
            key: self.stag as u8,
            access: ACCESS,
            pd: self.pd(),
            base: 0,
            length: MEMORY as u64,
            iova: self.memory.iova,
        }
    }

    pub fn row(&self) -> FlowRxRow {
        FlowRxRow {
            flags: FlowRxRow::CRC | FlowRxRow::VALID | self.flags,
            rq_log2: RQ_LOG2,
            pd: self.pd(),
            marker_base: SEQ,
            rq_base: self.rq.iova,
            epoch: self.epoch,
        }
    }

    /// A receive element for so many bytes of its region.
    pub fn element(&self, to: u64, length: usize) -> [u8; ReceiveElement::SIZE] {
        let element = ReceiveElement {
            sge0_to: to,
            sge0_length: length as u32,
            sge0_stag: self.stag,
            ..ReceiveElement::default()
        };
        element.to_bytes()
    }

    /// The next segment, with these ULPDUs.
    pub fn segment(&mut self, ulpdus: &[Vec<u8>]) -> Vec<u8> {
        let mut payload = Vec::new();
        for ulpdu in ulpdus {
            payload.extend(mpa::frame(0, None, true, ulpdu));
        }
        let frame = self.frame(self.seq, &payload);
        self.seq = self.seq.wrapping_add(payload.len() as u32);
        frame
    }

    pub fn frame(&self, seq: u32, payload: &[u8]) -> Vec<u8> {
        let row = self.ends.peer_tx(FlowTxRow::VALID, 0);
        ethernet::segment(&row, &Job::default(), seq, 0x10, 0, payload)
    }

    /// The ULPDU of a Write.
    pub fn write(&self, to: u64, data: &[u8]) -> Vec<u8> {
        write(self.stag, to, data)
    }

    /// The ULPDU of the next Send, of one FPDU.
    pub fn send(&mut self, data: &[u8]) -> Vec<u8> {
        let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0];
        for word in [0, self.msn, 0] {
            ulpdu.extend_from_slice(&word.to_be_bytes());
        }
        ulpdu.extend_from_slice(data);
        self.msn += 1;
        ulpdu
    }
}

pub fn write(stag: u32, to: u64, data: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, 0x40];
    ulpdu.extend_from_slice(&stag.to_be_bytes());
    ulpdu.extend_from_slice(&to.to_be_bytes());
    ulpdu.extend_from_slice(data);
    ulpdu
}

/// The receive element of a slot of a flow's queue.
pub type Receive<'a> = dyn Fn(&Flow, usize) -> [u8; ReceiveElement::SIZE] + 'a;

pub struct Flows {
    pub bench: Bench,
    pub flows: Vec<Flow>,
}

impl Flows {
    pub fn new(card: Box<dyn Card>, count: u16, rings: Rings) -> Self {
        Self::by_port(card, count, rings, 1, |_| 0)
    }

    /// Of a card with rings for so many ports: which one is each flow's?
    pub fn by_port(
        card: Box<dyn Card>,
        count: u16,
        rings: Rings,
        ports: usize,
        port: impl Fn(u16) -> usize,
    ) -> Self {
        Self::of(card, count, rings, ports, port, &|flow, slot| {
            flow.element((slot * ELEMENT) as u64, ELEMENT)
        })
    }

    /// With these receives posted: what each slot of the queue has.
    pub fn with_receives(card: Box<dyn Card>, rings: Rings, receive: &Receive<'_>) -> Self {
        Self::of(card, 1, rings, 1, |_| 0, receive)
    }

    fn of(
        card: Box<dyn Card>,
        count: u16,
        rings: Rings,
        ports: usize,
        port: impl Fn(u16) -> usize,
        receive: &Receive<'_>,
    ) -> Self {
        let link = LinkConfig {
            gbps: 1_000_000,
            ..LinkConfig::default()
        };
        let mut bench = Bench::with_ports(card, 1, link, rings, ports).expect("a card");
        bench.write(weft_layout::reg::MTU, 9014);
        let flows = (1..=count)
            .map(|number| set_up(&mut bench, number, port(number), receive))
            .collect();
        bench.settle(1_000_000).expect("a card at rest");
        bench.sent();
        Self { bench, flows }
    }

    /// Hands a frame to the card's MAC.
    pub fn deliver(&mut self, frame: Vec<u8>) {
        self.bench.world.deliver(0, frame, false);
    }

    /// Takes a flow's region out of the table.
    pub fn invalidate(&mut self, flow: usize) {
        let gone = StagRow {
            valid: 0,
            ..self.flows[flow].region()
        };
        let stag = self.flows[flow].stag;
        self.bench.stag(stag, &gone).expect("a card");
    }

    /// Runs until everything is done, and takes the reports.
    pub fn settle(&mut self) -> Vec<[u8; 64]> {
        self.bench.settle(1_000_000).expect("a card");
        self.bench.reports().into_iter().map(|r| r.0).collect()
    }
}

/// Binds flow `number`, of this port: region, receive queue, rows, position.
fn set_up(bench: &mut Bench, number: u16, port: usize, receive: &Receive<'_>) -> Flow {
    let flow = Flow {
        number,
        ends: Ends::of(number),
        memory: bench.region(MEMORY),
        rq: bench.region(ReceiveElement::SIZE << RQ_LOG2),
        seq: SEQ,
        msn: 1,
        stag: u32::from(number) << 8 | 0x5a,
        epoch: 0,
        flags: if port == 0 { 0 } else { FlowRxRow::PORT },
    };
    bench.stag(flow.stag, &flow.region()).expect("a card");
    for slot in 0..1 << RQ_LOG2 {
        let element = receive(&flow, slot);
        let at = slot * ReceiveElement::SIZE;
        flow.rq.write(at, &element).expect("a slot");
    }
    let attach = AttachRow {
        attached: AttachRow::ATTACHED,
        rcv_nxt: SEQ,
        msn: 1,
        mo: 0,
        ..AttachRow::default()
    };
    let tx = flow.ends.tx(FlowTxRow::CRC | FlowTxRow::VALID, SEQ);
    bench
        .flow(number, &flow.ends, &flow.row(), &tx, &attach)
        .expect("a card");
    bench.ring(doorbell::RQ_TAIL + 4 * u32::from(number), 100_000);
    flow
}
