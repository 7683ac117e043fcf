//! Loss, reordering, duplication and re-segmentation: everything still arrives, once, in order.
#![allow(missing_docs)]

mod bench;

use bench::*;
use weft_engine::*;

/// Seeds of each kind; WEFT_RECOVERY_SEEDS asks for more.
fn seeds(usual: u64) -> u64 {
    std::env::var("WEFT_RECOVERY_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(usual)
}

/// One seed's run: both sides send, write and read at random while the link misbehaves.
fn run(seed: u64, faults: Faults, change: &dyn Fn(&mut EngineConfig)) -> Bench {
    run_prepared(seed, faults, change, &|_| ())
}

fn run_prepared(
    seed: u64,
    faults: Faults,
    change: &dyn Fn(&mut EngineConfig),
    prepare: &dyn Fn(&mut Bench),
) -> Bench {
    let mut b = Bench::with(seed, change);
    prepare(&mut b);
    let markers = seed & 1 != 0;
    let params = ConnectParams {
        markers,
        ..Default::default()
    };
    let accept = AcceptParams {
        markers: seed & 2 != 0,
        ..Default::default()
    };
    // With heavy loss even ARP may be given up: the connection is made first.
    if faults.loss <= 5000 {
        b.faults = faults;
    }
    b.report_delay = 500 + seed % 7 * 3000;
    let pair = b.connect(&params, &accept);
    b.faults = faults;
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK;
    const SIZE: u64 = 600_000;
    let regions = [
        b.hosts[0].region(SIZE, access),
        b.hosts[1].region(SIZE, access),
    ];
    // Lower half: sources. Upper half: sinks.
    for (n, region) in regions.iter().enumerate() {
        let iova = region.1;
        for (i, byte) in b.memory(n, iova, SIZE as usize / 2).iter_mut().enumerate() {
            *byte = (i * 13 + i / 255 + n * 101) as u8;
        }
    }
    struct Expected {
        host: usize,
        at: u64,
        length: u32,
        from: u64,
    }
    let mut expected = Vec::new();
    let mut sink = [SIZE / 2; 2];
    let mut sent = [0u64; 2];
    let mut received = [0u64; 2];
    for round in 0..12u64 {
        for n in 0..2usize {
            let length = match b.random() % 4 {
                0 => b.random() % 64,
                1 => b.random() % 1500,
                _ => b.random() % 20_000,
            };
            let from = u64::from(b.random()) % (SIZE / 2 - 20_000);
            let other = 1 - n;
            match b.random() % 3 {
                0 => {
                    let at = sink[other];
                    sink[other] += u64::from(length) + 5;
                    expected.push(Expected {
                        host: other,
                        at,
                        length,
                        from,
                    });
                    b.post_recv(
                        other,
                        pair.qps[other],
                        received[other],
                        &[
                            sge(regions[other].0, at, length / 2),
                            sge(
                                regions[other].0,
                                at + u64::from(length / 2),
                                length - length / 2,
                            ),
                        ],
                    )
                    .unwrap();
                    received[other] += 1;
                    b.post_send(
                        n,
                        pair.qps[n],
                        &send(round, &[sge(regions[n].0, from, length)]),
                    )
                    .unwrap();
                }
                1 => {
                    let at = sink[other];
                    sink[other] += u64::from(length) + 5;
                    expected.push(Expected {
                        host: other,
                        at,
                        length,
                        from,
                    });
                    b.post_send(
                        n,
                        pair.qps[n],
                        &write(
                            round,
                            regions[other].0,
                            0x1000 + at,
                            &[sge(regions[n].0, from, length)],
                        ),
                    )
                    .unwrap();
                }
                _ => {
                    let at = sink[n];
                    sink[n] += u64::from(length) + 5;
                    expected.push(Expected {
                        host: n,
                        at,
                        length,
                        from,
                    });
                    b.post_send(
                        n,
                        pair.qps[n],
                        &read(
                            round,
                            regions[other].0,
                            0x1000 + from,
                            &[sge(regions[n].0, at, length)],
                        ),
                    )
                    .unwrap();
                }
            }
            sent[n] += 1;
        }
        if b.random() % 2 == 0 {
            let pause = u64::from(b.random() % 200) * US;
            b.run(pause);
        }
    }
    for n in 0..2 {
        let want = (sent[n] + received[n]) as usize;
        b.until("all completions", 3_000_000 * MS, |b| {
            b.hosts[n].completions.len() >= want
        });
        let done = std::mem::take(&mut b.hosts[n].completions);
        assert!(
            done.iter().all(|c| c.status == Status::Success),
            "seed {seed}: {done:?}"
        );
        let ids = |recv: bool| -> Vec<u64> {
            done.iter()
                .filter(|c| (c.opcode == Opcode::Recv) == recv)
                .map(|c| c.wr_id)
                .collect()
        };
        assert_eq!(ids(false), (0..sent[n]).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(
            ids(true),
            (0..received[n]).collect::<Vec<_>>(),
            "seed {seed}"
        );
    }
    for e in &expected {
        let source = 1 - e.host;
        let data = b
            .memory(source, regions[source].1 + e.from, e.length as usize)
            .to_vec();
        assert!(
            b.memory(e.host, regions[e.host].1 + e.at, e.length as usize) == &data[..],
            "seed {seed}"
        );
    }
    b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
        .unwrap();
    for n in 0..2 {
        let event = b.event_of(n, 1_000_000 * MS);
        let Event::Disconnected { reason, .. } = event else {
            panic!("seed {seed}: {event:?}");
        };
        // With heavy loss the last FIN may be given up.
        let orderly = matches!(reason, DisconnectReason::Local | DisconnectReason::Peer);
        assert!(orderly || faults.loss > 5000, "seed {seed}: {reason:?}");
        let stats = *b.hosts[n].engine.stats();
        assert_eq!(stats.terminates_sent, 0, "seed {seed}: {stats:?}");
    }
    b
}

#[test]
fn loss() {
    for seed in 0..seeds(60) {
        run(
            seed,
            Faults {
                loss: 1500,
                ..Default::default()
            },
            &|_| (),
        );
    }
}

#[test]
fn heavy_loss() {
    for seed in 100..100 + seeds(20) {
        run(
            seed,
            Faults {
                loss: 9000,
                ..Default::default()
            },
            &|c| {
                c.timestamps = true;
                c.mpa_timeout = 600_000 * MS;
                c.syn_retries = 12;
                c.keepalive = Some(60_000 * MS);
            },
        );
    }
}

#[test]
fn reordering_duplication_and_splitting() {
    for seed in 200..200 + seeds(60) {
        let faults = Faults {
            loss: 300,
            duplicate: 3000,
            reorder: 6000,
            split: 6000,
            mark: 3000,
        };
        run(seed, faults, &|_| ());
    }
}

#[test]
fn a_small_job_ring() {
    for seed in 300..300 + seeds(10) {
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
        mark: 0,
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
    };
    for seed in 500..500 + seeds(30) {
        let rung = |c: &mut EngineConfig| {
            let host = u64::from(c.mac[5] - 1);
            if seed % 3 != host {
                c.rung = Rung::Host;
            }
        };
        let b = run(seed, faults, &rung);
        for (n, host) in (0..).zip(&b.hosts) {
            let stats = host.engine.stats();
            assert_eq!(stats.fpdus_made > 0, seed % 3 != n, "seed {seed}");
            assert_eq!(stats.fpdus_card == 0, seed % 3 != n, "seed {seed}");
        }
    }
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
