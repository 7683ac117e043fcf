//! Jobs that somebody waits for are written into the card; a long message is told of seldom.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::device::RingSizes;
use weft_hostdrv::verbs::{SendWr, WcStatus};
use weft_hostdrv::HostStats;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::pair::{Operation, Pair};

const LONG: usize = 1 << 20;

fn fabric(kind: CardKind, push: u32) -> Fabric {
    Fabric::new(&FabricConfig {
        cards: vec![kind; 2],
        rings: RingSizes {
            push,
            ..RingSizes::default()
        },
        ..FabricConfig::default()
    })
    .expect("two cards come up")
}

fn pair(fabric: &Fabric) -> Pair<'_> {
    let quiet = ConnParam::default();
    let source: Vec<u8> = (0..LONG).map(|n| (n ^ n >> 9) as u8).collect();
    let mut pair = Pair::connect(fabric, 4000, &quiet, &quiet, &source, LONG).expect("connects");
    pair.established().expect("both");
    fabric.run_for(100_000).expect("the handshake's end");
    pair
}

/// Cycles of ten inline Sends each way, one after the other, and what both hosts counted.
fn small_sends(kind: CardKind, push: u32) -> (u64, [HostStats; 2]) {
    let fabric = fabric(kind, push);
    let pair = pair(&fabric);
    let before = [0, 1].map(|n| fabric.device(n).host_stats());
    let mut cycles = 0;
    for n in 0..10u8 {
        for from in [0, 1] {
            let bytes = [n * 2 + from as u8; 48];
            let send = SendWr::send(2).inline(&bytes);
            cycles += pair.send(from, 64, bytes.len(), send).expect("arrives");
            let is = pair.ends[1 - from].target.to_vec(64, bytes.len());
            assert_eq!(is.expect("its own"), bytes, "{kind}, push {push}, {n}");
        }
    }
    let counted = [0, 1].map(|n| fabric.device(n).host_stats().since(&before[n]));
    (cycles, counted)
}

#[test]
fn a_job_that_is_waited_for_is_not_fetched() {
    for kind in CardKind::available() {
        let (rung, without) = small_sends(kind, 0);
        let (pushed, with) = small_sends(kind, 2);
        for (without, with) in without.iter().zip(&with) {
            assert_eq!(without.jobs_pushed, 0, "{kind}");
            assert!(with.jobs_pushed >= 10, "{kind}: {with:?}");
            assert!(without.doorbells > with.doorbells, "{kind}");
        }
        // 100 cycles of each Send are the read of its job.
        println!("{kind}: {rung} cycles by the doorbell, {pushed} pushed");
        assert!(pushed + 20 * 70 <= rung, "{kind}: {pushed}, {rung}");
    }
}

#[test]
fn a_long_write_is_told_of_once_for_many_segments() {
    for kind in CardKind::available() {
        let fabric = fabric(kind, RingSizes::default().push);
        let mut pair = pair(&fabric);
        // The congestion window opens with the first ones.
        for _ in 0..4 {
            pair.transfer(Operation::Write, 0, 0, 0, LONG)
                .expect("a Write");
        }
        let before = fabric.device(0).host_stats();
        pair.transfer(Operation::Write, 0, 0, 0, LONG)
            .expect("a Write");
        let counted = fabric.device(0).host_stats().since(&before);
        let segments = LONG as u64 / 1440;
        println!("{kind}: {segments} segments, {counted:?}");
        assert!(counted.jobs * 16 <= segments + 32, "{kind}: {counted:?}");
        assert_eq!(counted.jobs_pushed, 0, "{kind}: nobody waits for them");
    }
}

/// All doorbells, of both sides: jobs, acknowledgments, room returned, interrupts asked for. Each host sleeps until its own card wakes it.
#[test]
fn a_long_write_rings_once_for_sixteen_segments() {
    for kind in CardKind::available() {
        let fabric = fabric(kind, RingSizes::default().push);
        let pair = pair(&fabric);
        let [a, b] = &pair.ends;
        let write = || {
            let write = SendWr::write(3, b.target.remote()).sge(a.source.sge(0, LONG as u32));
            a.qp.post_send(write.signaled()).expect("posted");
            let poll = || a.cq.poll_one().expect("polled");
            let limit = 10_000_000;
            let done = fabric.run_asleep_until("the Write's completion", limit, poll);
            assert_eq!(done.expect("in time").status, WcStatus::Success);
        };
        // The congestion window opens, and the hosts learn to wait, with the first ones.
        (0..4).for_each(|_| write());
        let before = [0, 1].map(|n| fabric.device(n).host_stats());
        write();
        let segments = LONG as u64 / 1440;
        for (n, side) in ["sender", "receiver"].iter().enumerate() {
            let counted = fabric.device(n).host_stats().since(&before[n]);
            println!("{kind}, {side}: {segments} segments, {counted:?}");
            assert!(
                counted.doorbells * 16 <= segments,
                "{kind}, {side}: {counted:?}"
            );
        }
    }
}
