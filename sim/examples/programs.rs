//! Programs that readers know: `cargo run --release -p weft-sim --example programs` prints their table, of the loads that its arguments name,
//! or of all. With `--write` it goes into `docs/partitions.md`.

use std::error::Error;
use std::path::Path;

use weft_sim::partitions::program_table::{loads, rows, HEAD};

/// The table stands between these.
const MARKS: [&str; 2] = ["<!-- programs -->\n", "<!-- end of programs -->"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let write = names.last().is_some_and(|last| last == "--write");
    if write {
        names.pop();
    }
    let mut loads = loads()?;
    if let Some(name) = names
        .iter()
        .find(|name| !loads.iter().any(|load| load.name == **name))
    {
        return Err(format!("no load `{name}`").into());
    }
    loads.retain(|load| names.is_empty() || names.contains(&load.name));
    let mut table = HEAD.to_owned();
    print!("{HEAD}");
    for load in loads {
        let rows = rows(&load)?;
        print!("{rows}");
        table += &rows;
    }
    if !write {
        return Ok(());
    }
    if !names.is_empty() {
        return Err("the page has all loads".into());
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/partitions.md");
    let mut text = std::fs::read_to_string(&page)?;
    let from = text.find(MARKS[0]).ok_or("no mark")? + MARKS[0].len();
    let to = text.find(MARKS[1]).ok_or("no end")?;
    text.replace_range(from..to, &table);
    std::fs::write(&page, text)?;
    Ok(())
}
