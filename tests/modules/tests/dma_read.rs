//! `dma_read` against slices of the memory.

use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Ram, Timing};
use rtl_sim::axis::{self, Sink};
use rtl_sim::{replay, Pace, Run, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{bit, dma_read_128, dma_read_512, set_bit, set_element};

const BASE: u64 = 0x7_ffff_0000;
const SIZE: usize = 1 << 18;
const PAGE: u64 = 4096;

/// What can be read or not as a whole: a beat at 512 bits, four at 128.
const LINE: u64 = 64;

/// Memory of which some lines cannot be read.
struct Host {
    ram: Ram,
    bad_lines: Vec<u64>,
}

impl Host {
    fn new(rng: &mut fastrand::Rng, bad_lines: usize) -> Host {
        let mut ram = Ram::new(BASE, SIZE);
        ram.bytes.fill_with(|| rng.u8(..));
        let line = |_| BASE / LINE + rng.u64(..SIZE as u64 / LINE);
        let bad_lines = (0..bad_lines).map(line).collect();
        Host { ram, bad_lines }
    }

    fn is_bad(&self, addr: u64, bytes: usize) -> bool {
        let lines = addr / LINE..=(addr + bytes as u64 - 1) / LINE;
        self.bad_lines.iter().any(|line| lines.contains(line))
    }
}

impl Memory for Host {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        match self.is_bad(addr, bytes.len()) {
            true => Err(Fault::Slave),
            false => self.ram.read(addr, bytes),
        }
    }

    fn write(&mut self, _: u64, _: &[u8], _: u128) -> Result<(), Fault> {
        Err(Fault::Slave)
    }
}

/// Address and bytes.
type Request = (u64, usize);

/// What one run measured.
struct Measured {
    /// Cycles from the gather's first request taken to its first beat out.
    first: u64,
    /// Cycles from the gather's first beat out to its last.
    span: u64,
    /// Beats of the gather out.
    beats: u64,
    /// Cycles from the first beat on the bus to the last, and how many of them had a beat.
    bus: (u64, u64),
}

macro_rules! dma_read_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// Runs these requests. The consumer of the client `blocked` never takes anything; its requests need not be
            /// answered.
            fn check(
                run: &Run,
                host: &mut Host,
                timing: Timing,
                requests: [Vec<Request>; 3],
                stalls: [Stall; 6],
                blocked: Option<usize>,
            ) -> Result<Measured, Box<dyn Error>> {
                let mut sim = run.sim::<$design::Model>();
                let mut memory = MemorySlave::<$bytes>::new(timing, run.seed);
                let mut bus = axi::Checker::<$bytes>::new("m_axi");
                let [a, b, c, d, e, f] = stalls;
                let mut paces = [a, b, c].map(|stall| Pace::new(stall, run.seed.rng("requests")));
                let mut sinks = [d, e, f].map(|stall| Sink::<$bytes>::new(stall, run.seed));
                let mut checkers = ["gather", "job", "element"].map(|name| axis::Checker::<$bytes>::new(name).limit(1_000_000));
                let mut todo = requests.map(VecDeque::from);
                let mut due = [(); 3].map(|()| VecDeque::<Request>::new());
                let (mut bursts, mut errors) = (0, 0);
                let (mut asked, mut first, mut last) = (None, None, 0);
                let mut seen_bus: Option<(u64, u64, u64)> = None;
                sim.reset(3);
                bus.cycle(sim.cycle(), true, &sim.outputs.m_axi, &sim.inputs.m_axi)?;
                let open = |queues: &[VecDeque<Request>; 3]| {
                    let wanted = (0..3).filter(|client| blocked != Some(*client));
                    wanted.map(|client| queues[client].len()).sum::<usize>()
                };
                while open(&todo) + open(&due) > 0 {
                    sim.step();
                    let now = sim.cycle();
                    if now > 400_000 {
                        let left = [open(&todo), open(&due)];
                        return Err(format!("stuck: {left:?} requests and answers to come").into());
                    }
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    bus.cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
                    bursts += u64::from(outputs.request);
                    errors += u64::from(outputs.error);
                    if outputs.idle && (inputs.req_valid != 0 || due.iter().any(|q| !q.is_empty())) {
                        return Err("idle with requests under way".into());
                    }
                    if inputs.m_axi.r.valid {
                        let (_, last, beats) = seen_bus.get_or_insert((now, now, 0));
                        (*last, *beats) = (now, *beats + 1);
                    }
                    memory.cycle(now, &mut inputs.m_axi, &outputs.m_axi, host);
                    let answers = [
                        (&outputs.gather, &mut inputs.gather),
                        (&outputs.job, &mut inputs.job),
                        (&outputs.element, &mut inputs.element),
                    ];
                    for (client, (answer, ready)) in answers.into_iter().enumerate() {
                        let sink = &mut sinks[client];
                        checkers[client].cycle(now, false, answer, ready)?;
                        if client == 0 && answer.valid && ready.ready {
                            first.get_or_insert(now);
                            last = now;
                        }
                        if blocked != Some(client) {
                            sink.cycle(now, ready, answer);
                        }
                        if let Some(received) = sink.pop() {
                            let Some((addr, bytes)) = due[client].pop_front() else {
                                return Err(format!("client {client}: unasked answer").into());
                            };
                            let bad = host.is_bad(addr, bytes);
                            let at = (addr - BASE) as usize;
                            let whole = received.data == host.ram.bytes[at..at + bytes];
                            if received.data.len() != bytes || received.user != u64::from(bad) || !(bad || whole) {
                                return Err(format!(
                                    "client {client}, {bytes} bytes at {addr:#x} (bad: {bad}): {} bytes, error {}",
                                    received.data.len(),
                                    received.user
                                )
                                .into());
                            }
                            sink.recycle(received);
                        }
                        let valid = bit(inputs.req_valid, client);
                        let taken = valid && bit(outputs.req_ready, client);
                        if taken {
                            due[client].extend(todo[client].pop_front());
                            asked.get_or_insert(now);
                        }
                        if taken || !valid {
                            let next = todo[client].front().filter(|_| paces[client].start());
                            set_bit(&mut inputs.req_valid, client, next.is_some());
                            if let Some((addr, bytes)) = next {
                                set_element(&mut inputs.req_addr, client, 8, *addr);
                                let mut sizes = inputs.req_bytes.to_le_bytes();
                                set_element(&mut sizes, client, 2, *bytes as u64);
                                inputs.req_bytes = u64::from_le_bytes(sizes);
                            }
                        }
                    }
                }
                if blocked.is_none() {
                    sim.step();
                    let totals = memory.totals();
                    if !sim.outputs.idle || !bus.is_idle() || (totals.reads, totals.errors) != (bursts, errors) {
                        return Err(format!("at the end: {bursts} bursts, {errors} errors, {totals:?}").into());
                    }
                }
                let (bus_first, bus_last, bus_beats) = seen_bus.unwrap_or_default();
                Ok(Measured {
                    first: first.unwrap_or(0).saturating_sub(asked.unwrap_or(0)),
                    span: last + 1 - first.unwrap_or(last),
                    beats: sinks[0].beats(),
                    bus: (bus_last - bus_first + 1, bus_beats),
                })
            }

            /// Gathers of any alignment, jobs and elements aligned to the bus.
            fn requests(rng: &mut fastrand::Rng, counts: [usize; 3]) -> [Vec<Request>; 3] {
                let mut request = |client| {
                    let bytes = match (client, rng.u8(0..4)) {
                        (0, 0) => rng.usize(1..=200),
                        (0, 1) => rng.usize(1..=16384),
                        (0, _) => rng.usize(1..=2000),
                        (1, _) => 128,
                        _ => rng.usize(1..=256),
                    };
                    let at = rng.usize(0..SIZE - bytes);
                    let at = if client == 0 { at } else { at / 128 * 128 };
                    (BASE + at as u64, bytes)
                };
                [0, 1, 2].map(|client| (0..counts[client]).map(|_| request(client)).collect())
            }

            #[test]
            fn every_byte_of_every_request() {
                replay("every_byte", 0..12, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut host = Host::new(&mut rng, 0);
                    let mut requests = requests(&mut rng, [60, 60, 60]);
                    // Each offset at each side of a page's end.
                    for offset in 0..$bytes {
                        let page = BASE + PAGE * rng.u64(1..60);
                        requests[0].push((page - offset, rng.usize(1..=2 * $bytes)));
                        requests[0].push((page + offset, rng.usize(1..=2 * $bytes)));
                    }
                    let stalls = [(); 6].map(|()| Stall::any(&mut rng));
                    check(run, &mut host, Timing::any(run.seed), requests, stalls, None).map(drop)
                });
            }

            #[test]
            fn errors_are_of_the_request_they_hit() {
                replay("read_errors", 0..8, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut host = Host::new(&mut rng, 100);
                    let requests = requests(&mut rng, [100, 60, 60]);
                    let stalls = [(); 6].map(|()| Stall::any(&mut rng));
                    check(run, &mut host, Timing::any(run.seed), requests, stalls, None).map(drop)
                });
            }

            #[test]
            fn no_client_waits_for_anothers_consumer() {
                for blocked in 0..3 {
                    replay("blocked_consumer", 0..3, |run| {
                        let mut rng = run.seed.rng("test");
                        let mut host = Host::new(&mut rng, 0);
                        // The blocked client asks for more than its buffer holds.
                        let mut counts = [40; 3];
                        counts[blocked] = 400;
                        let requests = requests(&mut rng, counts);
                        let stalls = [(); 6].map(|()| Stall::Never);
                        let timing = Timing::any(run.seed);
                        check(run, &mut host, timing, requests, stalls, Some(blocked)).map(drop)
                    });
                }
            }

            #[test]
            fn a_beat_per_cycle_at_100_cycles_latency() {
                for (what, bytes, step) in [
                    ("4096 aligned bytes", 4096, 4096),
                    ("16384 aligned bytes", 16384, 16384),
                    ("1442 bytes, any alignment", 1442, 1451),
                ] {
                    replay("read_rate", 0..1, |run| {
                        let mut host = Host::new(&mut run.seed.rng("test"), 0);
                        let gather: Vec<Request> = (0..(128 << 10) / bytes)
                            .map(|n| (BASE + (n * step % (SIZE - bytes)) as u64, bytes))
                            .collect();
                        let stalls = [(); 6].map(|()| Stall::Never);
                        let timing = Timing::latency(100);
                        let all = [gather, Vec::new(), Vec::new()];
                        let m = check(run, &mut host, timing, all, stalls, None)?;
                        println!(
                            "{}, {what}: first beat after {} cycles, then {} beats in {} cycles ({} bus beats in {})",
                            stringify!($design), m.first, m.beats, m.span, m.bus.1, m.bus.0
                        );
                        // The bus is busy in every cycle, and what it brings leaves at once.
                        if m.bus.0 != m.bus.1 || m.span > m.bus.0 || m.first > 110 {
                            return Err("too slow".into());
                        }
                        Ok(())
                    });
                }
            }
        }
    };
}

dma_read_tests!(bits_128, dma_read_128, 16);
dma_read_tests!(bits_512, dma_read_512, 64);
