//! Rings that are set up anew while frames are on their way: nothing is lost or comes twice, each count is of its own ring.

use crate::flows;

use flows::Flows;
use weft_layout::{doorbell, reg, report_kind, SegmentReport, PORT_DOORBELLS, PORT_REGISTERS};
use weft_sim::bench::Rings;
use weft_sim::kind::CardKind;

/// Frames of a burst: a Write, and behind it one that leaves a gap.
const FRAMES: usize = 24;

/// Each card, and each of its ports.
fn each(test: impl Fn(&mut Flows, usize)) {
    for kind in CardKind::available() {
        let ports = if kind == CardKind::Rtl128 { 2 } else { 1 };
        for port in 0..ports {
            eprintln!("card: {kind}, port {port}");
            let mut s = Flows::by_port(
                kind.build(1, 0),
                2,
                Rings {
                    raw: 8,
                    ..Rings::default()
                },
                ports,
                |_| port,
            );
            test(&mut s, port);
            let faults = s.bench.world.iommu(0).take_faults();
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
}

/// A burst of Writes of the first flow, and of segments of the second one that are out of order: raw.
fn burst(s: &mut Flows) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for number in 0..FRAMES {
        let write = s.flows[0].write(0, &[number as u8; 200]);
        frames.push(s.flows[0].segment(&[write]));
        let gap = s.flows[1].seq.wrapping_add(1000 + 64 * number as u32);
        frames.push(s.flows[1].frame(gap, &[number as u8; 64]));
    }
    for frame in &frames {
        s.deliver(frame.clone());
    }
    frames
}

/// What came of it: the numbers of each flow's segments, in their order, and that each raw frame is the one that was sent.
fn heard(s: &mut Flows, port: usize, frames: &[Vec<u8>]) -> [Vec<u32>; 2] {
    let mut seqs = [vec![], vec![]];
    for (report, raw) in s.bench.reports_of_port(port, usize::MAX) {
        assert!(matches!(
            report[0],
            report_kind::SEGMENT | report_kind::PLACED
        ));
        let segment = SegmentReport::from_bytes(&report);
        let flow = usize::from(segment.flow) - 1;
        if flow == 1 {
            let sent = &frames[2 * seqs[1].len() + 1];
            assert_eq!(raw.as_ref(), Some(sent), "raw frame {}", seqs[1].len());
        }
        seqs[flow].push(segment.seq);
    }
    seqs
}

#[test]
fn what_is_on_its_way_lies_in_one_ring_or_the_other() {
    for cycles in [0, 30, 60, 100, 150, 250, 400] {
        each(|s, port| {
            s.bench
                .ring(doorbell::REPORT_ARM + port as u32 * PORT_DOORBELLS, 0);
            let frames = burst(s);
            s.bench.world.run_cycles(cycles).unwrap();
            s.bench.renew_rings(port);
            s.bench.settle(1_000_000).unwrap();
            let seqs = heard(s, port, &frames);
            for (flow, seqs) in seqs.iter().enumerate() {
                assert_eq!(seqs.len(), FRAMES, "flow {flow}, {cycles} cycles");
                assert!(seqs.is_sorted_by(|a, b| a < b), "flow {flow}: {seqs:?}");
            }
            let behind = port as u32 * PORT_REGISTERS;
            let tail = |s: &mut Flows, r| s.bench.read(behind + r).unwrap();
            let tails = (tail(s, reg::REPORT_TAIL), tail(s, reg::RAW_TAIL));
            assert_eq!(tails, s.bench.heads(port), "{cycles} cycles");
            // Interrupts count anew as well: nothing is there that was not taken, and then one is.
            s.bench
                .ring(doorbell::REPORT_ARM + port as u32 * PORT_DOORBELLS, tails.0);
            s.bench.settle(1_000_000).unwrap();
            let before = s.bench.read(reg::MSIX_COUNT).unwrap();
            let ack = s.flows[0].frame(s.flows[0].seq, &[]);
            s.deliver(ack);
            s.bench.settle(1_000_000).unwrap();
            assert_eq!(s.bench.read(reg::MSIX_COUNT).unwrap(), before + 1);
        });
    }
}

/// A base that is written counts when the ring is set up: not for what is on its way until then.
#[test]
fn a_base_counts_from_when_the_ring_is_set_up() {
    each(|s, port| {
        let behind = port as u32 * PORT_REGISTERS;
        for register in [reg::REPORT_BASE_HI, reg::RAW_BASE_HI, reg::JOB_BASE_HI] {
            s.bench.write(behind + register, 0xdead);
            assert_eq!(s.bench.read(behind + register).unwrap(), 0xdead);
        }
        let frames = burst(s);
        s.bench.settle(1_000_000).unwrap();
        let seqs = heard(s, port, &frames);
        assert_eq!(seqs.map(|seqs| seqs.len()), [FRAMES; 2]);
    });
}
