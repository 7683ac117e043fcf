//! The loop: who is reached by it, what it refuses, and what is left when an end goes.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};
use weft_watchdog::Watchdog;

pub(super) const PORT: u16 = 4791;
const SECONDS: Option<Duration> = Some(Duration::from_secs(20));

pub(super) fn ip(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn device(number: u8) -> Device {
    Device::without_card(DeviceConfig::at(ip(number)).seed(number.into())).expect("it comes up")
}

/// Members 1 to n.
pub(super) fn members<const N: usize>() -> (LoopbackHost, [Device; N]) {
    let host = LoopbackHost::new();
    let devices = std::array::from_fn(|n| device(n as u8 + 1));
    for device in &devices {
        host.join(device).expect("a new address");
    }
    (host, devices)
}

pub(super) struct End {
    pub(super) pd: Pd,
    pub(super) cq: Cq,
    pub(super) mr: Mr,
    pub(super) channel: EventChannel,
}

impl End {
    pub(super) fn new(device: &Device) -> Self {
        let pd = device.alloc_pd().expect("a domain");
        let all = [
            Access::LOCAL_WRITE,
            Access::REMOTE_READ,
            Access::REMOTE_WRITE,
            Access::READ_SINK,
            Access::REMOTE_INVALIDATE,
        ];
        let access = all.into_iter().fold(Access::NONE, |a, b| a | b);
        Self {
            cq: device.create_cq(256, None).expect("a queue"),
            mr: pd.alloc_mr(1 << 20, access).expect("a region"),
            channel: device.create_event_channel(),
            pd,
        }
    }

    pub(super) fn next(&self, wanted: CmEventType) -> CmEvent {
        self.channel
            .expect_event(wanted, SECONDS)
            .expect("it comes")
    }

    fn connect(&self, to: u8, param: &ConnParam) -> CmId {
        let id = self.asks(to, &QpInit::new(&self.cq));
        id.connect(param).expect("possible");
        id
    }

    /// An identifier with such a queue pair, which has not asked yet.
    pub(super) fn asks(&self, to: u8, init: &QpInit) -> CmId {
        let id = self.channel.create_id();
        id.resolve_addr(SocketAddrV4::new(ip(to), PORT))
            .expect("possible");
        self.next(CmEventType::AddrResolved);
        id.resolve_route().expect("possible");
        self.next(CmEventType::RouteResolved);
        id.create_qp(&self.pd, init).expect("a queue pair");
        id
    }

    fn accept(&self, param: &ConnParam) -> CmId {
        let request = self.next(CmEventType::ConnectRequest);
        request
            .id
            .create_qp(&self.pd, &QpInit::new(&self.cq))
            .expect("a queue pair");
        request.id.accept(param).expect("possible");
        request.id
    }

    pub(super) fn completion(&self) -> (u64, WcStatus) {
        let wc = self.cq.wait_one(SECONDS).expect("works").expect("in time");
        (wc.wr_id, wc.status)
    }
}

fn connected(a: &End, b: &End, to: u8, param: &ConnParam) -> (CmId, CmId) {
    let _listener = b.channel.listen(PORT, 8).expect("a port");
    let client = a.connect(to, param);
    let server = b.accept(param);
    assert!(a.next(CmEventType::Established).id.is(&client));
    assert!(b.next(CmEventType::Established).id.is(&server));
    (client, server)
}

#[test]
fn membership_is_refused_with_reasons() {
    let (host, [a]) = members::<1>();
    assert_eq!(host.join(&a), Err(CmError::JoinedAlready));
    assert_eq!(LoopbackHost::new().join(&a), Err(CmError::JoinedAlready));
    let same = device(1);
    assert_eq!(host.join(&same), Err(CmError::AddressTaken(ip(1))));
    // An address is free again when its device is gone.
    drop(a);
    assert_eq!(host.join(&same), Ok(()));
    // Who is no member reaches nobody.
    let alone = End::new(&device(9));
    alone.channel.listen(PORT, 1).expect("a port");
    assert!(matches!(
        device(9).get_addr_info("10.0.0.1", "1", &AddrHints::default(), SECONDS),
        Err(CmError::Unresolved { .. })
    ));
}

#[test]
fn entries_say_the_transport_and_are_of_one_process() {
    let (_host, [a, b]) = members::<2>();
    let info = |device: &Device, hints: &AddrHints| {
        device.get_addr_info("10.0.0.2", "4791", hints, SECONDS)
    };
    let found = info(&a, &AddrHints::default()).expect("a member");
    let [entry] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(entry.transport, TransportKind::Loop);
    let again = AddrInfo::from_bytes(&entry.to_bytes()).expect("its own bytes");
    assert_eq!(again, *entry);
    // Of what a device without a card has not, it says so.
    let iwarp = AddrHints {
        transport: Some(TransportKind::Iwarp),
        ..AddrHints::default()
    };
    assert!(matches!(info(&a, &iwarp), Err(CmError::Unresolved { .. })));
    let nobody = a.get_addr_info("10.0.0.77", "1", &AddrHints::default(), SECONDS);
    assert!(matches!(nobody, Err(CmError::Unresolved { .. })));
    // The same addresses in another process.
    let (_other, [elsewhere]) = members::<1>();
    let id = elsewhere.create_event_channel().create_id();
    assert_eq!(
        id.resolve_with(entry),
        Err(CmError::Route(RouteError::OtherHost))
    );
    // And not of this device.
    let id = b.create_event_channel().create_id();
    assert!(matches!(
        id.resolve_with(entry),
        Err(CmError::Route(RouteError::NotThisDevice { .. }))
    ));
}

#[test]
fn a_device_reaches_itself() {
    let (_host, [a]) = members::<1>();
    let end = End::new(&a);
    let _listener = end.channel.listen(PORT, 8).expect("a port");
    let client = end.connect(1, &ConnParam::default());
    let server = end.accept(&ConnParam::default());
    for _ in 0..2 {
        end.next(CmEventType::Established);
    }
    assert_eq!(client.transport(), TransportKind::Loop);
    assert_eq!(server.transport(), TransportKind::Loop);
    assert_eq!(client.peer_addr(), Some(SocketAddrV4::new(ip(1), PORT)));
    end.mr.write(0, b"round and round").expect("inside");
    let [from, to] = [&client, &server].map(|id| id.qp().expect("has one"));
    to.post_recv(RecvWr::new(1).sge(end.mr.sge(100, 15)))
        .expect("room");
    from.post_send(SendWr::send(2).sge(end.mr.sge(0, 15)).signaled())
        .expect("room");
    let mut done = [end.completion(), end.completion()];
    done.sort_by_key(|(id, _)| *id);
    assert_eq!(done, [(1, WcStatus::Success), (2, WcStatus::Success)]);
    assert_eq!(end.mr.to_vec(100, 15).expect("inside"), b"round and round");
}

/// What the peer may not, it does not get, and the codes are those of the wire.
#[test]
fn rights_are_checked_at_the_receiver() {
    struct Peer<'a> {
        end: &'a End,
        recv: &'a Qp,
    }
    struct Case {
        what: &'static str,
        code: TerminateCode,
        status: WcStatus,
        post: fn(&End, &Peer<'_>, &Qp),
    }
    let cases = [
        Case {
            what: "a Write to a region that does not exist",
            code: TerminateCode::DDP_STAG,
            status: WcStatus::RemoteAccessError,
            post: |a, b, qp| {
                let to = RemoteRegion {
                    rkey: b.end.mr.rkey() ^ 0x5500,
                    ..b.end.mr.remote()
                };
                qp.post_send(SendWr::write(1, to).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
        Case {
            what: "a Write beyond the end",
            code: TerminateCode::DDP_BOUNDS,
            status: WcStatus::RemoteAccessError,
            post: |a, b, qp| {
                let to = b.end.mr.remote().offset((1 << 20) - 8);
                qp.post_send(SendWr::write(1, to).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
        Case {
            what: "a Write to a region that is only read",
            code: TerminateCode::RDMAP_ACCESS,
            status: WcStatus::RemoteAccessError,
            post: |a, b, qp| {
                let read = b.end.mr.reg_part(&b.end.pd, 0, 64, Access::REMOTE_READ);
                let read = read.expect("an STag");
                qp.post_send(SendWr::write(1, read.remote()).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
        Case {
            what: "a Read of a region of another domain",
            code: TerminateCode::RDMAP_NOT_ASSOCIATED,
            status: WcStatus::RemoteAccessError,
            post: |a, b, qp| {
                let other = b.end.pd.device().alloc_pd().expect("a domain");
                let region = b.end.mr.reg_part(&other, 0, 64, Access::REMOTE_READ);
                let region = region.expect("an STag");
                qp.post_send(SendWr::read(1, region.remote()).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
        Case {
            what: "a Send that is longer than its receive",
            code: TerminateCode::DDP_TOO_LONG,
            status: WcStatus::RemoteOperationError,
            post: |a, b, qp| {
                b.recv
                    .post_recv(RecvWr::new(9).sge(b.end.mr.sge(0, 8)))
                    .expect("room");
                qp.post_send(SendWr::send(1).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
        Case {
            what: "a Send for which there is no receive",
            code: TerminateCode::DDP_NO_BUFFER,
            status: WcStatus::RemoteOperationError,
            post: |a, _, qp| {
                qp.post_send(SendWr::send(1).sge(a.mr.sge(0, 9)))
                    .expect("room");
            },
        },
    ];
    let (_host, [a, b]) = members::<2>();
    for case in cases {
        let (a, b) = (End::new(&a), End::new(&b));
        let (client, server) = connected(&a, &b, 2, &ConnParam::default());
        let before = b.mr.to_vec(0, 1 << 20).expect("inside");
        let (from, to) = (client.qp().expect("has one"), server.qp().expect("has one"));
        let peer = Peer { end: &b, recv: &to };
        (case.post)(&a, &peer, &from);
        assert_eq!(a.completion(), (1, case.status), "{}", case.what);
        for (end, id) in [(&a, &client), (&b, &server)] {
            let over = end.next(CmEventType::Disconnected);
            assert!(over.id.is(id), "{}", case.what);
            assert_eq!(over.reason, Some(DisconnectReason::Terminated));
        }
        assert!(
            b.mr.to_vec(0, 1 << 20).expect("inside") == before,
            "{}",
            case.what
        );
        for (end, received) in [(&a, true), (&b, false)] {
            let device = end.pd.device();
            let fatal = std::iter::from_fn(|| device.get_async_event())
                .find(|event| matches!(event, AsyncEvent::QpFatal { .. }));
            let Some(AsyncEvent::QpFatal {
                terminate: Some(code),
                received: by_peer,
                ..
            }) = fatal
            else {
                panic!("{}: {fatal:?}", case.what);
            };
            assert_eq!((code, by_peer), (case.code, received), "{}", case.what);
            while device.get_async_event().is_some() {}
        }
    }
}

#[test]
fn ends_that_go_are_heard_of() {
    let (_host, [a, b]) = members::<2>();
    let (a, b) = (End::new(&a), End::new(&b));
    // In order: what was posted is done first.
    let (client, server) = connected(&a, &b, 2, &ConnParam::default());
    let qp = client.qp().expect("has one");
    for n in 0..3 {
        qp.post_send(
            SendWr::write(n, b.mr.remote())
                .sge(a.mr.sge(0, 99))
                .signaled(),
        )
        .expect("room");
    }
    client.disconnect().expect("possible");
    let over = a.next(CmEventType::Disconnected);
    assert_eq!(over.reason, Some(DisconnectReason::Local));
    let over = b.next(CmEventType::Disconnected);
    assert_eq!(over.reason, Some(DisconnectReason::Peer));
    for n in 0..3 {
        assert_eq!(a.completion(), (n, WcStatus::Success));
    }
    assert_eq!(qp.state(), Ok(QpState::Error));
    drop((client, server));
    // By a queue pair's state.
    let (client, server) = connected(&a, &b, 2, &ConnParam::default());
    let qp = server.qp().expect("has one");
    qp.post_recv(RecvWr::new(8).sge(b.mr.sge(0, 9)))
        .expect("room");
    qp.modify(QpState::Error).expect("possible");
    assert_eq!(b.completion(), (8, WcStatus::WrFlushError));
    let over = a.next(CmEventType::Disconnected);
    assert_eq!(over.reason, Some(DisconnectReason::Reset));
    b.next(CmEventType::Disconnected);
    drop((client, server, qp));
    // By a handle that goes.
    let (client, server) = connected(&a, &b, 2, &ConnParam::default());
    drop(client);
    let over = b.next(CmEventType::Disconnected);
    assert_eq!(over.reason, Some(DisconnectReason::Reset));
    drop(server);
    // Before it was answered: nobody hears of it who has not taken the request.
    let _listener = b.channel.listen(PORT, 8).expect("a port");
    let client = a.connect(2, &ConnParam::default());
    let request = b.next(CmEventType::ConnectRequest);
    drop(client);
    let gone = b.next(CmEventType::ConnectError);
    assert_eq!(gone.failure, Some(ConnectFailure::Closed));
    assert!(gone.id.is(&request.id));
    assert!(matches!(
        request.id.accept(&ConnParam::default()),
        Err(CmError::WrongState { .. })
    ));
}

/// A device has as many regions as it says, and no more; of completion queue entries likewise.
#[test]
fn limits_are_those_that_are_said() {
    let device = device(3);
    let attr = device.attributes();
    let pd = device.alloc_pd().expect("a domain");
    let mut regions = Vec::new();
    while let Ok(mr) = pd.alloc_mr(64, Access::LOCAL_WRITE) {
        regions.push(mr);
    }
    assert_eq!(regions.len(), attr.max_mr as usize);
    assert!(matches!(
        device.create_cq(attr.max_cqe + 1, None),
        Err(VerbsError::InvalidSize { .. })
    ));
}

/// RFC 6581 §9.1: each program hears what the other one said, beside what was made of it.
#[test]
fn what_the_peer_said_of_reads_is_told() {
    let (_host, [a, b]) = members::<2>();
    let (a, b) = (End::new(&a), End::new(&b));
    let param = |ird, ord| ConnParam {
        responder_resources: ird,
        initiator_depth: ord,
        ..ConnParam::default()
    };
    let _listener = b.channel.listen(PORT, 8).expect("a port");
    let _client = a.connect(2, &param(3, 5));
    let _server = b.accept(&param(2, 9));
    let told = |end: &End| {
        let up = end.next(CmEventType::Established);
        let agreed = (up.responder_resources, up.initiator_depth);
        (agreed, (up.peer_ird, up.peer_ord))
    };
    let some = |ird, ord| (Some(ird), Some(ord));
    assert_eq!(told(&a), (some(3, 2), some(2, 3)));
    assert_eq!(told(&b), (some(2, 3), some(3, 5)));
}

#[test]
fn reads_are_as_agreed() {
    let (_host, [a, b]) = members::<2>();
    let (a, b) = (End::new(&a), End::new(&b));
    let none = ConnParam {
        responder_resources: 0,
        initiator_depth: 3,
        ..ConnParam::default()
    };
    let (client, _server) = connected(&a, &b, 2, &none);
    let qp = client.qp().expect("has one");
    let read = qp.post_send(SendWr::read(1, b.mr.remote()).sge(a.mr.sge(0, 9)));
    assert!(
        matches!(
            read,
            Err(VerbsError::Refused(weft_engine::Error::NoReadsAllowed))
        ),
        "{read:?}"
    );
    let long = ConnParam::with_private_data(vec![0; 509]);
    let id = a.channel.create_id();
    id.resolve_addr(SocketAddrV4::new(ip(2), PORT))
        .expect("possible");
    id.resolve_route().expect("possible");
    id.create_qp(&a.pd, &QpInit::new(&a.cq))
        .expect("a queue pair");
    let (given, limit) = (509, 508);
    assert_eq!(
        id.connect(&long),
        Err(CmError::Refused(weft_engine::Error::PrivateDataTooLong {
            given,
            limit
        }))
    );
}

/// Four threads, each with a connection of its own between the same two devices, in both directions at once.
#[test]
fn threads_do_not_disturb_each_other() {
    let _limit = Watchdog::usual("no seed");
    let (_host, [one, two]) = members::<2>();
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (one, two, failed) = (&one, &two, &failed);
            scope.spawn(move || {
                let (a, b) = (End::new(one), End::new(two));
                let port = PORT + u16::from(thread);
                let listener = b.channel.listen(port, 1).expect("a port");
                let id = a.channel.create_id();
                id.resolve_addr(SocketAddrV4::new(ip(2), port))
                    .expect("possible");
                id.resolve_route().expect("possible");
                a.next(CmEventType::AddrResolved);
                a.next(CmEventType::RouteResolved);
                id.create_qp(&a.pd, &QpInit::new(&a.cq)).expect("one");
                id.connect(&ConnParam::default()).expect("possible");
                let server = b.accept(&ConnParam::default());
                let [from, to] = [&id, &server].map(|id| id.qp().expect("has one"));
                for round in 0..500u64 {
                    let bytes = [thread ^ round as u8; 5000];
                    a.mr.write(0, &bytes).expect("inside");
                    b.mr.fill(0, 5000, 0xee).expect("inside");
                    to.post_recv(RecvWr::new(round).sge(b.mr.sge(0, 5000)))
                        .expect("room");
                    from.post_send(SendWr::send(round).sge(a.mr.sge(0, 5000)).signaled())
                        .expect("room");
                    let done = [a.completion(), b.completion()];
                    if done != [(round, WcStatus::Success); 2]
                        || b.mr.to_vec(0, 5000).expect("inside") != bytes
                    {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
                drop(listener);
            });
        }
    });
    assert!(!failed.load(Ordering::Relaxed));
}

/// Who hears that it stands may end it at once, whatever the thread that accepts is at: both ends hear ESTABLISHED, then DISCONNECTED.
#[test]
fn a_connection_may_end_as_soon_as_it_stands() {
    let (_host, [a, b]) = members::<2>();
    let (near, far) = (End::new(&a), End::new(&b));
    let _listener = far.channel.listen(PORT, 8).expect("a port");
    let _limit = Watchdog::usual("no seed");
    let at_once = |channel: &EventChannel| loop {
        if let Some(event) = channel.try_get_event().expect("works") {
            return event;
        }
        std::hint::spin_loop();
    };
    let over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (far, over) = (&far, &over);
        let server = scope.spawn(move || {
            for round in 0..ROUNDS {
                let _server = far.accept(&ConnParam::default());
                let heard = [(); 2].map(|()| at_once(&far.channel).event);
                let wanted = [CmEventType::Established, CmEventType::Disconnected];
                assert_eq!(heard, wanted, "server, round {round}");
                over.store(round + 1, Ordering::Release);
            }
        });
        for round in 0..ROUNDS {
            let client = near.connect(2, &ConnParam::default());
            let up = at_once(&near.channel);
            assert_eq!(up.event, CmEventType::Established, "round {round}");
            if round % 2 == 0 {
                // In order; else by its end.
                client.disconnect().expect("it stands");
                let down = near.channel.get_event(SECONDS).expect("works");
                let down = down.map(|down| down.event);
                assert_eq!(down, Some(CmEventType::Disconnected), "round {round}");
            }
            drop((client, up));
            // Events of two connections have no order.
            while over.load(Ordering::Acquire) <= round && !server.is_finished() {
                std::hint::spin_loop();
            }
        }
        server.join().expect("no panic");
    });
}

/// A connection is one thing in one hand: kept, it stands; without it, its queue pair says so.
#[test]
fn a_connection_is_kept() {
    let (_host, [a, b]) = members::<2>();
    let (near, far) = (End::new(&a), End::new(&b));
    let _listener = far.channel.listen(PORT, 8).expect("a port");
    let to = SocketAddrV4::new(ip(2), PORT);
    let param = ConnParam::default();
    let both = || {
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let (init, receives) = (QpInit::new(&far.cq), [RecvWr::new(3)]);
                let accept = far
                    .channel
                    .accept(&far.pd, &init, receives, &param, SECONDS);
                accept.expect("it stands")
            });
            let init = QpInit::new(&near.cq);
            let client = near.channel.connect(to, &near.pd, &init, &param, SECONDS);
            (client.expect("it stands"), server.join().expect("no panic"))
        })
    };
    let (client, server) = both();
    client.post_send(SendWr::send(1).signaled()).expect("room");
    assert_eq!(near.completion(), (1, WcStatus::Success));
    assert_eq!(far.completion(), (3, WcStatus::Success));
    client.close(SECONDS).expect("in order");
    let end = server.closed(SECONDS).expect("it ends");
    assert_eq!(end.reason, Some(DisconnectReason::Peer));
    // Dropped, and its queue pair is not.
    let (client, server) = both();
    let qp = client.qp().clone();
    drop(client);
    let gone = VerbsError::Abandoned {
        qp_num: qp.qp_num(),
    };
    assert_eq!(qp.post_send(SendWr::send(2)), Err(gone.clone()));
    assert_eq!(qp.post_recv(RecvWr::new(2)), Err(gone));
    let end = server.closed(SECONDS).expect("it ends");
    assert_eq!(end.reason, Some(DisconnectReason::Reset));
}

/// Connections of the test above.
const ROUNDS: usize = 200;
