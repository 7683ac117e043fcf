//! `fifo_async` of several widths and depths, and `word_sync`, between two clocks of any rates.

use rtl_sim::{replay, Pace, Sim, Stall};
use std::collections::VecDeque;
use weft_module_tests::{bit, enter_reset, fifo_async, set_bit, Clock};

/// Width and depth, as in `rtl/fifo_async_bench.sv`.
const FIFOS: [(u32, usize); 3] = [(1, 4), (17, 16), (128, 64)];

/// Bytes of a lane.
const LANE: usize = 16;

/// Resets both sides, each with a clock.
fn reset(sim: &mut Sim<fifo_async::Model>) {
    (sim.inputs.wr_go, sim.inputs.rd_go) = (true, true);
    enter_reset(sim);
    sim.reset(3);
}

#[test]
fn words_come_out_once_in_order_and_words_are_never_torn() {
    replay("fifo_async", 0..40, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<fifo_async::Model>();
        let mut clocks = [Clock::any(&mut rng), Clock::any(&mut rng)];
        let mut paces =
            [(); 2].map(|()| [(); 3].map(|()| Pace::new(Stall::any(&mut rng), rng.fork())));
        let mut queues = [(); 3].map(|()| VecDeque::<u128>::new());
        // What word_sync was shown, in order; what it shows goes along it.
        let (mut words, mut at) = (vec![0_u32], 0);
        reset(&mut sim);
        let mut taken = 0;
        for now in 0..6000_u64 {
            let (wr, rd) = (clocks[0].go(), clocks[1].go());
            (sim.inputs.wr_go, sim.inputs.rd_go) = (wr, rd);
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            for (fifo, &(width, depth)) in FIFOS.iter().enumerate() {
                let queue = &mut queues[fifo];
                let fail = |text: String| Err(format!("{width} x {depth}: {text}").into());
                let lane = fifo * LANE..(fifo + 1) * LANE;
                let valid = bit(outputs.rd_valid, fifo);
                if valid && queue.is_empty() {
                    return fail("a word out of nowhere".into());
                }
                if valid {
                    let read = outputs.rd_data[lane.clone()]
                        .try_into()
                        .map(u128::from_le_bytes)?;
                    if Some(&read) != queue.front() {
                        return fail(format!("{read:#x} came out"));
                    }
                }
                if rd {
                    if valid && bit(inputs.rd_ready, fifo) {
                        queue.pop_front();
                        taken += 1;
                    }
                    let waiting = valid && !bit(inputs.rd_ready, fifo);
                    // Phases in which one side is slower, so that it fills and empties.
                    let willing = now / 600 % 2 == 1 || rng.u8(0..6) == 0;
                    let ready = paces[1][fifo].next(waiting) && willing;
                    set_bit(&mut inputs.rd_ready, fifo, ready);
                }
                if wr {
                    let offered = bit(inputs.wr_valid, fifo);
                    let push = offered && bit(outputs.wr_ready, fifo);
                    if push {
                        let written = inputs.wr_data[lane.clone()]
                            .try_into()
                            .map(u128::from_le_bytes)?;
                        queue.push_back(written & (!0 >> (128 - width)));
                    }
                    if queue.len() > depth {
                        return fail(format!("{} words inside", queue.len()));
                    }
                    if push || !offered {
                        set_bit(&mut inputs.wr_valid, fifo, paces[0][fifo].start());
                        inputs.wr_data[lane].fill_with(|| rng.u8(..));
                    }
                }
            }
            // A word changes in all its bits, and with every cycle.
            let shown = outputs.word;
            let known = words[at..].iter().position(|word| *word == shown);
            at += known.ok_or(format!("the word {shown:#x} never was, or was before"))?;
            if wr {
                inputs.word = rng.u32(..);
                words.push(inputs.word);
            }
        }
        if taken < 100 || at == 0 {
            return Err(format!("{taken} words taken, word {at}").into());
        }
        Ok(())
    });
}

#[test]
fn the_room_is_exact_and_equal_clocks_carry_a_word_a_cycle() {
    replay("fifo_async_rate", 0..1, |run| {
        let mut sim = run.sim::<fifo_async::Model>();
        reset(&mut sim);
        sim.inputs.wr_valid = 7;
        let mut taken = [0; 3];
        for _ in 0..100 {
            sim.step();
            for (fifo, taken) in taken.iter_mut().enumerate() {
                *taken += usize::from(bit(sim.outputs.wr_ready, fifo));
            }
        }
        assert_eq!(taken, FIFOS.map(|(_, depth)| depth));
        sim.inputs.rd_ready = 7;
        sim.step_many(100);
        for _ in 0..300 {
            sim.step();
            // The smallest has too few words for the way there and back.
            let (ready, valid) = (sim.outputs.wr_ready >> 1, sim.outputs.rd_valid >> 1);
            assert_eq!((ready, valid), (3, 3));
        }
        Ok(())
    });
}
