//! `mac_loopback`: every frame goes whole to one place, however the switch is thrown.

use rtl_sim::axis::{Checker, Sink, Source};
use rtl_sim::{replay, Run, Seed, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{mac_loopback_128, mac_loopback_512};

/// Where frames went.
#[derive(Debug, Default, PartialEq)]
struct Went {
    out: usize,
    looped: usize,
    taken: usize,
    ignored: usize,
}

macro_rules! mac_loopback_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn frames(rng: &mut fastrand::Rng, count: usize, mark: u8) -> Vec<Vec<u8>> {
                let frame = |n| {
                    let len = rng.usize(1..=8 * $bytes);
                    let mut frame: Vec<u8> = (0..len + 6).map(|_| rng.u8(..)).collect();
                    frame[0] = mark;
                    frame[1..5].copy_from_slice(&(n as u32).to_le_bytes());
                    frame
                };
                (0..count).map(frame).collect()
            }

            /// `throws`: cycles between two changes of the switch, which ends open.
            fn check(
                run: &Run,
                stalls: [Stall; 3],
                throws: &[u64],
            ) -> Result<Went, Box<dyn Error>> {
                let mut rng = run.seed.rng("frames");
                let (sent, came) = (frames(&mut rng, 150, 1), frames(&mut rng, 150, 2));
                let mut sim = run.sim::<$design::Model>();
                let [a, b, c] = stalls;
                let mut tx = Source::<$bytes>::new(a, Seed(run.seed.0 * 3));
                let mut mac_rx = Source::<$bytes>::new(b, Seed(run.seed.0 * 3 + 1));
                let mut mac_tx = Sink::<$bytes>::new(c, run.seed);
                let mut rx = Sink::<$bytes>::new(Stall::Never, run.seed);
                let mut checkers = ["mac_tx", "rx"].map(Checker::<$bytes>::new);
                sent.iter().for_each(|f| tx.push(f));
                came.iter()
                    .for_each(|f| mac_rx.push_with_user(f, (f[5] & 1).into()));
                let (mut next, mut throws) = (0, throws.iter());
                let mut ignored = 0;
                sim.reset(3);
                let start = sim.cycle();
                let mut calm = 0;
                while calm < 8 {
                    let quiet = tx.is_idle() && mac_rx.is_idle() && throws.len() == 0;
                    calm = if quiet { calm + 1 } else { 0 };
                    if sim.cycle() >= start + next {
                        match throws.next() {
                            Some(wait) => {
                                next = sim.cycle() - start + wait;
                                sim.inputs.enable = !sim.inputs.enable;
                            }
                            None => sim.inputs.enable = false,
                        }
                    }
                    sim.step();
                    let now = sim.cycle();
                    if now > 200_000 {
                        return Err("stuck".into());
                    }
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    if outputs.looped && outputs.mac_tx.valid {
                        return Err("the MAC is offered something in the loop".into());
                    }
                    if !outputs.mac_rx.ready {
                        return Err("the MAC was asked to wait".into());
                    }
                    ignored += usize::from(outputs.ignored);
                    checkers[0].cycle(now, false, &outputs.mac_tx, &inputs.mac_tx)?;
                    checkers[1].cycle(
                        now,
                        false,
                        &outputs.rx,
                        &rtl_sim::axis::Backward { ready: true },
                    )?;
                    mac_tx.cycle(now, &mut inputs.mac_tx, &outputs.mac_tx);
                    rx.cycle(
                        now,
                        &mut rtl_sim::axis::Backward { ready: true },
                        &outputs.rx,
                    );
                    tx.cycle(&mut inputs.tx, &outputs.tx);
                    mac_rx.cycle(&mut inputs.mac_rx, &outputs.mac_rx);
                }
                if !sim.outputs.idle || rx.in_packet() || mac_tx.in_packet() {
                    return Err("not at rest at the end".into());
                }
                let mut went = Went {
                    ignored,
                    ..Went::default()
                };
                // What was sent went out or into the loop, in order and whole; what came was taken or ignored.
                let mut sent = VecDeque::from(sent);
                let (mut out, mut received) = (VecDeque::new(), VecDeque::new());
                out.extend(std::iter::from_fn(|| mac_tx.pop()));
                received.extend(std::iter::from_fn(|| rx.pop()));
                let mut looped: VecDeque<_> = VecDeque::new();
                let mut came = came.iter();
                for frame in received {
                    if frame.data[0] == 1 {
                        if frame.user != 0 {
                            return Err("a looped frame is bad".into());
                        }
                        looped.push_back(frame.data);
                        continue;
                    }
                    if !came.any(|c| *c == frame.data) || frame.user != u64::from(frame.data[5] & 1)
                    {
                        return Err("a frame from the MAC changed or out of order".into());
                    }
                    went.taken += 1;
                }
                while let Some(frame) = sent.pop_front() {
                    if out.front().is_some_and(|o| o.data == frame) {
                        out.pop_front();
                        went.out += 1;
                    } else if looped.front() == Some(&frame) {
                        looped.pop_front();
                        went.looped += 1;
                    } else {
                        return Err(format!("a frame of {} bytes is lost", frame.len()).into());
                    }
                }
                if !out.is_empty() || !looped.is_empty() || went.taken + went.ignored != 150 {
                    return Err(format!("frames out of nowhere: {went:?}").into());
                }
                Ok(went)
            }

            #[test]
            fn frames_stay_whole_while_the_switch_is_thrown() {
                replay("mac_loopback", 0..12, |run| {
                    let mut rng = run.seed.rng("test");
                    let stalls = [(); 3].map(|()| Stall::any(&mut rng));
                    let throws: Vec<u64> =
                        (0..2 * rng.usize(1..20)).map(|_| rng.u64(1..120)).collect();
                    check(run, stalls, &throws).map(drop)
                });
            }

            #[test]
            fn the_switch_decides() {
                replay("mac_loopback_open", 0..1, |run| {
                    let stalls = || [(); 3].map(|()| Stall::Never);
                    let open = check(run, stalls(), &[])?;
                    let closed = check(run, stalls(), &[8_000, 0])?;
                    let expected = |looped| Went {
                        out: 150 - looped,
                        looped,
                        taken: 150 - looped,
                        ignored: looped,
                    };
                    if open != expected(0) || closed != expected(150) {
                        return Err(format!("{open:?} {closed:?}").into());
                    }
                    Ok(())
                });
            }
        }
    };
}

mac_loopback_tests!(bits_128, mac_loopback_128, 16);
mac_loopback_tests!(bits_512, mac_loopback_512, 64);
