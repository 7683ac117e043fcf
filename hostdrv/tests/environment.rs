//! The environment variable, alone in its process.

mod fake;

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fake::FakeCard;
use weft_hostdrv::cm::{
    default_peer_to_peer, set_default_peer_to_peer, CmError, CmEventType, CmState, ConnParam,
    LoopbackHost, CONFIG_VARIABLE, PEER_TO_PEER_VARIABLE, REJECTED_NO_PEER_TO_PEER,
};
use weft_hostdrv::verbs::QpInit;
use weft_hostdrv::{Device, DeviceConfig};

/// A file of the host's says it for programs that say nothing.
fn the_hosts_configuration_comes_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("weft.toml");
    let mut time = SystemTime::UNIX_EPOCH;
    let mut write = |text: &str| {
        fs::write(&path, text).expect("room");
        // Each change is a change of the time.
        time += Duration::from_secs(1);
        let file = fs::File::options().write(true).open(&path).expect("there");
        file.set_modified(time).expect("possible");
    };
    std::env::set_var(CONFIG_VARIABLE, &path);
    std::env::remove_var(PEER_TO_PEER_VARIABLE);
    let error = default_peer_to_peer().expect_err("there is no such file");
    assert!(error.to_string().contains("weft.toml"), "{error}");
    write("[peer_to_peer]\ndefault = false\n");
    assert_eq!(default_peer_to_peer(), Ok(false));
    std::env::set_var(PEER_TO_PEER_VARIABLE, "on");
    assert_eq!(default_peer_to_peer(), Ok(true), "the variable is nearer");
    std::env::remove_var(PEER_TO_PEER_VARIABLE);
    write("[peer_to_peer]\ndefault = 7\n");
    assert!(matches!(default_peer_to_peer(), Err(CmError::Config(_))));
    write("[peer_to_peer.listeners]\n4791 = \"required\"\n");
    assert_eq!(default_peer_to_peer(), Ok(true));
    a_listener_insists();
    std::env::set_var(CONFIG_VARIABLE, "off");
    std::env::set_var(PEER_TO_PEER_VARIABLE, "off");
}

/// By its port, and without its program's doing.
fn a_listener_insists() {
    let host = LoopbackHost::new();
    let [a, b] = [1, 2].map(|number| {
        let config = DeviceConfig::at(Ipv4Addr::new(10, 0, 0, number)).seed(1);
        let device = Device::without_card(config).expect("it comes up");
        host.join(&device).expect("a new address");
        device
    });
    let server = b.create_event_channel();
    let _listeners = [4791, 4792].map(|port| server.listen(port, 4).expect("a port"));
    let (pd, cq) = (a.alloc_pd().expect("one"), a.create_cq(8, None));
    let cq = cq.expect("a queue");
    for (port, told) in [(4791, true), (4792, false)] {
        let channel = a.create_event_channel();
        let id = channel.create_id();
        id.resolve_addr(SocketAddrV4::new(b.ip(), port))
            .expect("possible");
        id.resolve_route().expect("possible");
        id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
        id.connect(&ConnParam {
            peer_to_peer: Some(false),
            ..ConnParam::default()
        })
        .expect("possible");
        b.progress().expect("it works");
        let mut last = None;
        while let Some(event) = channel.try_get_event().expect("works") {
            last = Some((event.event, event.private_data));
        }
        let rejected = Some((CmEventType::Rejected, REJECTED_NO_PEER_TO_PEER.to_vec()));
        assert_eq!(last == rejected, told, "{port}: {last:?}");
        assert_eq!(server.waiting() == 1, !told);
    }
}

#[test]
fn the_variable_counts_unless_the_program_says_otherwise() {
    std::env::remove_var(PEER_TO_PEER_VARIABLE);
    assert_eq!(default_peer_to_peer(), Ok(true));
    std::env::set_var(PEER_TO_PEER_VARIABLE, "off");
    assert_eq!(default_peer_to_peer(), Ok(false));
    set_default_peer_to_peer(Some(true));
    assert_eq!(default_peer_to_peer(), Ok(true));
    set_default_peer_to_peer(None);
    the_hosts_configuration_comes_last();

    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1));
    let device = Device::open(Arc::new(FakeCard::new()), config).expect("nothing is wrong");
    let (pd, cq) = (
        device.alloc_pd().expect("a domain"),
        device.create_cq(8, None).expect("a queue"),
    );
    let channel = device.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 1))
        .expect("possible");
    id.resolve_route().expect("possible");
    id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
    std::env::set_var(PEER_TO_PEER_VARIABLE, "maybe");
    let refused = id.connect(&ConnParam::default());
    assert_eq!(refused, Err(CmError::Environment("maybe".into())));
    assert_eq!(
        id.state(),
        CmState::RouteResolved,
        "a refused call changes nothing"
    );
    let explicit = ConnParam {
        peer_to_peer: Some(false),
        ..ConnParam::default()
    };
    id.connect(&explicit).expect("the variable is not asked");
}
