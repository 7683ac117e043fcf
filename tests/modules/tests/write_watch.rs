//! `write_watch` behind `dma_write`: silent while what is written is what was granted, and an assertion for each way in which it is not.

use fastrand::Rng;
use rtl_sim::axi::{MemorySlave, Ram, Timing};
use rtl_sim::axis::Source;
use rtl_sim::{replay, Run, Seed, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{set_bit, set_element, write_watch_128, write_watch_512};

const BASE: u64 = 0x1_0000_0000;
const SIZE: usize = 1 << 18;
/// The ring is the first part of the memory, placements go behind it.
const RING_LOG2: u8 = 12;

/// What is wrong with one of the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// A byte further on than granted, or before.
    Address(i64),
    /// A byte more than granted, or less.
    Bytes(i32),
    NotGranted,
    Twice,
    /// Two in the wrong order.
    Order,
    /// A report behind the end of the ring.
    Ring,
    /// Granted and never written.
    Never,
    /// The grants were forgotten by a reset of the core.
    Reset,
}

macro_rules! write_watch_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// Whether the monitor stopped it, and how.
            fn run(run: &Run, wrong: Wrong) -> Result<Option<String>, Box<dyn Error>> {
                let mut rng = run.seed.rng("test");
                let mut sim = run.sim::<$design::Model>();
                let mut memory = MemorySlave::<$bytes>::new(Timing::any(run.seed), run.seed);
                let mut ram = Ram::new(BASE, SIZE);
                let mut place = Source::<$bytes>::new(Stall::any(&mut rng), run.seed);
                let mut report = Source::<$bytes>::new(Stall::any(&mut rng), Seed(run.seed.0 + 1));
                sim.inputs.ring_base = BASE;
                sim.inputs.ring_log2 = RING_LOG2;
                sim.reset(3);
                sim.inputs.core_rst_ni = true;
                let any = |rng: &mut Rng| {
                    let bytes = match rng.u8(0..4) {
                        0 => rng.usize(1..20),
                        1 => rng.usize(1..6000),
                        _ => rng.usize(1..300),
                    };
                    let at = (1 << RING_LOG2)
                        + 4
                        + rng.u64(0..(SIZE - (1 << RING_LOG2) - bytes - 8) as u64);
                    (BASE + at, bytes)
                };
                let mut commands: VecDeque<(u64, usize)> = (0..30).map(|_| any(&mut rng)).collect();
                let mut grants = commands.clone();
                let at = rng.usize(1..29);
                match wrong {
                    Wrong::Address(by) => grants[at].0 = grants[at].0.wrapping_add_signed(by),
                    Wrong::Bytes(by) => {
                        commands[at].1 = commands[at].1.max(2);
                        grants[at].1 = commands[at].1.wrapping_add_signed(by as isize);
                    }
                    Wrong::NotGranted => {
                        let _ = grants.remove(at);
                    }
                    Wrong::Twice => commands.insert(at, commands[at]),
                    Wrong::Order => grants.swap(at, at - 1),
                    Wrong::Never => grants.push_back((BASE + 5000, 7)),
                    _ => {}
                }
                let mut slots: VecDeque<u64> =
                    (0..30).map(|_| rng.u64(0..1 << RING_LOG2) & !63).collect();
                if wrong == Wrong::Ring {
                    slots[at] = 1 << RING_LOG2;
                }
                let mut ahead = 0usize;
                let mut forget = (wrong == Wrong::Reset).then_some(30 - at);
                let mut quiet = 0;
                loop {
                    if let Err(stop) = sim.try_step() {
                        return Ok(Some(stop.to_string()));
                    }
                    let now = sim.cycle();
                    if now > 200_000 {
                        return Err("stuck".into());
                    }
                    let (i, o) = (&mut sim.inputs, &sim.outputs);
                    memory.cycle(now, &mut i.m_axi, &o.m_axi, &mut ram);
                    place.cycle(&mut i.place, &o.place);
                    report.cycle(&mut i.report, &o.report);
                    i.core_rst_ni = true;
                    // A placement is granted before its command is given.
                    i.grant = false;
                    if ahead < 4 && rng.bool() {
                        if let Some((addr, bytes)) = grants.pop_front() {
                            (i.grant, i.grant_addr, i.grant_bytes) = (true, addr, bytes as u16);
                        }
                        ahead += 1;
                        if forget.is_some_and(|left| commands.len() <= left) {
                            (i.core_rst_ni, forget) = (false, None);
                        }
                    }
                    let taken = i.cmd_valid & o.cmd_ready;
                    for client in 0..2 {
                        if taken >> client & 1 == 1 {
                            set_bit(&mut i.cmd_valid, client, false);
                        }
                    }
                    if i.cmd_valid & 1 == 0 && ahead > 0 && rng.bool() {
                        if let Some((addr, bytes)) = commands.pop_front() {
                            set_element(&mut i.cmd_addr, 0, 8, addr);
                            i.cmd_bytes = i.cmd_bytes & !0xffff | bytes as u32;
                            set_bit(&mut i.cmd_valid, 0, true);
                            place.push(&vec![1; bytes]);
                            ahead -= 1;
                        }
                    }
                    if i.cmd_valid & 2 == 0 && rng.u8(0..4) == 0 {
                        if let Some(slot) = slots.pop_front() {
                            set_element(&mut i.cmd_addr, 1, 8, BASE + slot);
                            i.cmd_bytes = i.cmd_bytes & 0xffff | 64 << 16;
                            set_bit(&mut i.cmd_valid, 1, true);
                            report.push(&[2; 64]);
                        }
                    }
                    let over = commands.is_empty()
                        && slots.is_empty()
                        && grants.is_empty()
                        && i.cmd_valid == 0;
                    i.more = !over || i.grant;
                    quiet = if over && o.idle && place.is_idle() && report.is_idle() {
                        quiet + 1
                    } else {
                        0
                    };
                    if quiet > 20 {
                        return Ok(None);
                    }
                }
            }

            #[test]
            fn silent_while_all_is_as_granted() {
                replay(concat!("write_watch_", $bytes), 0..8, |r| {
                    match run(r, Wrong::Nothing)? {
                        None => Ok(()),
                        Some(stop) => Err(stop.into()),
                    }
                });
            }

            #[test]
            fn each_wrong_write_is_named() {
                for wrong in [
                    Wrong::Address(1),
                    Wrong::Address(-1),
                    Wrong::Address(4096),
                    Wrong::Bytes(1),
                    Wrong::Bytes(-1),
                    Wrong::NotGranted,
                    Wrong::Twice,
                    Wrong::Order,
                    Wrong::Ring,
                    Wrong::Never,
                    Wrong::Reset,
                ] {
                    replay(
                        concat!("write_watch_wrong_", $bytes),
                        0..4,
                        |r| match run(r, wrong)? {
                            Some(stop) if stop.contains("write_watch") => Ok(()),
                            other => Err(format!("{wrong:?}: {other:?}").into()),
                        },
                    );
                }
            }
        }
    };
}

write_watch_tests!(bits_128, write_watch_128, 16);
write_watch_tests!(bits_512, write_watch_512, 64);
