//! Programs that readers know: `cargo run --release -p weft-sim --example programs` writes their table into `docs/partitions.md`.

use std::error::Error;
use std::path::Path;

use weft_sim::partitions::program_table::{loads, rows, HEAD};

/// The table stands between these.
const MARKS: [&str; 2] = ["<!-- programs -->\n", "<!-- end of programs -->"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut table = HEAD.to_owned();
    for load in loads()? {
        let rows = rows(&load)?;
        eprint!("{rows}");
        table += &rows;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/partitions.md");
    let mut text = std::fs::read_to_string(&page)?;
    let from = text.find(MARKS[0]).ok_or("no mark")? + MARKS[0].len();
    let to = text.find(MARKS[1]).ok_or("no end")?;
    text.replace_range(from..to, &table);
    std::fs::write(&page, text)?;
    Ok(())
}
