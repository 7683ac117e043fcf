//! The last value that is right and the first that is wrong, and numbers that wrap: literal expectations, on every kind of card.

use weft_layout::{
    doorbell, fpdu_verdict, job_kind, job_status, report_kind, table, AttachRow, FlowRxRow,
    FpduReport, Job, JobReport, ReceiveElement, SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::ethernet::{self, Parsed};
use weft_sim::model::mpa;

const FLOW: u16 = 5;
const PD: u32 = 7;
const SEQ: u32 = 0x7fff_fff0;
const STAG: u32 = 0x0000_05a5;
const KEY: u8 = 0xa5;

/// A card with one flow (its number of the first marker, if it has them) and one region at `base`.
struct Setup {
    kind: CardKind,
    bench: Bench,
    memory: Region,
    queue: Region,
    ends: Ends,
}

const MEMORY: usize = 1 << 18;

impl Setup {
    fn new(kind: CardKind, base: u64, markers: Option<u32>, attach: AttachRow) -> Self {
        let mut bench =
            Bench::new(kind.build(1, 0), 1, LinkConfig::default(), Rings::default()).unwrap();
        let memory = bench.region(MEMORY);
        let queue = bench.region(4096);
        let ends = Ends::of(FLOW);
        let stag = StagRow {
            valid: StagRow::VALID,
            key: KEY,
            access: 0,
            pd: PD,
            base,
            length: MEMORY as u64,
            iova: memory.iova,
        }
        .with_local_write(true)
        .with_remote_write(true);
        bench.stag(STAG, &stag).unwrap();
        let rx = FlowRxRow {
            rq_log2: 3,
            pd: PD,
            marker_base: markers.unwrap_or(0),
            rq_base: queue.iova,
            ..FlowRxRow::default()
        }
        .with_markers(markers.is_some())
        .with_crc(true)
        .with_valid(true);
        let tx = ends.tx(rx.flags, rx.marker_base);
        let attach = AttachRow {
            rcv_nxt: SEQ,
            ..attach
        }
        .with_attached(true);
        bench.flow(FLOW, &ends, &rx, &tx, &attach).unwrap();
        bench.sent();
        Self {
            kind,
            bench,
            memory,
            queue,
            ends,
        }
    }

    fn posted(&mut self, elements: u32) {
        self.bench
            .ring(doorbell::RQ_TAIL + 4 * u32::from(FLOW), elements);
    }

    /// Sends a segment; the verdicts and codes of its FPDUs.
    fn deliver(&mut self, seq: u32, payload: &[u8]) -> Vec<(u8, u16)> {
        let row = self.ends.peer_tx(0, 0);
        let frame = ethernet::segment(&row, &Job::default(), seq, 0x10, 9, payload);
        self.bench.inject(frame);
        self.bench.settle(200_000).unwrap();
        let mut verdicts = Vec::new();
        for (report, _) in self.bench.reports() {
            if report[0] == report_kind::FPDU {
                let fpdu = FpduReport::from_bytes(&report);
                verdicts.push((fpdu.verdict, fpdu.terminate));
            } else {
                assert_eq!(report[0], report_kind::SEGMENT, "{}", self.kind);
                assert_eq!(SegmentReport::from_bytes(&report).seq, seq, "{}", self.kind);
            }
        }
        verdicts
    }

    fn position(&mut self) -> AttachRow {
        let row = self.bench.read_table(table::ATTACH, FLOW.into());
        AttachRow::from_bytes(&row.unwrap().unwrap())
    }

    fn job(&self) -> Job {
        Job {
            kind: job_kind::MESSAGE,
            flow: FLOW,
            seq: SEQ,
            tcp_flags: 0x10,
            rdmap_control: 0x40,
            stag_or_qn: STAG,
            ..Job::default()
        }
        .with_tagged(true)
        .with_last(true)
    }
}

fn each_kind(test: impl Fn(CardKind)) {
    CardKind::available().into_iter().for_each(test);
}

fn write(to: u64, payload: &[u8]) -> Vec<u8> {
    let mut u = vec![0xc1, 0x40];
    u.extend_from_slice(&STAG.to_be_bytes());
    u.extend_from_slice(&to.to_be_bytes());
    u.extend_from_slice(payload);
    u
}

fn send(msn: u32, mo: u32, last: bool, payload: &[u8]) -> Vec<u8> {
    let mut u = vec![if last { 0x41 } else { 1 }, 0x43, 0, 0, 0, 0];
    for word in [0, msn, mo] {
        u.extend_from_slice(&u32::to_be_bytes(word));
    }
    u.extend_from_slice(payload);
    u
}

const PLACED: (u8, u16) = (fpdu_verdict::PLACED, 0);

#[test]
fn a_region_may_end_at_the_top_of_the_address_space() {
    each_kind(|kind| {
        let base = 0u64.wrapping_sub(MEMORY as u64);
        let mut s = Setup::new(kind, base, None, AttachRow::default());
        let last = mpa::frame(SEQ, None, true, &write(u64::MAX - 15, &[7; 16]));
        assert_eq!(s.deliver(SEQ, &last), [PLACED], "{kind}");
        assert_eq!(s.memory.read(MEMORY - 16, 16).unwrap(), [7; 16], "{kind}");
        let seq = SEQ + last.len() as u32;
        let beyond = mpa::frame(seq, None, true, &write(u64::MAX - 14, &[8; 16]));
        let wraps = (fpdu_verdict::ERROR, 0x1103);
        assert_eq!(s.deliver(seq, &beyond), [wraps], "{kind}");
        assert_eq!(s.memory.read(0, 16).unwrap(), [0; 16], "{kind}");
    });
}

#[test]
fn a_message_goes_on_beyond_64_kib() {
    each_kind(|kind| {
        let at = AttachRow {
            msn: 1,
            mo: 65_530,
            ..AttachRow::default()
        };
        let mut s = Setup::new(kind, 0, None, at);
        let element = ReceiveElement {
            sge0_to: 0,
            sge0_length: MEMORY as u32,
            sge0_stag: STAG,
            ..ReceiveElement::default()
        };
        s.queue.write(0, &element.to_bytes()).unwrap();
        s.posted(1);
        let mut seq = SEQ;
        for (mo, length) in [(65_530, 100), (65_630, 60)] {
            let data: Vec<u8> = (0..length).map(|b| (b + mo) as u8).collect();
            let one = mpa::frame(seq, None, true, &send(1, mo, false, &data));
            assert_eq!(s.deliver(seq, &one), [PLACED], "{kind}, MO {mo}");
            let placed = s.memory.read(mo as usize, length as usize).unwrap();
            assert_eq!(placed, data, "{kind}, MO {mo}");
            seq += one.len() as u32;
        }
        assert_eq!(s.position().mo, 65_690, "{kind}");
    });
}

#[test]
fn message_numbers_wrap_with_their_queue() {
    each_kind(|kind| {
        let at = AttachRow {
            msn: u32::MAX - 1,
            ..AttachRow::default()
        };
        let mut s = Setup::new(kind, 0, None, at);
        for slot in 0..8u32 {
            let element = ReceiveElement {
                sge0_to: u64::from(slot) * 100,
                sge0_length: 100,
                sge0_stag: STAG,
                ..ReceiveElement::default()
            };
            s.queue
                .write(64 * slot as usize, &element.to_bytes())
                .unwrap();
        }
        // As if 2^32 + 1 had been posted.
        s.posted(1);
        let mut seq = SEQ;
        for msn in [u32::MAX - 1, u32::MAX, 0, 1] {
            let one = mpa::frame(seq, None, true, &send(msn, 0, true, &[msn as u8; 10]));
            assert_eq!(s.deliver(seq, &one), [PLACED], "{kind}, MSN {msn}");
            let slot = msn.wrapping_sub(1) as usize % 8;
            let placed = s.memory.read(slot * 100, 10).unwrap();
            assert_eq!(placed, [msn as u8; 10], "{kind}, MSN {msn}");
            seq += one.len() as u32;
        }
        let one = mpa::frame(seq, None, true, &send(2, 0, true, &[9; 10]));
        let no_buffer = (fpdu_verdict::ERROR, 0x1202);
        assert_eq!(s.deliver(seq, &one), [no_buffer], "{kind}");
    });
}

#[test]
fn a_marker_right_behind_an_fpdu_belongs_to_the_next_one() {
    each_kind(|kind| {
        for length in [16, 60, 100, 480] {
            let first = write(0, &vec![3; length]);
            let bytes = mpa::frame(SEQ, None, true, &first).len() as u32;
            // RFC 5044 §4.3: one every 512 octets; here the first FPDU ends where one is due.
            let base = SEQ.wrapping_add(bytes);
            let mut s = Setup::new(kind, 0, Some(base), AttachRow::default());
            let first = mpa::frame(SEQ, Some(base), true, &first);
            let seq = SEQ + first.len() as u32;
            let second = mpa::frame(seq, Some(base), true, &write(1000, &[4; 40]));
            let what = format!("{kind}, {length} bytes");
            assert_eq!(first.len() as u32 % 512, bytes % 512, "{what}");
            let together = [first, second].concat();
            assert_eq!(s.deliver(SEQ, &together), [PLACED, PLACED], "{what}");
            assert_eq!(s.memory.read(0, length).unwrap(), vec![3; length], "{what}");
            assert_eq!(s.memory.read(1000, 40).unwrap(), [4; 40], "{what}");
        }
    });
}

#[test]
fn a_wrong_marker_is_found_in_whichever_lane_it_lies() {
    // RFC 5040 §4.8: layer 2 (LLP), MPA error 3, marker and ULPDU length fields do not agree.
    let mismatch = (fpdu_verdict::ERROR, 0x2003);
    each_kind(|kind| {
        // The widest beat has 16 words.
        for word in 1..=16u32 {
            let base = SEQ.wrapping_add(4 * word);
            let mut s = Setup::new(kind, 0, Some(base), AttachRow::default());
            let mut one = mpa::frame(SEQ, Some(base), true, &write(0, &[3; 100]));
            let pointer = 4 * word as usize + 3;
            assert_eq!(u32::from(one[pointer]), 4 * word, "{kind}, word {word}");
            one[pointer] ^= 4;
            assert_eq!(s.deliver(SEQ, &one), [mismatch], "{kind}, word {word}");
            assert_eq!(s.memory.read(0, 100).unwrap(), [0; 100], "{kind}");
        }
    });
}

#[test]
fn a_frame_may_end_in_any_lane() {
    each_kind(|kind| {
        let mut s = Setup::new(kind, 0, None, AttachRow::default());
        let data: Vec<u8> = (0..200).collect();
        s.memory.write(0, &data).unwrap();
        for length in 1..=128u32 {
            let job = Job {
                kind: job_kind::SEGMENT,
                flow: FLOW,
                seq: SEQ,
                tcp_flags: 0x10,
                sge_count: 1,
                length,
                sge0_iova: s.memory.iova,
                sge0_length: length,
                ..Job::default()
            };
            s.bench.post(&job, &[]);
        }
        s.bench.ring_jobs();
        s.bench.settle(1_000_000).unwrap();
        let frames = s.bench.sent();
        assert_eq!(frames.len(), 128, "{kind}");
        for (length, seen) in (1..).zip(frames) {
            let Parsed::Tcp(t) = ethernet::parse(&seen.frame) else {
                panic!("{kind}: the frame of {length} bytes is wrong")
            };
            let payload = &seen.frame[t.offset..][..length];
            assert_eq!(payload, &data[..length], "{kind}, {length} bytes");
        }
    });
}

#[test]
fn tagged_offsets_carry_into_the_upper_half() {
    each_kind(|kind| {
        let mut s = Setup::new(kind, 0, None, AttachRow::default());
        let job = Job {
            to_or_mo: 0xffff_fff0,
            length: 48,
            fpdu_payload: 16,
            ..s.job()
        }
        .with_inline_payload(true);
        s.bench.post(&job, &[5; 48]);
        s.bench.ring_jobs();
        s.bench.settle(200_000).unwrap();
        let offsets: Vec<u64> = s
            .bench
            .sent()
            .iter()
            .map(|seen| {
                let Parsed::Tcp(t) = ethernet::parse(&seen.frame) else {
                    panic!("{kind}: a frame is wrong")
                };
                // Length 2, control 2, STag 4, TO 8.
                let at = t.offset + 8;
                u64::from_be_bytes(seen.frame[at..at + 8].try_into().unwrap())
            })
            .collect();
        let expected = [0xffff_fff0, 0x1_0000_0000, 0x1_0000_0010];
        assert_eq!(offsets, expected, "{kind}");
    });
}

#[test]
fn checksums_carry() {
    each_kind(|kind| {
        let mut s = Setup::new(kind, 0, None, AttachRow::default());
        s.memory.write(0, &[0xff; 1460]).unwrap();
        // The sum of the payload alone is 0x2d9 times 0xffff, so some of these windows (in steps of 0x200 of the sum) make the low half overflow.
        for window in (0..128).map(|n| n * 2) {
            let job = Job {
                kind: job_kind::SEGMENT,
                flow: FLOW,
                tcp_flags: 0x10,
                window,
                sge_count: 1,
                length: 1460,
                sge0_iova: s.memory.iova,
                sge0_length: 1460,
                ..Job::default()
            };
            s.bench.post(&job, &[]);
        }
        s.bench.ring_jobs();
        s.bench.settle(1_000_000).unwrap();
        let frames = s.bench.sent();
        assert_eq!(frames.len(), 128, "{kind}");
        for seen in frames {
            let parsed = ethernet::parse(&seen.frame);
            assert!(matches!(parsed, Parsed::Tcp(_)), "{kind}: {parsed:?}");
        }
    });
}

#[test]
fn a_flow_with_markers_sends_from_whole_words_on_only() {
    each_kind(|kind| {
        let mut s = Setup::new(kind, 0, Some(SEQ), AttachRow::default());
        for shift in 0..4u32 {
            let job = Job {
                seq: SEQ + shift,
                length: 20,
                fpdu_payload: 1000,
                ..s.job()
            }
            .with_inline_payload(true)
            .with_notify(true);
            s.bench.post(&job, &[5; 20]);
            s.bench.ring_jobs();
            s.bench.settle(200_000).unwrap();
            let reports = s.bench.reports();
            let status = JobReport::from_bytes(&reports[0].0).status;
            let (expected, frames) = match shift {
                0 => (job_status::DONE, 1),
                _ => (job_status::MALFORMED, 0),
            };
            let seen = (status, s.bench.sent().len());
            assert_eq!(seen, (expected, frames), "{kind}, shift {shift}");
        }
    });
}

#[test]
fn a_read_error_ends_its_job_and_leaks_nothing() {
    each_kind(|kind| {
        let mut s = Setup::new(kind, 0, None, AttachRow::default());
        s.memory.write(0, &[6; 9000]).unwrap();
        let iova = s.memory.iova;
        let nowhere = 0x1000;
        let broken = Job {
            length: 400,
            fpdu_payload: 100,
            sge_count: 3,
            sge0_iova: iova,
            sge0_length: 100,
            sge1_iova: nowhere,
            sge1_length: 100,
            sge2_iova: iova,
            sge2_length: 200,
            ..s.job()
        };
        let good = Job {
            length: 9000,
            fpdu_payload: 9000,
            sge_count: 1,
            sge0_iova: iova,
            sge0_length: 9000,
            ..s.job()
        };
        // More than the card's store has beats: what a dropped frame does not give back would be missed.
        for round in 0..5 {
            for _ in 0..120 {
                s.bench.post(&broken, &[]);
            }
            s.bench.post(&good, &[]);
            s.bench.ring_jobs();
            s.bench.settle(2_000_000).unwrap();
            let statuses: Vec<u8> = s
                .bench
                .reports()
                .iter()
                .map(|(report, _)| JobReport::from_bytes(report).status)
                .collect();
            assert_eq!(statuses, [job_status::READ_ERROR; 120], "{kind}, {round}");
            // Of each broken job the frame before the error, and nothing behind it.
            let sent = s.bench.sent();
            assert_eq!(sent.len(), 121, "{kind}, round {round}");
            assert!(sent[120].frame.len() > 9000, "{kind}, round {round}");
        }
        s.bench.world.iommu(0).take_faults();
    });
}
