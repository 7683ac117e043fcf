//! Goodput over a link that loses and cuts segments, where payload of a detached flow stays in the raw ring and is walked over again by the card, and
//! where it is copied: Writes of 1 MiB between two functional models, each controller, five seeds. `cargo run -p weft-tests --example replay_cost`
//! (two minutes); an argument is the number of seeds.

use std::error::Error;

use weft_tests::goodput::{measure, Goodput, Run, CONTROLLERS, HARM};

/// The least that replays may have of what there is without, in the median.
const LEAST: f64 = 0.95;
/// A timer that somebody waits for: the delayed acknowledgment that a probe of a lone segment allows for.
const TIMER_NS: u64 = 40_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds = std::env::args().nth(1).map_or(Ok(5), |n| n.parse())?;
    println!("| one way | controller | harm | copied, Gb/s | replayed, Gb/s | ratio, median | least | longest wait, ms: copied | replayed | of all bytes copied, %: copied | replayed | |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut below = 0;
    for delay_ns in [500, 10_000] {
        for congestion in CONTROLLERS {
            for (name, faults) in HARM {
                let mut runs = Vec::new();
                for seed in 1..=seeds {
                    let run = Run {
                        seed,
                        congestion,
                        delay_ns,
                        faults,
                        ..Run::default()
                    };
                    let copied = measure(&Run {
                        replay: false,
                        ..run
                    })?;
                    runs.push((copied, measure(&run)?));
                }
                below += u32::from(row(delay_ns, congestion.name(), name, &runs));
            }
        }
    }
    match below {
        0 => Ok(()),
        rows => Err(format!("{rows} rows have less than {LEAST}, or waited for a timer").into()),
    }
}

/// Prints a row; true: replays cost more than they may.
fn row(delay_ns: u64, congestion: &str, harm: &str, runs: &[(Goodput, Goodput)]) -> bool {
    let median = |of: &dyn Fn(&(Goodput, Goodput)) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let longest = |of: &dyn Fn(&(Goodput, Goodput)) -> u64| runs.iter().map(of).max().unwrap_or(0);
    let bytes = |of: &dyn Fn(&(Goodput, Goodput)) -> u64| runs.iter().map(of).sum::<u64>();
    let (copied, replayed) = (median(&|run| run.0.gbps), median(&|run| run.1.gbps));
    // Of medians: a seed is another run as soon as one frame is.
    let ratio = replayed / copied;
    let least = runs.iter().map(|run| run.1.gbps / run.0.gbps);
    let waits = [
        longest(&|run| run.0.longest_inside_ns),
        longest(&|run| run.1.longest_inside_ns),
    ];
    let payload = (runs.len() * Run::default().writes * Run::default().bytes) as f64;
    let share = [
        bytes(&|run| run.0.receiver.bytes_copied),
        bytes(&|run| run.1.receiver.bytes_copied),
    ]
    .map(|copied| 100.0 * copied as f64 / payload);
    // A tail of one segment that is lost with its probe waits for TCP's timer with and without, and is none of these waits.
    let slow = ratio < LEAST || waits[1] >= TIMER_NS && waits[0] < TIMER_NS;
    println!(
        "| {} us | `{congestion}` | {harm} | {copied:.1} | {replayed:.1} | {ratio:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
        delay_ns as f64 / 1000.0,
        least.fold(f64::INFINITY, f64::min),
        waits[0] as f64 / 1e6,
        waits[1] as f64 / 1e6,
        share[0],
        share[1],
        if slow { "**too slow**" } else { "" },
    );
    slow
}
