//! The card among the system's interfaces: programs that look for addresses of RDMA devices there find its own (libfabric does).

use std::ffi::{c_char, c_int, CStr};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ptr;
use std::sync::Mutex;

use libc::ifaddrs;

use crate::bindings::sockaddr_in;
use crate::calls::{refuse, Answer};
use crate::cm::made;
use crate::object::given;
use crate::process::{lock, process};
use crate::{broker, settings};

/// The interface's name.
const NAME: &CStr = c"weft0";

/// The card's entry, with what it points to.
#[repr(C)]
struct Entry {
    c: ifaddrs,
    address: sockaddr_in,
    mask: sockaddr_in,
    broadcast: sockaddr_in,
}

/// Entries that programs have.
static GIVEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The system's function of this name.
fn next(name: &CStr) -> Answer<*mut libc::c_void> {
    // SAFETY: a name.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    match found.is_null() {
        true => refuse(libc::ENOSYS, "the system has no interfaces"),
        false => Ok(found),
    }
}

impl Entry {
    fn give(address: Ipv4Addr, mask: Ipv4Addr, behind: *mut ifaddrs) -> *mut ifaddrs {
        let of = |address| made(SocketAddrV4::new(address, 0));
        let entry = Box::into_raw(Box::new(Self {
            c: ifaddrs {
                ifa_next: behind,
                ifa_name: NAME.as_ptr().cast::<c_char>().cast_mut(),
                ifa_flags: (libc::IFF_UP | libc::IFF_RUNNING | libc::IFF_BROADCAST) as u32,
                ifa_addr: ptr::null_mut(),
                ifa_netmask: ptr::null_mut(),
                ifa_ifu: ptr::null_mut(),
                ifa_data: ptr::null_mut(),
            },
            address: of(address),
            mask: of(mask),
            broadcast: of(address | !mask),
        }));
        // SAFETY: it was made just now; its fields stay where they are.
        unsafe {
            (*entry).c.ifa_addr = (&raw mut (*entry).address).cast();
            (*entry).c.ifa_netmask = (&raw mut (*entry).mask).cast();
            (*entry).c.ifa_ifu = (&raw mut (*entry).broadcast).cast();
        }
        lock(&GIVEN).push(entry as usize);
        entry.cast()
    }
}

entries! {
    /// The system's interfaces, and before them the card's.
    cm fn getifaddrs(list: *mut *mut ifaddrs) -> c_int {
        given(list)?;
        let system = std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut *mut ifaddrs) -> c_int>(next(c"getifaddrs")?);
        if system(list) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        // A lent card's address is known when it is open.
        if settings::device().is_ok_and(|device| broker::socket(&device).is_some()) {
            drop(process());
        }
        if let Ok((address, mask)) = settings::network() {
            list.write(Entry::give(address, mask, list.read()));
        }
        Ok(())
    }

    /// Frees the list.
    void fn freeifaddrs(list: *mut ifaddrs) {
        let system = std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut ifaddrs)>(next(c"freeifaddrs")?);
        let own = {
            let mut given = lock(&GIVEN);
            let at = given.iter().position(|entry| *entry == list as usize);
            at.map(|at| given.swap_remove(at)).is_some()
        };
        let rest = match own {
            true => Box::from_raw(list.cast::<Entry>()).c.ifa_next,
            false => list,
        };
        if !rest.is_null() {
            system(rest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cards_entry_comes_before_the_systems() {
        std::env::set_var(settings::IP_VARIABLE, "10.9.8.7/16");
        let mut list = ptr::null_mut();
        // SAFETY: a place for a list, which is freed below.
        assert_eq!(unsafe { getifaddrs(&mut list) }, 0);
        // SAFETY: there is an entry at least: the card's.
        let first = unsafe { &*list };
        // SAFETY: its name and its addresses.
        let (name, address, mask) = unsafe {
            let number = |at: *mut libc::sockaddr| (*at.cast::<sockaddr_in>()).sin_addr.s_addr;
            let name = CStr::from_ptr(first.ifa_name);
            (name, number(first.ifa_addr), number(first.ifa_netmask))
        };
        assert_eq!(name, NAME);
        assert_eq!(address.to_ne_bytes(), [10, 9, 8, 7]);
        assert_eq!(mask.to_ne_bytes(), [255, 255, 0, 0]);
        assert!(!first.ifa_next.is_null(), "the system has interfaces");
        // SAFETY: it was made above, and nobody looks at it any more.
        unsafe { freeifaddrs(list) };
        assert!(lock(&GIVEN).is_empty());
    }
}
