//! Addresses of the connection manager: IP, and native ones by GID.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, ToSocketAddrs};

use thiserror::Error;

/// The P_Key of the only partition there is: full membership of the default one.
pub const DEFAULT_PKEY: u16 = 0xffff;
/// Upper bits of a service ID of the port space TCP: the IP CM's prefix and RDMA_PS_TCP, with the port below (librdmacm, IBTA annex A11).
const SERVICE_TCP: u64 = 0x0000_0000_0106_0000;

/// Is an address in the same network, so that no gateway is between?
pub(super) fn is_near(own: Ipv4Addr, netmask: Ipv4Addr, to: Ipv4Addr) -> bool {
    (u32::from(own) ^ u32::from(to)) & u32::from(netmask) == 0
}

/// Is it that of one host, and not this one by its loopback?
pub(super) fn is_unicast(ip: Ipv4Addr) -> bool {
    !(ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast() || ip.is_loopback())
}

/// The IPv4 addresses of a name, as the system finds them: `/etc/hosts`, DNS, and what else it asks.
pub fn addresses_of(name: &str) -> io::Result<impl Iterator<Item = Ipv4Addr>> {
    let v4 = |to: SocketAddr| match to.ip() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    };
    Ok((name, 0).to_socket_addrs()?.filter_map(v4))
}

/// A port's name, 128 bits (InfiniBand's GID).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// That of an IPv4 address: `::ffff:a.b.c.d`, as RoCE has it. It needs no table to become an address again.
    pub const fn of_ip(ip: Ipv4Addr) -> Self {
        Self(ip.to_ipv6_mapped().octets())
    }

    /// That of 16 bytes in IPv6's notation.
    pub const fn of_ipv6(text: Ipv6Addr) -> Self {
        Self(text.octets())
    }

    /// The one that Linux gives an iWARP port: its MAC address, then zeros. Only a table knows whose it is.
    pub const fn of_mac(mac: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = mac;
        Self([a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    /// The IPv4 address in it, if there is one.
    pub fn ip(self) -> Option<Ipv4Addr> {
        Ipv6Addr::from(self.0).to_ipv4_mapped()
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv6Addr::from(self.0).fmt(f)
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gid({self})")
    }
}

/// A native address (`sockaddr_ib` of `AF_IB`): port, partition, service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GidAddr {
    /// The port's name.
    pub gid: Gid,
    /// The partition: [`DEFAULT_PKEY`], as iWARP has no others.
    pub pkey: u16,
    /// The service; [`GidAddr::new`] makes it of a TCP port.
    pub service_id: u64,
}

impl GidAddr {
    /// A TCP port of this GID, in the default partition.
    pub const fn new(gid: Gid, port: u16) -> Self {
        Self {
            gid,
            pkey: DEFAULT_PKEY,
            service_id: SERVICE_TCP | port as u64,
        }
    }

    /// The TCP port that its service ID stands for; `None`: it is of another port space.
    pub fn port(&self) -> Option<u16> {
        let port = self.service_id as u16;
        (self.service_id == SERVICE_TCP | u64::from(port)).then_some(port)
    }
}

impl fmt::Display for GidAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            gid,
            pkey,
            service_id,
        } = self;
        write!(f, "[{gid}] P_Key {pkey:#06x} service {service_id:#018x}")
    }
}

/// The TCP port of a service: a port number, or `0x` and a service ID of the port space TCP.
pub(super) fn service_port(service: &str) -> Option<u16> {
    let port = match service.strip_prefix("0x") {
        Some(hex) => {
            let service_id = u64::from_str_radix(hex, 16).ok()?;
            let gid = Gid([0; 16]);
            GidAddr {
                gid,
                pkey: DEFAULT_PKEY,
                service_id,
            }
            .port()
        }
        None => service.parse().ok(),
    };
    port.filter(|port| *port != 0)
}

/// Why a native address is of no use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NativeError {
    /// iWARP has one partition.
    #[error("P_Key {0:#06x}: iWARP has the default partition alone, {DEFAULT_PKEY:#06x}")]
    Partition(u16),
    /// Not a service that is a TCP port.
    #[error("service {0:#018x} is of another port space than TCP (0x000000000106 and a port)")]
    Service(u64),
    /// Not one of the device's.
    #[error("the device has no GID {given}; it has {} and {}", .device[0], .device[1])]
    NotLocal {
        /// Asked for.
        given: Gid,
        /// What it has.
        device: [Gid; 2],
    },
    /// Only a table knows whose GID it is.
    #[error("GID {0} has no IPv4 address in it: get_addr_info finds it, if a resolver knows it")]
    Unmapped(Gid),
}

impl GidAddr {
    /// The TCP port, if the rest is what iWARP has.
    pub(super) fn check(&self) -> Result<u16, NativeError> {
        match self.port() {
            _ if self.pkey != DEFAULT_PKEY => Err(NativeError::Partition(self.pkey)),
            None => Err(NativeError::Service(self.service_id)),
            Some(port) => Ok(port),
        }
    }
}

/// Where somebody is, in one of two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// IPv4 address and TCP port.
    Ip(SocketAddrV4),
    /// Native.
    Gid(GidAddr),
}

impl Address {
    const IP: u8 = 1;
    const GID: u8 = 2;
    /// Bytes of any of the two.
    pub(super) const SIZE: usize = 27;

    /// The kind, and what it consists of; zeros fill the rest.
    pub(super) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        match self {
            Self::Ip(to) => {
                bytes[0] = Self::IP;
                bytes[1..5].copy_from_slice(&to.ip().octets());
                bytes[5..7].copy_from_slice(&to.port().to_be_bytes());
            }
            Self::Gid(to) => {
                bytes[0] = Self::GID;
                bytes[1..17].copy_from_slice(&to.gid.0);
                bytes[17..19].copy_from_slice(&to.pkey.to_be_bytes());
                bytes[19..27].copy_from_slice(&to.service_id.to_be_bytes());
            }
        }
        bytes
    }

    /// `None`: bytes that `to_bytes` does not make.
    pub(super) fn from_bytes(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let ip = *bytes[1..].first_chunk::<4>()?;
        let address = match bytes[0] {
            Self::IP => Self::Ip(SocketAddrV4::new(
                ip.into(),
                u16::from_be_bytes(*bytes[5..].first_chunk()?),
            )),
            Self::GID => Self::Gid(GidAddr {
                gid: Gid(*bytes[1..].first_chunk()?),
                pkey: u16::from_be_bytes(*bytes[17..].first_chunk()?),
                service_id: u64::from_be_bytes(*bytes[19..].first_chunk()?),
            }),
            _ => return None,
        };
        (address.to_bytes() == *bytes).then_some(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(to) => to.fmt(f),
            Self::Gid(to) => to.fmt(f),
        }
    }
}

impl From<SocketAddrV4> for Address {
    fn from(to: SocketAddrV4) -> Self {
        Self::Ip(to)
    }
}

impl From<GidAddr> for Address {
    fn from(to: GidAddr) -> Self {
        Self::Gid(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports() {
        let ip = Ipv4Addr::new(10, 0, 0, 2);
        assert_eq!(Gid::of_ip(ip).to_string(), "::ffff:10.0.0.2");
        assert_eq!(Gid::of_ip(ip).ip(), Some(ip));
        let mac = Gid::of_mac([2, 0x57, 10, 0, 0, 2]);
        assert_eq!(mac.to_string(), "257:a00:2::");
        assert_eq!(mac.ip(), None);
    }

    #[test]
    fn services_and_ports() {
        let to = GidAddr::new(Gid::of_mac([2; 6]), 4791);
        assert_eq!((to.service_id, to.port()), (0x010612b7, Some(4791)));
        for service_id in [0, 4791, 0x013f_12b7, 1 << 32 | to.service_id] {
            assert_eq!(GidAddr { service_id, ..to }.port(), None);
        }
    }
}
