//! Route records and entries as bytes: what is written is read again, and nothing else is taken for one.

use std::net::{Ipv4Addr, SocketAddrV4};

use proptest::prelude::*;
use weft_hostdrv::cm::*;

fn record() -> impl Strategy<Value = RouteRecord> {
    let ip = || any::<u32>().prop_map(Ipv4Addr::from);
    let vlan = proptest::option::of(0..0x1000u16);
    let fields = (ip(), any::<[u8; 6]>(), ip(), any::<u16>(), any::<[u8; 6]>());
    (fields, any::<u16>(), vlan).prop_map(|((ip, mac, to, port, next_hop), mtu, vlan)| {
        let to = SocketAddrV4::new(to, port);
        let record = RouteRecord::iwarp(Source { ip, mac }, to, next_hop, mtu);
        vlan.map_or(record, |id| record.in_vlan(id))
    })
}

fn address() -> impl Strategy<Value = Address> {
    let ip = (any::<u32>(), any::<u16>())
        .prop_map(|(ip, port)| Address::Ip(SocketAddrV4::new(ip.into(), port)));
    let gid =
        (any::<[u8; 16]>(), any::<u16>(), any::<u64>()).prop_map(|(gid, pkey, service_id)| {
            Address::Gid(GidAddr {
                gid: Gid(gid),
                pkey,
                service_id,
            })
        });
    prop_oneof![ip, gid]
}

fn entry() -> impl Strategy<Value = AddrInfo> {
    (record(), address(), address()).prop_map(|(route, source, destination)| AddrInfo {
        source,
        destination,
        ..AddrInfo::of_route(route, 0)
    })
}

fn question() -> impl Strategy<Value = Question> {
    let ip = || any::<u32>().prop_map(Ipv4Addr::from);
    let gateway = ip().prop_map(|ip| Some(ip).filter(|ip| !ip.is_unspecified()));
    let numbers = (any::<u16>(), any::<u16>(), any::<[bool; 3]>());
    let addresses = (ip(), any::<[u8; 6]>(), ip(), gateway);
    let names = ("\\PC{0,40}", "[a-z0-9]{0,20}");
    (addresses, numbers, names).prop_map(
        |(
            (ip, mac, netmask, gateway),
            (mtu, source_port, [native, numeric, forwarded]),
            (node, service),
        )| Question {
            source: Source { ip, mac },
            netmask,
            gateway,
            mtu,
            source_port,
            native,
            numeric,
            forwarded,
            node,
            service,
        },
    )
}

fn told() -> impl Strategy<Value = Told> {
    let numbers = (1u32.., any::<[u8; 6]>(), any::<u16>(), any::<bool>());
    numbers.prop_map(|(ip, mut mac, mtu, here)| {
        // A station's, not a group's or nobody's.
        mac[0] = mac[0] & !1 | 2;
        let ip = ip.into();
        let station = Station { ip, mac, mtu };
        match here {
            true => Told::Here(station),
            false => Told::Answered(station),
        }
    })
}

proptest! {
    #[test]
    fn what_is_told(told in told(), at in any::<usize>(), change in 1u8..) {
        let mut bytes = told.to_bytes();
        prop_assert_eq!(Told::from_bytes(&bytes), Ok(told));
        let place = at % bytes.len();
        bytes[place] ^= change;
        prop_assert!(Told::from_bytes(&bytes).is_err());
        prop_assert!(Told::from_bytes(&bytes[..place]).is_err());
    }

    #[test]
    fn questions_and_answers(question in question(), entries in proptest::collection::vec(entry(), 0..9)) {
        let bytes = question.to_bytes().expect("short names");
        prop_assert_eq!(Question::from_bytes(&bytes), Ok(question));
        prop_assert_eq!(answer_from_bytes(&answer_bytes(&entries)), Ok(entries));
    }

    #[test]
    fn a_changed_message_is_noticed(question in question(), entry in entry(), at in any::<usize>(), change in 1u8..) {
        let mut bytes = question.to_bytes().expect("short names");
        let place = at % bytes.len();
        bytes[place] ^= change;
        prop_assert!(Question::from_bytes(&bytes).is_err());
        prop_assert!(Question::from_bytes(&bytes[..place]).is_err());
        let mut bytes = answer_bytes(&[entry]);
        let place = at % bytes.len();
        bytes[place] ^= change;
        prop_assert!(answer_from_bytes(&bytes).is_err());
        prop_assert!(answer_from_bytes(&bytes[..place]).is_err());
    }

    #[test]
    fn what_is_written_is_read_again(entry in entry()) {
        prop_assert_eq!(RouteRecord::from_bytes(&entry.route.to_bytes()), Ok(entry.route));
        prop_assert_eq!(AddrInfo::from_bytes(&entry.to_bytes()), Ok(entry));
    }

    #[test]
    fn no_bytes_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(RouteRecord::from_bytes(&bytes).is_err());
        prop_assert!(AddrInfo::from_bytes(&bytes).is_err());
        prop_assert!(Question::from_bytes(&bytes).is_err());
        prop_assert!(answer_from_bytes(&bytes).is_err());
        prop_assert!(Told::from_bytes(&bytes).is_err());
    }

    /// One byte is another one, or some are gone, or there are more.
    #[test]
    fn a_change_is_noticed(entry in entry(), at in any::<usize>(), change in 1u8.., cut in 0usize..140) {
        let whole = entry.to_bytes();
        let mut changed = whole;
        changed[at % whole.len()] ^= change;
        prop_assert!(AddrInfo::from_bytes(&changed).is_err());
        let mut other = whole.to_vec();
        other.resize(cut, 0);
        prop_assert_eq!(AddrInfo::from_bytes(&other).is_ok(), cut == whole.len());
        let mut changed = entry.route.to_bytes();
        let at = at % changed.len();
        changed[at] ^= change;
        prop_assert!(RouteRecord::from_bytes(&changed).is_err());
    }
}

/// Nobody is at an address that is none, or a group's.
#[test]
fn what_cannot_be_a_station() {
    let good = Station {
        ip: Ipv4Addr::new(10, 0, 0, 1),
        mac: [2; 6],
        mtu: 1500,
    };
    assert!(Told::from_bytes(&Told::Here(good).to_bytes()).is_ok());
    let ip = Ipv4Addr::UNSPECIFIED;
    for bad in [
        Station { ip, ..good },
        Station {
            mac: [0; 6],
            ..good
        },
        Station {
            mac: [3; 6],
            ..good
        },
    ] {
        let told = Told::from_bytes(&Told::Answered(bad).to_bytes());
        assert!(matches!(told, Err(RouteError::NotARecord(_))), "{bad:?}");
    }
}

#[test]
fn each_trouble_has_its_name() {
    let source = Source {
        ip: Ipv4Addr::new(10, 0, 0, 1),
        mac: [2; 6],
    };
    let to = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 4791);
    let bytes = RouteRecord::iwarp(source, to, [4; 6], 1500).to_bytes();
    assert_eq!(bytes.len(), RouteRecord::SIZE);
    assert_eq!(
        RouteRecord::from_bytes(&bytes[..37]),
        Err(RouteError::NotARecord(37))
    );
    let changed = |at: usize, to: u8| {
        let mut bytes = bytes;
        bytes[at] = to;
        RouteRecord::from_bytes(&bytes)
    };
    assert_eq!(changed(0, b'w'), Err(RouteError::NotARecord(38)));
    assert_eq!(changed(4, 2), Err(RouteError::Version(2)));
    assert_eq!(changed(20, 9), Err(RouteError::Damaged));
    // A later version may be longer: it is named all the same.
    let mut longer = bytes.to_vec();
    longer[4] = 3;
    longer.extend([0; 10]);
    assert_eq!(
        RouteRecord::from_bytes(&longer),
        Err(RouteError::Version(3))
    );
}
