//! `capture` against the frames that passed: what is in the ring is right, whole and in order, the rest is counted.

use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Timing};
use rtl_sim::axis::Source;
use rtl_sim::{replay, Pace, Run, Seed, Stall};
use std::cell::Cell;
use std::collections::VecDeque;
use std::error::Error;
use weft_layout::CaptureHeader;
use weft_module_tests::{bit, capture_128, capture_512};

const BASE: u64 = 0x7_0000_0000;
const HEADER: usize = CaptureHeader::SIZE;

/// Host memory: the ring and nothing else.
struct Host {
    ring: Vec<u8>,
    outside: Option<u64>,
}

impl Memory for Host {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Err(Fault::Slave)
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        for (lane, byte) in bytes.iter().enumerate() {
            if strobe >> lane & 1 == 1 {
                let at = (addr + lane as u64).wrapping_sub(BASE) as usize;
                match self.ring.get_mut(at) {
                    Some(place) => *place = *byte,
                    None => self.outside = Some(addr),
                }
            }
        }
        Ok(())
    }
}

/// A frame that passed: bytes, bad, time of its last beat.
type Frame = (Vec<u8>, bool, u64);

/// How a run is set up.
struct Setup {
    slot_log2: u8,
    count_log2: u8,
    snap: u16,
    frames: usize,
    longest: usize,
    stalls: [Stall; 2],
    /// Cycles between two looks at the ring.
    slow_host: usize,
    timing: Timing,
}

/// Frames found in the ring, frames lost, cycles.
struct Outcome {
    found: usize,
    lost: usize,
    cycles: u64,
}

macro_rules! capture_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            fn check(run: &Run, s: Setup) -> Result<Outcome, Box<dyn Error>> {
                let mut rng = run.seed.rng("frames");
                let mut sim = run.sim::<$design::Model>();
                let slot = 1usize << s.slot_log2;
                let mut host = Host {
                    ring: vec![0; slot << s.count_log2],
                    outside: None,
                };
                let mut memory = MemorySlave::<$bytes>::new(s.timing, run.seed);
                let mut bus = axi::Checker::<$bytes>::new("m_axi");
                let [a, b] = s.stalls;
                let mut sources =
                    [(a, 1), (b, 2)].map(|(stall, n)| Source::<$bytes>::new(stall, Seed(run.seed.0 * 2 + n)));
                let mut sent: [VecDeque<(Vec<u8>, bool)>; 2] = Default::default();
                for (side, source) in sources.iter_mut().enumerate() {
                    for _ in 0..s.frames {
                        let frame: Vec<u8> = (0..rng.usize(1..=s.longest)).map(|_| rng.u8(..)).collect();
                        let bad = side == 0 && rng.bool();
                        source.push_with_user(&frame, bad.into());
                        sent[side].push_back((frame, bad));
                    }
                }
                let mut looks = Pace::new(
                    Stall::Runs { go: 1..=2, pause: 0..=s.slow_host as u32 },
                    run.seed.rng("looks"),
                );
                let mut passed: [VecDeque<Frame>; 2] = Default::default();
                let (mut head, mut lost, mut found) = (0u32, [0usize; 2], 0);
                sim.inputs.base = BASE;
                (sim.inputs.slot_log2, sim.inputs.count_log2) = (s.slot_log2, s.count_log2);
                (sim.inputs.snap, sim.inputs.enable) = (s.snap, 3);
                sim.inputs.rst_ni = true;
                sim.settle();
                sim.inputs.rst_ni = false;
                sim.settle();
                sim.reset(3);
                bus.cycle(sim.cycle(), true, &sim.outputs.m_axi, &sim.inputs.m_axi)?;
                let mut calm = 0;
                while calm < 50 {
                    sim.inputs.time = sim.cycle();
                    for (side, valid, last) in [
                        (0, sim.inputs.rx.valid, sim.inputs.rx.last),
                        (1, sim.inputs.tx.valid, sim.inputs.tx.last),
                    ] {
                        if valid && last {
                            let (bytes, bad) = sent[side].pop_front().ok_or("a beat too many")?;
                            passed[side].push_back((bytes, bad, sim.inputs.time));
                        }
                    }
                    sim.step();
                    let now = sim.cycle();
                    if now > 400_000 {
                        return Err("stuck".into());
                    }
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    bus.cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
                    memory.cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut host);
                    if let Some(addr) = host.outside {
                        return Err(format!("write to {addr:#x}, outside of the ring").into());
                    }
                    sources[0].cycle(&mut inputs.rx, &outputs.rx);
                    sources[1].cycle(&mut inputs.tx, &outputs.tx);
                    for side in 0..2 {
                        lost[side] += usize::from(bit(outputs.lost, side));
                    }
                    let quiet = outputs.idle && sources.iter().all(Source::is_idle) && memory.is_idle();
                    calm = if quiet { calm + 1 } else { 0 };
                    if !(looks.start() || quiet) {
                        continue;
                    }
                    // The header's phase is all that the host goes by.
                    let at = (head as usize & ((1 << s.count_log2) - 1)) * slot;
                    let phase = !(head >> s.count_log2) as u8 & CaptureHeader::PHASE;
                    let header = CaptureHeader::from_bytes(host.ring[at..at + HEADER].try_into()?);
                    if header.phase != phase {
                        continue;
                    }
                    calm = 0;
                    let (length, captured) = (header.length.into(), header.captured.into());
                    let (said_lost, clock, flags) =
                        (header.lost as usize, header.clock, header.flags);
                    let side = usize::from(flags & CaptureHeader::SENT != 0);
                    let bytes = &host.ring[at + HEADER..at + HEADER + captured];
                    let mut skipped = 0;
                    loop {
                        let (frame, bad, time) =
                            passed[side].pop_front().ok_or("a frame that never passed, or not in order")?;
                        if time < clock {
                            skipped += 1;
                            continue;
                        }
                        let most = frame.len().min(s.snap.into()).min(slot - HEADER);
                        if (time, frame.len(), bad, most) != (clock, length, flags & CaptureHeader::BAD != 0, captured)
                            || frame[..most] != *bytes
                        {
                            return Err(format!(
                                "frame of {} bytes is {length} ({captured}) in the ring, flags {flags}, clock {clock} for {time}",
                                frame.len()
                            )
                            .into());
                        }
                        break;
                    }
                    if skipped > said_lost {
                        return Err(format!("{skipped} missing, {said_lost} lost").into());
                    }
                    found += 1;
                    head = head.wrapping_add(1);
                    inputs.head = head;
                }
                if sim.outputs.tail != head || !bus.is_idle() {
                    return Err(format!("tail {} with {head} read", sim.outputs.tail).into());
                }
                let lost = lost[0] + lost[1];
                if found + lost != 2 * s.frames {
                    return Err(format!("{found} found, {lost} lost, of {}", 2 * s.frames).into());
                }
                Ok(Outcome {
                    found,
                    lost,
                    cycles: sim.cycle(),
                })
            }

            #[test]
            fn every_frame_is_there_or_counted() {
                let (found, lost) = (Cell::new(0), Cell::new(0));
                replay("capture", 0..16, |run| {
                    let mut rng = run.seed.rng("test");
                    let slot_log2 = rng.u8(7..=12);
                    let setup = Setup {
                        slot_log2,
                        count_log2: rng.u8(1..=5),
                        snap: [0, 1, 64, 200, 65535][rng.usize(0..5)],
                        frames: 150,
                        longest: [70, 300, 2000][rng.usize(0..3)],
                        stalls: [(); 2].map(|()| Stall::any(&mut rng)),
                        slow_host: [1, 30, 300][rng.usize(0..3)],
                        timing: Timing::any(run.seed),
                    };
                    let result = check(run, setup)?;
                    found.set(found.get() + result.found);
                    lost.set(lost.get() + result.lost);
                    Ok(())
                });
                let (found, lost) = (found.get(), lost.get());
                assert!(found > 500 && lost > 50, "{found} found, {lost} lost");
            }

            #[test]
            fn nothing_is_lost_when_the_bus_keeps_up() {
                replay("capture_rate", 0..1, |run| {
                    let pause = Stall::Runs { go: 24..=24, pause: 120..=120 };
                    let setup = Setup {
                        slot_log2: 11,
                        count_log2: 6,
                        snap: 65535,
                        frames: 100,
                        longest: $bytes * 20,
                        stalls: [pause.clone(), pause],
                        slow_host: 1,
                        timing: Timing::latency(100),
                    };
                    let result = check(run, setup)?;
                    println!("{}: {} frames in {} cycles", stringify!($design), result.found, result.cycles);
                    if result.lost != 0 {
                        return Err(format!("{} lost", result.lost).into());
                    }
                    Ok(())
                });
            }
        }
    };
}

capture_tests!(bits_128, capture_128, 16);
capture_tests!(bits_512, capture_512, 64);
