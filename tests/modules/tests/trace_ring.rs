//! `trace_ring` against a list of what happened.

use rtl_sim::{replay, Sim};
use std::collections::VecDeque;
use weft_module_tests::{set_bit, set_element, trace_ring};

const SOURCES: usize = 4;
const SIZE: u32 = 64;
const LOST: u8 = 15;

/// An entry: kind, source (detail), flow, value, info, time.
type Entry = (u8, u8, u16, u32, u16, u64);

struct Bench {
    sim: Sim<trace_ring::Model>,
    now: u64,
    /// Per source, what was presented and may be recorded.
    presented: [VecDeque<Entry>; SOURCES],
}

impl Bench {
    /// One cycle in which these sources have an event of these kinds.
    fn cycle(&mut self, events: &[Option<(u8, u32)>; SOURCES]) {
        let inputs = &mut self.sim.inputs;
        inputs.time = self.now;
        let mut kinds = [0; SOURCES];
        for (source, event) in events.iter().enumerate() {
            set_bit(&mut inputs.valid, source, event.is_some());
            let (kind, value) = event.unwrap_or_default();
            kinds[source] = kind;
            set_element(&mut inputs.value, source, 4, value.into());
            if event.is_some() && inputs.enable >> kind & 1 != 0 && !inputs.freeze {
                let (flow, info) = (value as u16, (value >> 16) as u16);
                self.presented[source].push_back((
                    kind,
                    source as u8,
                    flow,
                    value,
                    info,
                    self.now & ((1 << 48) - 1),
                ));
            }
        }
        inputs.kind = u32::from_le_bytes(kinds);
        self.sim.step();
        self.now += 1;
    }

    fn quiet(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.cycle(&[None; SOURCES]);
        }
    }

    fn read(&mut self, entry: u32) -> Entry {
        (self.sim.inputs.rd_valid, self.sim.inputs.rd_entry) = (true, entry as u16);
        self.quiet(1);
        self.sim.inputs.rd_valid = false;
        self.quiet(1);
        let data = u128::from_le_bytes(self.sim.outputs.rd_data);
        let time = (data >> 80 & 0xffff) << 32 | data >> 96;
        (
            data as u8,
            (data >> 8) as u8,
            (data >> 16) as u16,
            (data >> 32) as u32,
            (data >> 64) as u16,
            time as u64,
        )
    }
}

fn bench(run: &rtl_sim::Run) -> Bench {
    let mut sim = run.sim::<trace_ring::Model>();
    sim.inputs.enable = 0xffff;
    sim.inputs.rst_ni = true;
    sim.settle();
    sim.inputs.rst_ni = false;
    sim.inputs.power_on_ni = false;
    sim.settle();
    sim.reset(3);
    sim.inputs.power_on_ni = true;
    // The low bits of the clock come around during the test, and so do the 48 that are kept.
    let now = [0, (1 << 48) - 300, 0xffff_ff00][run.seed.0 as usize % 3];
    Bench {
        sim,
        now,
        presented: Default::default(),
    }
}

#[test]
fn every_event_with_its_time_or_counted_as_lost() {
    replay("trace_ring", 0..30, |run| {
        let mut rng = run.seed.rng("test");
        let mut b = bench(run);
        // What the host has read: the ring is read to its end before it comes around.
        let (mut read, mut recorded, mut told) = (0, 0u32, 0);
        let mut total = 0u32;
        for _ in 0..40 {
            // Now and then more than one event a cycle, for longer than the queues last.
            let busy = [0.1, 0.2, 0.9][rng.usize(0..3)];
            b.sim.inputs.enable = if rng.u8(0..4) == 0 {
                rng.u16(..)
            } else {
                0xffff
            };
            b.sim.inputs.freeze = rng.u8(0..6) == 0;
            for _ in 0..rng.usize(1..20) {
                let event = |rng: &mut fastrand::Rng| {
                    let kind = rng.u8(0..LOST);
                    (rng.f64() < busy).then(|| (kind, rng.u32(..)))
                };
                b.cycle(&[(); SOURCES].map(|()| event(&mut rng)));
            }
            b.sim.inputs.freeze = false;
            // All queues full, what was lost, and seven cycles of way into the ring.
            b.quiet(SOURCES * 8 + 9);
            if !b.sim.outputs.idle {
                return Err("not idle with nothing left to record".into());
            }
            let head = b.sim.outputs.head;
            if head.wrapping_sub(read) > SIZE {
                return Err(
                    format!("{} entries at once, the test reads too late", head - read).into(),
                );
            }
            while read != head {
                let entry = b.read(read % SIZE);
                read += 1;
                if entry.0 == LOST {
                    told = entry.3;
                    continue;
                }
                let queue = &mut b.presented[usize::from(entry.1)];
                // Those before it were lost.
                while queue.front().is_some_and(|e| *e != entry) {
                    queue.pop_front();
                    total += 1;
                }
                queue
                    .pop_front()
                    .ok_or_else(|| format!("{entry:?} never happened, or not then"))?;
                recorded += 1;
            }
            let lost = b.sim.outputs.lost;
            let left: usize = b.presented.iter().map(VecDeque::len).sum();
            if lost != total + left as u32 || told != lost {
                return Err(
                    format!("{lost} lost, {told} told, {} missing", total + left as u32).into(),
                );
            }
            total += left as u32;
            b.presented = Default::default();
        }
        if recorded == 0 {
            return Err("nothing recorded".into());
        }
        Ok(())
    });
}

#[test]
fn events_are_lost_only_when_they_come_faster_than_one_a_cycle() {
    replay("trace_ring_rate", 0..1, |run| {
        let mut b = bench(run);
        for n in 0..1000u32 {
            let mut events = [None; SOURCES];
            events[n as usize % SOURCES] = Some((1, n));
            b.cycle(&events);
        }
        b.quiet(8);
        if (b.sim.outputs.head, b.sim.outputs.lost) != (1000, 0) {
            return Err(format!(
                "{} recorded, {} lost",
                b.sim.outputs.head, b.sim.outputs.lost
            )
            .into());
        }
        // All four in every cycle: three of four go lost, and it is said.
        for n in 0..100 {
            b.cycle(&[Some((2, n)); SOURCES]);
        }
        b.quiet(40);
        let (head, lost) = (b.sim.outputs.head, b.sim.outputs.lost);
        if lost == 0 || head + lost != 1000 + 400 + 1 {
            return Err(format!("{head} recorded, {lost} lost").into());
        }
        let last = b.read((head - 1) % SIZE);
        if (last.0, last.3) != (LOST, lost) {
            return Err(format!("the last is {last:?}").into());
        }
        b.sim.inputs.clear = true;
        b.quiet(1);
        b.sim.inputs.clear = false;
        b.quiet(2);
        if (b.sim.outputs.head, b.sim.outputs.lost, b.sim.outputs.idle) != (0, 0, true) {
            return Err("not empty after clear".into());
        }
        Ok(())
    });
}

#[test]
fn what_is_recorded_outlives_a_reset() {
    replay("trace_ring_reset", 0..10, |run| {
        let mut rng = run.seed.rng("test");
        let mut b = bench(run);
        let kept = rng.u32(1..SIZE / 2);
        for value in 0..kept {
            b.cycle(&[Some((3, value)), None, None, None]);
        }
        b.quiet(8);
        // Some are on their way when it comes: each that is counted is in the ring in the end.
        for value in 0..rng.u32(0..8) {
            b.cycle(&[Some((4, value)), Some((5, value)), None, None]);
        }
        let lost = b.sim.outputs.lost;
        b.sim.reset(3);
        b.quiet(8);
        let counted = b.sim.outputs.head;
        if counted < kept || b.sim.outputs.lost != lost {
            return Err(format!("{counted} of {kept} after the reset").into());
        }
        b.cycle(&[Some((6, 77)), None, None, None]);
        b.quiet(8);
        if b.sim.outputs.head != counted + 1 {
            return Err(format!("{counted} and one are {}", b.sim.outputs.head).into());
        }
        for number in 0..counted {
            let entry = b.read(number % SIZE);
            let right = match number {
                _ if number < kept => (entry.0, entry.3) == (3, number),
                _ => entry.0 == 4 || entry.0 == 5,
            };
            if !right {
                return Err(format!("entry {number} of {counted} is {entry:?}").into());
            }
        }
        let last = b.read(counted % SIZE);
        if (last.0, last.3) != (6, 77) {
            return Err(format!("behind the reset: {last:?}").into());
        }
        b.sim.inputs.power_on_ni = false;
        b.sim.reset(3);
        b.sim.inputs.power_on_ni = true;
        match (b.sim.outputs.head, b.sim.outputs.lost) {
            (0, 0) => Ok(()),
            left => Err(format!("{left:?} after power-on").into()),
        }
    });
}
