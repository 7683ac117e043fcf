//! The ladder where software takes time: `cargo run --release -p weft-sim --example ladder` prints its table, of the loads that its arguments
//! name, or of all. With `--write` it goes into `docs/partitions.md`.

use std::error::Error;

use weft_sim::partitions::book;

fn main() -> Result<(), Box<dyn Error>> {
    book::table()?.by_arguments(std::env::args().skip(1).collect())
}
