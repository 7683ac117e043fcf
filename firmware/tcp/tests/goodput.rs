//! Sender and reassembly over a simulated path, to the end: every byte arrives once and in order, and how fast.
#![allow(missing_docs)]

use crate::path;

use path::*;
use weft_tcp::control::Congestion;

/// What comes through at most: payload of a full frame.
fn line(rate: u64) -> f64 {
    rate as f64 * 1460.0 / 1538.0
}

/// RFC 3819 §8.5.2 (Mathis): MSS / RTT * sqrt(3/2) / sqrt(p), in Gb/s, where that is less than the line.
fn mathis(rtt: u64, per_million: u32, rate: u64) -> f64 {
    let p = f64::from(per_million) / 1e6;
    (1.22 * 1460.0 * 8.0 / rtt as f64 / p.sqrt()).min(line(rate))
}

fn seeds(path: Path, total: u64) -> f64 {
    let all: Vec<f64> = (1..=5)
        .map(|seed| {
            let outcome = run(Path { seed, ..path }, total);
            eprintln!(
                "{} seed {seed}: {:.1} Gb/s {outcome:?}",
                path.congestion.name(),
                outcome.goodput()
            );
            outcome.goodput()
        })
        .collect();
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn every_byte_arrives_once_and_in_order() {
    for seed in 0..300u64 {
        let mut random = Random::new(seed + 1000);
        let mut of = |most: u32| {
            if random.next() % 2 == 0 {
                0
            } else {
                random.next() as u32 % most
            }
        };
        let path = Path {
            loss: of(200_000),
            ack_loss: of(200_000),
            duplicate: of(100_000),
            reorder: of(300_000),
            ..Path::default()
        };
        let path = Path {
            seed,
            congestion: Congestion::ALL[random.next() as usize % 4],
            rate: 1 + random.next() % 100,
            delay: random.next() % (200 * US),
            queue: [1 << 14, 1 << 17, 1 << 30][random.next() as usize % 3],
            window: 1 << (14 + random.next() % 8),
            places: 1 + random.next() % 40,
            mark: (random.next() % 2 == 0).then_some(30_000),
            sack: random.next() % 4 != 0,
            ..path
        };
        let outcome = run(path, random.next() % 1_000_000);
        assert!(outcome.packets > 0 || outcome.bytes == 0, "seed {seed}");
    }
}

#[test]
fn without_faults_the_line_is_full() {
    for congestion in Congestion::ALL {
        let path = Path {
            congestion,
            queue: 200_000,
            ..Path::default()
        };
        let goodput = seeds(path, 30_000_000);
        assert!(goodput > 0.9 * line(10), "{congestion:?}: {goodput}");
    }
}

/// Loss at random: Reno and CUBIC reach most of what the formula gives them (CUBIC is in its friendly region here, where it is as fast as
/// Reno by the same formula).
#[test]
fn loss_driven_controllers_are_near_the_formula() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        for (loss, share) in [(1_000, 0.6), (10_000, 0.6), (30_000, 0.3)] {
            let path = Path {
                congestion,
                loss,
                delay: 50 * US,
                rate: 100,
                ..Path::default()
            };
            let goodput = seeds(path, 20_000_000);
            let bound = mathis(2 * path.delay + 2 * US, loss, path.rate);
            assert!(
                goodput > share * bound,
                "{congestion:?}, {loss}: {goodput} of {bound}"
            );
        }
    }
}

#[test]
fn the_delay_controller_bears_loss() {
    for (loss, share) in [(10_000, 0.6), (30_000, 0.5)] {
        let path = Path {
            congestion: Congestion::Delay,
            loss,
            ..Path::default()
        };
        let goodput = seeds(path, 30_000_000);
        assert!(goodput > share * line(10), "{loss}: {goodput}");
    }
}

#[test]
fn the_delay_controller_leaves_the_queue_short() {
    let path = Path {
        congestion: Congestion::Delay,
        delay: 50 * US,
        ..Path::default()
    };
    let outcome = run(path, 30_000_000);
    let cubic = run(
        Path {
            congestion: Congestion::Cubic,
            ..path
        },
        30_000_000,
    );
    assert!(outcome.goodput() > 0.9 * line(10), "{outcome:?}");
    // 55 µs above the least, at 10 Gb/s, and what slow start goes beyond.
    assert!(outcome.queue < 300_000, "{outcome:?}");
    assert!(cubic.queue > 5 * outcome.queue, "{cubic:?}");
}

#[test]
fn reordering_costs_little() {
    for congestion in Congestion::ALL {
        let path = Path {
            congestion,
            queue: 200_000,
            ..Path::default()
        };
        let straight = seeds(path, 20_000_000);
        let shuffled = seeds(
            Path {
                reorder: 10_000,
                ..path
            },
            20_000_000,
        );
        assert!(
            shuffled > 0.75 * straight,
            "{congestion:?}: {shuffled} of {straight}"
        );
    }
}

#[test]
fn marks_keep_the_queue_short_without_loss() {
    let path = Path {
        congestion: Congestion::Dctcp,
        mark: Some(60_000),
        queue: 300_000,
        delay: 20 * US,
        ..Path::default()
    };
    let outcome = run(path, 50_000_000);
    assert_eq!(outcome.dropped, 0, "{outcome:?}");
    assert!(outcome.echoes > 10, "{outcome:?}");
    assert!(outcome.goodput() > 0.9 * line(10), "{outcome:?}");
}

/// What comes all at once, after a pause, meets a port with a short queue: at the controller's pace less of it is too much.
#[test]
fn a_pace_spares_a_short_queue() {
    let lone = Path {
        congestion: Congestion::Delay,
        delay: 20 * US,
        lone: Some((1 << 18, 200 * US)),
        ..Path::default()
    };
    let queue = |pacing: bool| run(Path { pacing, ..lone }, 10_000_000);
    let (paced, at_once) = (queue(true), queue(false));
    assert!(paced.queue * 2 < at_once.queue, "{paced:?} {at_once:?}");
}

/// Windows of a few segments, where three of a hundred are lost each way: what was sent again is lost, and the probe, and what was sent
/// behind them. The timer is 6000 round trips; a run that waits for it takes 20 ms more.
#[test]
fn small_windows_under_loss_wait_for_no_timer() {
    for congestion in Congestion::ALL {
        for seed in 0..30 {
            let path = Path {
                seed,
                congestion,
                rate: 100,
                delay: 1500,
                loss: 30_000,
                ack_loss: 30_000,
                ..Path::default()
            };
            let outcome = run(path, 3_000_000);
            let name = congestion.name();
            assert_eq!(outcome.timeouts, 0, "{name}, seed {seed}: {outcome:?}");
        }
    }
}
