//! How many cycles a second the small designs reach, with and without bus models and checkers.

use rtl_sim::axi::{self, MemorySlave, Ram, Timing};
use rtl_sim::axil::{Access, Master};
use rtl_sim::axis::{self, Sink, Source};
use rtl_sim::{Seed, Sim, Stall};
use rtl_sim_designs::{copier, stream_fifo_512};
use std::time::Instant;

const CYCLES: u64 = 1_000_000;

fn report(what: &str, run: impl FnOnce()) {
    let start = Instant::now();
    run();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what:<60} {:>8.0} kcycle/s",
        CYCLES as f64 / seconds / 1000.0
    );
}

fn fifo(checked: bool) {
    let seed = Seed(1);
    let mut sim = Sim::<stream_fifo_512::Model>::new(seed);
    let mut source = Source::<64>::new(Stall::Random(0.1), seed);
    let mut sink = Sink::<64>::new(Stall::Random(0.1), seed);
    let mut input = axis::Checker::<64>::new("s_axis");
    let mut output = axis::Checker::<64>::new("m_axis");
    let packet = [0x5a; 1460];
    sim.reset(3);
    while sim.cycle() < CYCLES {
        if source.pending() < 2 {
            source.push(&packet);
        }
        sim.step();
        let now = sim.cycle();
        if checked {
            input
                .cycle(now, false, &sim.inputs.s_axis, &sim.outputs.s_axis)
                .unwrap();
            output
                .cycle(now, false, &sim.outputs.m_axis, &sim.inputs.m_axis)
                .unwrap();
        }
        source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
        sink.cycle(now, &mut sim.inputs.m_axis, &sim.outputs.m_axis);
        if let Some(packet) = sink.pop() {
            sink.recycle(packet);
        }
    }
}

fn copy(checked: bool) {
    let seed = Seed(1);
    let mut sim = Sim::<copier::Model>::new(seed);
    let mut control = Master::new(Stall::Never, 1, seed);
    let mut slave = MemorySlave::<8>::new(Timing::pcie(20, 16.0, 250.0), seed);
    let mut checker = axi::Checker::<8>::new("m_axi");
    let mut memory = Ram::new(0, 0x10_0000);
    sim.reset(3);
    while sim.cycle() < CYCLES {
        if control.is_idle() && sim.outputs.quiescent {
            for (addr, data) in [(0, 0), (4, 0x8_0000), (8, 4096), (12, 1)] {
                control.push(Access::Write {
                    addr,
                    data,
                    strb: 15,
                });
            }
        }
        sim.step();
        let now = sim.cycle();
        if checked {
            checker
                .cycle(now, false, &sim.outputs.m_axi, &sim.inputs.m_axi)
                .unwrap();
        }
        control.cycle(now, &mut sim.inputs.s_axil, &sim.outputs.s_axil);
        slave.cycle(now, &mut sim.inputs.m_axi, &sim.outputs.m_axi, &mut memory);
        while control.pop().is_some() {}
    }
}

fn main() {
    report("512-bit FIFO, one call per cycle, nothing else", || {
        let mut sim = Sim::<stream_fifo_512::Model>::new(Seed(1));
        sim.reset(3);
        while sim.cycle() < CYCLES {
            sim.step();
        }
    });
    report("512-bit FIFO, 1000 cycles per call", || {
        let mut sim = Sim::<stream_fifo_512::Model>::new(Seed(1));
        sim.reset(3);
        (0..CYCLES / 1000).for_each(|_| sim.step_many(1000));
    });
    report("512-bit FIFO, source and sink at 90 %", || fifo(false));
    report("512-bit FIFO, source, sink and two checkers", || fifo(true));
    report("copier (with line coverage), nothing else", || {
        let mut sim = Sim::<copier::Model>::new(Seed(1));
        sim.reset(3);
        while sim.cycle() < CYCLES {
            sim.step();
        }
    });
    report("copier, registers and PCIe-like memory", || copy(false));
    report("copier, registers, PCIe-like memory and checker", || {
        copy(true)
    });
    report("copier, waves of every cycle", || {
        let mut sim = Sim::<copier::Model>::new(Seed(1));
        sim.waves(&std::env::temp_dir().join("rtl-sim-speed.fst"), 0, u64::MAX);
        sim.reset(3);
        while sim.cycle() < CYCLES {
            sim.step();
        }
    });
}
