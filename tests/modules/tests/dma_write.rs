//! `dma_write` against the bytes of its commands, in the order of acceptance.

use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Timing};
use rtl_sim::axis::Source;
use rtl_sim::{replay, Pace, Run, Seed, Stall};
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{bit, dma_write_128, dma_write_512, set_bit, set_element};

const PAGE: u64 = 4096;
/// The client that waits for the others.
const LOW: usize = 2;

/// Host memory that knows what has to be written next.
#[derive(Default)]
struct Host {
    expected: VecDeque<(u64, u8)>,
    written: u64,
    wrong: Option<String>,
    bad_pages: Vec<u64>,
}

impl Memory for Host {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Err(Fault::Slave)
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        for (lane, byte) in bytes
            .iter()
            .enumerate()
            .filter(|(lane, _)| strobe >> lane & 1 == 1)
        {
            let got = (addr + lane as u64, *byte);
            let expected = self.expected.pop_front();
            if expected != Some(got) && self.wrong.is_none() {
                self.wrong = Some(format!("{got:x?} written, {expected:x?} was next"));
            }
            self.written += 1;
        }
        // A decode error lets the burst's other beats through to here.
        match self.bad_pages.contains(&(addr / PAGE)) {
            true => Err(Fault::Decode),
            false => Ok(()),
        }
    }
}

/// A command: address and data.
type Command = (u64, Vec<u8>);

/// A command that was accepted.
struct Accepted {
    client: usize,
    /// Bytes written when it is done, and bursts answered.
    bytes: u64,
    bursts: u64,
    /// Bursts before its own.
    before: u64,
}

macro_rules! dma_write_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// Returns the cycles from the first data beat on the bus to the last, and the beats.
            fn check(
                run: &Run,
                commands: [Vec<Command>; 3],
                bad_pages: Vec<u64>,
                timing: Timing,
                stalls: [Stall; 6],
            ) -> Result<(u64, u64), Box<dyn Error>> {
                let mut sim = run.sim::<$design::Model>();
                let mut host = Host {
                    bad_pages,
                    ..Host::default()
                };
                let mut memory = MemorySlave::<$bytes>::new(timing, run.seed);
                let mut bus = axi::Checker::<$bytes>::new("m_axi");
                let [a, b, c, d, e, f] = stalls;
                let mut paces = [a, b, c].map(|stall| Pace::new(stall, run.seed.rng("commands")));
                let mut sources = [(d, 1), (e, 2), (f, 3)]
                    .map(|(stall, n)| Source::<$bytes>::new(stall, Seed(run.seed.0 * 4 + n)));
                for (source, commands) in sources.iter_mut().zip(&commands) {
                    commands.iter().for_each(|(_, data)| source.push(data));
                }
                let mut todo = commands.map(VecDeque::from);
                let mut accepted = VecDeque::new();
                // AWUSER of the bursts to come: only what the first client writes may be passed.
                let mut users = VecDeque::new();
                let (mut bytes, mut bursts, mut beats) = (0, 0, 0);
                let (mut responses, mut requests, mut errors) = (0, 0, 0);
                // Of each burst answered: was it an error?
                let mut answers: Vec<bool> = Vec::new();
                let (mut first, mut last, mut sent) = (None, 0, 0);
                sim.reset(3);
                bus.cycle(sim.cycle(), true, &sim.outputs.m_axi, &sim.inputs.m_axi)?;
                while todo.iter().any(|t| !t.is_empty())
                    || !accepted.is_empty()
                    || !memory.is_idle()
                {
                    sim.step();
                    let now = sim.cycle();
                    if now > 400_000 {
                        return Err(
                            format!("stuck, {} commands not written", accepted.len()).into()
                        );
                    }
                    let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                    bus.cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
                    requests += u64::from(outputs.request);
                    errors += u64::from(outputs.error);
                    if outputs.idle && (inputs.cmd_valid != 0 || !accepted.is_empty()) {
                        return Err("idle with commands under way".into());
                    }
                    if outputs.m_axi.aw.valid && inputs.m_axi.aw_ready {
                        let user = outputs.m_axi.aw.user;
                        if users.pop_front() != Some(user) {
                            return Err(format!("AWUSER {user} is another client's").into());
                        }
                    }
                    if outputs.m_axi.w.valid && inputs.m_axi.w_ready {
                        first.get_or_insert(now);
                        (last, sent) = (now, sent + 1);
                    }
                    if inputs.m_axi.b.valid && outputs.m_axi.b_ready {
                        responses += 1;
                        answers.push(inputs.m_axi.b.resp >= axi::resp::SLVERR);
                    }
                    if outputs.failed & !outputs.written != 0 {
                        return Err("a status without an end".into());
                    }
                    for client in (0..3).filter(|client| bit(outputs.written, *client)) {
                        let done = accepted.pop_front();
                        let right = |a: &Accepted| {
                            a.client == client && host.written >= a.bytes && responses == a.bursts
                        };
                        let failed = done.as_ref().is_some_and(|a: &Accepted| {
                            answers[a.before as usize..].iter().any(|error| *error)
                        });
                        if bit(outputs.failed, client) != failed {
                            return Err(format!("client {client}: failed is {}", !failed).into());
                        }
                        if !done.as_ref().is_some_and(right) {
                            return Err(format!(
                                "client {client}: written too early, late or not its turn"
                            )
                            .into());
                        }
                    }
                    memory.cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut host);
                    // Either kind of error, by turns.
                    let b = &mut inputs.m_axi.b;
                    if b.valid && b.resp == axi::resp::DECERR && responses % 2 == 0 {
                        b.resp = axi::resp::SLVERR;
                    }
                    if let Some(wrong) = host.wrong.take() {
                        return Err(wrong.into());
                    }
                    sources[0].cycle(&mut inputs.place, &outputs.place);
                    sources[1].cycle(&mut inputs.report, &outputs.report);
                    sources[2].cycle(&mut inputs.low, &outputs.low);
                    if bit(outputs.cmd_ready, LOW) && inputs.cmd_valid & 3 != 0 {
                        return Err("the last client goes before another".into());
                    }
                    for client in 0..3 {
                        let valid = bit(inputs.cmd_valid, client);
                        let taken = valid && bit(outputs.cmd_ready, client);
                        if taken {
                            let (addr, data) = todo[client].pop_front().unwrap_or_default();
                            let end = addr + data.len() as u64;
                            bytes += data.len() as u64;
                            let before = bursts;
                            bursts += (end - 1) / PAGE - addr / PAGE + 1;
                            users.extend((before..bursts).map(|_| u32::from(client == 0)));
                            beats += (end - 1) / $bytes - addr / $bytes + 1;
                            host.expected.extend((addr..end).zip(data));
                            accepted.push_back(Accepted {
                                client,
                                bytes,
                                bursts,
                                before,
                            });
                        }
                        if taken || !valid {
                            let next = todo[client].front().filter(|_| paces[client].start());
                            set_bit(&mut inputs.cmd_valid, client, next.is_some());
                            if let Some((addr, data)) = next {
                                set_element(&mut inputs.cmd_addr, client, 8, *addr);
                                let mut sizes = inputs.cmd_bytes.to_le_bytes();
                                set_element(&mut sizes, client, 2, data.len() as u64);
                                inputs.cmd_bytes = u64::from_le_bytes(sizes);
                            }
                        }
                    }
                }
                sim.step();
                let totals = memory.totals();
                let counted = (requests, responses, errors, sent, host.written);
                if counted != (bursts, bursts, totals.errors, beats, bytes)
                    || !sim.outputs.idle
                    || !bus.is_idle()
                {
                    return Err(format!(
                        "at the end: {counted:?}, {bursts} bursts, {beats} beats, {totals:?}"
                    )
                    .into());
                }
                Ok((last - first.unwrap_or(0) + 1, sent))
            }

            fn command(rng: &mut fastrand::Rng, addr: u64, bytes: usize) -> Command {
                (addr, (0..bytes).map(|_| rng.u8(..)).collect())
            }

            fn commands(rng: &mut fastrand::Rng, counts: [usize; 3]) -> [Vec<Command>; 3] {
                counts.map(|count| {
                    let any = |_| {
                        let bytes = match rng.u8(0..4) {
                            0 => rng.usize(1..=200),
                            1 if rng.u8(0..4) == 0 => rng.usize(1..=16384),
                            _ => rng.usize(1..=2000),
                        };
                        // A small range, so that commands overwrite each other; now and then one at the top.
                        let top = if rng.u8(0..4) == 0 {
                            0xffff_ffff_ff00_0000
                        } else {
                            0
                        };
                        let addr = top + rng.u64(0..0x8000);
                        command(rng, addr, bytes)
                    };
                    (0..count).map(any).collect()
                })
            }

            #[test]
            fn every_byte_in_order() {
                replay("write_order", 0..12, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut commands = commands(&mut rng, [60, 60, 60]);
                    for offset in 0..$bytes {
                        // Each alignment, with ends before, at and behind the end of a page and of a beat.
                        let bytes = rng.usize(1..=2 * $bytes);
                        commands[0].push(command(&mut rng, 3 * PAGE - offset, bytes));
                        commands[1].push(command(
                            &mut rng,
                            PAGE + offset,
                            2 * $bytes - offset as usize,
                        ));
                    }
                    let stalls = [(); 6].map(|()| Stall::any(&mut rng));
                    check(run, commands, Vec::new(), Timing::any(run.seed), stalls).map(drop)
                });
            }

            #[test]
            fn refused_writes_are_counted_and_end_all_the_same() {
                replay("write_errors", 0..8, |run| {
                    let mut rng = run.seed.rng("test");
                    let commands = commands(&mut rng, [80, 80, 80]);
                    let stalls = [(); 6].map(|()| Stall::any(&mut rng));
                    check(run, commands, vec![1, 4, 5], Timing::any(run.seed), stalls).map(drop)
                });
            }

            #[test]
            fn no_bubble_between_bursts() {
                for (what, bytes, step) in [
                    ("one beat", $bytes, $bytes),
                    ("64 bytes", 64, 64),
                    ("1460 bytes, any alignment", 1460, 1471),
                    ("16384 bytes from the middle of a page", 16384, 18432),
                ] {
                    replay("write_rate", 0..1, |run| {
                        let mut rng = run.seed.rng("test");
                        let count = (64 << 10) / bytes;
                        let one = |n| command(&mut rng, 0x1_0000 + (n * step) as u64, bytes);
                        let commands = [(0..count).map(one).collect(), Vec::new(), Vec::new()];
                        let stalls = [(); 6].map(|()| Stall::Never);
                        let (span, beats) =
                            check(run, commands, Vec::new(), Timing::default(), stalls)?;
                        println!(
                            "{}, {what}: {beats} beats in {span} cycles",
                            stringify!($design)
                        );
                        if span != beats {
                            return Err(format!("{what}: {beats} beats in {span} cycles").into());
                        }
                        Ok(())
                    });
                }
            }

            #[test]
            fn two_cycles_from_a_beat_in_to_its_beat_out() {
                replay("write_latency", 0..1, |run| {
                    let mut sim = run.sim::<$design::Model>();
                    sim.inputs.m_axi.aw_ready = true;
                    sim.inputs.m_axi.w_ready = true;
                    sim.reset(3);
                    sim.inputs.cmd_valid = 1;
                    set_element(&mut sim.inputs.cmd_addr, 0, 8, 0x1000);
                    sim.inputs.cmd_bytes = 8;
                    sim.step();
                    sim.inputs.cmd_valid = 0;
                    sim.step_many(5);
                    sim.inputs.place.valid = true;
                    sim.inputs.place.keep = 0xff;
                    sim.inputs.place.last = true;
                    sim.step();
                    assert!(sim.outputs.place.ready);
                    sim.inputs.place.valid = false;
                    sim.step();
                    assert!(!sim.outputs.m_axi.w.valid);
                    sim.step();
                    assert!(sim.outputs.m_axi.w.valid);
                    Ok(())
                });
            }
        }
    };
}

dma_write_tests!(bits_128, dma_write_128, 16);
dma_write_tests!(bits_512, dma_write_512, 64);
