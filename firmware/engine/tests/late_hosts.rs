//! Hosts that are behind their cards: bulk both ways with hosts 0 to 64 reports behind, over ways that cut and lose, and how much of it the card
//! places.
//!
//! The campaign: `WEFT_LATE_SEEDS` seeds, from `WEFT_LATE_FROM` on; each thousand seeds it says how far it is.
//! `docs/handover.md` quotes the table (`UPDATE_HANDOVER=1` renews it).
#![allow(missing_docs)]

mod bench;

use bench::bulk::{run, Plan};

fn number(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(usual)
}

/// No run hangs, and no octet is wrong.
#[test]
fn bulk_both_ways() {
    let from = number("WEFT_LATE_FROM", 0);
    let end = from + number("WEFT_LATE_SEEDS", 60);
    for seed in from..end {
        if seed > from && seed % 1000 == 0 {
            eprintln!("{seed} of {end}");
        }
        run(&Plan::drawn(seed));
    }
}
