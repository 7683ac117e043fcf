//! As many connections as the card has flows: all of them move data, one more is refused without harm to them, and all of them end at
//! once.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{no_faults, pattern, End, LIMIT};
use weft_tests::left_out_on_card;

/// Flows of the functional model and of the RTL at 512 bits.
const FLOWS: usize = 256;
/// Bytes that each connection moves.
const BYTES: usize = 512;

/// Answers requests until `wanted` clients have their event of this kind; the servers' identifiers are kept in `servers`.
fn answer(bench: &Bench, (a, b): (&End, &End), servers: &mut Vec<CmId>, wanted: usize) {
    let mut established = 0;
    let all = bench.run_until("all connections", LIMIT, || {
        while let Some(event) = b.channel.try_get_event().expect("works") {
            if event.event == CmEventType::ConnectRequest {
                servers.push(b.accept(event.id, &ConnParam::default()));
            }
        }
        while let Some(event) = a.channel.try_get_event().expect("works") {
            assert_eq!(event.event, CmEventType::Established, "{event:?}");
            established += 1;
        }
        (established == wanted).then_some(())
    });
    all.unwrap_or_else(|error| panic!("{established} of {wanted}: {error}"));
}

#[test]
fn every_flow_has_a_connection() {
    if left_out_on_card(
        "every_flow_has_a_connection",
        "32 connections are all that it has",
    ) {
        return;
    }
    let bench = Bench::new(&Way::Sim, 7).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let source = pattern(FLOWS * BYTES, 3);
    a.mr.write(0, &source).expect("inside");
    let (mut clients, mut servers) = (Vec::new(), Vec::new());
    // The listener's backlog is 8.
    for _ in 0..FLOWS / 8 {
        clients.extend((0..8).map(|_| a.client(&bench, &ConnParam::default())));
        answer(&bench, (&a, &b), &mut servers, 8);
    }
    // No flow is left.
    let refused = a.pd.create_qp(&QpInit::new(&a.cq));
    let refused = refused.map(|qp| qp.qp_num());
    assert!(format!("{refused:?}").contains("NoFlows"), "{refused:?}");

    for (n, client) in clients.iter().enumerate() {
        let (at, qp) = (n * BYTES, client.qp().expect("has one"));
        let write = SendWr::write(n as u64, b.mr.remote().offset(at as u64))
            .sge(a.mr.sge(at as u64, BYTES as u32));
        qp.post_send(write.signaled()).expect("room");
    }
    let mut done = Vec::new();
    bench
        .run_until("all Writes", LIMIT, || {
            while let Some(wc) = a.cq.poll_one().expect("works") {
                assert_eq!(wc.status, WcStatus::Success);
                done.push(wc.wr_id);
            }
            (done.len() == FLOWS).then_some(())
        })
        .expect("they complete");
    done.sort_unstable();
    assert!(done.iter().copied().eq(0..FLOWS as u64));
    assert_eq!(b.mr.to_vec(0, source.len()).expect("inside"), source);

    // All end at once while the other side does not look: more events than their ring holds, and none is lost.
    while b.channel.try_get_event().expect("works").is_some() {}
    drop(clients);
    let end = bench.device(0).now() + LIMIT / 1000;
    bench
        .run_until("the ends", LIMIT, || {
            bench.device(0).progress().expect("works");
            (bench.device(0).now() >= end).then_some(())
        })
        .expect("time passes");
    bench.device(1).progress().expect("works");
    // All that had a slot for their frame came at once.
    assert!(b.channel.waiting() > 200, "{}", b.channel.waiting());
    let all = bench.run_until("all ends", LIMIT, || {
        while let Some(event) = b.channel.try_get_event().expect("works") {
            assert_eq!(event.event, CmEventType::Disconnected);
            servers.retain(|server| !server.is(&event.id));
        }
        servers.is_empty().then_some(())
    });
    all.unwrap_or_else(|error| panic!("{} did not hear of it: {error}", servers.len()));
    no_faults(&bench);
}
