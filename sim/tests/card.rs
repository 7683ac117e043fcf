//! What a card does with jobs and frames, checked on every kind of card.

use weft_layout::reg::{Ctrl, Status};
use weft_layout::{
    fpdu_verdict, job_kind, job_status, reg, replay_outcome, report_kind, table, AttachRow,
    Counter, FlowRxRow, FlowTxRow, FpduReport, Job, JobReport, ReceiveElement, ReplayJob,
    ReplayReport, SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::card::Card;
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::ethernet::{self, Parsed};
use weft_sim::model::mpa;

const FLOW: u16 = 3;
const PD: u32 = 7;
const SEQ: u32 = 1000;
const STAG: u32 = 0x0000_05a5;
const SINK: u32 = 0x0000_0611;
/// Of another protection domain, and else as `STAG` is.
const FOREIGN: u32 = 0x0000_0822;
const BASE: u64 = 0x1_0000_0000;

fn each_kind(test: impl Fn(&mut Setup)) {
    for kind in CardKind::available() {
        eprintln!("card: {kind}");
        let mut setup = Setup::new(kind.build(1, 0));
        test(&mut setup);
        let faults = setup.bench.world.iommu(0).take_faults();
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// A card with one flow, three regions and a receive queue with two elements.
struct Setup {
    bench: Bench,
    memory: Region,
    ends: Ends,
    _rq: Region,
}

impl Setup {
    fn new(card: Box<dyn Card>) -> Self {
        Self::with(card, FlowRxRow::CRC | FlowRxRow::VALID, 0)
    }

    fn with(card: Box<dyn Card>, flags: u8, marker_base: u32) -> Self {
        let mut bench = Bench::new(card, 1, LinkConfig::default(), Rings::default()).unwrap();
        let memory = bench.region(1 << 16);
        let rq = bench.region(4096);
        let ends = Ends::of(FLOW);
        let stag = StagRow {
            valid: StagRow::VALID,
            key: 0xa5,
            access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
            pd: PD,
            base: BASE,
            length: 10_000,
            iova: memory.iova + 3,
        };
        bench.stag(STAG, &stag).unwrap();
        bench
            .stag(
                SINK,
                &StagRow {
                    key: 0x11,
                    access: StagRow::READ_SINK,
                    base: 0,
                    iova: memory.iova + 20_000,
                    ..stag
                },
            )
            .unwrap();
        let foreign = StagRow {
            key: 0x22,
            pd: PD ^ 1,
            ..stag
        };
        bench.stag(FOREIGN, &foreign).unwrap();
        for slot in 0..2 {
            let at = BASE + 5000 + 1000 * slot;
            let e = ReceiveElement {
                sge0_to: at,
                sge0_length: 33,
                sge0_stag: STAG,
                sge1_to: at + 100,
                sge1_length: 67,
                sge1_stag: STAG,
                ..ReceiveElement::default()
            };
            rq.write(64 * slot as usize, &e.to_bytes()).unwrap();
        }
        let rx = FlowRxRow {
            // What comes is not what is sent: it has no timestamps.
            flags: flags & !FlowRxRow::TIMESTAMPS,
            rq_log2: 2,
            pd: PD,
            marker_base,
            rq_base: rq.iova,
            ..FlowRxRow::default()
        };
        let attach = AttachRow {
            attached: AttachRow::ATTACHED,
            rcv_nxt: SEQ,
            msn: 1,
            mo: 0,
            ..AttachRow::default()
        };
        bench
            .flow(FLOW, &ends, &rx, &ends.tx(flags, marker_base), &attach)
            .unwrap();
        bench.ring(weft_layout::doorbell::RQ_TAIL + 4 * u32::from(FLOW), 2);
        bench.sent();
        Self {
            bench,
            memory,
            ends,
            _rq: rq,
        }
    }

    fn segment(&self, seq: u32, payload: &[u8]) -> Vec<u8> {
        ethernet::segment(
            &self.ends.peer_tx(FlowTxRow::VALID, 0),
            &Job::default(),
            seq,
            0x10,
            9,
            payload,
        )
    }

    /// Sends a segment and answers its FPDU reports and its own.
    fn deliver(&mut self, seq: u32, payload: &[u8]) -> (Vec<FpduReport>, SegmentReport) {
        self.bench.inject(self.segment(seq, payload));
        self.bench.settle(100_000).unwrap();
        let mut fpdus = Vec::new();
        let mut reports = self.bench.reports();
        let (last, raw) = reports.pop().expect("a report");
        for (report, _) in reports {
            assert_eq!(report[0], report_kind::FPDU);
            fpdus.push(FpduReport::from_bytes(&report));
        }
        assert_eq!(last[0], report_kind::SEGMENT);
        let segment = SegmentReport::from_bytes(&last);
        assert_eq!(segment.flow, FLOW);
        if segment.raw() {
            assert_eq!(raw.as_deref(), Some(&self.segment(seq, payload)[..]));
        }
        (fpdus, segment)
    }
}

fn tagged(opcode: u8, stag: u32, to: u64, payload: &[u8]) -> Vec<u8> {
    let mut u = vec![0xc1, 0x40 | opcode];
    u.extend_from_slice(&stag.to_be_bytes());
    u.extend_from_slice(&to.to_be_bytes());
    u.extend_from_slice(payload);
    u
}

fn untagged(opcode: u8, qn: u32, msn: u32, mo: u32, last: bool, payload: &[u8]) -> Vec<u8> {
    let mut u = vec![if last { 0x41 } else { 1 }, 0x40 | opcode, 0, 0, 0, 0];
    for word in [qn, msn, mo] {
        u.extend_from_slice(&word.to_be_bytes());
    }
    u.extend_from_slice(payload);
    u
}

fn fpdu(ulpdu: &[u8]) -> Vec<u8> {
    mpa::frame(SEQ, None, true, ulpdu)
}

#[test]
fn writes_are_placed() {
    each_kind(|s| {
        let mut seq = SEQ;
        for (i, len) in [0usize, 1, 2, 63, 64, 65, 500, 1400]
            .into_iter()
            .enumerate()
        {
            let data: Vec<u8> = (0..len).map(|b| (b * 3 + i) as u8).collect();
            let at = 17 * i;
            let stream = fpdu(&tagged(0, STAG, BASE + at as u64, &data));
            let (fpdus, report) = s.deliver(seq, &stream);
            assert_eq!(
                (fpdus.len(), fpdus[0].verdict, fpdus[0].payload_len),
                (1, fpdu_verdict::PLACED, len as u32)
            );
            assert_eq!(
                (report.flags, report.done_len),
                (SegmentReport::ATTACHED, stream.len() as u16)
            );
            assert_eq!(s.memory.read(3 + at, len).unwrap(), data);
            seq += stream.len() as u32;
        }
        assert_eq!(s.bench.counter(Counter::RxFpdusPlaced).unwrap(), 8);
        assert_eq!(s.bench.counter(Counter::RxSegmentsPlaced).unwrap(), 8);
    });
}

#[test]
fn sends_are_scattered() {
    each_kind(|s| {
        let data: Vec<u8> = (1..=100).collect();
        // Two FPDUs in one segment, the cut inside the first SGE.
        let first = fpdu(&untagged(3, 0, 1, 0, false, &data[..20]));
        let second = fpdu(&untagged(3, 0, 1, 20, true, &data[20..]));
        let (fpdus, report) = s.deliver(SEQ, &[first.clone(), second.clone()].concat());
        assert_eq!(
            fpdus.iter().map(|f| f.verdict).collect::<Vec<_>>(),
            [fpdu_verdict::PLACED; 2]
        );
        assert_eq!(usize::from(fpdus[1].offset), first.len());
        assert_eq!(usize::from(report.done_len), first.len() + second.len());
        assert_eq!(s.memory.read(3 + 5000, 33).unwrap(), data[..33]);
        assert_eq!(s.memory.read(3 + 5100, 67).unwrap(), data[33..]);
        let position = AttachRow::from_bytes(
            &s.bench
                .read_table(table::ATTACH, FLOW.into())
                .unwrap()
                .unwrap(),
        );
        assert_eq!((position.msn, position.mo, position.attached), (2, 0, 1));
    });
}

#[test]
fn each_error_has_its_terminate_code_and_places_nothing() {
    let word = |at: usize, value: u8, mut u: Vec<u8>| {
        u[at] = value;
        u
    };
    let write = |to: u64| tagged(0, STAG, to, &[9; 16]);
    let send = |qn, msn, mo| untagged(3, qn, msn, mo, true, &[9; 16]);
    let cases: Vec<(&str, Vec<u8>, u16, Counter)> = vec![
        (
            "short tagged",
            vec![0xc1, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            0x1000,
            Counter::RxErrorUlpdu,
        ),
        (
            "short untagged",
            vec![0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            0x1000,
            Counter::RxErrorUlpdu,
        ),
        ("empty", vec![], 0x1000, Counter::RxErrorUlpdu),
        ("one byte", vec![0xc1], 0x1000, Counter::RxErrorUlpdu),
        (
            "tagged version",
            word(0, 0xc2, write(BASE)),
            0x1104,
            Counter::RxErrorDdpVersion,
        ),
        (
            "untagged version",
            word(0, 0x40, send(0, 1, 0)),
            0x1206,
            Counter::RxErrorDdpVersion,
        ),
        (
            "RDMAP version",
            word(1, 0x80, write(BASE)),
            0x0205,
            Counter::RxErrorRdmapVersion,
        ),
        (
            "tagged opcode",
            tagged(3, STAG, BASE, &[9; 16]),
            0x0206,
            Counter::RxErrorOpcode,
        ),
        (
            "send opcode",
            untagged(7, 0, 1, 0, true, &[]),
            0x0206,
            Counter::RxErrorOpcode,
        ),
        (
            "request opcode",
            untagged(3, 1, 1, 0, true, &[]),
            0x0206,
            Counter::RxErrorOpcode,
        ),
        (
            "terminate opcode",
            untagged(1, 2, 1, 0, true, &[]),
            0x0206,
            Counter::RxErrorOpcode,
        ),
        (
            "atomic opcode",
            untagged(0xa, 3, 1, 0, true, &[]),
            0x0206,
            Counter::RxErrorOpcode,
        ),
        ("queue", send(4, 1, 0), 0x1201, Counter::RxErrorQn),
        ("MSN", send(0, 2, 0), 0x1203, Counter::RxErrorMsn),
        ("MO", send(0, 1, 4), 0x1204, Counter::RxErrorMo),
        (
            "too long",
            untagged(3, 0, 1, 0, true, &[9; 101]),
            0x1205,
            Counter::RxErrorTooLong,
        ),
        (
            "STag key",
            tagged(0, STAG ^ 1, BASE, &[9; 16]),
            0x1100,
            Counter::RxErrorStag,
        ),
        (
            "STag not valid",
            tagged(0, 0x700, BASE, &[9; 16]),
            0x1100,
            Counter::RxErrorStag,
        ),
        (
            "STag 0",
            tagged(0, 0, BASE, &[9; 16]),
            0x1100,
            Counter::RxErrorStag,
        ),
        (
            "STag index",
            tagged(0, 0xffff_ffa5, BASE, &[9; 16]),
            0x1100,
            Counter::RxErrorStag,
        ),
        (
            "another domain",
            tagged(0, FOREIGN, BASE, &[9; 16]),
            0x1102,
            Counter::RxErrorPd,
        ),
        ("wrap", write(u64::MAX - 8), 0x1103, Counter::RxErrorWrap),
        (
            "access",
            tagged(0, SINK, 0, &[9; 16]),
            0x0102,
            Counter::RxErrorAccess,
        ),
        (
            "Read sink",
            tagged(2, STAG, BASE, &[9; 16]),
            0x0102,
            Counter::RxErrorAccess,
        ),
        ("below", write(BASE - 1), 0x1101, Counter::RxErrorBounds),
        (
            "above",
            write(BASE + 10_000 - 15),
            0x1101,
            Counter::RxErrorBounds,
        ),
    ];
    for (name, ulpdu, code, counter) in cases {
        each_kind(|s| {
            let before = s.memory.read(0, s.memory.len()).unwrap();
            // A good FPDU first: it is placed, and the error stops the walk behind it.
            let good = fpdu(&tagged(0, STAG, BASE, &[]));
            let stream = [good.clone(), fpdu(&ulpdu), good.clone()].concat();
            let (fpdus, report) = s.deliver(SEQ, &stream);
            assert_eq!(fpdus.len(), 2, "{name}");
            assert_eq!(
                (fpdus[1].verdict, fpdus[1].terminate),
                (fpdu_verdict::ERROR, code),
                "{name}: {:04x}",
                fpdus[1].terminate
            );
            assert_eq!(report.flags, SegmentReport::RAW, "{name}");
            assert_eq!(usize::from(report.done_len), good.len(), "{name}");
            assert_eq!(s.bench.counter(counter).unwrap(), 1, "{name}");
            assert_eq!(
                s.memory.read(0, s.memory.len()).unwrap(),
                before,
                "{name}: memory was written"
            );
        });
    }
}

#[test]
fn no_element_is_an_error() {
    each_kind(|s| {
        let mut seq = SEQ;
        for msn in 1..=3 {
            let stream = fpdu(&untagged(3, 0, msn, 0, true, &[1; 4]));
            let (fpdus, _) = s.deliver(seq, &stream);
            assert_eq!(fpdus[0].terminate, if msn == 3 { 0x1202 } else { 0 });
            seq += stream.len() as u32;
        }
    });
}

#[test]
fn a_wrong_crc_places_nothing() {
    each_kind(|s| {
        let mut stream = fpdu(&tagged(0, STAG, BASE, &[9; 64]));
        let at = stream.len() - 1;
        stream[at] ^= 0x80;
        let (fpdus, report) = s.deliver(SEQ, &stream);
        assert_eq!(
            (fpdus[0].verdict, fpdus[0].terminate),
            (fpdu_verdict::ERROR, 0x2002)
        );
        assert_eq!((report.flags, report.done_len), (SegmentReport::RAW, 0));
        assert_eq!(s.memory.read(0, 100).unwrap(), [0; 100]);
    });
}

#[test]
fn attach_protocol() {
    each_kind(|s| {
        let one = fpdu(&tagged(0, STAG, BASE, &[5; 40]));
        let len = one.len() as u32;
        // Cut inside: the front is partial and goes up raw, and all behind it too.
        let (fpdus, report) = s.deliver(SEQ, &one[..30]);
        assert_eq!((fpdus.len(), report.flags, report.done_len), (0, 1, 0));
        let (_, report) = s.deliver(SEQ + 30, &one[30..]);
        assert_eq!(report.flags, SegmentReport::RAW);
        let mut row = AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen: 1,
            rcv_nxt: SEQ + len,
            msn: 1,
            mo: 0,
            ..AttachRow::default()
        };
        assert!(!s
            .bench
            .write_table(table::ATTACH, FLOW.into(), &row.to_bytes())
            .unwrap());
        row.raw_seen = 2;
        assert!(s
            .bench
            .write_table(table::ATTACH, FLOW.into(), &row.to_bytes())
            .unwrap());
        // Old data, then new, then a gap.
        let (fpdus, report) = s.deliver(SEQ, &one);
        assert_eq!(
            (fpdus.len(), report.flags),
            (0, SegmentReport::ATTACHED | SegmentReport::DUPLICATE)
        );
        let (fpdus, report) = s.deliver(SEQ + len, &one);
        assert_eq!((fpdus.len(), report.flags), (1, SegmentReport::ATTACHED));
        let (fpdus, report) = s.deliver(SEQ + 3 * len, &one);
        assert_eq!((fpdus.len(), report.flags), (0, SegmentReport::RAW));
        assert_eq!(s.bench.counter(Counter::RxDetachGap).unwrap(), 1);
        assert_eq!(s.bench.counter(Counter::RxDetachPartial).unwrap(), 1);
        assert_eq!(s.bench.counter(Counter::RxAttachRefused).unwrap(), 1);
    });
}

#[test]
fn queue_1_goes_to_the_engine_and_the_flow_stays() {
    each_kind(|s| {
        let read = fpdu(&untagged(1, 1, 1, 0, true, &[0; 28]));
        let (fpdus, report) = s.deliver(SEQ, &read);
        assert_eq!(
            (fpdus[0].verdict, fpdus[0].payload_len),
            (fpdu_verdict::ENGINE, 28)
        );
        assert_eq!(
            (report.flags, usize::from(report.done_len)),
            (SegmentReport::RAW | SegmentReport::ATTACHED, read.len())
        );
    });
}

#[test]
fn other_frames_and_drops() {
    each_kind(|s| {
        let mut arp = vec![0xff; 6];
        arp.extend_from_slice(&[2, 0, 0, 0, 0, 2, 8, 6]);
        arp.resize(60, 7);
        s.bench.inject(arp.clone());
        let good = s.segment(SEQ, &[]);
        let flip = |at: usize| {
            let mut f = good.clone();
            f[at] ^= 1;
            f
        };
        for at in [5, 14 + 12, 14 + 20 + 5] {
            s.bench.inject(flip(at));
        }
        s.bench.inject(vec![2; 9100]);
        s.bench.settle(100_000).unwrap();
        let reports = s.bench.reports();
        assert_eq!(reports.len(), 1);
        assert_eq!(
            (reports[0].0[0], reports[0].1.as_deref()),
            (report_kind::FRAME, Some(&arp[..]))
        );
        use Counter::*;
        for (counter, count) in [
            (RxFrames, 5),
            (RxRawFrames, 1),
            (RxDropMac, 1),
            (RxDropIpChecksum, 1),
            (RxDropTcpChecksum, 1),
            (RxDropOversize, 1),
        ] {
            assert_eq!(
                s.bench.counter(counter).unwrap(),
                count,
                "{}",
                counter.name()
            );
        }
    });
}

#[test]
fn messages_are_segmented_and_come_back_whole() {
    const MARKERS: u8 = FlowTxRow::MARKERS;
    const CRC: u8 = FlowTxRow::CRC;
    const VALID: u8 = FlowTxRow::VALID;
    const TIMESTAMPS: u8 = FlowTxRow::TIMESTAMPS;
    for kind in CardKind::available() {
        for (flags, base) in [
            (CRC | VALID, 0),
            (VALID, 0),
            (MARKERS | CRC | VALID, SEQ),
            (
                MARKERS | CRC | VALID | TIMESTAMPS,
                SEQ.wrapping_sub(300 * 4),
            ),
        ] {
            let mut s = Setup::with(kind.build(1, 0), flags, base);
            let data: Vec<u8> = (0..5000u32).map(|i| (i * 7) as u8).collect();
            s.memory.write(30_000, &data).unwrap();
            let job = Job {
                kind: job_kind::MESSAGE,
                flags: Job::TAGGED | Job::LAST | Job::NOTIFY,
                flow: FLOW,
                seq: SEQ,
                ack: 77,
                window: 1234,
                tcp_flags: 0x18,
                sge_count: 2,
                length: 5000,
                fpdu_payload: 1401,
                rdmap_control: 0x40,
                stag_or_qn: STAG,
                to_or_mo: BASE + 11,
                sge0_iova: s.memory.iova + 30_000,
                sge0_length: 1403,
                sge1_iova: s.memory.iova + 31_403,
                sge1_length: 3597,
                ..Job::default()
            };
            s.bench.post(&job, &[]);
            s.bench.ring_jobs();
            s.bench.settle(1_000_000).unwrap();
            let reports = s.bench.reports();
            let report = JobReport::from_bytes(&reports.first().expect("a done report").0);
            assert_eq!(
                (
                    reports.len(),
                    report.kind,
                    report.status,
                    report.job,
                    report.job_done
                ),
                (1, report_kind::JOB, job_status::DONE, 0, 1)
            );
            let frames = s.bench.sent();
            assert_eq!(frames.len(), 4);
            let mut seq = SEQ;
            for (i, frame) in frames.iter().enumerate() {
                let Parsed::Tcp(t) = ethernet::parse(&frame.frame) else {
                    panic!("{kind}: frame {i} is wrong")
                };
                assert_eq!((t.seq, t.ack, t.window), (seq, 77, 1234));
                assert_eq!(t.flags, if i == 3 { 0x18 } else { 0x10 });
                let stream = frame.frame[t.offset..].to_vec();
                let (fpdus, report) = s.deliver(seq, &stream);
                assert_eq!(
                    (fpdus.len(), fpdus[0].verdict),
                    (1, fpdu_verdict::PLACED),
                    "{kind} flags {flags}: {:04x}",
                    fpdus[0].terminate
                );
                assert_eq!(usize::from(report.done_len), stream.len());
                seq += stream.len() as u32;
            }
            assert_eq!(s.memory.read(3 + 11, 5000).unwrap(), data);
        }
    }
}

#[test]
fn bad_jobs_are_reported_and_the_ring_goes_on() {
    const MALFORMED: u8 = job_status::MALFORMED;
    for kind in CardKind::available() {
        let mut s = Setup::new(kind.build(1, 0));
        let good = Job {
            kind: job_kind::SEGMENT,
            flags: Job::INLINE_PAYLOAD,
            flow: FLOW,
            length: 3,
            tcp_flags: 0x10,
            ..Job::default()
        };
        let at = s.memory.iova;
        let bad = [
            (Job { kind: 9, ..good }, MALFORMED),
            (Job { flow: 4, ..good }, MALFORMED),
            (Job { length: 65, ..good }, MALFORMED),
            (
                Job {
                    flags: 0,
                    sge_count: 1,
                    sge0_iova: at,
                    sge0_length: 4,
                    ..good
                },
                MALFORMED,
            ),
            (
                Job {
                    flags: 0,
                    sge_count: 5,
                    length: 0,
                    ..good
                },
                MALFORMED,
            ),
            (
                Job {
                    flags: 0,
                    sge_count: 1,
                    sge0_iova: 0x1000,
                    sge0_length: 3,
                    ..good
                },
                job_status::READ_ERROR,
            ),
            (
                Job {
                    kind: job_kind::RAW_FRAME,
                    length: 13,
                    ..good
                },
                MALFORMED,
            ),
        ];
        for (job, _) in bad {
            s.bench.post(&job, b"abc");
            s.bench.post(&good, b"abc");
        }
        s.bench.ring_jobs();
        s.bench.settle(1_000_000).unwrap();
        let reports: Vec<_> = s
            .bench
            .reports()
            .iter()
            .map(|r| JobReport::from_bytes(&r.0))
            .collect();
        let expected: Vec<_> = bad
            .iter()
            .enumerate()
            .map(|(i, (_, status))| (2 * i as u32, *status))
            .collect();
        assert_eq!(
            reports
                .iter()
                .map(|r| (r.job, r.status))
                .collect::<Vec<_>>(),
            expected,
            "{kind}"
        );
        let frames = s.bench.sent();
        assert_eq!(frames.len(), bad.len(), "{kind}");
        for frame in frames {
            let Parsed::Tcp(t) = ethernet::parse(&frame.frame) else {
                panic!("a frame is wrong")
            };
            assert_eq!(&frame.frame[t.offset..t.offset + t.len], b"abc");
        }
        assert_eq!(s.bench.world.iommu(0).take_faults().len(), 1, "{kind}");
        assert_eq!(
            s.bench.read(reg::STATUS).unwrap() & (Status::READ_ERROR | Status::WRITE_ERROR),
            Status::READ_ERROR,
            "{kind}"
        );
    }
}

#[test]
fn in_mac_loopback_a_frame_comes_back_and_the_wire_is_left_alone() {
    const ON: u32 = Ctrl::JOBS | Ctrl::RECEIVE;
    const LOOPED: u32 = ON | Ctrl::LOOPBACK;
    each_kind(|s| {
        let mut hello = weft_sim::bench::STATION.to_vec();
        hello.extend_from_slice(&[2, 0, 0, 0, 0, 9, 0x88, 0xb5]);
        hello.extend_from_slice(b"to itself");
        s.memory.write(100, &hello).unwrap();
        let job = Job {
            kind: job_kind::RAW_FRAME,
            sge_count: 1,
            length: hello.len() as u32,
            sge0_iova: s.memory.iova + 100,
            sge0_length: hello.len() as u32,
            ..Job::default()
        };
        let mut stranger = vec![0xff; 60];
        stranger[12] = 0x88;
        for (ctrl, looped) in [(LOOPED, true), (ON, false), (LOOPED, true)] {
            s.bench.write(reg::CTRL, ctrl);
            assert_eq!(s.bench.read(reg::CTRL).unwrap(), ctrl);
            s.bench.post(&job, &[]);
            s.bench.ring_jobs();
            s.bench.inject(stranger.clone());
            s.bench.settle(100_000).unwrap();
            let received: Vec<_> = s.bench.reports().into_iter().map(|r| r.1).collect();
            let sent: Vec<_> = s.bench.sent().into_iter().map(|f| f.frame).collect();
            if looped {
                assert_eq!((received, sent), (vec![Some(hello.clone())], vec![]));
            } else {
                let wire = vec![Some(stranger.clone())];
                assert_eq!((received, sent), (wire, vec![hello.clone()]));
            }
        }
        assert_eq!(s.bench.counter(Counter::RxDropLoopback).unwrap(), 2);
        assert_eq!(s.bench.counter(Counter::RxFrames).unwrap(), 3);
    });
}

/// A flow whose FPDUs are only checked: a good one of any queue is for the engine, and nothing is placed.
#[test]
fn checked_only_a_good_fpdu_is_for_the_engine() {
    let flags = FlowRxRow::CRC | FlowRxRow::VALID | FlowRxRow::CHECK_ONLY;
    for kind in CardKind::available() {
        let mut s = Setup::with(kind.build(1, 0), flags, 0);
        let read = fpdu(&untagged(1, 1, 1, 0, true, &[0; 28]));
        let mut seq = SEQ;
        // What placing would ask for is not asked: neither the region nor the message number is there.
        for unit in [
            tagged(0, STAG, BASE, &[9; 500]),
            tagged(0, 0x7700, 0, &[9; 1400]),
            tagged(2, 0x7700, 0, &[]),
            untagged(3, 0, 99, 5, true, &[9; 64]),
        ] {
            // And one of queue 1 behind it, in the same segment.
            let payload = [fpdu(&unit), read.clone()].concat();
            let (fpdus, report) = s.deliver(seq, &payload);
            let verdicts: Vec<_> = fpdus.iter().map(|fpdu| fpdu.verdict).collect();
            assert_eq!(verdicts, [fpdu_verdict::ENGINE; 2], "{kind}");
            let whole = SegmentReport::RAW | SegmentReport::ATTACHED;
            assert_eq!(report.flags, whole, "{kind}");
            assert_eq!(usize::from(report.done_len), payload.len(), "{kind}");
            seq += payload.len() as u32;
        }
        // A good one, and one whose CRC is wrong: so far it is checked.
        let good = fpdu(&tagged(0, STAG, BASE, &[9; 64]));
        let mut payload = [good.clone(), good.clone()].concat();
        *payload.last_mut().unwrap() ^= 1;
        let (fpdus, report) = s.deliver(seq, &payload);
        let told: Vec<_> = fpdus.iter().map(|f| (f.verdict, f.terminate)).collect();
        let expected = [(fpdu_verdict::ENGINE, 0), (fpdu_verdict::ERROR, 0x2002)];
        assert_eq!(told, expected, "{kind}");
        assert_eq!(report.flags, SegmentReport::RAW);
        assert_eq!(usize::from(report.done_len), good.len(), "{kind}");
        // The framing is lost: what follows is not checked.
        let (fpdus, report) = s.deliver(seq + payload.len() as u32, &good);
        assert_eq!((fpdus.len(), report.done_len), (0, 0), "{kind}");
        // At an FPDU's begin it goes on.
        seq += 10_000;
        let row = AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen: s.bench.raw_seen(),
            rcv_nxt: seq,
            ..AttachRow::default()
        };
        let row = row.to_bytes();
        let applied = s.bench.write_table(table::ATTACH, FLOW.into(), &row);
        assert!(applied.unwrap(), "{kind}");
        let (fpdus, report) = s.deliver(seq, &good);
        assert_eq!(fpdus[0].verdict, fpdu_verdict::ENGINE, "{kind}");
        assert_eq!(usize::from(report.done_len), good.len(), "{kind}");
        assert_eq!(s.bench.counter(Counter::RxErrorCrc).unwrap(), 1, "{kind}");
        assert_eq!(s.bench.counter(Counter::RxPlaceBytes).unwrap(), 0, "{kind}");
        assert_eq!(s.memory.read(0, 10_000).unwrap(), [0; 10_000], "{kind}");
    }
}

/// The CRC of a segment's payload, behind it: from memory and from the slot; of half words, of none, and of too many there is none.
#[test]
fn a_crc_behind_a_segments_payload() {
    for kind in CardKind::available() {
        let mut s = Setup::new(kind.build(1, 0));
        let data: Vec<u8> = (0..9000u32).map(|i| (i * 7 + i / 256) as u8).collect();
        s.memory.write(30_000, &data).unwrap();
        let job = |length: u32| Job {
            kind: job_kind::SEGMENT,
            flags: Job::APPEND_CRC,
            flow: FLOW,
            seq: SEQ,
            tcp_flags: 0x18,
            length,
            sge_count: 2,
            sge0_iova: s.memory.iova + 30_000,
            sge0_length: length.min(3),
            sge1_iova: s.memory.iova + 30_003,
            sge1_length: length.saturating_sub(3),
            ..Job::default()
        };
        let inline = |length| Job {
            flags: Job::APPEND_CRC | Job::INLINE_PAYLOAD,
            sge_count: 0,
            ..job(length)
        };
        let whole = [4, 8, 16, 60, 64, 128, 1444, 1456, 8996];
        let jobs: Vec<Job> = whole.iter().map(|length| job(*length)).collect();
        let slots: Vec<Job> = [4, 20, 64].map(inline).to_vec();
        let bad: Vec<Job> = [0, 1, 2, 7, 1443, 8997, 9000].map(job).to_vec();
        let mut expected = Vec::new();
        for (number, job) in (0..).zip(jobs.iter().chain(&slots).chain(&bad)) {
            let inline = if job.inline_payload() { job.length } else { 0 };
            s.bench.post(job, &data[..inline as usize]);
            if bad.contains(job) {
                expected.push((number, job_status::MALFORMED));
            }
        }
        s.bench.ring_jobs();
        s.bench.settle(1_000_000).unwrap();
        let reports: Vec<_> = s
            .bench
            .reports()
            .iter()
            .map(|r| JobReport::from_bytes(&r.0))
            .collect();
        let told: Vec<_> = reports.iter().map(|r| (r.job, r.status)).collect();
        assert_eq!(told, expected, "{kind}");
        let frames = s.bench.sent();
        assert_eq!(frames.len(), jobs.len() + slots.len(), "{kind}");
        for (job, sent) in jobs.iter().chain(&slots).zip(&frames) {
            let Parsed::Tcp(t) = ethernet::parse(&sent.frame) else {
                panic!("{kind}: a frame is wrong")
            };
            let (payload, crc) =
                sent.frame[t.offset..t.offset + t.len].split_at(job.length as usize);
            assert_eq!(payload, &data[..job.length as usize], "{kind}");
            assert_eq!(crc, crc32c::crc32c(payload).to_le_bytes(), "{kind}");
        }
    }
}

/// Pieces of the stream that lie in host memory, walked again: placed and reported as a segment's, the flow detached as it was.
#[test]
fn a_piece_of_the_stream_is_walked_again() {
    for kind in CardKind::available() {
        let mut s = Setup::new(kind.build(1, 0));
        let most = s.bench.read(reg::JOB_REPLAY).unwrap();
        let data: Vec<u8> = (0..300u32).map(|i| (i * 5 + 1) as u8).collect();
        let write = fpdu(&tagged(0, STAG, BASE + 100, &data));
        let send = fpdu(&untagged(3, 0, 2, 40, true, &data[..50]));
        let read = fpdu(&untagged(1, 1, 1, 0, true, &[0; 28]));
        let half = &fpdu(&tagged(0, STAG, BASE, &data))[..200];
        let stream = [&write[..], &send, &read, half].concat();
        let whole = write.len() + send.len() + read.len();
        // In pieces, at odd places.
        let cuts = [0, 7, write.len() + 3, whole, stream.len()];
        let mut sges = [(0, 0); 4];
        for (n, sge) in sges.iter_mut().enumerate() {
            let at = 30_001 + 1000 * n;
            s.memory.write(at, &stream[cuts[n]..cuts[n + 1]]).unwrap();
            *sge = (s.memory.iova + at as u64, (cuts[n + 1] - cuts[n]) as u32);
        }
        let job = |pieces: usize| ReplayJob {
            kind: job_kind::REPLAY,
            flow: FLOW,
            seq: SEQ + 5000,
            msn: 2,
            mo: 40,
            length: sges[..pieces].iter().map(|sge| sge.1).sum(),
            sge_count: pieces as u8,
            sge0_iova: sges[0].0,
            sge0_length: sges[0].1,
            sge1_iova: sges[1].0,
            sge1_length: sges[1].1,
            sge2_iova: sges[2].0,
            sge2_length: sges[2].1,
            sge3_iova: sges[3].0,
            sge3_length: sges[3].1,
            ..ReplayJob::default()
        };
        let run = |s: &mut Setup, job: &ReplayJob| {
            s.bench.post(&Job::from_bytes(&job.to_bytes()), &[]);
            s.bench.ring_jobs();
            s.bench.settle(100_000).unwrap();
            assert!(s.bench.sent().is_empty(), "{kind}: nothing is sent");
            let mut reports: Vec<_> = s.bench.reports().iter().map(|r| r.0).collect();
            let last = reports.pop().expect("a report");
            let fpdus: Vec<_> = reports.iter().map(FpduReport::from_bytes).collect();
            assert!(fpdus.iter().all(|f| f.kind == report_kind::FPDU), "{kind}");
            (fpdus, last)
        };
        if most == 0 {
            // A card without such jobs.
            let (fpdus, last) = run(&mut s, &job(4));
            let last = JobReport::from_bytes(&last);
            assert_eq!((fpdus.len(), last.kind), (0, report_kind::JOB), "{kind}");
            assert_eq!(last.status, job_status::MALFORMED, "{kind}");
            continue;
        }
        let told = |last: &[u8; 64]| {
            let last = ReplayReport::from_bytes(last);
            assert_eq!((last.kind, last.flow), (report_kind::REPLAY, FLOW));
            assert_eq!(last.seq, SEQ + 5000);
            (last.status, last.done_len)
        };
        // Attached: refused.
        let (fpdus, last) = run(&mut s, &job(4));
        assert!(fpdus.is_empty(), "{kind}");
        assert_eq!(told(&last), (replay_outcome::REFUSED, 0), "{kind}");
        // A gap: detached.
        let (_, report) = s.deliver(SEQ + 5000, &write);
        assert_eq!((report.raw(), report.attached()), (true, false), "{kind}");
        let (fpdus, last) = run(&mut s, &job(4));
        let verdicts: Vec<_> = fpdus.iter().map(|f| f.verdict).collect();
        let expected = [
            fpdu_verdict::PLACED,
            fpdu_verdict::PLACED,
            fpdu_verdict::ENGINE,
        ];
        assert_eq!(verdicts, expected, "{kind}");
        assert_eq!(fpdus[1].seq, SEQ + 5000 + write.len() as u32, "{kind}");
        let partial = (replay_outcome::PARTIAL, whole as u16);
        assert_eq!(told(&last), partial, "{kind}");
        assert_eq!(s.memory.read(103, 300).unwrap(), data, "{kind}");
        assert_eq!(s.memory.read(3 + 6107, 50).unwrap(), data[..50], "{kind}");
        // Without the half.
        let (fpdus, last) = run(&mut s, &job(3));
        assert_eq!(fpdus.len(), 3, "{kind}");
        assert_eq!(told(&last), (replay_outcome::WHOLE, whole as u16));
        // The message that is expected is another one.
        let wrong = ReplayJob { msn: 1, ..job(3) };
        let (fpdus, last) = run(&mut s, &wrong);
        let codes: Vec<_> = fpdus.iter().map(|f| f.terminate).collect();
        assert_eq!(codes, [0, 0x1203], "{kind}");
        assert_eq!(told(&last), (replay_outcome::ERROR, write.len() as u16));
        // One piece of one FPDU, as large as may be, and then some.
        let long = fpdu(&tagged(0, STAG, BASE, &vec![3; most as usize - 22]));
        for (length, status) in [(most, None), (most + 1, Some(job_status::MALFORMED))] {
            s.memory.write(40_000, &long).unwrap();
            let one = ReplayJob {
                sge_count: 1,
                length,
                sge0_iova: s.memory.iova + 40_000,
                sge0_length: length,
                ..job(1)
            };
            let (_, last) = run(&mut s, &one);
            match status {
                None => assert_eq!(told(&last).0, replay_outcome::WHOLE, "{kind}"),
                Some(status) => assert_eq!(JobReport::from_bytes(&last).status, status),
            }
        }
        // One after the other, those behind the first without a word of what is expected: each goes on where the one before ended, its MSN
        // and MO as well. The half is not whole, so nothing goes on where it ends.
        let more = [&stream[..], &write].concat();
        s.memory.write(39_001, &more).unwrap();
        let ends = [write.len(), write.len() + send.len(), whole, stream.len()];
        let mut at = 0;
        for end in ends.into_iter().chain([more.len()]) {
            let length = (end - at) as u32;
            let follows = ReplayJob {
                seq: SEQ + 5000 + at as u32,
                flags: if at > 0 { ReplayJob::FOLLOWS } else { 0 },
                msn: if at > 0 { 7 } else { 2 },
                length,
                sge_count: 1,
                sge0_iova: s.memory.iova + 39_001 + at as u64,
                sge0_length: length,
                ..job(1)
            };
            s.bench.post(&Job::from_bytes(&follows.to_bytes()), &[]);
            at = end;
        }
        s.bench.ring_jobs();
        s.bench.settle(100_000).unwrap();
        let reports = s.bench.reports();
        let kept = |r: &&[u8; 64]| r[0] == report_kind::REPLAY;
        let ended = reports.iter().map(|r| &r.0).filter(kept);
        let ended: Vec<_> = ended.map(ReplayReport::from_bytes).collect();
        let outcomes: Vec<_> = ended.iter().map(|r| (r.status, r.done_len)).collect();
        let [first, second, third, _] = ends.map(|end| end as u16);
        let expected = [
            (replay_outcome::WHOLE, first),
            (replay_outcome::WHOLE, second - first),
            (replay_outcome::WHOLE, third - second),
            (replay_outcome::PARTIAL, 0),
            (replay_outcome::REFUSED, 0),
        ];
        assert_eq!(outcomes, expected, "{kind}");
        // The flow is what it was: attached where the engine says, with the count that it knows.
        let row = AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen: 1,
            rcv_nxt: SEQ,
            msn: 1,
            mo: 0,
            ..AttachRow::default()
        };
        let row = row.to_bytes();
        let applied = s.bench.write_table(table::ATTACH, FLOW.into(), &row);
        assert!(applied.unwrap(), "{kind}");
        let (fpdus, report) = s.deliver(SEQ, &write);
        assert_eq!(fpdus[0].verdict, fpdu_verdict::PLACED, "{kind}");
        assert!(report.attached(), "{kind}");
        assert_eq!(s.bench.counter(Counter::RxReplays).unwrap(), 5, "{kind}");
        let refused = s.bench.counter(Counter::RxReplaysRefused).unwrap();
        assert_eq!(refused, 2, "{kind}");
    }
}

/// An access behind the last row is refused, and is none of the row whose index has the same low bits.
#[test]
fn rows_behind_the_end_of_a_table_are_refused() {
    each_kind(|s| {
        let caps = reg::Caps(s.bench.read(reg::CAPS).unwrap());
        let (flows, stags) = (1 << caps.flows_log2(), 1 << caps.stags_log2());
        let tables = [
            (table::FLOW_KEY, 2 * flows, 0),
            (table::FLOW_RX, flows, u32::from(FLOW)),
            (table::ATTACH, flows, u32::from(FLOW)),
            (table::FLOW_TX, flows, u32::from(FLOW)),
            (table::STAG, stags, STAG >> 8),
        ];
        for (number, rows, used) in tables {
            let before = s.bench.read_table(number, used).unwrap();
            assert!(before.is_some(), "{number}");
            for index in [rows, rows + used, 1 << 19 | used] {
                let applied = s.bench.write_table(number, index, &[0; 64]).unwrap();
                assert!(!applied, "{number}, {index}");
                let row = s.bench.read_table(number, index).unwrap();
                assert_eq!(row, None, "{number}, {index}");
            }
            assert_eq!(s.bench.read_table(number, used).unwrap(), before);
        }
    });
}
