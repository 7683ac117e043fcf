//! `weft partitions`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use weft_sim::kind::CardKind;
use weft_sim::partitions::{self, workload, Name};

use super::Seed;
use crate::about;
use crate::command::{progress, Failure};
use crate::output;

/// What is to be run, and on what.
#[derive(Args)]
pub struct Arguments {
    /// The workload: a file (TOML, see docs/partitions.md), or a ready one: default, echo, block, small-reads, bulk or book.
    #[arg(default_value = "default")]
    workload: String,
    #[command(flatten)]
    seed: Seed,
    /// The card: rtl512, rtl256, rtl128 or model.
    #[arg(long, default_value_t = CardKind::widest())]
    card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// Prints a JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// Also writes the figures, with plots, to this page (HTML, self-contained).
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Runs and prints.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let loads = workload::read(&arguments.workload)?;
    let name = Name {
        version: about::VERSION.to_owned(),
        command: format!(
            "weft partitions {} --card {} --seed {} --mtu {}",
            arguments.workload, arguments.card, arguments.seed.seed, arguments.mtu
        ),
    };
    let bar = progress(loads.len() as u64, !arguments.json);
    let mut last = String::new();
    let (kind, seed) = (arguments.card, arguments.seed.seed);
    let figures = partitions::run(name, kind, seed, arguments.mtu, &loads, |load, rung| {
        if last != load {
            bar.inc(1);
            load.clone_into(&mut last);
        }
        bar.set_message(format!("{load}, {rung}"));
    });
    bar.finish_and_clear();
    let figures = figures?;
    if let Some(path) = &arguments.html {
        std::fs::write(path, partitions::page(&figures))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    let mut out = output::stdout();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &figures)?;
        writeln!(out)?;
    } else {
        partitions::print(&figures, &mut out)?;
    }
    Ok(())
}
