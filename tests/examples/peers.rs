//! Each scripted peer meets a functional model: the table of `docs/peers.md`. `cargo run -p weft-tests --example peers`

use std::error::Error;

use weft_hostdrv::Rung;
use weft_sim::kind::CardKind;
use weft_tests::profiles::{meet, scenarios, table};

/// Of the first meeting; each has the next one. The test that compares the page has the same.
const SEED: u64 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let meetings = scenarios().into_iter().zip(SEED..);
    let rows = meetings.map(|(scenario, seed)| {
        let capture = folder.path().join(format!("{seed}.pcapng"));
        let met = meet(&scenario, CardKind::Model, Rung::Placement, seed, &capture);
        (scenario, met)
    });
    print!("{}", table(&rows.collect::<Vec<_>>()));
    Ok(())
}
