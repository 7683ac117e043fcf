//! Resolution apart from connecting: from names to entries that a connection can be made with (`rdma_getaddrinfo`).

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::Duration;

use weft_engine::{commands, EngineConfig, Route};

use super::address::{addresses_of, is_near, service_port, Address, Gid, GidAddr, NativeError};
use super::loopback::LoopbackHost;
use super::resolver::{self, Question, Station, Told};
use super::route::{check_seal, put, seal, Fields, RouteError, RouteRecord, Source, ROUTE_VERSION};
use super::{CmError, TransportKind};
use crate::device::Device;

/// Time for a station to answer ARP: five questions.
const ARP_TIME: u64 = 5_000_000_000;
/// Time between two questions.
const ASK_AGAIN: u64 = 1_000_000_000;

/// Names of services of one kind: which numbers an address has beside the host's (`rdma_port_space`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PortSpace {
    /// TCP ports, reliable connections: all that iWARP has.
    #[default]
    Tcp,
}

impl PortSpace {
    /// RDMA_PS_TCP.
    const TCP: u16 = 0x0106;

    fn number(self) -> u16 {
        match self {
            Self::Tcp => Self::TCP,
        }
    }
}

/// What is wanted of [`Device::get_addr_info`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddrHints {
    /// Port of this side; 0: chosen when connecting.
    pub source_port: u16,
    /// The node is an address, and no name server is asked (`RAI_NUMERICHOST`).
    pub numeric: bool,
    /// No other transport than this.
    pub transport: Option<TransportKind>,
    /// No other port space than this.
    pub port_space: PortSpace,
    /// Entries have native addresses: GIDs. So they have if the node is one.
    pub native: bool,
    /// The socket of the resolver to ask first. `None`: what the environment variable [`RESOLVER_VARIABLE`](super::RESOLVER_VARIABLE) says,
    /// else [`RESOLVER_SOCKET`](super::RESOLVER_SOCKET).
    pub resolver: Option<PathBuf>,
}

/// One way to reach a peer (`rdma_addrinfo`): what [`CmId::resolve_with`](super::CmId::resolve_with) takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddrInfo {
    /// What carries the connection.
    pub transport: TransportKind,
    /// What the port numbers are of.
    pub port_space: PortSpace,
    /// This side.
    pub source: Address,
    /// The peer.
    pub destination: Address,
    /// How to get there.
    pub route: RouteRecord,
}

impl AddrInfo {
    const MAGIC: [u8; 4] = *b"WINF";
    /// Bytes of an entry.
    pub const SIZE: usize = 8 + 2 * Address::SIZE + RouteRecord::SIZE + 4;

    /// As bytes, to be kept or sent: magic, version, 0, port space; source and destination; the record; CRC32C of all that.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let fields: [&[u8]; 6] = [
            &Self::MAGIC,
            &[ROUTE_VERSION, 0],
            &self.port_space.number().to_be_bytes(),
            &self.source.to_bytes(),
            &self.destination.to_bytes(),
            &self.route.to_bytes(),
        ];
        put(&mut bytes, &fields);
        seal(&mut bytes);
        bytes
    }

    /// From bytes, which may be anybody's.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RouteError> {
        let none = RouteError::NotARecord(bytes.len());
        check_seal(bytes, Self::MAGIC, Self::SIZE)?;
        let mut fields = Fields(&bytes[8..]);
        let source = fields.take().and_then(|bytes| Address::from_bytes(&bytes));
        let destination = fields.take().and_then(|bytes| Address::from_bytes(&bytes));
        let record = fields.take::<{ RouteRecord::SIZE }>();
        let ((source, destination), record) =
            source.zip(destination).zip(record).ok_or(none.clone())?;
        let route = RouteRecord::from_bytes(&record)?;
        let info = Self {
            transport: route.transport(),
            port_space: PortSpace::Tcp,
            source,
            destination,
            route,
        };
        match info.to_bytes() == *bytes {
            true => Ok(info),
            false => Err(none),
        }
    }

    /// Port of this side; 0: chosen when connecting.
    pub(super) fn source_port(&self) -> u16 {
        match self.source {
            Address::Ip(from) => from.port(),
            Address::Gid(from) => from.port().unwrap_or(0),
        }
    }

    /// The way, if it can be gone by a device with these settings, and leads where the entry says. Whose a GID is, the record knows, unless
    /// an IP address is in it.
    pub(super) fn check(
        &self,
        config: &EngineConfig,
        host: Option<&LoopbackHost>,
    ) -> Result<Option<Route>, RouteError> {
        let record = self.route.destination;
        let wanted = match self.destination {
            Address::Ip(to) => to,
            Address::Gid(to) => {
                let ip = to.gid.ip().unwrap_or(*record.ip());
                SocketAddrV4::new(ip, to.check()?)
            }
        };
        match wanted == record {
            true => self.route.for_device(config, host.map(LoopbackHost::id)),
            false => Err(RouteError::OtherDestination { record, wanted }),
        }
    }

    /// The same entry with native addresses; `gid`: the peer's.
    fn natively(mut self, gid: Gid) -> Self {
        let source = &self.route.source;
        self.source = GidAddr::new(Gid::of_mac(source.mac), self.source_port()).into();
        self.destination = GidAddr::new(gid, self.route.destination.port()).into();
        self
    }

    /// The entry of a record, addressed by IP.
    pub fn of_route(route: RouteRecord, source_port: u16) -> Self {
        Self {
            transport: route.transport(),
            port_space: PortSpace::Tcp,
            source: SocketAddrV4::new(route.source.ip, source_port).into(),
            destination: route.destination.into(),
            route,
        }
    }
}

/// A question under way: [`poll`](Self::poll) it when the device has had something to do, and once a second, so that it is asked again.
#[derive(Debug)]
pub struct AddrQuery {
    device: Device,
    hints: AddrHints,
    /// What the peer is called, if natively.
    gid: Option<Gid>,
    open: Vec<SocketAddrV4>,
    silent: Option<Ipv4Addr>,
    found: Vec<AddrInfo>,
    /// A resolver that is there and did not know: it is told what is heard.
    resolver: Option<PathBuf>,
    ask_at: u64,
    until: u64,
}

impl AddrQuery {
    /// The entries, if the answer is there: at least one, in the order in which they are best tried. Never blocks.
    ///
    /// # Errors
    /// [`CmError::NoStation`] when nobody has answered for five seconds.
    pub fn poll(&mut self) -> Result<Option<Vec<AddrInfo>>, CmError> {
        self.device.progress()?;
        let now = self.device.now();
        let mut waiting = Vec::new();
        for to in std::mem::take(&mut self.open) {
            match self.station(to)? {
                Some(next_hop) => {
                    let config = self.device.config();
                    let source = Source::of(config);
                    let route = RouteRecord::iwarp(source, to, next_hop, config.mtu);
                    self.tell(*to.ip(), next_hop);
                    let entry = AddrInfo::of_route(route, self.hints.source_port);
                    self.found.push(self.named(entry));
                }
                None if now >= self.until => self.silent = Some(*to.ip()),
                None => waiting.push(to),
            }
        }
        self.open = waiting;
        if !self.open.is_empty() {
            self.ask_at = now.saturating_add(ASK_AGAIN);
            return Ok(None);
        }
        match (self.found.is_empty(), self.silent) {
            (true, Some(address)) => Err(CmError::NoStation { address }),
            _ => Ok(Some(std::mem::take(&mut self.found))),
        }
    }

    /// What ARP said, for whoever asks next on this host.
    fn tell(&self, ip: Ipv4Addr, mac: [u8; 6]) {
        let Some(socket) = &self.resolver else { return };
        let config = self.device.config();
        let near = is_near(config.ip.into(), config.netmask.into(), ip);
        let gateway = config.gateway.map(Ipv4Addr::from);
        if let Some(ip) = Some(ip).filter(|_| near).or(gateway) {
            let mtu = config.mtu;
            resolver::tell(socket, Told::Answered(Station { ip, mac, mtu }));
        }
    }

    /// The entry with the names that were asked for.
    fn named(&self, entry: AddrInfo) -> AddrInfo {
        let ip = *entry.route.destination.ip();
        let native = self.hints.native.then(|| Gid::of_ip(ip));
        match self.gid.or(native) {
            Some(gid) => entry.natively(gid),
            None => entry,
        }
    }

    /// The next station on the way, if it is known by now.
    fn station(&self, to: SocketAddrV4) -> Result<Option<[u8; 6]>, CmError> {
        let resolve = commands::resolve(to.ip().octets());
        let answer = self.device.command(&resolve, &[])??;
        Ok(Some(answer.next_hop).filter(|mac| *mac != [0; 6]))
    }
}

impl Device {
    /// Begins to look for ways to a peer.
    ///
    /// `node`: an IPv4 address, a GID, or a name; `service`: a port number, `0x` and a service ID, or a name. A resolver that serves this host is
    /// asked first ([`AddrHints::resolver`]), and what it knows of is the answer, without a frame on the wire. What it does not know: names of
    /// nodes are asked for as the system does it, which may take its time; stations by ARP; names of services and GIDs without an IP address
    /// in them say nothing.
    ///
    /// # Errors
    /// [`CmError::Unresolved`] if the names say nothing.
    #[tracing::instrument(name = "query_addr_info", level = "debug", skip(self, hints), fields(device = self.name()))]
    pub fn query_addr_info(
        &self,
        node: &str,
        service: &str,
        hints: &AddrHints,
    ) -> Result<AddrQuery, CmError> {
        let gid = node.parse().ok().map(Gid::of_ipv6);
        let now = self.now();
        let socket = resolver::socket(hints.resolver.as_deref());
        let known = socket.as_deref().and_then(|socket| {
            let native = hints.native || gid.is_some();
            self.ask_resolver(socket, node, service, native, hints)
        });
        let mut query = AddrQuery {
            device: self.clone(),
            hints: hints.clone(),
            gid,
            open: Vec::new(),
            silent: None,
            resolver: socket.filter(|_| known.is_some()),
            found: known.unwrap_or_default(),
            ask_at: now,
            until: now.saturating_add(ARP_TIME),
        };
        if !query.found.is_empty() {
            return Ok(query);
        }
        let unresolved = |reason: String| CmError::Unresolved {
            node: node.to_owned(),
            service: service.to_owned(),
            reason,
        };
        let port = service_port(service);
        let port = port.ok_or_else(|| unresolved("the service is no port number".into()))?;
        let ip = match gid {
            Some(gid) => Some(gid.ip().ok_or(NativeError::Unmapped(gid))?),
            None => node.parse().ok(),
        };
        query.open = match ip {
            Some(ip) => vec![SocketAddrV4::new(ip, port)],
            None if hints.numeric => return Err(unresolved("it is no address".into())),
            None => {
                let found = addresses_of(node).map_err(|error| unresolved(error.to_string()))?;
                found.map(|ip| SocketAddrV4::new(ip, port)).collect()
            }
        };
        let reachable = |to: &SocketAddrV4| super::id::reachable(self.config(), *to.ip());
        query.open.retain(reachable);
        if query.open.is_empty() {
            return Err(unresolved(
                "it has no IPv4 address that the device reaches".into(),
            ));
        }
        let wants = |kind| hints.transport.is_none_or(|only| only == kind);
        if let Some(host) = LoopbackHost::of(self).filter(|_| wants(TransportKind::Loop)) {
            let source = Source::of(self.config());
            let inside = query.open.iter().filter(|to| host.has(*to.ip()));
            let entry = |to: &SocketAddrV4| {
                let route = RouteRecord::loopback(source, *to, host.id());
                query.named(AddrInfo::of_route(route, hints.source_port))
            };
            let found = inside.map(entry).collect();
            query.found = found;
        }
        // A card has no way to itself.
        let own = self.ip();
        let by_card = wants(TransportKind::Iwarp) && self.has_card();
        query.open.retain(|to| by_card && *to.ip() != own);
        match query.open.is_empty() && query.found.is_empty() {
            false => Ok(query),
            true => Err(unresolved(
                "no transport that may be used leads there".into(),
            )),
        }
    }

    /// What a resolver says that can be gone.
    fn ask_resolver(
        &self,
        socket: &Path,
        node: &str,
        service: &str,
        native: bool,
        hints: &AddrHints,
    ) -> Option<Vec<AddrInfo>> {
        let question = Question {
            source_port: hints.source_port,
            native,
            numeric: hints.numeric,
            ..Question::of(self.config(), node, service)
        };
        let mut found = resolver::ask(socket, &question)?;
        found.retain(|info| {
            info.check(self.config(), None)
                .inspect_err(|error| tracing::warn!(%error, "an entry of the resolver's"))
                .is_ok()
        });
        Some(found)
    }

    /// Tells this host's resolver that the device is here, so that others may find it: resolvers of other hosts ask this one. A device that
    /// listens, or asks for a way, says so by itself. `resolver`: its socket, as in [`AddrHints::resolver`]. Without a resolver it is nothing.
    pub fn tell_resolver(&self, resolver: Option<&Path>) {
        if let Some(socket) = resolver::socket(resolver).filter(|_| self.has_card()) {
            let here = Told::Here(Station::of(self.config()));
            resolver::tell_whole(&socket, here);
        }
    }

    /// Ways to a peer, the best first (`rdma_getaddrinfo`); sleeps until they are known. An entry can be kept, sent to another process, and
    /// given to [`CmId::resolve_with`](super::CmId::resolve_with) any number of times: then no question is on the wire.
    ///
    /// # Errors
    /// As [`query_addr_info`](Self::query_addr_info) and [`AddrQuery::poll`]; [`CmError::NoStation`] also when `timeout` is over.
    #[tracing::instrument(name = "get_addr_info", level = "debug", skip(self, hints), fields(device = self.name()))]
    #[doc(alias = "rdma_getaddrinfo")]
    pub fn get_addr_info(
        &self,
        node: &str,
        service: &str,
        hints: &AddrHints,
        timeout: Option<Duration>,
    ) -> Result<Vec<AddrInfo>, CmError> {
        let mut query = self.query_addr_info(node, service, hints)?;
        if let Some(end) = crate::verbs::deadline(self, timeout) {
            query.until = query.until.min(end);
        }
        loop {
            if let Some(found) = query.poll()? {
                return Ok(found);
            }
            let until = query.until.min(query.ask_at);
            let answered = || {
                let known = |to: &SocketAddrV4| !matches!(query.station(*to), Ok(None));
                query.open.iter().any(known).then_some(())
            };
            self.wait_for(Some(until), answered)?;
        }
    }
}
