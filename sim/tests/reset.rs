//! A reset in the middle of everything: the buses outside live on and answer late, nothing of before shows up afterwards, and the
//! card works. `WEFT_RESET_SEEDS` asks for more than the usual few.

use rand::Rng;
use weft_layout::{
    doorbell, fpdu_verdict, job_kind, job_status, reg, report_kind, table, AttachRow, Counter,
    FlowRxRow, FlowTxRow, FpduReport, Job, JobReport, ReceiveElement, StagRow, NUM_COUNTERS,
};
use weft_sim::bench::{Bench, Ends, Region, Rings, STATION};
use weft_sim::card::Card;
use weft_sim::link::LinkConfig;
use weft_sim::model::{ethernet, mpa, ModelCard, Sizes};
use weft_sim::seed::{generator, Stream};

const FLOWS: u16 = 3;
const PD: u32 = 7;
const STAG: u32 = 0x0000_05a5;
const BASE: u64 = 0x1_0000_0000;
const SEQ: u32 = 1000;
const RESET: u32 = 1 << 31;
const RESETTING: u32 = 8;
const CAPTURE_LOG2: u32 = 5;
const CAPTURE_SLOT_LOG2: u32 = 9;

struct Subject {
    bench: Bench,
    source: Region,
    sink: Region,
    queue: Region,
    capture: Region,
}

fn pattern(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251 + salt) as u8).collect()
}

impl Subject {
    fn new(card: Box<dyn Card>, seed: u64, rings: Rings) -> Self {
        let mut bench = Bench::new(card, seed, LinkConfig::default(), rings).unwrap();
        let [source, sink, queue] = [1 << 16, 1 << 16, 4096].map(|len| bench.region(len));
        let capture = bench.region(1 << (CAPTURE_LOG2 + CAPTURE_SLOT_LOG2));
        source.write(0, &pattern(1 << 16, 0)).unwrap();
        let mut subject = Self {
            bench,
            source,
            sink,
            queue,
            capture,
        };
        subject.tables();
        subject
    }

    fn tables(&mut self) {
        let stag = StagRow {
            valid: StagRow::VALID,
            key: STAG as u8,
            access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
            pd: PD,
            base: BASE,
            length: 1 << 16,
            iova: self.sink.iova,
        };
        self.bench.stag(STAG, &stag).unwrap();
        for slot in 0..4 {
            let element = ReceiveElement {
                sge0_to: BASE + 0x8000 + 0x1000 * slot,
                sge0_length: 0x1000,
                sge0_stag: STAG,
                ..ReceiveElement::default()
            };
            self.queue
                .write(64 * slot as usize, &element.to_bytes())
                .unwrap();
        }
        for flow in 0..FLOWS {
            let ends = Ends::of(flow);
            let rx = FlowRxRow {
                flags: FlowRxRow::CRC | FlowRxRow::VALID,
                rq_log2: 2,
                pd: PD,
                rq_base: self.queue.iova,
                ..FlowRxRow::default()
            };
            let attach = AttachRow {
                attached: AttachRow::ATTACHED,
                rcv_nxt: SEQ,
                msn: 1,
                ..AttachRow::default()
            };
            self.bench
                .flow(
                    flow,
                    &ends,
                    &rx,
                    &ends.tx(FlowTxRow::CRC | FlowTxRow::VALID, 0),
                    &attach,
                )
                .unwrap();
            self.bench.ring(doorbell::RQ_TAIL + 4 * u32::from(flow), 4);
        }
    }

    fn capture(&mut self) {
        for (register, value) in [
            (reg::CAPTURE_BASE_LO, self.capture.iova as u32),
            (reg::CAPTURE_BASE_HI, (self.capture.iova >> 32) as u32),
            (reg::CAPTURE_LOG2, CAPTURE_SLOT_LOG2 | CAPTURE_LOG2 << 8),
            (reg::CAPTURE_CTRL, 3 | 300 << 16),
        ] {
            self.bench.write(register, value);
        }
    }

    fn message(&self, flow: u16, seq: u32, length: u32) -> Job {
        Job {
            kind: job_kind::MESSAGE,
            flags: Job::TAGGED | Job::LAST | Job::NOTIFY,
            flow,
            length,
            seq,
            stag_or_qn: 0x0b1d_0000,
            fpdu_payload: 1400,
            rdmap_control: 0x40,
            sge_count: 1,
            sge0_iova: self.source.iova + 5,
            sge0_length: length,
            ..Job::default()
        }
    }

    /// A segment with a tagged FPDU of the peer's.
    fn write_segment(&self, flow: u16, seq: u32, to: u64, payload: &[u8]) -> Vec<u8> {
        let mut ulpdu = vec![0xc1, 0x40];
        ulpdu.extend(STAG.to_be_bytes());
        ulpdu.extend(to.to_be_bytes());
        ulpdu.extend(payload);
        let fpdu = mpa::frame(seq, None, true, &ulpdu);
        ethernet::segment(
            &Ends::of(flow).peer_tx(FlowTxRow::VALID, 0),
            &Job::default(),
            seq,
            0x10,
            9,
            &fpdu,
        )
    }

    /// All memory that the card can write.
    fn image(&self) -> Vec<Vec<u8>> {
        let mut image: Vec<_> = self.bench.rings().into();
        for region in [&self.sink, &self.capture, &self.queue, &self.source] {
            image.push(region.read(0, region.len()).unwrap());
        }
        image
    }
}

/// What a seed has to do with it.
fn traffic(subject: &mut Subject, rng: &mut impl Rng) {
    let mut seqs = [SEQ; FLOWS as usize];
    if rng.random_ratio(1, 2) {
        subject.capture();
    }
    for _ in 0..rng.random_range(0..30) {
        let flow = rng.random_range(0..FLOWS);
        let job = match rng.random_range(0..3) {
            0 => {
                let length = rng.random_range(60..1500);
                Job {
                    kind: job_kind::RAW_FRAME,
                    flags: Job::NOTIFY,
                    length,
                    sge_count: 1,
                    sge0_iova: subject.source.iova + rng.random_range(0..64),
                    sge0_length: length,
                    ..Job::default()
                }
            }
            _ => {
                let length = rng.random_range(0..9000);
                subject.message(flow, 1, length)
            }
        };
        subject.bench.post(&job, &[]);
    }
    subject.bench.ring_jobs();
    for _ in 0..rng.random_range(0..30) {
        let flow = rng.random_range(0..FLOWS);
        let payload = pattern(rng.random_range(1..1400), flow.into());
        let to = BASE + rng.random_range(0..0x4000);
        let seq = &mut seqs[usize::from(flow)];
        let frame = subject.write_segment(flow, *seq, to, &payload);
        *seq += 2 + 14 + (payload.len() as u32).next_multiple_of(4) + 4;
        subject.bench.inject(frame);
        if rng.random_ratio(1, 4) {
            let mut frame = vec![0xee; rng.random_range(60..1500)];
            frame[..6].copy_from_slice(&STATION);
            subject.bench.inject(frame);
        }
    }
    if rng.random_ratio(1, 2) {
        let cycles = rng.random_range(0..100);
        subject.bench.world.run_cycles(cycles).unwrap();
        subject.bench.reports();
    }
    let cycles = rng.random_range(0..1500);
    subject.bench.world.run_cycles(cycles).unwrap();
    // Accesses that nobody waits for.
    for _ in 0..rng.random_range(0..4) {
        let index = u32::from(rng.random_range(0..FLOWS));
        let number = [table::FLOW_RX, table::ATTACH, table::FLOW_TX][rng.random_range(0..3)];
        let command = rng.random_range(1..3) << 28 | u32::from(number) << 24 | index;
        subject.bench.write(reg::TABLE_CMD, command);
    }
    let cycles = rng.random_range(0..12);
    subject.bench.world.run_cycles(cycles).unwrap();
}

fn reset(subject: &mut Subject, soft: bool) {
    if !soft {
        subject.bench.world.reset(0);
        return;
    }
    subject.bench.write(reg::CTRL, RESET | 3);
    subject.bench.write(reg::SCRATCH, 0x1234);
    for _ in 0..5000 {
        if subject.bench.read(reg::STATUS).unwrap() & RESETTING == 0 {
            return;
        }
        assert_eq!(subject.bench.read(reg::ID).unwrap(), reg::ID_RESET);
    }
    panic!("the reset does not end");
}

/// Nothing of before is there, and nothing of it comes.
fn as_after_power_on(subject: &mut Subject) {
    subject.bench.world.take_interrupt(0, 0);
    let image = subject.image();
    // The tables clear themselves, a row a cycle.
    let rows = 1u64 << (subject.bench.read(reg::CAPS).unwrap() >> 16 & 0xff);
    subject.bench.world.run_cycles(2000 + rows).unwrap();
    assert!(
        subject.image() == image,
        "memory has changed after the reset"
    );
    assert!(!subject.bench.world.take_interrupt(0, 0), "an interrupt");
    for (name, register, value) in [
        ("CTRL", reg::CTRL, 0),
        ("STATUS", reg::STATUS, 1),
        ("JOB_LOG2", reg::JOB_LOG2, 0),
        ("JOB_BASE_LO", reg::JOB_BASE_LO, 0),
        ("JOB_DONE", reg::JOB_DONE, 0),
        ("REPORT_BASE_LO", reg::REPORT_BASE_LO, 0),
        ("REPORT_LOG2", reg::REPORT_LOG2, 0),
        ("REPORT_TAIL", reg::REPORT_TAIL, 0),
        ("RAW_LOG2", reg::RAW_LOG2, 0),
        ("RAW_TAIL", reg::RAW_TAIL, 0),
        ("MAC_HI", reg::MAC_HI, 0),
        ("MSIX_COUNT", reg::MSIX_COUNT, 0),
        ("TRACE_CTRL", reg::TRACE_CTRL, reg::TRACE_CTRL_RESET),
        ("CAPTURE_CTRL", reg::CAPTURE_CTRL, 0),
        ("CAPTURE_TAIL", reg::CAPTURE_TAIL, 0),
        ("MTU", reg::MTU, reg::MTU_RESET),
    ] {
        assert_eq!(subject.bench.read(register).unwrap(), value, "{name}");
    }
    for counter in Counter::ALL.into_iter().take(NUM_COUNTERS) {
        let value = subject.bench.counter(counter).unwrap();
        match counter {
            Counter::Resets => assert_eq!(value, 1, "{counter:?}"),
            // What still came from the wire.
            Counter::RxFrames | Counter::RxBytes | Counter::RxDropDisabled => {}
            _ => assert_eq!(value, 0, "{counter:?}"),
        }
    }
    for flow in 0..FLOWS {
        for number in [table::FLOW_RX, table::ATTACH, table::FLOW_TX] {
            let row = subject.bench.read_table(number, flow.into()).unwrap();
            assert_eq!(row, Some([0; 64]), "table {number}, flow {flow}");
        }
    }
    let row = subject.bench.read_table(table::STAG, STAG >> 8).unwrap();
    assert_eq!(row.map(|r| r[0]), Some(0), "STAG");
}

/// It sends, receives and places.
fn works(subject: &mut Subject) {
    subject.bench.start_again().unwrap();
    subject.tables();
    subject.bench.sent();
    let job = subject.message(1, 77, 3000);
    subject.bench.post(&job, &[]);
    subject.bench.ring_jobs();
    let payload = pattern(900, 99);
    let frame = subject.write_segment(2, SEQ, BASE + 0x4001, &payload);
    subject.bench.inject(frame);
    subject.bench.settle(1_000_000).unwrap();
    let sent = subject.bench.sent();
    assert_eq!(sent.len(), 3, "frames of the job");
    let (mut jobs, mut placed) = (0, 0);
    for (report, _) in subject.bench.reports() {
        match report[0] {
            report_kind::FPDU => {
                let report = FpduReport::from_bytes(&report);
                assert_eq!(
                    (report.verdict, report.payload_len),
                    (fpdu_verdict::PLACED, 900)
                );
                placed += 1;
            }
            report_kind::JOB => {
                let report = JobReport::from_bytes(&report);
                assert_eq!((report.status, report.job), (job_status::DONE, 0));
                jobs += 1;
            }
            kind => assert_eq!(kind, report_kind::SEGMENT),
        }
    }
    assert_eq!((jobs, placed), (1, 1));
    assert!(subject.sink.read(0x4001, 900).unwrap() == payload);
}

/// What can be seen of a run from outside: the frames up to the reset with their times, memory then and at the end, the time.
#[derive(PartialEq)]
struct Outside {
    frames: Vec<(u64, Vec<u8>)>,
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
    now: u64,
}

fn run(name: &str, card: Box<dyn Card>, seed: u64) -> Outside {
    let mut rng = generator(seed, Stream::Application);
    let rings = Rings {
        report: [2, 4, 8][rng.random_range(0..3)],
        raw: [2, 5][rng.random_range(0..2)],
        ..Rings::default()
    };
    let soft = rng.random_ratio(1, 2);
    eprintln!("{name}: seed {seed}, soft {soft}, {rings:?}");
    let mut subject = Subject::new(card, seed, rings);
    traffic(&mut subject, &mut rng);
    let sent = subject.bench.sent();
    let frames = sent
        .into_iter()
        .map(|seen| (seen.time, seen.frame))
        .collect();
    let before = subject.image();
    reset(&mut subject, soft);
    let scratch = subject.bench.read(reg::SCRATCH).unwrap();
    assert!(scratch == 0 || soft, "SCRATCH {scratch:#x}");
    as_after_power_on(&mut subject);
    works(&mut subject);
    Outside {
        frames,
        before,
        after: subject.image(),
        now: subject.bench.world.now(),
    }
}

fn seeds(usual: u64) -> std::ops::Range<u64> {
    // Environment (tests): `WEFT_RESET_SEEDS`: resets of the RTL at any moment: how many seeds. Without it: a few.
    let asked = std::env::var("WEFT_RESET_SEEDS").ok();
    0..asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn model() {
    for seed in seeds(20) {
        run("model", Box::new(ModelCard::new(Sizes::default())), seed);
    }
}

#[cfg(rtl)]
#[test]
fn rtl512() {
    for seed in seeds(20) {
        run("rtl512", Box::new(weft_sim::rtl::any512(seed, 0)), seed);
    }
}

#[cfg(rtl)]
#[test]
fn rtl256() {
    for seed in seeds(4) {
        run("rtl256", Box::new(weft_sim::rtl::any256(seed, 0)), seed);
    }
}

#[cfg(rtl)]
#[test]
fn rtl128() {
    for seed in seeds(20) {
        run("rtl128", Box::new(weft_sim::rtl::any128(seed, 0)), seed);
    }
}

/// A reset ends in the middle of a frame from the MAC: what is left of it is no frame.
#[cfg(rtl)]
#[test]
fn half_a_frame_is_no_frame() {
    let cards: [Box<dyn Card>; 2] = [
        Box::new(weft_sim::rtl::card512(1, 0)),
        Box::new(weft_sim::rtl::card128(1, 0)),
    ];
    for mut subject in cards.map(|card| Subject::new(card, 1, Rings::default())) {
        for cycles in 0..20 {
            let before = subject.bench.counter(Counter::Resets).unwrap();
            subject.bench.world.deliver(0, vec![0xee; 9000], false);
            subject.bench.world.run_cycles(cycles).unwrap();
            reset(&mut subject, true);
            subject.bench.settle(1_000_000).unwrap();
            let counts = [Counter::RxFrames, Counter::RxBytes, Counter::Resets]
                .map(|counter| subject.bench.counter(counter).unwrap());
            assert_eq!(counts, [0, 0, before + 1], "reset after {cycles} cycles");
        }
    }
}

/// Whatever registers and memories held before the first reset: the same bytes, at the same time.
#[cfg(rtl)]
#[test]
fn nothing_depends_on_the_state_before_the_first_reset() {
    use weft_sim::rtl;
    for seed in seeds(6) {
        let started = |start| {
            let (own, around) = rtl::any(seed, 0);
            let start = Some(rtl_sim::Seed(start));
            (own, rtl::Surroundings { start, ..around })
        };
        let wide = |start| {
            let (own, around) = started(start);
            Box::new(rtl::Rtl512::new(own, around))
        };
        assert!(
            run("rtl512", wide(1), seed) == run("rtl512", wide(2), seed),
            "rtl512, seed {seed}"
        );
        let narrow = |start| {
            let (own, around) = started(start);
            Box::new(rtl::Rtl128::new(own, around))
        };
        assert!(
            run("rtl128", narrow(1), seed) == run("rtl128", narrow(2), seed),
            "rtl128, seed {seed}"
        );
    }
}
