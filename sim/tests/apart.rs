//! What one flow, or one port's owner, does or leaves is nothing to the others: their rate and their latency, in cycles of the card.
//! `cargo test -p weft-sim --test apart -- --nocapture` prints them.
#![cfg(rtl)]

mod flows;

use flows::{Flow, Flows, MEMORY};
use weft_layout::{
    reg::{self, TableCmd},
    report_kind, table, AttachRow, Counter, PlacedReport, TableOperation,
};
use weft_sim::bench::Rings;
use weft_sim::card::{Card, CYCLE_NS};
use weft_sim::rtl;

/// Octets of a Write, and of the frame that has it.
const WRITE: usize = 1400;
const FRAME: usize = WRITE + 20 + 54;
/// What a frame takes on the wire beside its octets: preamble, FCS, gap.
const AROUND: usize = 24;
/// Writes whose rate and latency count, behind those that come first.
const COUNTED: usize = 400;
const BEFORE: usize = 100;

/// A card, octets of a beat, and the wire that it is for.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    build: fn() -> Box<dyn Card>,
    lanes: usize,
    gbps: u64,
}

const WIDE: Kind = Kind {
    name: "512 bits, 100 Gb/s",
    build: || Box::new(rtl::card512(1, 0)),
    lanes: 64,
    gbps: 100,
};

/// What every other frame of the wire is; the rest are Writes of flow B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// Somebody else's: dropped as it comes.
    Foreign,
    /// Writes of flow A, which the card places.
    Placed,
    /// Segments of flow A while it is detached, whose slots come back.
    Detached,
    /// The same, and no slot comes back.
    Kept,
    /// Segments of flow A that somebody makes up: any sequence number, while A is attached anew all the while.
    Spoofed,
}

/// Of flow B: Writes placed, octets in a thousand cycles, cycles from the last beat of a frame to its report: the mean and the most.
#[derive(Debug)]
struct Seen {
    placed: usize,
    rate: f64,
    mean: f64,
    most: u64,
}

fn write(flow: &mut Flow, number: usize, octets: usize) -> Vec<u8> {
    let to = (number * WRITE % (MEMORY - WRITE)) as u64;
    let ulpdu = flow.write(to, &vec![number as u8; octets]);
    flow.segment(&[ulpdu])
}

/// The next frame that is not B's.
fn beside(s: &mut Flows, what: Beside, number: usize, octets: usize) -> Vec<u8> {
    let flow = &mut s.flows[0];
    let mut frame = match what {
        Beside::Spoofed => {
            let seq = (number as u32).wrapping_mul(0x9e37_79b9);
            flow.frame(seq, &vec![number as u8; octets + 20])
        }
        _ => write(flow, number, octets),
    };
    if what == Beside::Foreign {
        frame[..6].copy_from_slice(&[0x02, 9, 9, 9, 9, 9]);
    }
    frame
}

fn attach(s: &mut Flows, flow: usize, attached: bool) {
    let row = AttachRow {
        rcv_nxt: s.flows[flow].seq,
        msn: 1,
        raw_seen: s.bench.raw_seen(),
        ..AttachRow::default()
    };
    let row = row.with_attached(attached).to_bytes();
    let number = s.flows[flow].number.into();
    // While something of it is on its way it is refused.
    s.bench.write_table(table::ATTACH, number, &row).unwrap();
}

/// The same, without a look at what became of it: no cycle passes.
fn attach_unasked(s: &mut Flows, flow: usize) {
    let row = AttachRow {
        rcv_nxt: s.flows[flow].seq,
        msn: 1,
        raw_seen: s.bench.raw_seen(),
        ..AttachRow::default()
    };
    let row = row.with_attached(true).to_bytes();
    for (word, at) in row.chunks_exact(4).zip((reg::TABLE_DATA..).step_by(4)) {
        let word = [word[0], word[1], word[2], word[3]];
        s.bench.write(at, u32::from_le_bytes(word));
    }
    let command = TableCmd::default()
        .with_operation(TableOperation::Write)
        .with_table(table::ATTACH)
        .with_index(s.flows[flow].number.into());
    s.bench.write(reg::TABLE_CMD, command.0);
}

fn measure(kind: Kind, what: Beside, octets: usize) -> Seen {
    let rings = Rings {
        report: 11,
        raw: 8,
        raw_slot: 11,
        ..Rings::default()
    };
    let mut s = Flows::new((kind.build)(), 2, rings);
    s.bench.hold_raw(what == Beside::Kept);
    if matches!(what, Beside::Detached | Beside::Kept) {
        attach(&mut s, 0, false);
    }
    // The next frame's time, in ps.
    let mut next = s.bench.world.now() * 1000;
    let mut came = vec![];
    let mut told = vec![];
    let mut frames = 0;
    let mut rest = 2000;
    while came.len() < BEFORE + COUNTED || rest > 0 {
        let now = s.bench.world.now();
        if came.len() == BEFORE + COUNTED {
            rest -= 1;
        } else if now * 1000 >= next {
            let frame = if frames % 2 == 0 {
                beside(&mut s, what, frames, octets)
            } else {
                came.push((s.flows[1].seq, now));
                write(&mut s.flows[1], frames, WRITE)
            };
            next += ((frame.len() + AROUND) * 8 * 1000) as u64 / kind.gbps;
            s.deliver(frame);
            frames += 1;
            if what == Beside::Spoofed && frames % 16 == 0 {
                attach_unasked(&mut s, 0);
            }
        }
        s.bench.world.run_cycles(1).unwrap();
        let now = s.bench.world.now();
        for (report, _) in s.bench.reports_as_written(usize::MAX) {
            let report = PlacedReport::from_bytes(&report);
            if (report.kind, report.flow) == (report_kind::PLACED, s.flows[1].number) {
                told.push((report.seq, now));
            }
        }
    }
    let beats = FRAME.div_ceil(kind.lanes) as u64;
    let latency: Vec<u64> = came[BEFORE..]
        .iter()
        .filter_map(|(seq, at)| {
            let end = told.iter().find(|t| t.0 == *seq)?.1;
            Some((end - at) / CYCLE_NS - beats)
        })
        .collect();
    let counted = &told[told.len().saturating_sub(COUNTED)..];
    let cycles = (counted[counted.len() - 1].1 - counted[0].1) / CYCLE_NS;
    let seen = Seen {
        placed: latency.len(),
        rate: (WRITE * (counted.len() - 1)) as f64 * 1000.0 / cycles as f64,
        mean: latency.iter().sum::<u64>() as f64 / latency.len() as f64,
        most: latency.iter().copied().max().unwrap_or(0),
    };
    let dropped = s.bench.counter(Counter::RxDropBufferFull).unwrap();
    println!(
        "{}, {what:?} {octets}: {} placed, {:.0} octets a thousand cycles, latency {:.1} (most {}), {dropped} dropped, raw {}",
        kind.name, seen.placed, seen.rate, seen.mean, seen.most,
        s.bench.read(reg::RAW_TAIL).unwrap()
    );
    seen
}

#[test]
fn a_flood_of_one_flow_is_nothing_to_another() {
    for what in [
        Beside::Foreign,
        Beside::Placed,
        Beside::Detached,
        Beside::Kept,
        Beside::Spoofed,
    ] {
        for octets in [1400, 700, 256, 64] {
            measure(WIDE, what, octets);
        }
    }
}
