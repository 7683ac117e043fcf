//! What the least retransmission timer costs: `cargo run --release -p weft-sim --example rto` prints its table, of the loads that its arguments name,
//! or of all. With `--write` it goes into `docs/tcp.md`.

use std::error::Error;

use weft_sim::partitions::rto_table;

fn main() -> Result<(), Box<dyn Error>> {
    rto_table::table()?.by_arguments(std::env::args().skip(1).collect())
}
