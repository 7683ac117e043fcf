//! Receive elements of several flows: Sends of several flows in turn cost what those of one flow do.

use crate::flows;

use flows::Flows;
use weft_layout::{
    doorbell, fpdu_verdict, report_kind, table, FlowRxRow, FpduReport, ReceiveElement,
};
use weft_sim::bench::{Region, Rings};
use weft_sim::card::CYCLE_NS;
use weft_sim::iommu::Refusal;
use weft_sim::kind::CardKind;

const SENDS: usize = 400;

/// Delivers one Send of 64 bytes.
fn send(s: &mut Flows, flow: usize, byte: u8) {
    let ulpdu = s.flows[flow].send(&[byte; 64]);
    let frame = s.flows[flow].segment(&[ulpdu]);
    s.deliver(frame);
}

/// Gives a flow another receive queue.
fn set_queue(s: &mut Flows, flow: usize, rq: &Region) {
    let row = FlowRxRow {
        rq_base: rq.iova,
        ..s.flows[flow].row()
    };
    let number = u32::from(s.flows[flow].number);
    let written = s.bench.write_table(table::FLOW_RX, number, &row.to_bytes());
    assert!(written.expect("a card"), "{}", s.bench.world.card(0).name());
}

/// Writes a flow's row again: the card forgets its elements.
fn renew_queue(s: &mut Flows, flow: usize) {
    let row = s.flows[flow].row().to_bytes();
    let number = u32::from(s.flows[flow].number);
    let written = s.bench.write_table(table::FLOW_RX, number, &row);
    assert!(written.expect("a card"), "{}", s.bench.world.card(0).name());
}

/// Cycles for a Send of 64 bytes, of so many flows in turn, in the middle half of the run.
fn cycles_each(kind: CardKind, count: usize) -> f64 {
    let rings = Rings {
        report: 12,
        ..Rings::default()
    };
    let mut s = Flows::new(kind.build(1, 0), count as u16, rings);
    let (mut fed, mut done, mut marks) = (0, 0, Vec::new());
    while done < SENDS {
        while fed < SENDS && fed - done < 64 {
            send(&mut s, fed % count, fed as u8);
            fed += 1;
        }
        s.bench.world.run_cycles(4).expect("a card");
        for (report, _) in s.bench.reports() {
            match report[0] {
                report_kind::SEGMENT => done += 1,
                _ => assert_eq!(
                    FpduReport::from_bytes(&report).verdict,
                    fpdu_verdict::PLACED,
                    "{kind}"
                ),
            }
        }
        marks.push((done, s.bench.world.now() / CYCLE_NS));
    }
    for flow in &s.flows {
        let last = (SENDS - count) / count % 64;
        let placed = flow.memory.read(last * flows::ELEMENT, 64).expect("memory");
        assert!(
            placed.iter().all(|b| *b == placed[0]),
            "{kind}, flow {}",
            flow.number
        );
    }
    let at = |part: usize| {
        let mark = marks.iter().find(|m| m.0 >= part * SENDS / 4);
        *mark.expect("all were done")
    };
    let ((a, from), (b, to)) = (at(1), at(3));
    (to - from) as f64 / (b - a) as f64
}

#[test]
fn sends_of_several_flows_cost_what_those_of_one_do() {
    for kind in CardKind::available() {
        if kind == CardKind::Model {
            continue;
        }
        let one = cycles_each(kind, 1);
        for count in [2, 3, 8, 12] {
            let each = cycles_each(kind, count);
            println!("{kind}: {count} flows in turn {each:.1} cycles a Send, one flow {one:.1}");
            assert!(
                each < (one * 1.1 + 1.0).max(13.5),
                "{kind}: {count} flows {each:.1}, one {one:.1}"
            );
        }
    }
}

/// A FLOW_RX write forgets the elements of its flow, and of no other.
#[test]
fn a_new_row_brings_a_new_queue() {
    for kind in CardKind::available() {
        let mut s = Flows::new(kind.build(1, 0), 3, Rings::default());
        for number in [0, 1, 2] {
            send(&mut s, number, 1);
        }
        s.settle();
        let (before, _) = s.bench.world.iommu(0).bytes();
        // Flow 1 gets another queue; its elements go to the end of its region.
        let rq = s.bench.region(64 << flows::RQ_LOG2);
        let element = s.flows[1].element(50_000, 64);
        rq.write(ReceiveElement::SIZE, &element).expect("a slot");
        set_queue(&mut s, 1, &rq);
        for number in [0, 1, 2] {
            send(&mut s, number, 2);
        }
        s.settle();
        let placed = s.flows[1].memory.read(50_000, 64).expect("memory");
        assert_eq!(placed, [2; 64], "{kind}");
        for number in [0, 2] {
            let placed = s.flows[number]
                .memory
                .read(flows::ELEMENT, 64)
                .expect("memory");
            assert_eq!(placed, [2; 64], "{kind}");
        }
        let (after, _) = s.bench.world.iommu(0).bytes();
        if kind != CardKind::Model {
            // The others' elements were there: they only read on, one each; flow 1 reads up to 64.
            assert!(
                after - before <= 64 * (1 + 1 + 64),
                "{kind}: {} bytes",
                after - before
            );
        }
    }
}

/// What is in a slot of the queue before it was posted is nothing.
#[test]
fn an_element_counts_from_when_it_was_posted() {
    for kind in CardKind::available() {
        let mut s = Flows::new(kind.build(1, 0), 1, Rings::default());
        // Nothing was posted in this queue yet.
        s.bench.ring(doorbell::RQ_TAIL + 4, 0);
        renew_queue(&mut s, 0);
        for posted in 1..40 {
            s.bench.ring(doorbell::RQ_TAIL + 4, posted);
            if posted == 1 {
                send(&mut s, 0, 1);
                s.settle();
                continue;
            }
            // The card has read ahead as far as it will.
            s.settle();
            let to = 40_000 + 64 * u64::from(posted);
            let next = s.flows[0].element(to, 64);
            let slot = posted as usize * ReceiveElement::SIZE;
            s.flows[0].rq.write(slot, &next).expect("a slot");
            send(&mut s, 0, posted as u8);
            s.settle();
        }
        for number in 3..40u8 {
            let to = 40_000 + 64 * (usize::from(number) - 1);
            let placed = s.flows[0].memory.read(to, 64).expect("memory");
            assert_eq!(placed, [number; 64], "{kind}, Send {number}");
        }
    }
}

/// One element at a time is posted, long before its Send comes: no Send but the first waits for a read.
#[test]
fn an_element_is_read_when_it_is_posted() {
    for kind in CardKind::available()
        .into_iter()
        .filter(|k| *k != CardKind::Model)
    {
        let mut s = Flows::new(kind.build(1, 0), 3, Rings::default());
        for number in 1..=3 {
            s.bench.ring(doorbell::RQ_TAIL + 4 * number, 1);
        }
        let mut cycles = Vec::new();
        for round in 1..=6u32 {
            for flow in 0..3 {
                s.settle();
                let start = s.bench.world.now();
                send(&mut s, flow, round as u8);
                while s.bench.reports().is_empty() {
                    s.bench.world.run_cycles(1).expect("a card");
                }
                let took = (s.bench.world.now() - start) / CYCLE_NS;
                if round > 1 {
                    cycles.push(took);
                }
                s.bench
                    .ring(doorbell::RQ_TAIL + 4 * (flow as u32 + 1), round + 1);
            }
        }
        println!("{kind}: {cycles:?}");
        // A read takes 100 cycles.
        assert!(cycles.iter().all(|took| *took < 100), "{kind}: {cycles:?}");
    }
}

/// A read ahead that failed hurts none of the elements before the one that cannot be read.
#[test]
fn an_element_that_cannot_be_read_hurts_its_own_message() {
    for kind in CardKind::available() {
        for bad in 1..12u64 {
            let mut s = Flows::new(kind.build(1, 0), 1, Rings::default());
            let byte = s.flows[0].rq.iova + 64 * bad + 7;
            s.bench
                .world
                .iommu(0)
                .refuse(byte..byte + 1, Refusal::NotMapped);
            // What was read before is forgotten.
            renew_queue(&mut s, 0);
            for number in 0..bad {
                send(&mut s, 0, number as u8);
                let reports = s.settle();
                let verdict = FpduReport::from_bytes(&reports[0]).verdict;
                assert_eq!(verdict, fpdu_verdict::PLACED, "{kind}, {number} of {bad}");
            }
            send(&mut s, 0, 99);
            let verdicts: Vec<_> = s
                .settle()
                .iter()
                .filter(|r| r[0] == report_kind::FPDU)
                .map(|r| FpduReport::from_bytes(r).verdict)
                .collect();
            assert!(
                !verdicts.contains(&fpdu_verdict::PLACED),
                "{kind}: {verdicts:?}"
            );
            s.bench.world.iommu(0).take_faults();
        }
    }
}

/// The segment that waits for an element of the old queue has it; the next one has its element from the new queue.
#[test]
fn a_queue_set_up_anew_while_an_element_is_read() {
    for kind in CardKind::available() {
        for delay in (0..240).step_by(9) {
            let mut s = Flows::new(kind.build(1, 0), 1, Rings::default());
            let rq = s.bench.region(64 << flows::RQ_LOG2);
            for slot in 0..8 {
                let to = if slot == 0 { 0 } else { 50_000 + 64 * slot };
                rq.write(64 * slot as usize, &s.flows[0].element(to, 64))
                    .expect("a slot");
            }
            send(&mut s, 0, 1);
            s.bench.world.run_cycles(delay).expect("a card");
            set_queue(&mut s, 0, &rq);
            for byte in 2..6 {
                send(&mut s, 0, byte);
            }
            s.settle();
            for byte in 2..6usize {
                let placed = s.flows[0].memory.read(50_000 + 64 * (byte - 1), 64);
                let what = format!("{kind}, Send {byte}, {delay} cycles");
                assert_eq!(placed.expect("memory"), [byte as u8; 64], "{what}");
            }
        }
    }
}

/// A message of two segments, and a new queue in between: the second is placed by the new one, also if the first has waited for
/// the element of the old one.
#[test]
fn a_message_goes_on_in_the_queue_that_is_set_up() {
    for kind in CardKind::available() {
        for delay in (0..240).step_by(9) {
            let mut s = Flows::new(kind.build(1, 0), 1, Rings::default());
            let rq = s.bench.region(64 << flows::RQ_LOG2);
            let element = s.flows[0].element(50_000, flows::ELEMENT);
            rq.write(0, &element).expect("a slot");
            let mut first = s.flows[0].send(&[1; 64]);
            let mut second = first.clone();
            first[0] &= !0x40; // Not the last of its message.
            second[14..18].copy_from_slice(&64u32.to_be_bytes());
            second[18..].fill(2);
            let frame = s.flows[0].segment(&[first]);
            s.deliver(frame);
            s.bench.world.run_cycles(delay).expect("a card");
            set_queue(&mut s, 0, &rq);
            let frame = s.flows[0].segment(&[second]);
            s.deliver(frame);
            s.settle();
            let placed = s.flows[0].memory.read(50_064, 64).expect("memory");
            assert_eq!(placed, [2; 64], "{kind}, {delay} cycles");
        }
    }
}
