//! Calls that Weft does not have. Each answers EOPNOTSUPP, and is counted.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Once;

use crate::calls::{log, Log};

/// A call or an opcode that is not there.
pub(crate) struct Absent {
    name: &'static str,
    called: AtomicU64,
}

impl Absent {
    const fn new(name: &'static str) -> Self {
        let called = AtomicU64::new(0);
        Self { name, called }
    }

    #[cold]
    pub(crate) fn note(&self) {
        if self.called.fetch_add(1, Ordering::Relaxed) == 0 && log() >= Log::Refused {
            eprintln!("weft-rdma: {} is not there", self.name);
        }
        at_exit();
        // SAFETY: the thread's own errno.
        unsafe { *libc::__errno_location() = libc::EOPNOTSUPP };
    }
}

/// Entries whose arguments nobody looks at: a C caller may give any.
macro_rules! absent {
    ($(pointers $($pointer:ident)*;)? $(verbs $($verb:ident)*;)? $(managers $($manager:ident)*;)?) => {
        $($(absent!(@one $pointer -> *mut c_void = ptr::null_mut());)*)?
        $($(absent!(@one $verb -> i32 = libc::EOPNOTSUPP);)*)?
        $($(absent!(@one $manager -> i32 = -1);)*)?
        /// Names of all of them.
        pub const NAMES: &[&str] = &[$($(stringify!($pointer),)*)? $($(stringify!($verb),)*)? $($(stringify!($manager),)*)?];
        fn counts() -> Vec<(&'static str, u64)> {
            let all: &[&Absent] = &[$($(&$pointer::COUNT,)*)? $($(&$verb::COUNT,)*)? $($(&$manager::COUNT,)*)?];
            all.iter().map(|absent| (absent.name, absent.called.load(Ordering::Relaxed))).collect()
        }
    };
    (@one $name:ident -> $type:ty = $answer:expr) => {
        mod $name {
            pub(super) static COUNT: super::Absent = super::Absent::new(stringify!($name));
        }
        /// EOPNOTSUPP.
        #[no_mangle]
        pub extern "C" fn $name() -> $type {
            $name::COUNT.note();
            $answer
        }
    };
}

absent! {
    pointers
        ibv_create_ah ibv_create_ah_from_wc ibv_reg_dmabuf_mr ibv_import_device ibv_import_pd ibv_import_mr ibv_import_dm
        ibv_get_sysfs_path;
    verbs
        ibv_destroy_ah ibv_attach_mcast ibv_detach_mcast ibv_init_ah_from_wc ibv_resolve_eth_l2_from_gid ibv_set_ece ibv_query_ece
        ibv_query_qp_data_in_order;
    managers
        rdma_notify rdma_establish rdma_init_qp_attr rdma_join_multicast rdma_join_multicast_ex rdma_leave_multicast
        rdma_set_local_ece rdma_get_remote_ece rdma_reject_ece ibv_read_sysfs_file;
}

/// Opcodes that iWARP does not have.
pub(crate) static SEND_WITH_IMM: Absent = Absent::new("IBV_WR_SEND_WITH_IMM");
/// What a broker does not lend.
pub(crate) static LENT: Absent = Absent::new("what a broker does not lend");

/// At exit, what was called that is not there is told, if the environment asks for it.
pub(crate) fn at_exit() {
    extern "C" fn print() {
        if log() < Log::Calls {
            return;
        }
        let others = [&SEND_WITH_IMM, &LENT];
        let others = others.map(|absent| (absent.name, absent.called.load(Ordering::Relaxed)));
        let all = counts().into_iter().chain(others);
        for (name, called) in all.filter(|(_, called)| *called > 0) {
            eprintln!("weft-rdma: not there: {name}, {called} times");
        }
    }
    static ONCE: Once = Once::new();
    // SAFETY: a function without arguments, which stays where it is: this library is not unloaded.
    ONCE.call_once(|| unsafe {
        libc::atexit(print);
    });
}
