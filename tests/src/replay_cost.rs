//! What replays cost: goodput where payload of a detached flow stays in the raw ring and is walked over again by the card, beside goodput where it is
//! copied. Rows as `docs/handover.md` has them.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::Congestion;
use weft_sim::link::Faults;
use weft_sim::pair::PairError;

use crate::goodput::{measure, Goodput, Run};

/// Seeds of a row: single runs under loss differ by a quarter.
pub const SEEDS: u64 = 15;
/// The least that replays may have of what there is without: the interval of the ratio is not below it.
pub const LEAST: f64 = 0.95;
/// What a host with replays may copy of what one without does where segments are cut.
pub const MOST_COPIED: f64 = 1.2;
/// A timer that somebody waits for: the delayed acknowledgment that a probe of a lone segment allows for.
const TIMER_NS: u64 = 40_000_000;

/// Head of the table of goodput.
pub const HEAD: &str = "| one way | controller | harm | copied, Gb/s | replayed, Gb/s | ratio | 95 % of it | longest wait, ms | bytes copied, %: without | with |
|---|---|---|---|---|---|---|---|---|---|
";
/// Head of the table of what is copied.
pub const HEAD_OF_CUTS: &str =
    "| harm | without replays: raw segments, copied | with: raw segments, copied | flow attached |
|---|---|---|---|
";

/// Head of the table of certain framing.
pub const HEAD_OF_FRAMING: &str =
    "| one way | controller | harm | Gb/s | flow attached again, times | bytes copied, % |
|---|---|---|---|---|---|
";
/// Seeds of one of its rows.
pub const SEEDS_OF_FRAMING: u64 = 5;

/// A row, and whether it is as it is to be.
pub struct Row {
    /// The row.
    pub text: String,
    /// Replays cost no more than they may.
    pub good: bool,
}

/// Goodput under one harm: medians of so many seeds. DCTCP is Reno here, as nothing is marked.
///
/// # Errors
/// A Write that fails.
pub fn row(
    delay_ns: u64,
    congestion: Congestion,
    (harm, faults): (&str, Faults),
    seeds: u64,
) -> Result<Row, PairError> {
    let mut runs: Vec<(Goodput, Goodput)> = Vec::new();
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
    let longest = |of: &dyn Fn(&(Goodput, Goodput)) -> u64| runs.iter().map(of).max().unwrap_or(0);
    let payload = (runs.len() * Run::default().writes * Run::default().bytes) as f64;
    let share = |of: &dyn Fn(&(Goodput, Goodput)) -> u64| {
        100.0 * runs.iter().map(of).sum::<u64>() as f64 / payload
    };
    let gbps: Vec<_> = runs.iter().map(|run| (run.0.gbps, run.1.gbps)).collect();
    let (copied, replayed) = medians(&gbps);
    let (ratio, [low, high]) = (replayed / copied, interval(&gbps));
    let without = longest(&|run| run.0.longest_inside_ns);
    let with = longest(&|run| run.1.longest_inside_ns);
    // A tail of one segment that is lost with its probe waits for TCP's timer with and without, and is none of these waits.
    let good = high >= LEAST && (with < TIMER_NS || without >= TIMER_NS);
    let text = format!(
        "| {} µs | `{}` | {harm} | {copied:.1} | {replayed:.1} | {ratio:.2} | {low:.2} to {high:.2} | {:.2} | {:.2} | {:.2} |\n",
        delay_ns as f64 / 1000.0,
        congestion.name(),
        with as f64 / 1e6,
        share(&|run| run.0.receiver.bytes_copied),
        share(&|run| run.1.receiver.bytes_copied),
    );
    Ok(Row { text, good })
}

fn median(values: &mut dyn Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Medians of the first and of the second. Of each by itself: a seed is another run as soon as one frame is.
fn medians(pairs: &[(f64, f64)]) -> (f64, f64) {
    (
        median(&mut pairs.iter().map(|pair| pair.0)),
        median(&mut pairs.iter().map(|pair| pair.1)),
    )
}

/// Where the ratio of medians lies in 95 of 100 samples drawn from these seeds (the percentile bootstrap).
fn interval(pairs: &[(f64, f64)]) -> [f64; 2] {
    const DRAWS: usize = 1000;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut ratios: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn: Vec<_> = (0..pairs.len())
                .map(|_| pairs[random.random_range(0..pairs.len())])
                .collect();
            let (copied, replayed) = medians(&drawn);
            replayed / copied
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    [ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40]]
}

/// What certain framing brings where segments are lost: then the card places beyond gaps. As usual, with markers, aligned: medians of five seeds.
///
/// # Errors
/// A Write that fails.
pub fn row_of_framing(
    delay_ns: u64,
    congestion: Congestion,
    (harm, faults): (&str, Faults),
) -> Result<Row, PairError> {
    let ways = [(false, false), (true, false), (false, true)];
    let mut runs: [Vec<Goodput>; 3] = Default::default();
    for seed in 1..=SEEDS_OF_FRAMING {
        for ((markers, aligned), runs) in ways.into_iter().zip(&mut runs) {
            let run = Run {
                seed,
                congestion,
                delay_ns,
                faults,
                markers,
                aligned,
                ..Run::default()
            };
            runs.push(measure(&run)?);
        }
    }
    let of_each = |of: &dyn Fn(&Goodput) -> f64| {
        [0, 1, 2].map(|way: usize| median(&mut runs[way].iter().map(of)))
    };
    let payload = (Run::default().writes * Run::default().bytes) as f64;
    let again = |run: &Goodput| {
        let attached = run.receiver.attaches - run.receiver.attaches_refused;
        attached.saturating_sub(1) as f64
    };
    let copied = of_each(&|run| 100.0 * run.receiver.bytes_copied as f64 / payload);
    let cell = |values: [f64; 3], places: usize| {
        values.map(|value| format!("{value:.places$}")).join(", ")
    };
    let text = format!(
        "| {} µs | `{}` | {harm} | {} | {} | {} |\n",
        delay_ns as f64 / 1000.0,
        congestion.name(),
        cell(of_each(&|run| run.gbps), 1),
        cell(of_each(&again), 0),
        cell(copied, 2),
    );
    let most = copied[0] * MOST_COPIED;
    Ok(Row {
        text,
        good: copied.iter().all(|copied| *copied <= most),
    })
}

/// What is copied where segments are cut: CUBIC, seed 1, 0.5 µs each way.
///
/// # Errors
/// A Write that fails.
pub fn row_of_cuts((harm, faults): (&str, Faults)) -> Result<Row, PairError> {
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
    let text = format!(
        "| {harm} | {}, {:.1} MB | {}, {:.1} MB | {} and {} times |\n",
        without.segments_raw,
        mb(without.bytes_copied),
        with.segments_raw,
        mb(with.bytes_copied),
        without.attaches - without.attaches_refused,
        with.attaches - with.attaches_refused,
    );
    let good = with.bytes_copied as f64 <= without.bytes_copied as f64 * MOST_COPIED;
    Ok(Row { text, good })
}
