//! `mac_rx_fifo`: what the card sees are whole frames, in order; what it does not see is counted.

use rtl_sim::axis::{keep, Checker, Sink};
use rtl_sim::{replay, Pace, Run, Stall};
use std::error::Error;
use weft_module_tests::{enter_reset, mac_rx_fifo_128, mac_rx_fifo_512, numbered_frames, Clock};

/// How a run is driven.
struct Drive {
    clocks: [Clock; 2],
    mac: Stall,
    card: Stall,
    frames: usize,
    longest: usize,
    /// The MAC's receiver is reset now and then.
    resets: bool,
    /// The MAC runs while the FIFO is in reset.
    early: bool,
}

/// What became of the frames.
#[derive(Debug, Default)]
struct Count {
    begun: usize,
    unseen: usize,
    dropped: usize,
    whole: usize,
}

macro_rules! mac_rx_fifo_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn check(run: &Run, drive: Drive) -> Result<Count, Box<dyn Error>> {
                let mut rng = run.seed.rng("frames");
                let frames = numbered_frames(drive.frames, 6..=drive.longest, &mut rng);
                let mut sim = run.sim::<$design::Model>();
                let [mut mac_clock, mut card_clock] = drive.clocks;
                let mut pace = Pace::new(drive.mac, rng.fork());
                let mut sink = Sink::<$bytes>::new(drive.card, run.seed);
                let mut checker = Checker::<$bytes>::new("rx");
                let mut count = Count::default();
                // The frame that the MAC is at, and how much of it was given.
                let (mut next, mut given) = (0, 0);
                let mut aligned = false;
                let mut reset = 0;
                let mut calm = 0;
                enter_reset(&mut sim);
                sim.inputs.mac_rst = !drive.early;
                let mut card_now = 0;
                for now in 0..400_000_u64 {
                    if calm > 200 {
                        break;
                    }
                    sim.inputs.rst_ni = now >= 20;
                    let (mac, card) = (mac_clock.go(), card_clock.go());
                    (sim.inputs.mac_go, sim.inputs.card_go) = (mac, card);
                    sim.step();
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    // Before its first edge in reset the card's side is random.
                    if card && now >= 20 {
                        card_now += 1;
                        checker.cycle(card_now, false, &outputs.rx, &inputs.rx)?;
                        if outputs.rx.valid && outputs.rx.user != 0 && !outputs.rx.last {
                            return Err("tuser inside a frame".into());
                        }
                        sink.cycle(card_now, &mut inputs.rx, &outputs.rx);
                    }
                    if mac {
                        let up = outputs.mac_up;
                        // The beat that was offered is taken, whatever the FIFO thinks of it.
                        if inputs.mac.valid && !inputs.mac_rst {
                            count.begun += usize::from(given == 0);
                            given += $bytes;
                            if given >= frames[next].len() {
                                (next, given) = (next + 1, 0);
                                if up && !aligned {
                                    (aligned, count.unseen) = (true, count.begun);
                                }
                            }
                        } else if inputs.mac_rst {
                            if given > 0 {
                                (next, given) = (next + 1, 0);
                            }
                            if up && !aligned {
                                (aligned, count.unseen) = (true, count.begun);
                            }
                        }
                        let hold = !drive.early && now < 60;
                        reset = u32::saturating_sub(reset, 1);
                        if drive.resets && reset == 0 && rng.u32(0..150) == 0 {
                            reset = rng.u32(1..10);
                        }
                        inputs.mac_rst = hold || reset > 0;
                        let frame = frames.get(next).filter(|_| !hold);
                        inputs.mac.valid = frame.is_some() && pace.start();
                        if inputs.mac_rst {
                            // Nobody's beats.
                            inputs.mac.valid = rng.bool();
                            inputs.mac.last = rng.bool();
                        } else if let Some(frame) = frame {
                            let beat = &frame[given..frame.len().min(given + $bytes)];
                            inputs.mac.data.fill_with(|| rng.u8(..));
                            inputs.mac.data[..beat.len()].copy_from_slice(beat);
                            inputs.mac.keep = keep(beat.len());
                            inputs.mac.last = given + $bytes >= frame.len();
                            // Of no meaning but with the last beat.
                            inputs.mac.user = if inputs.mac.last {
                                u64::from(frame[4] & 1)
                            } else {
                                rng.u64(..2)
                            };
                        }
                    }
                    let done = next == frames.len() && !outputs.rx.valid;
                    calm = if done {
                        calm + u32::from(mac && card)
                    } else {
                        0
                    };
                }
                if calm <= 200 || sink.in_packet() {
                    return Err(format!("not at rest: frame {next}").into());
                }
                let mut sent = frames.iter();
                while let Some(frame) = sink.pop() {
                    count.whole += 1;
                    if !sent.any(|sent| *sent == frame.data) {
                        return Err(format!(
                            "a frame of {} bytes changed or out of order",
                            frame.data.len()
                        )
                        .into());
                    }
                    if frame.user != u64::from(frame.data[4] & 1) {
                        return Err("a good frame is bad, or the other way round".into());
                    }
                }
                count.dropped = sim.outputs.dropped as usize;
                if count.begun != count.unseen + count.dropped + count.whole {
                    return Err(format!("{count:?}").into());
                }
                Ok(count)
            }

            #[test]
            fn whole_frames_come_and_the_others_are_counted() {
                replay("mac_rx_fifo", 0..24, |run| {
                    let mut rng = run.seed.rng("test");
                    let count = check(
                        run,
                        Drive {
                            clocks: [Clock::any(&mut rng), Clock::any(&mut rng)],
                            mac: Stall::any(&mut rng),
                            card: Stall::any(&mut rng),
                            frames: 300,
                            longest: $bytes * rng.usize(1..34),
                            resets: rng.bool(),
                            early: rng.bool(),
                        },
                    )?;
                    if count.whole < 10 {
                        return Err(format!("{count:?}").into());
                    }
                    Ok(())
                });
            }

            #[test]
            fn a_card_that_is_fast_enough_loses_nothing() {
                replay("mac_rx_fifo_fast", 0..4, |run| {
                    let mut rng = run.seed.rng("test");
                    let clocks = [(0.8, 0.1), (0.95, 0.0)]
                        .map(|(rate, jitter)| Clock::new(rate, jitter, rng.fork()));
                    let count = check(
                        run,
                        Drive {
                            clocks,
                            mac: Stall::Never,
                            card: Stall::Never,
                            frames: 400,
                            longest: $bytes * 9,
                            resets: false,
                            early: false,
                        },
                    )?;
                    if count.whole != 400 {
                        return Err(format!("{count:?}").into());
                    }
                    Ok(())
                });
            }

            #[test]
            fn a_card_at_half_the_rate_gets_about_half_of_them() {
                replay("mac_rx_fifo_slow", 0..4, |run| {
                    let mut rng = run.seed.rng("test");
                    let clocks = [1.0, 0.5].map(|rate| Clock::new(rate, 0.0, rng.fork()));
                    let count = check(
                        run,
                        Drive {
                            clocks,
                            mac: Stall::Never,
                            card: Stall::Never,
                            frames: 1000,
                            longest: $bytes * 6,
                            resets: false,
                            early: false,
                        },
                    )?;
                    // Short ones find room more easily than long ones.
                    if !(420..640).contains(&count.whole) {
                        return Err(format!("{count:?}").into());
                    }
                    Ok(())
                });
            }
        }
    };
}

mac_rx_fifo_tests!(width_128, mac_rx_fifo_128, 16);
mac_rx_fifo_tests!(width_512, mac_rx_fifo_512, 64);
