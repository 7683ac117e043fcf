//! The short way of posts and polls, beside others and where it ends.

use crate::fake;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fake::FakeCard;
use weft_hostdrv::verbs::*;

const PEER: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

/// Two threads post to a queue pair while two poll its completion queue: each work request has one completion, and none has two.
#[test]
fn threads_share_a_queue_pair() {
    const EACH: u64 = 20_000;
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(128, None).expect("a queue");
    let (_id, qp) = fake::connecting(&device, &pd, &cq, 64);
    qp.modify(QpState::Error).expect("possible");
    let (polled, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let post = |first: u64| {
        for n in first..first + EACH {
            loop {
                let posted = match n % 2 {
                    0 => qp.post_send(SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled()),
                    _ => qp.post_recv(RecvWr::new(n).sge(mr.sge(0, 64))),
                };
                match posted {
                    Ok(()) => break,
                    Err(
                        VerbsError::SendQueueFull { depth } | VerbsError::RecvQueueFull { depth },
                    ) => assert_eq!(depth, 64),
                    Err(error) => panic!("{error}"),
                }
                assert!(!over.load(Ordering::Relaxed), "a poller gave up");
                std::thread::yield_now();
            }
        }
    };
    let poll = |slice: usize| {
        let mut found = vec![Wc::default(); slice];
        let mut seen = Vec::new();
        let mut idle = 0;
        while polled.load(Ordering::SeqCst) < 2 * EACH {
            let count = cq.poll_slice(&mut found).expect("it works");
            seen.extend(found[..count].iter().map(|wc| wc.wr_id));
            polled.fetch_add(count as u64, Ordering::SeqCst);
            idle = if count == 0 { idle + 1 } else { 0 };
            if idle > 2_000_000 {
                over.store(true, Ordering::Relaxed);
                break;
            }
        }
        seen
    };
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| post(0));
        scope.spawn(|| post(EACH));
        let pollers = [scope.spawn(|| poll(1)), scope.spawn(|| poll(7))];
        pollers
            .map(|poller| poller.join().expect("it ends"))
            .concat()
    });
    let different: BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(seen.len() as u64, 2 * EACH);
    assert_eq!(different, (0..2 * EACH).collect());
}

/// A completion queue has a place for all the work of one queue pair, and not for that of two: what is under way counts.
#[test]
fn places_are_counted_when_there_are_too_few() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(10, None).expect("a queue");
    let (_a, a) = fake::connecting(&device, &pd, &cq, 4);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 8)).signaled();
    let recv = |n| RecvWr::new(n).sge(mr.sge(0, 8));
    for n in 0..4 {
        a.post_send(write(n)).expect("room");
    }
    a.post_recv(recv(4)).expect("room");
    let (_b, b) = fake::connecting(&device, &pd, &cq, 4);
    for n in 5..9 {
        b.post_send(write(n)).expect("room");
    }
    b.post_recv(recv(9)).expect("room");
    let full = Err(VerbsError::CqFull { cqe: 10 });
    assert_eq!(b.post_recv(recv(10)), full);
    assert_eq!(a.post_recv(recv(10)), full);
    a.modify(QpState::Error).expect("possible");
    let mut found = [Wc::default(); 3];
    assert_eq!(cq.poll_slice(&mut found), Ok(3));
    for n in 10..13 {
        b.post_recv(recv(n)).expect("as many as were polled");
    }
    assert_eq!(a.post_recv(recv(13)), full);
    b.modify(QpState::Error).expect("possible");
    assert_eq!(cq.poll(20).expect("it works").len(), 10);
}
