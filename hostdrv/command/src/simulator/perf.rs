//! `weft perf`.

use std::io;
use std::path::Path;

use serde::Serialize;
use weft_hostdrv::Congestion;
use weft_sim::perf;

use super::Common;
use crate::command::Failure;
use crate::output::{self, Stdout};
use crate::progress::Progress;

/// Measures and prints.
pub fn run(common: &Common, seed: u64, html: Option<&Path>) -> Result<(), Failure> {
    let mut bar = Progress::new(11, !common.json);
    let figures = perf::run(common.card, seed, common.mtu, |what| bar.step(what));
    bar.finish();
    let figures = figures?;
    if let Some(path) = html {
        save(path, perf::page(&figures))?;
    }
    let mut out = output::stdout();
    if common.json {
        output::json(&mut out, &figures)?;
    } else {
        perf::print(&figures, &mut out)?;
    }
    match figures.full_stack_error {
        None => Ok(()),
        Some(error) => Err(error.into()),
    }
}

fn save(path: &Path, text: String) -> Result<(), Failure> {
    Ok(std::fs::write(path, text)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?)
}

/// Goodput of each congestion controller under loss.
pub fn loss(
    common: &Common,
    seed: u64,
    milliseconds: u64,
    controllers: &[Congestion],
    traffic: perf::loss::Traffic,
    html: Option<&Path>,
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
    if let Some(path) = html {
        let is_svg = path.extension().is_some_and(|end| end == "svg");
        save(
            path,
            match is_svg {
                true => perf::loss_picture::svg(&table),
                false => perf::loss_picture::page(&table),
            },
        )?;
    }
    show(common, &table, perf::loss::print)
}

/// Many connections.
pub fn scale(
    common: &Common,
    seed: u64,
    milliseconds: u64,
    html: Option<&Path>,
) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::scale::connections(common.card), !common.json);
    let table = perf::scale::run(common.card, seed, common.mtu, milliseconds, || bar.step(""));
    bar.finish();
    let table = table?;
    if let Some(path) = html {
        save(path, perf::scale_page::page(&table))?;
    }
    show(common, &table, perf::scale::print)
}

/// Frames of several kinds mixed.
pub fn mixed(common: &Common, seed: u64) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::mixed::rows(), !common.json);
    let table = perf::mixed::run(common.card, seed, perf::mixed::FRAMES, |what| {
        bar.step(what);
    });
    bar.finish();
    show(common, &table?, perf::mixed::print)
}

/// A slow port that marks.
pub fn queue(
    common: &Common,
    seed: u64,
    milliseconds: u64,
    html: Option<&Path>,
) -> Result<(), Failure> {
    let mut bar = Progress::new(perf::queue::RUNS, !common.json);
    let table = perf::queue::run(common.card, seed, common.mtu, milliseconds, || bar.step(""));
    bar.finish();
    let table = table?;
    if let Some(path) = html {
        save(path, perf::queue_page::page(&table))?;
    }
    show(common, &table, perf::queue::print)
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
