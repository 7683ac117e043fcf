//! `weft selftest`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::Args;
use weft_tools::selftest::{run as run_tests, tests};

use super::device::Card;
use super::Failure;
use crate::output;
use crate::progress::Progress;

/// What to test.
#[derive(Args)]
#[command(after_help = list())]
pub struct Selftest {
    #[command(flatten)]
    card: Card,
    /// Only these tests and what they need.
    #[arg(value_name = "TEST", value_parser = PossibleValuesParser::new(tests().map(|(name, _)| name)), hide_possible_values = true)]
    only: Vec<String>,
    /// Also writes the report as JSON to this file, to be attached to a question about the card.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// The tests, for the help.
fn list() -> String {
    let each = tests().map(|(name, what)| format!("\n  {name:<16} {what}"));
    format!("Tests:{}", each.collect::<String>())
}

/// Tests and prints.
pub fn run(args: &Selftest) -> Result<(), Failure> {
    let mut out = output::stdout();
    let reached = args.card.reach()?;
    let mut bar = Progress::new(tests().count() as u64, !args.card.json);
    let report = run_tests(&reached.transport, &args.only, |now| {
        bar.set_length(now.of as u64);
        bar.at(now.number as u64, now.name);
    });
    bar.finish();
    if args.card.json {
        output::whole_json(&mut out, &report)?;
    } else {
        writeln!(out, "{report}")?;
    }
    // What was found is told already where the file cannot be had.
    if let Some(path) = &args.report {
        let written = File::create(path).map_err(Failure::from);
        let written = written.and_then(|file| Ok(serde_json::to_writer_pretty(file, &report)?));
        written.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    if report.passed() {
        return Ok(());
    }
    Err(match report.failed().as_slice() {
        [] => "the card could not be tested".into(),
        failed => format!("failed: {}", failed.join(", ")).into(),
    })
}
