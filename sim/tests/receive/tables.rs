//! Tables are written while frames come: no access waits for packets or reports.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_layout::{
    doorbell, reg, report_kind, table, AttachRow, Counter, FlowKeyRow, FlowRxRow, FlowTxRow, Job,
    ReceiveElement, SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::{ethernet, mpa};
use weft_sim::seed::{generator, Stream};
use weft_sim::world::Stop;

const PD: u32 = 7;
const STAG: u32 = 0x0000_05a5;
const FLOWS: u16 = 6;
/// ns in which the answer of an access has to be there, its 18 register accesses included.
const ANSWER: u64 = 4_000;

struct Traffic {
    bench: Bench,
    memory: Region,
    /// The elements of all flows, which are read ahead.
    queue: Region,
    seqs: Vec<u32>,
}

fn stream(memory_offset: u64, len: usize) -> Vec<u8> {
    let mut u = vec![0xc1, 0x40];
    u.extend_from_slice(&STAG.to_be_bytes());
    u.extend_from_slice(&memory_offset.to_be_bytes());
    u.resize(14 + len, 0x77);
    mpa::frame(0, None, true, &u)
}

fn rx_row(flow: u16, epoch: u8, queue: &Region) -> FlowRxRow {
    FlowRxRow {
        flags: FlowRxRow::CRC | FlowRxRow::VALID,
        rq_log2: 2,
        epoch,
        pd: PD,
        marker_base: flow.into(),
        rq_base: queue.iova,
    }
}

impl Traffic {
    fn new(card: Box<dyn Card>, seed: u64, rings: Rings, flows: u16) -> Self {
        let mut bench = Bench::new(card, seed, LinkConfig::default(), rings).unwrap();
        let memory = bench.region(1 << 16);
        let queue = bench.region(4 * ReceiveElement::SIZE);
        let mut seqs = vec![];
        for flow in 0..flows {
            let ends = Ends::of(flow);
            let seq = 0xffff_ffff - 1000 * u32::from(flow);
            let attach = AttachRow {
                attached: AttachRow::ATTACHED,
                rcv_nxt: seq,
                msn: 1,
                ..AttachRow::default()
            };
            let rx = rx_row(flow, 0, &queue);
            bench
                .flow(flow, &ends, &rx, &ends.tx(FlowTxRow::VALID, 0), &attach)
                .unwrap();
            seqs.push(seq);
        }
        let mut traffic = Self {
            bench,
            memory,
            queue,
            seqs,
        };
        traffic.region(1);
        traffic
    }

    fn region(&mut self, valid: u8) {
        let row = StagRow {
            valid,
            key: STAG as u8,
            access: StagRow::REMOTE_WRITE,
            pd: PD,
            base: 0,
            length: 1 << 16,
            iova: self.memory.iova,
        };
        self.bench.stag(STAG, &row).unwrap();
    }

    /// The next segment of a flow.
    fn send(&mut self, flow: u16, payload: &[u8]) {
        let seq = &mut self.seqs[usize::from(flow)];
        let row = Ends::of(flow).peer_tx(FlowTxRow::VALID, 0);
        let frame = ethernet::segment(&row, &Job::default(), *seq, 0x10, 0, payload);
        *seq = seq.wrapping_add(payload.len() as u32);
        self.bench.world.deliver(0, frame, false);
    }

    /// An access whose answer has to come in bounded time.
    fn timely(&mut self, what: &str, access: impl FnOnce(&mut Bench)) {
        let before = self.bench.world.now();
        access(&mut self.bench);
        let took = self.bench.world.now() - before;
        let seed = self.bench.world.seed();
        assert!(took <= ANSWER, "seed {seed}: {what} took {took} ns");
    }

    fn position(&mut self, flow: u16) -> AttachRow {
        let row = self.bench.read_table(table::ATTACH, flow.into()).unwrap();
        AttachRow::from_bytes(&row.unwrap())
    }
}

/// Eight reports and a host that takes none: the walk stands still, and two flows are in it.
#[test]
fn two_flows_are_taken_away_while_nobody_reads_reports() {
    for kind in CardKind::available() {
        eprintln!("card: {kind}");
        let rings = Rings {
            report: 3,
            ..Rings::default()
        };
        let mut t = Traffic::new(kind.build(1, 0), 1, rings, 2);
        for n in 0..40 {
            t.send(n % 2, &stream(64 * u64::from(n), 300));
        }
        t.bench.world.run_cycles(3000).unwrap();
        let away = |flow: u16| AttachRow {
            attached: 0,
            raw_seen: 0,
            rcv_nxt: 1000 + u32::from(flow),
            msn: 9,
            mo: 8,
            ts_recent: 5,
            window: 6,
        };
        for flow in [0, 1] {
            t.timely("ATTACH", |bench| {
                let row = away(flow).to_bytes();
                assert!(bench.write_table(table::ATTACH, flow.into(), &row).unwrap());
            });
            // It is the newest word on the flow, and no ATTACH gets past it.
            assert_eq!(t.position(flow), away(flow));
        }
        let row = rx_row(0, 1, &t.queue).to_bytes();
        t.timely("FLOW_RX", |bench| {
            assert!(bench.write_table(table::FLOW_RX, 0, &row).unwrap());
        });
        let mut reports = vec![];
        loop {
            let stop = t.bench.settle(10_000).unwrap();
            let more = t.bench.reports();
            if more.is_empty() && stop == Stop::Quiet {
                break;
            }
            reports.extend(more);
        }
        let segments: Vec<_> = reports
            .iter()
            .filter(|r| r.0[0] == report_kind::SEGMENT)
            .collect();
        assert_eq!(segments.len(), 40);
        for flow in [0, 1] {
            // Those in the walk ended as they began; behind them the flow is the engine's, from the host's count on.
            let of = segments.iter().map(|r| SegmentReport::from_bytes(&r.0));
            let of: Vec<_> = of.filter(|r| r.flow == flow).collect();
            let placed = of.iter().take_while(|r| r.attached()).count();
            for (n, report) in of[placed..].iter().enumerate() {
                assert_eq!((report.raw(), report.attached()), (true, false), "{n}");
            }
            // Behind the last of them.
            let slots = segments.iter().map(|r| SegmentReport::from_bytes(&r.0));
            let slots = slots.filter(|r| r.raw());
            let last = slots.enumerate().filter(|(_, r)| r.flow == flow).last();
            assert_eq!(
                t.position(flow),
                AttachRow {
                    raw_seen: last.map_or(0, |(n, _)| n as u32 + 1),
                    ..away(flow)
                }
            );
        }
        assert_eq!(t.bench.counter(Counter::RxSegments).unwrap(), 40);
    }
}

/// All five tables, in any order, under full traffic and with the smallest rings.
fn tables_under_traffic(seed: u64, name: &str, card: Box<dyn Card>) {
    let mut rng = generator(seed, Stream::Application);
    let rings = Rings {
        job: 4,
        report: rng.random_range(1..4),
        raw: rng.random_range(1..4),
        raw_slot: 11,
    };
    let mut t = Traffic::new(card, seed, rings, FLOWS);
    let reserve = rng.random_range(0..2);
    t.bench.write(reg::RAW_RESERVE, reserve);
    let (mut sent, mut segments, mut plain) = (0, 0, 0);
    let mut count = |reports: Vec<([u8; 64], Option<Vec<u8>>)>| {
        for (report, _) in reports {
            match report[0] {
                report_kind::SEGMENT => segments += 1,
                report_kind::FRAME => plain += 1,
                _ => {}
            }
        }
    };
    for _ in 0..60 {
        for _ in 0..rng.random_range(0..12) {
            let flow = rng.random_range(0..FLOWS);
            let whole = stream(rng.random_range(0..60_000), rng.random_range(0..1000));
            let cut = if rng.random_ratio(1, 6) {
                rng.random_range(1..whole.len())
            } else {
                whole.len()
            };
            t.send(flow, &whole[..cut]);
            if rng.random_ratio(1, 10) {
                t.bench.world.deliver(0, vec![0xff; 100], false);
                sent += 1;
            }
            sent += 1;
        }
        if rng.random_ratio(1, 2) {
            t.bench.world.run_cycles(rng.random_range(0..300)).unwrap();
        }
        for _ in 0..rng.random_range(0..4) {
            access(&mut t, &mut rng);
        }
        if rng.random_ratio(1, 3) {
            count(t.bench.reports());
        }
    }
    for round in 0.. {
        assert!(round < 10_000, "{name}, seed {seed}: never still");
        // A card that waits for room is not quiet.
        let stop = t.bench.settle(10_000).unwrap();
        let more = t.bench.reports();
        if more.is_empty() && stop == Stop::Quiet {
            break;
        }
        count(more);
    }
    use Counter::*;
    let mut counted = |counter| t.bench.counter(counter).unwrap();
    let dropped = counted(RxDropBufferFull)
        + counted(RxDropNoRawSlot)
        + counted(RxDropNoRawCredit)
        + counted(RxDropRawReserved);
    let all = (counted(RxFrames), counted(RxSegments), counted(RxRawFrames));
    let should = (sent, segments, plain);
    assert_eq!(all, should, "{name}, seed {seed}: frames, segments, others");
    assert_eq!(sent, dropped + segments + plain, "{name}, seed {seed}");
    // Nothing is left of it: each flow can be taken up again.
    for flow in 0..FLOWS {
        let position = t.position(flow);
        let row = AttachRow {
            attached: AttachRow::ATTACHED,
            rcv_nxt: t.seqs[usize::from(flow)],
            ..position
        };
        let bytes = row.to_bytes();
        assert!(t
            .bench
            .write_table(table::ATTACH, flow.into(), &bytes)
            .unwrap());
        let bytes = rx_row(flow, 9, &t.queue).to_bytes();
        assert!(t
            .bench
            .write_table(table::FLOW_RX, flow.into(), &bytes)
            .unwrap());
        t.region(1);
        t.send(flow, &stream(0, 10));
        t.bench.settle(1_000_000).unwrap();
        let (last, _) = t.bench.reports().pop().unwrap();
        let report = SegmentReport::from_bytes(&last);
        assert_eq!(
            (report.flags, report.epoch),
            (SegmentReport::ATTACHED, 9),
            "{name}, seed {seed}"
        );
    }
    let faults = t.bench.world.iommu(0).take_faults();
    assert!(faults.is_empty(), "{name}, seed {seed}: {faults:?}");
}

fn access(t: &mut Traffic, rng: &mut ChaCha8Rng) {
    let flow = rng.random_range(0..FLOWS);
    let index = u32::from(flow);
    match rng.random_range(0..8) {
        0 => {
            let row = rx_row(flow, rng.random(), &t.queue).to_bytes();
            t.timely("FLOW_RX", |bench| {
                assert!(bench.write_table(table::FLOW_RX, index, &row).unwrap());
            });
        }
        1 => t.timely("FLOW_TX", |bench| {
            let row = FlowTxRow::default().to_bytes();
            assert!(bench.write_table(table::FLOW_TX, index, &row).unwrap());
        }),
        2 => {
            let valid = rng.random_range(0..2);
            t.timely("STAG, read", |bench| {
                bench.read_table(table::STAG, STAG >> 8).unwrap().unwrap();
            });
            t.region(valid);
        }
        3 => {
            // A row that is nobody's.
            let place = rng.random_range(0..512);
            t.timely("FLOW_KEY, read", |bench| {
                let row = bench.read_table(table::FLOW_KEY, place).unwrap().unwrap();
                if FlowKeyRow::from_bytes(&row).valid != FlowKeyRow::VALID {
                    assert!(bench.write_table(table::FLOW_KEY, place, &row).unwrap());
                }
            });
        }
        4 => t.timely("ATTACH, read", |bench| {
            bench.read_table(table::ATTACH, index).unwrap().unwrap();
        }),
        5 => {
            let row = AttachRow {
                attached: 0,
                raw_seen: rng.random(),
                ..AttachRow::default()
            };
            t.timely("ATTACH 0", |bench| {
                assert!(bench
                    .write_table(table::ATTACH, index, &row.to_bytes())
                    .unwrap());
                // Whatever of the flow is in the walk: this is what stands, unless a frame has come since.
                let row = bench.read_table(table::ATTACH, index).unwrap().unwrap();
                assert!(!AttachRow::from_bytes(&row).attached());
            });
        }
        _ => {
            let mut row = t.position(flow);
            row.attached = 1;
            row.rcv_nxt = t.seqs[usize::from(flow)];
            t.timely("ATTACH 1", |bench| {
                bench
                    .write_table(table::ATTACH, index, &row.to_bytes())
                    .unwrap();
            });
        }
    }
    let tail = rng.random_range(0..4);
    t.bench.ring(doorbell::RQ_TAIL + 4 * index, tail);
}

#[test]
fn tables_are_written_under_traffic() {
    for seed in 0..seeds() {
        tables_under_traffic(seed, "model", CardKind::Model.build(seed, 0));
    }
}

fn seeds() -> u64 {
    let asked = std::env::var("WEFT_EQUIVALENCE_SEEDS").ok();
    asked.and_then(|s| s.parse().ok()).unwrap_or(10)
}

#[cfg(rtl)]
mod rtl {
    use super::*;
    use weft_sim::rtl;

    #[test]
    fn rtl_at_512_bits() {
        for seed in 0..seeds() {
            tables_under_traffic(seed, "rtl512", Box::new(rtl::any512(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_256_bits() {
        for seed in 0..seeds() {
            tables_under_traffic(seed, "rtl256", Box::new(rtl::any256(seed, 0)));
        }
    }

    #[test]
    fn rtl_at_128_bits() {
        for seed in 0..seeds() {
            tables_under_traffic(seed, "rtl128", Box::new(rtl::any128(seed, 0)));
        }
    }
}
