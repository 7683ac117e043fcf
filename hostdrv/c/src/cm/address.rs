//! Names of hosts and services, and the list of devices.

use std::ffi::{c_char, c_int};
use std::mem::size_of;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ptr;

use super::endpoint::no_info;
use super::ip;
use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::object::given;
use crate::process::process;
use crate::settings;

/// An entry of `rdma_getaddrinfo`, with the addresses that it points to.
#[repr(C)]
struct Info {
    c: rdma_addrinfo,
    from: sockaddr_in,
    to: sockaddr_in,
}

/// The IPv4 address of a node and a service, as the system knows them.
///
/// # Safety
/// Both are null, or text.
unsafe fn look_up(
    node: *const c_char,
    service: *const c_char,
    passive: bool,
) -> Answer<SocketAddrV4> {
    // SAFETY: numbers and pointers that may be null.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = libc::AF_INET;
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = if passive { libc::AI_PASSIVE } else { 0 };
    if node.is_null() && service.is_null() {
        return Ok(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    }
    let mut found = ptr::null_mut();
    // SAFETY: the caller's promise; the list is freed below.
    let answer = unsafe { libc::getaddrinfo(node, service, &hints, &mut found) };
    if answer != 0 {
        return refuse(libc::ENXIO, "a name that the system does not know");
    }
    // SAFETY: a list of one entry at least.
    let first = unsafe { ip::read((*found).ai_addr.cast()) };
    // SAFETY: it was made above.
    unsafe { libc::freeaddrinfo(found) };
    match first? {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(_) => refuse(libc::EAFNOSUPPORT, "an IPv6 address"),
    }
}

/// An address of the hints, if there is one.
///
/// # Safety
/// It is null or an address.
unsafe fn hinted(address: *const sockaddr) -> Answer<Option<SocketAddrV4>> {
    if address.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    match unsafe { ip::read(address) }? {
        SocketAddr::V4(address) => Ok(Some(address)),
        SocketAddr::V6(_) => refuse(libc::EAFNOSUPPORT, "an IPv6 address"),
    }
}

entries! {
    /// Where a node and a service are.
    cm fn rdma_getaddrinfo(
        node: *const c_char,
        service: *const c_char,
        hints: *const rdma_addrinfo,
        found: *mut *mut rdma_addrinfo,
    ) -> c_int {
        given(found)?;
        let empty = no_info();
        let hints = hints.as_ref().unwrap_or(&empty);
        let passive = hints.ai_flags as u32 & RAI_PASSIVE != 0;
        let named = !node.is_null() || !service.is_null();
        let source = hinted(hints.ai_src_addr)?;
        let own = source.unwrap_or(SocketAddrV4::new(settings::ip(), 0));
        let address = match (named, hinted(hints.ai_dst_addr)?) {
            (false, Some(to)) if !passive => to,
            (false, _) if passive && source.is_some() => own,
            _ => look_up(node, service, passive)?,
        };
        let (from, to) = if passive { (address, None) } else { (own, Some(address)) };
        let mut info = Box::new(Info {
            c: no_info(),
            from: ip::made(from),
            to: ip::made(to.unwrap_or(own)),
        });
        let size = size_of::<sockaddr_in>() as socklen_t;
        let (source, target) = (&raw mut info.from, &raw mut info.to);
        let c = &mut info.c;
        (c.ai_flags, c.ai_family) = (hints.ai_flags, libc::AF_INET);
        c.ai_qp_type = if hints.ai_qp_type != 0 { hints.ai_qp_type } else { IBV_QPT_RC as c_int };
        c.ai_port_space = if hints.ai_port_space != 0 { hints.ai_port_space } else { RDMA_PS_TCP as c_int };
        (c.ai_src_len, c.ai_src_addr) = (size, source.cast());
        if to.is_some() {
            (c.ai_dst_len, c.ai_dst_addr) = (size, target.cast());
        }
        found.write(Box::into_raw(info).cast());
        Ok(())
    }

    /// Frees the list.
    void fn rdma_freeaddrinfo(info: *mut rdma_addrinfo) {
        if !info.is_null() {
            drop(Box::from_raw(info.cast::<Info>()));
        }
        Ok(())
    }

    /// The open device.
    made fn rdma_get_devices(count: *mut c_int) -> *mut *mut ibv_context {
        let context = process()?.context.as_c();
        if !count.is_null() {
            count.write(1);
        }
        Ok(Box::into_raw(Box::new([context, ptr::null_mut()])).cast())
    }

    /// Frees the list.
    void fn rdma_free_devices(list: *mut *mut ibv_context) {
        if !list.is_null() {
            drop(Box::from_raw(list.cast::<[*mut ibv_context; 2]>()));
        }
        Ok(())
    }
}
