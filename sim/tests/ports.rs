//! A card with two ports, each with rings of its own: what one owner does, or leaves, is nothing to the other one.
#![cfg(rtl)]

use crate::flows;

use flows::{Flow, Flows, MEMORY, SEQ};
use rtl_sim::axi::Timing;
use weft_layout::reg::Status;
use weft_layout::{
    doorbell, job_kind, reg, report_kind, table, AttachRow, Counter, FrameReport, Job, JobReport,
    PlacedReport, ReplayJob, SegmentReport, PORT_DOORBELLS, PORT_REGISTERS,
};
use weft_sim::bench::Rings;
use weft_sim::card::Card;
use weft_sim::iommu::Refusal;
use weft_sim::kind::CardKind;
use weft_sim::rtl;

/// Bytes of a Write.
const WRITE: usize = 1000;

/// A report ring that has just enough room.
const RINGS: Rings = Rings {
    report: 7,
    job: 10,
    raw: 6,
    raw_slot: 14,
};

/// The card that has two.
fn card() -> Box<dyn Card> {
    Box::new(rtl::any128(1, 0))
}

/// Two flows, the second one of the second port.
fn two(rings: Rings, ports: usize) -> Flows {
    Flows::by_port(card(), 2, rings, ports, |number| usize::from(number - 1))
}

/// The next segment of a flow, a Write.
fn write(s: &mut Flows, flow: usize, number: usize) -> Vec<u8> {
    let to = number * WRITE % (MEMORY - WRITE);
    let flow = &mut s.flows[flow];
    let ulpdu = flow.write(to as u64, &[number as u8 + 1; WRITE]);
    flow.segment(&[ulpdu])
}

fn has_written(s: &Flows, flow: usize, number: usize) -> bool {
    let to = number * WRITE % (MEMORY - WRITE);
    let bytes = s.flows[flow].memory.read(to, WRITE).unwrap();
    bytes.iter().all(|byte| *byte == number as u8 + 1)
}

#[test]
fn a_card_says_how_many_it_has() {
    for kind in CardKind::available() {
        let mut s = Flows::new(kind.build(1, 0), 1, Rings::default());
        let ports = s.bench.read(reg::PORTS).unwrap();
        assert_eq!(
            ports,
            if kind == CardKind::Rtl128 { 2 } else { 1 },
            "{kind}"
        );
        let second = s.bench.read(PORT_REGISTERS + reg::JOB_REPLAY).unwrap();
        assert_eq!(second != 0, ports == 2, "{kind}");
    }
}

#[test]
fn who_takes_no_reports_loses_frames_of_its_own() {
    const WRITES: usize = 120;
    let rings = Rings { raw: 3, ..RINGS };
    let mut s = two(rings, 2);
    s.bench.give_back(1);
    let (mut taken, mut again) = (0, None);
    // The owner of the second port is away.
    for number in 0..WRITES {
        for flow in [1, 0] {
            let frame = write(&mut s, flow, number);
            if flow == 1 && number == 100 {
                again = Some(frame.clone());
            }
            s.deliver(frame);
        }
        s.bench.settle(1_000_000).unwrap();
        for (report, _) in s.bench.reports_of_port(0, usize::MAX) {
            let report = PlacedReport::from_bytes(&report);
            assert_eq!((report.kind, report.flow), (report_kind::PLACED, 1));
            taken += 1;
        }
        assert!(has_written(&s, 0, number), "Write {number}");
    }
    assert_eq!(
        taken, WRITES,
        "the first port's owner heard of all of its own"
    );
    let lost = s.bench.counter(Counter::RxDropNoReportRoom).unwrap();
    assert!((50..60).contains(&lost), "{lost} frames of the second port");
    assert!(
        !has_written(&s, 1, WRITES - 1),
        "and nothing of them was placed"
    );
    // It comes back, and so does its peer, from where it was acknowledged.
    let placed: Vec<_> = s.bench.reports_of_port(1, usize::MAX);
    assert_eq!(placed.len() as u32, WRITES as u32 - lost);
    s.bench.settle(1_000).unwrap();
    let next = PlacedReport::from_bytes(&placed[placed.len() - 1].0);
    let row = |at: u32| SegmentReport {
        seq: at,
        ..SegmentReport::default()
    };
    let from = row(next.seq.wrapping_add(next.payload_len.into())).seq;
    let payload = again.unwrap()[54..].to_vec();
    let frame = s.flows[1].frame(from, &payload);
    s.deliver(frame);
    s.bench.settle(1_000_000).unwrap();
    assert_eq!(s.bench.reports_of_port(1, usize::MAX).len(), 1);
    assert!(has_written(&s, 1, 100), "it goes on");
}

/// Acknowledgments alone fill no other port's time: what has no room is dropped, and the fence ends.
#[test]
fn acknowledgments_for_an_owner_who_is_away_stop_nobody() {
    let mut s = two(RINGS, 2);
    s.bench.give_back(1);
    let mut taken = 0;
    for number in 0..120 {
        let seq = s.flows[1].seq;
        let bare = s.flows[1].frame(seq, &[]);
        s.deliver(bare);
        let frame = write(&mut s, 0, number);
        s.deliver(frame);
        s.bench.settle(1_000_000).unwrap();
        taken += s.bench.reports_of_port(0, usize::MAX).len();
        assert!(has_written(&s, 0, number), "Write {number}");
    }
    assert_eq!(taken, 120, "the first port's owner heard of all of its own");
    s.bench.write(reg::FENCE, 7);
    s.bench.settle(20_000).unwrap();
    assert_eq!(s.bench.read(reg::FENCE_DONE).unwrap(), 7);
    let kept = s.bench.reports_of_port(1, usize::MAX).len() as u32;
    let lost = s.bench.counter(Counter::RxDropNoReportRoom).unwrap();
    assert_eq!(kept + lost, 120);
    assert!(kept >= 64, "{kept} of a ring of 128");
}

/// FPDUs without payload, many in a segment: each is a report.
fn tiny(s: &mut Flows, flow: usize, count: usize) -> Vec<u8> {
    let flow = &mut s.flows[flow];
    let ulpdus: Vec<_> = (0..count).map(|_| flow.write(0, &[])).collect();
    flow.segment(&ulpdus)
}

/// Segments that are in the walk when the ring becomes half full, with more reports than it has room for, stop the other port no more than one does.
#[test]
fn many_reports_of_few_segments_stop_nobody() {
    for (away, there) in [(1, 0), (0, 1)] {
        let mut s = two(RINGS, 2);
        s.bench.give_back(1);
        let mut taken = 0;
        for number in 0..40 {
            // 151 reports each, of which the ring has room for 128; some are in the walk at once.
            for _ in 0..if number % 10 == 0 { 9 } else { 1 } {
                let frame = tiny(&mut s, away, 150);
                s.deliver(frame);
            }
            let frame = write(&mut s, there, number);
            s.deliver(frame);
            s.bench.settle(200_000).unwrap();
            taken += s.bench.reports_of_port(there, usize::MAX).len();
            assert!(
                has_written(&s, there, number),
                "port {there}, Write {number}"
            );
        }
        assert_eq!(taken, 40, "port {there}");
        s.bench.write(reg::FENCE, 7);
        s.bench.settle(20_000).unwrap();
        assert_eq!(s.bench.read(reg::FENCE_DONE).unwrap(), 7);
        // What was stopped is whole in a raw slot, or was dropped before it changed anything.
        let reports = s.bench.reports_of_port(away, usize::MAX);
        let mut heard = 0;
        for (report, raw) in &reports {
            let report = SegmentReport::from_bytes(report);
            if report.kind == report_kind::SEGMENT {
                assert_eq!(report.done_len == report.payload_len, raw.is_none());
                heard += 1;
            }
        }
        let dropped = s.bench.counter(Counter::RxDropNoReportRoom).unwrap();
        assert_eq!(heard + dropped, 72, "port {away}");
        assert!(reports.len() >= 64, "port {away}: half of its ring");
    }
}

/// Behind a placement whose answer is late reports wait for it, and segments in the walk: what is on its way has room, and each of them two more.
#[test]
fn reports_that_wait_for_an_answer_have_room() {
    for (away, there) in [(1, 0), (0, 1)] {
        let (own, mut around) = rtl::any(1, 0);
        around.memory = Timing {
            write_latency: 3000..=3000,
            max_writes: 256,
            ..Timing::default()
        };
        let card = Box::new(rtl::Rtl128::new(own, around));
        let mut s = Flows::by_port(card, 2, RINGS, 2, |number| usize::from(number - 1));
        s.bench.give_back(1);
        let frame = write(&mut s, away, 0);
        s.deliver(frame);
        for _ in 0..40 {
            let frame = tiny(&mut s, away, 16);
            s.deliver(frame);
        }
        let frame = write(&mut s, there, 0);
        s.deliver(frame);
        s.bench.settle(1_000_000).unwrap();
        assert!(has_written(&s, there, 0), "port {there}");
        let [heard, kept] =
            [there, away].map(|port| s.bench.reports_of_port(port, usize::MAX).len());
        assert_eq!(heard, 1, "port {there}");
        let dropped = s.bench.counter(Counter::RxDropNoReportRoom).unwrap();
        assert!(
            dropped > 0 && kept >= 64,
            "port {away}: {kept}, {dropped} dropped"
        );
    }
}

/// Jobs that fail are reported, and wait for their own port's owner alone; so do replays.
#[test]
fn jobs_without_room_for_their_reports_hold_up_nobody() {
    const JOBS: usize = 300;
    for (away, there) in [(1, 0), (0, 1)] {
        for replays in [false, true] {
            let mut s = two(RINGS, 2);
            s.bench.sent();
            let octets = tiny(&mut s, away, 100)[54..].to_vec();
            let pieces = s.bench.region(octets.len());
            pieces.write(0, &octets).unwrap();
            detach(&mut s, away);
            s.bench.use_port(away);
            for _ in 0..JOBS {
                let job = match replays {
                    true => replay(&s.flows[away], pieces.iova, octets.len()),
                    false => Job::default(),
                };
                s.bench.post(&job, &[]);
                s.bench.ring_jobs();
                s.bench.world.run_cycles(5).unwrap();
            }
            s.bench.use_port(there);
            let frame = Job {
                kind: job_kind::RAW_FRAME,
                flags: Job::INLINE_PAYLOAD,
                length: 60,
                ..Job::default()
            };
            let mut sent = 0;
            for _ in 0..JOBS {
                s.bench.post(&frame, &[there as u8; 60]);
                s.bench.ring_jobs();
                s.bench.settle(4_000).unwrap();
                sent += s.bench.sent().len();
                s.bench.reports_of_port(there, usize::MAX);
            }
            assert_eq!(sent, JOBS, "port {there}, replays {replays}");
            let done = away as u32 * PORT_REGISTERS + reg::JOB_DONE;
            assert!(s.bench.read(done).unwrap() < JOBS as u32);
            // With its owner back nothing is lost.
            let mut reports = 0;
            while s.bench.read(done).unwrap() < JOBS as u32 {
                reports += s.bench.reports_of_port(away, usize::MAX).len();
                s.bench.settle(20_000).unwrap();
            }
            s.bench.settle(20_000).unwrap();
            reports += s.bench.reports_of_port(away, usize::MAX).len();
            assert!(reports >= JOBS, "{reports} reports");
        }
    }
}

fn detach(s: &mut Flows, flow: usize) {
    let number = s.flows[flow].number.into();
    let row = AttachRow::default().to_bytes();
    s.bench.write_table(table::ATTACH, number, &row).unwrap();
}

/// A job that walks these octets once more.
fn replay(flow: &Flow, iova: u64, length: usize) -> Job {
    let job = ReplayJob {
        kind: job_kind::REPLAY,
        flow: flow.number,
        length: length as u32,
        sge_count: 1,
        seq: SEQ,
        msn: 1,
        sge0_iova: iova,
        sge0_length: length as u32,
        ..ReplayJob::default()
    };
    Job::from_bytes(&job.to_bytes())
}

#[test]
fn raw_slots_are_each_port_s_own() {
    let rings = Rings {
        raw: 2,
        ..Rings::default()
    };
    let mut s = two(rings, 2);
    s.bench.hold_raw(true);
    // Segments beyond a gap need slots; the second port has four.
    s.flows[1].seq += 77;
    let sent: Vec<_> = (0..6).map(|number| write(&mut s, 1, number)).collect();
    for frame in &sent {
        s.deliver(frame.clone());
    }
    s.bench.settle(1_000_000).unwrap();
    assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 2);
    let raw = s.bench.reports_of_port(1, usize::MAX);
    assert_eq!(raw.len(), 4);
    for ((report, frame), sent) in raw.iter().zip(&sent) {
        assert!(SegmentReport::from_bytes(report).raw());
        assert!(
            frame.as_ref() == Some(sent),
            "the frame, in the port's own ring"
        );
    }
    // The first one has all of its own, for frames of no flow, too.
    let mut strange = write(&mut s, 0, 0);
    strange[37] ^= 1;
    strange[23] = 17;
    let unsummed = u16::from_be_bytes([strange[24], strange[25]]).wrapping_sub(11);
    strange[24..26].copy_from_slice(&unsummed.to_be_bytes());
    s.flows[0].seq += 77;
    for number in 0..2 {
        let frame = write(&mut s, 0, number);
        s.deliver(frame);
        s.deliver(strange.clone());
    }
    s.bench.settle(1_000_000).unwrap();
    let raw = s.bench.reports_of_port(0, usize::MAX);
    let kinds: Vec<u8> = raw.iter().map(|(report, _)| report[0]).collect();
    let (segment, frame) = (report_kind::SEGMENT, report_kind::FRAME);
    assert_eq!(kinds, [segment, frame, segment, frame]);
    let slots = raw.iter().map(|(r, _)| FrameReport::from_bytes(r).raw_slot);
    assert_eq!(slots.collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(s.bench.read(reg::RAW_TAIL).unwrap(), 4);
    assert_eq!(s.bench.read(PORT_REGISTERS + reg::RAW_TAIL).unwrap(), 4);
}

#[test]
fn a_port_without_rings_holds_up_nobody() {
    let mut s = two(Rings::default(), 1);
    for number in 0..20 {
        for flow in [1, 0] {
            let frame = write(&mut s, flow, number);
            s.deliver(frame);
        }
    }
    // A bare acknowledgment needs no slot, but would have a report.
    let bare = s.flows[1].frame(s.flows[1].seq, &[]);
    s.deliver(bare);
    s.bench.settle(1_000_000).unwrap();
    assert_eq!(s.bench.reports_of_port(0, usize::MAX).len(), 20);
    assert_eq!(s.bench.counter(Counter::RxDropNoReportRoom).unwrap(), 21);
    assert!(has_written(&s, 0, 19) && !has_written(&s, 1, 0));
    assert_eq!(s.bench.read(PORT_REGISTERS + reg::REPORT_TAIL).unwrap(), 0);
}

#[test]
fn a_ring_that_breaks_is_its_port_s_alone() {
    let mut s = two(Rings::default(), 2);
    let ring = {
        let mut half = |register: u32| u64::from(s.bench.read(register).unwrap());
        half(PORT_REGISTERS + reg::REPORT_BASE_LO)
            | half(PORT_REGISTERS + reg::REPORT_BASE_HI) << 32
    };
    let why = Refusal::NotMapped;
    s.bench.world.iommu(0).refuse(ring..ring + 4096, why);
    for number in 0..20 {
        for flow in [1, 0] {
            let frame = write(&mut s, flow, number);
            s.deliver(frame);
        }
    }
    s.bench.settle(1_000_000).unwrap();
    assert_eq!(s.bench.reports_of_port(0, usize::MAX).len(), 20);
    let failed = s.bench.read(reg::STATUS).unwrap();
    let (first, second) = (Status::REPORT_FAILED, Status::PORT1_FAILED);
    assert_eq!(failed & (first | second), second);
    assert!(s.bench.world.take_interrupt(0, 1), "its owner is told");
    assert!(!s.bench.world.take_interrupt(0, 0), "and nobody else");
}

#[test]
fn each_owner_has_interrupts_of_its_own() {
    let mut s = two(Rings::default(), 2);
    let after = PORT_DOORBELLS + doorbell::REPORT_ARM_AFTER + 4;
    for (arm, flow, pending) in [(after, 0, 0), (after, 1, 2), (doorbell::REPORT_ARM, 0, 3)] {
        s.bench.ring(arm, 0);
        s.bench.settle(10_000).unwrap();
        let frame = write(&mut s, flow, 0);
        s.deliver(frame);
        s.bench.settle(100_000).unwrap();
        assert_eq!(s.bench.world.pending(0), pending);
    }
}

#[test]
fn jobs_of_both_take_turns() {
    const JOBS: usize = 60;
    // A job waits for the one before, whosever that is.
    const FRAME: usize = 1400;
    let rings = Rings {
        report: 8,
        ..Rings::default()
    };
    let mut s = two(rings, 2);
    s.bench.sent();
    let frames = s.bench.region(2 * JOBS * FRAME);
    for port in [0, 1] {
        s.bench.use_port(port);
        for number in 0..JOBS {
            let at = (port * JOBS + number) * FRAME;
            frames.write(at, &[port as u8, number as u8]).unwrap();
            let job = Job {
                kind: job_kind::RAW_FRAME,
                flags: Job::NOTIFY,
                sge_count: 1,
                length: FRAME as u32,
                sge0_iova: frames.iova + at as u64,
                sge0_length: FRAME as u32,
                ..Job::default()
            };
            // One of the second port's is nothing that can be done.
            let bad = Job { kind: 0, ..job };
            let job = if (port, number) == (1, 20) { bad } else { job };
            s.bench.post(&job, &[]);
        }
        s.bench.ring_jobs();
    }
    s.bench.settle(1_000_000).unwrap();
    let sent: Vec<_> = s.bench.sent().into_iter().map(|seen| seen.frame).collect();
    let of = |port: u8| {
        let of = sent.iter().filter(move |frame| frame[0] == port);
        of.map(|frame| frame[1]).collect::<Vec<_>>()
    };
    let all: Vec<u8> = (0..JOBS as u8).collect();
    assert_eq!(of(0), all, "in their order");
    let but: Vec<u8> = all.iter().copied().filter(|n| *n != 20).collect();
    assert_eq!(of(1), but, "likewise");
    // From when both are there until one is done, neither goes twice more often.
    let begun = sent.iter().position(|frame| frame[0] == 1).unwrap();
    let both = &sent[begun..begun + JOBS / 2];
    let second = both.iter().filter(|frame| frame[0] == 1).count();
    assert!((JOBS / 6..=JOBS / 3).contains(&second), "{second} of 30");
    for port in 0..2 {
        let done = s.bench.read(port as u32 * PORT_REGISTERS + reg::JOB_DONE);
        assert_eq!(done.unwrap(), JOBS as u32);
        let reports = s.bench.reports_of_port(port, usize::MAX);
        let failed = reports.iter().filter_map(|(report, _)| {
            let report = JobReport::from_bytes(report);
            assert_eq!(report.kind, report_kind::JOB);
            (report.status != 0).then_some(report.job)
        });
        let expected: &[u32] = if port == 0 { &[] } else { &[20] };
        assert_eq!(failed.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_ring_set_up_anew_leaves_the_other_one() {
    let mut s = two(Rings::default(), 2);
    s.bench.sent();
    let job = Job {
        kind: job_kind::RAW_FRAME,
        flags: Job::INLINE_PAYLOAD,
        length: 60,
        ..Job::default()
    };
    for port in [1, 0] {
        s.bench.use_port(port);
        for _ in 0..40 {
            s.bench.post(&job, &[port as u8; 60]);
        }
        s.bench.ring_jobs();
    }
    s.bench.world.run_cycles(300).unwrap();
    s.bench.write(PORT_REGISTERS + reg::JOB_LOG2, 8);
    s.bench.settle(1_000_000).unwrap();
    assert_eq!(s.bench.read(reg::JOB_DONE).unwrap(), 40);
    assert_eq!(s.bench.read(PORT_REGISTERS + reg::JOB_DONE).unwrap(), 0);
    let sent = s.bench.sent();
    let of_second = sent.iter().filter(|seen| seen.frame[0] == 1).count();
    assert_eq!(sent.len() - of_second, 40);
    assert!((1..40).contains(&of_second), "{of_second} before it ended");
}

#[test]
fn one_at_a_time_has_the_tables() {
    let mut s = two(Rings::default(), 2);
    let (first, second) = (reg::TABLE_LOCK, PORT_REGISTERS + reg::TABLE_LOCK);
    let mut take = |register: u32| s.bench.read(register).unwrap();
    assert_eq!((take(first), take(second)), (1, 0));
    assert_eq!((take(first), take(second)), (1, 0), "asked again");
    // Only who has it gives it back.
    s.bench.write(second, 0);
    assert_eq!(s.bench.read(second).unwrap(), 0);
    s.bench.write(first, 0);
    assert_eq!(s.bench.read(second).unwrap(), 1);
    assert_eq!(s.bench.read(first).unwrap(), 0);
    s.bench.write(first, 0);
    assert_eq!(s.bench.read(first).unwrap(), 0);
    s.bench.write(second, 0);
    assert_eq!(s.bench.read(first).unwrap(), 1);
    // A reset takes it from whoever has it.
    s.bench.write(reg::CTRL, reg::Ctrl::RESET);
    while s.bench.read(reg::STATUS).unwrap() & Status::RESETTING != 0 {}
    assert_eq!(s.bench.read(second).unwrap(), 1);
}
