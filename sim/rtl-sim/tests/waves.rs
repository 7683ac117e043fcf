//! Waves around a failure, seeded registers, idle skip, coverage.

use rtl_sim::axi::{MemorySlave, Ram, Timing};
use rtl_sim::axil::Master;
use rtl_sim::axis::{Sink, Source};
use rtl_sim::coverage::Coverage;
use rtl_sim::{replay, Model, Run, Seed, Sim, Stall};
use rtl_sim_designs::{copier, stream_fifo};
use std::error::Error;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Fails some thousand cycles into the run, at a place that depends on the seed.
fn fails_late(run: &Run) -> Result<(), Box<dyn Error>> {
    let mut sim = run.sim::<stream_fifo::Model>();
    let mut source = Source::<8>::new(Stall::Random(0.5), run.seed);
    let mut sink = Sink::<8>::new(Stall::Never, run.seed);
    sim.reset(3);
    while sink.beats() < 3000 {
        if source.is_idle() {
            source.push(&[1; 64]);
        }
        sim.step();
        source.cycle(&mut sim.inputs.s_axis, &sim.outputs.s_axis);
        sink.cycle(sim.cycle(), &mut sim.inputs.m_axis, &sim.outputs.m_axis);
    }
    Err("the three thousandth beat".into())
}

#[test]
fn a_failure_leaves_its_seed_and_its_waves() {
    let panic = catch_unwind(|| replay("fails_late", 3..9, fails_late)).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("the three thousandth beat"), "{text}");
    assert!(text.contains("RTL_SIM_SEED=3"), "{text}");
    let path = text
        .split_whitespace()
        .find(|word| word.ends_with("fails_late-seed3-stream_fifo.fst"))
        .expect(text);
    // An FST file begins with a header block: type 0, length 329, first and last time in the file.
    let fst = fs::read(path).unwrap();
    let number = |at: usize| u64::from_be_bytes(fst[at..at + 8].try_into().unwrap());
    assert_eq!((fst[0], number(1)), (0, 329));
    let cycles = (number(17) - number(9)).div_ceil(4000);
    assert!((1990..=2001).contains(&cycles), "{cycles} cycles of waves");
    let cycle: u64 = text
        .split("in cycle ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        number(17) / 4000 >= cycle - 1 && number(17) / 4000 <= cycle,
        "waves end at the failure"
    );
}

#[test]
fn a_test_that_uses_other_randomness_is_named() {
    let runs = std::sync::atomic::AtomicU64::new(0);
    let test = |run: &Run| -> Result<(), Box<dyn Error>> {
        let number = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        run.sim::<stream_fifo::Model>().step_many(10 + number);
        Err("always".into())
    };
    let panic = catch_unwind(std::panic::AssertUnwindSafe(|| {
        replay("other_randomness", 0..1, test)
    }))
    .unwrap_err();
    assert!(panic
        .downcast_ref::<String>()
        .unwrap()
        .contains("NOT REPEATABLE"));
}

#[test]
fn rolling_waves_keep_the_end() {
    let path = folder("rolling").join("fifo");
    let mut sim = Sim::<stream_fifo::Model>::new(Seed(1));
    assert!(sim.rolling_waves(&path, 100));
    for _ in 0..1050 {
        sim.step();
    }
    drop(sim);
    let mut ends = Vec::new();
    for turn in 0..2 {
        let fst = fs::read(path.with_extension(format!("{turn}.fst"))).unwrap();
        let time = |at: usize| u64::from_be_bytes(fst[at..at + 8].try_into().unwrap()) / 4000;
        ends.push((time(9), time(17)));
    }
    assert_eq!(ends, [(1000, 1049), (900, 999)]);
}

#[test]
fn registers_start_at_seeded_values() {
    // The FIFO's storage has no reset: what it shows when empty is what it started with.
    let first = |seed| {
        let mut sim = Sim::<stream_fifo::Model>::new(Seed(seed));
        sim.reset(2);
        sim.outputs.m_axis.data
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert_ne!(first(1), [0; 8]);
}

#[test]
fn skipping_quiescent_cycles_changes_nothing() {
    let run = |skip: bool| {
        let mut sim = Sim::<copier::Model>::new(Seed(1));
        let mut control = Master::new(Stall::Never, 1, Seed(1));
        let mut slave = MemorySlave::<8>::new(Timing::latency(50), Seed(1));
        let mut memory = Ram::new(0, 0x1_0000);
        memory.bytes[..512].fill(0xa5);
        let mut evaluated = 0;
        sim.reset(3);
        for start in [1_000, 50_000, 90_000] {
            while sim.cycle() < start {
                if skip && sim.outputs.quiescent && control.is_idle() && slave.is_idle() {
                    sim.skip(start - sim.cycle());
                } else {
                    sim.step();
                    evaluated += 1;
                    control.cycle(sim.cycle(), &mut sim.inputs.s_axil, &sim.outputs.s_axil);
                    slave.cycle(
                        sim.cycle(),
                        &mut sim.inputs.m_axi,
                        &sim.outputs.m_axi,
                        &mut memory,
                    );
                }
            }
            for (addr, data) in [
                (0, 0),
                (4, 0x8000 + start as u32 / 1000 * 256),
                (8, 30),
                (12, 1),
            ] {
                control.write(addr, data);
            }
            while control.pop().is_none_or(|done| {
                done.access
                    != rtl_sim::axil::Access::Write {
                        addr: 12,
                        data: 1,
                        strb: 15,
                    }
            }) {
                sim.step();
                evaluated += 1;
                control.cycle(sim.cycle(), &mut sim.inputs.s_axil, &sim.outputs.s_axil);
                slave.cycle(
                    sim.cycle(),
                    &mut sim.inputs.m_axi,
                    &sim.outputs.m_axi,
                    &mut memory,
                );
            }
        }
        (sim.cycle(), memory.bytes, evaluated)
    };
    let (all, some) = (run(false), run(true));
    assert_eq!((all.0, &all.1), (some.0, &some.1));
    assert!(
        some.2 * 20 < all.2,
        "{} of {} cycles evaluated",
        some.2,
        all.2
    );
}

#[test]
fn coverage_names_what_was_not_reached() {
    let folder = folder("coverage");
    let mut coverage = Coverage::default();
    let mut sim = Sim::<copier::Model>::new(Seed(1));
    const { assert!(copier::Model::COVERAGE) };
    sim.reset(3);
    sim.step_many(10);
    assert!(sim.write_coverage(&folder.join("idle.dat")));
    coverage.read_folder(&folder).unwrap();
    let (file, idle, lines) = coverage
        .files()
        .next()
        .map(|(file, idle, lines)| (file.to_string(), idle, lines))
        .unwrap();
    assert!(
        file.ends_with("copier.sv") && idle < lines / 2,
        "{coverage}"
    );

    let mut control = Master::new(Stall::Never, 1, Seed(1));
    let mut slave = MemorySlave::<8>::new(Timing::default(), Seed(1));
    let mut memory = Ram::new(0, 0x1000);
    for (addr, data) in [(0, 0), (4, 0x800), (8, 30), (12, 1)] {
        control.write(addr, data);
    }
    for _ in 0..300 {
        sim.step();
        control.cycle(sim.cycle(), &mut sim.inputs.s_axil, &sim.outputs.s_axil);
        slave.cycle(
            sim.cycle(),
            &mut sim.inputs.m_axi,
            &sim.outputs.m_axi,
            &mut memory,
        );
    }
    assert!(sim.write_coverage(&folder.join("copy.dat")));
    coverage.read_folder(&folder).unwrap();
    let (_, reached, _) = coverage.files().next().unwrap();
    assert!(reached > idle && reached < lines, "{coverage}");
}
