//! What hosts and cards add to a path is not taken for the path's: samples of `examples/replay_cost.rs` and `examples/late_host.rs`.

use weft_hostdrv::Congestion;
use weft_sim::link::Faults;
use weft_tests::goodput::{late_hosts, measure, Run, CONTROLLERS, HARM};

/// The delayed acknowledgment that a probe of a lone segment allows for: nobody has to wait for it.
const TIMER_NS: u64 = 40_000_000;

/// Half of what the examples move: 16 Writes.
fn sample(seed: u64, congestion: Congestion, faults: Faults) -> Run {
    Run {
        seed,
        congestion,
        faults,
        writes: 16,
        depth: 4,
        ..Run::default()
    }
}

/// A window that stands still so that the card gets its flow back was opened by one acknowledgment. If that was lost the sender waited for its timer
/// of 200 ms: 2 of these 60 runs.
#[test]
fn no_run_with_replays_waits_for_a_timer() {
    let [a, b, c, ..] = HARM;
    let mut replays = 0;
    for (harm, faults) in [a, b, c] {
        for congestion in CONTROLLERS {
            for seed in 1..=5 {
                let run = sample(seed, congestion, faults);
                let replayed = measure(&run).expect("all Writes complete");
                assert!(
                    replayed.longest_ns < TIMER_NS,
                    "{congestion:?}, {harm}, seed {seed}: {replayed:?}"
                );
                replays += replayed.receiver.replays;
            }
        }
    }
    assert!(replays > 10_000, "{replays}");
}

#[test]
fn replays_cost_no_goodput() {
    for congestion in [Congestion::Cubic, Congestion::Delay] {
        let (_, faults) = HARM[1];
        let mut ratios: Vec<f64> = (1..=5)
            .map(|seed| {
                let run = sample(seed, congestion, faults);
                let replayed = measure(&run).expect("all Writes complete");
                let copied = measure(&Run {
                    replay: false,
                    ..run
                })
                .expect("all Writes complete");
                assert!(replayed.receiver.bytes_copied < copied.receiver.bytes_copied);
                replayed.gbps / copied.gbps
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        assert!(ratios[2] >= 0.95, "{congestion:?}: {ratios:?}");
    }
}

/// Whichever host looks seldom, and however seldom, the delay of the path is what the cards see of it.
#[test]
fn a_host_that_looks_seldom_is_not_a_long_path() {
    for look_ns in late_hosts() {
        let [cubic, delay] = [Congestion::Cubic, Congestion::Delay].map(|congestion| {
            measure(&Run::late(congestion, look_ns))
                .expect("all Writes complete")
                .gbps
        });
        assert!(delay >= 0.9 * cubic, "{look_ns:?}: {delay} of {cubic} Gb/s");
    }
}

/// All that had come while a host was away is taken before any timer: what was acknowledged long ago is not sent again.
#[test]
fn no_timer_expires_because_its_host_was_away() {
    for away in [3_000_000, 300_000_000] {
        let run = Run {
            writes: 20,
            ..Run::late(Congestion::Cubic, [away, 20_000])
        };
        let goodput = measure(&run).expect("all Writes complete");
        assert_eq!(goodput.sender.timeouts, 0, "{away}");
        assert_eq!(goodput.sender.retransmits, 0, "{away}");
    }
}
