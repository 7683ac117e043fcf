//! The fence: memory may be taken away while the card is under full load, and nothing is written into it afterwards.

use crate::flows;

use flows::load::Load;
use flows::{Flows, MEMORY, SEQ};
use weft_layout::{reg, table, Counter, FlowRxRow};
use weft_sim::bench::Rings;
use weft_sim::card::{Card, CYCLE_NS};
use weft_sim::kind::CardKind;

/// Cycles in which a fence has ended.
const LIMIT: u64 = 20_000;

/// Cards of each kind, those in RTL with any surroundings, too.
fn cards() -> Vec<(String, Box<dyn Card>)> {
    let mut cards = Vec::new();
    for kind in CardKind::available() {
        cards.push((kind.to_string(), kind.build(1, 0)));
    }
    #[cfg(rtl)]
    for seed in 0..4 {
        use weft_sim::rtl;
        let any: [(&str, Box<dyn Card>); 3] = [
            ("rtl512", Box::new(rtl::any512(seed, 0))),
            ("rtl256", Box::new(rtl::any256(seed, 0))),
            ("rtl128", Box::new(rtl::any128(seed, 0))),
        ];
        cards.extend(any.map(|(name, card)| (format!("{name}, any surroundings {seed}"), card)));
    }
    cards
}

fn rings() -> Rings {
    Rings {
        report: 12,
        raw: 8,
        raw_slot: 14,
        ..Rings::default()
    }
}

/// Regions are dropped under full load, and their memory is unmapped as soon as the fence has ended.
#[test]
fn nothing_is_written_behind_a_fence() {
    for (what, card) in cards() {
        let mut s = Flows::new(card, 10, rings());
        let mut load = Load::writes();
        let mut longest = 0;
        for other in 1..10 {
            load.other = other;
            for _ in 0..40 + 3 * other {
                load.run(&mut s);
            }
            s.invalidate(other);
            let cycles = load.fence(&mut s, other as u32 + 10, LIMIT);
            longest = longest.max(cycles.unwrap_or_else(|| panic!("{what}: no end")));
            let iova = s.flows[other].memory.iova;
            assert!(s.bench.world.iommu(0).unmap(iova));
            let image = s.flows[other].memory.read(0, MEMORY).expect("memory");
            for _ in 0..60 {
                load.run(&mut s);
            }
            assert_eq!(
                image,
                s.flows[other].memory.read(0, MEMORY).expect("memory"),
                "{what}"
            );
        }
        println!("{what}: at most {longest} cycles for a fence");
        let faults = s.bench.world.iommu(0).take_faults();
        assert!(faults.is_empty(), "{what}: {faults:?}");
        assert_eq!(
            s.bench.counter(Counter::Fences).expect("a card"),
            9,
            "{what}"
        );
    }
}

/// Receive queues, too: nothing is read from one behind the fence that follows the end of its flow.
#[test]
fn nothing_is_read_behind_a_fence() {
    for (what, card) in cards() {
        let mut s = Flows::new(card, 10, rings());
        let mut load = Load::sends();
        for other in 1..10 {
            load.other = other;
            for _ in 0..40 + 3 * other {
                load.run(&mut s);
            }
            let number = s.flows[other].number;
            let row = FlowRxRow {
                flags: 0,
                ..s.flows[other].row()
            };
            let written = s
                .bench
                .write_table(table::FLOW_RX, number.into(), &row.to_bytes());
            assert!(written.expect("a card"), "{what}");
            let cycles = load.fence(&mut s, other as u32, LIMIT);
            assert!(cycles.is_some(), "{what}: no end");
            let iova = s.flows[other].rq.iova;
            assert!(s.bench.world.iommu(0).unmap(iova));
            for _ in 0..60 {
                load.run(&mut s);
            }
        }
        let faults = s.bench.world.iommu(0).take_faults();
        assert!(faults.is_empty(), "{what}: {faults:?}");
    }
}

/// A number written while a fence is under way stands for those it overwrote.
#[test]
fn the_last_number_counts() {
    for (what, card) in cards() {
        let mut s = Flows::new(card, 1, rings());
        assert_eq!(s.bench.read(reg::FENCE_DONE).expect("a card"), 0, "{what}");
        for number in [3, 4, 5, 0xffff_ffff, 6] {
            s.bench.write(reg::FENCE, number);
        }
        s.settle();
        assert_eq!(s.bench.read(reg::FENCE).expect("a card"), 6, "{what}");
        assert_eq!(s.bench.read(reg::FENCE_DONE).expect("a card"), 6, "{what}");
        // Still a card.
        let flow = &mut s.flows[0];
        let ulpdu = flow.write(1, &[7; 10]);
        let frame = flow.segment(&[ulpdu]);
        assert_ne!(flow.seq, SEQ);
        s.deliver(frame);
        assert_eq!(s.settle().len(), 2, "{what}");
    }
}

/// Of fences that come while one is under way the last is told, and it holds for all of them.
#[test]
fn the_last_of_several_fences_is_told() {
    for (what, card) in cards() {
        let mut s = Flows::new(card, 2, rings());
        let mut load = Load::writes();
        for number in [1, 4, 7, 10] {
            for _ in 0..20 + number {
                load.run(&mut s);
            }
            for fence in number..number + 3 {
                s.bench.write(reg::FENCE, fence);
            }
            // The slowest of the surroundings take 900 cycles for a segment.
            let limit = s.bench.world.now() + 60_000 * CYCLE_NS;
            loop {
                load.run(&mut s);
                let done = s.bench.read(reg::FENCE_DONE).expect("a card");
                if done == number + 2 {
                    break;
                }
                assert!(
                    s.bench.world.now() < limit,
                    "{what}: {done} of {}",
                    number + 2
                );
            }
        }
    }
}
