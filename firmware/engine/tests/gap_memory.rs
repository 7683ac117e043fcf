//! Memory for what lies beyond gaps is the engine's, and bounded: what has no room is dropped and comes again, and stops nobody.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

#[test]
fn streams_go_on_when_the_memory_for_gaps_is_used_up() {
    for seed in 0..8 {
        let mut b = Bench::with(seed, &|config| {
            config.reassembly_memory = 4 * 4096;
            config.memory.reserve = 4096;
        });
        let pairs: Vec<Pair> = (0..3)
            .map(|_| b.connect(&ConnectParams::default(), &AcceptParams::default()))
            .collect();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let (from, iova) = b.hosts[0].region(150_000, access);
        let data: Vec<u8> = (0..150_000u32).map(|n| (n * 5 + n / 255) as u8).collect();
        b.memory(0, iova, 150_000).copy_from_slice(&data);
        let sinks: Vec<(u32, u64)> = (0..3).map(|_| b.hosts[1].region(150_000, access)).collect();
        b.faults.loss = 2500;
        for (pair, (to, _)) in pairs.iter().zip(&sinks) {
            let sges = [sge(from, 0, 150_000)];
            b.post_send(0, pair.qps[0], &write(1, *to, 0x1000, &sges))
                .unwrap();
        }
        let done = b.completions_of(0, 3, 600_000 * MS);
        assert!(done.iter().all(|c| c.status == Status::Success), "{done:?}");
        for (_, iova) in &sinks {
            assert_eq!(b.memory(1, *iova, 150_000), &data[..], "seed {seed}");
        }
        let stats = b.hosts[1].engine.stats();
        assert!(stats.segments_without_memory > 0, "seed {seed}: {stats:?}");
        assert_eq!(stats.resets_sent + stats.resets_received, 0, "seed {seed}");
    }
}

/// With as much as a window for each nothing is dropped.
#[test]
fn nothing_is_dropped_where_there_is_enough() {
    let mut b = Bench::new(5);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let from = b.hosts[0].region(400_000, access).0;
    let to = b.hosts[1].region(400_000, access).0;
    b.faults.loss = 2500;
    let sges = [sge(from, 0, 400_000)];
    b.post_send(0, pair.qps[0], &write(1, to, 0x1000, &sges))
        .unwrap();
    b.completions_of(0, 1, 600_000 * MS);
    let stats = b.hosts[1].engine.stats();
    assert_eq!(stats.segments_without_memory, 0, "{stats:?}");
    assert!(stats.segments_raw > 0);
}
