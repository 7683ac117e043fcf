//! What is said between a program and a resolver, and between two resolvers: records of one message each, which end with a CRC32C.

use std::io::{self, Read, Write};
use std::net::Ipv4Addr;

use weft_engine::{is_station, EngineConfig};

use crate::cm::addr_info::AddrInfo;
use crate::cm::address::service_port;
use crate::cm::route::{check_seal, seal, Fields, RouteError, Source, ROUTE_VERSION};

/// The longest message.
const MOST: usize = 8192;
/// The most entries of an answer.
const ENTRIES: usize = 64;

/// What a resolver is asked: the way from this device to that service of that node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The device's addresses.
    pub source: Source,
    /// Its network.
    pub netmask: Ipv4Addr,
    /// Its way out of it.
    pub gateway: Option<Ipv4Addr>,
    /// Its largest IPv4 packet.
    pub mtu: u16,
    /// The port that it will connect from; 0: any.
    pub source_port: u16,
    /// Entries with native addresses are wanted.
    pub native: bool,
    /// The node is an address, or a name in a table: no name server is asked.
    pub numeric: bool,
    /// A resolver asks for another host: nobody else is asked for the answer.
    pub forwarded: bool,
    /// A name, an address or a GID, of at most 255 bytes.
    pub node: String,
    /// A name, a port number or a service ID, likewise.
    pub service: String,
}

impl Question {
    const MAGIC: [u8; 4] = *b"WASK";
    const NATIVE: u8 = 1;
    const NUMERIC: u8 = 2;
    const FORWARDED: u8 = 4;

    pub(in crate::cm) fn of(config: &EngineConfig, node: &str, service: &str) -> Self {
        Self {
            source: Source::of(config),
            netmask: config.netmask.into(),
            gateway: config.gateway.map(Ipv4Addr::from),
            mtu: config.mtu,
            source_port: 0,
            native: false,
            numeric: false,
            forwarded: false,
            node: node.to_owned(),
            service: service.to_owned(),
        }
    }

    /// As bytes: magic, version, flags; source, netmask, gateway (0: none), MTU, port; the two names, each behind its length; CRC32C. `None`: a
    /// name is too long.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Self::MAGIC.to_vec();
        let flags = [
            (self.native, Self::NATIVE),
            (self.numeric, Self::NUMERIC),
            (self.forwarded, Self::FORWARDED),
        ];
        let flags = flags.iter().filter(|(set, _)| *set);
        bytes.extend([ROUTE_VERSION, flags.map(|(_, bit)| bit).sum()]);
        bytes.extend(self.source.ip.octets());
        bytes.extend(self.source.mac);
        bytes.extend(self.netmask.octets());
        bytes.extend(self.gateway.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
        bytes.extend(self.mtu.to_be_bytes());
        bytes.extend(self.source_port.to_be_bytes());
        for name in [&self.node, &self.service] {
            bytes.push(name.len().try_into().ok()?);
            bytes.extend(name.as_bytes());
        }
        sealed(bytes)
    }

    /// Whether this entry can be an answer: it begins at the device, and leads to the address and port, where those are what was asked for.
    pub fn is_answered_by(&self, entry: &AddrInfo) -> bool {
        let to = entry.route.destination;
        let wrong = |wanted: Option<u16>, port| wanted.is_some_and(|wanted| wanted != port);
        entry.route.source == self.source
            && !self
                .node
                .parse()
                .is_ok_and(|node: Ipv4Addr| node != *to.ip())
            && !wrong(service_port(&self.service), to.port())
    }

    /// The device that asks, as its host's resolver knows it from now on.
    pub fn station(&self) -> Station {
        Station {
            ip: self.source.ip,
            mac: self.source.mac,
            mtu: self.mtu,
        }
    }

    /// From bytes, which may be anybody's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RouteError> {
        let none = RouteError::NotARecord(bytes.len());
        check_seal(bytes, Self::MAGIC, bytes.len())?;
        let mut fields = Fields(bytes.get(5..bytes.len() - 4).unwrap_or_default());
        let mut read = || {
            let [flags] = fields.take()?;
            let source = Source {
                ip: fields.take::<4>()?.into(),
                mac: fields.take()?,
            };
            let netmask = fields.take::<4>()?.into();
            let gateway = Ipv4Addr::from(fields.take::<4>()?);
            let mtu = u16::from_be_bytes(fields.take()?);
            let source_port = u16::from_be_bytes(fields.take()?);
            let mut name = || {
                let [length] = fields.take()?;
                let (name, rest) = fields.0.split_at_checked(usize::from(length))?;
                fields.0 = rest;
                String::from_utf8(name.to_vec()).ok()
            };
            let question = Self {
                source,
                netmask,
                gateway: Some(gateway).filter(|ip| !ip.is_unspecified()),
                mtu,
                source_port,
                native: flags & Self::NATIVE != 0,
                numeric: flags & Self::NUMERIC != 0,
                forwarded: flags & Self::FORWARDED != 0,
                node: name()?,
                service: name()?,
            };
            let known = Self::NATIVE | Self::NUMERIC | Self::FORWARDED;
            (fields.0.is_empty() && flags & !known == 0).then_some(question)
        };
        read().ok_or(none)
    }
}

/// An answer as bytes: magic, version, number of entries, the entries, CRC32C. What is more than 64 entries is left out.
pub fn answer_bytes(entries: &[AddrInfo]) -> Vec<u8> {
    let entries = &entries[..entries.len().min(ENTRIES)];
    let mut bytes = ANSWER.to_vec();
    bytes.extend([ROUTE_VERSION, entries.len() as u8]);
    bytes.extend(entries.iter().flat_map(AddrInfo::to_bytes));
    bytes.extend([0; 4]);
    seal(&mut bytes);
    bytes
}

const ANSWER: [u8; 4] = *b"WANS";

/// The entries of an answer; none: the resolver knows nothing.
pub fn answer_from_bytes(bytes: &[u8]) -> Result<Vec<AddrInfo>, RouteError> {
    let none = RouteError::NotARecord(bytes.len());
    check_seal(bytes, ANSWER, bytes.len())?;
    let (Some(count), Some(body)) = (bytes.get(5), bytes.get(6..bytes.len() - 4)) else {
        return Err(none);
    };
    if body.len() != usize::from(*count) * AddrInfo::SIZE {
        return Err(none);
    }
    body.chunks(AddrInfo::SIZE)
        .map(AddrInfo::from_bytes)
        .collect()
}

/// A station as a resolver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its IPv4 address.
    pub ip: Ipv4Addr,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Its largest IPv4 packet.
    pub mtu: u16,
}

impl Station {
    /// The device with these settings.
    pub(in crate::cm) fn of(config: &EngineConfig) -> Self {
        Self {
            ip: config.ip.into(),
            mac: config.mac,
            mtu: config.mtu,
        }
    }

    /// Whether somebody can be there.
    pub fn is_one(&self) -> bool {
        is_station(self.mac) && !self.ip.is_unspecified()
    }
}

/// What a program tells its host's resolver, which does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A device of this host.
    Here(Station),
    /// A station that answered a device of this host by ARP.
    Answered(Station),
}

impl Told {
    const MAGIC: [u8; 4] = *b"WTEL";
    const SIZE: usize = 4 + 2 + 4 + 6 + 2 + 4;

    /// Whether these bytes are to be one.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&Self::MAGIC)
    }

    /// As bytes: magic, version, kind (0: here, 1: answered); IPv4 address, MAC address, MTU; CRC32C.
    pub fn to_bytes(self) -> Vec<u8> {
        let (kind, station) = match self {
            Self::Here(station) => (0, station),
            Self::Answered(station) => (1, station),
        };
        let mut bytes = Self::MAGIC.to_vec();
        bytes.extend([ROUTE_VERSION, kind]);
        bytes.extend(station.ip.octets());
        bytes.extend(station.mac);
        bytes.extend(station.mtu.to_be_bytes());
        bytes.extend([0; 4]);
        seal(&mut bytes);
        bytes
    }

    /// From bytes, which may be anybody's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RouteError> {
        check_seal(bytes, Self::MAGIC, Self::SIZE)?;
        let mut fields = Fields(&bytes[5..]);
        let mut read = || {
            let [kind] = fields.take()?;
            let station = Station {
                ip: fields.take::<4>()?.into(),
                mac: fields.take()?,
                mtu: u16::from_be_bytes(fields.take()?),
            };
            match (station.is_one(), kind) {
                (true, 0) => Some(Self::Here(station)),
                (true, 1) => Some(Self::Answered(station)),
                _ => None,
            }
        };
        read().ok_or(RouteError::NotARecord(bytes.len()))
    }
}

fn sealed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    bytes.extend([0; 4]);
    seal(&mut bytes);
    (bytes.len() <= MOST).then_some(bytes)
}

/// Writes a message behind its length.
pub fn write_message(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let whole = [&length.to_be_bytes()[..], message].concat();
    to.write_all(&whole)
}

/// Reads one.
pub fn read_message(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 2];
    from.read_exact(&mut length)?;
    let length = usize::from(u16::from_be_bytes(length));
    if length > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message)?;
    Ok(message)
}
