//! Goodput where hosts look at their cards seldom: Writes of 64 KiB, 32 under way, between two functional models, with `cubic` and with `delay`. Once
//! sender or receiver looks seldom, and once both. `cargo run -p weft-tests --example late_host` (a minute).

use std::error::Error;

use weft_hostdrv::Congestion;
use weft_tests::goodput::{late_hosts, measure, Run};

/// The least that `delay` may have of what `cubic` has.
const LEAST: f64 = 0.9;

fn main() -> Result<(), Box<dyn Error>> {
    println!("| a look each, µs: sender | receiver | `cubic`, Gb/s | `delay`, Gb/s | ratio |");
    println!("|---|---|---|---|---|");
    let mut below = 0;
    for [sender, receiver] in late_hosts() {
        let gbps = |congestion| measure(&Run::late(congestion, [sender, receiver])).map(|g| g.gbps);
        let (cubic, delay) = (gbps(Congestion::Cubic)?, gbps(Congestion::Delay)?);
        let us = |ns: u64| ns as f64 / 1000.0;
        println!(
            "| {} | {} | {cubic:.2} | {delay:.2} | {:.2} |",
            us(sender),
            us(receiver),
            delay / cubic
        );
        below += u32::from(delay < LEAST * cubic);
    }
    match below {
        0 => Ok(()),
        rows => Err(format!("{rows} rows have less than {LEAST}").into()),
    }
}
