//! Writes that host memory refuses, of each kind and in each place: they are told, and nobody else is hurt.

use crate::flows;

use flows::{Flow, Flows, MEMORY};
use weft_layout::reg::Status;
use weft_layout::{
    fpdu_verdict, reg, report_kind, Counter, FpduReport, FrameReport, ReceiveElement, SegmentReport,
};
use weft_sim::bench::Rings;
use weft_sim::card::Card;
use weft_sim::iommu::Refusal;
use weft_sim::kind::CardKind;

/// What AXI calls a decode error and a slave error.
const REFUSALS: [Refusal; 2] = [Refusal::NotMapped, Refusal::Broken];
const PAGE: u64 = 4096;

/// Each card with one flow, each refusal.
fn each(test: impl Fn(&mut Flows, Refusal, &str)) {
    each_by(|card, rings| Flows::new(card, 1, rings), test);
}

/// The same, of a flow that is made so.
fn each_by(made: impl Fn(Box<dyn Card>, Rings) -> Flows, test: impl Fn(&mut Flows, Refusal, &str)) {
    for kind in CardKind::available() {
        for why in REFUSALS {
            let rings = Rings {
                raw: 2,
                ..Rings::default()
            };
            let mut flows = made(kind.build(1, 0), rings);
            test(&mut flows, why, &format!("{kind}, {why}"));
        }
    }
}

#[test]
fn a_placement_that_failed_is_not_placed() {
    each(|s, why, what| {
        // A burst in each of three pages; one burst, one beat.
        let cases = [
            (8000, 0, [PAGE - 1000, PAGE + 2000, 3 * PAGE - 1200]),
            (1400, 1000, [0, 700, 1399]),
            (8, 100, [0, 3, 7]),
        ];
        let mut failed = 0;
        for (len, skip, places) in cases {
            for place in places {
                let to = PAGE - 1000 + skip;
                let byte = s.flows[0].memory.iova + if len == 8000 { place } else { to + place };
                let flow = &mut s.flows[0];
                let bad = flow.write(to, &vec![0xee; len]);
                let good = flow.write(5 * PAGE, &[place as u8; 40]);
                let frame = flow.segment(&[bad, good]);
                s.bench.world.iommu(0).refuse(byte..byte + 1, why);
                s.deliver(frame);
                let reports = s.settle();
                failed += 1;
                let kinds: Vec<u8> = reports.iter().map(|r| r[0]).collect();
                assert_eq!(
                    kinds,
                    [report_kind::FPDU, report_kind::FPDU, report_kind::SEGMENT],
                    "{what}, {len} bytes, {place}"
                );
                let verdicts = [0, 1].map(|i| FpduReport::from_bytes(&reports[i]).verdict);
                assert_eq!(
                    verdicts,
                    [fpdu_verdict::PLACE_FAILED, fpdu_verdict::PLACED],
                    "{what}, {len} bytes, {place}"
                );
                let segment = SegmentReport::from_bytes(&reports[2]);
                assert_eq!(
                    (segment.flags, segment.status, segment.done_len),
                    (SegmentReport::ATTACHED, 0, segment.payload_len),
                    "{what}: the position moves on"
                );
                let placed = s.flows[0].memory.read(5 * PAGE as usize, 40).unwrap();
                assert_eq!(placed, [place as u8; 40], "{what}");
                s.bench.world.iommu(0).refuse(0..0, why);
            }
        }
        assert_eq!(
            s.bench.counter(Counter::RxPlaceFailed).unwrap(),
            failed,
            "{what}"
        );
        assert_eq!(
            s.bench.counter(Counter::RxFpdusPlaced).unwrap(),
            failed,
            "{what}"
        );
        assert_eq!(
            s.bench.read(reg::STATUS).unwrap() & Status::WRITE_ERROR,
            Status::WRITE_ERROR
        );
        assert!(!s.bench.world.iommu(0).take_faults().is_empty());
    });
}

/// A segment that is one FPDU makes one report when it was placed, two when it was not.
#[test]
fn a_failed_placement_that_is_all_of_its_segment() {
    each(|s, why, what| {
        for (place, len) in [(0, 8), (100, 40), (PAGE - 700, 1400)] {
            for fails in [true, false] {
                let byte = s.flows[0].memory.iova + place + 3;
                let flow = &mut s.flows[0];
                let write = flow.write(place, &vec![0x5a; len]);
                let frame = flow.segment(&[write]);
                if fails {
                    s.bench.world.iommu(0).refuse(byte..byte + 1, why);
                }
                s.deliver(frame);
                s.bench.settle(1_000_000).unwrap();
                let reports = s.bench.reports_as_written(9);
                let kinds: Vec<u8> = reports.iter().map(|r| r.0[0]).collect();
                if fails {
                    assert_eq!(
                        kinds,
                        [report_kind::FPDU, report_kind::SEGMENT],
                        "{what}, {len} bytes"
                    );
                    let verdict = FpduReport::from_bytes(&reports[0].0).verdict;
                    assert_eq!(verdict, fpdu_verdict::PLACE_FAILED, "{what}, {len} bytes");
                } else {
                    assert_eq!(kinds, [report_kind::PLACED], "{what}, {len} bytes");
                }
                s.bench.world.iommu(0).refuse(0..0, why);
            }
        }
    });
}

/// A Send over several SGEs is written in pieces: each of them counts.
#[test]
fn a_send_of_which_any_piece_failed_is_not_placed() {
    let place = |slot: u64, sge: u64| PAGE * (1 + sge) + 200 * slot;
    let receive = |flow: &Flow, slot: usize| {
        let (stag, slot) = (flow.stag, slot as u64 % 8);
        let element = ReceiveElement {
            sge0_to: place(slot, 0),
            sge0_length: 100,
            sge0_stag: stag,
            sge1_to: place(slot, 1),
            sge1_length: 100,
            sge1_stag: stag,
            sge2_to: place(slot, 2),
            sge2_length: 100,
            sge2_stag: stag,
            ..ReceiveElement::default()
        };
        element.to_bytes()
    };
    let made = |card, rings| Flows::with_receives(card, rings, &receive);
    each_by(made, |s, why, what| {
        for sge in 0..3 {
            let slot = 2 * sge;
            let byte = s.flows[0].memory.iova + place(slot, sge) + 50;
            s.bench.world.iommu(0).refuse(byte..byte + 1, why);
            let flow = &mut s.flows[0];
            let bad = flow.send(&[0xee; 300]);
            let good = flow.send(&[sge as u8 + 1; 300]);
            let frame = flow.segment(&[bad, good]);
            s.deliver(frame);
            let reports = s.settle();
            let verdicts = [0, 1].map(|i| FpduReport::from_bytes(&reports[i]).verdict);
            assert_eq!(
                verdicts,
                [fpdu_verdict::PLACE_FAILED, fpdu_verdict::PLACED],
                "{what}, SGE {sge}"
            );
            for piece in 0..3 {
                let at = place(slot + 1, piece) as usize;
                let placed = s.flows[0].memory.read(at, 100).unwrap();
                assert_eq!(placed, [sge as u8 + 1; 100], "{what}, SGE {sge}");
            }
            s.bench.world.iommu(0).refuse(0..0, why);
        }
        s.bench.world.iommu(0).take_faults();
    });
}

#[test]
fn a_raw_frame_that_failed_is_told() {
    each(|s, why, what| {
        let raw_base = u64::from(s.bench.read(reg::RAW_BASE_LO).unwrap())
            | u64::from(s.bench.read(reg::RAW_BASE_HI).unwrap()) << 32;
        let mut failed = 0;
        for (number, place) in [0u64, 700, 1513, 0, 700, 1453].into_iter().enumerate() {
            let slot = raw_base + ((2 * number as u64 % 4) << 14);
            let frame = if number < 3 {
                // Of no flow.
                let mut frame = vec![0x77; 1514];
                frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
                frame
            } else {
                // A gap: the whole segment goes up.
                s.flows[0].frame(flows::SEQ + 50_000, &[1; 1400])
            };
            s.bench
                .world
                .iommu(0)
                .refuse(slot + place..slot + place + 1, why);
            s.deliver(frame.clone());
            s.deliver(frame);
            let reports = s.settle();
            failed += 1;
            let status: Vec<u8> = reports
                .iter()
                .map(|r| match r[0] {
                    1 => SegmentReport::from_bytes(r).status,
                    _ => FrameReport::from_bytes(r).status,
                })
                .collect();
            assert_eq!(status, [0x80, 0], "{what}, frame {number}, byte {place}");
            s.bench.world.iommu(0).refuse(0..0, why);
        }
        assert_eq!(
            s.bench.counter(Counter::RxRawFailed).unwrap(),
            failed,
            "{what}"
        );
        s.bench.world.iommu(0).take_faults();
    });
}

#[test]
fn a_report_that_failed_is_the_last() {
    for place in [0, 40, 63] {
        each(|s, why, what| {
            let base = u64::from(s.bench.read(reg::REPORT_BASE_LO).unwrap())
                | u64::from(s.bench.read(reg::REPORT_BASE_HI).unwrap()) << 32;
            let interrupts = s.bench.read(reg::MSIX_COUNT).unwrap();
            let tail = s.bench.read(reg::REPORT_TAIL).unwrap();
            let byte = base + u64::from(tail + 4) * 64 + place;
            s.bench.world.iommu(0).refuse(byte..byte + 1, why);
            for n in 0..6 {
                let flow = &mut s.flows[0];
                let ulpdu = flow.write(n * 100, &[n as u8 + 1; 100]);
                let frame = flow.segment(&[ulpdu]);
                s.deliver(frame);
            }
            let reports = s.settle();
            if place == 63 {
                // Its phase is not there. Each of those before it stands for two.
                assert_eq!(reports.len(), 2 * 4, "{what}");
            }
            let read = s.bench.read(reg::STATUS).unwrap();
            assert_ne!(read & Status::REPORT_FAILED, 0, "{what}: {read:#x}");
            let after = s.bench.read(reg::MSIX_COUNT).unwrap();
            assert_eq!(after, interrupts + 1, "{what}");
            // Nothing helps but a reset.
            s.bench.world.iommu(0).refuse(0..0, why);
            s.bench.write(reg::CTRL, 3);
            s.bench.settle(100_000).unwrap();
            assert_eq!(s.bench.read(reg::REPORT_TAIL).unwrap(), tail + 4, "{what}");
            let read = s.bench.read(reg::STATUS).unwrap();
            assert_ne!(read & Status::REPORT_FAILED, 0, "{what}: {read:#x}");
            s.bench.world.iommu(0).take_faults();
        });
    }
}

#[test]
fn a_capture_that_failed_hurts_nobody() {
    each(|s, why, what| {
        let ring = s.bench.region(MEMORY);
        s.bench.write(reg::CAPTURE_BASE_LO, ring.iova as u32);
        s.bench
            .write(reg::CAPTURE_BASE_HI, (ring.iova >> 32) as u32);
        s.bench.write(reg::CAPTURE_LOG2, 4 << 8 | 11);
        s.bench.write(reg::CAPTURE_CTRL, 0x0800_0001);
        s.bench.read(reg::CAPTURE_CTRL).unwrap();
        s.bench
            .world
            .iommu(0)
            .refuse(ring.iova..ring.iova + 5000, why);
        for n in 0..6 {
            let flow = &mut s.flows[0];
            let ulpdu = flow.write(n * 1000, &[n as u8 + 1; 1000]);
            let frame = flow.segment(&[ulpdu]);
            s.deliver(frame);
        }
        let reports = s.settle();
        assert_eq!(reports.len(), 12, "{what}");
        let fpdus = reports.iter().filter(|r| r[0] == report_kind::FPDU);
        assert!(
            fpdus
                .map(FpduReport::from_bytes)
                .all(|f| f.verdict == fpdu_verdict::PLACED),
            "{what}"
        );
        assert_eq!(
            s.bench.counter(Counter::RxPlaceFailed).unwrap(),
            0,
            "{what}"
        );
        assert_eq!(
            s.bench.counter(Counter::CaptureRxFrames).unwrap(),
            6,
            "{what}"
        );
        assert_ne!(
            s.bench.counter(Counter::DmaWriteErrors).unwrap(),
            0,
            "{what}"
        );
        s.bench.world.iommu(0).take_faults();
    });
}
