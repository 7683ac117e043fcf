//! Two simulated cards in a world that tests can look into and make worse. What holds over every transport is in
//! `transports`.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::Rung;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, pattern, End, Pair};

fn bench(seed: u64) -> Bench {
    Bench::new(&Way::Sim, seed).expect("two cards come up")
}

#[test]
fn the_same_seed_the_same_run() {
    let run = || {
        let pair = connected(bench(8), &ConnParam::default(), &ConnParam::default());
        let (cq, _) = pair.qps();
        let Pair { bench, a, b, .. } = &pair;
        cq.post_send(
            SendWr::write(1, b.mr.remote())
                .sge(a.mr.sge(0, 100_000))
                .signaled(),
        )
        .expect("room");
        completion(bench, &a.cq);
        let d = bench.device(0);
        (
            d.now(),
            d.host_stats(),
            d.engine_stats(),
            d.counters().expect("readable"),
            a.mr.addr(),
            a.mr.rkey(),
        )
    };
    assert_eq!(run(), run());
}

#[test]
fn a_link_that_loses_reorders_and_repeats() {
    use weft_sim::link::LinkConfig;
    for seed in 0..20u64 {
        let rungs = match seed % 6 {
            0 => [Rung::Host, Rung::CrcSend],
            1 => [Rung::Host, Rung::Placement],
            2 => [Rung::Placement, Rung::Host],
            3 => [Rung::Crc, Rung::Crc],
            4 => [Rung::Crc, Rung::Placement],
            _ => [Rung::Placement; 2],
        };
        let bench = Bench::at(&Way::Sim, seed, rungs).expect("two cards come up");
        let fabric = bench.fabric().expect("simulated");
        let (a, b) = (End::new(fabric.device(0)), End::new(fabric.device(1)));
        let _listener = b.listen(&bench);
        let client = a.client(&bench, &ConnParam::default());
        let server = b.accept_next(&bench);
        next_event(&bench, &a.channel, CmEventType::Established);
        next_event(&bench, &b.channel, CmEventType::Established);
        let faults = weft_sim::link::Faults {
            loss: 10_000,
            duplicate: 10_000,
            reorder: 10_000,
            corrupt: 5_000,
            resegment: 50_000,
        };
        let lossy = LinkConfig {
            faults,
            ..LinkConfig::default()
        };
        weft_sim::transport::lock(fabric.world())
            .link(0)
            .set_config(lossy);
        let qp = client.qp().expect("has one");
        let bytes = pattern(200_000, seed as u8);
        a.mr.write(0, &bytes).expect("inside");
        let sq = server.qp().expect("has one");
        sq.post_recv(RecvWr::new(1).sge(b.mr.sge(0, 200_000)))
            .expect("room");
        qp.post_send(SendWr::send(2).sge(a.mr.sge(0, 200_000)).signaled())
            .expect("room");
        qp.post_send(
            SendWr::write(3, b.mr.remote().offset(200_001))
                .sge(a.mr.sge(0, 90_000))
                .signaled(),
        )
        .expect("room");
        qp.post_send(
            SendWr::read(4, b.mr.remote().offset(200_001))
                .sge(a.mr.sge(200_003, 90_000))
                .signaled()
                .fence(),
        )
        .expect("room");
        assert_eq!(completion(&bench, &b.cq).wr_id, 1);
        assert_eq!(b.mr.to_vec(0, 200_000).expect("inside"), bytes);
        for wr_id in [2, 3, 4] {
            let wc = completion(&bench, &a.cq);
            assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
        }
        assert_eq!(
            a.mr.to_vec(200_003, 90_000).expect("inside"),
            bytes[..90_000]
        );
        no_faults(&bench);
        for (n, rung) in rungs.into_iter().enumerate() {
            let stats = fabric.device(n).engine_stats();
            assert_eq!(stats.fpdus_made > 60, rung != Rung::Placement, "{seed}");
            let checks = [Rung::Host, Rung::CrcSend].contains(&rung);
            assert_eq!(stats.fpdus_card == 0, checks, "{seed}");
        }
        println!(
            "{seed}: {} ns, {:?}",
            fabric.now(),
            fabric.device(1).host_stats().bytes_copied_in
        );
    }
}
