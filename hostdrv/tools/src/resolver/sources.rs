//! Where the service finds what its table does not say: names as the system looks them up, stations as this host's devices tell of them.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::cache::Cache;
use weft_hostdrv::cm::{addresses_of, Elsewhere, Gid, Station, Told};

/// A name is looked up again after so long.
const NAMES: Duration = Duration::from_secs(60);
/// And one that nobody knew.
const NOBODY: Duration = Duration::from_secs(5);
/// A device of this host is believed to be there until another one says that it has the address.
const HERE: Duration = Duration::from_secs(365 * 24 * 3600);

/// IdlePolls a name up: its IPv4 addresses.
pub type Lookup = dyn Fn(&str) -> Vec<Ipv4Addr> + Send + Sync;

/// What was told and looked up.
pub(super) struct Sources {
    stations: Cache<Ipv4Addr, Station>,
    names: Cache<String, Vec<Ipv4Addr>>,
    lookup: Box<Lookup>,
}

/// `/etc/hosts`, DNS, and what else the system asks.
pub(super) fn by_system(name: &str) -> Vec<Ipv4Addr> {
    match addresses_of(name) {
        Ok(found) => {
            let mut found: Vec<_> = found.collect();
            found.dedup();
            found
        }
        Err(error) => {
            tracing::debug!(name, %error, "not found");
            Vec::new()
        }
    }
}

impl Sources {
    pub(super) fn new(lookup: Box<Lookup>) -> Self {
        Self {
            stations: Cache::new(),
            names: Cache::new(),
            lookup,
        }
    }

    /// A device of this host says something; `keep`: how long its neighbours are believed to stay where they are.
    pub(super) fn told(&self, what: Told, keep: Duration) {
        let (station, time) = match what {
            Told::Here(station) => (station, HERE),
            Told::Answered(station) => (station, keep),
        };
        // What a device says of itself is worth more than what another heard of it.
        let same = |old: &Station| old.mac == station.mac && time < HERE;
        let known = self.stations.get(&station.ip);
        if station.is_one() && !known.as_ref().is_some_and(same) {
            self.stations.put(station.ip, station, time);
        }
    }

    /// As one question may use it: whether names are looked up.
    pub(super) fn for_question(&self, names: bool) -> Asked<'_> {
        Asked {
            sources: self,
            names,
        }
    }
}

pub(super) struct Asked<'a> {
    sources: &'a Sources,
    names: bool,
}

impl Elsewhere for Asked<'_> {
    fn addresses(&self, name: &str) -> Vec<Ipv4Addr> {
        if let Some(gid) = name.parse().ok().map(Gid::of_ipv6) {
            let called = |station: &Station| Gid::of_mac(station.mac) == gid;
            let found = self.sources.stations.find(called);
            return found.iter().map(|station| station.ip).collect();
        }
        if !self.names || name.is_empty() {
            return Vec::new();
        }
        let name = name.to_owned();
        self.sources.names.get(&name).unwrap_or_else(|| {
            let found = (self.sources.lookup)(&name);
            let time = match found.is_empty() {
                true => NOBODY,
                false => NAMES,
            };
            self.sources.names.put(name, found.clone(), time);
            found
        })
    }

    fn station(&self, ip: Ipv4Addr) -> Option<Station> {
        self.sources.stations.get(&ip)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_system_knows_this_host() {
        assert_eq!(by_system("localhost"), [Ipv4Addr::LOCALHOST]);
        assert_eq!(by_system("nobody.invalid"), [Ipv4Addr::UNSPECIFIED; 0]);
    }

    #[test]
    fn names_are_looked_up_once() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let sources = Sources::new(Box::new(move |name| {
            count.fetch_add(1, Ordering::Relaxed);
            match name {
                "two" => vec![Ipv4Addr::new(10, 0, 0, 2)],
                _ => vec![],
            }
        }));
        let numeric = sources.for_question(false);
        assert!(numeric.addresses("two").is_empty());
        for (name, addresses, times) in [("two", 1, 1), ("two", 1, 1), ("six", 0, 2), ("six", 0, 2)]
        {
            let found = sources.for_question(true).addresses(name);
            assert_eq!(
                (found.len(), asked.load(Ordering::Relaxed)),
                (addresses, times)
            );
        }
    }

    #[test]
    fn who_is_told_of_last_has_the_address() {
        let sources = Sources::new(Box::new(|_| vec![]));
        let ip = Ipv4Addr::new(10, 0, 0, 1);
        let station = |last, mtu| Station {
            ip,
            mac: [2, 0, 0, 0, 0, last],
            mtu,
        };
        let long = Duration::from_secs(100);
        for (what, keep, now) in [
            (Told::Answered(station(1, 1500)), Duration::ZERO, None),
            (
                Told::Answered(station(1, 1500)),
                long,
                Some(station(1, 1500)),
            ),
            (Told::Here(station(1, 9000)), long, Some(station(1, 9000))),
            // The same one, heard by ARP: nothing new.
            (
                Told::Answered(station(1, 1500)),
                long,
                Some(station(1, 9000)),
            ),
            // The address has moved.
            (
                Told::Answered(station(2, 1500)),
                long,
                Some(station(2, 1500)),
            ),
        ] {
            sources.told(what, keep);
            assert_eq!(sources.for_question(false).station(ip), now, "{what:?}");
        }
        let gid = Gid::of_mac([2, 0, 0, 0, 0, 2]).to_string();
        assert_eq!(sources.for_question(false).addresses(&gid), [ip]);
    }
}
