//! A cluster's table: its hosts, their addresses, their services.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use serde::Deserialize;
use thiserror::Error;
use weft_engine::is_station;

use super::Question;
use crate::cm::addr_info::AddrInfo;
use crate::cm::address::{service_port, Gid, GidAddr};
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

/// Who is in a cluster, from a file:
///
/// ```
/// # let table = weft_hostdrv::cm::Table::parse(r#"
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
/// # "#)?;
/// # assert_eq!(table.hosts(), 2);
/// # Ok::<(), weft_hostdrv::cm::TableError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    hosts: Vec<Host>,
    services: BTreeMap<String, u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    names: Vec<String>,
    ip: Ipv4Addr,
    mac: [u8; 6],
    mtu: u16,
    services: BTreeMap<String, u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
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
    ip: Ipv4Addr,
    mac: String,
    #[serde(default = "usual_mtu")]
    mtu: u16,
    #[serde(default)]
    services: BTreeMap<String, u16>,
}

fn usual_mtu() -> u16 {
    1500
}

impl Table {
    /// From the text of a file.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let file: File = toml::from_str(text).map_err(|e| TableError::Form(e.to_string()))?;
        let mut hosts: Vec<Host> = Vec::new();
        for host in file.host {
            let mac = mac(&host.mac).ok_or_else(|| TableError::Mac {
                name: host.name.clone(),
                mac: host.mac.clone(),
            })?;
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
                if other.ip == host.ip {
                    return Err(TableError::Twice(host.ip.to_string()));
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
        })
    }

    /// How many hosts it has.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// The ways that it knows; none: it does not know the node, the service, or the gateway between.
    pub fn answer(&self, question: &Question) -> Vec<AddrInfo> {
        let Some(host) = self
            .hosts
            .iter()
            .find(|host| host.is_called(&question.node))
        else {
            return Vec::new();
        };
        let by_name = || {
            let port = host.services.get(&question.service);
            port.or_else(|| self.services.get(&question.service))
                .copied()
        };
        let Some(port) = service_port(&question.service).or_else(by_name) else {
            return Vec::new();
        };
        let mask = u32::from(question.netmask);
        let near = (u32::from(host.ip) ^ u32::from(question.source.ip)) & mask == 0;
        let hop = match near {
            true => Some(host),
            false => {
                let mut hosts = self.hosts.iter();
                hosts.find(|hop| Some(hop.ip) == question.gateway)
            }
        };
        let Some(hop) = hop else {
            return Vec::new();
        };
        let mtu = question.mtu.min(host.mtu).min(hop.mtu);
        let to = SocketAddrV4::new(host.ip, port);
        let route = RouteRecord::iwarp(question.source, to, hop.mac, mtu);
        let mut info = AddrInfo::of_route(route, question.source_port);
        if question.native {
            let gid = host.gid_called(&question.node);
            let own = Gid::of_mac(question.source.mac);
            info.source = GidAddr::new(own, question.source_port).into();
            info.destination = GidAddr::new(gid, port).into();
        }
        vec![info]
    }
}

impl Host {
    fn is_called(&self, node: &str) -> bool {
        let gid = node.parse().ok().map(Gid::of_ipv6);
        self.names.iter().any(|name| name == node)
            || node.parse() == Ok(self.ip)
            || gid.is_some_and(|gid| gid == Gid::of_mac(self.mac) || gid == Gid::of_ip(self.ip))
    }

    /// Its GID: the one that was asked for, or the one that Linux would give it.
    fn gid_called(&self, node: &str) -> Gid {
        let own = Gid::of_mac(self.mac);
        node.parse().map_or(own, Gid::of_ipv6)
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
        for nonsense in ["port = 3\n", "services = { mail = 65536 }\n", "["] {
            let reason = refused(nonsense.into());
            assert!(matches!(reason, TableError::Form(_)), "{reason}");
        }
    }
}
