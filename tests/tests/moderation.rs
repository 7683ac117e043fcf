//! Completions that share an event of their channel (`ibv_modify_cq`).

use std::time::Duration;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{connected, Pair};

const MS: u64 = 1_000_000;
/// So long all that was posted takes, and less than any period here.
const AWHILE: u64 = MS;

fn pair() -> Pair {
    connected(
        Bench::new(&Way::Sim, 5).expect("two cards come up"),
        &ConnParam::default(),
        &ConnParam::default(),
    )
}

fn run(pair: &Pair, ns: u64) {
    let fabric = pair.bench.fabric().expect("simulated");
    for _ in 0..20 {
        fabric.progress().expect("it works");
        fabric.run_for(ns / 20).expect("it works");
    }
    fabric.progress().expect("it works");
}

fn write(pair: &Pair, n: u64) {
    let qp = pair.client.qp().expect("has one");
    let write = SendWr::write(n, pair.b.mr.remote()).sge(pair.a.mr.sge(0, 8));
    qp.post_send(write.signaled()).expect("room");
}

/// Events that are there.
fn told(pair: &Pair) -> usize {
    let comp = &pair.a.comp;
    let mut told = 0;
    while comp.try_get_event().expect("it works").is_some() {
        told += 1;
    }
    told
}

fn by(count: u16, period: Duration) -> Option<Moderation> {
    Some(Moderation { count, period })
}

/// One event for four completions, and for as many as there were when the period ends.
#[test]
fn an_event_waits_for_more_and_not_for_ever() {
    let pair = pair();
    let cq = &pair.a.cq;
    let period = Duration::from_millis(3);
    cq.modify(by(4, period)).expect("it has a channel");
    assert_eq!(cq.moderation(), by(4, period));
    let mut next = 0;
    for round in 0..5 {
        cq.req_notify(Notify::Any).expect("it has a channel");
        for _ in 0..3 {
            write(&pair, next);
            next += 1;
        }
        run(&pair, AWHILE);
        assert_eq!(told(&pair), 0, "round {round}");
        if round % 2 == 0 {
            // The fourth makes it, and nothing more comes.
            write(&pair, next);
            next += 1;
            run(&pair, AWHILE);
            assert_eq!(told(&pair), 1, "round {round}");
            run(&pair, 4 * MS);
        } else {
            run(&pair, 3 * MS);
            assert_eq!(told(&pair), 1, "round {round}");
        }
        assert_eq!(told(&pair), 0, "round {round}");
        // It was asked for once.
        for _ in 0..5 {
            write(&pair, next);
            next += 1;
        }
        run(&pair, 4 * MS);
        assert_eq!(told(&pair), 0, "round {round}");
        assert_eq!(cq.poll(99).expect("it works").len() as u64, next);
        next = 0;
    }
}

/// Who sleeps for it is woken when the period ends, not later; by time alone if there is no count.
#[test]
fn who_sleeps_is_woken_at_the_end_of_the_period() {
    let pair = pair();
    let device = pair.bench.device(0);
    for count in [0, 500] {
        let period = Duration::from_millis(7);
        pair.a.cq.modify(by(count, period)).expect("possible");
        pair.a.cq.req_notify(Notify::Any).expect("possible");
        let began = device.now();
        write(&pair, 1);
        run(&pair, AWHILE);
        assert_eq!(told(&pair), 0);
        let limit = Some(Duration::from_secs(1));
        let event = pair.a.comp.get_event(limit).expect("it works");
        assert!(event.is_some_and(|cq| cq.is(&pair.a.cq)));
        let took = device.now() - began;
        assert!((7 * MS..8 * MS).contains(&took), "{took} ns");
        let wc = pair.a.cq.poll_one().expect("it works");
        assert_eq!(wc.expect("it was told of").status, WcStatus::Success);
    }
}

/// A moderation that ends, or becomes another one, tells of what waits; without one each completion that was asked for is told of.
#[test]
fn what_waits_is_told_of_when_the_moderation_changes() {
    let pair = pair();
    let cq = &pair.a.cq;
    let long = Duration::from_secs(1000);
    for after in [None, by(9, long), by(1, long)] {
        cq.modify(by(0, long)).expect("possible");
        cq.req_notify(Notify::Any).expect("possible");
        // Nothing waits: nothing is told of.
        cq.modify(by(5, long)).expect("possible");
        assert_eq!(told(&pair), 0);
        write(&pair, 1);
        run(&pair, AWHILE);
        assert_eq!(told(&pair), 0);
        cq.modify(after).expect("possible");
        assert_eq!(told(&pair), 1);
        write(&pair, 2);
        run(&pair, AWHILE);
        assert_eq!(told(&pair), 0, "it was asked for once");
        cq.req_notify(Notify::Any).expect("possible");
        write(&pair, 3);
        run(&pair, AWHILE);
        let waits = after == by(9, long);
        assert_eq!(told(&pair), usize::from(!waits), "{after:?}");
        cq.modify(None).expect("possible");
        told(&pair);
        assert_eq!(cq.poll(9).expect("it works").len(), 3);
    }
}

/// A failed completion waits for nobody, and those before it neither.
#[test]
fn what_fails_is_told_of_at_once() {
    let pair = pair();
    let cq = &pair.a.cq;
    cq.modify(by(100, Duration::from_secs(1000)))
        .expect("possible");
    cq.req_notify(Notify::Any).expect("possible");
    write(&pair, 1);
    run(&pair, AWHILE);
    assert_eq!(told(&pair), 0);
    let qp = pair.client.qp().expect("has one");
    qp.post_recv(RecvWr::new(2).sge(pair.a.mr.sge(0, 8)))
        .expect("room");
    qp.modify(QpState::Error).expect("possible");
    run(&pair, AWHILE);
    assert_eq!(told(&pair), 1);
    assert_eq!(cq.poll(9).expect("it works").len(), 2);
}

/// Another size does not make it forget what waits.
#[test]
fn it_goes_on_in_another_size() {
    let pair = pair();
    let cq = &pair.a.cq;
    cq.modify(by(3, Duration::from_secs(1000)))
        .expect("possible");
    cq.req_notify(Notify::Any).expect("possible");
    for n in 0..3 {
        assert_eq!(told(&pair), 0);
        write(&pair, n);
        run(&pair, AWHILE);
        cq.resize(300 - 10 * n as usize).expect("room");
    }
    assert_eq!(told(&pair), 1);
    let wr_ids: Vec<u64> = cq
        .poll(9)
        .expect("it works")
        .iter()
        .map(|wc| wc.wr_id)
        .collect();
    assert_eq!(wr_ids, [0, 1, 2]);
}

#[test]
fn what_cannot_be_is_refused() {
    let pair = pair();
    let device = pair.bench.device(0);
    let deaf = device.create_cq(8, None).expect("a queue");
    let some = by(4, Duration::from_millis(1));
    assert_eq!(deaf.modify(some), Err(VerbsError::NoChannel));
    let never = pair.a.cq.modify(by(4, Duration::ZERO));
    let text = never
        .expect_err("the last would never be told of")
        .to_string();
    assert!(text.contains("the last completions"), "{text}");
    assert_eq!(pair.a.cq.moderation(), None);
    // As long as there is time.
    pair.a.cq.modify(by(4, Duration::MAX)).expect("possible");
}
