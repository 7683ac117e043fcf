//! Bare acknowledgments that a full report ring merged: the engine comes to the same as with all of them.
#![allow(missing_docs)]

use crate::bench;

use bench::late::Late;
use bench::*;
use weft_engine::*;

const LENGTH: usize = 300_000;

/// What a sender comes to, and the frames that it sent for it.
#[derive(Debug, PartialEq)]
struct Outcome {
    completions: Vec<(u64, Status)>,
    received: Vec<u8>,
    sent_again: u64,
    timeouts: u64,
    recoveries: u64,
    unacceptable: u64,
    bytes_sent: usize,
}

/// Writes of one host, which handles its reports only when no new one has come for a while.
fn run(seed: u64, faults: Faults, merges: bool) -> (Outcome, u32) {
    let mut b = Bench::with(seed, &|config| {
        config.congestion = Congestion::ALL[seed as usize % Congestion::ALL.len()];
    });
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.faults = faults;
    b.late[0] = Late::fixed(usize::MAX);
    b.hosts[0].card.merges = merges;
    let (source, from) = b.hosts[0].region(LENGTH as u64, Access::LOCAL_WRITE);
    let (sink, to) = b.hosts[1].region(LENGTH as u64, Access::REMOTE_WRITE);
    let data: Vec<u8> = (0..LENGTH as u32)
        .map(|n| (n * 7 + n / 251) as u8)
        .collect();
    b.memory(0, from, LENGTH).copy_from_slice(&data);
    let mut completions = Vec::new();
    for id in 0..6 {
        let sges = [sge(source, 0, LENGTH as u32)];
        b.post_send(0, pair.qps[0], &write(id, sink, 0x1000, &sges))
            .unwrap();
        let done = b.completions_of(0, 1, 600_000 * MS);
        completions.extend(done.iter().map(|c| (c.wr_id, c.status)));
    }
    b.run(1_000 * MS);
    let stats = *b.hosts[0].engine.stats();
    let received = b.memory(1, to, LENGTH).to_vec();
    let of_host = b.capture.iter().filter(|(_, from, _)| *from == 0);
    let outcome = Outcome {
        completions,
        received,
        sent_again: stats.retransmits,
        timeouts: stats.timeouts,
        recoveries: stats.fast_recoveries,
        unacceptable: stats.acks_unacceptable,
        bytes_sent: of_host.map(|(_, _, frame)| frame.len()).sum(),
    };
    assert!(outcome.received == data, "seed {seed}");
    (outcome, b.hosts[0].card.merged)
}

#[test]
fn the_same_where_nothing_is_lost() {
    let mut merged = 0;
    for seed in 0..16 {
        let (all, none) = run(seed, Faults::default(), false);
        let (some, left_out) = run(seed, Faults::default(), true);
        assert_eq!(none, 0, "seed {seed}");
        assert_eq!(all, some, "seed {seed}");
        merged += left_out;
    }
    assert!(merged > 100, "{merged}");
}

/// What is lost differs with the first frame that goes at another time; what it comes to does not.
#[test]
fn all_is_written_with_loss_and_duplicates() {
    let faults = Faults {
        loss: 600,
        duplicate: 600,
        ..Default::default()
    };
    let mut merged = 0;
    for seed in 100..116 {
        let (all, _) = run(seed, faults, false);
        let (some, left_out) = run(seed, faults, true);
        assert_eq!(all.completions, some.completions, "seed {seed}");
        assert_eq!((all.unacceptable, some.unacceptable), (0, 0), "seed {seed}");
        merged += left_out;
    }
    assert!(merged > 100, "{merged}");
}
