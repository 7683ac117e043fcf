//! The environment variable, alone in its process.

mod fake;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use fake::FakeCard;
use weft_hostdrv::cm::{
    default_peer_to_peer, set_default_peer_to_peer, CmError, CmState, ConnParam,
    PEER_TO_PEER_VARIABLE,
};
use weft_hostdrv::verbs::QpInit;
use weft_hostdrv::{Device, DeviceConfig};

#[test]
fn the_variable_counts_unless_the_program_says_otherwise() {
    std::env::remove_var(PEER_TO_PEER_VARIABLE);
    assert_eq!(default_peer_to_peer(), Ok(true));
    std::env::set_var(PEER_TO_PEER_VARIABLE, "off");
    assert_eq!(default_peer_to_peer(), Ok(false));
    set_default_peer_to_peer(Some(true));
    assert_eq!(default_peer_to_peer(), Ok(true));
    set_default_peer_to_peer(None);

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
