//! Devices in a child made by `fork`: they do nothing, say so with one error, and disturb nobody.

mod fake;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use fake::{connecting, open, FakeCard};
use weft_hostdrv::dma::Pages;
use weft_hostdrv::transport::TransportError;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig, DeviceError};

/// Seconds after which a child that hangs is ended.
const LIMIT: u32 = 20;

/// Forks; the child does the work and ends at once. Its status: 0 if nothing panicked.
fn child(work: impl FnOnce()) -> i32 {
    // SAFETY: the child calls what a program of one thread may call, and ends without unwinding.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(LIMIT);
                let ended = catch_unwind(AssertUnwindSafe(work));
                libc::_exit(ended.is_err().into())
            }
            pid => {
                let mut status = -1;
                assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
                status
            }
        }
    }
}

fn is_inherited(error: &DeviceError) -> bool {
    matches!(
        error,
        DeviceError::Transport(TransportError::Inherited { .. })
    )
}

#[test]
fn a_child_has_no_part_in_its_parent_s_device() {
    let card = FakeCard::new();
    let (device, pd, mr) = open(&card);
    let cq = device.create_cq(16, None).expect("a queue");
    let (id, qp) = connecting(&device, &pd, &cq, 4);
    let owned = Pages::new(1).expect("memory");
    let owned = pd.reg_owned(owned, Access::LOCAL_WRITE).expect("a region");
    mr.write(0, b"parent").expect("inside");
    let did = |card: &FakeCard| {
        let inner = card.lock();
        let mapped = (inner.memory.len(), inner.foreign.len());
        (
            inner.resets,
            inner.soft_resets,
            inner.writes.len(),
            inner.doorbells.len(),
            mapped,
        )
    };
    let before = did(&card);
    let mut all = Some((id, qp, cq, mr, owned, pd, device));
    let status = child(|| {
        let (id, qp, cq, mr, owned, pd, device) = all.take().expect("inherited");
        let refused = |error: VerbsError| match error {
            VerbsError::Device(error) => is_inherited(&error),
            _ => false,
        };
        assert!(is_inherited(&device.progress().expect_err("not its own")));
        assert!(is_inherited(&device.wait(None).expect_err("not its own")));
        assert!(refused(device.alloc_pd().expect_err("not its own")));
        assert!(refused(
            pd.alloc_mr(10, Access::NONE).expect_err("not its own")
        ));
        assert!(refused(cq.poll(1).expect_err("not its own")));
        let wr = SendWr::send(1).sge(mr.sge(0, 8));
        assert!(refused(qp.post_send(wr).expect_err("not its own")));
        // What the card reaches is blank here, and nobody's.
        assert_eq!(mr.to_vec(0, 6).expect("inside"), [0; 6]);
        mr.write(0, b"child!").expect("inside");
        owned.write(0, b"child!").expect("inside");
        drop((id, qp, cq, mr, owned, pd, device));
        assert_eq!(did(&card), before, "the card hears of nothing");
        // It opens one of its own.
        let config = DeviceConfig::new([2, 0, 0, 0, 0, 2], [10, 0, 0, 2].into());
        let own = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
        own.progress().expect("nothing is wrong");
    });
    assert_eq!(status, 0);
    let (_id, qp, _cq, mr, owned, pd, device) = all.expect("still the parent's");
    device.progress().expect("nothing is wrong");
    assert_eq!(mr.to_vec(0, 6).expect("inside"), b"parent");
    assert_eq!(owned.to_vec(0, 6).expect("inside"), [0; 6]);
    qp.post_send(SendWr::send(1).sge(mr.sge(0, 8)))
        .expect("room");
    pd.alloc_mr(10, Access::NONE).expect("a region");
}

/// Whatever the parent's threads are at, a child's handles can be dropped.
#[test]
fn no_thread_is_inside_a_device_that_is_forked() {
    let card = FakeCard::new();
    let (device, pd, mr) = open(&card);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(pd.alloc_mr(10, Access::NONE).expect("a region"));
                device.progress().expect("nothing is wrong");
            }
        });
        let mut inherited = Some((device.clone(), pd.clone(), mr));
        for _ in 0..30 {
            let status = child(|| {
                let (device, pd, mr) = inherited.take().expect("inherited");
                assert!(is_inherited(&device.progress().expect_err("not its own")));
                drop((mr, pd, device));
            });
            assert_eq!(status, 0);
        }
        over.store(true, Ordering::Relaxed);
    });
}
