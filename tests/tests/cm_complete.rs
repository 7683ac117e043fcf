//! What librdmacm's channels have beside the usual events, on the wire: the end of TIME_WAIT, a neighbour that moves, addresses that are used again,
//! a backlog that answers.

use std::net::SocketAddrV4;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{unstable, Device, DeviceConfig, Rung};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, End, PORT};
use weft_tests::markers::read_frames;
use weft_tests::{cards, left_out_on_card, rungs};
use weft_watchdog::Watchdog;

const SECOND: u64 = 1_000_000_000;

/// Connects from a port of its own.
fn client_from(bench: &Bench, a: &End, port: u16, reuse: bool) -> Result<CmId, CmError> {
    let id = a.channel.create_id();
    id.set_option(CmOption::ReuseAddress(reuse))?;
    id.bind_addr(SocketAddrV4::new(bench.ip(0), port))?;
    id.resolve_addr(SocketAddrV4::new(bench.ip(1), PORT))?;
    id.resolve_route()?;
    next_event(bench, &a.channel, CmEventType::AddrResolved);
    next_event(bench, &a.channel, CmEventType::RouteResolved);
    id.create_qp(&a.pd, &QpInit::new(&a.cq))?;
    id.connect(&ConnParam::default())?;
    Ok(id)
}

fn up(bench: &Bench, a: &End, b: &End) -> CmId {
    let server = b.accept_next(bench);
    next_event(bench, &a.channel, CmEventType::Established);
    next_event(bench, &b.channel, CmEventType::Established);
    server
}

#[test]
fn time_wait_ends_by_event_and_may_be_cut_short() {
    let _limit = Watchdog::usual("seed 11");
    let bench = Bench::new(&Way::Sim, 11).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    a.channel.report_everything();
    let _listener = b.listen(&bench);
    let first = client_from(&bench, &a, 30_000, false).expect("possible");
    let _server = up(&bench, &a, &b);
    first.disconnect().expect("possible");
    let over = next_event(&bench, &a.channel, CmEventType::Disconnected);
    assert_eq!(over.reason, Some(DisconnectReason::Local));
    next_event(&bench, &b.channel, CmEventType::Disconnected);
    let at = bench.device(0).now();
    // Its addresses wait: another connection between them is refused, unless it says that it may.
    let again = client_from(&bench, &a, 30_000, false);
    let refused = again.map(|_| ()).expect_err("they wait").to_string();
    assert!(refused.contains("port 30000"), "{refused}");
    let second = client_from(&bench, &a, 30_000, true).expect("possible");
    // The first one waits no longer.
    let mut exit = None;
    let mut established = false;
    let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    let _server = b.accept(request.id, &ConnParam::default());
    while exit.is_none() || !established {
        let event = bench
            .run_until("both", 5 * SECOND, || {
                a.channel.try_get_event().expect("works")
            })
            .expect("they come");
        match event.event {
            CmEventType::TimewaitExit => exit = Some(event.id),
            CmEventType::Established => established = event.id.is(&second),
            other => panic!("{other}"),
        }
    }
    assert!(exit.is_some_and(|id| id.is(&first)));
    assert!(bench.device(0).now() - at < SECOND / 10);
    // And by itself, after the time that the engine has for it.
    let at = bench.device(0).now();
    second.disconnect().expect("possible");
    next_event(&bench, &a.channel, CmEventType::Disconnected);
    let exit = next_event(&bench, &a.channel, CmEventType::TimewaitExit);
    assert!(exit.id.is(&second));
    let waited = bench.device(0).now() - at;
    let wanted = unstable::settings(bench.device(0)).time_wait;
    assert!(
        (wanted..2 * wanted).contains(&waited),
        "{waited} of {wanted}"
    );
}

#[test]
fn a_full_backlog_answers_on_the_wire() {
    let _limit = Watchdog::usual("seed 12");
    let bench = Bench::new(&Way::Sim, 12).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let listener = b.channel.create_id();
    listener
        .set_option(CmOption::AnswerBusy(true))
        .expect("in time");
    listener
        .bind_addr(SocketAddrV4::new(bench.ip(1), PORT))
        .expect("possible");
    listener.listen(2).expect("possible");
    let mut waiting = Vec::new();
    for n in 1..=2 {
        waiting.push(a.client(&bench, &ConnParam::default()));
        bench
            .run_until("the request", SECOND, || {
                b.channel.device().progress().expect("works");
                (b.channel.waiting() == n).then_some(())
            })
            .expect("it comes");
    }
    for _ in 0..3 {
        let at = bench.device(0).now();
        let late = a.client(&bench, &ConnParam::default());
        let busy = bench
            .run_until("an answer", SECOND, || {
                b.channel.device().progress().expect("works");
                a.channel.try_get_event().expect("works")
            })
            .expect("it comes");
        assert!(busy.id.is(&late));
        assert_eq!(busy.event, CmEventType::Rejected);
        assert_eq!((&busy.private_data[..], busy.status), (REJECTED_BUSY, -16));
        // Not by a second SYN.
        assert!(bench.device(0).now() - at < SECOND / 10);
        assert_eq!(b.channel.waiting(), 2);
    }
    let first = b.accept_next(&bench);
    next_event(&bench, &a.channel, CmEventType::Established);
    let _late = a.client(&bench, &ConnParam::default());
    let heard = bench.run_until("the request", SECOND, || {
        b.channel.device().progress().expect("works");
        // One stands, one waited, one is new.
        (b.channel.waiting() == 3).then_some(())
    });
    heard.expect("there is room");
    drop(first);
}

/// The peer announces that another station has its address from now on.
#[test]
fn a_neighbour_that_moves_is_told_of() {
    if rungs()[1] == Rung::Firmware
        && left_out_on_card(
            "a_neighbour_that_moves_is_told_of",
            "the peer announces it by a raw frame",
        )
    {
        return;
    }
    let _limit = Watchdog::usual("seed 13");
    let bench = Bench::new(&Way::Sim, 13).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    a.channel.report_everything();
    let _listener = b.listen(&bench);
    let client = a.client(&bench, &ConnParam::default());
    let _server = up(&bench, &a, &b);
    let qp = client.qp().expect("has one");
    let next_hop = || {
        let connection = qp.query().expect("works").connection;
        connection.expect("it stands").next_hop
    };
    assert_eq!(next_hop(), bench.device(1).mac());
    let moved = [0x02, 0x57, 0xee, 0, 0, 1];
    let ip = bench.ip(1).octets();
    let mut frame = vec![0xff; 6];
    frame.extend(moved);
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 2]);
    for _ in 0..2 {
        frame.extend(moved);
        frame.extend(ip);
    }
    frame.resize(60, 0);
    let raw = bench
        .device(1)
        .raw(weft_hostdrv::raw::RawConfig::default())
        .expect("nobody has it");
    raw.send(&frame).expect("works");
    let event = next_event(&bench, &a.channel, CmEventType::AddrChange);
    assert!(event.id.is(&client));
    assert_eq!(next_hop(), moved);
}

/// One listener, two transports: a peer by the wire and a neighbour in the host are heard alike, and who may go either way chooses.
#[test]
fn a_listener_hears_of_both_transports() {
    if left_out_on_card(
        "a_listener_hears_of_both_transports",
        "no loop inside the host is there",
    ) {
        return;
    }
    let _limit = Watchdog::usual("seed 14");
    let bench = Bench::new(&Way::Sim, 14).expect("two cards come up");
    let host = LoopbackHost::new();
    for device in bench.devices() {
        host.join(device).expect("two addresses");
    }
    let config = DeviceConfig::at([10, 0, 0, 9].into());
    let neighbour = Device::without_card(config).expect("it comes up");
    host.join(&neighbour).expect("another one");
    let (a, b, c) = (
        End::new(bench.device(0)),
        End::new(bench.device(1)),
        End::new(&neighbour),
    );
    let _listener = b.listen(&bench);
    let to = bench.ip(1).to_string();
    let service = PORT.to_string();
    let ways = |hints: &AddrHints| {
        let device = bench.device(0);
        let mut query = device.query_addr_info(&to, &service, hints)?;
        let found = bench.run_until("the ways", 5 * SECOND, || query.poll().transpose());
        found.expect("in time")
    };
    let found = ways(&AddrHints::default()).expect("two");
    let kinds: Vec<_> = found.iter().map(|way| way.transport).collect();
    assert_eq!(kinds, [TransportKind::Loop, TransportKind::Iwarp]);
    for transport in kinds {
        let hints = AddrHints {
            transport: Some(transport),
            ..AddrHints::default()
        };
        let one = ways(&hints).expect("one");
        assert_eq!(one.len(), 1);
        let id = a.channel.create_id();
        id.resolve_with(&one[0]).expect("its own");
        id.create_qp(&a.pd, &QpInit::new(&a.cq)).expect("one");
        id.connect(&ConnParam::default()).expect("possible");
        let server = up(&bench, &a, &b);
        assert_eq!((id.transport(), server.transport()), (transport, transport));
        let [from, to] = [&id, &server].map(|id| id.qp().expect("has one"));
        to.post_recv(RecvWr::new(1).sge(b.mr.sge(0, 64)))
            .expect("room");
        from.post_send(SendWr::send(2).sge(a.mr.sge(0, 64)).signaled())
            .expect("room");
        for end in [&a, &b] {
            assert_eq!(completion(&bench, &end.cq).status, WcStatus::Success);
        }
        id.disconnect().expect("possible");
        next_event(&bench, &a.channel, CmEventType::Disconnected);
        next_event(&bench, &b.channel, CmEventType::Disconnected);
    }
    // Without a card there is the loop alone.
    let id = c.client(&bench, &ConnParam::default());
    let server = b.accept_next(&bench);
    next_event(&bench, &c.channel, CmEventType::Established);
    next_event(&bench, &b.channel, CmEventType::Established);
    assert_eq!(server.transport(), TransportKind::Loop);
    assert_eq!(
        server.peer_addr().map(|peer| *peer.ip()),
        Some(neighbour.ip())
    );
    drop(id);
    next_event(&bench, &b.channel, CmEventType::Disconnected);
}

/// Each side says how its own packets are marked; the two bits of ECN are not for it to say.
#[test]
fn a_type_of_service_is_in_the_packets() {
    let _limit = Watchdog::usual("seed 15");
    let folder = tempfile::tempdir().expect("a folder");
    let fabric = Fabric::new(&FabricConfig {
        seed: 15,
        cards: cards(),
        captures: Some(folder.path().into()),
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    });
    let bench = Bench::from(fabric.expect("two cards come up"));
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let listener = b.channel.create_id();
    listener
        .set_option(CmOption::TypeOfService(0x60))
        .expect("in time");
    listener
        .bind_addr(SocketAddrV4::new(bench.ip(1), PORT))
        .expect("possible");
    listener.listen(2).expect("possible");
    let mut up = Vec::new();
    // As the listener; another one; what only the client says.
    for (port, client, server) in [
        (30_000, 0xba, None),
        (30_001, 0, Some(0x28)),
        (30_002, 0x08, Some(0)),
    ] {
        let id = a.channel.create_id();
        id.set_option(CmOption::TypeOfService(client))
            .expect("in time");
        id.bind_addr(SocketAddrV4::new(bench.ip(0), port))
            .expect("possible");
        id.resolve_addr(SocketAddrV4::new(bench.ip(1), PORT))
            .expect("possible");
        id.resolve_route().expect("possible");
        next_event(&bench, &a.channel, CmEventType::AddrResolved);
        next_event(&bench, &a.channel, CmEventType::RouteResolved);
        let qp = id.create_qp(&a.pd, &QpInit::new(&a.cq)).expect("possible");
        id.connect(&ConnParam::default()).expect("possible");
        let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest).id;
        if let Some(tos) = server {
            request
                .set_option(CmOption::TypeOfService(tos))
                .expect("before it is accepted");
        }
        let request = b.accept(request, &ConnParam::default());
        next_event(&bench, &a.channel, CmEventType::Established);
        next_event(&bench, &b.channel, CmEventType::Established);
        let late = request.set_option(CmOption::TypeOfService(4));
        assert!(matches!(late, Err(CmError::WrongState { .. })), "{late:?}");
        // The card's frames, both ways.
        for wr in [
            SendWr::write(1, b.mr.remote()).sge(a.mr.sge(0, 5000)),
            SendWr::read(2, b.mr.remote()).sge(a.mr.sge(0, 5000)),
        ] {
            qp.post_send(wr.signaled()).expect("room");
            assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
        }
        up.push((id, request));
    }
    let fabric = bench.fabric().expect("simulated");
    fabric.flush().expect("written");
    let path = fabric.captures().next().expect("one for the link");
    let (mut seen, mut replied) = ([[0; 2]; 3], [false; 3]);
    for frame in read_frames(path).expect("a capture") {
        // IPv4 without options, TCP.
        if frame[12..15] != [8, 0, 0x45] || frame[23] != 6 {
            continue;
        }
        let port = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let from_client = port(34) != PORT;
        let of = usize::from(port(if from_client { 34 } else { 36 }) - 30_000);
        let payload = usize::from(port(16)) - 20 - usize::from(frame[46] >> 4) * 4;
        let wanted = if from_client {
            [0xb8, 0, 0x08][of]
        } else {
            replied[of] |= payload > 0;
            [0x60, 0x28, 0][of] * u8::from(replied[of])
        };
        assert_eq!(frame[15] & !3, wanted, "connection {of}, {from_client}");
        seen[of][usize::from(from_client)] += 1;
    }
    for ways in seen {
        assert!(ways.iter().all(|frames| *frames >= 8), "{seen:?}");
    }
}
