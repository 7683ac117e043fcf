//! `ibv_rereg_mr`, on a card that is made up: what a region is afterwards, and what it is still when that was refused.

#[path = "../../tests/fake/mod.rs"]
mod fake;

use std::ptr::null_mut;
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::{Device, DeviceConfig};
use weft_rdma::c::*;
use weft_rdma::{device::*, memory::*, reregistering::*};

#[test]
fn a_region_becomes_another_one() {
    std::env::set_var("WEFT_DEVICE", "fake");
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
    assert!(weft_rdma::open_on(device));
    let mut memory = vec![0u8; 12288];
    let [first, second] = [0, 8192].map(|at| memory[at..].as_mut_ptr().cast());
    // SAFETY: the calls of a C program, in its order; all that they are given lives to the end.
    unsafe {
        let context = ibv_open_device(*ibv_get_device_list(null_mut()));
        let (pd, other) = (ibv_alloc_pd(context), ibv_alloc_pd(context));
        let mr = ibv_reg_mr(pd, first, 4096, IBV_ACCESS_LOCAL_WRITE as i32);
        let said = |mr: *mut ibv_mr| ((*mr).addr, (*mr).length, (*mr).pd);
        let (before, key) = (said(mr), (*mr).lkey);

        // What cannot be leaves it as it was.
        let no_right = IBV_ACCESS_REMOTE_WRITE as i32;
        let moves = IBV_REREG_MR_CHANGE_TRANSLATION as i32;
        let rights = IBV_REREG_MR_CHANGE_ACCESS as i32;
        let domain = IBV_REREG_MR_CHANGE_PD as i32;
        for (flags, pd, addr, length, access) in [
            (0, pd, first, 4096, 0),
            (8, pd, first, 4096, 0),
            (moves, null_mut(), null_mut(), 4096, 0),
            (domain, null_mut(), first, 4096, 0),
            (rights, null_mut(), null_mut(), 0, no_right),
        ] {
            assert_eq!(ibv_rereg_mr(mr, flags, pd, addr, length, access), -1);
            let errno = std::io::Error::last_os_error().raw_os_error();
            assert_eq!(errno, Some(libc::EINVAL));
            assert_eq!((said(mr), (*mr).lkey), (before, key));
        }

        let all = moves | rights | domain;
        let access = (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) as i32;
        assert_eq!(ibv_rereg_mr(mr, all, other, second, 100, access), 0);
        assert_eq!(said(mr), (second, 100, other));
        assert_ne!((*mr).lkey, key);
        // Nothing is left in the first domain, and something is in the second.
        assert_eq!(ibv_dealloc_pd(pd), 0);
        // One thing alone: the rest stays.
        let again = (*mr).lkey;
        assert_eq!(
            ibv_rereg_mr(mr, rights, null_mut(), null_mut(), 0, access),
            0
        );
        assert_eq!(said(mr), (second, 100, other));
        assert_ne!((*mr).lkey, again);
        assert_eq!(ibv_dereg_mr(mr), 0);
        assert_eq!(ibv_dealloc_pd(other), 0);
    }
    drop(memory);
}
