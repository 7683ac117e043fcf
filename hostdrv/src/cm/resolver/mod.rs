//! A resolver service: somebody on this host who knows the cluster, asked over a Unix socket (as librdmacm asks ibacm).
//!
//! Question and answer are records of one message each, behind two bytes of length; both end with a CRC32C. One connection has one question.

mod table;

use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weft_engine::EngineConfig;

use super::addr_info::AddrInfo;
use super::route::{check_seal, seal, Fields, RouteError, Source, ROUTE_VERSION};
pub use table::{Table, TableError};

/// The environment variable that names the resolver's socket, or says `off`.
pub const RESOLVER_VARIABLE: &str = "WEFT_RESOLVER";
/// Where the socket is unless something says otherwise.
pub const RESOLVER_SOCKET: &str = "/run/weft/resolver.sock";

/// The longest message.
const MOST: usize = 8192;
/// A resolver that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most entries of an answer.
const ENTRIES: usize = 64;

/// What a resolver is asked: the way from this device to that service of that node.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// A name, an address or a GID, of at most 255 bytes.
    pub node: String,
    /// A name, a port number or a service ID, likewise.
    pub service: String,
}

impl Question {
    const MAGIC: [u8; 4] = *b"WASK";
    const NATIVE: u8 = 1;

    pub(super) fn of(config: &EngineConfig, node: &str, service: &str) -> Self {
        Self {
            source: Source::of(config),
            netmask: config.netmask.into(),
            gateway: config.gateway.map(Ipv4Addr::from),
            mtu: config.mtu,
            source_port: 0,
            native: false,
            node: node.to_owned(),
            service: service.to_owned(),
        }
    }

    /// As bytes: magic, version, flags; source, netmask, gateway (0: none), MTU, port; the two names, each behind its length; CRC32C. `None`: a
    /// name is too long.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Self::MAGIC.to_vec();
        bytes.extend([ROUTE_VERSION, u8::from(self.native) * Self::NATIVE]);
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
                node: name()?,
                service: name()?,
            };
            (fields.0.is_empty() && flags & !Self::NATIVE == 0).then_some(question)
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

fn sealed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    bytes.extend([0; 4]);
    seal(&mut bytes);
    (bytes.len() <= MOST).then_some(bytes)
}

/// Writes a message behind its length.
pub(crate) fn write_message(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let whole = [&length.to_be_bytes()[..], message].concat();
    to.write_all(&whole)
}

/// Reads one.
pub(crate) fn read_message(from: &mut impl Read) -> io::Result<Vec<u8>> {
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

/// The socket to ask at; `None`: nobody is to be asked.
pub(super) fn socket(wanted: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = wanted {
        return Some(path.to_owned());
    }
    match std::env::var_os(RESOLVER_VARIABLE) {
        None => Some(RESOLVER_SOCKET.into()),
        Some(value) if value.is_empty() || value == "off" => None,
        Some(path) => Some(path.into()),
    }
}

/// Asks. An empty answer: there is no resolver, or it does not know; then whoever asks finds the way himself.
pub(super) fn ask(socket: &Path, question: &Question) -> Vec<AddrInfo> {
    let asked = || -> io::Result<Vec<u8>> {
        let message = question.to_bytes().ok_or(io::ErrorKind::InvalidInput)?;
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write_message(&mut stream, &message)?;
        read_message(&mut stream)
    };
    let socket = socket.display();
    let answer = match asked() {
        Ok(answer) => answer_from_bytes(&answer),
        Err(error) => {
            match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    tracing::debug!(%socket, %error, "no resolver");
                }
                _ => tracing::warn!(%socket, %error, "the resolver does not answer"),
            }
            return Vec::new();
        }
    };
    answer.unwrap_or_else(|error| {
        tracing::warn!(%socket, %error, "the resolver's answer is none");
        Vec::new()
    })
}
