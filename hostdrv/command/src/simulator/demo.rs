//! `weft demo` and `weft replay`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use weft_sim::demo;

use super::Common;
use crate::command::{progress, Failure};
use crate::output;

/// The demonstration's file when none is given.
const README: &[u8] = include_bytes!("../../README.md");

/// Bytes of a file at most: each is moved three times and more, by a simulation.
const LONGEST: u64 = 16 << 20;

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    match bytes.len() as u64 {
        0..=LONGEST => Ok(bytes),
        _ => Err(format!("{shown} is too long: a file to move has at most 16 MiB").into()),
    }
}

/// Runs the demonstration; `waves`: cycles to record before its end.
pub fn run(file: Option<&Path>, common: &Common, seed: u64, waves: u64) -> Result<(), Failure> {
    let bytes = match file {
        Some(path) => read(path)?,
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
        let file = file.map_or(String::new(), |f| format!(" {}", f.display()));
        format!(
            "{error}\nTo see it again: weft replay {seed}{file} --card {} --mtu {} --out {}",
            common.card,
            common.mtu,
            common.out.display()
        )
    })?;
    let mut out = output::stdout();
    if common.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        demo::print(&report, &mut out)?;
    }
    Ok(())
}
