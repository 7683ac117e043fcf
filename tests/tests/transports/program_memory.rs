//! Memory of the program's, where it is: heap, data, stack; its pages are in use by others.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, no_faults, pattern, Pair};

/// Bytes of a buffer: over several pages, beginning and ending in none's first byte.
const LEN: usize = 9001;

/// Data of the program: pages of its file.
static DATA: [AtomicU64; 1200] = [const { AtomicU64::new(0x0102_0304_0506_0708) }; 1200];

/// Registers `LEN` bytes that begin at an odd address.
fn region(pd: &Pd, first: *mut u8) -> Mr {
    let ptr = NonNull::new(first.wrapping_add(3)).expect("not null");
    // SAFETY: each caller's memory outlives its region, which alone accesses it.
    let region = unsafe { pd.reg_raw(ptr, LEN, Access::REMOTE_WRITE | Access::REMOTE_READ) };
    let region = region.expect("any bytes");
    assert_eq!(
        region.remote().addr,
        ptr.as_ptr() as u64,
        "as the program has it"
    );
    region
}

pub fn memory_of_the_program_is_used_where_it_is(way: &Way) {
    let bench = Bench::new(way, 41).expect("two devices come up");
    let pair = connected(bench, &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
    let (qp, _) = pair.qps();
    let mut heap = vec![0u8; LEN + 8];
    let mut stack = [0u8; LEN + 8];
    let data = DATA.as_ptr().cast_mut().cast::<u8>();
    let places = [heap.as_mut_ptr(), stack.as_mut_ptr(), data];
    let mut number = 0;
    let mut done = |wr: SendWr<'_>| {
        number += 1;
        qp.post_send(wr.signaled()).expect("room");
        assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);
        number as u8
    };
    for (n, first) in places.into_iter().enumerate() {
        // One over the other, of both devices.
        let [source, sink, again] = [&a.pd, &b.pd, &a.pd].map(|pd| region(pd, first));
        let bytes = pattern(LEN, n as u8);
        a.mr.write(1, &bytes).expect("inside");
        done(SendWr::write(1, sink.remote()).sge(a.mr.sge(1, LEN as u32)));
        assert_eq!(source.to_vec(0, LEN).expect("inside"), bytes, "{n}");
        again.dereg().expect("nobody uses it");
        done(SendWr::write(2, b.mr.remote().offset(5)).sge(source.sge(0, LEN as u32)));
        done(SendWr::read(3, sink.remote().offset(1)).sge(a.mr.sge(20_000, 100)));
        assert_eq!(b.mr.to_vec(5, LEN).expect("inside"), bytes, "{n}");
        assert_eq!(a.mr.to_vec(20_000, 100).expect("inside"), bytes[1..101]);
        for region in [source, sink] {
            region.dereg().expect("nobody uses it");
        }
    }
    let around = |bytes: &[u8]| [&bytes[..3], &bytes[LEN + 3..]].concat();
    assert_eq!([around(&heap), around(&stack)], [[0; 8], [0; 8]]);
    assert_eq!(heap[3..LEN + 3], pattern(LEN, 0));
    assert_eq!(stack[3..LEN + 3], pattern(LEN, 1));
    no_faults(bench);
}

/// What else is in the pages goes on being written, also while they are registered and deregistered.
pub fn neighbours_of_a_region_lose_nothing(way: &Way) {
    let bench = Bench::new(way, 42).expect("two devices come up");
    let pd = bench.device(0).alloc_pd().expect("a domain");
    let words: Vec<AtomicU64> = (0..1024).map(|_| AtomicU64::new(0)).collect();
    let (counter, bytes) = words.split_at(1);
    let (stop, first) = (AtomicBool::new(false), bytes.as_ptr().cast_mut().cast());
    std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                count += 1;
                // A write that is lost with its page shows by the next one.
                assert_eq!(counter[0].fetch_add(1, Ordering::Relaxed) + 1, count);
            }
        });
        for _ in 0..200 {
            let ptr = NonNull::new(first).expect("not null");
            // SAFETY: the words outlive the region, which alone accesses the 100 bytes.
            let region = unsafe { pd.reg_raw(ptr, 100, Access::LOCAL_WRITE) };
            region.expect("any bytes").dereg().expect("nobody uses it");
        }
        stop.store(true, Ordering::Relaxed);
        neighbour.join().expect("nothing is lost");
    });
}
