//! `weft demo` and `weft replay`.

use std::path::Path;

use weft_hostdrv::bounded;
use weft_sim::demo;
use weft_sim::fabric::FabricError;
use weft_sim::kind::CardKind;

use super::Common;
use crate::command::Failure;
use crate::output;
use crate::progress::Progress;

/// The demonstration's file when none is given.
const README: &[u8] = include_bytes!("../../README.md");

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    bounded::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Runs the demonstration; `waves`: cycles to record before its end.
pub fn run(
    file: Option<&Path>,
    common: &Common,
    out: &Path,
    seed: u64,
    waves: u64,
) -> Result<(), Failure> {
    let bytes = match file {
        Some(path) => read(path)?,
        None => README.to_vec(),
    };
    std::fs::create_dir_all(out)
        .map_err(|e| format!("cannot make the folder {}: {e}", out.display()))?;
    let plan = demo::Plan {
        seed,
        card: common.card,
        file: bytes,
        out: Some(out.to_owned()),
        mtu: common.mtu,
        waves: (waves > 0).then_some(waves),
    };
    match common.card {
        _ if waves == 0 => {}
        CardKind::Model => eprintln!("weft: the functional model has no waves: none are recorded"),
        _ => eprintln!("weft: each cycle of every way is written as waves: this takes minutes"),
    }
    let mut bar = Progress::new(demo::Way::all().len() as u64, !common.json);
    let result = demo::run(&plan, |number, way| bar.at(number as u64, way.name));
    bar.finish();
    let report = result.map_err(|error| {
        if let demo::DemoError::Fabric(FabricError::Capture { .. }) = error {
            return error.to_string();
        }
        let file = file.map_or(String::new(), |f| format!(" {}", f.display()));
        format!(
            "{error}\nTo see it again: weft replay {seed}{file} --card {} --mtu {} --out {}",
            common.card,
            common.mtu,
            out.display()
        )
    })?;
    let mut out = output::stdout();
    if common.json {
        output::json(&mut out, &report)?;
    } else {
        demo::print(&report, &mut out)?;
    }
    Ok(())
}
