//! FPDUs that share segments (docs/card.md, Sending: jobs): model and RTL send the same stream, whole and in order, to a MAC that is slow.

use std::collections::BTreeMap;

use weft_layout::{job_status, report_kind, table, Counter, FlowTxRow, Job, JobKind, JobReport};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::mpa;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::TcpSegment;

const SEQ: u32 = 0xffff_ff00;
const WRITE: usize = 64;
const PACK: u16 = 1460;
const STAG: u32 = 0x105;
const JOBS: usize = 200;

/// A card whose MAC takes a beat in a few cycles.
fn slow(kind: CardKind) -> Box<dyn Card> {
    #[cfg(rtl)]
    {
        use weft_sim::rtl::{with, Rtl128, Rtl256, Rtl512, Surroundings};
        let (seed, around) = with(3, 0, weft_sim::kind::host_memory());
        let around = Surroundings {
            mac: rtl_sim::Stall::Random(0.8),
            ..around
        };
        match kind {
            CardKind::Rtl512 => return Box::new(Rtl512::new(seed, around)),
            CardKind::Rtl256 => return Box::new(Rtl256::new(seed, around)),
            CardKind::Rtl128 => return Box::new(Rtl128::new(seed, around)),
            CardKind::Model => {}
        }
    }
    kind.build(3, 0)
}

fn bench(kind: CardKind, ports: usize) -> Bench {
    let rings = Rings {
        job: 10,
        report: 10,
        raw: 4,
        raw_slot: 11,
    };
    let link = LinkConfig {
        gbps: 1_000_000,
        ..LinkConfig::default()
    };
    let mut bench = Bench::with_ports(slow(kind), 3, link, rings, ports).expect("a card");
    // What is sent is kept from here on.
    bench.sent();
    bench
}

fn row(flow: u16, pack: u16) -> FlowTxRow {
    FlowTxRow {
        pack,
        ..Ends::of(flow).tx(FlowTxRow::CRC | FlowTxRow::VALID, SEQ)
    }
}

fn set(bench: &mut Bench, flow: u16, pack: u16) {
    let row = row(flow, pack).to_bytes();
    let done = bench.write_table(table::FLOW_TX, flow.into(), &row);
    assert!(done.expect("a card"));
}

/// The FPDU that a job makes.
fn fpdu(number: usize) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, 0x40];
    ulpdu.extend(STAG.to_be_bytes());
    ulpdu.extend((number as u64).to_be_bytes());
    ulpdu.extend([number as u8; WRITE]);
    mpa::frame(0, None, true, &ulpdu)
}

/// Job `number` of a flow, with its payload in `memory`, or nowhere.
fn job(flow: u16, number: usize, memory: Option<&Region>) -> Job {
    let length = fpdu(0).len();
    Job {
        kind: JobKind::Message.raw(),
        flags: Job::TAGGED | Job::LAST,
        flow,
        seq: SEQ.wrapping_add((number * length) as u32),
        ack: number as u32,
        tcp_flags: 0x18,
        sge_count: 1,
        length: WRITE as u32,
        fpdu_payload: WRITE as u16,
        rdmap_control: 0x40,
        stag_or_qn: STAG,
        to_or_mo: number as u64,
        sge0_iova: memory.map_or(0x10, |memory| memory.iova + (number * WRITE) as u64),
        sge0_length: WRITE as u32,
        ..Job::default()
    }
}

fn memory(bench: &mut Bench) -> Region {
    let memory = bench.region(JOBS * WRITE);
    let bytes: Vec<u8> = (0..JOBS * WRITE).map(|n| (n / WRITE) as u8).collect();
    memory.write(0, &bytes).expect("its bytes");
    memory
}

/// Segments that the card sent, by the sender's port: sequence number, acknowledgment, octets.
fn sent(bench: &mut Bench) -> BTreeMap<u16, Vec<(u32, u32, Vec<u8>)>> {
    let mut all: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    for seen in bench.sent() {
        let (_, packet) = EthernetHeader::parse(&seen.frame).expect("a frame");
        let packet = Ipv4Packet::parse(packet).expect("a packet");
        let found = TcpSegment::parse(packet.source, packet.destination, packet.payload);
        let segment = found.expect("its checksum is right");
        let octets = segment.payload.to_vec();
        let of = all.entry(segment.source_port).or_default();
        of.push((segment.seq, segment.ack, octets));
    }
    all
}

/// The stream from the front, all FPDUs but these; each segment begins with one. How many segments there are.
fn check(segments: &[(u32, u32, Vec<u8>)], missing: &[usize], pack: u16) -> usize {
    let length = fpdu(0).len();
    let mut left = (0..JOBS).filter(|n| !missing.contains(n)).peekable();
    for (seq, ack, octets) in segments {
        let count = octets.len() / length;
        assert!((1..=16).contains(&count) && count * length == octets.len());
        assert!(count == 1 || octets.len() <= pack.into());
        for (n, octets) in octets.chunks(length).enumerate() {
            let number = left.next().expect("no more than there are");
            let at = SEQ.wrapping_add((number * length) as u32);
            assert_eq!(seq.wrapping_add((n * length) as u32), at);
            assert!(octets == fpdu(number), "FPDU {number}");
            assert!(n + 1 < count || *ack == number as u32);
        }
    }
    assert_eq!(left.next(), None);
    segments.len()
}

#[test]
fn fpdus_that_wait_share_segments() {
    for kind in CardKind::available() {
        for pack in [0, 200, PACK, u16::MAX] {
            let mut bench = bench(kind, 1);
            let memory = memory(&mut bench);
            set(&mut bench, 1, pack);
            (0..JOBS).for_each(|number| {
                bench.post(&job(1, number, Some(&memory)), &[]);
            });
            bench.ring_jobs();
            bench.settle(10_000_000).expect("a card");
            let segments = check(&sent(&mut bench)[&4001], &[], pack.min(2048));
            let least = if pack < 1000 { JOBS / 2 } else { JOBS / 16 };
            println!("{kind}, {pack}: {segments} segments");
            assert!(pack == 0 && segments == JOBS || pack > 0 && segments < JOBS * 3 / 4);
            assert!(segments >= least);
            let counted = [Counter::TxFrames, Counter::TxFpdus, Counter::TxFpdusPacked];
            let counted = counted.map(|counter| bench.counter(counter).expect("a card"));
            let should = [segments, JOBS, JOBS - segments].map(|n| n as u32);
            assert_eq!(counted, should, "{kind}");
        }
    }
}

/// What could not be read is missing, with its report, and nothing beside it.
#[test]
fn a_job_that_cannot_be_read_leaves_a_gap() {
    for kind in CardKind::available() {
        let mut bench = bench(kind, 1);
        let memory = memory(&mut bench);
        set(&mut bench, 1, PACK);
        let missing = [0, 7, 100, 101, JOBS - 1];
        for number in 0..JOBS {
            let from = (!missing.contains(&number)).then_some(&memory);
            bench.post(&job(1, number, from), &[]);
        }
        bench.ring_jobs();
        bench.settle(10_000_000).expect("a card");
        let segments = check(&sent(&mut bench)[&4001], &missing, PACK);
        assert!(segments < JOBS * 3 / 4, "{kind}: {segments}");
        let failed: Vec<_> = bench
            .reports()
            .iter()
            .map(|report| JobReport::from_bytes(&report.0))
            .filter(|report| report.kind == report_kind::JOB)
            .map(|report| (report.job as usize, report.status))
            .collect();
        let should = missing.map(|number| (number, job_status::READ_ERROR));
        assert_eq!(failed, should, "{kind}");
    }
}

/// What waits behind another flow's FPDU goes apart.
#[test]
fn flows_in_turn_share_nothing() {
    for kind in CardKind::available() {
        let mut bench = bench(kind, 1);
        let memory = memory(&mut bench);
        set(&mut bench, 1, PACK);
        set(&mut bench, 2, PACK);
        for number in 0..JOBS {
            for flow in [1, 2] {
                bench.post(&job(flow, number, Some(&memory)), &[]);
            }
        }
        bench.ring_jobs();
        bench.settle(10_000_000).expect("a card");
        let sent = sent(&mut bench);
        for port in [4001, 4002] {
            assert_eq!(check(&sent[&port], &[], PACK), JOBS, "{kind}");
        }
    }
}

/// Each port's flow is packed, and neither with the other's.
#[cfg(rtl)]
#[test]
fn two_ports_share_the_card() {
    let mut bench = bench(CardKind::Rtl128, 2);
    assert_eq!(bench.read(weft_layout::reg::PORTS).expect("a card"), 2);
    let memory = memory(&mut bench);
    let mut set = |flow: u16| {
        let row = row(flow, PACK).to_bytes();
        assert!(bench
            .write_table(table::FLOW_TX, flow.into(), &row)
            .expect("a card"));
    };
    set(1);
    set(2);
    for (port, flow) in [(0, 1), (1, 2)] {
        bench.use_port(port);
        for number in 0..JOBS {
            bench.post(&job(flow, number, Some(&memory)), &[]);
        }
        bench.ring_jobs();
    }
    bench.settle(10_000_000).expect("a card");
    let done = bench
        .read(weft_layout::PORT_REGISTERS + weft_layout::reg::JOB_DONE)
        .expect("a card");
    assert_eq!(done as usize, JOBS);
    let sent = sent(&mut bench);
    for port in [4001, 4002] {
        check(&sent[&port], &[], PACK);
    }
}
