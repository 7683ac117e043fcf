//! Frames of several kinds mixed: cycles a frame as fast as the card takes them, and what becomes of the same frames at the pace of its wire.
//! No driver, no engine.

use std::collections::VecDeque;
use std::io::{self, Write};

use rtl_sim::axi::Timing;
use serde::Serialize;
use weft_layout::{
    doorbell, report_kind, AttachRow, Counter, FlowRxRow, FlowTxRow, Job, ReceiveElement,
    SegmentReport, StagRow,
};

use super::data_path::{self, DataPathError, Load, Marks, FRAMING, IN_FLIGHT};
use crate::bench::{Bench, Ends, Region, Rings};
use crate::card::CYCLE_NS;
use crate::kind::{host_memory, CardKind};
use crate::link::LinkConfig;
use crate::model::{ethernet, mpa};
use crate::world::WorldError;

/// Frames of a run, as many as the figures need.
pub const FRAMES: usize = 1024;
/// What the card drops a frame for.
const DROPS: [Counter; 15] = [
    Counter::RxDropDisabled,
    Counter::RxDropFcs,
    Counter::RxDropRunt,
    Counter::RxDropOversize,
    Counter::RxDropMac,
    Counter::RxDropIpHeader,
    Counter::RxDropIpChecksum,
    Counter::RxDropTcpHeader,
    Counter::RxDropTcpChecksum,
    Counter::RxDropBufferFull,
    Counter::RxDropNoRawSlot,
    Counter::RxDropLoopback,
    Counter::RxDropRawReserved,
    Counter::RxDropNoRawCredit,
    Counter::RxDropNoReportRoom,
];
const PD: u32 = 1;
const STAG: u32 = 0x0000_0101;
const MEMORY: usize = 1 << 20;
const SEQ: u32 = 0x1000;
/// log2 of the receive elements that all flows share. A flow has its Sends' in it.
const RQ_LOG2: u8 = 11;
/// Bytes of a Send.
const SEND: usize = 64;
/// Octets before a TCP payload, those of the shortest frame, and what a frame takes on the wire beside its octets: preamble, FCS, gap.
const HEADERS: usize = 54;
const SHORTEST: usize = 60;
const AROUND: usize = 24;
/// Cycles without a report after which nothing comes any more.
const SILENCE: u64 = 40_000;

/// What a frame has in it, and the flow that it is of.
#[derive(Clone, Copy)]
enum Frame {
    Write {
        flow: usize,
        bytes: usize,
    },
    /// So many octets of a stream, to which a Write may have been added.
    Piece {
        flow: usize,
        write: Option<usize>,
        octets: usize,
    },
    Send {
        flow: usize,
    },
    Acknowledgment {
        flow: usize,
    },
}

/// Frames that come one behind the other.
pub(super) struct Mix {
    name: String,
    flows: usize,
    memory: Timing,
    frame: Box<dyn Fn(usize) -> Frame>,
}

impl Mix {
    fn new(name: String, flows: usize, frame: impl Fn(usize) -> Frame + 'static) -> Self {
        Self {
            name,
            flows,
            memory: host_memory(),
            frame: Box::new(frame),
        }
    }

    /// The same frames with other host memory.
    pub(super) fn behind(self, memory: Timing) -> Self {
        Self { memory, ..self }
    }

    /// Writes of so many bytes, of one flow.
    pub(super) fn writes(name: &str, bytes: usize) -> Self {
        Self::new(name.into(), 1, move |_| Frame::Write { flow: 0, bytes })
    }

    /// Writes of so many bytes, every so many-th frame a bare acknowledgment.
    fn acknowledged(bytes: usize, every: usize) -> Self {
        let nth = if every == 2 { "2nd" } else { "3rd" };
        let name = format!("{bytes}-byte Writes, every {nth} frame an ACK");
        Self::new(name, 1, move |n| match n % every == every - 1 {
            true => Frame::Acknowledgment { flow: 0 },
            false => Frame::Write { flow: 0, bytes },
        })
    }

    /// Sends of so many flows in turn.
    pub(super) fn sends(flows: usize, read_ns: u64) -> Self {
        let of = if flows == 1 { "flow" } else { "flows in turn" };
        let name = format!("{SEND}-byte Sends of {flows} {of}, reads {read_ns} ns");
        Self {
            memory: Timing::latency((read_ns / CYCLE_NS) as u32),
            ..Self::new(name, flows, move |n| Frame::Send { flow: n % flows })
        }
    }
}

/// All mixes, in the order of the table.
fn mixes() -> Vec<Mix> {
    let mut all = Vec::new();
    for bytes in [1440, 512, 64] {
        all.extend([2, 3].map(|every| Mix::acknowledged(bytes, every)));
    }
    for read_ns in [400, 1000] {
        all.extend([1, 9, 64, 256].map(|flows| Mix::sends(flows, read_ns)));
    }
    all.push(Mix::new(
        format!("three 1440-byte Writes and a {SEND}-byte Send of one of 16 flows"),
        17,
        |n| match n % 4 {
            3 => Frame::Send {
                flow: 1 + n / 4 % 16,
            },
            _ => Frame::Write {
                flow: 0,
                bytes: 1440,
            },
        },
    ));
    all.push(Mix::new(
        "64-byte Writes of two flows in turn".into(),
        2,
        |n| Frame::Write {
            flow: n % 2,
            bytes: 64,
        },
    ));
    all.push(Mix::writes("64-byte Writes received", 64));
    all.push(Mix::writes("1460-byte segments received", 1460 - FRAMING));
    let piece = |whole: bool, octets| Frame::Piece {
        flow: 0,
        write: whole.then_some(1460 - FRAMING),
        octets,
    };
    all.push(Mix::new(
        "1460-byte segments, every 10th cut in two".into(),
        1,
        move |n| match n % 11 {
            0 => piece(true, 730),
            1 => piece(false, 730),
            _ => piece(true, 1460),
        },
    ));
    all.push(Mix::new(
        "1460-byte segments, each ends inside an FPDU".into(),
        1,
        move |n| piece(true, if n == 0 { 730 } else { 1460 }),
    ));
    all
}

/// What became of the frames of a run at the pace of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// Frames that came.
    pub frames: usize,
    /// Segments placed whole.
    pub placed: usize,
    /// Reported, without payload.
    pub acknowledgments: usize,
    /// Given to the host as they are, as those behind a gap that a drop left.
    pub raw: usize,
    /// Dropped.
    pub dropped: usize,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Cycles a frame, as fast as the card goes; of *wire to memory* its cycles. `None`: it has no such figure.
    pub cycles: Option<f64>,
    /// Cycles that the wire needs for a frame.
    pub wire_cycles: Option<f64>,
    /// The same frames at the pace of the wire. `None`: frames that are sent, or one alone.
    pub at_pace: Option<Fates>,
}

/// All rows.
#[derive(Clone, Debug, Serialize)]
pub struct MixedTable {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Rate of the wire.
    pub wire_gbps: u64,
    /// Frames of each run.
    pub frames: usize,
    /// The rows.
    pub rows: Vec<Row>,
}

/// How many rows there are.
pub fn rows() -> u64 {
    mixes().len() as u64 + 3
}

/// Measures all rows, each with so many frames. `progress` hears which comes next.
pub fn run(
    kind: CardKind,
    seed: u64,
    frames: usize,
    mut progress: impl FnMut(&str),
) -> Result<MixedTable, DataPathError> {
    let mut rows = Vec::new();
    for mix in mixes() {
        progress(&mix.name);
        let wire = Wire::new(kind, &mix, frames);
        let cycles = as_fast_as_it_goes(kind, seed, &mix, frames)?;
        let fates = at_pace(kind, seed, &mix, frames)?;
        rows.push(Row {
            name: mix.name,
            cycles,
            wire_cycles: Some(wire.cycles),
            at_pace: Some(fates),
        });
    }
    for (name, payload, per_message) in [
        ("64-byte Writes sent", 64, 1),
        ("1460-byte segments sent", 1460 - FRAMING, 32),
    ] {
        progress(name);
        let load = Load {
            segment: payload + FRAMING,
            rx: 0,
            tx: frames.next_multiple_of(32),
            per_message,
        };
        let rates = data_path::run(kind, seed, &load, host_memory())?;
        rows.push(Row {
            name: name.into(),
            cycles: rates.tx.map(|rate| rate.cycles),
            wire_cycles: Some(wire_cycles(kind, HEADERS + load.segment)),
            at_pace: None,
        });
    }
    let name = "64-byte Write, wire to memory";
    progress(name);
    rows.push(Row {
        name: name.into(),
        cycles: data_path::wire_to_memory(kind, seed, host_memory())?.map(|cycles| cycles as f64),
        wire_cycles: None,
        at_pace: None,
    });
    Ok(MixedTable {
        seed,
        card: kind.to_string(),
        wire_gbps: kind.gbps(),
        frames,
        rows,
    })
}

/// Picoseconds of a frame on the wire.
fn wire_ps(kind: CardKind, octets: usize) -> u64 {
    ((octets.max(SHORTEST) + AROUND) * 8 * 1000) as u64 / kind.gbps()
}

fn wire_cycles(kind: CardKind, octets: usize) -> f64 {
    wire_ps(kind, octets) as f64 / (CYCLE_NS * 1000) as f64
}

/// What the wire needs.
struct Wire {
    cycles: f64,
}

impl Wire {
    fn new(kind: CardKind, mix: &Mix, frames: usize) -> Self {
        let octets = |n| match (mix.frame)(n) {
            Frame::Write { bytes, .. } => HEADERS + FRAMING + bytes,
            Frame::Piece { octets, .. } => HEADERS + octets,
            Frame::Send { .. } => HEADERS + FRAMING + 4 + SEND,
            Frame::Acknowledgment { .. } => HEADERS,
        };
        let all: f64 = (0..frames).map(|n| wire_cycles(kind, octets(n))).sum();
        Self {
            cycles: all / frames.max(1) as f64,
        }
    }
}

/// Where a flow's peer is in its stream.
struct Flow {
    ends: Ends,
    seq: u32,
    msn: u32,
    /// Octets of its stream that are not sent yet.
    rest: Vec<u8>,
}

/// A card with flows, and a peer for each.
struct Peers {
    bench: Bench,
    flows: Vec<Flow>,
    fates: Fates,
    _memory: [Region; 2],
}

impl Peers {
    fn new(kind: CardKind, seed: u64, mix: &Mix) -> Result<Self, WorldError> {
        let rings = Rings {
            job: 4,
            report: 12,
            raw: 8,
            raw_slot: 11,
        };
        let link = LinkConfig {
            gbps: 1_000_000,
            ..LinkConfig::default()
        };
        let card = kind.build_with(seed, 0, mix.memory.clone());
        let mut bench = Bench::new(card, seed, link, rings)?;
        let memory = bench.region(MEMORY);
        let elements = bench.region(ReceiveElement::SIZE << RQ_LOG2);
        let stag = StagRow {
            valid: StagRow::VALID,
            key: STAG as u8,
            access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
            pd: PD,
            base: 0,
            length: MEMORY as u64,
            iova: memory.iova,
        };
        bench.stag(STAG, &stag)?;
        let element = ReceiveElement {
            sge0_length: SEND as u32,
            sge0_stag: STAG,
            ..ReceiveElement::default()
        };
        for slot in 0..1 << RQ_LOG2 {
            let written = elements.write(slot * ReceiveElement::SIZE, &element.to_bytes());
            assert!(written.is_ok(), "the ring has this slot");
        }
        let rx = FlowRxRow {
            // As the engine writes it.
            flags: FlowRxRow::CRC | FlowRxRow::CARRY | FlowRxRow::VALID,
            rq_log2: RQ_LOG2,
            pd: PD,
            marker_base: SEQ,
            rq_base: elements.iova,
            ..FlowRxRow::default()
        };
        let attach = AttachRow {
            attached: AttachRow::ATTACHED,
            rcv_nxt: SEQ,
            msn: 1,
            mo: 0,
            ..AttachRow::default()
        };
        let mut flows = Vec::new();
        for number in 0..mix.flows as u16 {
            let ends = Ends::of(number);
            let tx = ends.tx(FlowTxRow::CRC | FlowTxRow::VALID, SEQ);
            bench.flow(number, &ends, &rx, &tx, &attach)?;
            bench.ring(doorbell::RQ_TAIL + 4 * u32::from(number), 1 << RQ_LOG2);
            flows.push(Flow {
                ends,
                seq: SEQ,
                msn: 1,
                rest: vec![],
            });
        }
        bench.settle(1_000_000)?;
        Ok(Self {
            bench,
            flows,
            fates: Fates::default(),
            _memory: [memory, elements],
        })
    }

    /// The mix's `number`th frame comes to the card. Its octets.
    fn deliver(&mut self, mix: &Mix, number: usize) -> usize {
        let write = |bytes: usize| {
            let to = (number * bytes % (MEMORY - bytes)) as u64;
            let mut ulpdu = vec![0xc1, 0x40];
            ulpdu.extend_from_slice(&STAG.to_be_bytes());
            ulpdu.extend_from_slice(&to.to_be_bytes());
            ulpdu.resize(14 + bytes, number as u8);
            ulpdu
        };
        let mut piece = None;
        let (flow, ulpdu) = match (mix.frame)(number) {
            Frame::Write { flow, bytes } => (flow, Some(write(bytes))),
            Frame::Piece {
                flow,
                write: bytes,
                octets,
            } => {
                piece = Some(octets);
                (flow, bytes.map(write))
            }
            Frame::Send { flow } => {
                let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0];
                for word in [0, self.flows[flow].msn, 0] {
                    ulpdu.extend_from_slice(&word.to_be_bytes());
                }
                ulpdu.resize(18 + SEND, number as u8);
                self.flows[flow].msn += 1;
                (flow, Some(ulpdu))
            }
            Frame::Acknowledgment { flow } => (flow, None),
        };
        let mut payload = ulpdu.map_or(vec![], |ulpdu| mpa::frame(0, None, true, &ulpdu));
        let of = &mut self.flows[flow];
        if let Some(octets) = piece {
            of.rest.append(&mut payload);
            payload = of.rest.drain(..octets.min(of.rest.len())).collect();
        }
        let row = of.ends.peer_tx(FlowTxRow::VALID, 0);
        let mut frame = ethernet::segment(&row, &Job::default(), of.seq, 0x10, 0, &payload);
        of.seq = of.seq.wrapping_add(payload.len() as u32);
        frame.resize(frame.len().max(SHORTEST), 0);
        let octets = frame.len();
        self.fates.frames += 1;
        self.bench.world.deliver(0, frame, false);
        octets
    }

    /// Takes the reports that are there. How many frames they are of.
    fn take(&mut self) -> usize {
        let mut frames = 0;
        for (report, _) in self.bench.reports() {
            let report = SegmentReport::from_bytes(&report);
            if report.kind != report_kind::SEGMENT {
                continue;
            }
            frames += 1;
            if report.raw() && !report.attached() {
                self.fates.raw += 1;
            } else if report.payload_len == 0 {
                self.fates.acknowledgments += 1;
            } else if report.done_len == report.payload_len || report.attached() {
                self.fates.placed += 1;
            }
        }
        frames
    }
}

/// Cycles a frame if the card always has some to do and never more than it can store.
pub(super) fn as_fast_as_it_goes(
    kind: CardKind,
    seed: u64,
    mix: &Mix,
    frames: usize,
) -> Result<Option<f64>, WorldError> {
    let mut peers = Peers::new(kind, seed, mix)?;
    let mut marks = Marks::of(frames);
    let mut under_way = VecDeque::new();
    let mut heard = peers.bench.world.now();
    while marks.done < frames {
        while peers.fates.frames < frames
            && under_way.len() < 100
            && under_way.iter().sum::<usize>() < IN_FLIGHT
        {
            under_way.push_back(peers.deliver(mix, peers.fates.frames));
        }
        peers.bench.world.run_cycles(4)?;
        let now = peers.bench.world.now();
        let done = peers.take();
        under_way.drain(..done.min(under_way.len()));
        marks.done += done;
        marks.pass(now);
        if done > 0 {
            heard = now;
        } else if now > heard + SILENCE * CYCLE_NS {
            return Ok(None);
        }
    }
    Ok(marks.cycles())
}

/// What becomes of frames that come at the pace of the wire.
fn at_pace(kind: CardKind, seed: u64, mix: &Mix, frames: usize) -> Result<Fates, WorldError> {
    let mut peers = Peers::new(kind, seed, mix)?;
    // The next frame's time, in ps.
    let mut next = peers.bench.world.now() * 1000;
    while peers.fates.frames < frames {
        if peers.bench.world.now() * 1000 >= next {
            let octets = peers.deliver(mix, peers.fates.frames);
            next += wire_ps(kind, octets);
        }
        peers.bench.world.run_cycles(1)?;
        peers.take();
    }
    // Until no more room is given back, and nothing happens.
    loop {
        peers.bench.settle(1_000_000)?;
        if peers.take() == 0 {
            break;
        }
    }
    for counter in DROPS {
        peers.fates.dropped += peers.bench.counter(counter)? as usize;
    }
    Ok(peers.fates)
}

/// Prints it for people.
pub fn print(table: &MixedTable, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Card {}, seed {}: {} frames as fast as the card takes them, and again at the pace of a {} Gb/s wire.\n",
        table.card, table.seed, table.frames, table.wire_gbps
    )?;
    writeln!(
        out,
        "  {:<60} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "cycles", "wire", "dropped", "raw", "placed"
    )?;
    for row in &table.rows {
        write!(out, "  {:<60}", row.name)?;
        for cycles in [row.cycles, row.wire_cycles] {
            match cycles {
                Some(cycles) => write!(out, " {cycles:>8.1}")?,
                None => write!(out, " {:>8}", "")?,
            }
        }
        if let Some(fates) = row.at_pace {
            write!(
                out,
                " {:>8} {:>8} {:>8}",
                fates.dropped, fates.raw, fates.placed
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}
