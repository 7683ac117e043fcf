//! `byte_slicer` against slices of the packets.

use rtl_sim::axis::{Checker, Sink, Source};
use rtl_sim::{replay, Pace, Stall};
use std::error::Error;
use weft_module_tests::{byte_slicer_128, byte_slicer_512};

/// A packet, and what is cut out of it.
struct Cut {
    packet: Vec<u8>,
    skip: usize,
    keep: usize,
}

macro_rules! byte_slicer_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;
            use rtl_sim::Sim;

            fn cut(rng: &mut fastrand::Rng, length: usize, skip: usize, keep: usize) -> Cut {
                let packet = (0..length).map(|_| rng.u8(..)).collect();
                Cut { packet, skip, keep }
            }

            fn any_cut(rng: &mut fastrand::Rng) -> Cut {
                let length = rng.usize(1..=6 * $bytes);
                let skip = rng.usize(0..length);
                let keep = match rng.u8(0..3) {
                    0 => length - skip,
                    _ => rng.usize(1..=length - skip),
                };
                cut(rng, length, skip, keep)
            }

            /// Returns the cycles from the first beat in to the last beat out.
            fn check(
                run: &rtl_sim::Run,
                sim: &mut Sim<$design::Model>,
                cuts: &[Cut],
                stalls: [Stall; 3],
            ) -> Result<u64, Box<dyn Error>> {
                let [input, output, command] = stalls;
                let mut source = Source::<$bytes>::new(input, run.seed);
                let mut sink = Sink::<$bytes>::new(output, run.seed);
                let mut pace = Pace::new(command, run.seed.rng("commands"));
                let mut checker = Checker::<$bytes>::new("m_axis");
                cuts.iter().for_each(|cut| source.push(&cut.packet));
                let (mut commands, mut received) = (0, 0);
                let (start, mut first, mut last) = (sim.cycle(), None, 0);
                while received < cuts.len() || !source.is_idle() {
                    sim.step();
                    let now = sim.cycle();
                    if now - start > 100_000 {
                        return Err(format!("stuck after {received} packets").into());
                    }
                    let m_axis = &sim.outputs.m_axis;
                    checker.cycle(now, false, m_axis, &sim.inputs.m_axis)?;
                    sink.cycle(now, &mut sim.inputs.m_axis, m_axis);
                    if sim.inputs.s_axis.valid && sim.outputs.s_axis.ready {
                        first.get_or_insert(now);
                    }
                    source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
                    if let Some(packet) = sink.pop() {
                        let Cut { skip, keep, .. } = cuts[received];
                        let expected = &cuts[received].packet[skip..][..keep];
                        if packet.data != expected {
                            let text = format!("packet {received}: not {keep} bytes from {skip}");
                            return Err(text.into());
                        }
                        received += 1;
                        last = packet.last;
                    }
                    let taken = sim.inputs.cmd_valid && sim.outputs.cmd_ready;
                    commands += usize::from(taken);
                    if taken || !sim.inputs.cmd_valid {
                        sim.inputs.cmd_valid = commands < cuts.len() && pace.start();
                        if let Some(cut) = cuts.get(commands) {
                            sim.inputs.cmd_skip = cut.skip as u16;
                            sim.inputs.cmd_keep = cut.keep as u16;
                        }
                    }
                }
                // Nothing may follow.
                for _ in 0..5 {
                    sim.step();
                    if sim.outputs.m_axis.valid {
                        return Err("a beat too many".into());
                    }
                }
                Ok(last - first.unwrap_or(0))
            }

            #[test]
            fn the_right_bytes() {
                replay("the_right_bytes", 0..20, |run| {
                    let mut rng = run.seed.rng("test");
                    let cuts: Vec<_> = (0..120).map(|_| any_cut(&mut rng)).collect();
                    let mut sim = run.sim::<$design::Model>();
                    sim.reset(3);
                    let stalls = [(); 3].map(|()| Stall::any(&mut rng));
                    check(run, &mut sim, &cuts, stalls).map(drop)
                });
            }

            #[test]
            fn every_lane() {
                replay("every_lane", 0..1, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut cuts = Vec::new();
                    for skip in 0..2 * $bytes {
                        for end in [1, $bytes - 1, $bytes, $bytes + 1, 2 * $bytes] {
                            cuts.push(cut(&mut rng, skip + end, skip, end));
                            cuts.push(cut(&mut rng, skip + end + 3, skip, end));
                        }
                    }
                    let mut sim = run.sim::<$design::Model>();
                    sim.reset(3);
                    let beats: usize = cuts.iter().map(|c| c.packet.len().div_ceil($bytes)).sum();
                    let stalls = [(); 3].map(|()| Stall::Never);
                    let cycles = check(run, &mut sim, &cuts, stalls)?;
                    // One cycle more for a packet whose tail comes after its last beat.
                    let tails = cuts.iter().filter(|cut| {
                        let (skip, end) = (cut.skip % $bytes, cut.skip + cut.keep);
                        let in_last = cut.packet.len().div_ceil($bytes) == end.div_ceil($bytes);
                        let beats_in = (skip + cut.keep).div_ceil($bytes);
                        in_last && skip != 0 && cut.keep.div_ceil($bytes) == beats_in
                    });
                    let limit = (beats + tails.count()) as u64;
                    if cycles > limit {
                        return Err(format!("{cycles} cycles, {limit} expected").into());
                    }
                    Ok(())
                });
            }

            #[test]
            fn flush_forgets() {
                replay("flush_forgets", 0..20, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut sim = run.sim::<$design::Model>();
                    sim.reset(3);
                    for _ in 0..10 {
                        // Some beats of a packet, then the flush, anywhere.
                        sim.inputs.cmd_valid = true;
                        sim.inputs.cmd_skip = rng.u16(0..3 * $bytes);
                        sim.inputs.cmd_keep = rng.u16(1..1000);
                        sim.inputs.s_axis.valid = true;
                        sim.inputs.s_axis.last = false;
                        sim.inputs.m_axis.ready = rng.bool();
                        sim.step();
                        sim.inputs.cmd_valid = false;
                        sim.step_many(rng.u64(1..6));
                        sim.inputs.flush = true;
                        sim.inputs.s_axis.valid = rng.bool();
                        sim.step();
                        sim.inputs.flush = false;
                        sim.inputs.s_axis.valid = false;
                        let cuts: Vec<_> = (0..3).map(|_| any_cut(&mut rng)).collect();
                        let stalls = [(); 3].map(|()| Stall::any(&mut rng));
                        check(run, &mut sim, &cuts, stalls)?;
                    }
                    Ok(())
                });
            }
        }
    };
}

byte_slicer_tests!(bits_128, byte_slicer_128, 16);
byte_slicer_tests!(bits_512, byte_slicer_512, 64);
