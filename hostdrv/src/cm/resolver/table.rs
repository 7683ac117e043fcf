//! A cluster's table: its hosts, their addresses, their services.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;
use weft_engine::is_station;

use super::{Question, Station};
use crate::cm::addr_info::AddrInfo;
use crate::cm::address::{is_near, is_unicast, service_port, Gid, GidAddr};
use crate::cm::route::RouteRecord;

/// Why a text is no table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// Not TOML, or not of this form.
    #[error("{0}")]
    Form(String),
    /// Two entries have it.
    #[error("{0} is there twice")]
    Twice(String),
    /// A MAC address that is none, or a group's.
    #[error("{name}: {mac} is not the MAC address of a station")]
    Mac {
        /// Whose.
        name: String,
        /// As it stands there.
        mac: String,
    },
    /// A port that is none.
    #[error("service {0} has port 0")]
    Port(String),
}

/// Where a resolver finds what its table does not say. `()` knows nothing.
pub trait Elsewhere {
    /// The IPv4 addresses of a name, or of a GID.
    fn addresses(&self, name: &str) -> Vec<Ipv4Addr>;
    /// The station that has this address.
    fn station(&self, ip: Ipv4Addr) -> Option<Station>;
}

impl Elsewhere for () {
    fn addresses(&self, _name: &str) -> Vec<Ipv4Addr> {
        Vec::new()
    }

    fn station(&self, _ip: Ipv4Addr) -> Option<Station> {
        None
    }
}

/// Who is in a cluster, from a file:
///
/// ```
/// # let table = weft_hostdrv::cm::Table::parse(r#"
/// names = "system"      # who has no ip here is looked up: /etc/hosts, DNS; "table": nobody is
/// peers = ["192.168.0.2:7475"]  # resolvers of other hosts, which are asked and may ask
/// keep = 600            # seconds for which what was heard from others is believed
///
/// [services]            # of every host that does not say otherwise
/// hello = 7471
///
/// [[host]]
/// name = "alpha"
/// also = ["storage"]    # other names of it
/// ip = "10.0.0.1"
/// mac = "02:57:0a:00:00:01"
/// mtu = 9000            # largest IPv4 packet; 1500 unless it says so
/// services = { store = 4791 }
///
/// [[host]]              # a router too: whoever has it as gateway goes this way
/// name = "gate"
/// ip = "10.0.0.254"
/// mac = "02:57:0a:00:00:fe"
///
/// [[host]]              # its address is looked up, its MAC address is what others say: see Elsewhere
/// name = "beta.cluster"
/// # "#)?;
/// # assert_eq!(table.hosts(), 3);
/// # Ok::<(), weft_hostdrv::cm::TableError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    hosts: Vec<Host>,
    services: BTreeMap<String, u16>,
    names: Names,
    peers: Vec<SocketAddrV4>,
    keep: Option<u64>,
}

/// Who looks names up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Names {
    #[default]
    System,
    Table,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    names: Vec<String>,
    ip: Option<Ipv4Addr>,
    mac: Option<[u8; 6]>,
    mtu: Option<u16>,
    services: BTreeMap<String, u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    names: Names,
    #[serde(default)]
    peers: Vec<SocketAddrV4>,
    keep: Option<u64>,
    #[serde(default)]
    services: BTreeMap<String, u16>,
    #[serde(default)]
    host: Vec<FileHost>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHost {
    name: String,
    #[serde(default)]
    also: Vec<String>,
    ip: Option<Ipv4Addr>,
    mac: Option<String>,
    mtu: Option<u16>,
    #[serde(default)]
    services: BTreeMap<String, u16>,
}

/// The MTU of a host whose MAC address the table says, and no MTU.
const USUAL_MTU: u16 = 1500;
/// Seconds.
const USUAL_KEEP: u64 = 600;

impl Table {
    /// From the text of a file.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let file: File = toml::from_str(text).map_err(|e| TableError::Form(e.to_string()))?;
        let mut hosts: Vec<Host> = Vec::new();
        for host in file.host {
            let named = |text: &String| {
                mac(text).ok_or_else(|| TableError::Mac {
                    name: host.name.clone(),
                    mac: text.clone(),
                })
            };
            let mac = host.mac.as_ref().map(named).transpose()?;
            let mut names = host.also;
            names.insert(0, host.name);
            let host = Host {
                names,
                ip: host.ip,
                mac,
                mtu: host.mtu,
                services: host.services,
            };
            for other in &hosts {
                let same = |name: &&String| other.names.contains(name);
                if let Some(name) = host.names.iter().find(same) {
                    return Err(TableError::Twice(name.clone()));
                }
                if let Some(ip) = host.ip.filter(|_| other.ip == host.ip) {
                    return Err(TableError::Twice(ip.to_string()));
                }
            }
            hosts.push(host);
        }
        let all = hosts.iter().flat_map(|host| &host.services);
        if let Some((name, _)) = all.chain(&file.services).find(|(_, port)| **port == 0) {
            return Err(TableError::Port(name.clone()));
        }
        Ok(Self {
            hosts,
            services: file.services,
            names: file.names,
            peers: file.peers,
            keep: file.keep,
        })
    }

    /// Whether names are looked up as the system does it.
    pub fn looks_names_up(&self) -> bool {
        self.names == Names::System
    }

    /// The resolvers of other hosts, by the hosts' own network.
    pub fn peers(&self) -> &[SocketAddrV4] {
        &self.peers
    }

    /// How long what was heard from others is believed; ten minutes unless it says otherwise.
    pub fn keep(&self) -> Duration {
        Duration::from_secs(self.keep.unwrap_or(USUAL_KEEP))
    }

    /// How many hosts it has.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The ways that it knows; none: it does not know the node, the service, or the gateway between.
    pub fn answer(&self, question: &Question) -> Vec<AddrInfo> {
        self.answer_with(question, &())
    }

    /// The ways that it knows with what others say. Where both know, the table is right.
    pub fn answer_with(&self, question: &Question, elsewhere: &dyn Elsewhere) -> Vec<AddrInfo> {
        let node = question.node.as_str();
        let host = self.hosts.iter().find(|host| host.is_called(node));
        let by_name = || {
            let port = host.and_then(|host| host.services.get(&question.service));
            port.or_else(|| self.services.get(&question.service))
                .copied()
        };
        let Some(port) = service_port(&question.service).or_else(by_name) else {
            return Vec::new();
        };
        let gid = node.parse().ok().map(Gid::of_ipv6);
        let written = host.and_then(|host| host.ip);
        let literal = || node.parse().ok().or_else(|| gid.and_then(Gid::ip));
        let written = written.or_else(literal);
        let addresses = match (written, host) {
            (Some(ip), _) => vec![ip],
            (None, Some(host)) => elsewhere.addresses(&host.names[0]),
            (None, None) => elsewhere.addresses(node),
        };
        let to = |ip| self.way(question, host, SocketAddrV4::new(ip, port), elsewhere);
        addresses.into_iter().filter_map(to).collect()
    }

    /// The way to one address, which is `host`'s if the table has it.
    fn way(
        &self,
        question: &Question,
        host: Option<&Host>,
        to: SocketAddrV4,
        elsewhere: &dyn Elsewhere,
    ) -> Option<AddrInfo> {
        let ip = *to.ip();
        if !is_unicast(ip) {
            return None;
        }
        let near = is_near(question.source.ip, question.netmask, ip);
        let end = self.station(host, ip, elsewhere);
        let hop = match near {
            true => end?,
            false => self.station(None, question.gateway?, elsewhere)?,
        };
        // A card has no way to itself.
        if hop.mac == question.source.mac {
            return None;
        }
        let far = end.map_or(hop.mtu, |end| end.mtu);
        let mtu = question.mtu.min(hop.mtu).min(far);
        let route = RouteRecord::iwarp(question.source, to, hop.mac, mtu);
        let mut info = AddrInfo::of_route(route, question.source_port);
        if question.native {
            // The one that was asked for, or the one that Linux would give it.
            let named = question.node.parse().ok().map(Gid::of_ipv6);
            let given = end.map_or(Gid::of_ip(ip), |end| Gid::of_mac(end.mac));
            let own = Gid::of_mac(question.source.mac);
            info.source = GidAddr::new(own, question.source_port).into();
            info.destination = GidAddr::new(named.unwrap_or(given), to.port()).into();
        }
        Some(info)
    }

    /// The station with this address: as the table has it, of which it may leave things to others.
    fn station(
        &self,
        host: Option<&Host>,
        ip: Ipv4Addr,
        elsewhere: &dyn Elsewhere,
    ) -> Option<Station> {
        let host = host.or_else(|| self.hosts.iter().find(|host| host.ip == Some(ip)));
        let mtu = host.and_then(|host| host.mtu);
        if let Some(mac) = host.and_then(|host| host.mac) {
            let mtu = mtu.unwrap_or(USUAL_MTU);
            return Some(Station { ip, mac, mtu });
        }
        let mut station = elsewhere.station(ip)?;
        station.mtu = mtu.unwrap_or(station.mtu);
        Some(station)
    }
}

impl Host {
    fn is_called(&self, node: &str) -> bool {
        let gid = node.parse().ok().map(Gid::of_ipv6);
        let gids = [self.mac.map(Gid::of_mac), self.ip.map(Gid::of_ip)];
        self.names.iter().any(|name| name == node)
            || self.ip.is_some_and(|ip| node.parse() == Ok(ip))
            || gid.is_some_and(|gid| gids.contains(&Some(gid)))
    }
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    (parts.next().is_none() && is_station(mac)).then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cm::{Address, Source};

    const TEXT: &str = r#"
        services = { hello = 7471, store = 1 }
        [[host]]
        name = "alpha"
        also = ["storage"]
        ip = "10.0.0.1"
        mac = "02:57:0a:00:00:01"
        mtu = 9000
        services = { store = 4791 }
        [[host]]
        name = "far"
        ip = "10.9.0.1"
        mac = "02:57:0a:09:00:01"
        [[host]]
        name = "gate"
        ip = "10.0.0.254"
        mac = "02:57:0a:00:00:fe"
    "#;

    fn question(node: &str, service: &str) -> Question {
        Question {
            source: Source {
                ip: Ipv4Addr::new(10, 0, 0, 7),
                mac: [2, 0, 0, 0, 0, 7],
            },
            netmask: Ipv4Addr::new(255, 255, 255, 0),
            gateway: Some(Ipv4Addr::new(10, 0, 0, 254)),
            mtu: 4000,
            source_port: 99,
            native: false,
            numeric: false,
            forwarded: false,
            node: node.into(),
            service: service.into(),
        }
    }

    #[test]
    fn a_table_knows_its_hosts_by_every_name() {
        let table = Table::parse(TEXT).expect("a table");
        for (node, service, port) in [
            ("alpha", "4791", 4791),
            ("storage", "store", 4791),
            ("10.0.0.1", "hello", 7471),
            ("::ffff:10.0.0.1", "0x01061234", 0x1234),
            ("257:a00:1::", "1", 1),
        ] {
            let question = question(node, service);
            let answer = table.answer(&question);
            let to = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), port);
            let route = RouteRecord::iwarp(question.source, to, [2, 0x57, 10, 0, 0, 1], 4000);
            assert_eq!(answer, [AddrInfo::of_route(route, 99)], "{node}");
        }
        let native = Question {
            native: true,
            ..question("alpha", "hello")
        };
        let gid = Gid::of_mac([2, 0x57, 10, 0, 0, 1]);
        let answer = &table.answer(&native)[0];
        assert_eq!(answer.destination, Address::Gid(GidAddr::new(gid, 7471)));
    }

    #[test]
    fn who_is_far_is_reached_by_the_gateway() {
        let table = Table::parse(TEXT).expect("a table");
        let asked = question("far", "store");
        let to = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 1), 1);
        let route = RouteRecord::iwarp(asked.source, to, [2, 0x57, 10, 0, 0, 0xfe], 1500);
        assert_eq!(table.answer(&asked), [AddrInfo::of_route(route, 99)]);
        for gateway in [None, Some(Ipv4Addr::new(10, 0, 0, 253))] {
            let asked = Question {
                gateway,
                ..asked.clone()
            };
            assert_eq!(table.answer(&asked), []);
        }
        for (node, service) in [("beta", "1"), ("alpha", "mail"), ("alpha", "0"), ("", "")] {
            assert_eq!(table.answer(&question(node, service)), []);
        }
    }

    /// Says what DNS and a told station would.
    struct Others;

    const BETA: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);

    impl Elsewhere for Others {
        fn addresses(&self, name: &str) -> Vec<Ipv4Addr> {
            match name {
                "beta.cluster" => vec![Ipv4Addr::LOCALHOST, BETA],
                "alpha" => vec![BETA],
                "remote" => vec![Ipv4Addr::new(10, 8, 0, 1)],
                _ => vec![],
            }
        }

        fn station(&self, ip: Ipv4Addr) -> Option<Station> {
            let mac = [2, 0, 0, 0, 0, 5];
            (ip == BETA).then_some(Station { ip, mac, mtu: 2000 })
        }
    }

    #[test]
    fn what_the_table_leaves_out_others_say() {
        let table = Table::parse(TEXT).expect("a table");
        let mtu_of = |table: &Table, node: &str| {
            let asked = question(node, "store");
            let found = table.answer_with(&asked, &Others);
            assert_eq!(table.answer(&asked), [], "{node}: nobody says it");
            let route = |mtu| {
                let to = SocketAddrV4::new(BETA, 1);
                let route = RouteRecord::iwarp(asked.source, to, [2, 0, 0, 0, 0, 5], mtu);
                AddrInfo::of_route(route, 99)
            };
            let mtu = found.first().expect("known").route.mtu;
            assert_eq!(found, [route(mtu)], "{node}");
            mtu
        };
        // Not in the table at all; by name, without addresses; by name with one of the two.
        assert_eq!(mtu_of(&table, "beta.cluster"), 2000);
        assert_eq!(mtu_of(&table, "10.0.0.5"), 2000);
        for (more, mtu) in [("", 2000), ("mtu = 900", 900), ("ip = \"10.0.0.5\"", 2000)] {
            let host = "[[host]]\nname = \"beta.cluster\"\nalso = [\"beta\"]\n";
            let table = Table::parse(&format!("{TEXT}\n{host}{more}")).expect("a table");
            assert_eq!(mtu_of(&table, "beta"), mtu, "{more}");
        }
        // The table is right where it says something, and its gateway leads to addresses that others say.
        let asked = question("alpha", "store");
        assert_eq!(table.answer_with(&asked, &Others), table.answer(&asked));
        let asked = question("remote", "store");
        let to = SocketAddrV4::new(Ipv4Addr::new(10, 8, 0, 1), 1);
        let route = RouteRecord::iwarp(asked.source, to, [2, 0x57, 10, 0, 0, 0xfe], 1500);
        let entry = AddrInfo::of_route(route, 99);
        assert_eq!(table.answer_with(&asked, &Others), [entry]);
        // No way of a card to itself.
        let mut own = question("beta.cluster", "store");
        own.source.mac = [2, 0, 0, 0, 0, 5];
        assert_eq!(table.answer_with(&own, &Others), []);
    }

    #[test]
    fn what_is_no_table_says_why() {
        let host = |name: &str, ip: &str, mac: &str| {
            format!("[[host]]\nname = \"{name}\"\nip = \"{ip}\"\nmac = \"{mac}\"\n")
        };
        let good = host("a", "10.0.0.1", "02:00:00:00:00:01");
        let refused = |more: String| Table::parse(&(good.clone() + &more)).unwrap_err();
        let twice = |name: &str| TableError::Twice(name.into());
        assert_eq!(
            refused(host("a", "10.0.0.2", "02:00:00:00:00:02")),
            twice("a")
        );
        let same = host("b", "10.0.0.1", "02:00:00:00:00:02");
        assert_eq!(refused(same), twice("10.0.0.1"));
        for mac in [
            "03:00:00:00:00:01",
            "00:00:00:00:00:00",
            "2:0:0:0:0:1",
            "02:00:00:00:00:01:02",
        ] {
            let reason = refused(host("b", "10.0.0.2", mac));
            assert!(matches!(reason, TableError::Mac { .. }), "{mac}: {reason}");
        }
        assert_eq!(
            refused("services = { mail = 0 }\n".into()),
            TableError::Port("mail".into())
        );
        for nonsense in [
            "port = 3\n",
            "services = { mail = 65536 }\n",
            "names = \"dns\"\n",
            "peers = [\"here\"]\n",
            "keep = -1\n",
            "[",
        ] {
            let reason = Table::parse(nonsense).unwrap_err();
            assert!(matches!(reason, TableError::Form(_)), "{reason}");
        }
    }
}
