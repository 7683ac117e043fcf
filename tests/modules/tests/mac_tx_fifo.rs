//! `mac_tx_fifo`: a frame once begun comes without a gap, whole, padded, in order; what the MAC does not get is counted.

use rtl_sim::axis::{Checker, Source};
use rtl_sim::{replay, Pace, Run, Seed, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{enter_reset, mac_tx_fifo_128, mac_tx_fifo_512, numbered_frames, Clock};

/// How a run is driven.
struct Drive {
    clocks: [Clock; 2],
    card: Stall,
    mac: Stall,
    frames: usize,
    longest: usize,
    /// The link goes down now and then.
    link: bool,
    /// The MAC's transmitter is reset now and then.
    resets: bool,
}

/// What became of the frames, and how fast.
#[derive(Debug, Default)]
struct Count {
    whole: usize,
    dropped: usize,
    torn: usize,
    /// Beats for each cycle of the MAC's clock, from the first to the last.
    rate: f64,
}

macro_rules! mac_tx_fifo_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn check(run: &Run, drive: Drive) -> Result<Count, Box<dyn Error>> {
                let mut rng = run.seed.rng("frames");
                let frames = numbered_frames(drive.frames, 14..=drive.longest, &mut rng);
                let mut sim = run.sim::<$design::Model>();
                let [mut card_clock, mut mac_clock] = drive.clocks;
                let mut source = Source::<$bytes>::new(drive.card, Seed(run.seed.0 + 7));
                frames.iter().for_each(|frame| source.push(frame));
                let mut pace = Pace::new(drive.mac, rng.fork());
                let mut checker = Checker::<$bytes>::new("mac");
                let mut count = Count::default();
                let mut came: VecDeque<Vec<u8>> = VecDeque::new();
                let mut frame: Vec<u8> = Vec::new();
                let (mut reset, mut down, mut waited) = (0, 0, 0);
                let (mut mac_now, mut beats, mut first, mut last) = (0_u64, 0_u64, None, 0);
                let mut calm = 0;
                enter_reset(&mut sim);
                sim.inputs.link = true;
                for now in 0..600_000_u64 {
                    if calm > 200 {
                        break;
                    }
                    sim.inputs.rst_ni = now >= 20;
                    let (card, mac) = (card_clock.go(), mac_clock.go());
                    (sim.inputs.card_go, sim.inputs.mac_go) = (card, mac);
                    sim.step();
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    if now < 20 {
                        continue;
                    }
                    if mac {
                        mac_now += 1;
                        let (valid, ready) = (outputs.mac.valid, inputs.mac.ready);
                        if inputs.mac_rst && valid {
                            return Err("shown to a MAC in reset".into());
                        }
                        if inputs.mac_rst {
                            checker = Checker::new("mac");
                        } else {
                            checker.cycle(mac_now, false, &outputs.mac, &inputs.mac)?;
                        }
                        if !frame.is_empty() && !valid && !inputs.mac_rst {
                            return Err(
                                format!("a gap after {} bytes of a frame", frame.len()).into()
                            );
                        }
                        if valid && ready {
                            let bytes = outputs.mac.keep.trailing_ones() as usize;
                            frame.extend_from_slice(&outputs.mac.data[..bytes]);
                            first = first.or(Some(mac_now));
                            (beats, last) = (beats + 1, mac_now);
                            if outputs.mac.last {
                                came.push_back(std::mem::take(&mut frame));
                            }
                        }
                        reset = u32::saturating_sub(reset, 1);
                        if drive.resets && !source.is_idle() && reset == 0 && rng.u32(0..200) == 0 {
                            reset = rng.u32(1..20);
                        }
                        inputs.mac_rst = reset > 0;
                        if inputs.mac_rst && !frame.is_empty() {
                            count.torn += 1;
                            frame.clear();
                        }
                        inputs.mac.ready = pace.next(valid && !ready);
                    }
                    if card {
                        // Without a link nothing waits, but for the padding of a short frame.
                        let waits = !inputs.link && inputs.tx.valid && !outputs.tx.ready;
                        waited = if waits { waited + 1 } else { 0 };
                        if waited > 4 && now > 60 {
                            return Err("waits for a link".into());
                        }
                        source.cycle(&mut inputs.tx, &outputs.tx);
                        let bytes = inputs.tx.keep.trailing_ones() as usize;
                        inputs.tx.data[bytes.min($bytes)..].fill(0xee);
                        down = u32::saturating_sub(down, 1);
                        if drive.link && down == 0 && rng.u32(0..150) == 0 {
                            down = rng.u32(1..60);
                        }
                        inputs.link = down == 0;
                    }
                    let done = source.is_idle() && !outputs.mac.valid && !inputs.mac_rst;
                    calm = match done {
                        true => calm + u32::from(card && mac),
                        false => 0,
                    };
                }
                if calm <= 200 || !frame.is_empty() {
                    return Err(format!("not at rest: {} frames left", source.pending()).into());
                }
                let padded = |frame: &Vec<u8>| {
                    let mut frame = frame.clone();
                    frame.resize(frame.len().max(60), 0);
                    frame
                };
                count.whole = came.len();
                count.dropped = sim.outputs.dropped as usize;
                let mut sent = frames.iter().map(padded);
                for frame in came {
                    if !sent.any(|sent| sent == frame) {
                        return Err(format!(
                            "a frame of {} bytes changed or out of order",
                            frame.len()
                        )
                        .into());
                    }
                }
                if count.whole + count.dropped + count.torn != frames.len() {
                    return Err(format!("{count:?}").into());
                }
                count.rate = beats as f64 / (last + 1 - first.unwrap_or(last)) as f64;
                Ok(count)
            }

            #[test]
            fn frames_come_whole_and_without_a_gap() {
                replay("mac_tx_fifo", 0..24, |run| {
                    let mut rng = run.seed.rng("test");
                    let (link, resets) = (rng.bool(), rng.bool());
                    let count = check(
                        run,
                        Drive {
                            clocks: [Clock::any(&mut rng), Clock::any(&mut rng)],
                            card: Stall::any(&mut rng),
                            mac: Stall::any(&mut rng),
                            frames: 200,
                            // The longest that fits has 30 beats.
                            longest: $bytes * rng.usize(1..=30),
                            link,
                            resets,
                        },
                    )?;
                    if count.whole < 20 || !link && count.dropped > 0 || !resets && count.torn > 0 {
                        return Err(format!("{count:?}").into());
                    }
                    Ok(())
                });
            }

            #[test]
            fn a_slow_card_and_a_fast_mac() {
                replay("mac_tx_fifo_dry", 0..4, |run| {
                    let mut rng = run.seed.rng("test");
                    let clocks = [0.3, 1.0].map(|rate| Clock::new(rate, 0.2, rng.fork()));
                    let (card, mac) = (Stall::Random(0.3), Stall::Never);
                    let (frames, longest) = (200, $bytes * 12);
                    let drive = Drive {
                        clocks,
                        card,
                        mac,
                        frames,
                        longest,
                        link: false,
                        resets: false,
                    };
                    check(run, drive).map(drop)
                });
            }

            #[test]
            fn equal_clocks_carry_nearly_a_beat_a_cycle() {
                replay("mac_tx_fifo_rate", 0..1, |run| {
                    let mut rng = run.seed.rng("test");
                    let clocks = [1.0, 1.0].map(|rate| Clock::new(rate, 0.0, rng.fork()));
                    let (card, mac) = (Stall::Never, Stall::Never);
                    let (frames, longest) = (400, $bytes * 8);
                    let drive = Drive {
                        clocks,
                        card,
                        mac,
                        frames,
                        longest,
                        link: false,
                        resets: false,
                    };
                    let count = check(run, drive)?;
                    if count.rate < 0.95 {
                        return Err(format!("{count:?}").into());
                    }
                    Ok(())
                });
            }
        }
    };
}

mac_tx_fifo_tests!(width_128, mac_tx_fifo_128, 16);
mac_tx_fifo_tests!(width_512, mac_tx_fifo_512, 64);
