//! The ladder where software takes time: `cargo run --release -p weft-sim --example ladder` writes its table into `docs/partitions.md`.

use std::error::Error;
use std::path::Path;

use weft_sim::partitions::book::{loads, row, HEAD, RUNGS, SEEDS};

/// The table stands between these.
const MARKS: [&str; 2] = ["<!-- ladder -->\n", "<!-- end of ladder -->"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut table = HEAD.to_owned();
    for load in loads()? {
        for rung in RUNGS {
            let row = row(&load, rung, SEEDS)?;
            eprint!("{row}");
            table += &row;
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/partitions.md");
    let mut text = std::fs::read_to_string(&page)?;
    let from = text.find(MARKS[0]).ok_or("no mark")? + MARKS[0].len();
    let to = text.find(MARKS[1]).ok_or("no end")?;
    text.replace_range(from..to, &table);
    std::fs::write(&page, text)?;
    Ok(())
}
