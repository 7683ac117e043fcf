//! Addresses of either IP family. The data path carries IPv4: an IPv4 address written as IPv6 is one, any other IPv6 address is refused, with the
//! reason.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use super::event::{errno, CmEvent, CmEventType};
use super::id::{expect, CmId, CmState};
use super::CmError;

/// Why.
pub(super) const NO_IPV6: &str = "the card checks and makes IPv4 packets alone";

/// The IPv4 address, if it is one.
fn ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(ip) => ip.to_ipv4_mapped(),
    }
}

impl CmId {
    /// [`resolve_addr`](Self::resolve_addr) of an address of either family (`rdma_resolve_addr` takes a `sockaddr`). IPv6 beyond `::ffff:a.b.c.d`:
    /// ADDR_ERROR with -97 (EAFNOSUPPORT).
    pub fn resolve_ip(&self, remote: SocketAddr) -> Result<(), CmError> {
        if let Some(ip) = ipv4(remote.ip()) {
            return self.resolve_addr(SocketAddrV4::new(ip, remote.port()));
        }
        let mut data = self.data();
        expect(&data, "resolve_ip", &[CmState::Idle])?;
        data.state = CmState::Closed;
        drop(data);
        let event = CmEvent::new(self.clone(), CmEventType::AddrError);
        self.tell(event.with_status(errno::EAFNOSUPPORT));
        Ok(())
    }

    /// [`bind_addr`](Self::bind_addr) of either family; `::` is any address, and is reached by IPv4.
    ///
    /// # Errors
    /// [`CmError::NoFamily`] for any other IPv6 address but `::ffff:a.b.c.d`.
    pub fn bind_ip(&self, local: SocketAddr) -> Result<(), CmError> {
        let any = local.ip().is_unspecified().then_some(Ipv4Addr::UNSPECIFIED);
        let ip = any
            .or(ipv4(local.ip()))
            .ok_or(CmError::NoFamily(local.ip()))?;
        self.bind_addr(SocketAddrV4::new(ip, local.port()))
    }
}
