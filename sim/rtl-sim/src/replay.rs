//! Runs a test over seeds; a failure runs once more, with waves of its last cycles.

use crate::sim::take_last_cycle;
use crate::{Model, Seed, Sim};
use std::any::Any;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;

/// Cycles of waves before a failure.
const WINDOW: u64 = 2000;

/// One run of a test: gives out its models.
#[derive(Clone, Debug)]
pub struct Run {
    /// The run's seed.
    pub seed: Seed,
    name: String,
    waves: Option<Range<u64>>,
}

impl Run {
    /// A model with this run's seed, and with waves if this is the repetition of a failure.
    pub fn sim<M: Model>(&self) -> Sim<M> {
        self.named_sim(M::NAME)
    }

    /// As [`sim`](Run::sim), where a test has several of the same design.
    pub fn named_sim<M: Model>(&self, part: &str) -> Sim<M> {
        let mut sim = Sim::named(self.seed, part, 4000);
        if let Some(range) = &self.waves {
            sim.waves(&self.wave_file(part), range.start, range.end);
        }
        sim
    }

    fn wave_file(&self, part: &str) -> PathBuf {
        out_dir().join(format!("{}-seed{}-{part}.fst", self.name, self.seed))
    }
}

/// Runs the test for each seed, or for `RTL_SIM_SEED` alone if that is set. When a run fails (an error or a panic),
/// it is repeated with waves of the last 2000 cycles (`RTL_SIM_WINDOW`) before the failure, which go into the folder `RTL_SIM_OUT`
/// (default: `rtl-sim` in the target folder). All randomness of the test has to come from the run's seed.
///
/// # Panics
/// With the failure, its seed and how to repeat it.
pub fn replay<T>(name: &str, seeds: Range<u64>, test: T)
where
    T: Fn(&Run) -> Result<(), Box<dyn Error>>,
{
    // Environment (tests): `RTL_SIM_SEED`: testbenches with `replay`: this seed alone. Without it: the test's.
    let seeds = match std::env::var("RTL_SIM_SEED") {
        Ok(_) => vec![Seed::from_env(0)],
        Err(_) => seeds.map(Seed).collect(),
    };
    for seed in seeds {
        let mut run = Run {
            seed,
            name: name.to_string(),
            waves: None,
        };
        let Err(failure) = attempt(&test, &run) else {
            continue;
        };
        let cycle = failure.cycle;
        // Environment (tests): `RTL_SIM_WINDOW`: cycles of waves before a failure. Without it: 2000.
        let window = std::env::var("RTL_SIM_WINDOW")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(WINDOW);
        let from = cycle.saturating_sub(window);
        run.waves = Some(from..cycle + 1);
        let _ = fs::create_dir_all(out_dir());
        let again = attempt(&test, &run);
        let note = match again {
            Err(again) if again == failure => match wave_files(&run) {
                files if files.is_empty() => "no waves: the model was built without".to_string(),
                files => format!("waves of cycles {from} to {cycle}: {}", files.join(", ")),
            },
            Err(again) => format!(
                "NOT REPEATABLE: the second run failed in cycle {}: {}",
                again.cycle, again.text
            ),
            Ok(()) => "NOT REPEATABLE: the second run passed".to_string(),
        };
        panic!("{name} failed in cycle {cycle} with seed {seed}: {}\n{note}\nrepeat with: RTL_SIM_SEED={seed}", failure.text);
    }
}

#[derive(PartialEq)]
struct Failure {
    cycle: u64,
    text: String,
}

fn attempt<T>(test: &T, run: &Run) -> Result<(), Failure>
where
    T: Fn(&Run) -> Result<(), Box<dyn Error>>,
{
    take_last_cycle();
    let result = catch_unwind(AssertUnwindSafe(|| {
        test(run).map_err(|error| error.to_string())
    }));
    let text = match result {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(text)) => text,
        Err(panic) => panic_text(&*panic),
    };
    Err(Failure {
        cycle: take_last_cycle(),
        text,
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic")
        .to_string()
}

fn wave_files(run: &Run) -> Vec<String> {
    let start = format!("{}-seed{}-", run.name, run.seed);
    let entries = fs::read_dir(out_dir()).into_iter().flatten().flatten();
    let paths = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
        .map(|entry| entry.path());
    let mut names: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}

fn out_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let target = || {
        variable("CARGO_TARGET_DIR")
            .unwrap_or("target".into())
            .join("rtl-sim")
    };
    // Environment (tests): `RTL_SIM_OUT`: folder for waves. Without it: `rtl-sim` in the target folder.
    variable("RTL_SIM_OUT").unwrap_or_else(target)
}
