//! `report_writer` with its `dma_write`, and a host that reads the ring as a driver does.

use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Timing};
use rtl_sim::{replay, Pace, Run, Sim, Stall};
use std::error::Error;
use weft_layout::{report_kind, PlacedReport, SegmentReport};
use weft_module_tests::{bit, report_writer_128, report_writer_512, set_bit};

/// Bytes of a report, and what the report writer fills in: the low 24 bits of JOB_DONE, and the phase.
const REPORT: usize = 64;
const JOB_DONE: std::ops::Range<usize> = 56..59;
const PHASE: usize = 63;

/// The ring in host memory.
struct Ring {
    base: u64,
    slots: Vec<[u8; REPORT]>,
    outside: Option<u64>,
    /// The byte whose beat is refused.
    refused: Option<(usize, Fault)>,
}

impl Ring {
    fn new(log2: u8) -> Ring {
        Ring {
            base: 0x12_3456_7000,
            slots: vec![[0; REPORT]; 1 << log2],
            outside: None,
            refused: None,
        }
    }

    /// The phase of report `n`, counted from the ring's beginning.
    fn phase(&self, n: usize) -> u8 {
        u8::from(n / self.slots.len() % 2 == 0)
    }
}

impl Memory for Ring {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Err(Fault::Slave)
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        let at = addr.wrapping_sub(self.base) as usize;
        if let Some((_, fault)) = self
            .refused
            .filter(|(byte, _)| (at..at + bytes.len()).contains(byte))
        {
            return Err(fault);
        }
        let slot = self.slots.get_mut(at / REPORT);
        match slot.and_then(|slot| slot.get_mut(at % REPORT..)) {
            Some(to) if strobe.count_ones() as usize == bytes.len() => {
                to[..bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            _ => {
                self.outside = Some(addr);
                Err(Fault::Decode)
            }
        }
    }
}

/// Of a placed FPDU with this DDP control byte, in a segment with these TCP flags.
fn placed(ddp_control: u8, tcp_flags: u8) -> [u8; REPORT] {
    PlacedReport {
        kind: report_kind::PLACED,
        ddp_control,
        tcp_flags,
        ..PlacedReport::default()
    }
    .to_bytes()
}

/// Of a segment with these flags.
fn segment(flags: u8) -> [u8; REPORT] {
    SegmentReport {
        kind: report_kind::SEGMENT,
        flags,
        tcp_flags: 0x10,
        ..SegmentReport::default()
    }
    .to_bytes()
}

fn job() -> [u8; REPORT] {
    let mut report = [0; REPORT];
    report[0] = report_kind::JOB;
    report
}

macro_rules! report_writer_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// The design, its host, and everything accepted since the ring began.
            struct Bench {
                sim: Sim<$design::Model>,
                rng: fastrand::Rng,
                bus: axi::Checker<$bytes>,
                memory: MemorySlave<$bytes>,
                ring: Ring,
                paces: [Pace; 2],
                /// Reports that the sources still have.
                offered: [usize; 2],
                /// What they say; else anything.
                only: Option<[u8; REPORT]>,
                expected: Vec<[u8; REPORT]>,
                /// In the cycle before there was no room; a report was taken.
                was_full: bool,
                /// As the host had said a cycle earlier.
                head_was: u32,
                took: bool,
                /// Reports that the host has read.
                consumed: usize,
                answered: u32,
                /// Reports of the ring before that are not answered.
                before: u32,
                interrupts: u32,
                /// A report could not be written.
                broken: bool,
            }

            impl Bench {
                fn new(run: &Run, log2: u8, timing: Timing, stalls: [Stall; 2]) -> Bench {
                    let mut rng = run.seed.rng("reports");
                    let mut bench = Bench {
                        sim: run.sim(),
                        bus: axi::Checker::new("m_axi"),
                        memory: MemorySlave::new(timing, run.seed),
                        ring: Ring::new(log2),
                        paces: stalls.map(|stall| Pace::new(stall, rng.fork())),
                        rng,
                        offered: [0; 2],
                        only: None,
                        expected: Vec::new(),
                        was_full: false,
                        head_was: 0,
                        took: true,
                        consumed: 0,
                        answered: 0,
                        before: 0,
                        interrupts: 0,
                        broken: false,
                    };
                    bench.sim.inputs.base = bench.ring.base;
                    bench.sim.inputs.log2 = log2;
                    bench.sim.inputs.msix_ready = true;
                    bench.sim.inputs.gap = bench.rng.u16(0..100);
                    bench.sim.reset(3);
                    bench
                }

                fn cycle(&mut self) -> Result<(), Box<dyn Error>> {
                    self.sim.step();
                    let now = self.sim.cycle();
                    let (inputs, outputs) = (&mut self.sim.inputs, &self.sim.outputs);
                    self.bus.cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
                    if outputs.tail != self.answered {
                        let text = format!("tail {}, {} responses", outputs.tail, self.answered);
                        return Err(text.into());
                    }
                    if outputs.broken != self.broken {
                        return Err(format!("broken is {}", outputs.broken).into());
                    }
                    if inputs.m_axi.b.valid && outputs.m_axi.b_ready && self.before > 0 {
                        self.before -= 1;
                    } else if inputs.m_axi.b.valid && outputs.m_axi.b_ready {
                        self.broken |= inputs.m_axi.b.resp >= axi::resp::SLVERR;
                        self.answered += u32::from(!self.broken);
                    }
                    let under_way = self.expected.len() > outputs.tail as usize;
                    if outputs.idle && (under_way || inputs.report_valid != 0) {
                        return Err("idle with reports under way".into());
                    }
                    self.memory
                        .cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut self.ring);
                    if let Some(addr) = self.ring.outside.take() {
                        return Err(format!("a write at {addr:#x}, or part of a beat").into());
                    }
                    self.interrupts += u32::from(outputs.msix_valid && inputs.msix_ready);
                    inputs.arm = false;

                    let slots = self.ring.slots.len();
                    let full = self.expected.len() - inputs.head as usize == slots;
                    // Room is worked out in the two cycles before, and not right in the cycle after a report was taken.
                    let was_full = self.expected.len() - self.head_was as usize == slots;
                    let stall = self.was_full && !self.took && inputs.report_valid != 0;
                    if outputs.stall != stall {
                        return Err(format!("stall is {}", outputs.stall).into());
                    }
                    (self.was_full, self.head_was, self.took) = (was_full, inputs.head, false);
                    for source in 0..2 {
                        let valid = bit(inputs.report_valid, source);
                        let taken = valid && bit(outputs.report_ready, source);
                        let report = match source {
                            0 => &mut inputs.rx_report,
                            _ => &mut inputs.tx_report,
                        };
                        if taken {
                            self.took = true;
                            if outputs.broken {
                                return Err("taken by a ring that is broken".into());
                            }
                            if full {
                                return Err("taken though the ring is full".into());
                            }
                            let mut expected = *report;
                            expected[JOB_DONE].copy_from_slice(&inputs.job_done.to_le_bytes()[..3]);
                            expected[PHASE] = self.ring.phase(self.expected.len());
                            self.expected.push(expected);
                            self.offered[source] -= 1;
                        }
                        if taken || !valid {
                            let next = self.offered[source] > 0 && self.paces[source].start();
                            set_bit(&mut inputs.report_valid, source, next);
                            report.fill_with(|| self.rng.u8(..));
                            if let Some(only) = self.only {
                                *report = only;
                            }
                        }
                    }
                    inputs.job_done += self.rng.u32(0..3);
                    Ok(())
                }

                fn cycles(&mut self, n: u32) -> Result<(), Box<dyn Error>> {
                    (0..n).try_for_each(|_| self.cycle())
                }

                /// The host looks into its next slot; whether there was a new report.
                fn poll(&mut self) -> Result<bool, Box<dyn Error>> {
                    let slot = self.ring.slots[self.consumed % self.ring.slots.len()];
                    if slot[PHASE] & 1 != self.ring.phase(self.consumed) {
                        return Ok(false);
                    }
                    if self.expected.get(self.consumed) != Some(&slot) {
                        return Err(format!("report {} is wrong", self.consumed).into());
                    }
                    self.consumed += 1;
                    Ok(true)
                }

                fn give_room(&mut self) {
                    self.sim.inputs.head = self.consumed as u32;
                }

                fn arm(&mut self, value: u32) {
                    self.arm_after(value, 1);
                }

                fn arm_after(&mut self, value: u32, reports: u8) {
                    self.sim.inputs.arm = true;
                    self.sim.inputs.arm_value = value;
                    self.sim.inputs.arm_more = reports - 1;
                }

                /// The ring begins again, as by a write of REPORT_LOG2.
                fn restart(&mut self, log2: u8) -> Result<(), Box<dyn Error>> {
                    self.sim.inputs.log2 = log2;
                    self.sim.inputs.head = 0;
                    self.sim.inputs.ring_reset = true;
                    self.cycle()?;
                    self.sim.inputs.ring_reset = false;
                    self.ring = Ring::new(log2);
                    self.before += self.expected.len() as u32 - self.answered;
                    self.expected.clear();
                    (self.consumed, self.answered, self.head_was) = (0, 0, 0);
                    (self.was_full, self.took) = (false, true);
                    self.cycle()
                }

                fn interrupts_are(&self, n: u32) -> Result<(), Box<dyn Error>> {
                    match self.interrupts == n {
                        true => Ok(()),
                        false => Err(format!("{} interrupts, not {n}", self.interrupts).into()),
                    }
                }
            }

            fn any_bench(run: &Run, rng: &mut fastrand::Rng) -> Bench {
                let stalls = [(); 2].map(|()| Stall::any(rng));
                Bench::new(run, rng.u8(1..5), Timing::any(run.seed), stalls)
            }

            /// The host polls and sleeps; an interrupt that is lost leaves it asleep for ever.
            #[test]
            fn every_report_once_and_a_host_that_sleeps() {
                replay("reports", 0..16, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut bench = any_bench(run, &mut rng);
                    for _ in 0..2 {
                        bench.offered = [rng.usize(50..100), rng.usize(50..100)];
                        let total = bench.offered.iter().sum();
                        let eager = rng.f64();
                        let (mut asleep, mut arms) = (false, bench.interrupts);
                        while bench.consumed < total {
                            bench.cycle()?;
                            if bench.sim.cycle() > 200_000 {
                                let state = (asleep, bench.consumed, bench.expected.len());
                                return Err(format!("stuck: {state:?}").into());
                            }
                            bench.sim.inputs.msix_ready = rng.bool();
                            if bench.interrupts > arms {
                                return Err("an interrupt that was not asked for".into());
                            }
                            if asleep {
                                asleep = bench.interrupts < arms;
                            } else if rng.f64() < eager {
                                let found = bench.poll()?;
                                if !found || rng.u8(0..4) == 0 {
                                    bench.give_room();
                                }
                                if !found && bench.consumed < total {
                                    let value = bench.consumed as u32;
                                    bench.arm_after(value, rng.u8(1..=64));
                                    asleep = true;
                                    arms += 1;
                                }
                            }
                        }
                        bench.give_room();
                        bench.sim.inputs.msix_ready = true;
                        let before = bench.expected.len();
                        bench.cycles(600)?;
                        if bench.poll()?
                            || bench.expected.len() != before
                            || !bench.sim.outputs.idle
                        {
                            return Err("more than there was".into());
                        }
                        bench.restart(rng.u8(1..5))?;
                    }
                    Ok(())
                });
            }

            #[test]
            fn a_ring_without_room_stands_still() {
                replay("no_room", 0..4, |run| {
                    let mut rng = run.seed.rng("test");
                    let mut bench = any_bench(run, &mut rng);
                    let slots = bench.ring.slots.len();
                    bench.offered = [40, 40];
                    bench.cycles(4000)?;
                    assert_eq!(
                        (bench.expected.len(), bench.answered as usize),
                        (slots, slots)
                    );
                    let before = bench.ring.slots.clone();
                    assert!(bench.poll()?);
                    bench.cycles(1000)?;
                    assert_eq!(bench.ring.slots, before);
                    // Room for one is room for exactly one.
                    bench.give_room();
                    bench.cycles(4000)?;
                    assert_eq!(bench.expected.len(), slots + 1);
                    assert_eq!(bench.ring.slots[0], bench.expected[slots]);
                    assert_eq!(bench.ring.slots[1..], before[1..]);
                    Ok(())
                });
            }

            #[test]
            fn one_interrupt_for_each_arming() {
                replay("interrupts", 0..3, |run| {
                    let timing = Timing {
                        write_latency: 100..=100,
                        ..Timing::default()
                    };
                    let mut bench = Bench::new(run, 4, timing, [Stall::Never, Stall::Never]);
                    let reports = |bench: &mut Bench, n| {
                        bench.offered = [n, 0];
                        bench.cycles(300)
                    };
                    // Not armed: none.
                    reports(&mut bench, 2)?;
                    bench.interrupts_are(0)?;
                    // Armed with reports already there: at once, and once.
                    bench.arm(1);
                    bench.cycles(5)?;
                    bench.interrupts_are(1)?;
                    reports(&mut bench, 1)?;
                    bench.interrupts_are(1)?;
                    // Armed with nothing new: at the next report.
                    bench.arm(3);
                    bench.cycles(300)?;
                    bench.interrupts_are(1)?;
                    reports(&mut bench, 2)?;
                    bench.interrupts_are(2)?;
                    // The host has seen a report whose write response is still on its way.
                    bench.offered = [1, 0];
                    bench.cycles(50)?;
                    bench.arm(6);
                    bench.cycles(300)?;
                    assert_eq!(bench.sim.outputs.tail, 6);
                    bench.interrupts_are(2)?;
                    // It waits until it is taken.
                    bench.sim.inputs.msix_ready = false;
                    reports(&mut bench, 1)?;
                    for _ in 0..20 {
                        bench.cycle()?;
                        assert!(bench.sim.outputs.msix_valid && !bench.sim.outputs.idle);
                    }
                    bench.sim.inputs.msix_ready = true;
                    bench.cycles(20)?;
                    bench.interrupts_are(3)?;
                    // A new ring is not armed, and begins at 0.
                    bench.arm(7);
                    bench.cycle()?;
                    bench.restart(4)?;
                    reports(&mut bench, 8)?;
                    bench.interrupts_are(3)
                });
            }

            /// What is on its way when the ring begins anew is told of by the ring before: it is written there, and not counted here.
            #[test]
            fn a_ring_that_begins_anew_counts_its_own() {
                replay("anew", 0..4, |run| {
                    let timing = Timing {
                        write_latency: 100..=100,
                        ..Timing::default()
                    };
                    let mut bench = Bench::new(run, 4, timing, [Stall::Never, Stall::Never]);
                    for before in 0..40 {
                        bench.offered = [8, 0];
                        bench.cycles(10 + before)?;
                        bench.restart(4)?;
                        bench.arm(0);
                        let told = bench.interrupts;
                        bench.cycles(600)?;
                        assert_eq!(bench.sim.outputs.tail, bench.expected.len() as u32);
                        bench.interrupts_are(told + u32::from(!bench.expected.is_empty()))?;
                        assert!(bench.sim.outputs.idle);
                        bench.restart(4)?;
                    }
                    Ok(())
                });
            }

            /// An interrupt after several reports, for want of another one, or with one that does not wait.
            #[test]
            fn one_interrupt_for_many_reports() {
                replay("many_reports", 0..3, |run| {
                    let mut bench =
                        Bench::new(run, 6, Timing::default(), [Stall::Never, Stall::Never]);
                    bench.sim.inputs.gap = 400;
                    let kinds = |bench: &mut Bench, reports: &[[u8; REPORT]]| {
                        for report in reports {
                            bench.only = Some(*report);
                            bench.offered = [1, 0];
                            bench.cycles(60)?;
                        }
                        Ok::<_, Box<dyn Error>>(())
                    };
                    let middle = placed(0x81, 0x10);
                    // As many as were asked for.
                    bench.arm_after(0, 3);
                    kinds(&mut bench, &[middle, segment(0)])?;
                    bench.interrupts_are(0)?;
                    kinds(&mut bench, &[middle])?;
                    bench.interrupts_are(1)?;
                    // No other one comes, and the card is not idle before.
                    bench.arm_after(3, 3);
                    bench.cycles(800)?;
                    bench.interrupts_are(1)?;
                    kinds(&mut bench, &[middle])?;
                    bench.cycles(200)?;
                    bench.interrupts_are(1)?;
                    assert!(!bench.sim.outputs.idle);
                    bench.cycles(250)?;
                    bench.interrupts_are(2)?;
                    // Each of these is told of at once, and what the host has seen already makes the next one no other.
                    let mut n = 4;
                    for hurried in [
                        placed(0xc1, 0x10),
                        placed(0x81, 0x11),
                        segment(0x01),
                        segment(0x08),
                        segment(0x10),
                        job(),
                    ] {
                        bench.arm_after(n, 3);
                        kinds(&mut bench, &[middle])?;
                        let before = bench.interrupts;
                        kinds(&mut bench, &[hurried])?;
                        bench.interrupts_are(before + 1)?;
                        kinds(&mut bench, &[hurried])?;
                        n += 3;
                        bench.arm_after(n, 3);
                        kinds(&mut bench, &[middle])?;
                        bench.interrupts_are(before + 1)?;
                        n += 1;
                    }
                    Ok(())
                });
            }

            /// Nothing more is written or counted, and one interrupt says so, armed or not.
            #[test]
            fn a_report_that_cannot_be_written_is_the_last() {
                for fault in [Fault::Slave, Fault::Decode] {
                    for byte in (0..REPORT).step_by($bytes) {
                        replay("report_failure", 0..4, |run| {
                            let mut rng = run.seed.rng("test");
                            let timing = Timing::any(run.seed);
                            let stalls = [Stall::any(&mut rng), Stall::any(&mut rng)];
                            let mut bench = Bench::new(run, 4, timing, stalls);
                            let last = rng.usize(0..16);
                            bench.ring.refused = Some((last * REPORT + byte, fault));
                            if rng.bool() {
                                bench.arm(40);
                            }
                            bench.offered = [20, 20];
                            bench.cycles(5000)?;
                            if !bench.broken || bench.answered as usize != last {
                                return Err(format!("{} reports counted", bench.answered).into());
                            }
                            bench.interrupts_are(1)?;
                            let before = bench.ring.slots.clone();
                            bench.sim.inputs.head = last as u32;
                            bench.cycles(500)?;
                            if bench.ring.slots != before {
                                return Err("written to a ring that is broken".into());
                            }
                            bench.interrupts_are(1)
                        });
                    }
                }
            }

            #[test]
            fn a_report_right_behind_the_other() {
                replay("report_rate", 0..1, |run| {
                    let stalls = [Stall::Never, Stall::Never];
                    let mut bench = Bench::new(run, 8, Timing::default(), stalls);
                    bench.offered = [100, 100];
                    let from = bench.sim.cycle();
                    while bench.expected.len() < 200 {
                        bench.cycle()?;
                    }
                    let cycles = bench.sim.cycle() - from;
                    // The command takes a cycle, then the beats follow.
                    println!("{}: 200 reports in {cycles} cycles", stringify!($design));
                    if cycles > 200 * (REPORT as u64 / $bytes + 1) {
                        return Err("too slow".into());
                    }
                    Ok(())
                });
            }
        }
    };
}

report_writer_tests!(bits_128, report_writer_128, 16);
report_writer_tests!(bits_512, report_writer_512, 64);
