//! A region that becomes another one.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::memory::{deregister, register, Region};
use crate::object::Object;
use crate::process::process;

/// What a region is registered with.
struct Wanted {
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    first: u64,
    access: c_uint,
}

impl Wanted {
    /// As the region is, but for what the flags name.
    fn of(
        region: &Region,
        flags: c_int,
        pd: *mut ibv_pd,
        (addr, length): (*mut c_void, usize),
        access: c_int,
    ) -> Answer<Self> {
        let flags = flags as ibv_rereg_mr_flags;
        if flags == 0 || flags & !IBV_REREG_MR_FLAGS_SUPPORTED != 0 {
            return refuse(libc::EINVAL, "no flag, or one that is unknown");
        }
        let has = |flag| flags & flag != 0;
        let mut wanted = Self {
            pd: region.c.pd,
            addr: region.c.addr,
            length: region.c.length,
            first: region.mr.addr(),
            access: region.access,
        };
        if has(IBV_REREG_MR_CHANGE_TRANSLATION) {
            (wanted.addr, wanted.length, wanted.first) = (addr, length, addr as u64);
        }
        if has(IBV_REREG_MR_CHANGE_PD) {
            wanted.pd = pd;
        }
        if has(IBV_REREG_MR_CHANGE_ACCESS) {
            wanted.access = access as c_uint;
        }
        Ok(wanted)
    }
}

entries! {
    /// The region becomes another one, with other keys. Refused (`IBV_REREG_MR_ERR_INPUT`), it is what it was.
    cm fn ibv_rereg_mr(
        mr: *mut ibv_mr,
        flags: c_int,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: size_t,
        access: c_int,
    ) -> c_int {
        let process = process()?;
        let wanted = Wanted::of(Region::of(mr)?, flags, pd, (addr, length), access)?;
        let Wanted { pd, addr, length, first, access } = wanted;
        let new = *Region::take(register(pd, addr, length, first, access)?)?;
        let place: *mut Region = mr.cast();
        let (old_key, new_key) = ((*place).mr.lkey(), new.mr.lkey());
        process.regions.set(old_key, ptr::null_mut());
        let refused = deregister(process, ptr::read(&raw const (*place).mr)).err();
        let (left, refused) = match refused {
            Some((left, refused)) => (left, Err(refused)),
            None => (None, Ok(())),
        };
        match left {
            Some(old) => {
                ptr::write(&raw mut (*place).mr, old);
                process.regions.set(old_key, place);
                process.regions.set(new_key, ptr::null_mut());
                // It was nobody's yet.
                let _ = deregister(process, new.mr);
            }
            None => {
                ptr::write(place, new);
                process.regions.set(new_key, place);
            }
        }
        refused
    }
}
