//! Hostile traffic for a card with several flows, among traffic that is good. What becomes of each segment is held against
//! the engine's rule of acceptance and a walk of this test's own; every byte of every region against a shadow that only
//! segments in sequence, whole and correct have written; every frame against its report or its drop counter.
//! `WEFT_HOSTILE_SEEDS` says how many runs on the model, `WEFT_HOSTILE_RTL_SEEDS` how many on the RTL at each width.
#![allow(missing_docs)]

mod frames;
mod oracle;
mod run;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::thread;

use weft_sim::kind::CardKind;

fn seeds(variable: &str, usual: u64) -> u64 {
    let asked = std::env::var(variable).ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(usual)
}

/// Runs all seeds on this kind of card, on as many threads as the machine has processors.
fn campaign(kind: CardKind, count: u64) {
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let failures = Mutex::new(Vec::new());
    let (tally, threads) = (
        Mutex::new(run::Tally::default()),
        thread::available_parallelism().map_or(1, usize::from),
    );
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = run::Tally::default();
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        break;
                    }
                    if let Err(what) = run::run(kind, seed, &mut own) {
                        failed.store(true, Ordering::Relaxed);
                        let told = format!("{kind}, seed {seed}: {what}");
                        failures.lock().expect("no thread panics").push(told);
                    }
                }
                tally.lock().expect("no thread panics").add(&own);
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let tally = tally.into_inner().expect("no thread panics");
    eprintln!("{kind}, {count} seeds: {tally:?}");
    if count >= 100 {
        assert!(tally.all_seen(), "something never happened: {tally:?}");
    }
}

#[test]
fn the_model_takes_what_is_right_and_nothing_else() {
    campaign(CardKind::Model, seeds("WEFT_HOSTILE_SEEDS", 300));
}

#[test]
fn the_rtl_takes_what_is_right_and_nothing_else() {
    for kind in CardKind::available() {
        if kind != CardKind::Model {
            // Environment (tests): `WEFT_HOSTILE_RTL_SEEDS`: hostile traffic to the RTL: how many seeds at each width. Without it: 10.
            campaign(kind, seeds("WEFT_HOSTILE_RTL_SEEDS", 10));
        }
    }
}
