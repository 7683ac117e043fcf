//! Segments on the fast path: with the same frames at the same times, and the same counts, as on the slow one.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

type Frames = Vec<(u64, usize, Vec<u8>)>;

/// Large and small messages both ways, with faults of the link.
fn run(seed: u64, faults: Faults, fast_path: bool) -> (Frames, [EngineStats; 2]) {
    let mut b = Bench::with(seed, &|config| {
        config.fast_path = fast_path;
        config.keepalive = (seed % 2 == 0).then_some(3_000 * MS);
        config.timestamps = seed % 5 == 4;
        config.congestion = Congestion::ALL[seed as usize % 4];
        config.ecn = if seed % 3 == 0 {
            Ecn::Ask
        } else {
            Ecn::WhenAsked
        };
    });
    let params = ConnectParams {
        markers: seed % 7 == 6,
        ..ConnectParams::default()
    };
    let pair = b.connect(&params, &AcceptParams::default());
    b.faults = faults;
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
    let regions = [0, 1].map(|n: usize| b.hosts[n].region(400_000, access));
    let data: Vec<u8> = (0..200_000u32).map(|n| (n * 11 + n / 253) as u8).collect();
    for (n, (_, iova)) in regions.iter().enumerate() {
        b.memory(n, *iova, 200_000).copy_from_slice(&data);
    }
    let (stags, qps) = (regions.map(|(stag, _)| stag), pair.qps);
    // The first one sends alone, then both at once.
    for (n, length) in [
        (0, 200_000),
        (1, 150_000),
        (0, 1000),
        (1, 10),
        (0, 90_001),
        (1, 70_000),
    ] {
        let sges = [sge(stags[n], 0, length)];
        let to = 0x1000 + 200_000;
        b.post_send(n, qps[n], &write(1, stags[1 - n], to, &sges))
            .unwrap();
        if length == 200_000 || length == 10 {
            b.completions_of(n, 1, 600_000 * MS);
        }
    }
    let sges = [sge(stags[0], 300_000, 50_000)];
    b.post_send(0, qps[0], &read(9, stags[1], 0x1000, &sges))
        .unwrap();
    let done = b.completions_of(0, 3, 600_000 * MS);
    assert!(done.iter().all(|c| c.status == Status::Success), "{done:?}");
    b.until("the other side", 600_000 * MS, |b| {
        b.hosts[1].completions.len() >= 2
    });
    b.run(20_000 * MS);
    for (n, (_, iova)) in regions.iter().enumerate() {
        let got = b.memory(n, *iova + 200_000, 70_000);
        assert_eq!(got, &data[..70_000], "seed {seed}");
    }
    let stats = [0, 1].map(|n: usize| *b.hosts[n].engine.stats());
    (b.capture, stats)
}

fn compare(seeds: std::ops::Range<u64>, faults: Faults) {
    for seed in seeds {
        let (short, mut short_stats) = run(seed, faults, true);
        let (long, long_stats) = run(seed, faults, false);
        // Which way they took is all that differs.
        for (short, long) in short_stats.iter_mut().zip(&long_stats) {
            assert!(short.segments_slow <= long.segments_slow, "seed {seed}");
            short.segments_slow = long.segments_slow;
            // Of the fast path alone.
            assert!(short.acks_with_data >= long.acks_with_data, "seed {seed}");
            short.acks_with_data = long.acks_with_data;
        }
        for (at, (a, b)) in short.iter().zip(&long).enumerate() {
            assert_eq!(a, b, "seed {seed}, frame {at}");
        }
        assert_eq!(short.len(), long.len(), "seed {seed}");
        assert_eq!(short_stats, long_stats, "seed {seed}");
    }
}

#[test]
fn the_same_frames_where_nothing_is_lost() {
    compare(0..12, Faults::default());
}

#[test]
fn the_same_frames_with_loss_reordering_duplicates_and_cuts() {
    let faults = Faults {
        loss: 600,
        duplicate: 600,
        reorder: 1500,
        split: 600,
        mark: 3000,
        ..Default::default()
    };
    compare(100..124, faults);
}
