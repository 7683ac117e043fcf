//! The short way of posts and polls, beside others and where it ends.

mod fake;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::cm::{CmId, ConnParam};
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

const PEER: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

fn open() -> (Device, Pd, Mr) {
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE).expect("a region");
    (device, pd, mr)
}

/// A queue pair whose connection was asked for.
fn connecting(device: &Device, pd: &Pd, cq: &Cq, depth: u32) -> (CmId, Qp) {
    let id = device.create_event_channel().create_id();
    id.resolve_addr("10.0.0.2:4791".parse().expect("an address"))
        .expect("possible");
    id.resolve_route().expect("possible");
    let cap = QpCap {
        max_send_wr: depth,
        max_recv_wr: depth,
        ..QpCap::default()
    };
    let init = QpInit {
        cap,
        ..QpInit::new(cq)
    };
    let qp = id.create_qp(pd, &init).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    (id, qp)
}

/// Two threads post to a queue pair while two poll its completion queue: each work request has one completion, and none has two.
#[test]
fn threads_share_a_queue_pair() {
    const EACH: u64 = 20_000;
    let (device, pd, mr) = open();
    let cq = device.create_cq(128, None).expect("a queue");
    let (_id, qp) = connecting(&device, &pd, &cq, 64);
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
    let (device, pd, mr) = open();
    let cq = device.create_cq(10, None).expect("a queue");
    let (_a, a) = connecting(&device, &pd, &cq, 4);
    let write = |n| SendWr::write(n, PEER).sge(mr.sge(0, 8)).signaled();
    let recv = |n| RecvWr::new(n).sge(mr.sge(0, 8));
    for n in 0..4 {
        a.post_send(write(n)).expect("room");
    }
    a.post_recv(recv(4)).expect("room");
    let (_b, b) = connecting(&device, &pd, &cq, 4);
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
