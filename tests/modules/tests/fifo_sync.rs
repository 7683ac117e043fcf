//! `fifo_sync` of several widths and depths against a queue.

use rtl_sim::{replay, Pace, Sim, Stall};
use std::collections::VecDeque;
use weft_module_tests::{bit, fifo_sync, set_bit};

/// Width, depth, and whether in block RAM, as in `rtl/fifo_sync_bench.sv`.
const FIFOS: [(u32, usize, bool); 8] = [
    (1, 2, false),
    (9, 3, false),
    (72, 16, false),
    (33, 64, false),
    (64, 5, true),
    (17, 65, true),
    (128, 128, true),
    (48, 6, true),
];

/// Bytes of a lane.
const LANE: usize = 16;

/// Resets with an edge: before it, the registers are random, and memories assert that addresses are in range.
fn reset(sim: &mut Sim<fifo_sync::Model>) {
    sim.inputs.rst_ni = true;
    sim.settle();
    sim.inputs.rst_ni = false;
    sim.settle();
    sim.reset(3);
}

#[test]
fn words_come_out_in_order_and_the_room_is_exact() {
    replay("fifo_sync", 0..30, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<fifo_sync::Model>();
        let mut paces =
            [(); 2].map(|()| [(); 8].map(|()| Pace::new(Stall::any(&mut rng), rng.fork())));
        // Words with the cycle in which they were taken.
        let mut queues = [(); 8].map(|()| VecDeque::<(u128, u64)>::new());
        reset(&mut sim);
        for now in 0..3000_u64 {
            sim.step();
            for (fifo, &(width, depth, block_ram)) in FIFOS.iter().enumerate() {
                let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                let queue = &mut queues[fifo];
                let fail = |text: String| Err(format!("{width} x {depth}: {text}").into());
                if usize::from(outputs.count.to_le_bytes()[fifo]) != queue.len() {
                    return fail(format!(
                        "count {} of {}",
                        outputs.count.to_le_bytes()[fifo],
                        queue.len()
                    ));
                }
                if bit(outputs.wr_ready, fifo) != (queue.len() < depth) {
                    return fail(format!("ready is wrong at {} words", queue.len()));
                }
                let readable =
                    |&(_, taken): &(u128, u64)| taken + if block_ram { 2 } else { 1 } <= now;
                if bit(outputs.rd_valid, fifo) != queue.front().is_some_and(readable) {
                    return fail(format!("valid is wrong at {} words", queue.len()));
                }
                let lane = fifo * LANE..(fifo + 1) * LANE;
                let push = bit(inputs.wr_valid, fifo) && bit(outputs.wr_ready, fifo);
                let written = inputs.wr_data[lane.clone()]
                    .try_into()
                    .map(u128::from_le_bytes)?;
                if bit(outputs.rd_valid, fifo) {
                    let read = outputs.rd_data[lane.clone()]
                        .try_into()
                        .map(u128::from_le_bytes)?;
                    if Some(read) != queue.front().map(|(word, _)| *word) {
                        return fail(format!("{read:#x} came out"));
                    }
                    if bit(inputs.rd_ready, fifo) {
                        queue.pop_front();
                    }
                }
                if push {
                    queue.push_back((written & (!0 >> (128 - width)), now));
                }
                // Phases in which one side is slower, so that it fills and empties.
                let filling = now / 400 % 2 == 0;
                let write = paces[0][fifo].start() && (filling || rng.u8(0..4) == 0);
                let read = paces[1][fifo].next(bit(outputs.rd_valid, fifo))
                    && (!filling || rng.u8(0..4) == 0);
                if push || !bit(inputs.wr_valid, fifo) {
                    set_bit(&mut inputs.wr_valid, fifo, write);
                    inputs.wr_data[lane].fill_with(|| rng.u8(..));
                }
                set_bit(&mut inputs.rd_ready, fifo, read);
            }
        }
        Ok(())
    });
}

#[test]
fn a_word_per_cycle_full_or_empty() {
    replay("fifo_sync_rate", 0..1, |run| {
        let mut sim = run.sim::<fifo_sync::Model>();
        sim.inputs.wr_valid = 0xff;
        reset(&mut sim);
        sim.step_many(200);
        for (fifo, (width, depth, _)) in FIFOS.iter().enumerate() {
            assert_eq!(
                usize::from(sim.outputs.count.to_le_bytes()[fifo]),
                *depth,
                "{width} x {depth}"
            );
        }
        sim.inputs.rd_ready = 0xff;
        sim.step();
        // From then on, a word goes in and another comes out in every cycle.
        for _ in 0..300 {
            sim.step();
            assert_eq!((sim.outputs.wr_ready, sim.outputs.rd_valid), (0xff, 0xff));
        }
        Ok(())
    });
}
