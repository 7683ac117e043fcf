//! What a run of the recovery campaign carries: both sides send, write and read at random while the link misbehaves, and every byte has to be
//! right in the end.

use super::*;

/// Beyond so much loss even ARP and the last FIN may be given up.
pub const HEAVY: u32 = 5000;

/// So many Writes of 64 KiB from host 0 to host 1, four of them under way at a time.
pub fn long_writes(b: &mut Bench, pair: &Pair, count: u64) {
    let (source, _) = b.hosts[0].region(1 << 16, Access::LOCAL_WRITE);
    let (sink, _) = b.hosts[1].region(1 << 16, Access::REMOTE_WRITE);
    for id in 0..count {
        let sges = [sge(source, 0, 1 << 16)];
        b.post_send(0, pair.qps[0], &write(id, sink, 0x1000, &sges))
            .unwrap();
        b.until("a completion", 60_000 * MS, |b| {
            b.hosts[0].completions.len() as u64 + 4 > id
        });
    }
}

/// The same of Reads: host 1 has what host 0 has.
pub fn long_reads(b: &mut Bench, pair: &Pair, count: u64) {
    const LENGTH: u32 = 1 << 16;
    let (source, from) = b.hosts[0].region(LENGTH.into(), Access::REMOTE_READ);
    let (sink, to) = b.hosts[1].region(LENGTH.into(), Access::READ_SINK);
    for id in 0..count {
        for (n, byte) in b.memory(0, from, LENGTH as usize).iter_mut().enumerate() {
            *byte = if id < 4 { (n / 7 + n) as u8 } else { *byte };
        }
        let sges = [sge(sink, 0, LENGTH)];
        b.post_send(1, pair.qps[1], &read(id, source, 0x1000, &sges))
            .unwrap();
        b.until("a completion", 60_000 * MS, |b| {
            b.hosts[1].completions.len() as u64 + 4 > id
        });
    }
    b.until("all completions", 60_000 * MS, |b| {
        b.hosts[1].completions.len() as u64 == count
    });
    let bytes = b.memory(0, from, LENGTH as usize).to_vec();
    assert!(b.memory(1, to, LENGTH as usize) == bytes);
}

/// Of Sends to host 1, Writes to it and Reads of it, of up to 64 KiB, each behind the other: what comes is right and in order.
pub fn long_mix(b: &mut Bench, pair: &Pair, count: u64) {
    const LENGTH: u32 = 1 << 16;
    let access = Access::LOCAL_WRITE | Access::REMOTE_READ;
    let (source, from) = b.hosts[0].region(LENGTH.into(), access);
    let (target, to) = b.hosts[1].region(
        u64::from(LENGTH) * 10,
        Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK,
    );
    for (n, octet) in b.memory(0, from, LENGTH as usize).iter_mut().enumerate() {
        *octet = (n / 7 + n) as u8;
    }
    let lengths: Vec<u32> = (0..3 * count)
        .map(|_| match b.random() % 3 {
            0 => b.random() % 200,
            1 => b.random() % 8000,
            _ => b.random() % LENGTH,
        })
        .collect();
    let of = |id: u64| lengths[id as usize];
    let place = |slot: u64| slot * u64::from(LENGTH);
    let mut seen = 0;
    for id in 0..3 * count {
        let slot = id % 8;
        let all = [sge(target, place(slot), LENGTH)];
        b.post_recv(1, pair.qps[1], id, &all).unwrap();
        let sges = [sge(source, 0, of(id))];
        b.post_send(0, pair.qps[0], &send(id, &sges)).unwrap();
        if id % 3 == 0 {
            let at = 0x1000 + place(8);
            b.post_send(0, pair.qps[0], &write(id, target, at, &sges))
                .unwrap();
        }
        if id % 5 == 0 {
            let sink = [sge(target, place(9), of(id))];
            b.post_send(1, pair.qps[1], &read(id, source, 0x1000, &sink))
                .unwrap();
        }
        let done = |b: &Bench, n: usize, recv: bool| {
            let all = b.hosts[n].completions.iter();
            all.filter(|c| (c.opcode == Opcode::Recv) == recv).count() as u64
        };
        b.until("completions", 60_000 * MS, |b| {
            done(b, 1, true) + 4 > id && done(b, 1, false) + 2 > id / 5
        });
        let got = b.hosts[1].completions.iter();
        let got: Vec<_> = got.filter(|c| c.opcode == Opcode::Recv).collect();
        let new: Vec<_> = got[seen..].iter().map(|c| (c.wr_id, c.byte_len)).collect();
        seen = got.len();
        for (id, length) in new {
            assert_eq!(length, of(id));
            let (at, length) = (to + place(id % 8), length as usize);
            let sent = b.memory(0, from, length).to_vec();
            assert!(b.memory(1, at, length) == sent, "Send {id}");
            b.memory(1, at, length).fill(0);
        }
    }
    let all = |b: &Bench| b.hosts[1].completions.len() as u64;
    let reads = (3 * count).div_ceil(5);
    b.until("all completions", 60_000 * MS, |b| {
        all(b) == 3 * count + reads
    });
    let done = &b.hosts[1].completions;
    assert!(done.iter().all(|c| c.status == Status::Success));
    for recv in [true, false] {
        let ids = done.iter().filter(|c| (c.opcode == Opcode::Recv) == recv);
        let ids: Vec<u64> = ids.map(|c| c.wr_id).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }
}

/// One seed's run, from the connection to its orderly end.
pub fn run(seed: u64, faults: Faults, change: &dyn Fn(&mut EngineConfig)) -> Bench {
    run_prepared(seed, faults, change, &|_| ())
}

/// The same; `prepare` sees the bench first.
pub fn run_prepared(
    seed: u64,
    faults: Faults,
    change: &dyn Fn(&mut EngineConfig),
    prepare: &dyn Fn(&mut Bench),
) -> Bench {
    let params = ConnectParams {
        markers: seed & 1 != 0,
        ..Default::default()
    };
    let accept = AcceptParams {
        markers: seed & 2 != 0,
        ..Default::default()
    };
    run_agreed(seed, faults, change, prepare, (&params, &accept))
}

/// The same of a connection that is asked for and accepted so.
pub fn run_agreed(
    seed: u64,
    faults: Faults,
    change: &dyn Fn(&mut EngineConfig),
    prepare: &dyn Fn(&mut Bench),
    (params, accept): (&ConnectParams<'_>, &AcceptParams<'_>),
) -> Bench {
    let mut b = Bench::with(seed, change);
    prepare(&mut b);
    // With heavy loss even ARP may be given up: the connection is made first.
    if faults.loss <= HEAVY {
        b.faults = faults;
    }
    b.report_delay = 500 + seed % 7 * 3000;
    let pair = b.connect(params, accept);
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
            let operation = b.random() % 3;
            // A Read brings the bytes here, what else there is takes them there.
            let host = if operation < 2 { other } else { n };
            let at = sink[host];
            sink[host] += u64::from(length) + 5;
            expected.push(Expected {
                host,
                at,
                length,
                from,
            });
            match operation {
                0 => {
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
        if b.random() & 1 == 0 {
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
    if b.hosts.iter().any(|h| h.engine.config().replay > 0) {
        // What lies in slots is acknowledged before the card has walked over it.
        b.run(MS);
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
        assert!(orderly || faults.loss > HEAVY, "seed {seed}: {reason:?}");
        let stats = *b.hosts[n].engine.stats();
        assert_eq!(stats.terminates_sent, 0, "seed {seed}: {stats:?}");
    }
    b.judge([params.markers, accept.markers]);
    b
}
