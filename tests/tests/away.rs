//! A host that does not look at its card for a while, because its program computes, is stopped, or sleeps: its absence is not the card's.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{SendWr, WcStatus};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::pair::Pair;
use weft_sim::transport::lock;

const SECOND: u64 = 1_000_000_000;
const BYTES: usize = 100_000;

/// The first host and all cards go on for `ns`; the second one calls nothing.
fn without_the_second(fabric: &Fabric, ns: u64) {
    let end = fabric.now() + ns;
    let device = fabric.device(0);
    while fabric.now() < end {
        while device.progress().expect("the first device works") > 0 {}
        let next = device
            .next_deadline()
            .unwrap_or(end)
            .clamp(fabric.now() + 1000, end);
        lock(fabric.world())
            .run(Some(next))
            .expect("the cards work");
    }
}

#[test]
fn a_host_that_was_away_for_long_finds_its_device_as_it_was() {
    for away in [9, 11, 70] {
        for posted in [false, true] {
            let fabric = Fabric::new(&FabricConfig::default()).expect("two cards come up");
            let way = ConnParam::default();
            let mut pair =
                Pair::connect(&fabric, 4000, &way, &way, &[7; BYTES], BYTES).expect("a pair");
            pair.established().expect("established");
            let [a, b] = &pair.ends;
            fabric.run_for(1_000_000).expect("runs");
            assert_eq!(fabric.device(1).jobs_outstanding(), 0, "all is at rest");
            if posted {
                // The last thing that the host does is a post: its job is done while nobody looks.
                let wr = SendWr::write(1, a.target.remote()).signaled();
                b.qp.post_send(wr.sge(b.source.sge(0, 64))).expect("room");
                assert_ne!(fabric.device(1).jobs_outstanding(), 0);
            }
            let wr = SendWr::write(2, b.target.remote()).signaled();
            a.qp.post_send(wr.sge(a.source.sge(0, BYTES as u32)))
                .expect("room");
            without_the_second(&fabric, away * SECOND);
            for end in [Some(0), posted.then_some(1)].into_iter().flatten() {
                let wc = pair
                    .completion(end, "a Write")
                    .unwrap_or_else(|error| panic!("away {away} s: {error}"));
                assert_eq!(wc.status, WcStatus::Success);
            }
        }
    }
}
