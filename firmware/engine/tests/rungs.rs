//! The partition ladder: queue pairs for which software frames, checks and copies, beside those for which the card does, and against them.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

const SIZE: u64 = 300_000;

fn all_access() -> Access {
    Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK
}

fn qp(b: &mut Bench, n: usize, rung: Rung) -> QpId {
    let host = &mut b.hosts[n];
    let config = QpConfig {
        pd: host.pd,
        send_depth: 64,
        recv_depth: 64,
        max_sge: 4,
        rung: Some(rung),
    };
    host.engine.create_qp(&config, &mut host.card).unwrap()
}

/// One of each message each way, of sizes that are awkward, all checked; then close.
fn exchange(b: &mut Bench, rungs: [Rung; 2], markers: [bool; 2]) {
    let qps = [qp(b, 0, rungs[0]), qp(b, 1, rungs[1])];
    let params = ConnectParams {
        markers: markers[0],
        ..Default::default()
    };
    let accept = AcceptParams {
        markers: markers[1],
        ..Default::default()
    };
    let pair = b.connect_qps(qps, &params, &accept);
    for n in 0..2 {
        assert_eq!(b.hosts[n].engine.qp_rung(qps[n]), Ok(rungs[n]));
    }
    let regions = [
        b.hosts[0].region(SIZE, all_access()),
        b.hosts[1].region(SIZE, all_access()),
    ];
    let byte = |n: usize, i: usize| (i * 7 + i / 251 + n * 91) as u8;
    for (n, region) in regions.iter().enumerate() {
        for (i, place) in b.memory(n, region.1, 100_000).iter_mut().enumerate() {
            *place = byte(n, i);
        }
    }
    let lengths = [0, 1, 63, 64, 1440, 1445, 4096, 20_001, 40_000];
    for n in 0..2 {
        let other = 1 - n;
        let [own, theirs] = [regions[n], regions[other]];
        for (id, &length) in (0..).zip(&lengths) {
            // Of two pieces, at odd places.
            let half = length / 3;
            let sges = [
                sge(own.0, 5, half),
                sge(own.0, 5 + u64::from(half), length - half),
            ];
            let places = [
                sge(theirs.0, 100_001, half),
                sge(theirs.0, 150_001, length - half),
            ];
            b.post_recv(other, qps[other], id, &places).unwrap();
            b.post_send(n, qps[n], &send(id, &sges)).unwrap();
            let got = b.completions_of(other, 1, 5_000 * MS);
            assert_eq!((got[0].status, got[0].byte_len), (Status::Success, length));
            assert_eq!(
                b.completions_of(n, 1, 5_000 * MS)[0].status,
                Status::Success
            );
            let expected: Vec<u8> = (5..5 + length as usize).map(|i| byte(n, i)).collect();
            let (front, back) = expected.split_at(half as usize);
            assert_eq!(b.memory(other, theirs.1 + 100_001, front.len()), front);
            assert_eq!(b.memory(other, theirs.1 + 150_001, back.len()), back);

            b.post_send(n, qps[n], &write(id, theirs.0, 0x1000 + 200_003, &sges))
                .unwrap();
            assert_eq!(
                b.completions_of(n, 1, 5_000 * MS)[0].status,
                Status::Success
            );
            assert_eq!(
                b.memory(other, theirs.1 + 200_003, length as usize),
                &expected[..]
            );

            let sinks = [sge(own.0, 250_000, length)];
            b.post_send(n, qps[n], &read(id, theirs.0, 0x1000 + 5, &sinks))
                .unwrap();
            assert_eq!(
                b.completions_of(n, 1, 5_000 * MS)[0].status,
                Status::Success
            );
            let expected: Vec<u8> = (5..5 + length as usize).map(|i| byte(other, i)).collect();
            assert_eq!(b.memory(n, own.1 + 250_000, length as usize), &expected[..]);
        }
    }
    b.call(0, |e, now, card| e.disconnect(now, pair.conns[0], card))
        .unwrap();
    for n in 0..2 {
        assert!(matches!(
            b.event_of(n, 5_000 * MS),
            Event::Disconnected { .. }
        ));
    }
    b.run(5_000 * MS);
    assert!(b.hosts.iter().all(|host| host.completions.is_empty()));
}

/// How many FPDUs each host has sent, by the judge. A side's markers are those that the other asked for.
fn judged(b: &Bench, markers: [bool; 2]) -> [usize; 2] {
    [0, 1].map(|from| b.judged(from, markers[1 - from]).len())
}

#[test]
fn every_mix_of_two_ends_moves_every_message() {
    let rungs = [Rung::Host, Rung::CrcSend, Rung::Crc, Rung::Placement];
    let mixes = rungs.iter().flat_map(|a| rungs.iter().map(|b| [*a, *b]));
    for (seed, rungs) in (1..).zip(mixes) {
        for markers in [[false, false], [true, false], [false, true], [true, true]] {
            let mut b = Bench::new(seed);
            exchange(&mut b, rungs, markers);
            let units = judged(&b, markers);
            for n in 0..2 {
                let (own, other) = (b.hosts[n].engine.stats(), b.hosts[1 - n].engine.stats());
                let note = format!("{rungs:?} {markers:?} host {n}: {own:?}");
                let received = units[1 - n] as u64;
                if rungs[n] != Rung::Placement {
                    assert_eq!(own.fpdus_made, units[n] as u64, "{note}");
                    assert!(own.bytes_copied > 500_000, "{note}");
                    assert_eq!(b.hosts[n].card.placed, 0, "{note}");
                }
                if rungs[n] == Rung::Crc {
                    // The card has computed and checked all CRCs, but perhaps the first one's that came.
                    assert!(own.fpdus_software <= 1, "{note}");
                    assert_eq!(own.fpdus_card + own.fpdus_software, received, "{note}");
                    assert!(own.bytes_checked < 100, "{note}");
                    assert_eq!(own.attaches, 1, "{note}");
                } else if rungs[n] == Rung::Host {
                    assert_eq!(
                        (own.fpdus_software, own.fpdus_card),
                        (received, 0),
                        "{note}"
                    );
                    assert!(own.bytes_checked > 400_000, "{note}");
                    assert_eq!(own.attaches, 0, "{note}");
                } else if rungs[n] == Rung::CrcSend {
                    // The CRCs of what came, and of nothing that went.
                    assert_eq!(
                        (own.fpdus_software, own.fpdus_card),
                        (received, 0),
                        "{note}"
                    );
                    assert!((200_000..400_000).contains(&own.bytes_checked), "{note}");
                    assert_eq!(own.attaches, 0, "{note}");
                } else {
                    // The first FPDU may come before the card is attached.
                    assert_eq!(own.fpdus_made, 0, "{note}");
                    assert!(own.fpdus_software <= 1, "{note}");
                    assert_eq!(own.fpdus_card + own.fpdus_software, received, "{note}");
                    assert!(own.bytes_copied + own.bytes_checked < 200, "{note}");
                }
                assert_eq!(other.terminates_sent + other.resets_sent, 0, "{note}");
            }
        }
    }
}

/// Frames lost, late, twice and cut in two: what is sent again is what was sent.
#[test]
fn lost_frames_come_again() {
    for seed in 1..=12 {
        let rungs = match seed % 6 {
            0 => [Rung::Host, Rung::Placement],
            1 => [Rung::Placement, Rung::Host],
            2 => [Rung::Crc, Rung::Crc],
            3 => [Rung::Host, Rung::Crc],
            4 => [Rung::CrcSend, Rung::Placement],
            _ => [Rung::Host, Rung::CrcSend],
        };
        let markers = [seed & 1 != 0, seed & 2 != 0];
        let mut b = Bench::new(seed);
        b.faults = Faults {
            loss: 2000,
            duplicate: 1000,
            reorder: 3000,
            split: 3000,
            ..Faults::default()
        };
        exchange(&mut b, rungs, markers);
        judged(&b, markers);
        for (n, rung) in rungs.into_iter().enumerate() {
            // The card loses the framing and gets it back; what comes meanwhile is checked here.
            let own = b.hosts[n].engine.stats();
            if rung == Rung::Crc {
                assert!(own.attaches > 1, "seed {seed}: {own:?}");
                assert!(
                    own.fpdus_card > 50 && own.fpdus_software > 0,
                    "seed {seed}: {own:?}"
                );
            }
        }
        let again: u64 = b.hosts.iter().map(|h| h.engine.stats().retransmits).sum();
        assert!(again > 0, "seed {seed}");
    }
}

/// Three queue pairs of one card, each with its rung, at the same time.
#[test]
fn one_card_has_them_all() {
    let mut b = Bench::new(3);
    let rungs = [Rung::Host, Rung::Placement, Rung::Crc];
    let regions = [
        b.hosts[0].region(SIZE, all_access()),
        b.hosts[1].region(SIZE, all_access()),
    ];
    let pairs = rungs.map(|rung| {
        let qps = [qp(&mut b, 0, rung), qp(&mut b, 1, rung)];
        b.connect_qps(qps, &ConnectParams::default(), &AcceptParams::default())
    });
    b.memory(0, regions[0].1, 90_000).fill(0x5a);
    for (n, pair) in pairs.iter().enumerate() {
        let at = 0x1000 + 90_000 * n as u64;
        let sges = [sge(regions[0].0, 0, 90_000)];
        let wr = write(n as u64, regions[1].0, at, &sges);
        b.post_send(0, pair.qps[0], &wr).unwrap();
    }
    let done = b.completions_of(0, 3, 1_000 * MS);
    assert!(done.iter().all(|c| c.status == Status::Success));
    let placed = b.memory(1, regions[1].1, 270_000);
    assert!(placed.iter().all(|byte| *byte == 0x5a));
    let stats = b.hosts[1].engine.stats();
    let full = 90_000 / 1440;
    assert!(stats.fpdus_software >= full && stats.fpdus_card >= 2 * full);
    assert_eq!(b.hosts[1].card.placed, 90_000);
}

/// No more is in flight than the send buffer holds, however wide the peer's window is.
#[test]
fn the_send_buffer_is_a_bound() {
    let mut b = Bench::with(9, &|c| c.send_buffer = 1 << 15);
    let qps = [qp(&mut b, 0, Rung::Host), qp(&mut b, 1, Rung::Placement)];
    let _ = b.connect_qps(qps, &ConnectParams::default(), &AcceptParams::default());
    let regions = [
        b.hosts[0].region(SIZE, all_access()),
        b.hosts[1].region(SIZE, all_access()),
    ];
    for (i, byte) in b.memory(0, regions[0].1, 300_000).iter_mut().enumerate() {
        *byte = (i * 3 + i / 255) as u8;
    }
    let expected = b.memory(0, regions[0].1, 300_000).to_vec();
    b.delay = 500 * US;
    let sges = [sge(regions[0].0, 0, 300_000)];
    b.post_send(0, qps[0], &write(1, regions[1].0, 0x1000, &sges))
        .unwrap();
    let mut most = 0;
    b.until("the Write", 1_000 * MS, |b| {
        let info = b.hosts[0].engine.conn_info(qps[0]).unwrap().unwrap();
        most = most.max(info.in_flight);
        !b.hosts[0].completions.is_empty()
    });
    assert!(
        (1 << 14..=1 << 15).contains(&most),
        "{most} bytes in flight"
    );
    assert_eq!(b.memory(1, regions[1].1, 300_000), &expected[..]);
    // All of it by software, the middle of the message as well.
    let made = b.hosts[0].engine.stats().fpdus_made;
    assert!(made >= 300_000 / 1440, "{made} FPDUs made");
}

#[test]
fn a_rung_that_is_not_there_is_refused() {
    let mut b = Bench::new(1);
    let host = &mut b.hosts[0];
    let config = |rung| QpConfig {
        pd: host.pd,
        send_depth: 4,
        recv_depth: 4,
        max_sge: 1,
        rung,
    };
    for (rung, why) in [
        (Rung::Firmware, RungError::NoProcessor),
        (Rung::Full, RungError::NoFastPath),
    ] {
        let refused = host.engine.create_qp(&config(Some(rung)), &mut host.card);
        assert_eq!(refused, Err(Error::Rung(rung, why)));
    }
    let qp = host
        .engine
        .create_qp(&config(None), &mut host.card)
        .unwrap();
    assert_eq!(host.engine.qp_rung(qp), Ok(Rung::Placement));

    // An engine on the card's processor has the rung for which it is there, and no other.
    let mut b = Bench::with(1, &|c| {
        c.on_card = true;
        c.rung = Rung::Firmware;
    });
    let host = &mut b.hosts[0];
    for (rung, why) in [
        (Rung::Host, RungError::OnCard),
        (Rung::Placement, RungError::OnCard),
        (Rung::Full, RungError::NoFastPath),
    ] {
        let settings = QpConfig {
            pd: host.pd,
            ..config(Some(rung))
        };
        let refused = host.engine.create_qp(&settings, &mut host.card);
        assert_eq!(refused, Err(Error::Rung(rung, why)));
    }
    let settings = QpConfig {
        pd: host.pd,
        ..config(None)
    };
    let qp = host.engine.create_qp(&settings, &mut host.card).unwrap();
    assert_eq!(host.engine.qp_rung(qp), Ok(Rung::Firmware));

    // A host that has no memory for it.
    for rung in [Rung::Host, Rung::Crc] {
        let mut b = Bench::with(1, &|c| {
            c.send_buffer = 1 << 20;
            c.rung = rung;
        });
        let host = &mut b.hosts[0];
        let refused = host.engine.create_qp(&config(None), &mut host.card);
        let why = Error::Rung(rung, RungError::NoSendBuffer);
        assert_eq!(refused, Err(why));
        assert_eq!(
            why.to_string(),
            format!("no rung {rung}: the host gave no memory for a send buffer")
        );
        // Nothing of it is left.
        assert_eq!(host.engine.dealloc_pd(host.pd), Ok(()));
    }
}

/// The memory of a message that goes away under it ends the connection, as it does where the card reads it.
#[test]
fn memory_that_cannot_be_read_ends_the_connection() {
    for rung in [Rung::Host, Rung::Crc, Rung::Placement] {
        let mut b = Bench::new(5);
        let qps = [qp(&mut b, 0, rung), qp(&mut b, 1, Rung::Placement)];
        let _ = b.connect_qps(qps, &ConnectParams::default(), &AcceptParams::default());
        let (stag, _) = b.hosts[1].region(SIZE, all_access());
        // A region that nobody has mapped.
        let host = &mut b.hosts[0];
        let nowhere = host
            .engine
            .register(host.pd, 0x1000, 1 << 40, 5000, Access::NONE, &mut host.card)
            .unwrap();
        let sges = [sge(nowhere, 0, 5000)];
        b.post_send(0, qps[0], &write(1, stag, 0x1000, &sges))
            .unwrap();
        b.post_send(0, qps[0], &write(2, stag, 0x1000, &[]))
            .unwrap();
        let failed = b.completions_of(0, 2, 100 * MS);
        let ends: Vec<_> = failed.iter().map(|c| (c.wr_id, c.status)).collect();
        assert_eq!(
            ends,
            [(1, Status::LocalProtection), (2, Status::Flushed)],
            "{rung}"
        );
        assert!(matches!(b.event_of(0, MS), Event::QpFatal { .. }), "{rung}");
        assert!(
            matches!(
                b.event_of(0, MS),
                Event::Disconnected {
                    reason: DisconnectReason::Terminated,
                    ..
                }
            ),
            "{rung}"
        );
        b.run(100 * MS);
        b.hosts[0].engine.check_liveness().unwrap();
    }
}

/// Software of a full job ring waits, and goes on.
#[test]
fn a_full_job_ring_delays_and_loses_nothing() {
    let mut b = Bench::new(11);
    b.hosts[0].card.ring = 2;
    exchange(&mut b, [Rung::Host, Rung::Host], [false, true]);
    judged(&b, [false, true]);
    assert!(b.hosts[0].engine.stats().jobs_full > 0);
}
