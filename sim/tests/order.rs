//! What the card needs of the order in which the host sees its writes, and that it needs no more: each bridge that keeps the rule of
//! docs/card.md does all else as it likes, and for each part of the rule one that breaks it is found out.
#![cfg(rtl)]

use crate::flows;

use std::collections::VecDeque;

use flows::load::Load;
use flows::{Flows, ELEMENT, IN_FLIGHT, MEMORY, RQ_LOG2};
use weft_debug::capture::{Capture, CaptureConfig, CapturedFrame, Direction};
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::SendWr;
use weft_layout::{doorbell, fpdu_verdict, report_kind, FpduReport, FrameReport, SegmentReport};
use weft_sim::bench::Rings;
use weft_sim::card::{Card, CYCLE_NS};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::pair::{Operation, Pair};
use weft_sim::rtl::{self, Pushes, Visible};

/// Frames on their way into the card: less than there are receive elements and raw slots.
const FRAMES_IN_FLIGHT: usize = 40;

const WIDTHS: [usize; 3] = [512, 256, 128];

/// Card `number` at this width, behind this bridge.
fn card(width: usize, seed: u64, number: u32, visible: Visible, pushes: Pushes) -> Box<dyn Card> {
    let (own, around) = rtl::ordered(seed, number, visible, pushes);
    match width {
        512 => Box::new(rtl::Rtl512::new(own, around)),
        256 => Box::new(rtl::Rtl256::new(own, around)),
        _ => Box::new(rtl::Rtl128::new(own, around)),
    }
}

fn rings() -> Rings {
    Rings {
        // Small: each slot is used several times, so that a stale one would be taken for a new one.
        report: 6,
        raw: 6,
        raw_slot: 14,
        ..Rings::default()
    }
}

/// Runs `test` over every bridge that keeps the rule.
fn lawful(seeds: std::ops::Range<u64>, test: impl Fn(u64, Box<dyn Card>) -> Result<(), String>) {
    for visible in Visible::LAWFUL {
        for seed in seeds.clone() {
            for width in WIDTHS {
                let card = card(width, seed, 0, visible, Pushes::default());
                if let Err(what) = test(seed, card) {
                    panic!("{width} bits, {visible:?}, seed {seed}: {what}");
                }
            }
        }
    }
}

/// Runs `test` over a bridge that breaks the rule, until it is found out.
fn unlawful(
    visible: Visible,
    pushes: Pushes,
    test: impl Fn(u64, Box<dyn Card>) -> Result<(), String>,
) {
    for width in WIDTHS {
        let caught = (0..20).any(|seed| {
            let result = test(seed, card(width, seed, 0, visible, pushes));
            if let Err(what) = &result {
                println!("{width} bits, {visible:?}, {pushes:?}, seed {seed}: {what}");
            }
            result.is_err()
        });
        assert!(caught, "{visible:?}, {pushes:?} was not found out");
    }
}

/// What a report in a flow's order will tell of.
enum Told {
    /// An FPDU whose payload is at an offset of the flow's region.
    Placed(usize, Vec<u8>),
    /// An FPDU that is the engine's.
    Engine,
    /// The segment, with nothing in the raw ring.
    Whole,
    /// The segment's frame is in a raw slot.
    Raw(Vec<u8>),
}

/// A host that polls: whenever a report is there, all is there that it speaks of.
fn polls(seed: u64, card: Box<dyn Card>) -> Result<(), String> {
    let mut rng = rtl_sim::Seed(seed).rng("test");
    let count = 3;
    let mut s = Flows::new(card, count as u16, rings());
    let mut told: Vec<VecDeque<Told>> = (0..count).map(|_| VecDeque::new()).collect();
    let mut junk: VecDeque<Vec<u8>> = VecDeque::new();
    let mut sizes: VecDeque<usize> = VecDeque::new();
    let mut next = vec![0; count];
    let (mut fed, mut done) = (0, 0);
    while done < 600 {
        while fed < 600 && sizes.len() < FRAMES_IN_FLIGHT && sizes.iter().sum::<usize>() < IN_FLIGHT
        {
            let at = rng.usize(0..count);
            let flow = &mut s.flows[at];
            let data: Vec<u8> = (0..rng.usize(1..1300)).map(|_| rng.u8(..)).collect();
            let frame = match rng.u8(0..8) {
                0 => {
                    // Not IP: the raw ring.
                    let mut frame = vec![0x88; 64 + data.len()];
                    frame[..6].copy_from_slice(&flow.ends.local_mac);
                    frame[64..].copy_from_slice(&data);
                    junk.push_back(frame.clone());
                    frame
                }
                1 => {
                    // A Read Request is the engine's, with the frame that it came in.
                    let mut ulpdu =
                        vec![0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0];
                    ulpdu.extend_from_slice(&data);
                    let frame = flow.segment(&[ulpdu]);
                    told[at].extend([Told::Engine, Told::Raw(frame.clone())]);
                    frame
                }
                2 | 3 => {
                    // Into the receive elements, in turn.
                    let data = &data[..data.len().min(ELEMENT)];
                    let slot = (flow.msn as usize - 1) % (1 << RQ_LOG2);
                    told[at].push_back(Told::Placed(slot * ELEMENT, data.to_vec()));
                    told[at].push_back(Told::Whole);
                    let ulpdu = flow.send(data);
                    flow.segment(&[ulpdu])
                }
                _ => {
                    // Above the elements, in turn; one Write or two in a segment.
                    let mut ulpdus = Vec::new();
                    let cut = rng.usize(0..data.len());
                    for part in [&data[..cut], &data[cut..]] {
                        if part.is_empty() {
                            continue;
                        }
                        let low = ELEMENT << RQ_LOG2;
                        if next[at] + part.len() > MEMORY - low {
                            next[at] = 0;
                        }
                        let to = low + next[at];
                        next[at] += part.len();
                        told[at].push_back(Told::Placed(to, part.to_vec()));
                        ulpdus.push(flow.write(to as u64, part));
                    }
                    told[at].push_back(Told::Whole);
                    flow.segment(&ulpdus)
                }
            };
            sizes.push_back(frame.len());
            s.deliver(frame);
            fed += 1;
        }
        s.bench
            .world
            .run_cycles(rng.u64(1..6))
            .map_err(|e| e.to_string())?;
        if s.bench.world.now() > 2_000_000 * CYCLE_NS {
            return Err(format!("stuck: {done} of {fed} frames reported"));
        }
        for (bytes, raw) in s.bench.some_reports(1) {
            if bytes[0] == report_kind::FRAME {
                let report = FrameReport::from_bytes(&bytes);
                let frame = junk.pop_front().ok_or("a frame too many")?;
                let raw = raw.unwrap_or_default();
                if usize::from(report.raw_len) != frame.len() || raw != frame {
                    return Err(format!("frame report {done}: its raw slot is not written"));
                }
                (done, _) = (done + 1, sizes.pop_front());
                continue;
            }
            let number = usize::from(SegmentReport::from_bytes(&bytes).flow);
            let at = number.checked_sub(1).filter(|at| *at < count);
            let at = at.ok_or_else(|| format!("a report of flow {number}: {bytes:02x?}"))?;
            match (bytes[0], told[at].pop_front()) {
                (report_kind::FPDU, Some(Told::Placed(to, data))) => {
                    let report = FpduReport::from_bytes(&bytes);
                    if report.verdict != fpdu_verdict::PLACED {
                        return Err(format!("verdict {}", report.verdict));
                    }
                    let is = s.flows[at]
                        .memory
                        .read(to, data.len())
                        .map_err(|e| e.to_string())?;
                    if is != data {
                        return Err(format!("FPDU report {done}: its payload is not there"));
                    }
                }
                (report_kind::FPDU, Some(Told::Engine)) => {}
                (report_kind::SEGMENT, Some(Told::Whole)) if raw.is_none() => {
                    (done, _) = (done + 1, sizes.pop_front());
                }
                (report_kind::SEGMENT, Some(Told::Raw(frame))) => {
                    if raw.as_deref() != Some(&frame[..]) {
                        return Err(format!("segment report {done}: its frame is not there"));
                    }
                    (done, _) = (done + 1, sizes.pop_front());
                }
                (kind, _) => return Err(format!("report {done}: kind {kind} was not next")),
            }
        }
    }
    Ok(())
}

#[test]
fn a_report_is_seen_behind_what_it_speaks_of() {
    lawful(0..3, polls);
}

#[test]
fn that_a_write_stays_behind_answered_ones_is_needed() {
    unlawful(Visible::Unordered, Pushes::default(), polls);
}

#[test]
fn that_a_report_becomes_visible_front_to_back_is_needed() {
    unlawful(Visible::Torn, Pushes::default(), polls);
}

/// A host that sleeps: when it is woken the report is there.
fn sleeps(seed: u64, card: Box<dyn Card>) -> Result<(), String> {
    let mut rng = rtl_sim::Seed(seed).rng("test");
    let mut s = Flows::new(card, 1, rings());
    for number in 1..=60 {
        s.bench.ring(doorbell::REPORT_ARM, number - 1);
        let data = vec![number as u8; rng.usize(1..1300)];
        let to = rng.usize(0..MEMORY - data.len());
        let ulpdu = s.flows[0].write(to as u64, &data);
        let frame = s.flows[0].segment(&[ulpdu]);
        s.deliver(frame);
        let limit = s.bench.world.now() + 100_000 * CYCLE_NS;
        while !s.bench.world.take_interrupt(0, 0) {
            if s.bench.world.now() > limit {
                return Err(format!("no interrupt {number}"));
            }
            s.bench.world.run_cycles(1).map_err(|e| e.to_string())?;
        }
        if s.bench.some_reports(1).is_empty() {
            return Err(format!("interrupt {number} is ahead of its report"));
        }
        if s.flows[0].memory.read(to, data.len()).ok().as_ref() != Some(&data) {
            return Err(format!("report {number} is ahead of its payload"));
        }
        s.bench.settle(1_000_000).map_err(|e| e.to_string())?;
        s.bench.reports();
    }
    Ok(())
}

#[test]
fn an_interrupt_comes_behind_its_report() {
    lawful(0..3, sleeps);
}

#[test]
fn that_an_interrupt_stays_behind_answered_writes_is_needed() {
    let pushes = Pushes {
        interrupts: false,
        ..Pushes::default()
    };
    for visible in [Visible::Posted, Visible::Relaxed, Visible::Weakest] {
        unlawful(visible, pushes, sleeps);
    }
}

/// A host that takes memory away behind a fence that it reads.
fn fences(seed: u64, card: Box<dyn Card>) -> Result<(), String> {
    let mut rng = rtl_sim::Seed(seed).rng("test");
    let mut s = Flows::new(card, 6, rings());
    let mut load = Load::writes();
    for other in 1..6 {
        load.other = other;
        for _ in 0..rng.usize(40..400) {
            load.run(&mut s);
        }
        s.invalidate(other);
        if load.fence(&mut s, other as u32, 200_000).is_none() {
            return Err(format!("fence {other} does not end"));
        }
        s.bench.world.iommu(0).unmap(s.flows[other].memory.iova);
        for _ in 0..400 {
            load.run(&mut s);
        }
        let faults = s.bench.world.iommu(0).take_faults();
        if let Some(fault) = faults.first() {
            return Err(format!("behind fence {other}: {fault}"));
        }
    }
    Ok(())
}

#[test]
fn nothing_is_written_behind_a_fence_that_was_read() {
    lawful(0..3, fences);
}

#[test]
fn that_a_register_answer_stays_behind_answered_writes_is_needed() {
    let pushes = Pushes {
        answers: false,
        ..Pushes::default()
    };
    for visible in [Visible::Posted, Visible::Relaxed, Visible::Weakest] {
        unlawful(visible, pushes, fences);
    }
}

/// Two cards and their devices behind bridges of this kind.
fn fabric(width: usize, seed: u64, visible: Visible) -> Fabric {
    let config = FabricConfig {
        seed,
        ..FabricConfig::default()
    };
    let cards = [0, 1].map(|number| card(width, seed, number, visible, Pushes::default()));
    Fabric::with_cards(&config, cards.into()).expect("devices")
}

/// Bytes of the regions at both ends.
const BYTES: usize = 60_000;

fn source(seed: u64) -> Vec<u8> {
    let mut rng = rtl_sim::Seed(seed).rng("test");
    (0..BYTES).map(|_| rng.u8(..)).collect()
}

#[test]
fn devices_work_with_any_bridge_that_keeps_the_rule() {
    for visible in Visible::LAWFUL {
        for width in WIDTHS {
            let fabric = fabric(width, 7, visible);
            let source = source(1);
            let quiet = ConnParam::default();
            let mut pair = Pair::connect(&fabric, 7471, &quiet, &quiet, &source, BYTES)
                .unwrap_or_else(|e| panic!("{visible:?}: {e}"));
            pair.established().unwrap();
            let mut images = [vec![0; BYTES], vec![0; BYTES]];
            for (turn, len) in [1, 63, 64, 1000, 1460, 4097, 20_000]
                .into_iter()
                .enumerate()
            {
                for operation in Operation::ALL {
                    for from in 0..2 {
                        let (at, to) = (turn * 31, (turn * 77 + 5) % 512);
                        let bytes = &source[at..at + len];
                        pair.transfer(operation, from, at, to, len)
                            .and_then(|_| {
                                let image = &mut images[1 - from];
                                pair.check_target(operation, 1 - from, image, to, bytes)
                            })
                            .unwrap_or_else(|e| panic!("{visible:?}: {e}"));
                    }
                }
            }
            pair.disconnect().unwrap();
        }
    }
}

/// A capture at both ends of a connection in use: what one has sent is what the other received.
fn captures(fabric: &Fabric) -> Result<(), String> {
    let source = source(2);
    let quiet = ConnParam::default();
    let pair = Pair::connect(fabric, 7471, &quiet, &quiet, &source, BYTES);
    let mut pair = pair.map_err(|e| e.to_string())?;
    pair.established().map_err(|e| e.to_string())?;
    // What is under way now is captured at one end only.
    fabric.run_for(1_000_000).map_err(|e| e.to_string())?;
    let config = CaptureConfig {
        slots_log2: 5,
        ..CaptureConfig::default()
    };
    let mut captures = [0, 1].map(|n| Capture::start(fabric.device(n), config).unwrap());
    let mut seen: [Vec<CapturedFrame>; 2] = [vec![], vec![]];
    for turn in 0..13 {
        let (at, len) = (turn * 100, 2000 + 400 * turn);
        // Behind the last one there is time for all that it brings.
        let last = turn == 12;
        if !last {
            let write = SendWr::write(turn as u64, pair.ends[1].target.remote())
                .signaled()
                .sge(pair.ends[0].source.sge(at as u64, len as u32));
            let posted = pair.ends[0].qp.post_send(write);
            posted.map_err(|e| e.to_string())?;
        }
        let end = fabric.now() + if last { 500_000 } else { 30_000 };
        while fabric.now() < end {
            fabric.run_for(8).map_err(|e| e.to_string())?;
            for (capture, seen) in captures.iter_mut().zip(&mut seen) {
                while let Some(frame) = capture.poll().map_err(|e| e.to_string())? {
                    seen.push(frame);
                }
            }
        }
    }
    let [a, b] = &seen;
    for (one, other) in [(a, b), (b, a)] {
        let of = |frames: &[CapturedFrame], direction| -> Vec<Vec<u8>> {
            let these = frames.iter().filter(|f| f.direction == direction);
            these.map(|f| f.bytes.clone()).collect()
        };
        let (sent, received) = (of(one, Direction::Sent), of(other, Direction::Received));
        if let Some(lost) = one.iter().find(|frame| frame.lost_before > 0) {
            return Err(format!("not captured: {}", lost.lost_before));
        }
        if sent.len() < 10 || sent.len() != received.len() {
            let (sent, received) = (sent.len(), received.len());
            return Err(format!("{sent} frames sent, {received} received"));
        }
        if let Some(at) = (0..sent.len()).find(|at| sent[*at] != received[*at]) {
            return Err(format!("frame {at} is not the one that was sent"));
        }
    }
    Ok(())
}

#[test]
fn a_capture_is_right_where_writes_stay_in_order() {
    for visible in [Visible::AtOnce, Visible::Posted, Visible::Relaxed] {
        for width in WIDTHS {
            captures(&fabric(width, 3, visible)).unwrap_or_else(|e| panic!("{visible:?}: {e}"));
        }
    }
}

#[test]
fn that_writes_stay_in_order_is_needed_by_the_capture() {
    for visible in [Visible::Answered, Visible::Weakest] {
        let caught = (0..10).any(|seed| {
            WIDTHS.iter().any(|width| {
                let what = captures(&fabric(*width, seed, visible))
                    .err()
                    .unwrap_or_default();
                println!("{visible:?}, seed {seed}: {what}");
                what.contains("is not the one")
            })
        });
        assert!(caught, "{visible:?}");
    }
}
