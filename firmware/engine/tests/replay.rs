//! What comes while a flow is detached stays in its raw slot, and the card walks over it again: every byte is where it is without that, and fewer
//! were copied.
#![allow(missing_docs)]

mod bench;

use bench::traffic::{run, run_prepared};
use bench::*;
use weft_engine::*;

/// Of both hosts.
fn sum(b: &Bench, of: impl Fn(&EngineStats) -> u64) -> u64 {
    b.hosts.iter().map(|host| of(host.engine.stats())).sum()
}

/// Seeds with and without replay: what they copied, the engine's copies and those out of the slots.
fn compare(seeds: std::ops::Range<u64>, faults: Faults, most: u16) -> (u64, u64) {
    let (mut without, mut with) = (0, 0);
    for seed in seeds {
        let plain = run(seed, faults, &|_| ());
        without += sum(&plain, |s| s.bytes_copied);
        let b = run(seed, faults, &|c| c.replay = most);
        with += sum(&b, |s| s.bytes_copied);
        for host in &b.hosts {
            assert_eq!(host.card.lent_out(), 0, "seed {seed}: a slot is lost");
        }
    }
    (without, with)
}

#[test]
fn loss() {
    let faults = Faults {
        loss: 1500,
        ..Default::default()
    };
    let (without, with) = compare(0..60, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without * 4 / 5, "{with} of {without}");
}

#[test]
fn bursts_of_loss() {
    let faults = Faults {
        burst: 300,
        ..Default::default()
    };
    let (without, with) = compare(0..30, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without, "{with} of {without}");
}

/// Pieces that hold no whole FPDU, or the halves of some.
#[test]
fn loss_and_splitting() {
    let faults = Faults {
        loss: 1000,
        split: 6000,
        ..Default::default()
    };
    let (without, with) = compare(100..160, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without, "{with} of {without}");
}

/// Everything at once, whatever a job may have.
#[test]
fn everything_at_once() {
    let faults = Faults::EVERYTHING;
    for seed in 0..80 {
        let b = run(seed, faults, &|c| {
            c.timestamps = seed & 16 != 0;
            c.replay = [4096, 1500, 9000, 100][seed as usize / 4 % 4];
        });
        for host in &b.hosts {
            assert_eq!(host.card.lent_out(), 0, "seed {seed}: a slot is lost");
        }
    }
}

/// A card that refuses them all.
#[test]
fn refused() {
    let faults = Faults {
        loss: 1500,
        ..Default::default()
    };
    for seed in 0..20 {
        let b = run_prepared(seed, faults, &|c| c.replay = 4096, &|b| {
            for host in &mut b.hosts {
                host.card.no_replay = true;
            }
        });
        assert_eq!(sum(&b, |s| s.bytes_replayed), 0);
        // Those that follow one that was refused say nothing new.
        let (asked, failed) = (sum(&b, |s| s.replays), sum(&b, |s| s.replays_failed));
        assert_eq!(asked > 0, failed > 0, "seed {seed}");
    }
}
