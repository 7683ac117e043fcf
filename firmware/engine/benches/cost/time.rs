//! The time of counted calls on this machine: with their instructions, how many of these a cycle does.
//!
//! The machine's own counters are not asked: a guest often has none. Its clock is that of a chain of operations, each of which takes a cycle
//! and waits for the one before.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

static IS_ON: AtomicBool = AtomicBool::new(false);
static NS: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Runs of which the quickest counts: whatever else the machine does makes a run longer, and none shorter.
const RUNS: u32 = 25;

/// A call, timed while times are taken.
pub fn timed<T>(call: impl FnOnce() -> T) -> T {
    if !IS_ON.load(Relaxed) {
        return call();
    }
    let begin = Instant::now();
    let result = call();
    NS.fetch_add(begin.elapsed().as_nanos() as u64, Relaxed);
    CALLS.fetch_add(1, Relaxed);
    result
}

/// The quickest of several runs, each of which says how many things it did: nanoseconds of one of these.
pub fn quickest(mut run: impl FnMut() -> u64) -> f64 {
    let empty = empty_call();
    IS_ON.store(true, Relaxed);
    let times = (0..RUNS).map(|_| {
        NS.store(0, Relaxed);
        CALLS.store(0, Relaxed);
        let count = run().max(1);
        let own = CALLS.load(Relaxed) as f64 * empty;
        (NS.load(Relaxed) as f64 - own) / count as f64
    });
    let least = times.fold(f64::INFINITY, f64::min);
    IS_ON.store(false, Relaxed);
    least
}

/// What is timed of a call that does nothing.
fn empty_call() -> f64 {
    const CALLS: u32 = 100_000;
    let run = |_| {
        let mut all = 0;
        for _ in 0..CALLS {
            let begin = Instant::now();
            black_box(());
            all += begin.elapsed().as_nanos() as u64;
        }
        all as f64 / f64::from(CALLS)
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

/// The clock in GHz: of two operations that wait for each other, as often as this.
pub fn clock_ghz() -> f64 {
    const ROUNDS: u32 = 4_000_000;
    let run = |_| {
        let (begin, mut x) = (Instant::now(), black_box(1_u64));
        let other = black_box(0x9e37_79b9_7f4a_7c15_u64);
        for _ in 0..ROUNDS {
            x = (x ^ other).rotate_left(7);
        }
        black_box(x);
        2.0 * f64::from(ROUNDS) / begin.elapsed().as_nanos() as f64
    };
    (0..RUNS).map(run).fold(0.0, f64::max)
}
