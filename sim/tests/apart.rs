//! What one flow, or one port's owner, does or leaves is nothing to the others: their rate and their latency, in cycles of the card.
//! `cargo test -p weft-sim --test simulator apart -- --nocapture` prints them.
//!
//! Every other frame of a full wire is a Write of flow B. The rest are of flow A, or nobody's; what they do to B is compared with frames of the same
//! length that do as little as frames can: they are placed, where the others are written to the raw ring, or dropped as they come, where
//! the others are dropped.
#![cfg(rtl)]

use crate::flows;

use flows::{Flow, Flows, MEMORY};
use weft_layout::reg::{self, TableCmd};
use weft_layout::{report_kind, table, AttachRow, Counter, PlacedReport, TableOperation};
use weft_sim::bench::Rings;
use weft_sim::card::{Card, CYCLE_NS};
use weft_sim::rtl;

/// Octets of B's Writes.
const WRITE: usize = 1400;
/// What an FPDU has around a Write, and a frame around an FPDU.
const FPDU: usize = 20;
const HEADERS: usize = 54;
/// What a frame takes on the wire beside its octets: preamble, FCS, gap.
const AROUND: usize = 24;
/// Writes whose rate and latency count, behind those that come first.
const COUNTED: usize = 400;
const BEFORE: usize = 200;

/// A card, octets of a beat, its ports, and the wire that it is for.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    build: fn() -> Box<dyn Card>,
    lanes: usize,
    ports: usize,
    gbps: u64,
}

const WIDE: Kind = Kind {
    name: "512 bits, 100 Gb/s",
    build: || Box::new(rtl::card512(1, 0)),
    lanes: 64,
    ports: 1,
    gbps: 100,
};
const TWO_PORTS: Kind = Kind {
    name: "128 bits, two ports, 25 Gb/s",
    build: || Box::new(rtl::card128(1, 0)),
    lanes: 16,
    ports: 2,
    gbps: 25,
};

/// What every other frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// Somebody else's: dropped as it comes.
    Foreign,
    /// Writes of A, which the card places.
    Placed,
    /// Segments of A while it is detached. Their slots come back.
    Detached,
    /// The same, and no slot comes back.
    Kept,
    /// Segments that somebody makes up with A's 4-tuple and any sequence number, while the host attaches A again and again.
    Spoofed,
    /// Writes of A, whose port's owner is away: it takes no reports and gives nothing back.
    Away,
    /// Segments of A while it is detached, and its owner is away.
    AwayDetached,
}

impl Beside {
    fn is_detached(self) -> bool {
        matches!(self, Self::Detached | Self::Kept | Self::AwayDetached)
    }

    fn is_away(self) -> bool {
        matches!(self, Self::Away | Self::AwayDetached)
    }
}

/// Of flow B: Writes placed, octets in a thousand cycles, cycles from the last beat of a frame to its report: the mean and the most.
#[derive(Debug)]
struct Seen {
    placed: usize,
    rate: f64,
    mean: f64,
    most: u64,
}

impl Seen {
    /// Nothing is lost, and neither rate nor latency is worse by more than 2 %.
    fn is_no_worse_than(&self, base: &Seen) -> bool {
        self.placed == base.placed
            && self.rate >= 0.98 * base.rate
            && self.mean <= 1.02 * base.mean
            && self.most as f64 <= 1.02 * base.most as f64
    }
}

/// The next segment of a flow, a Write.
fn write(flow: &mut Flow, number: usize, octets: usize) -> Vec<u8> {
    let to = (number * WRITE % (MEMORY - WRITE)) as u64;
    let ulpdu = flow.write(to, &vec![number as u8; octets]);
    flow.segment(&[ulpdu])
}

/// The next frame that is not B's.
fn beside(flow: &mut Flow, what: Beside, number: usize, octets: usize) -> Vec<u8> {
    if what == Beside::Spoofed {
        let seq = (number as u32).wrapping_mul(0x9e37_79b9);
        return flow.frame(seq, &vec![number as u8; octets + FPDU]);
    }
    let mut frame = write(flow, number, octets);
    if what == Beside::Foreign {
        frame[..6].copy_from_slice(&[0x02, 9, 9, 9, 9, 9]);
    }
    frame
}

/// Writes flow A's row of ATTACH, and does not ask what became of it: no cycle passes.
fn attach(s: &mut Flows, attached: bool) {
    let row = AttachRow {
        rcv_nxt: s.flows[0].seq,
        msn: 1,
        raw_seen: s.bench.raw_seen(),
        ..AttachRow::default()
    };
    let row = row.with_attached(attached).to_bytes();
    for (word, at) in row.chunks_exact(4).zip((reg::TABLE_DATA..).step_by(4)) {
        let word = [word[0], word[1], word[2], word[3]];
        s.bench.write(at, u32::from_le_bytes(word));
    }
    let command = TableCmd::default()
        .with_operation(TableOperation::Write)
        .with_table(table::ATTACH)
        .with_index(s.flows[0].number.into());
    s.bench.write(reg::TABLE_CMD, command.0);
}

/// A full wire of B's Writes, and of frames of so many octets each that are something else; A is port `a`'s, B the other one's if there are two.
fn measure(kind: Kind, a: usize, what: Beside, octets: usize) -> Seen {
    let rings = Rings {
        report: if kind.ports == 2 { 7 } else { 11 },
        raw: 8,
        raw_slot: 11,
        ..Rings::default()
    };
    let b = if kind.ports == 2 { 1 - a } else { a };
    let of = |number: u16| if number == 1 { a } else { b };
    let mut s = Flows::by_port((kind.build)(), 2, rings, kind.ports, of);
    s.bench.give_back(16);
    s.bench.hold_raw(what == Beside::Kept);
    if what.is_detached() {
        attach(&mut s, false);
        s.bench.settle(10_000).unwrap();
    }
    let (mut came, mut told) = (vec![], vec![]);
    let (mut frames, mut rest) = (0, 2000);
    // The next frame's time, in ps.
    let mut next = s.bench.world.now() * 1000;
    while rest > 0 {
        let now = s.bench.world.now();
        if came.len() == BEFORE + COUNTED {
            rest -= 1;
        } else if now * 1000 >= next {
            let frame = if frames % 2 == 0 {
                beside(&mut s.flows[0], what, frames, octets)
            } else {
                came.push((s.flows[1].seq, now));
                write(&mut s.flows[1], frames, WRITE)
            };
            next += ((frame.len() + AROUND) * 8 * 1000) as u64 / kind.gbps;
            s.deliver(frame);
            frames += 1;
            if what == Beside::Spoofed && frames % 16 == 0 {
                attach(&mut s, true);
            }
        }
        s.bench.world.run_cycles(1).unwrap();
        let now = s.bench.world.now();
        for port in 0..kind.ports {
            if port == a && what.is_away() {
                continue;
            }
            for (report, _) in s.bench.reports_of_port(port, usize::MAX) {
                let report = PlacedReport::from_bytes(&report);
                if (report.kind, report.flow) == (report_kind::PLACED, s.flows[1].number) {
                    told.push((report.seq, now));
                }
            }
        }
    }
    let beats = (WRITE + FPDU + HEADERS).div_ceil(kind.lanes) as u64;
    let ends = came[BEFORE..].iter().filter_map(|(seq, at)| {
        let end = told.iter().find(|t| t.0 == *seq)?.1;
        Some((end, (end - at) / CYCLE_NS - beats))
    });
    let ends: Vec<(u64, u64)> = ends.collect();
    let cycles = match &ends[..] {
        [first, .., last] => (last.0 - first.0) / CYCLE_NS,
        _ => 1,
    };
    let seen = Seen {
        placed: ends.len(),
        rate: (WRITE * ends.len().saturating_sub(1)) as f64 * 1000.0 / cycles as f64,
        mean: ends.iter().map(|e| e.1).sum::<u64>() as f64 / ends.len().max(1) as f64,
        most: ends.iter().map(|e| e.1).max().unwrap_or(0),
    };
    println!(
        "| {} | {what:?} | {octets} | {} | {:.0} | {:.1} | {} |",
        kind.name, seen.placed, seen.rate, seen.mean, seen.most
    );
    if what == Beside::Kept {
        let lost = s.bench.counter(Counter::RxDropNoRawCredit).unwrap();
        assert!(lost > 500, "{lost} of A for want of credit");
    }
    if what.is_away() {
        let lost = s.bench.counter(Counter::RxDropNoReportRoom).unwrap();
        assert!(lost > 500, "{lost} of A for want of room for reports");
    }
    // A fence asks that all which was in the walk be done.
    s.bench.write(reg::FENCE, 7);
    s.bench.world.run_cycles(1000).unwrap();
    assert_eq!(s.bench.read(reg::FENCE_DONE).unwrap(), 7, "{what:?}");
    seen
}

fn compare(kind: Kind, a: usize, base: Beside, all: &[Beside]) {
    let base = measure(kind, a, base, WRITE);
    assert_eq!(base.placed, COUNTED);
    for what in all {
        let seen = measure(kind, a, *what, WRITE);
        assert!(
            seen.is_no_worse_than(&base),
            "{what:?}: {seen:?}, not {base:?}"
        );
    }
}

#[test]
fn a_flood_of_one_flow_is_nothing_to_another() {
    use Beside::{Detached, Foreign, Kept, Placed, Spoofed};
    compare(WIDE, 0, Placed, &[Detached, Spoofed]);
    compare(WIDE, 0, Foreign, &[Kept]);
}

#[test]
fn an_owner_who_is_away_is_nothing_to_the_other_port() {
    use Beside::{Away, AwayDetached, Foreign};
    for a in [1, 0] {
        compare(TWO_PORTS, a, Foreign, &[Away, AwayDetached]);
    }
}

/// Frames that are shorter than B's: what they cost is printed, and B's Writes are all placed as long as A's frames are half of them.
#[test]
fn short_frames_cost_what_they_cost() {
    use Beside::{Detached, Foreign, Kept, Placed, Spoofed};
    for octets in [700, 256] {
        for what in [Foreign, Placed, Detached, Kept, Spoofed] {
            let seen = measure(WIDE, 0, what, octets);
            assert!(octets < 700 || seen.placed == COUNTED, "{what:?}: {seen:?}");
        }
    }
}
