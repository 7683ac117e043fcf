//! Clients of one broker reach each other by the card's own address: the loop inside the host carries it, and each has what is its own alone.

use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{self, ConnectParams, Endpoint, Event};
use weft_hostdrv::verbs::*;
use weft_share::{Client, Limits, SharedQp};
use weft_tests::clients::{broker_scene, Scene};
use weft_tests::ends::pattern;
use weft_tests::left_out_on_card;
use weft_tests::lent_program::{two_programs, Program};

const PORT: u16 = 4801;
const BYTES: usize = 20_000;

/// An identifier with a queue pair on the way to the card's own address.
fn resolved(program: &Program) -> CmId {
    let to = SocketAddrV4::new(program.device.ip(), PORT);
    program.resolved(to, &QpInit::new(&program.cq))
}

/// Waits for word from another client's thread.
fn word<T>(from: &Receiver<T>) -> T {
    from.recv_timeout(Duration::from_secs(10)).expect("in time")
}

/// Send, Write, Read and an atomic between two clients; private data both ways; a rejection, and the end in order.
#[test]
fn two_clients_reach_each_other() {
    if left_out_on_card("two_clients_reach_each_other", "it has a broker") {
        return;
    }
    let (tell, told) = channel();
    let (done, over_there) = channel();
    let server = move |path: PathBuf| {
        let program = Program::open(&path);
        let Program { pd, cq, .. } = &program;
        let rights = [
            Access::LOCAL_WRITE,
            Access::REMOTE_WRITE,
            Access::REMOTE_READ,
            Access::REMOTE_ATOMIC,
        ];
        let rights = rights.into_iter().fold(Access::NONE, |a, b| a | b);
        let mr = pd.alloc_mr(3 * BYTES, rights).expect("a region");
        let _listener = program.listen(PORT);
        tell.send(mr.remote()).expect("a client");
        let request = program.wanted(CmEventType::ConnectRequest);
        assert_eq!(request.private_data, b"first");
        request.id.reject(b"not now").expect("possible");
        let request = program.wanted(CmEventType::ConnectRequest);
        let id = request.id.clone();
        let qp = id.create_qp(pd, &QpInit::new(cq)).expect("a queue pair");
        qp.post_recv(RecvWr::new(1).sge(mr.sge(2 * BYTES as u64, BYTES as u32)))
            .expect("room");
        let accept = ConnParam {
            private_data: b"welcome".to_vec(),
            ..ConnParam::default()
        };
        id.accept(&accept).expect("possible");
        program.wanted(CmEventType::Established);
        let wc = program.next();
        assert_eq!((wc.status, wc.byte_len), (WcStatus::Success, BYTES as u32));
        let sent = mr.to_vec(2 * BYTES, BYTES).expect("inside");
        assert!(sent == pattern(BYTES, 3));
        word(&over_there);
        assert!(mr.to_vec(0, BYTES).expect("inside") == pattern(BYTES, 4));
        program.wanted(CmEventType::Disconnected);
    };
    let client = move |path: PathBuf| {
        let program = Program::open(&path);
        let pd = &program.pd;
        let rights = Access::LOCAL_WRITE | Access::READ_SINK;
        let mr = pd.alloc_mr(3 * BYTES, rights).expect("a region");
        // Nobody listens yet, or on another port.
        let there: RemoteRegion = word(&told);
        let id = resolved(&program);
        let ask = |private_data: &[u8]| ConnParam {
            private_data: private_data.to_vec(),
            ..ConnParam::default()
        };
        id.connect(&ask(b"first")).expect("possible");
        let said = program.wanted(CmEventType::Rejected);
        assert_eq!(said.private_data, b"not now");
        drop(id);
        let id = resolved(&program);
        id.connect(&ask(b"second")).expect("possible");
        let said = program.wanted(CmEventType::Established);
        assert_eq!(said.private_data, b"welcome");
        let qp = id.qp().expect("connected");
        let whole = |at: usize| mr.sge(at as u64, BYTES as u32);
        mr.write(0, &pattern(BYTES, 3)).expect("inside");
        mr.write(BYTES, &pattern(BYTES, 4)).expect("inside");
        let works = [
            SendWr::send(1).sge(whole(0)).signaled(),
            SendWr::write(2, there).sge(whole(BYTES)).signaled(),
            SendWr::read(3, there).sge(whole(2 * BYTES)).signaled(),
        ];
        for (wr, number) in works.into_iter().zip(1..) {
            qp.post_send(wr).expect("room");
            let wc = program.next();
            assert_eq!((wc.wr_id, wc.status), (number, WcStatus::Success));
        }
        assert!(mr.to_vec(2 * BYTES, BYTES).expect("inside") == pattern(BYTES, 4));
        done.send(()).expect("a server");
        id.disconnect().expect("possible");
        program.wanted(CmEventType::Disconnected);
    };
    two_programs(91, server, client);
}

/// Whom nobody hears is told so; one who asks and is gone, or is asked and is gone, leaves nothing with the other.
#[test]
fn whoever_is_gone_leaves_nothing_inside() {
    if left_out_on_card("whoever_is_gone_leaves_nothing_inside", "it has a broker") {
        return;
    }
    let (tell, told) = channel();
    let (go, gone) = channel();
    let server = move |path: PathBuf| {
        let program = Program::open(&path);
        let Program { pd, cq, .. } = &program;
        word(&gone);
        let _listener = program.listen(PORT);
        tell.send(()).expect("a client");
        // The first one has gone before it is answered; the second is dropped.
        let request = program.wanted(CmEventType::ConnectRequest);
        tell.send(()).expect("a client");
        word(&gone);
        let made = request.id.create_qp(pd, &QpInit::new(cq));
        made.expect("a queue pair");
        let accepted = request.id.accept(&ConnParam::default());
        let told = || program.event().event == CmEventType::ConnectError;
        assert!(accepted.is_err() || told(), "nobody is there");
        let request = loop {
            let event = program.event();
            if event.event == CmEventType::ConnectRequest {
                break event;
            }
        };
        drop(request);
        tell.send(()).expect("a client");
    };
    let client = move |path: PathBuf| {
        let program = Program::open(&path);
        let id = resolved(&program);
        id.connect(&ConnParam::default()).expect("possible");
        program.wanted(CmEventType::Rejected);
        go.send(()).expect("a server");
        word(&told);
        {
            let program = Program::open(&path);
            let id = resolved(&program);
            id.connect(&ConnParam::default()).expect("possible");
            word(&told);
        }
        go.send(()).expect("a server");
        let id = resolved(&program);
        id.connect(&ConnParam::default()).expect("possible");
        word(&told);
        let said = program.event().event;
        assert!(
            matches!(said, CmEventType::Rejected | CmEventType::ConnectError),
            "{said:?}"
        );
    };
    two_programs(92, server, client);
}

/// A client with a queue pair.
fn open(scene: &mut Scene) -> (Client, SharedQp) {
    let path = scene.path.clone();
    scene.with(move || {
        let client = Client::connect(&path).expect("a broker");
        let qp = client.create_qp(QpCap::default(), 64).expect("allowed");
        (client, qp)
    })
}

/// A connection to the host that it is asked for at.
fn to_itself(scene: &Scene) -> ConnectParams<'static> {
    ConnectParams {
        remote: Endpoint {
            ip: scene.bench.ip(0).octets(),
            port: PORT,
        },
        ..ConnectParams::default()
    }
}

/// A client accepts its own request: with the queue pair that asked it is refused, with another one it stands.
#[test]
fn a_queue_pair_is_not_both_ends() {
    if left_out_on_card("a_queue_pair_is_not_both_ends", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(94, Limits::default());
    let (client, asks) = open(&mut scene);
    let (mut client, another) = scene.with(move || {
        let another = client.create_qp(QpCap::default(), 64).expect("allowed");
        (client, another)
    });
    let listen = control::listen(PORT, 4);
    scene.command(&mut client, &listen).expect("free");
    let connect = control::connect(asks.id, &to_itself(&scene));
    scene.command(&mut client, &connect).expect("its own");
    let request = scene.until(|_| client.control().take_event());
    let Event::ConnectRequest { conn, .. } = request else {
        panic!("{request:?}");
    };
    let accept = |qp: &SharedQp| control::accept(conn, qp.id, &Default::default());
    let refused = scene.command(&mut client, &accept(&asks));
    let no = control::Refusal::Engine(control::Error::WrongQpState);
    assert_eq!(refused.err(), Some(no));
    let accepted = scene.command(&mut client, &accept(&another));
    accepted.expect("it is no end of it yet");
    for _ in 0..2 {
        let event = scene.until(|_| client.control().take_event());
        assert!(matches!(event, Event::Established { .. }), "{event:?}");
    }
}

/// A connection inside the host that is another's is as one that is not there.
#[test]
fn what_is_anothers_is_not_there() {
    if left_out_on_card("what_is_anothers_is_not_there", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(93, Limits::default());
    let (mut asks, from) = open(&mut scene);
    let (mut listens, own) = open(&mut scene);
    let (mut stranger, foreign) = open(&mut scene);
    let listen = control::listen(PORT, 4);
    scene.command(&mut listens, &listen).expect("free");
    let params = to_itself(&scene);
    let connect = control::connect(from.id, &params);
    scene.command(&mut asks, &connect).expect("its own");
    let request = scene.until(|_| listens.control().take_event());
    let Event::ConnectRequest { conn, .. } = request else {
        panic!("{request:?}");
    };
    let accept = |qp| control::accept(conn, qp, &Default::default());
    for command in [
        accept(foreign.id),
        control::reject(conn),
        control::disconnect(conn),
        control::abort(conn),
    ] {
        let refused = scene.command(&mut stranger, &command);
        let no = control::Refusal::Engine(control::Error::UnknownConnection);
        assert_eq!(refused.err(), Some(no));
    }
    // Nor has its owner the stranger's queue pair.
    assert!(scene.command(&mut listens, &accept(foreign.id)).is_err());
    scene
        .command(&mut listens, &accept(own.id))
        .expect("its own");
    for client in [&mut asks, &mut listens] {
        let event = scene.until(|_| client.control().take_event());
        assert!(matches!(event, Event::Established { .. }), "{event:?}");
    }
    // One connection stands, one was asked for, and who has both is gone.
    let connect = control::connect(foreign.id, &params);
    scene.command(&mut stranger, &connect).expect("its own");
    scene.until(|_| listens.control().take_event());
    drop(listens);
    let event = scene.until(|_| asks.control().take_event());
    assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
    let event = scene.until(|_| stranger.control().take_event());
    assert!(matches!(event, Event::Rejected { .. }), "{event:?}");
}
