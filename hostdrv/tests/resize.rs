//! Completion queues that change their size, with work under way and completions not polled.

use crate::fake;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fake::FakeCard;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::CmId;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceError};

const PEER: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

/// A queue pair whose connection was asked for, and failed: what is posted completes at the next progress.
fn failed(device: &Device, pd: &Pd, cq: &Cq, depth: u32) -> (CmId, Qp) {
    let (id, qp) = fake::connecting(device, pd, cq, depth);
    qp.modify(QpState::Error).expect("possible");
    (id, qp)
}

fn write<'a>(mr: &'a Mr, n: u64) -> SendWr<'a> {
    SendWr::write(n, PEER).sge(mr.sge(0, 64)).signaled()
}

/// Two threads post to two queue pairs, one polls, and one changes the size all the time, to sizes that have a place for all that there can be and to
/// sizes that have not: each work request has one completion, and those of a queue come in its order.
#[test]
fn sizes_change_under_traffic() {
    const SIZES: u64 = 300;
    const LEAST: u64 = 2000;
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(256, None).expect("a queue");
    let pairs = [(); 2].map(|()| failed(&device, &pd, &cq, 32));
    let over = AtomicBool::new(false);
    let [resized, refused] = [(); 2].map(|()| AtomicU64::new(0));
    let posted = [(); 2].map(|()| AtomicU64::new(u64::MAX));
    let post = |qp: &Qp, posted: &AtomicU64| {
        let mut n = 0;
        let is_enough = |n| n >= LEAST && resized.load(Ordering::Relaxed) >= SIZES;
        while !is_enough(n) && !over.load(Ordering::Relaxed) {
            match qp.post_send(write(&mr, n)) {
                Ok(()) => n += 1,
                Err(VerbsError::SendQueueFull { .. } | VerbsError::CqFull { .. }) => {
                    std::thread::yield_now();
                }
                Err(error) => panic!("{error}"),
            }
        }
        posted.store(n, Ordering::Relaxed);
    };
    let resize = || {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let is_posting = |posted: &AtomicU64| posted.load(Ordering::Relaxed) == u64::MAX;
        while posted.iter().any(is_posting) && !over.load(Ordering::Relaxed) {
            match cq.resize(random.random_range(1..=300)) {
                Ok(()) => resized.fetch_add(1, Ordering::Relaxed),
                Err(VerbsError::CqInUse { .. }) => refused.fetch_add(1, Ordering::Relaxed),
                Err(error) => panic!("{error}"),
            };
            std::thread::yield_now();
        }
    };
    let poll = || {
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _over = Over(&over);
        let mut found = [Wc::default(); 5];
        let mut next = [0; 2];
        let mut idle = 0;
        while next != posted.each_ref().map(|n| n.load(Ordering::Relaxed)) {
            let count = cq.poll_slice(&mut found).expect("it works");
            for wc in &found[..count] {
                let of = pairs.iter().position(|(_, qp)| qp.qp_num() == wc.qp_num);
                let of = of.expect("one of both");
                assert_eq!((wc.wr_id, wc.status), (next[of], WcStatus::WrFlushError));
                next[of] += 1;
            }
            idle = if count > 0 { 0 } else { idle + 1 };
            assert!(idle < 2_000_000, "{next:?} of {posted:?} came");
        }
        next
    };
    let came = std::thread::scope(|scope| {
        for ((_, qp), posted) in pairs.iter().zip(&posted) {
            scope.spawn(|| post(qp, posted));
        }
        scope.spawn(resize);
        scope.spawn(poll).join().expect("all came")
    });
    assert_eq!(cq.poll_one(), Ok(None));
    let [resized, refused] = [resized, refused].map(AtomicU64::into_inner);
    println!("{came:?} completions, {resized} times another size, {refused} times refused");
    assert!(resized >= SIZES && came.iter().all(|came| *came >= LEAST));
}

/// Posts, polls and sizes at random, beside a list of what has to come: what is refused and what is not is known each time.
#[test]
fn what_does_not_fit_is_refused_and_nothing_else() {
    let mut refused = 0;
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (device, pd, mr) = fake::open(&FakeCard::new());
        let mut cqe: usize = random.random_range(1..20);
        let cq = device.create_cq(cqe, None).expect("a queue");
        let (_id, qp) = failed(&device, &pd, &cq, 8);
        let mut waiting = VecDeque::new();
        let mut next = 0;
        for _ in 0..400 {
            match random.random_range(0..3) {
                0 => {
                    let posted = qp.post_send(write(&mr, next));
                    if waiting.len() >= 8 {
                        assert_eq!(posted, Err(VerbsError::SendQueueFull { depth: 8 }));
                    } else if waiting.len() >= cqe {
                        assert_eq!(posted, Err(VerbsError::CqFull { cqe }));
                    } else {
                        posted.expect("room");
                        waiting.push_back(next);
                        next += 1;
                    }
                    if random.random() {
                        device.progress().expect("it works");
                    }
                }
                1 => {
                    let wanted = random.random_range(1..20);
                    let resized = cq.resize(wanted);
                    let promised = waiting.len();
                    if promised <= wanted {
                        resized.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                        cqe = wanted;
                    } else {
                        let expected = VerbsError::CqInUse {
                            promised,
                            cqe: wanted,
                        };
                        assert_eq!(resized, Err(expected), "seed {seed}");
                        refused += 1;
                    }
                    assert_eq!(cq.cqe(), cqe);
                }
                _ => {
                    let mut found = vec![Wc::default(); random.random_range(1..5)];
                    let count = cq.poll_slice(&mut found).expect("it works");
                    // What was posted last may not have been taken.
                    assert_eq!(count > 0, !waiting.is_empty(), "seed {seed}");
                    for wc in &found[..count] {
                        assert_eq!(Some(wc.wr_id), waiting.pop_front(), "seed {seed}");
                    }
                }
            }
        }
    }
    assert!(refused > 100, "{refused} times");
}

/// Work that makes no completion and is done stands in nobody's way.
#[test]
fn a_larger_one_has_room_at_once() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(2, None).expect("a queue");
    let (_id, qp) = failed(&device, &pd, &cq, 8);
    for n in 0..2 {
        qp.post_send(write(&mr, n)).expect("room");
    }
    let full = Err(VerbsError::CqFull { cqe: 2 });
    assert_eq!(qp.post_send(write(&mr, 2)), full);
    cq.resize(3).expect("larger");
    qp.post_send(write(&mr, 2)).expect("room");
    let in_use = Err(VerbsError::CqInUse {
        promised: 3,
        cqe: 2,
    });
    assert_eq!(cq.resize(2), in_use);
    device.progress().expect("it works");
    assert_eq!(cq.resize(2), in_use);
    // It is as it was.
    assert_eq!(cq.cqe(), 3);
    let found = cq.poll(9).expect("it works");
    assert_eq!(
        found.iter().map(|wc| wc.wr_id).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    cq.resize(1).expect("nothing waits");
}

#[test]
fn what_was_asked_for_stays_asked() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let channel = device.create_comp_channel();
    let cq = device.create_cq(8, Some(&channel)).expect("a queue");
    let (_id, qp) = failed(&device, &pd, &cq, 2);
    cq.req_notify(Notify::Solicited).expect("a channel");
    for cqe in [70, 4, 9] {
        cq.resize(cqe).expect("room");
    }
    qp.post_send(write(&mr, 1)).expect("room");
    let told = channel.try_get_event().expect("it works");
    assert!(told.is_some_and(|told| told.is(&cq)));
    // It was asked once.
    qp.post_send(write(&mr, 2)).expect("room");
    assert!(channel.try_get_event().expect("it works").is_none());
    assert_eq!(cq.poll(9).expect("it works").len(), 2);
}

#[test]
fn sizes_that_none_can_have_are_refused() {
    let card = FakeCard::new();
    let (device, ..) = fake::open(&card);
    let cq = device.create_cq(8, None).expect("a queue");
    for (given, allowed) in [(0, "at least 1"), ((1 << 24) + 1, "at most 16777216")] {
        let wrong = VerbsError::InvalidSize {
            what: "the number of completion queue entries",
            given,
            allowed,
        };
        assert_eq!(cq.resize(given as usize), Err(wrong));
    }
    let shareable = device.create_shareable_cq(8).expect("a queue");
    assert_eq!(shareable.resize(9), Err(VerbsError::CqLendable));
    assert_eq!((cq.cqe(), shareable.cqe()), (8, 8));
    card.lock().lost = Some("pulled out".into());
    while device.progress().is_ok() {
        card.lock().now += 1_000_000;
    }
    let gone = cq.resize(9);
    assert!(
        matches!(
            gone,
            Err(VerbsError::Device(
                DeviceError::Lost { .. } | DeviceError::Transport(_)
            ))
        ),
        "{gone:?}"
    );
}

/// Queue pairs come and go while the size changes: their places come back.
#[test]
fn the_places_of_queue_pairs_that_leave_come_back() {
    let (device, pd, mr) = fake::open(&FakeCard::new());
    let cq = device.create_cq(4, None).expect("a queue");
    for round in 0..10 {
        cq.resize(if round % 2 == 0 { 40 } else { 5 })
            .expect("room");
        let (id, qp) = failed(&device, &pd, &cq, 8);
        for n in 0..5 {
            qp.post_send(write(&mr, n)).expect("room");
        }
        device.progress().expect("it works");
        assert_eq!(cq.poll(2).expect("it works").len(), 2);
        drop((id, qp));
        // Three of nobody's wait: they have places until they are passed over.
        let none = Err(VerbsError::CqInUse {
            promised: 3,
            cqe: 2,
        });
        assert_eq!(cq.resize(2), none, "round {round}");
        cq.resize(3).expect("room");
        assert_eq!(cq.poll_one(), Ok(None));
        cq.resize(1).expect("nothing waits");
        cq.resize(40).expect("larger");
    }
}
