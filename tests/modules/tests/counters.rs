//! `counters`: all wrap at 32 bits but those of bytes, which have 64.

use rtl_sim::replay;
use weft_module_tests::counters;

/// As `weft_card_pkg` has them: rx_bytes, rx_place_bytes, tx_bytes, and one of 32 bits.
const WIDE: [u8; 3] = [1, 48, 52];
const NARROW: u8 = 0;

/// Cycles from an increment to the value read.
const SHOWN: u64 = 4;

#[test]
fn byte_counters_have_64_bits_and_the_others_wrap() {
    replay("counters", 0..4, |run| {
        let mut sim = run.sim::<counters::Model>();
        sim.reset(3);
        let mut rng = run.seed.rng("amounts");
        for index in WIDE.into_iter().chain([NARROW]) {
            sim.inputs.add = index;
            sim.inputs.index = index;
            let mut total = 0u64;
            // Past 2^32, and on to just around it.
            while total <= 1 << 33 {
                let amount = 0xffff - rng.u16(0..16);
                let times = rng.u64(1..4000);
                sim.inputs.amount = amount;
                sim.step_many(times);
                total += u64::from(amount) * times;
                sim.inputs.amount = 0;
                sim.step_many(SHOWN);
                let high = if index == NARROW {
                    0
                } else {
                    (total >> 32) as u32
                };
                let seen = (sim.outputs.value, sim.outputs.high);
                if seen != (total as u32, high) {
                    return Err(format!("counter {index}: {seen:x?} of {total:#x}").into());
                }
            }
        }
        Ok(())
    });
}

/// A carry is taken late, and nobody sees it: both halves are of one moment, in each cycle.
#[test]
fn both_halves_are_of_one_moment() {
    replay("halves", 0..4, |run| {
        let mut sim = run.sim::<counters::Model>();
        sim.reset(3);
        let mut rng = run.seed.rng("amounts");
        for index in WIDE {
            sim.inputs.add = index;
            sim.inputs.index = index;
            sim.inputs.amount = 0xffff;
            sim.step_many((1 << 32) / 0xffff - 8);
            let amount = rng.u16(0x4000..0xffff);
            sim.inputs.amount = amount;
            sim.step_many(SHOWN + 1);
            let value = |sim: &rtl_sim::Sim<counters::Model>| {
                u64::from(sim.outputs.high) << 32 | u64::from(sim.outputs.value)
            };
            let mut before = value(&sim);
            for cycle in 0..64 {
                sim.step();
                let now = value(&sim);
                if now != before + u64::from(amount) {
                    return Err(format!("counter {index}, cycle {cycle}: {before:#x}, then {now:#x}, by {amount:#x}").into());
                }
                before = now;
            }
            if before >> 32 == 0 {
                return Err(format!("counter {index} ends at {before:#x}").into());
            }
            sim.inputs.amount = 0;
            sim.step_many(SHOWN);
        }
        Ok(())
    });
}
