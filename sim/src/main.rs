//! The `weft` command.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use weft_sim::demo;
use weft_sim::kind::CardKind;
use weft_sim::perf;

/// The demonstration's file when none is given.
const README: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/README.md"));

/// Weft: an open iWARP RNIC, simulated.
#[derive(Parser)]
#[command(version, about)]
struct Weft {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Two cards connect in twelve ways and move a file by Send, Write and Read; every byte is checked.
    Demo {
        /// The file to move; Weft's own README if none is given.
        file: Option<PathBuf>,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        common: Common,
    },
    /// Bandwidth and latency, of the card's data path alone and of the whole stack.
    Perf {
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        common: Common,
    },
    /// Runs the demonstration of a seed again, as a failure's message says, and records waves: FST files
    /// of each card's last cycles, in the folder of the capture.
    Replay {
        /// The seed.
        seed: u64,
        /// The file that was moved.
        file: Option<PathBuf>,
        /// How many cycles before the end the waves cover; 0: no waves.
        #[arg(long, default_value_t = 20_000)]
        waves: u64,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
struct Seed {
    /// Decides every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Args)]
struct Common {
    /// Folder for captures, logs and waves.
    #[arg(long, default_value = "weft-out")]
    out: PathBuf,
    /// Prints a JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// The card: rtl512, rtl128 or model.
    #[arg(long, default_value_t = default_card())]
    card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
}

fn default_card() -> CardKind {
    if CardKind::available().contains(&CardKind::Rtl512) {
        CardKind::Rtl512
    } else {
        CardKind::Model
    }
}

fn main() -> ExitCode {
    let result = match Weft::parse().command {
        Command::Demo { file, seed, common } => run_demo(file, &common, seed.seed, 0),
        Command::Perf { seed, common } => run_perf(&common, seed.seed),
        Command::Replay {
            seed,
            file,
            waves,
            common,
        } => run_demo(file, &common, seed, waves),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft: {error}");
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

fn run_demo(file: Option<PathBuf>, common: &Common, seed: u64, waves: u64) -> Result<(), Failure> {
    check_card(common.card)?;
    let bytes = match &file {
        Some(path) => {
            std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?
        }
        None => README.to_vec(),
    };
    std::fs::create_dir_all(&common.out)
        .map_err(|e| format!("cannot make the folder {}: {e}", common.out.display()))?;
    let plan = demo::Plan {
        seed,
        card: common.card,
        file: bytes,
        out: Some(common.out.clone()),
        mtu: common.mtu,
        waves: (waves > 0).then_some(waves),
    };
    let bar = progress(demo::Way::all().len() as u64, !common.json);
    let result = demo::run(&plan, |number, way| {
        bar.set_position(number as u64);
        bar.set_message(way.name);
    });
    bar.finish_and_clear();
    let report = result.map_err(|error| {
        let file = file
            .as_ref()
            .map_or(String::new(), |f| format!(" {}", f.display()));
        format!(
            "{error}\nTo see it again: weft replay {seed}{file} --card {} --mtu {} --out {}",
            common.card,
            common.mtu,
            common.out.display()
        )
    })?;
    let mut out = io::stdout().lock();
    if common.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        demo::print(&report, &mut out)?;
    }
    Ok(())
}

fn run_perf(common: &Common, seed: u64) -> Result<(), Failure> {
    check_card(common.card)?;
    let bar = progress(11, !common.json);
    let figures = perf::run(common.card, seed, common.mtu, |what| {
        bar.inc(1);
        bar.set_message(what);
    });
    bar.finish_and_clear();
    let figures = figures?;
    let mut out = io::stdout().lock();
    if common.json {
        serde_json::to_writer_pretty(&mut out, &figures)?;
        writeln!(out)?;
    } else {
        perf::print(&figures, &mut out)?;
    }
    match figures.full_stack_error {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}

fn check_card(card: CardKind) -> Result<(), Failure> {
    if CardKind::available().contains(&card) {
        return Ok(());
    }
    Err(format!("this build has no card `{card}`").into())
}

fn progress(length: u64, wanted: bool) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Weft::command().debug_assert();
    }
}
