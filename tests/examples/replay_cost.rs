//! Goodput over a link that loses and cuts segments, where payload of a detached flow stays in the raw ring and is walked over again by the card, and
//! where it is copied: Writes of 1 MiB between two functional models, each controller, five seeds. `cargo run -p weft-tests --example replay_cost`
//! (three minutes); an argument is the number of seeds, and with 0 there is only the table of what is copied where segments are cut.

use std::error::Error;

use weft_hostdrv::Congestion;
use weft_tests::goodput::{measure, Goodput, Run, CONTROLLERS, HARM};

/// The least that replays may have of what there is without, in the median.
const LEAST: f64 = 0.95;
/// What a host with replays may copy of what one without does where segments are cut.
const MOST_COPIED: f64 = 1.2;
/// A timer that somebody waits for: the delayed acknowledgment that a probe of a lone segment allows for.
const TIMER_NS: u64 = 40_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds = std::env::args().nth(1).map_or(Ok(5), |n| n.parse())?;
    let copies_more = cuts()?;
    let slow = matrix(seeds)?;
    match (copies_more, slow) {
        (0, 0) => Ok(()),
        _ => Err(format!(
            "{copies_more} rows copy more than {MOST_COPIED}; {slow} have less than {LEAST}, or waited for a timer"
        )
        .into()),
    }
}

/// What is copied where segments are cut; how many rows are too much.
fn cuts() -> Result<u32, Box<dyn Error>> {
    println!("| harm | without replays: raw segments, copied | with: raw segments, copied | flow attached again |");
    println!("|---|---|---|---|");
    let mut above = 0;
    for (name, faults) in HARM.into_iter().filter(|(_, faults)| faults.resegment > 0) {
        let run = Run {
            faults,
            congestion: Congestion::Cubic,
            ..Run::default()
        };
        let without = measure(&Run {
            replay: false,
            ..run
        })?;
        let [without, with] = [without, measure(&run)?].map(|run| run.receiver);
        let mb = |bytes: u64| bytes as f64 / 1e6;
        println!(
            "| {name} | {}, {:.1} MB | {}, {:.1} MB | {} and {} times |",
            without.segments_raw,
            mb(without.bytes_copied),
            with.segments_raw,
            mb(with.bytes_copied),
            without.attaches - without.attaches_refused,
            with.attaches - with.attaches_refused,
        );
        above += u32::from(with.bytes_copied as f64 > without.bytes_copied as f64 * MOST_COPIED);
    }
    println!();
    Ok(above)
}

/// Goodput, for each of which so many seeds are run; how many rows are too slow.
fn matrix(seeds: u64) -> Result<u32, Box<dyn Error>> {
    if seeds == 0 {
        return Ok(0);
    }
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
    Ok(below)
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
