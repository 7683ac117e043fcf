//! Calls that are refused, without a card: each answers as rdma-core's manual page says, and says why in `errno`.

use std::ptr::null_mut;

use weft_rdma::absent::{ibv_create_ah, ibv_set_ece, rdma_establish};
use weft_rdma::cm::{address::*, channel::*, id::*};
use weft_rdma::{completions::*, device::*, memory::*, queue_pairs::*};

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[test]
fn without_a_card_there_is_no_device() {
    std::env::remove_var("WEFT_DEVICE");
    let mut count = -1;
    // SAFETY: a list is asked for, and freed.
    let first = unsafe {
        let list = ibv_get_device_list(&mut count);
        let first = *list;
        ibv_free_device_list(list);
        first
    };
    assert!(first.is_null() && count == 0);
    // SAFETY: nothing is given.
    assert!(unsafe { rdma_create_event_channel() }.is_null());
    assert_eq!(errno(), libc::ENODEV);
}

#[test]
fn null_handles_are_refused() {
    // SAFETY: null pointers, which each of them refuses.
    unsafe {
        assert!(ibv_alloc_pd(null_mut()).is_null());
        assert_eq!(errno(), libc::EINVAL);
        assert!(ibv_reg_mr(null_mut(), null_mut(), 1, 0).is_null());
        assert!(ibv_create_cq(null_mut(), 1, null_mut(), null_mut(), 0).is_null());
        assert!(ibv_create_qp(null_mut(), null_mut()).is_null());
        assert_eq!(ibv_destroy_qp(null_mut()), libc::EINVAL);
        assert_eq!(ibv_destroy_cq(null_mut()), libc::EINVAL);
        assert_eq!(
            ibv_query_qp(null_mut(), null_mut(), 0, null_mut()),
            libc::EINVAL
        );
        for answer in [
            rdma_destroy_id(null_mut()),
            rdma_connect(null_mut(), null_mut()),
            rdma_get_cm_event(null_mut(), null_mut()),
            rdma_ack_cm_event(null_mut()),
            rdma_resolve_addr(null_mut(), null_mut(), null_mut(), 0),
        ] {
            assert_eq!((answer, errno()), (-1, libc::EINVAL));
        }
        rdma_freeaddrinfo(null_mut());
        rdma_destroy_qp(null_mut());
    }
}

#[test]
fn what_is_not_there_says_so() {
    assert!(ibv_create_ah().is_null());
    assert_eq!(errno(), libc::EOPNOTSUPP);
    assert_eq!(ibv_set_ece(), libc::EOPNOTSUPP);
    assert_eq!((rdma_establish(), errno()), (-1, libc::EOPNOTSUPP));
}
