//! Slots of a raw ring that are let go in any order, against a list of those that are needed.

use proptest::prelude::*;
use weft_engine::RawSlots;

/// What is done next: a frame is taken, or one of those that are needed is let go.
#[derive(Clone, Copy, Debug)]
enum Step {
    Take,
    Free(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![Just(Step::Take), any::<usize>().prop_map(Step::Free)];
    prop::collection::vec(step, 0..400)
}

proptest! {
    /// The card is told in the ring's order, of no slot that is still needed, and of so many that it never waits for slots of which nobody has any.
    #[test]
    fn the_card_has_back_what_nobody_needs(log2 in 0..6u8, steps in steps()) {
        let count = 1u32 << log2;
        let (mut slots, mut needed) = (RawSlots::new(log2), Vec::new());
        let (mut taken, mut told) = (0u32, 0u32);
        for step in steps {
            match step {
                // The card writes into a slot that it was given.
                Step::Take if taken - told < count => {
                    let slot = (taken % count) as u16;
                    prop_assert!(count == 1 || !slots.take((slot + 1) % count as u16));
                    prop_assert!(slots.take(slot));
                    needed.push(taken);
                    taken += 1;
                }
                Step::Free(which) if !needed.is_empty() => {
                    let number = needed.swap_remove(which % needed.len());
                    slots.free((number % count) as u16);
                }
                _ => {}
            }
            let oldest = needed.iter().min().copied().unwrap_or(taken);
            if let Some(head) = slots.take_room() {
                prop_assert!(told < head && head <= oldest);
                told = head;
            }
            prop_assert!(oldest - told < count.div_ceil(16), "{told} told, {oldest} may be");
            prop_assert_eq!(slots.may_lend(), taken - oldest <= count / 8);
            let wanted = count > 4 && taken - oldest >= count / 16 * 3;
            prop_assert_eq!(slots.wanted(), wanted.then_some((oldest % count) as u16));
        }
    }
}
