//! `weft partitions`.

use std::path::PathBuf;

use clap::Args;
use weft_hostdrv::Rung;
use weft_sim::kind::CardKind;
use weft_sim::partitions::{self, workload, Counter, Name, Plan};

use super::host::{self, Host};
use super::{card_kind, heard, write_page, Seed};
use crate::about;
use crate::command::device::rung;
use crate::command::Failure;
use crate::output;
use crate::progress::Progress;

/// What is to be run, and on what.
#[derive(Args)]
pub struct Arguments {
    /// The workload: a file (TOML, see docs/partitions.md), or a ready one: default, echo, block, small-reads, bulk, book; of programs key-value, rpc, block-io, all-reduce, incast or churn.
    #[arg(default_value = "default", value_hint = clap::ValueHint::FilePath)]
    workload: String,
    #[command(flatten)]
    seed: Seed,
    /// As many seeds, from --seed on: figures are medians, with an interval that holds them with 95 %. One, or at least six.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seeds)]
    seeds: u64,
    /// The card.
    #[arg(long, default_value_t = CardKind::widest(), value_parser = card_kind())]
    card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    #[command(flatten)]
    host: Host,
    /// The least that retransmission timers allow beyond SRTT, in microseconds, of loads that do not say it. Left out: 1 ms with two full segments in flight, 200 ms with less.
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1..=60_000_000))]
    rto_min: Option<u64>,
    /// Rungs to run, with commas between; all that there are, if none is named.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = rung())]
    rung: Vec<Rung>,
    /// The load to run, by its name; all of the workload, if none is named.
    #[arg(long, value_name = "NAME")]
    load: Option<String>,
    /// Counts the hosts' instructions by layer as well: each load runs once more at each rung, under valgrind (callgrind), which takes some
    /// fifty times as long.
    #[arg(long)]
    instructions: bool,
    /// Runs each load so that a profiler can tell what is counted.
    #[arg(long, hide = true)]
    to_be_counted: bool,
    /// Prints a JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// Also writes the figures, with plots, to this page (HTML, self-contained).
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also writes each figure as SVG, PDF and CSV into this folder.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

fn seeds(text: &str) -> Result<u64, String> {
    let fewest = partitions::FEWEST as u64;
    let number = text.parse().ok();
    let number = number.filter(|n| *n == 1 || (fewest..=1000).contains(n));
    number.ok_or_else(|| format!("it is 1, or {fewest} to 1000: fewer make no interval of 95 %"))
}

/// Runs and prints.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut loads = workload::read(&arguments.workload)?;
    if let Some(load) = &arguments.load {
        let names: Vec<_> = loads.iter().map(|one| one.name.clone()).collect();
        loads.retain(|one| one.name == *load);
        loads.truncate(1);
        if loads.is_empty() {
            return Err(format!(
                "{} has no load `{load}`; it has {}",
                arguments.workload,
                names.join(", ")
            )
            .into());
        }
    }
    let host = arguments.host.config()?;
    heard::by_some(&loads, &arguments.host, host)?;
    heard::least_timer(&loads, arguments.rto_min)?;
    for load in &mut loads {
        load.rto_min_us = load.rto_min_us.or(arguments.rto_min);
    }
    let counter = match arguments.instructions {
        true => Some(counter(arguments, &host::said(&host))?),
        false => None,
    };
    let name = Name {
        version: about::VERSION.to_owned(),
        command: said(arguments, &host::said(&host)),
    };
    let plan = Plan {
        kind: arguments.card,
        seed: arguments.seed.seed,
        seeds: arguments.seeds,
        mtu: arguments.mtu,
        host,
        rungs: match arguments.rung.is_empty() {
            true => Rung::ALL.to_vec(),
            false => arguments.rung.clone(),
        },
        loads,
        counter,
        to_be_counted: arguments.to_be_counted,
    };
    // Behind the loads each rung makes connections.
    let parts = plan.loads.len() + usize::from(!plan.to_be_counted);
    let mut bar = Progress::new((parts * plan.rungs.len()) as u64, !arguments.json);
    let figures = partitions::run(name, &plan, |load, rung| {
        bar.step(&format!("{load}, {rung}"))
    });
    bar.finish();
    let figures = figures?;
    let mut out = output::stdout();
    if arguments.json {
        output::whole_json(&mut out, &figures)?;
    } else {
        partitions::print(&figures, &mut out)?;
    }
    // What was measured is told already where a file cannot be had.
    if let Some(path) = &arguments.html {
        write_page(path, &partitions::page(&figures)?)?;
    }
    if let Some(folder) = &arguments.figures {
        weft_sim::figures::write(&partitions::figures(&figures), folder)?;
    }
    Ok(())
}

/// The command that measures the same.
fn said(arguments: &Arguments, host: &str) -> String {
    let mut command = format!(
        "weft partitions {} --card {} --seed {} --mtu {}",
        arguments.workload, arguments.card, arguments.seed.seed, arguments.mtu
    );
    if arguments.seeds > 1 {
        command += &format!(" --seeds {}", arguments.seeds);
    }
    command += host;
    command += &rto(arguments);
    if !arguments.rung.is_empty() {
        let names: Vec<_> = arguments.rung.iter().map(|rung| rung.name()).collect();
        command += &format!(" --rung {}", names.join(","));
    }
    if let Some(load) = &arguments.load {
        command += &format!(" --load '{load}'");
    }
    if arguments.instructions {
        command += " --instructions";
    }
    command
}

/// The option that asks for its timers.
fn rto(arguments: &Arguments) -> String {
    let us = arguments.rto_min;
    us.map_or(String::new(), |us| format!(" --rto-min {us}"))
}

/// This command again, for one load at one rung.
fn counter(arguments: &Arguments, host: &str) -> Result<Counter, Failure> {
    let own = std::env::current_exe()?;
    let (card, seed) = (arguments.card.to_string(), arguments.seed.seed.to_string());
    let mtu = arguments.mtu.to_string();
    let host = host.to_owned() + &rto(arguments);
    let rest = [
        "partitions",
        &arguments.workload,
        "--card",
        &card,
        "--seed",
        &seed,
        "--mtu",
        &mtu,
        "--json",
    ];
    let command = std::iter::once(own.into()).chain(rest.map(Into::into));
    let command = command.chain(host.split_whitespace().map(Into::into));
    Ok(Counter {
        command: command.collect(),
    })
}
