//! Socket addresses of the program's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};

use crate::bindings::*;
use crate::calls::{refuse, Answer};
use crate::object::{given, zeros};

/// Reads one of either family.
///
/// # Safety
/// It is null, or valid for as many bytes as its family has.
pub(crate) unsafe fn read(address: *const sockaddr) -> Answer<SocketAddr> {
    // SAFETY: the caller's promise.
    let family = unsafe { given(address) }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: its family says so.
            let v4 = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            Ok(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: its family says so, and all fields of the union are bytes.
            let (bytes, port) = unsafe {
                let v6 = address.cast::<sockaddr_in6>().read_unaligned();
                (v6.sin6_addr.__in6_u.__u6_addr8, v6.sin6_port)
            };
            let ip = Ipv6Addr::from(bytes);
            Ok(SocketAddr::new(IpAddr::V6(ip), u16::from_be(port)))
        }
        _ => refuse(libc::EAFNOSUPPORT, "an address that is none of IP"),
    }
}

/// As the program reads it.
pub(crate) fn made(address: SocketAddrV4) -> sockaddr_in {
    // SAFETY: numbers.
    let mut made: sockaddr_in = unsafe { zeros() };
    made.sin_family = libc::AF_INET as u16;
    made.sin_port = address.port().to_be();
    made.sin_addr.s_addr = u32::from_ne_bytes(address.ip().octets());
    made
}
