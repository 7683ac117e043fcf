//! The fence: memory may be taken away while the card is under full load, and nothing is written into it afterwards.

mod flows;

use flows::{Flows, MEMORY, SEQ};
use weft_layout::{reg, report_kind, table, Counter, FlowRxRow, StagRow};
use weft_sim::bench::Rings;
use weft_sim::card::{Card, CYCLE_NS};
use weft_sim::kind::CardKind;

/// Bytes of frames on their way into the card: less than it can store.
const IN_FLIGHT: usize = 40 << 10;
const FRAME: usize = 1400 + 20 + 54;

/// Cards of each kind, those in RTL with any surroundings, too.
fn cards() -> Vec<(String, Box<dyn Card>)> {
    let mut cards = Vec::new();
    for kind in CardKind::available() {
        cards.push((kind.to_string(), kind.build(1, 0)));
    }
    #[cfg(rtl)]
    for seed in 0..4 {
        let (a, b) = (
            weft_sim::rtl::any512(seed, 0),
            weft_sim::rtl::any128(seed, 0),
        );
        cards.push((format!("rtl512, any surroundings {seed}"), Box::new(a)));
        cards.push((format!("rtl128, any surroundings {seed}"), Box::new(b)));
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

/// Traffic on flow 0, as much as the card takes, and on another one as much again.
struct Load {
    other: usize,
    send: bool,
    fed: usize,
    done: usize,
}

impl Load {
    /// Some cycles of it.
    fn run(&mut self, s: &mut Flows) {
        while self.fed - self.done < IN_FLIGHT / FRAME {
            let number = if self.fed % 2 == 0 { 0 } else { self.other };
            let flow = &mut s.flows[number];
            let to = (self.fed * 1500 % (MEMORY - 1400)) as u64;
            let ulpdu = match self.send && number > 0 {
                true => flow.send(&[self.fed as u8; 200]),
                false => flow.write(to, &[self.fed as u8; 1400]),
            };
            let frame = flow.segment(&[ulpdu]);
            s.deliver(frame);
            self.fed += 1;
        }
        s.bench.world.run_cycles(8).expect("a card");
        self.done += s
            .bench
            .reports()
            .iter()
            .filter(|r| r.0[0] == report_kind::SEGMENT)
            .count();
    }

    /// Runs until FENCE_DONE has this number; how many cycles that took.
    fn fence(&mut self, s: &mut Flows, number: u32, what: &str) -> u64 {
        let from = s.bench.world.now();
        s.bench.write(reg::FENCE, number);
        loop {
            self.run(s);
            let cycles = (s.bench.world.now() - from) / CYCLE_NS;
            if s.bench.read(reg::FENCE_DONE).expect("a card") == number {
                return cycles;
            }
            assert!(cycles < 20_000, "{what}: fence {number} does not end");
        }
    }
}

/// Regions are dropped under full load, and their memory is unmapped as soon as the fence has ended.
#[test]
fn nothing_is_written_behind_a_fence() {
    for (what, card) in cards() {
        let mut s = Flows::new(card, 10, rings());
        let mut load = Load {
            other: 1,
            send: false,
            fed: 0,
            done: 0,
        };
        let mut longest = 0;
        for other in 1..10 {
            load.other = other;
            for _ in 0..40 + 3 * other {
                load.run(&mut s);
            }
            let gone = StagRow {
                valid: 0,
                ..s.flows[other].region()
            };
            let stag = s.flows[other].stag;
            s.bench.stag(stag, &gone).expect("a card");
            longest = longest.max(load.fence(&mut s, other as u32 + 10, &what));
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
        let mut load = Load {
            other: 1,
            send: true,
            fed: 0,
            done: 0,
        };
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
            load.fence(&mut s, other as u32, &what);
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
        let mut load = Load {
            other: 1,
            send: false,
            fed: 0,
            done: 0,
        };
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
