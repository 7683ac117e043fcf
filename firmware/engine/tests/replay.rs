//! What comes while a flow is detached stays in its raw slot, and the card walks over it again: every byte is where it is without that, and fewer
//! were copied.
#![allow(missing_docs)]

mod bench;

use bench::traffic::{run, run_prepared};
use bench::*;
use weft_engine::*;
use weft_layout::replay_outcome;

/// Of both hosts.
fn sum(b: &Bench, of: impl Fn(&EngineStats) -> u64) -> u64 {
    b.hosts.iter().map(|host| of(host.engine.stats())).sum()
}

/// Seeds with and without replay: what they copied, the engine's copies and those out of the slots; and the replays that a card refused.
fn compare(seeds: std::ops::Range<u64>, faults: Faults, most: u16) -> (u64, u64, u32) {
    let (mut without, mut with, mut refused) = (0, 0, 0);
    for seed in seeds {
        let plain = run(seed, faults, &|_| ());
        without += sum(&plain, |s| s.bytes_copied);
        let b = run(seed, faults, &|c| c.replay = most);
        with += sum(&b, |s| s.bytes_copied);
        for host in &b.hosts {
            assert_eq!(host.card.lent_out(), 0, "seed {seed}: a slot is lost");
            refused += host.card.replays[usize::from(replay_outcome::REFUSED)];
        }
    }
    (without, with, refused)
}

#[test]
fn loss() {
    let faults = Faults {
        loss: 1500,
        ..Default::default()
    };
    let (without, with, refused) = compare(0..60, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without * 4 / 5, "{with} of {without}");
    assert_eq!(refused, 0, "each begins where the card is");
}

#[test]
fn bursts_of_loss() {
    let faults = Faults {
        burst: 300,
        ..Default::default()
    };
    let (without, with, refused) = compare(0..30, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without, "{with} of {without}");
    assert_eq!(refused, 0, "each begins where the card is");
}

/// Pieces that hold no whole FPDU, or the halves of some.
#[test]
fn loss_and_splitting() {
    let faults = Faults {
        loss: 1000,
        split: 6000,
        ..Default::default()
    };
    let (without, with, refused) = compare(100..160, faults, 4096);
    eprintln!("{without} {with}");
    assert!(with < without, "{with} of {without}");
    assert!(refused > 0, "none behind a half");
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

/// The connection ends while the card is asked to walk over its slots: they are free when it has read them, not before.
#[test]
fn ended_in_the_middle() {
    let mut ended = 0;
    for seed in 0..40 {
        let mut b = Bench::with(seed, &|c| c.replay = 4096);
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        let (source, _) = b.hosts[0].region(20_000, Access::LOCAL_WRITE);
        let (sink, _) = b.hosts[1].region(20_000, Access::LOCAL_WRITE | Access::REMOTE_WRITE);
        b.faults.loss = 3000;
        for id in 0..8 {
            let sges = [sge(source, 0, 20_000)];
            b.post_send(0, pair.qps[0], &write(id, sink, 0x1000, &sges))
                .unwrap();
        }
        b.until("a replay, or the end", 60_000 * MS, |b| {
            b.hosts[1].card.will_replay() || b.hosts[0].completions.len() == 8
        });
        ended += u64::from(b.hosts[1].card.will_replay());
        b.call(1, |e, now, card| e.abort(now, pair.conns[1], card))
            .unwrap();
        // No report comes any more.
        b.hosts[1].card.mac = [6; 6];
        b.run(10 * MS);
        assert_eq!(b.hosts[1].card.lent_out(), 0, "seed {seed}: a slot is lost");
    }
    assert!(ended > 20, "{ended} of 40 in the middle");
}
