//! The connection manager's two styles, and what is decided before a program is asked. By the loop, which needs no card.

use crate::fake;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fake::FakeCard;
use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

const PORT: u16 = 4791;
const SECONDS: Option<Duration> = Some(Duration::from_secs(20));

fn ip(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn members() -> (LoopbackHost, [Device; 2]) {
    let host = LoopbackHost::new();
    let devices = [1, 2].map(|number| {
        let config = DeviceConfig::at(ip(number)).seed(number.into());
        Device::without_card(config).expect("it comes up")
    });
    for device in &devices {
        host.join(device).expect("a new address");
    }
    (host, devices)
}

struct Client {
    pd: Pd,
    cq: Cq,
    channel: EventChannel,
}

impl Client {
    fn new(device: &Device) -> Self {
        Self {
            pd: device.alloc_pd().expect("a domain"),
            cq: device.create_cq(64, None).expect("a queue"),
            channel: device.create_event_channel(),
        }
    }

    fn connect(&self, param: &ConnParam) -> CmId {
        let id = self.channel.create_id();
        let to = SocketAddrV4::new(ip(2), PORT);
        id.resolve_addr(to).expect("possible");
        id.resolve_route().expect("possible");
        self.next(CmEventType::AddrResolved);
        self.next(CmEventType::RouteResolved);
        id.create_qp(&self.pd, &QpInit::new(&self.cq)).expect("one");
        id.connect(param).expect("possible");
        id
    }

    fn next(&self, wanted: CmEventType) -> CmEvent {
        let event = self.channel.expect_event(wanted, SECONDS);
        event.expect("it comes")
    }

    /// Is rejected, with these private data and this errno.
    fn rejected(&self, param: &ConnParam, private_data: &[u8], errno: i32) -> CmEvent {
        let _id = self.connect(param);
        let event = self.next(CmEventType::Rejected);
        let data = String::from_utf8_lossy(&event.private_data).into_owned();
        assert_eq!((data.as_bytes(), event.status), (private_data, -errno));
        event
    }
}

fn named(name: &str) -> ConnParam {
    ConnParam::with_private_data(name)
}

/// Lets both devices work until this holds.
fn until(devices: &[Device], mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        for device in devices {
            device.progress().expect("it works");
        }
        assert!(Instant::now() < end, "in time");
    }
}

/// A server whose whole life is a function: it accepts, answers what it is sent, and hears of every end.
#[test]
fn all_events_come_by_callback() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let heard: Arc<Mutex<Vec<CmEventType>>> = Arc::default();
    let kept: Arc<Mutex<Vec<CmId>>> = Arc::default();
    let (pd, cq) = (b.alloc_pd().expect("a domain"), b.create_cq(64, None));
    let cq = cq.expect("a queue");
    let (list, ids) = (heard.clone(), kept.clone());
    let channel = b.create_callback_channel(move |event| {
        list.lock().expect("no panic").push(event.event);
        if event.event == CmEventType::ConnectRequest {
            event.id.create_qp(&pd, &QpInit::new(&cq)).expect("one");
            event.id.accept(&named("welcome")).expect("possible");
            ids.lock().expect("no panic").push(event.id);
        }
    });
    let _listener = channel.listen(PORT, 4).expect("a port");
    let client = Client::new(a);
    let id = client.connect(&named("hello"));
    until(&devices, || heard.lock().expect("no panic").len() == 2);
    let up = client.next(CmEventType::Established);
    assert_eq!(up.private_data, b"welcome");
    id.disconnect().expect("possible");
    until(&devices, || heard.lock().expect("no panic").len() == 4);
    assert_eq!(
        *heard.lock().expect("no panic"),
        [
            CmEventType::ConnectRequest,
            CmEventType::Established,
            CmEventType::Disconnected,
            CmEventType::TimewaitExit
        ]
    );
    assert_eq!(channel.waiting(), 0);
}

/// It would wait for what comes when it has returned.
#[test]
fn a_callback_that_waits_for_an_event_is_told_so() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let said: Arc<Mutex<Vec<Result<bool, CmError>>>> = Arc::default();
    let server = b.create_event_channel();
    let listener = server.create_id();
    let to = std::net::SocketAddrV4::new(b.ip(), PORT);
    listener.bind_addr(to).expect("possible");
    let (list, other) = (said.clone(), b.create_event_channel());
    let asked = move |_: &ConnectRequest| {
        let waited = other.get_event(Some(std::time::Duration::from_millis(20)));
        let waited = waited.map(|event| event.is_some());
        list.lock().expect("no panic").push(waited);
        Decision::Later
    };
    listener.listen_with(4, asked).expect("possible");
    let client = Client::new(a);
    let _id = client.connect(&named("hello"));
    until(&devices, || !said.lock().expect("no panic").is_empty());
    let said = said.lock().expect("no panic").clone();
    assert_eq!(said, [Err(CmError::InCallback)]);
    // Outside it waits as ever.
    let event = server
        .try_get_event()
        .expect("it works")
        .expect("a request");
    assert_eq!(event.event, CmEventType::ConnectRequest);
    let none = server.get_event(Some(std::time::Duration::from_millis(1)));
    assert_eq!(none.map(|event| event.is_some()), Ok(false));
}

#[test]
fn the_policy_is_asked_before_the_program() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let policy = Policy::parse(
        r#"
        [[rule]]
        action = "reject"
        identity = "mallory"
        reason = "we know you"
        [[rule]]
        action = "reject"
        transport = "iwarp"
        [[rule]]
        action = "accept"
        from = "10.0.0.1"
        ports = [4791]
        rate = 2
        "#,
    );
    let policy = HostPolicy::new(policy.expect("a policy"));
    b.set_host_policy(Some(policy.clone()));
    let server = b.create_event_channel();
    let _listener = server.listen(PORT, 8).expect("a port");
    let client = Client::new(a);
    let deny = |param: &ConnParam, text: &[u8], errno: i32| {
        let id = client.connect(param);
        b.progress().expect("it works");
        let event = client.next(CmEventType::Rejected);
        assert_eq!((&event.private_data[..], event.status), (text, -errno));
        assert_eq!(id.state(), CmState::Closed);
        event
    };
    deny(&named("mallory the second"), b"we know you", 111);
    let _one = client.connect(&named("alice"));
    let _two = client.connect(&named("alice"));
    b.progress().expect("it works");
    assert_eq!(server.waiting(), 2);
    let busy = deny(&named("alice"), REJECTED_BUSY, 16);
    assert_eq!(
        busy.why().as_deref(),
        Some("the listener is busy: try again later")
    );
    assert_eq!((server.waiting(), policy.rejected()), (2, 2));
    // Without one, everybody may ask.
    b.set_host_policy(None);
    let _three = client.connect(&named("mallory"));
    b.progress().expect("it works");
    assert_eq!(server.waiting(), 3);
}

#[test]
fn a_full_backlog_says_busy() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let server = b.create_event_channel();
    let _listener = server.listen(PORT, 2).expect("a port");
    let client = Client::new(a);
    let _waiting = [(); 2].map(|()| client.connect(&named("")));
    b.progress().expect("it works");
    let _late = client.connect(&named(""));
    b.progress().expect("it works");
    let event = client.next(CmEventType::Rejected);
    assert_eq!(
        (&event.private_data[..], event.status),
        (REJECTED_BUSY, -16)
    );
    // One is answered: there is room.
    let request = server.expect_event(CmEventType::ConnectRequest, SECONDS);
    request
        .expect("it comes")
        .id
        .reject(b"no")
        .expect("possible");
    client.next(CmEventType::Rejected);
    let _next = client.connect(&named(""));
    b.progress().expect("it works");
    assert_eq!(server.waiting(), 2);
}

#[test]
fn a_listener_insists_on_peer_to_peer_or_on_none() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let with = |on| ConnParam {
        peer_to_peer: Some(on),
        ..ConnParam::default()
    };
    let client = Client::new(a);
    for (insists, reason) in [
        (true, REJECTED_NO_PEER_TO_PEER),
        (false, REJECTED_PEER_TO_PEER),
    ] {
        let server = b.create_event_channel();
        let listener = server.create_id();
        let insist = CmOption::PeerToPeer(Some(insists));
        listener.set_option(insist).expect("in time");
        let at = SocketAddrV4::new(ip(2), PORT);
        listener.bind_addr(at).expect("possible");
        listener.listen(4).expect("a port");
        assert!(matches!(
            listener.set_option(insist),
            Err(CmError::WrongState { .. })
        ));
        let _id = client.connect(&with(!insists));
        b.progress().expect("it works");
        let event = client.next(CmEventType::Rejected);
        assert_eq!(event.private_data, reason);
        let _id = client.connect(&with(insists));
        b.progress().expect("it works");
        assert_eq!(server.waiting(), 1);
    }
}

#[test]
fn an_identifier_moves_with_its_events() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let client = Client::new(a);
    let (here, there) = (client.channel.create_id(), a.create_event_channel());
    let stays = client.channel.create_id();
    let to = SocketAddrV4::new(ip(2), PORT);
    for id in [&here, &stays] {
        id.resolve_addr(to).expect("possible");
    }
    let foreign = b.create_event_channel();
    assert_eq!(
        here.migrate(&foreign),
        Err(CmError::WrongDevice {
            what: "event channel"
        })
    );
    here.migrate(&there).expect("possible");
    here.migrate(&there).expect("it is there");
    here.resolve_route().expect("possible");
    let came = |channel: &EventChannel| {
        let mut came = Vec::new();
        while let Some(event) = channel.try_get_event().expect("works") {
            came.push((event.event, event.id.is(&here)));
        }
        came
    };
    assert_eq!(
        came(&there),
        [
            (CmEventType::AddrResolved, true),
            (CmEventType::RouteResolved, true)
        ]
    );
    assert_eq!(came(&client.channel), [(CmEventType::AddrResolved, false)]);
}

#[test]
fn what_the_path_has_not_is_refused_with_the_reason() {
    let (_host, [a, _b]) = members();
    let id = a.create_event_channel().create_id();
    let error = id.set_option(CmOption::Vlan(7));
    let error = error.expect_err("there is none").to_string();
    assert!(
        error.contains('7') && error.contains("tags no frames"),
        "{error}"
    );
}

/// Each failure says in words what it is.
#[test]
fn failures_have_reasons() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let client = Client::new(a);
    let event = client.rejected(&named(""), b"", 111);
    assert_eq!(event.why().as_deref(), Some("nobody listens on that port"));
    let server = b.create_event_channel();
    let _listener = server.listen(PORT, 1).expect("a port");
    let _id = client.connect(&named(""));
    let request = server.expect_event(CmEventType::ConnectRequest, SECONDS);
    let request = request.expect("it comes");
    assert_eq!(request.why(), None);
    request.id.reject(b"not today").expect("possible");
    let why = client.next(CmEventType::Rejected).why();
    let why = why.expect("a reason");
    assert!(why.contains("not today"), "{why}");
    let id = client.channel.create_id();
    id.resolve_addr("224.0.0.1:1".parse().expect("an address"))
        .expect("by event");
    let why = client.next(CmEventType::AddrError).why();
    assert!(why.is_some_and(|why| why.contains("no way")));
}

/// A device that goes away: every identifier of a channel that asked hears of it, once, and then the error comes.
#[test]
fn a_device_that_is_gone_is_told_of() {
    let card = FakeCard::new();
    let config = DeviceConfig::at(ip(1)).seed(1);
    let device = Device::open(Arc::new(card.clone()), config).expect("it comes up");
    let silent = device.create_event_channel();
    let _other = silent.create_id();
    let channel = device.create_event_channel();
    channel.report_everything();
    let ids = [channel.create_id(), channel.create_id()];
    let called: Arc<Mutex<Vec<CmEventType>>> = Arc::default();
    let list = called.clone();
    let function = device.create_callback_channel(move |event| {
        list.lock().expect("no panic").push(event.event);
    });
    let _third = function.create_id();
    drop(channel.create_id());
    card.lock().lost = Some("somebody pulled it".into());
    card.lock().now += 1_000_000_000;
    let mut gone = Vec::new();
    let error = loop {
        match channel.try_get_event() {
            Ok(Some(event)) => {
                assert_eq!(event.event, CmEventType::DeviceRemoval);
                assert_eq!(event.status, -19);
                assert!(event.why().is_some());
                gone.push(event.id);
            }
            Ok(None) => {}
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("somebody pulled it"), "{error}");
    assert_eq!(gone.len(), 2);
    for id in &ids {
        assert!(gone.iter().any(|gone| gone.is(id)));
    }
    assert_eq!(
        *called.lock().expect("no panic"),
        [CmEventType::DeviceRemoval]
    );
    assert!(silent.try_get_event().is_err(), "it did not ask");
    assert!(channel.try_get_event().is_err(), "once");
}

/// IPv4 by whatever name; IPv6 is refused before anybody is asked, with the reason.
#[test]
fn both_families_are_understood() {
    let (_host, devices) = members();
    let [a, b] = &devices;
    let server = b.create_event_channel();
    let listener = server.create_id();
    let six: Ipv6Addr = "2001:db8::1".parse().expect("an address");
    let error = listener.bind_ip((six, PORT).into());
    let error = error.expect_err("there is none").to_string();
    assert!(
        error.contains("2001:db8::1") && error.contains("IPv4"),
        "{error}"
    );
    listener
        .bind_ip((Ipv6Addr::UNSPECIFIED, PORT).into())
        .expect("any");
    listener.listen(4).expect("a port");
    let client = Client::new(a);
    let id = client.channel.create_id();
    id.resolve_ip((six, PORT).into()).expect("by event");
    let event = client.next(CmEventType::AddrError);
    assert_eq!(event.status, -97);
    assert!(event.why().is_some_and(|why| why.contains("IPv6")));
    assert!(matches!(
        id.resolve_ip((six, PORT).into()),
        Err(CmError::WrongState { .. })
    ));
    let id = client.channel.create_id();
    let mapped = ip(2).to_ipv6_mapped();
    id.resolve_ip((mapped, PORT).into()).expect("possible");
    client.next(CmEventType::AddrResolved);
    assert_eq!(id.peer_addr(), Some(SocketAddrV4::new(ip(2), PORT)));
    id.resolve_route().expect("possible");
    client.next(CmEventType::RouteResolved);
    id.create_qp(&client.pd, &QpInit::new(&client.cq))
        .expect("one");
    id.connect(&named("")).expect("possible");
    b.progress().expect("it works");
    assert_eq!(server.waiting(), 1);
}

/// What a device can do is found when the program runs.
#[test]
fn extensions_are_found_out() {
    let (_host, [a, _b]) = members();
    let alone = Device::without_card(DeviceConfig::at(ip(9))).expect("it comes up");
    let mut bytes = [0; 512];
    let size = a.query_extensions(&mut bytes);
    let extensions = Extensions::read(&bytes[..size]).expect("its own");
    assert_eq!(extensions, a.extensions());
    assert_eq!(
        (extensions.transports, alone.extensions().transports),
        (2, 0)
    );
    let all = [
        Operations::IMMEDIATE,
        Operations::ATOMIC,
        Operations::WINDOW,
        Operations::FAST_REGISTRATION,
        Operations::SHARED_RECEIVE,
    ];
    assert!(all.iter().all(|bit| extensions.operations & bit != 0));
    // That is iWARP's.
    assert_eq!(extensions.operations & Operations::XRC, 0);
    assert_eq!(extensions.max_cqe, 1 << 24);
    // Host, crc, placement; and crc-send, which came later.
    assert_eq!(extensions.rungs, 0b10_0111);
    // Room for one field: the first.
    let mut short = [0; 16];
    assert_eq!(a.query_extensions(&mut short), size);
    let first = Extensions::read(&short).expect("it is whole");
    assert_eq!((first.operations, first.rungs), (extensions.operations, 0));
}
