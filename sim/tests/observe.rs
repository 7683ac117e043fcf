//! What watches the card, through the driver: trace ring, capture, MAC loopback.

use std::sync::Arc;

use weft_card_transport::{Bar, Transport};
use weft_debug::capture::{Capture, CaptureConfig, CapturedFrame, Direction};
use weft_debug::trace::{DropReason, JobEnd, Trace, TraceKind, TraceReader, Verdict};
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::DeviceError;
use weft_layout::reg::Status;
use weft_layout::{
    doorbell, job_kind, reg, report_kind, trace_kind, AttachRow, Counter, FlowRxRow, FlowTxRow,
    Job, StagRow,
};
use weft_sim::bench::{Bench, Ends, Rings};
use weft_sim::card::CYCLE_NS;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::{ethernet, mpa};
use weft_sim::pair::{Operation, Pair};
use weft_sim::transport::SimTransport;

fn fabric(kind: CardKind) -> Fabric {
    let config = FabricConfig {
        cards: vec![kind; 2],
        ..FabricConfig::default()
    };
    Fabric::new(&config).unwrap_or_else(|e| panic!("{kind}: {e}"))
}

fn position(trace: &Trace, what: &str, wanted: impl Fn(&TraceKind) -> bool) -> usize {
    let found = trace.events.iter().position(|e| wanted(&e.kind));
    found.unwrap_or_else(|| {
        let all: Vec<String> = trace.events.iter().map(ToString::to_string).collect();
        panic!("no {what} in:\n{}", all.join("\n"))
    })
}

#[test]
fn the_trace_tells_the_life_of_a_send() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let source = vec![7; 4096];
        let quiet = ConnParam::default();
        let mut pair = Pair::connect(&fabric, 7471, &quiet, &quiet, &source, 4096).unwrap();
        pair.established().unwrap();
        let mut readers = [0, 1].map(|n| TraceReader::of(fabric.device(n)).unwrap());
        for reader in &mut readers {
            let trace = reader.poll().unwrap();
            assert!(
                !trace.events.is_empty() && trace.lost == 0,
                "{kind}: {trace:?}"
            );
        }
        pair.transfer(Operation::Send, 0, 0, 0, 100).unwrap();
        fabric.run_for(10_000).unwrap();
        let [sender, receiver] = readers.map(|mut r| r.poll().unwrap());
        for trace in [&sender, &receiver] {
            assert_eq!((trace.missed, trace.lost), (0, 0), "{kind}");
            assert!(trace.events.windows(2).all(|w| w[0].time <= w[1].time));
            assert!(trace.events.iter().all(|e| e.time <= trace.now), "{kind}");
        }
        let job = |k: &TraceKind| {
            matches!(
                k,
                TraceKind::JobBegin {
                    kind: job_kind::MESSAGE,
                    ..
                }
            )
        };
        let rung = |k: &TraceKind| matches!(k, TraceKind::Doorbell { offset, .. } if u32::from(*offset) == doorbell::JOB_TAIL);
        let out = |k: &TraceKind| {
            matches!(
                k,
                TraceKind::FrameOut {
                    fpdu: true,
                    looped: false,
                    ..
                }
            )
        };
        let done = |k: &TraceKind| {
            matches!(
                k,
                TraceKind::JobDone {
                    end: JobEnd::Done,
                    ..
                }
            )
        };
        let order = [
            position(&sender, "doorbell", rung),
            position(&sender, "job", job),
            position(&sender, "job done", done),
            position(&sender, "frame out", out),
        ];
        assert!(
            order[0] < order[1] && order[1] < order[2],
            "{kind}: {order:?}"
        );
        assert!(order[1] < order[3], "{kind}: {order:?}");
        // The wire is between the two: what one sent with a number came to the other with it.
        let TraceKind::FrameOut {
            length,
            seq: Some(seq),
            ..
        } = sender.events[order[3]].kind
        else {
            panic!("{kind}: no sequence number");
        };
        let came = position(&receiver, "frame in", |k| {
            *k == TraceKind::FrameIn {
                length,
                seq: Some(seq),
            }
        });
        let placed = position(
            &receiver,
            "verdict",
            |k| matches!(k, TraceKind::Verdict { verdict: Verdict::Placed, seq: s, .. } if *s == seq),
        );
        let report = position(&receiver, "report", |k| {
            matches!(k, TraceKind::Report { .. })
        });
        assert!(
            came < placed && came < report,
            "{kind}: {came} {placed} {report}"
        );
        let text = receiver.events[placed].to_string();
        assert!(
            text.contains("placed") && text.contains(&seq.to_string()),
            "{text}"
        );
    }
}

#[test]
fn a_card_whose_dma_is_broken_still_tells_why() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let card: Arc<dyn Transport> = Arc::new(SimTransport::new(fabric.world(), 0));
        // No driver from here on: a report ring where no memory is, and a frame that wants a report.
        for (register, value) in [
            (reg::REPORT_BASE_LO, 0x1000),
            (reg::REPORT_BASE_HI, 0),
            (reg::REPORT_LOG2, 4),
        ] {
            card.write32(Bar::Registers, register, value).unwrap();
        }
        let mut frame = vec![0xff; 60];
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        let mut other = frame.clone();
        other[0] = 2;
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, frame, false);
            world.deliver(0, other, false);
            world.run_cycles(2000).unwrap();
            world.iommu(0).take_faults();
        }
        let mut reader = TraceReader::open(Arc::clone(&card)).unwrap();
        let trace = reader.snapshot().unwrap();
        let is = |wanted: TraceKind| move |k: &TraceKind| *k == wanted;
        let dma = position(
            &trace,
            "DMA error",
            is(TraceKind::DmaError {
                read: None,
                write: true,
            }),
        );
        let report = position(&trace, "report", |k| {
            matches!(k, TraceKind::Report { number: 0, .. })
        });
        position(
            &trace,
            "drop",
            is(TraceKind::FrameDropped {
                reason: DropReason::Mac,
                length: 60,
                flow: None,
            }),
        );
        position(
            &trace,
            "register",
            is(TraceKind::Register {
                offset: reg::REPORT_BASE_LO as u16,
                value: 0x1000,
            }),
        );
        assert!(report < dma, "{kind}");
        assert_eq!(
            card.read32(Bar::Registers, reg::STATUS).unwrap() & Status::WRITE_ERROR,
            Status::WRITE_ERROR,
            "{kind}"
        );
        // Reading it again gives the same: nothing was disturbed.
        assert_eq!(reader.snapshot().unwrap().events, trace.events, "{kind}");

        // What is not wanted is not recorded, and nothing while it is frozen.
        reader.clear().unwrap();
        reader.only(&[trace_kind::REGISTER]).unwrap();
        card.write32(Bar::Registers, reg::SCRATCH, 1).unwrap();
        card.write32(Bar::Doorbells, doorbell::RAW_HEAD, 1).unwrap();
        reader.freeze(true).unwrap();
        card.write32(Bar::Registers, reg::SCRATCH, 2).unwrap();
        reader.freeze(false).unwrap();
        reader.everything().unwrap();
        card.write32(Bar::Doorbells, doorbell::RAW_HEAD, 1).unwrap();
        let texts: Vec<String> = reader
            .poll()
            .unwrap()
            .events
            .iter()
            .map(|e| e.kind.to_string())
            .collect();
        assert_eq!(
            texts,
            ["register SCRATCH written: 0x1", "doorbell RAW_HEAD: 1"],
            "{kind}"
        );
    }
}

#[test]
fn mac_loopback_keeps_the_errors_that_turning_it_on_clears() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let device = fabric.device(0);
        device.set_mac_loopback(true).unwrap();
        let ctrl = |card: &SimTransport| card.read32(Bar::Registers, reg::CTRL).unwrap();
        let card = SimTransport::new(fabric.world(), 0);
        assert_eq!(ctrl(&card), 7, "{kind}");
        device.set_mac_loopback(false).unwrap();
        assert_eq!(ctrl(&card), 3, "{kind}");
        card.write32(Bar::Registers, reg::REPORT_BASE_LO, 0x1000)
            .unwrap();
        card.write32(Bar::Registers, reg::REPORT_BASE_HI, 0)
            .unwrap();
        // A base is the ring's from when the ring is set up.
        let log2 = card.read32(Bar::Registers, reg::REPORT_LOG2).unwrap();
        card.write32(Bar::Registers, reg::REPORT_LOG2, log2)
            .unwrap();
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, vec![0xff; 60], false);
            world.run_cycles(2000).unwrap();
        }
        device.set_mac_loopback(true).unwrap();
        assert_eq!(
            card.read32(Bar::Registers, reg::STATUS).unwrap() & 6,
            0,
            "{kind}"
        );
        assert!(device.health().unwrap().dma_write_error, "{kind}");
    }
}

/// Everything that a capture has.
fn drain(capture: &mut Capture) -> Vec<CapturedFrame> {
    std::iter::from_fn(|| capture.poll().unwrap()).collect()
}

#[test]
fn both_ends_capture_the_same_frames_of_a_device_in_use() {
    for kind in CardKind::available() {
        let fabric = fabric(kind);
        let source: Vec<u8> = (0..60_000u32).map(|n| (n ^ n >> 8) as u8).collect();
        let quiet = ConnParam::default();
        let mut pair = Pair::connect(&fabric, 7471, &quiet, &quiet, &source, 60_000).unwrap();
        pair.established().unwrap();
        let config = CaptureConfig {
            slots_log2: 6,
            ..CaptureConfig::default()
        };
        // Nothing is on its way when they begin.
        fabric.run_for(100_000).unwrap();
        let mut captures = [0, 1].map(|n| Capture::start(fabric.device(n), config).unwrap());
        assert!(
            matches!(
                Capture::start(fabric.device(0), config),
                Err(DeviceError::CaptureRunning)
            ),
            "{kind}"
        );
        let mut image = vec![0; 60_000];
        let mut seen = [vec![], vec![]];
        // Several times around the ring.
        for turn in 0..6 {
            let (from, len) = (turn % 2, 20_000 + turn);
            pair.transfer(Operation::Write, 0, turn, from, len).unwrap();
            pair.check_target(
                Operation::Write,
                1,
                &mut image,
                from,
                &source[turn..turn + len],
            )
            .unwrap();
            fabric.run_for(20_000).unwrap();
            for (capture, seen) in captures.iter_mut().zip(&mut seen) {
                seen.extend(drain(capture));
            }
        }
        let [a, b] = &seen;
        assert!(a.len() > 100, "{kind}: {} frames", a.len());
        for (one, other) in [(a, b), (b, a)] {
            let of = |frames: &[CapturedFrame], direction| -> Vec<Vec<u8>> {
                let these = frames.iter().filter(|f| f.direction == direction);
                these.map(|f| f.bytes.clone()).collect()
            };
            assert!(
                of(one, Direction::Sent) == of(other, Direction::Received),
                "{kind}: what one sent is not what the other received"
            );
        }
        for frame in a.iter().chain(b) {
            assert_eq!(
                frame.bytes.len(),
                usize::from(frame.original_length),
                "{kind}"
            );
            assert!(!frame.bad_fcs && frame.lost_before == 0, "{kind}");
        }
        for direction in [Direction::Sent, Direction::Received] {
            let mut times = a
                .iter()
                .filter(|f| f.direction == direction)
                .map(|f| f.time_cycles);
            assert!(
                times.clone().is_sorted_by(|x, y| x < y),
                "{kind}: {direction:?}"
            );
            assert!(times.all(|t| t <= TraceReader::of(fabric.device(0)).unwrap().now().unwrap()));
        }
        // Another one after the first, with short slots; then memory is gone and nothing is written to it.
        drop(captures);
        let short = CaptureConfig {
            sent: false,
            snap: 60,
            slots_log2: 1,
            ..config
        };
        let mut capture = Capture::start(fabric.device(0), short).unwrap();
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, vec![0xaa; 900], true);
            world.run_cycles(2000).unwrap();
        }
        let frames = drain(&mut capture);
        assert_eq!(frames.len(), 1, "{kind}");
        let first = &frames[0];
        assert_eq!(
            (first.direction, first.bad_fcs, first.original_length),
            (Direction::Received, true, 900)
        );
        assert_eq!(first.bytes, [0xaa; 60], "{kind}");
        // Nobody looks: what finds no room is left out, and the next one says so.
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            for n in 0..400 {
                world.deliver(0, vec![n as u8; 900], true);
            }
            world.run_cycles(40_000).unwrap();
        }
        let counter = |name| fabric.device(0).counter(name).unwrap();
        let lost = counter("capture_rx_lost");
        assert!(lost > 0, "{kind}");
        let mut kept = drain(&mut capture);
        fabric.run_for(10_000).unwrap();
        while let Some(frame) = capture.poll().unwrap() {
            kept.push(frame);
            fabric.run_for(10_000).unwrap();
        }
        assert_eq!(kept.len() as u32 + lost, 400, "{kind}");
        assert!(kept.iter().all(|f| f.lost_before == 0), "{kind}");
        {
            let mut world = weft_sim::transport::lock(fabric.world());
            world.deliver(0, vec![1; 64], true);
            world.run_cycles(2000).unwrap();
        }
        assert_eq!(drain(&mut capture)[0].lost_before, lost, "{kind}");
        drop(capture);
        let mut world = weft_sim::transport::lock(fabric.world());
        world.deliver(0, vec![1; 64], true);
        world.run_cycles(2000).unwrap();
        assert!(world.iommu(0).faults().is_empty(), "{kind}");
    }
}

/// Cycles in which a card places and sends so many MTU-sized Writes at full rate, and the frames it captured and lost.
fn cycles_under_load(kind: CardKind, count: usize, capture: bool) -> (u64, u32, u32) {
    const PAYLOAD: usize = 1440;
    const SEGMENT: usize = PAYLOAD + 2 + 14 + 4;
    const SEQ: u32 = 0x1000;
    let rings = Rings {
        job: 12,
        report: 12,
        raw: 6,
        raw_slot: 14,
    };
    let link = LinkConfig {
        gbps: 1_000_000,
        ..LinkConfig::default()
    };
    let mut bench = Bench::new(kind.build(1, 0), 1, link, rings).unwrap();
    let memory = bench.region(1 << 20);
    let ends = Ends::of(1);
    let stag = StagRow {
        valid: StagRow::VALID,
        key: 1,
        access: StagRow::LOCAL_WRITE
            | StagRow::REMOTE_READ
            | StagRow::REMOTE_WRITE
            | StagRow::READ_SINK,
        pd: 1,
        base: 0,
        length: 1 << 20,
        iova: memory.iova,
    };
    bench.stag(0x101, &stag).unwrap();
    let rx = FlowRxRow {
        flags: FlowRxRow::CRC | FlowRxRow::VALID,
        rq_log2: 2,
        pd: 1,
        marker_base: SEQ,
        rq_base: memory.iova,
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
        .flow(
            1,
            &ends,
            &rx,
            &ends.tx(FlowTxRow::CRC | FlowTxRow::VALID, SEQ),
            &attach,
        )
        .unwrap();
    let ring = bench.region(2048 << 12);
    for (register, value) in [
        (reg::CAPTURE_BASE_LO, ring.iova as u32),
        (reg::CAPTURE_BASE_HI, (ring.iova >> 32) as u32),
        (reg::CAPTURE_LOG2, 12 << 8 | 11),
        (reg::CAPTURE_CTRL, 0xffff_0000 | if capture { 3 } else { 0 }),
    ] {
        bench.write(register, value);
    }
    bench.settle(1_000_000).unwrap();
    bench.sent();
    for number in 0..count {
        let job = Job {
            kind: job_kind::MESSAGE,
            flags: Job::TAGGED | Job::LAST,
            flow: 1,
            seq: SEQ.wrapping_add((number * SEGMENT) as u32),
            tcp_flags: 0x18,
            sge_count: 1,
            length: PAYLOAD as u32,
            fpdu_payload: PAYLOAD as u16,
            rdmap_control: 0x40,
            stag_or_qn: 0x101,
            sge0_iova: memory.iova,
            sge0_length: PAYLOAD as u32,
            ..Job::default()
        };
        bench.post(&job, &[]);
    }
    bench.ring_jobs();
    let start = bench.world.now();
    let (mut fed, mut placed, mut sent) = (0, 0, 0);
    while placed < count || sent < count {
        while fed < count && fed - placed < 32 {
            let mut ulpdu = vec![0xc1, 0x40];
            ulpdu.extend_from_slice(&0x101u32.to_be_bytes());
            ulpdu.extend_from_slice(&((fed * PAYLOAD % 1_000_000) as u64).to_be_bytes());
            ulpdu.resize(14 + PAYLOAD, fed as u8);
            let fpdu = mpa::frame(0, None, true, &ulpdu);
            let seq = SEQ.wrapping_add((fed * fpdu.len()) as u32);
            let row = ends.peer_tx(FlowTxRow::VALID, 0);
            let frame = ethernet::segment(&row, &Job::default(), seq, 0x10, 0, &fpdu);
            bench.world.deliver(0, frame, false);
            fed += 1;
        }
        bench.world.run_cycles(4).unwrap();
        placed += bench
            .reports()
            .iter()
            .filter(|r| r.0[0] == report_kind::SEGMENT)
            .count();
        sent += bench.sent().len();
        assert!(
            bench.world.now() < 10_000_000,
            "{kind}: stuck with {placed} placed, {sent} sent"
        );
    }
    let cycles = (bench.world.now() - start) / CYCLE_NS;
    bench.settle(1_000_000).unwrap();
    let counter = |bench: &mut Bench, c| bench.counter(c).unwrap();
    assert_eq!(
        counter(&mut bench, Counter::RxSegmentsPlaced) as usize,
        count,
        "{kind}"
    );
    let frames = counter(&mut bench, Counter::CaptureRxFrames)
        + counter(&mut bench, Counter::CaptureTxFrames);
    let lost =
        counter(&mut bench, Counter::CaptureRxLost) + counter(&mut bench, Counter::CaptureTxLost);
    (cycles, frames, lost)
}

#[test]
fn a_capture_takes_only_what_the_data_path_leaves() {
    for kind in CardKind::available() {
        let (alone, ..) = cycles_under_load(kind, 300, false);
        let (watched, frames, lost) = cycles_under_load(kind, 300, true);
        println!("{kind}: {alone} cycles alone, {watched} with capture, {frames} frames captured, {lost} left out");
        assert_eq!(frames + lost, 600, "{kind}");
        assert!(frames > 0, "{kind}");
        assert!(
            watched <= alone + alone / 20,
            "{kind}: {alone} cycles alone, {watched} with capture"
        );
    }
}
