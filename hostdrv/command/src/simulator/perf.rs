//! `weft perf`.

use std::io;

use serde::Serialize;
use weft_hostdrv::Congestion;
use weft_sim::kind::CardKind;
use weft_sim::perf;
use weft_sim::perf::pcie::Port;

use super::{Common, Kept};
use crate::about;
use crate::command::Failure;
use crate::output::{self, Stdout};
use crate::progress::Progress;

/// Measures and prints.
pub fn run(common: &Common, seed: u64, kept: &Kept) -> Result<(), Failure> {
    let mut bar = Progress::new(11, !common.json);
    let figures = perf::run(common.card, seed, common.mtu, |what| bar.step(what));
    bar.finish();
    let figures = figures?;
    let mut out = output::stdout();
    if common.json {
        output::json(&mut out, &figures)?;
    } else {
        perf::print(&figures, &mut out)?;
    }
    kept.keep(&figures, &made_by("", common, seed, None))?;
    match figures.full_stack_error {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}

/// The command that makes the figures again, and the version.
fn made_by(option: &str, common: &Common, seed: u64, milliseconds: Option<u64>) -> String {
    let long = milliseconds.map_or(String::new(), |n| format!(" --milliseconds {n}"));
    format!(
        "weft perf{option} --card {} --seed {seed} --mtu {}{long}; Weft {}",
        common.card,
        common.mtu,
        about::VERSION
    )
}

/// Goodput of each congestion controller under loss.
pub fn loss(
    common: &Common,
    seed: u64,
    milliseconds: u64,
    controllers: &[Congestion],
    traffic: perf::loss::Traffic,
    kept: &Kept,
) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::loss::runs(controllers.len()), !common.json);
    let table = perf::loss::run(
        common.card,
        seed,
        common.mtu,
        milliseconds,
        controllers,
        traffic,
        || bar.step(""),
    );
    bar.finish();
    let table = table?;
    let mut option = " --loss".to_owned();
    if traffic.markers {
        option += " --markers";
    }
    if traffic.aligned {
        option += " --aligned";
    }
    let names: Vec<_> = controllers.iter().map(|one| one.name()).collect();
    option += &format!(
        " --congestion {} --write-bytes {}",
        names.join(","),
        traffic.write_bytes
    );
    let source = made_by(&option, common, seed, Some(milliseconds));
    show(common, &table, perf::loss::print)?;
    kept.keep(&table, &source)
}

/// Many connections.
pub fn scale(common: &Common, seed: u64, milliseconds: u64, kept: &Kept) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::scale::connections(common.card), !common.json);
    let table = perf::scale::run(common.card, seed, common.mtu, milliseconds, || bar.step(""));
    bar.finish();
    let table = table?;
    let source = made_by(" --scale", common, seed, Some(milliseconds));
    show(common, &table, perf::scale::print)?;
    kept.keep(&table, &source)
}

/// Frames of several kinds mixed.
pub fn mixed(common: &Common, seed: u64, kept: &Kept) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::mixed::rows(), !common.json);
    let table = perf::mixed::run(common.card, seed, perf::mixed::FRAMES, |what| {
        bar.step(what);
    });
    bar.finish();
    let table = table?;
    show(common, &table, perf::mixed::print)?;
    kept.keep(&table, &made_by(" --mixed", common, seed, None))
}

/// The data path behind PCIe ports.
pub fn pcie(common: &Common, seed: u64, ports: &[Port], kept: &Kept) -> Result<(), Failure> {
    if common.card == CardKind::Model {
        let why = "the functional model has no host memory that takes time: take --card rtl512, rtl256 or rtl128";
        return Err(why.into());
    }
    let mut bar = Progress::new(ports.len() as u64 + 1, !common.json);
    let table = perf::pcie::run(common.card, seed, ports, |what| bar.step(what));
    bar.finish();
    let table = table?;
    let names: Vec<_> = ports.iter().map(Port::to_string).collect();
    let option = format!(" --pcie={}", names.join(","));
    show(common, &table, perf::pcie::print)?;
    kept.keep(&table, &made_by(&option, common, seed, None))
}

/// A slow port that marks.
pub fn queue(common: &Common, seed: u64, milliseconds: u64, kept: &Kept) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::queue::RUNS, !common.json);
    let table = perf::queue::run(common.card, seed, common.mtu, milliseconds, || bar.step(""));
    bar.finish();
    let table = table?;
    let source = made_by(" --queue", common, seed, Some(milliseconds));
    show(common, &table, perf::queue::print)?;
    kept.keep(&table, &source)
}

/// As JSON or for people.
fn show<T: Serialize>(
    common: &Common,
    table: &T,
    print: impl Fn(&T, &mut Stdout) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = output::stdout();
    if common.json {
        output::json(&mut out, table)?;
    } else {
        print(table, &mut out)?;
    }
    Ok(())
}
