//! Route records: all that a transport needs to reach a peer, found before and kept.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use thiserror::Error;
use weft_engine::{is_station, EngineConfig, Route};

use super::address::NativeError;

/// The version that is written, and the only one that is read.
pub const ROUTE_VERSION: u8 = 1;
/// No VLAN.
const UNTAGGED: u16 = 0xffff;
/// What every IPv4 network carries.
const LEAST_MTU: u16 = 576;

/// What carries a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TransportKind {
    /// iWARP on a card.
    Iwarp,
    /// Inside the host: [`LoopbackHost`](super::LoopbackHost).
    Loop,
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iwarp => "iWARP",
            Self::Loop => "loop",
        })
    }
}

/// Why a record is none, or is of no use here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RouteError {
    /// Other bytes, or a part.
    #[error("these {0} bytes are no record")]
    NotARecord(usize),
    /// Its bytes have changed.
    #[error("the record is damaged: its checksum is wrong")]
    Damaged,
    /// Written by another version of Weft.
    #[error("a record of version {0}; this is version {ROUTE_VERSION}: resolve once more")]
    Version(u8),
    /// It begins at another device, or the device has other addresses by now.
    #[error("the record begins at {record}, and the device is {device}: resolve once more")]
    NotThisDevice {
        /// Addresses in the record.
        record: Source,
        /// The device's.
        device: Source,
    },
    /// The loop of another process.
    #[error("the record leads through the loop of another process: resolve once more")]
    OtherHost,
    /// The data path has no VLANs.
    #[error("the way is in VLAN {0}, and the card tags no frames")]
    Vlan(u16),
    /// Less than any network carries.
    #[error("an MTU of {0}: the least is {LEAST_MTU}")]
    Mtu(u16),
    /// A group's address, or nobody's.
    #[error("{0:02x?} is not the address of a station")]
    Station([u8; 6]),
    /// The entry's native address is of no use.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// To another peer than the entry says.
    #[error("the record leads to {record}, and not to {wanted}")]
    OtherDestination {
        /// Where it leads.
        record: SocketAddrV4,
        /// Where it is to lead.
        wanted: SocketAddrV4,
    },
}

/// The addresses that a device sends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// IPv4.
    pub ip: Ipv4Addr,
    /// Ethernet.
    pub mac: [u8; 6],
}

impl Source {
    pub(super) fn of(config: &EngineConfig) -> Self {
        Self {
            ip: config.ip.into(),
            mac: config.mac,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.mac;
        write!(
            f,
            "{} at {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}",
            self.ip
        )
    }
}

/// The way to a peer, found once: whoever connects with it asks nobody. Opaque; made by
/// [`Device::get_addr_info`](crate::Device::get_addr_info) or from somebody's table; as bytes it can be kept and sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RouteRecord {
    transport: TransportKind,
    pub(super) source: Source,
    pub(super) destination: SocketAddrV4,
    pub(super) next_hop: [u8; 6],
    pub(super) mtu: u16,
    pub(super) vlan: Option<u16>,
}

impl RouteRecord {
    const MAGIC: [u8; 4] = *b"WRTE";
    const IWARP: u8 = 1;
    const LOOP: u8 = 2;
    /// Bytes of a record.
    pub const SIZE: usize = 38;

    /// A record of an iWARP connection's way, for whoever knows it from elsewhere: from `source` (the device's addresses) by way of the
    /// station `next_hop` to `destination`, where IPv4 packets of `mtu` bytes pass.
    pub fn iwarp(source: Source, destination: SocketAddrV4, next_hop: [u8; 6], mtu: u16) -> Self {
        Self {
            transport: TransportKind::Iwarp,
            source,
            destination,
            next_hop,
            mtu,
            vlan: None,
        }
    }

    /// A record of a way through the loop of this process, which has the place of the next station.
    pub(super) fn loopback(source: Source, destination: SocketAddrV4, host: [u8; 6]) -> Self {
        Self {
            transport: TransportKind::Loop,
            ..Self::iwarp(source, destination, host, u16::MAX)
        }
    }

    /// The same way in a VLAN. No card can go it yet.
    pub fn in_vlan(mut self, id: u16) -> Self {
        self.vlan = Some(id & 0xfff);
        self
    }

    /// What carries a connection on this way.
    pub fn transport(&self) -> TransportKind {
        self.transport
    }

    /// As bytes: magic, version, transport, length; source IPv4 and MAC address, next hop, destination and port, MTU, VLAN (ffff: none);
    /// CRC32C of all that. Big-endian.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let transport = match self.transport {
            TransportKind::Iwarp => Self::IWARP,
            TransportKind::Loop => Self::LOOP,
        };
        let fields: [&[u8]; 11] = [
            &Self::MAGIC,
            &[ROUTE_VERSION, transport],
            &(Self::SIZE as u16).to_be_bytes(),
            &self.source.ip.octets(),
            &self.source.mac,
            &self.next_hop,
            &self.destination.ip().octets(),
            &self.destination.port().to_be_bytes(),
            &self.mtu.to_be_bytes(),
            &self.vlan.unwrap_or(UNTAGGED).to_be_bytes(),
            &[],
        ];
        put(&mut bytes, &fields);
        seal(&mut bytes);
        bytes
    }

    /// From bytes, which may be anybody's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RouteError> {
        let none = RouteError::NotARecord(bytes.len());
        check_seal(bytes, Self::MAGIC, Self::SIZE)?;
        let transport = match bytes[Self::MAGIC.len() + 1] {
            Self::LOOP => TransportKind::Loop,
            _ => TransportKind::Iwarp,
        };
        let mut fields = Fields(&bytes[8..]);
        let mut read = || {
            Some(Self {
                transport,
                source: Source {
                    ip: fields.take::<4>()?.into(),
                    mac: fields.take()?,
                },
                next_hop: fields.take()?,
                destination: {
                    let ip = fields.take::<4>()?;
                    SocketAddrV4::new(ip.into(), fields.number()?)
                },
                mtu: fields.number()?,
                vlan: Some(fields.number()?).filter(|id| *id != UNTAGGED),
            })
        };
        let record = read().ok_or(none.clone())?;
        match record.to_bytes() == *bytes {
            true => Ok(record),
            false => Err(none),
        }
    }

    /// The way for the engine of a device with these settings; `None`: through the loop, which is this one (`host`).
    pub(super) fn for_device(
        &self,
        config: &EngineConfig,
        host: Option<[u8; 6]>,
    ) -> Result<Option<Route>, RouteError> {
        let device = Source::of(config);
        if self.source != device {
            return Err(RouteError::NotThisDevice {
                record: self.source,
                device,
            });
        }
        if self.transport == TransportKind::Loop {
            return match host == Some(self.next_hop) {
                true => Ok(None),
                false => Err(RouteError::OtherHost),
            };
        }
        if let Some(id) = self.vlan {
            return Err(RouteError::Vlan(id));
        }
        if self.mtu < LEAST_MTU {
            return Err(RouteError::Mtu(self.mtu));
        }
        if !is_station(self.next_hop) {
            return Err(RouteError::Station(self.next_hop));
        }
        Ok(Some(Route {
            next_hop: self.next_hop,
            mtu: self.mtu,
        }))
    }
}

impl fmt::Debug for RouteRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteRecord")
            .field("transport", &self.transport())
            .field("destination", &self.destination)
            .finish_non_exhaustive()
    }
}

/// Writes fields one behind the other.
pub(super) fn put(bytes: &mut [u8], fields: &[&[u8]]) {
    let all = fields.iter().copied().flatten();
    for (to, from) in bytes.iter_mut().zip(all) {
        *to = *from;
    }
}

/// The last four bytes become the checksum of the others.
pub(super) fn seal(bytes: &mut [u8]) {
    if let Some((body, sum)) = bytes.split_last_chunk_mut::<4>() {
        *sum = crc32c::crc32c(body).to_be_bytes();
    }
}

/// Bytes that begin with this magic and the version, have this length, and are whole.
pub(super) fn check_seal(bytes: &[u8], magic: [u8; 4], size: usize) -> Result<(), RouteError> {
    let version = bytes.strip_prefix(&magic).and_then(<[u8]>::first);
    match version {
        Some(&ROUTE_VERSION) if bytes.len() == size => {}
        Some(&other) if other != ROUTE_VERSION => return Err(RouteError::Version(other)),
        _ => return Err(RouteError::NotARecord(bytes.len())),
    }
    let whole = bytes
        .split_last_chunk::<4>()
        .is_some_and(|(body, sum)| crc32c::crc32c(body).to_be_bytes() == *sum);
    match whole {
        true => Ok(()),
        false => Err(RouteError::Damaged),
    }
}

/// Fields one behind the other.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn number(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }
}
