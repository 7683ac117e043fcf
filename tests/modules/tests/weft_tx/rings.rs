//! A job ring that is set up anew while jobs of the ring before are stuck, as their bytes come late, or in any cycle of their way. Jobs are raw
//! frames; the flow that a job names says which ring it is of.

use super::reference::{Job, RAW};
use super::{Host, AREA, RING};

/// Cycles that a read takes: what is set up meanwhile is set up while jobs are stuck.
pub const LATE: u32 = 3000;
/// Bytes of a frame.
const FRAME: u32 = 64;

/// How a ring is given up.
#[derive(Clone, Copy, Debug)]
pub struct Anew {
    /// So many times.
    pub times: u16,
    /// With so many jobs before each.
    pub jobs: u32,
}

pub const ANEW: [Anew; 5] = [
    Anew { times: 1, jobs: 1 },
    Anew { times: 1, jobs: 3 },
    Anew { times: 4, jobs: 1 },
    // Nothing was posted in those between.
    Anew { times: 4, jobs: 0 },
    Anew { times: 64, jobs: 0 },
];

/// Jobs of a ring that is given up on their way, and the cycles in which it is.
pub const UNDER_WAY: u32 = 3;
pub const CYCLES: u32 = 90;

pub fn host() -> Host {
    Host {
        ring: vec![0; 128 << 6],
        area: vec![0x5a; 1 << 16],
        bad: vec![],
    }
}

/// A job that asks for a report.
pub fn job(flow: u16, number: u32) -> [u8; 128] {
    let job = Job {
        kind: RAW,
        notify: true,
        flow,
        length: FRAME,
        sge_count: 1,
        sges: vec![(AREA, FRAME)],
        ..Job::default()
    };
    let mut bytes = job.bytes();
    bytes[52..56].copy_from_slice(&number.to_le_bytes());
    bytes
}

macro_rules! rings_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;
            use rtl_sim::axi::{MemorySlave, Timing};
            use rtl_sim::{replay, Run, Sim};
            use std::error::Error;
            use weft_module_tests::$design;

            struct Bench {
                sim: Sim<$design::Model>,
                memory: MemorySlave<$bytes>,
                host: Host,
                /// Flow and number of each report.
                reports: Vec<(u16, u32)>,
                /// Jobs whose payload was asked for: those are stuck.
                stuck: u32,
            }

            impl Bench {
                fn new(run: &Run, latency: u32) -> Self {
                    let mut sim = run.sim::<$design::Model>();
                    sim.inputs.enable = true;
                    sim.inputs.job_base = RING;
                    sim.inputs.job_log2 = 6;
                    sim.inputs.rpt_ready = true;
                    sim.inputs.mac_tx.ready = true;
                    sim.reset(3);
                    Self {
                        sim,
                        memory: MemorySlave::new(Timing::latency(latency), run.seed),
                        host: host(),
                        reports: vec![],
                        stuck: 0,
                    }
                }

                fn cycle(&mut self) {
                    self.sim.step();
                    let now = self.sim.cycle();
                    let (i, o) = (&mut self.sim.inputs, &self.sim.outputs);
                    self.stuck += u32::from(o.m_axi.ar.valid && i.m_axi.ar_ready);
                    self.memory
                        .cycle(now, &mut i.m_axi, &o.m_axi, &mut self.host);
                    if o.rpt_valid && i.rpt_ready {
                        let flow = u16::from_le_bytes([o.rpt[2], o.rpt[3]]);
                        let number = &o.rpt[4..8];
                        let number = u32::from_le_bytes(number.try_into().expect("four bytes"));
                        self.reports.push((flow, number));
                    }
                }

                /// By the push window.
                fn write(&mut self, flow: u16, number: u32) {
                    let start = number as usize % 32 * 128;
                    for (beat, bytes) in job(flow, number).chunks($bytes).enumerate() {
                        let i = &mut self.sim.inputs;
                        i.push_valid = true;
                        i.push_addr = (start + beat * $bytes) as u16;
                        i.push_data.copy_from_slice(bytes);
                        i.push_strb = (!0u64 >> (64 - $bytes)) as _;
                        self.cycle();
                    }
                    self.sim.inputs.push_valid = false;
                }

                /// By the job ring: so many.
                fn post(&mut self, flow: u16, jobs: u32) {
                    for number in 0..jobs {
                        let slot = number as usize * 128;
                        self.host.ring[slot..slot + 128].copy_from_slice(&job(flow, number));
                    }
                    self.sim.inputs.job_tail = jobs;
                }

                /// By the push window, and then until it is stuck.
                fn push(&mut self, flow: u16, number: u32) {
                    self.write(flow, number);
                    let stuck = self.stuck + 1;
                    let begun = self.sim.cycle();
                    while self.stuck < stuck {
                        assert!(self.sim.cycle() < begun + 200, "job {number} of {flow}");
                        self.cycle();
                    }
                }

                fn set_up(&mut self) {
                    self.sim.inputs.job_reset = true;
                    self.sim.inputs.job_tail = 0;
                    self.cycle();
                    self.sim.inputs.job_reset = false;
                    self.cycle();
                }
            }

            fn check(run: &Run, anew: Anew) -> Result<(), Box<dyn Error>> {
                let mut bench = Bench::new(run, LATE);
                // One is stuck in any case.
                bench.push(0, 0);
                for ring in 0..anew.times {
                    for number in u32::from(ring == 0)..anew.jobs {
                        bench.push(ring, number);
                    }
                    bench.set_up();
                }
                assert!(bench.sim.cycle() < LATE.into(), "nothing was stuck");
                let last = anew.times;
                bench.push(last, 0);
                bench.push(last, 1);
                for _ in 0..8 * LATE {
                    bench.cycle();
                    let told = bench.reports.iter().filter(|r| r.0 == last).count() as u32;
                    if bench.reports.len() as u32 != told || bench.sim.outputs.job_done > 2 {
                        let (reports, done) = (&bench.reports, bench.sim.outputs.job_done);
                        return Err(format!("{anew:?}: {reports:?}, {done} done").into());
                    }
                    // The second one of the last ring may stand for both.
                    if bench.reports.last() == Some(&(last, 1)) && bench.sim.outputs.idle {
                        assert_eq!(bench.sim.outputs.job_done, 2, "{anew:?}");
                        return Ok(());
                    }
                }
                Err(format!("{anew:?}: {:?}", bench.reports).into())
            }

            /// Given up so many cycles after its jobs were told of.
            fn given_up(
                bench: &mut Bench,
                flow: u16,
                pushed: bool,
                after: u32,
            ) -> Result<(), Box<dyn Error>> {
                match pushed {
                    true => (0..UNDER_WAY).for_each(|number| bench.write(flow, number)),
                    false => bench.post(flow, UNDER_WAY),
                }
                (0..after).for_each(|_| bench.cycle());
                bench.set_up();
                bench.reports.clear();
                let next = flow + 1;
                match pushed {
                    true => (0..2).for_each(|number| bench.write(next, number)),
                    false => bench.post(next, 2),
                }
                (0..400).for_each(|_| bench.cycle());
                // Reports of the ring before may have waited.
                let told: Vec<_> = bench.reports.iter().filter(|r| r.0 == next).collect();
                let done = bench.sim.outputs.job_done;
                match told[..] == [&(next, 0), &(next, 1)] && done == 2 && bench.sim.outputs.idle {
                    true => Ok(()),
                    false => Err(format!(
                        "pushed {pushed}, after {after} cycles: {told:?}, {done} done"
                    )
                    .into()),
                }
            }

            #[test]
            fn a_ring_set_up_in_any_cycle_has_its_own_jobs_only() {
                replay(concat!("weft_tx_ring_cycles_", $bytes), 0..1, |run| {
                    let mut bench = Bench::new(run, 10);
                    for after in 0..CYCLES {
                        for pushed in [true, false] {
                            let flow = (4 * after + 2 * u32::from(pushed)) as u16;
                            given_up(&mut bench, flow, pushed, after)?;
                            bench.set_up();
                        }
                    }
                    Ok(())
                });
            }

            #[test]
            fn nothing_of_the_rings_before_is_told_of_or_counted() {
                replay(concat!("weft_tx_rings_", $bytes), 0..2, |run| {
                    ANEW.iter().try_for_each(|anew| check(run, *anew))
                });
            }
        }
    };
}

rings_tests!(bits_128, weft_tx_128, 16);
rings_tests!(bits_512, weft_tx_512, 64);
