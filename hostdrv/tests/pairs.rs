//! A Write with Immediate Data: two messages, one work request.

use crate::fake;

use fake::FakeCard;
use weft_hostdrv::verbs::*;

const PEER: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

/// What is flushed makes one completion for each work request, whatever it was made of, in the order of the posts; silent ones as well, since they failed.
#[test]
fn a_pair_that_fails_has_one_completion() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(64, None).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 16);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 64));
    let pair = |n, told: SendWr<'_>| qp.post_write_with_immediate(write(n), told);
    qp.post_send(write(0).signaled()).expect("room");
    pair(1, SendWr::immediate(1, 7).signaled()).expect("room");
    pair(2, SendWr::immediate(2, 7).solicited()).expect("room");
    qp.post_send(SendWr::send(3).sge(mr.sge(0, 8)).signaled())
        .expect("room");
    pair(4, SendWr::immediate(4, 7).signaled()).expect("room");
    qp.modify(QpState::Error).expect("possible");
    let mut found = [Wc::default(); 2];
    let mut seen = Vec::new();
    loop {
        let count = cq.poll_slice(&mut found).expect("it works");
        if count == 0 {
            break;
        }
        seen.extend(found[..count].iter().map(|wc| (wc.wr_id, wc.opcode)));
    }
    let write = WcOpcode::RdmaWrite;
    let all = [
        (0, write),
        (1, write),
        (2, write),
        (3, WcOpcode::Send),
        (4, write),
    ];
    assert_eq!(seen, all);
    assert_eq!(qp.send_room(), 16);
}

/// It takes two places, and is posted whole or not at all.
#[test]
fn a_pair_wants_two_places() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    // Too few places for both queues' work: they are counted.
    let cq = device.create_cq(6, None).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 4);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 64));
    let told = |n| SendWr::immediate(n, 7).signaled();
    assert_eq!(qp.send_room(), 4);
    qp.post_send(write(0).signaled()).expect("room");
    qp.post_write_with_immediate(write(1), told(1))
        .expect("room");
    assert_eq!(qp.send_room(), 1);
    let full = Err(VerbsError::SendQueueFull { depth: 4 });
    assert_eq!(qp.post_write_with_immediate(write(2), told(2)), full);
    assert_eq!(qp.send_room(), 1);
    qp.post_send(write(3).signaled()).expect("the last place");
    qp.post_recv(RecvWr::new(4).sge(mr.sge(0, 8)))
        .expect("a place");
    qp.modify(QpState::Error).expect("possible");
    let ids = |cq: &Cq| -> Vec<u64> {
        let found = cq.poll(16).expect("it works");
        found.iter().map(|wc| wc.wr_id).collect()
    };
    let mut seen = ids(&cq);
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 3, 4]);
    // All places of the completion queue are there again.
    for n in 0..6 {
        qp.post_recv(RecvWr::new(n).sge(mr.sge(0, 8)))
            .or_else(|error| match error {
                VerbsError::RecvQueueFull { depth: 4 } => Ok(()),
                error => Err(error),
            })
            .expect("a place");
    }
}

/// Anything else in its place is refused.
#[test]
fn a_pair_is_a_write_and_immediate_data() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(64, None).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 16);
    let write = SendWr::write(0, PEER).sge(mr.sge(0, 64));
    let send = SendWr::send(0).sge(mr.sge(0, 64));
    let told = SendWr::immediate(0, 7);
    let no_pair = Err(VerbsError::NoPair);
    assert_eq!(qp.post_write_with_immediate(send, told), no_pair);
    assert_eq!(qp.post_write_with_immediate(write, send), no_pair);
    let beyond = SendWr::write(0, PEER).sge(mr.sge(4090, 64));
    let refused = qp.post_write_with_immediate(beyond, told);
    assert!(matches!(refused, Err(VerbsError::SgeBeyondMr { .. })));
    assert_eq!(qp.send_room(), 16);
}

/// The ways that leave to others what is unusual do the same as the calls that do all.
#[test]
fn usual_ways_post_and_poll_or_leave_it() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(64, None).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 4);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled();
    let mut posted = 0;
    for n in 0..6 {
        match qp.post_send_usual(write(n)) {
            Usual::Posted => posted += 1,
            Usual::Late => {
                qp.settle_send().expect("the device works");
                posted += 1;
            }
            Usual::No => match qp.post_send(write(n)) {
                Ok(()) => posted += 1,
                Err(error) => assert_eq!(error, VerbsError::SendQueueFull { depth: 4 }),
            },
        }
    }
    assert_eq!(posted, 4);
    let beyond = SendWr::write(0, PEER).sge(mr.sge(4090, 64));
    assert_eq!(qp.post_send_usual(beyond), Usual::No);
    qp.modify(QpState::Error).expect("possible");
    let mut wc = Wc::default();
    for n in 0..4 {
        let found = cq.poll_usual(&mut wc) || cq.poll_slice(std::slice::from_mut(&mut wc)) == Ok(1);
        assert!(found);
        assert_eq!((wc.wr_id, wc.status), (n, WcStatus::WrFlushError));
    }
    assert!(!cq.poll_usual(&mut wc));
}

/// Who is called as things come is called once for each, and nothing waits elsewhere.
#[test]
fn announcements_and_events_call_who_asked() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let told = Arc::new(AtomicUsize::new(0));
    let count = told.clone();
    let channel = device.create_callback_comp_channel(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let cq = device.create_cq(64, Some(&channel)).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 4);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled();
    cq.req_notify(Notify::Any).expect("it has a channel");
    qp.post_send(write(0)).expect("room");
    qp.post_send(write(1)).expect("room");
    assert_eq!(told.load(Ordering::Relaxed), 0);
    qp.modify(QpState::Error).expect("possible");
    assert_eq!(told.load(Ordering::Relaxed), 1);
    assert!(channel.try_get_event().expect("it works").is_none());
    assert_eq!(cq.poll(4).expect("it works").len(), 2);
}
