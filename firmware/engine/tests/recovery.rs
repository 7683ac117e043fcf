//! Loss, reordering, duplication and re-segmentation: everything still arrives, once, in order.
//!
//! The campaign: `WEFT_RECOVERY_SEEDS` seeds of each kind of fault, from `WEFT_RECOVERY_FROM` on. Each kind is a test of its own, so that kinds and
//! ranges of seeds can run apart; each thousand seeds it says how far it is. A run that hangs, or moves a wrong byte, ends it with its seed.
#![allow(missing_docs)]

use crate::bench;

use bench::traffic::{run, run_prepared};
use bench::*;
use weft_engine::*;

fn number(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(usual)
}

/// The seeds of a kind, `usual` many unless the campaign is asked for.
fn seeds(kind: &'static str, usual: u64) -> impl Iterator<Item = u64> {
    // Environment (tests): `WEFT_RECOVERY_FROM`: the first of these seeds, to go on or to share a campaign. Without it: 0.
    let from = number("WEFT_RECOVERY_FROM", 0);
    // Environment (tests): `WEFT_RECOVERY_SEEDS`: loss recovery of the engine: how many seeds of each kind of fault. Without it: a few.
    let end = from + number("WEFT_RECOVERY_SEEDS", usual);
    (from..end).inspect(move |seed| {
        if *seed > from && seed % 1000 == 0 {
            eprintln!("{kind}: {seed} of {end}");
        }
    })
}

/// One kind of fault.
fn campaign(kind: &'static str, usual: u64, faults: Faults) {
    for seed in seeds(kind, usual) {
        run(seed, faults, &|_| ());
    }
}

#[test]
fn loss() {
    let faults = Faults {
        loss: 1500,
        ..Default::default()
    };
    campaign("loss", 60, faults);
}

#[test]
fn heavy_loss() {
    let faults = Faults {
        loss: 9000,
        ..Default::default()
    };
    for seed in seeds("heavy_loss", 20) {
        run(seed, faults, &|c| {
            c.timestamps = true;
            c.mpa_timeout = 600_000 * MS;
            c.syn_retries = 12;
            c.keepalive = Some(60_000 * MS);
        });
    }
}

#[test]
fn bursts_of_loss() {
    let faults = Faults {
        burst: 300,
        ..Default::default()
    };
    campaign("bursts_of_loss", 30, faults);
}

#[test]
fn reordering() {
    let faults = Faults {
        reorder: 6000,
        ..Default::default()
    };
    campaign("reordering", 30, faults);
}

#[test]
fn duplication() {
    let faults = Faults {
        duplicate: 6000,
        ..Default::default()
    };
    campaign("duplication", 30, faults);
}

#[test]
fn splitting() {
    let faults = Faults {
        split: 6000,
        ..Default::default()
    };
    campaign("splitting", 30, faults);
}

#[test]
fn corruption() {
    let faults = Faults {
        corrupt: 1500,
        ..Default::default()
    };
    campaign("corruption", 30, faults);
}

#[test]
fn marks() {
    let faults = Faults {
        mark: 6000,
        ..Default::default()
    };
    for seed in seeds("marks", 30) {
        run(seed, faults, &|c| c.ecn = Ecn::Ask);
    }
}

#[test]
fn reordering_duplication_and_splitting() {
    let faults = Faults {
        loss: 300,
        duplicate: 3000,
        reorder: 6000,
        split: 6000,
        mark: 3000,
        ..Default::default()
    };
    campaign("reordering_duplication_and_splitting", 60, faults);
}

/// Everything at once, under each controller in turn.
#[test]
fn everything_at_once() {
    let faults = Faults::EVERYTHING;
    for seed in seeds("everything_at_once", 40) {
        let congestion = Congestion::ALL[seed as usize / 4 % Congestion::ALL.len()];
        run(seed, faults, &|c| {
            c.congestion = congestion;
            c.timestamps = seed & 16 != 0;
        });
    }
}

#[test]
fn a_small_job_ring() {
    for seed in seeds("a_small_job_ring", 10) {
        let faults = Faults {
            loss: 500,
            ..Default::default()
        };
        let b = run_prepared(seed, faults, &|c| c.mtu = 700, &|b| {
            b.hosts[0].card.ring = 2;
            b.hosts[1].card.ring = 3;
        });
        assert!(b.hosts[0].engine.stats().jobs_full > 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    let faults = Faults {
        loss: 1500,
        duplicate: 1000,
        reorder: 2000,
        split: 1000,
        ..Default::default()
    };
    let one = run(42, faults, &|_| ());
    let two = run(42, faults, &|_| ());
    assert!(one.capture == two.capture);
    assert!(one.frames > 100);
}

#[test]
fn a_card_that_never_attaches() {
    for seed in 400..406 {
        let b = run_prepared(seed, Faults::default(), &|_| (), &|b| {
            b.hosts[0].card.no_attach = true;
        });
        assert_eq!(b.hosts[0].engine.stats().fpdus_card, 0);
        assert!(b.hosts[1].engine.stats().fpdus_card > 0);
    }
}

/// Whatever the link does, at every mix of rungs of the two ends.
#[test]
fn every_mix_of_rungs() {
    let faults = Faults {
        loss: 1000,
        duplicate: 2000,
        reorder: 4000,
        split: 4000,
        mark: 3000,
        ..Default::default()
    };
    // Ends whose card is to check, and those of them where it did.
    let (mut cards, mut worked) = (0u64, 0u64);
    for seed in seeds("rungs", 30) {
        let rung = |c: &mut EngineConfig| {
            let host = u64::from(c.mac[5] - 1);
            if seed % 3 != host {
                c.rung = [Rung::Host, Rung::Crc][seed as usize / 3 % 2];
            }
        };
        let b = run(seed, faults, &rung);
        for (n, host) in (0..).zip(&b.hosts) {
            let stats = host.engine.stats();
            assert_eq!(stats.fpdus_made > 0, seed % 3 != n, "seed {seed}");
            let checks = seed % 3 != n && seed / 3 % 2 == 0;
            assert!(!checks || stats.fpdus_card == 0, "seed {seed}");
            (cards, worked) = match checks {
                true => (cards, worked),
                false => (cards + 1, worked + u64::from(stats.fpdus_card > 0)),
            };
        }
    }
    // It may be that nothing comes in order when the card is to begin: in one run of 400.
    assert!(worked * 20 >= cards * 19, "{worked} of {cards}");
}

/// Both sides send without pause, and one frame of one side is lost: the other says so at once, although it
/// has data to send all the time, and no timer expires.
#[test]
fn a_single_loss_with_data_both_ways() {
    for (seed, timestamps) in [(500, false), (501, true), (502, false)] {
        let mut b = Bench::with(seed, &|c| c.timestamps = timestamps);
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        const SIZE: u32 = 4_000_000;
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let regions = [
            b.hosts[0].region(SIZE.into(), access),
            b.hosts[1].region(SIZE.into(), access),
        ];
        let mut big = 0;
        b.tamper = Some(Box::new(move |from, frame| {
            big += u32::from(from == 0 && frame.len() > 1400);
            !(from == 0 && frame.len() > 1400 && [200, 1200, 1201].contains(&big))
        }));
        for n in 0..2 {
            let other = regions[1 - n].0;
            let sges = [sge(regions[n].0, 0, SIZE / 2)];
            b.post_send(
                n,
                pair.qps[n],
                &write(1, other, 0x1000 + u64::from(SIZE / 2), &sges),
            )
            .unwrap();
        }
        for n in 0..2 {
            b.completions_of(n, 1, 10_000 * MS);
        }
        let stats = [b.hosts[0].engine.stats(), b.hosts[1].engine.stats()];
        assert_eq!(
            (stats[0].timeouts, stats[1].timeouts),
            (0, 0),
            "seed {seed}"
        );
        assert!(stats[0].fast_recoveries >= 2, "seed {seed}: {:?}", stats[0]);
    }
}
