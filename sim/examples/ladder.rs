//! The ladder where software takes time: `cargo run --release -p weft-sim --example ladder` prints its table, of the loads that its arguments
//! name, or of all. With `--write` it goes into `docs/partitions.md`. With `--card KIND` before them it is a smaller table: that card beside the model;
//! with `--cores` one of hosts with more cores.

use std::error::Error;

use weft_sim::kind::CardKind;
use weft_sim::partitions::{book, card_table, cores_table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let table = match names.first().map(String::as_str) {
        Some("--card") => {
            let kind: CardKind = names.get(1).ok_or("--card without a card")?.parse()?;
            names.drain(..2);
            card_table::table(kind)?
        }
        Some("--cores") => {
            names.remove(0);
            cores_table::table()?
        }
        _ => book::table()?,
    };
    table.by_arguments(names)
}
