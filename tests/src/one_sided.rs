//! What a peer sees of a target whose program computes, by rung: a Write of 64 KiB, and a Read of it behind. In simulated time, where software takes none.

use std::fmt::Write;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::SendWr;
use weft_hostdrv::Rung;
use weft_sim::fabric::{Fabric, FabricConfig};

use crate::bench::Bench;
use crate::ends::{connected, pattern};

/// Bytes of both.
const BYTES: usize = 64 << 10;
/// Less than a first flight.
const FIRST: usize = 8 << 10;
/// The target's program is away for so long.
const AWAY_NS: u64 = 1_000_000;
/// How often it is looked.
const LOOK_NS: u64 = 500;

/// What the target does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Polls,
    /// Nobody calls in for it.
    Computes,
    /// Its device drives itself meanwhile.
    IsDriven,
}

/// When, in ns since both were posted, and the peer's timers that expired.
struct Seen {
    first: u64,
    placed: u64,
    written: u64,
    read: u64,
    timeouts: u64,
}

fn seen(rung: Rung, target: Target) -> Seen {
    let config = FabricConfig {
        rungs: vec![rung; 2],
        ..FabricConfig::default()
    };
    let bench = Bench::from(Fabric::new(&config).expect("two devices come up"));
    let pair = connected(bench, &ConnParam::default(), &ConnParam::default());
    let [near, far] = [0, 1].map(|n| pair.bench.device(n).clone());
    let sent = pattern(BYTES, 1);
    pair.a.mr.write(0, &sent).expect("inside");
    let (qp, there) = (pair.qps().0, pair.b.mr.remote());
    let _drive = (target == Target::IsDriven).then(|| far.drive().expect("a thread"));
    let (begun, before) = (near.now(), near.engine_stats().timeouts);
    let write = SendWr::write(1, there).sge(pair.a.mr.sge(0, BYTES as u32));
    let read = SendWr::read(2, there).sge(pair.a.mr.sge(BYTES as u64, BYTES as u32));
    qp.post_send(write.signaled()).expect("room");
    qp.post_send(read.signaled()).expect("room");
    let (mut placed, mut done) = ([None; 2], [None; 2]);
    loop {
        near.progress().expect("it works");
        let after = near.now() - begun;
        if target == Target::Polls || after >= AWAY_NS {
            far.progress().expect("it works");
        }
        for (placed, bytes) in placed.iter_mut().zip([FIRST, BYTES]) {
            let there = pair.b.mr.to_vec(0, bytes);
            if placed.is_none() && there.is_ok_and(|there| there == sent[..bytes]) {
                *placed = Some(after);
            }
        }
        while let Some(wc) = pair.a.cq.poll_one().expect("it works") {
            done[wc.wr_id as usize - 1] = Some(after);
        }
        if let ([Some(first), Some(placed)], [Some(written), Some(read)]) = (placed, done) {
            assert_eq!(pair.a.mr.to_vec(BYTES, BYTES), Ok(sent));
            let timeouts = near.engine_stats().timeouts - before;
            return Seen {
                first,
                placed,
                written,
                read,
                timeouts,
            };
        }
        near.wait(Some(near.now() + LOOK_NS)).expect("it works");
    }
}

/// The table of `docs/partitions.md`.
///
/// # Panics
/// If something does not work.
#[must_use]
pub fn table() -> String {
    let mut out = String::from(
        "| rung | the target's program | 8 KiB there, µs | 64 KiB there | Write complete | Read complete | the peer's timeouts |\n|---|---|---|---|---|---|---|\n",
    );
    for rung in [Rung::Host, Rung::Crc, Rung::Placement] {
        let all = [
            (Target::Polls, "polls"),
            (Target::Computes, "computes for 1 ms"),
            (Target::IsDriven, "the same, its device driven"),
        ];
        for (target, what) in all {
            let Seen {
                first,
                placed,
                written,
                read,
                timeouts,
            } = seen(rung, target);
            let us = |ns: u64| format!("{:.0}", ns as f64 / 1000.0);
            let name = match target {
                Target::Polls => rung.to_string(),
                Target::Computes | Target::IsDriven => String::new(),
            };
            writeln!(
                out,
                "| {name} | {what} | {} | {} | {} | {} | {timeouts} |",
                us(first),
                us(placed),
                us(written),
                us(read)
            )
            .expect("a string");
        }
    }
    out
}
