//! The partition ladder through the verbs: queue pairs of several rungs on one card, and rungs that are not there.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Rung, RungError};
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, no_faults, pattern, End, Pair};
use weft_tests::rungs;

/// A connection from device 0, with a queue pair of this rung, to device 1.
fn connected(bench: Bench, rung: Option<Rung>) -> Pair {
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let mut init = QpInit::new(&a.cq);
    if let Some(rung) = rung {
        init = init.rung(rung);
    }
    let param = ConnParam {
        peer_to_peer: Some(true),
        ..ConnParam::default()
    };
    let client = a.client_with(&bench, &init, &param);
    let server = b.accept_next(&bench);
    next_event(&bench, &a.channel, CmEventType::Established);
    next_event(&bench, &b.channel, CmEventType::Established);
    Pair {
        a,
        b,
        client,
        server,
        bench,
    }
}

#[test]
fn a_queue_pair_has_the_rung_it_asks_for() {
    let (host, crc, card) = (Rung::Host, Rung::Crc, Rung::Placement);
    let send = Rung::CrcSend;
    for (devices, asks, gets) in [
        ([card, card], Some(host), host),
        ([host, card], None, host),
        ([host, host], Some(card), card),
        ([card, host], None, card),
        ([crc, crc], None, crc),
        ([host, card], Some(crc), crc),
        ([card, send], Some(send), send),
    ] {
        let bench = Bench::at(&Way::Sim, 5, devices).expect("two cards come up");
        let pair = connected(bench, asks);
        let (client, server) = pair.qps();
        assert_eq!(client.query().expect("answers").rung, gets);
        assert_eq!(server.query().expect("answers").rung, devices[1]);
        let Pair { bench, a, b, .. } = &pair;
        let bytes = pattern(100_000, 7);
        a.mr.write(0, &bytes).expect("inside");
        for len in [0, 1, 64, 1445, 100_000] {
            server
                .post_recv(RecvWr::new(1).sge(b.mr.sge(1, 100_000)))
                .expect("room");
            let send = SendWr::send(2).sge(a.mr.sge(0, len)).signaled();
            client.post_send(send).expect("room");
            assert_eq!(completion(bench, &b.cq).byte_len, len);
            assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
            let is = b.mr.to_vec(1, len as usize).expect("inside");
            assert_eq!(is, bytes[..len as usize]);
            let write = SendWr::write(3, b.mr.remote().offset(100_003));
            let write = write.sge(a.mr.sge(0, len)).signaled();
            client.post_send(write).expect("room");
            assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
            let is = b.mr.to_vec(100_003, len as usize).expect("inside");
            assert_eq!(is, bytes[..len as usize]);
            let read = SendWr::read(4, b.mr.remote().offset(100_003));
            let read = read.sge(a.mr.sge(150_000, len)).signaled();
            client.post_send(read).expect("room");
            assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
            let is = a.mr.to_vec(150_000, len as usize).expect("inside");
            assert_eq!(is, bytes[..len as usize]);
        }
        // Who copies, and who does not.
        for (n, rung) in [(0, gets), (1, devices[1])] {
            let stats = bench.device(n).engine_stats();
            let copies = rung != card;
            assert_eq!(stats.bytes_copied > 400_000, copies, "{stats:?}");
            assert_eq!(stats.bytes_copied < 200, !copies, "{stats:?}");
            let checks = [host, send].contains(&rung);
            // Of what comes, and of what goes.
            let least = if rung == send { 100_000 } else { 200_000 };
            assert_eq!(stats.bytes_checked > least, checks, "{stats:?}");
            assert_eq!(stats.bytes_checked < 200, !checks, "{stats:?}");
            assert_eq!(stats.fpdus_card == 0, checks, "{stats:?}");
            assert_eq!(stats.fpdus_card > 70, !checks, "{stats:?}");
        }
        no_faults(bench);
    }
}

#[test]
fn a_rung_that_is_not_there_is_refused_with_the_reason() {
    let bench = Bench::new(&Way::Sim, 6).expect("two cards come up");
    let end = End::new(bench.device(0));
    // Where the engine is on the card there is no other rung, and elsewhere not that one.
    let elsewhere = match rungs()[0] {
        Rung::Firmware => (
            Rung::Placement,
            RungError::OnCard,
            "no queue pair of rung placement: the control of this card is on its own processor",
        ),
        _ => (
            Rung::Firmware,
            RungError::NoProcessor,
            "no queue pair of rung firmware: the card has no processor",
        ),
    };
    for (rung, why, says) in [
        elsewhere,
        (Rung::Full, RungError::NoFastPath, "no control in RTL"),
    ] {
        let init = QpInit::new(&end.cq).rung(rung);
        let Err(error) = end.pd.create_qp(&init) else {
            panic!("{rung} was given");
        };
        assert!(
            matches!(error, VerbsError::Rung { rung: r, why: w } if r == rung && w == why),
            "{error:?}"
        );
        assert!(error.to_string().contains(says), "{error}");
    }
    // It took nothing with it.
    let max = bench.device(0).attributes().max_qp;
    let all: Vec<Qp> = (0..max)
        .map(|_| {
            let mut init = QpInit::new(&end.cq);
            (init.cap.max_send_wr, init.cap.max_recv_wr) = (2, 2);
            end.pd.create_qp(&init).expect("a flow for each")
        })
        .collect();
    assert_eq!(all.len(), max as usize);
}
