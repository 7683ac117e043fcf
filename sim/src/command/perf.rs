//! `weft perf`.

use std::io::{self, Write};

use weft_sim::perf;

use super::{check_card, progress, Common, Failure};

/// Measures and prints.
pub fn run(common: &Common, seed: u64) -> Result<(), Failure> {
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
