//! Programs that readers know: `cargo run --release -p weft-sim --example programs` prints their table, of the loads that its arguments name, or
//! of all. With `--write` it goes into `docs/partitions.md`.

use std::error::Error;

use weft_sim::partitions::program_table;

fn main() -> Result<(), Box<dyn Error>> {
    program_table::table()?.by_arguments(std::env::args().skip(1).collect())
}
