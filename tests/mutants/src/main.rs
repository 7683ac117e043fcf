//! Plants faults in a copy of the sources, builds it once, and sees each of them caught by a test.

#[cfg(test)]
mod brackets;
mod lint;
mod list;
mod plant;
mod programs;
mod run;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Parser;
use rand::seq::SliceRandom;
use rand::SeedableRng;

use list::Fault;
use programs::Catch;
use run::End;

/// Faults planted in a copy of the sources; each has to be caught by a test.
#[derive(Parser)]
#[command(name = "mutants")]
struct Options {
    /// Only so many, chosen by the seed.
    #[arg(long)]
    sample: Option<usize>,
    /// Chooses the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only those with this in their name or their file's.
    #[arg(long)]
    only: Option<String>,
    /// Names them and what is to catch them, and runs nothing.
    #[arg(long)]
    list: bool,
    /// Run at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Seconds for one test program, at most; with a fault it has three times what it takes without, and 20 more.
    #[arg(long, default_value_t = 180)]
    limit: u64,
}

/// What a test may take longer with a fault than without, over three times as long.
const GRACE: Duration = Duration::from_secs(20);

/// A fault with its number, and what became of it.
struct Row<'a> {
    number: u32,
    fault: &'a Fault,
    caught: Option<String>,
    took: Duration,
}

fn main() -> ExitCode {
    match go(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mutants: {error}");
            ExitCode::from(2)
        }
    }
}

fn go(options: &Options) -> Result<bool, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).ok_or("no tree above")?;
    let faults = list::read(&here.join("faults"))?;
    let mut chosen: Vec<(u32, &Fault)> = (1..).zip(&faults).collect();
    if let Some(only) = &options.only {
        let named = |fault: &Fault| {
            fault.name.contains(only.as_str()) || fault.file.contains(only.as_str())
        };
        chosen.retain(|(_, fault)| named(fault));
    }
    if let Some(sample) = options.sample {
        chosen.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(options.seed));
        chosen.truncate(sample);
        chosen.sort_by_key(|(number, _)| *number);
    }
    if options.list {
        for (number, fault) in &chosen {
            let catch = fault.catch.join(", ");
            println!("{number:3} {:38} {:?}: {catch}", fault.name, fault.kind);
        }
        println!("{} faults", chosen.len());
        return Ok(true);
    }
    if chosen.is_empty() {
        return Err("no fault has such a name".into());
    }

    let folder = root.join("target/mutants");
    let begun = Instant::now();
    let crates = tree::make(root, &folder.join("tree"), &faults)?;
    // All of them, also where only some are built: a text that is no expression any more is found here.
    lint::rtl(&folder.join("tree/rtl"))?;
    programs::check(&folder.join("tree"), &folder.join("check"), &crates)?;
    let mut catches = Vec::new();
    let mut targets = BTreeSet::new();
    for (_, fault) in &chosen {
        let parsed: Vec<_> = fault
            .catch
            .iter()
            .map(|text| Catch::parse(text))
            .collect::<Result<_, _>>()?;
        targets.extend(parsed.iter().map(|catch| catch.target.clone()));
        catches.push(parsed);
    }
    let programs = programs::build(&folder.join("tree"), &folder.join("build"), &targets)?;
    println!(
        "{} faults in one build, made in {:.0} s",
        faults.len(),
        begun.elapsed().as_secs_f64()
    );

    // Without a fault every test has to pass, or its failure says nothing.
    let limit = Duration::from_secs(options.limit);
    let begun = Instant::now();
    let mut sound: Vec<&Catch> = catches.iter().flatten().collect();
    sound.sort_by_key(|catch| (&catch.target, &catch.filter));
    sound.dedup_by_key(|catch| (&catch.target, &catch.filter));
    let wrong = Mutex::new(Vec::new());
    let usual = Mutex::new(BTreeMap::new());
    spread(options.jobs, &sound, |catch| {
        let end = run::run(&programs[&catch.target], catch, 0, limit);
        if let Ok((_, took)) = &end {
            let mut usual = usual.lock().unwrap_or_else(|e| e.into_inner());
            usual.insert((&catch.target, &catch.filter), *took);
        }
        if !matches!(end, Ok((End::Passed, _))) {
            let Catch { target, filter } = catch;
            let what = format!("{}/{} {filter:?}: {end:?}", target.package, target.name);
            wrong.lock().unwrap_or_else(|e| e.into_inner()).push(what);
        }
    });
    let wrong = wrong.into_inner().unwrap_or_else(|e| e.into_inner());
    if !wrong.is_empty() {
        return Err(format!("without a fault: {}", wrong.join("; ")));
    }
    println!(
        "{} sets of tests pass without a fault, {:.0} s",
        sound.len(),
        begun.elapsed().as_secs_f64()
    );

    // Who takes three times as long, and some seconds, hangs.
    let usual = usual.into_inner().unwrap_or_else(|e| e.into_inner());
    let patience = |catch: &Catch| {
        let usual = usual.get(&(&catch.target, &catch.filter));
        usual.map_or(limit, |took| limit.min(3 * *took + GRACE))
    };

    let begun = Instant::now();
    let rows = Mutex::new(Vec::new());
    let work: Vec<_> = chosen.iter().zip(&catches).collect();
    spread(options.jobs, &work, |((number, fault), catches)| {
        let mut row = Row {
            number: *number,
            fault,
            caught: None,
            took: Duration::ZERO,
        };
        for (catch, text) in catches.iter().zip(&fault.catch) {
            match run::run(&programs[&catch.target], catch, *number, patience(catch)) {
                Ok((end, took)) => {
                    row.took += took;
                    if matches!(end, End::Failed | End::Hung) {
                        let how = if end == End::Hung { " (hung)" } else { "" };
                        row.caught = Some(format!("{text}{how}"));
                        break;
                    }
                }
                Err(error) => eprintln!("mutants: {error}"),
            }
        }
        let by = row.caught.as_deref().unwrap_or("SURVIVED");
        println!(
            "{:3} {:38} {:6.1} s  {by}",
            row.number,
            row.fault.name,
            row.took.as_secs_f64()
        );
        rows.lock().unwrap_or_else(|e| e.into_inner()).push(row);
    });
    let rows = rows.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut survivors: Vec<_> = rows.iter().filter(|row| row.caught.is_none()).collect();
    survivors.sort_by_key(|row| row.number);
    println!(
        "{} of {} faults caught, {:.0} s; sample seed {}",
        rows.len() - survivors.len(),
        rows.len(),
        begun.elapsed().as_secs_f64(),
        options.seed
    );
    for row in &survivors {
        println!(
            "survived: {} ({:?}, {})",
            row.fault.name, row.fault.kind, row.fault.file
        );
    }
    Ok(survivors.is_empty())
}

/// Does `what` to all items, several at once.
fn spread<T: Sync>(jobs: usize, items: &[T], what: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(item) =
                    items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    what(item);
                }
            });
        }
    });
}
