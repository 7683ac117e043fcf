//! `byte_packer` against the concatenation of the pieces.

use rtl_sim::axis::{keep, Checker, Sink};
use rtl_sim::{replay, Pace, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{byte_packer_128, byte_packer_512};

macro_rules! byte_packer_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// Sends packets of these pieces; returns the cycles from the first piece in to the last beat out.
            fn check(
                run: &rtl_sim::Run,
                packets: &[Vec<usize>],
                input: Stall,
                output: Stall,
            ) -> Result<u64, Box<dyn Error>> {
                let mut rng = run.seed.rng("bytes");
                let mut sim = run.sim::<$design::Model>();
                let mut pace = Pace::new(input, run.seed.rng("pieces"));
                let mut sink = Sink::<$bytes>::new(output, run.seed);
                let mut checker = Checker::<$bytes>::new("m_axis");
                let mut pieces: VecDeque<(usize, bool)> = VecDeque::new();
                for packet in packets {
                    let last = packet.len() - 1;
                    pieces.extend(
                        packet
                            .iter()
                            .enumerate()
                            .map(|(n, size)| (*size, n == last)),
                    );
                }
                let (mut expected, mut packet) = (VecDeque::new(), Vec::new());
                let (mut first, mut last) = (None, 0);
                sim.reset(3);
                while !pieces.is_empty() || !expected.is_empty() || sim.inputs.s_axis.valid {
                    sim.step();
                    let now = sim.cycle();
                    if now > 200_000 {
                        return Err(format!("stuck, {} packets to come", expected.len()).into());
                    }
                    let m_axis = &sim.outputs.m_axis;
                    checker.cycle(now, false, m_axis, &sim.inputs.m_axis)?;
                    sink.cycle(now, &mut sim.inputs.m_axis, m_axis);
                    let taken = sim.inputs.s_axis.valid && sim.outputs.s_axis.ready;
                    if taken {
                        first.get_or_insert(now);
                        let beat = &sim.inputs.s_axis;
                        packet.extend(&beat.data[..beat.keep.count_ones() as usize]);
                        if beat.last {
                            expected.push_back(std::mem::take(&mut packet));
                        }
                    }
                    if let Some(received) = sink.pop() {
                        if Some(&received.data) != expected.front() {
                            return Err(format!("wrong packet of {}", received.data.len()).into());
                        }
                        expected.pop_front();
                        last = received.last;
                    }
                    if taken || !sim.inputs.s_axis.valid {
                        sim.inputs.s_axis.valid = !pieces.is_empty() && pace.start();
                        if sim.inputs.s_axis.valid {
                            let (size, last) = pieces.pop_front().unwrap_or_default();
                            sim.inputs.s_axis.data.fill_with(|| rng.u8(..));
                            sim.inputs.s_axis.keep = keep(size);
                            sim.inputs.s_axis.last = last;
                        }
                    }
                }
                if sink.in_packet() {
                    return Err("bytes too many".into());
                }
                Ok(last - first.unwrap_or(0))
            }

            fn packets(rng: &mut fastrand::Rng) -> Vec<Vec<usize>> {
                (0..80)
                    .map(|_| {
                        let most = [1, 3, $bytes / 2, $bytes][rng.usize(0..4)];
                        let size = |rng: &mut fastrand::Rng| match rng.u8(0..5) {
                            0 => $bytes,
                            _ => rng.usize(1..=most),
                        };
                        (0..rng.usize(1..20)).map(|_| size(rng)).collect()
                    })
                    .collect()
            }

            #[test]
            fn pieces_become_full_beats() {
                replay("pieces_become_full_beats", 0..20, |run| {
                    let mut rng = run.seed.rng("test");
                    let packets = packets(&mut rng);
                    let (input, output) = (Stall::any(&mut rng), Stall::any(&mut rng));
                    check(run, &packets, input, output).map(drop)
                });
            }

            #[test]
            fn a_piece_per_cycle() {
                replay("a_piece_per_cycle", 0..5, |run| {
                    let packets = packets(&mut run.seed.rng("test"));
                    let pieces: usize = packets.iter().map(Vec::len).sum();
                    // A last piece that spills into one beat more takes a cycle more.
                    let spills = packets.iter().filter(|sizes| {
                        let before: usize = sizes[..sizes.len() - 1].iter().sum();
                        before % $bytes + sizes[sizes.len() - 1] > $bytes
                    });
                    let limit = (pieces + spills.count() - 1 + 2) as u64;
                    let cycles = check(run, &packets, Stall::Never, Stall::Never)?;
                    if cycles > limit {
                        return Err(format!("{cycles} cycles, {limit} expected").into());
                    }
                    Ok(())
                });
            }
        }
    };
}

byte_packer_tests!(bits_128, byte_packer_128, 16);
byte_packer_tests!(bits_512, byte_packer_512, 64);
