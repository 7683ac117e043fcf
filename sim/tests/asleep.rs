//! A card that sleeps until its own alarm, beside hosts that live by the wall's clock: its time is not leapt over.

use weft_sim::card::{Card, Event, CYCLE_NS};
use weft_sim::iommu::HostMemory;
use weft_sim::world::{Stop, World};

/// The cycle at which it wakes, and asks for an interrupt.
const ALARM: u64 = 250_000;

/// A card that does nothing but that.
struct Sleeper {
    woke: bool,
}

impl Card for Sleeper {
    fn name(&self) -> String {
        "sleeper".into()
    }

    fn write(&mut self, _: u32, _: u32) {}

    fn push(&mut self, _: u32, _: &[u8]) {}

    fn read(&mut self, _: u32) {}

    fn receive(&mut self, _: Vec<u8>, _: bool) {}

    fn cycle(&mut self, now: u64, _: &mut dyn HostMemory, events: &mut Vec<Event>) {
        if now >= ALARM && !self.woke {
            self.woke = true;
            events.push(Event::Interrupt(0));
        }
    }

    fn idle(&self) -> bool {
        true
    }

    fn alarm(&self) -> Option<u64> {
        (!self.woke).then_some(ALARM)
    }

    fn reset(&mut self) {}
}

fn world() -> World {
    let mut world = World::new(1);
    world.add_card(Box::new(Sleeper { woke: false }));
    world
}

#[test]
fn nobody_leaps_to_an_alarm_who_lives_by_the_wall() {
    let (mut world, alarm) = (world(), ALARM * CYCLE_NS);
    let begin = world.now();
    assert_eq!(world.settle_awake(begin + 1000), Ok(Stop::Asleep(alarm)));
    assert_eq!(world.now(), begin);
    // As much passes as is said, and then it wakes.
    assert_eq!(world.step(begin + 1000), Ok(Stop::Deadline));
    assert_eq!(world.now(), begin + 1000);
    assert_eq!(world.settle_awake(alarm), Ok(Stop::Asleep(alarm)));
    assert_eq!(world.step(alarm), Ok(Stop::Deadline));
    assert_eq!(world.settle_awake(alarm + 1000), Ok(Stop::Interrupt));
    assert_eq!(world.settle_awake(alarm + 1000), Ok(Stop::Quiet));
}

#[test]
fn simulated_time_alone_leaps() {
    let mut world = world();
    assert_eq!(world.settle(2 * ALARM * CYCLE_NS), Ok(Stop::Interrupt));
    assert!((ALARM * CYCLE_NS..ALARM * CYCLE_NS + 100).contains(&world.now()));
}
