//! Posting work asks the allocator for nothing.

mod fake;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of each of `count` calls.
fn allocations(count: u64, mut post: impl FnMut(u64)) -> Vec<u64> {
    let mut each = Vec::with_capacity(count as usize);
    for n in 0..count {
        let before = COUNT.with(Cell::get);
        post(n);
        each.push(COUNT.with(Cell::get) - before);
    }
    each
}

fn judge(what: &str, each: &[u64]) {
    let with = each.iter().filter(|count| **count > 0).count();
    let all: u64 = each.iter().sum();
    println!(
        "{what}: {} posts, {} without an allocation; {all} in {with} posts, where a queue grew",
        each.len(),
        each.len() - with
    );
    // Queues double: a few posts pay for that, once.
    assert!(
        with <= 60,
        "{what}: {with} of {} posts allocate",
        each.len()
    );
}

#[test]
fn none_for_each_post() {
    const POSTS: u32 = 4000;
    let card = FakeCard::new();
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into());
    let device = Device::open(Arc::new(card.clone()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE).expect("a region");
    let cq = device.create_cq(3 * POSTS as usize, None).expect("a queue");
    let id = device.create_event_channel().create_id();
    id.resolve_addr("10.0.0.2:4791".parse().expect("an address"))
        .expect("possible");
    id.resolve_route().expect("possible");
    let cap = QpCap {
        max_send_wr: 2 * POSTS,
        max_recv_wr: POSTS,
        ..QpCap::default()
    };
    let qp = id
        .create_qp(
            &pd,
            &QpInit {
                cap,
                ..QpInit::new(&cq)
            },
        )
        .expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    let posts = u64::from(POSTS);
    let receive = |n| {
        let list = [mr.sge(0, 8), mr.sge(8, 8)];
        qp.post_recv(RecvWr::new(n).sges(&list)).expect("room");
    };
    judge("receives of two SGEs", &allocations(posts, receive));
    let send = |n| {
        let list = [mr.sge(0, 8), mr.sge(8, 8)];
        let work = SendWr::send(n).sges(&list).signaled();
        qp.post_send(work).expect("room");
    };
    judge("sends of two SGEs", &allocations(posts, send));
    let inline = |n| {
        qp.post_send(SendWr::send(n).inline(&[7; 64]))
            .expect("room")
    };
    judge("sends of 64 bytes inline", &allocations(posts, inline));

    // And taking what became of it: of an empty queue, and of a full one.
    let mut found = [Wc::default(); 16];
    let mut poll = |_| {
        cq.poll_slice(&mut found).expect("it works");
    };
    poll(0);
    let each = allocations(100, &mut poll);
    assert!(each.iter().all(|count| *count == 0), "{each:?}");
    qp.modify(QpState::Error).expect("possible");
    let all = 3 * u64::from(POSTS);
    let mut taken = 0;
    let each = allocations(all.div_ceil(16), |_| {
        let count = cq.poll_slice(&mut found).expect("it works");
        let all = &found[..count];
        assert!(all.iter().all(|wc| wc.status == WcStatus::WrFlushError));
        taken += count;
    });
    assert_eq!(taken as u64, all);
    assert!(each.iter().all(|count| *count == 0), "{each:?}");
}
