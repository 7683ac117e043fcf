//! XRC on devices that a broker lends: a domain by a file, which other clients of the user open too; its shared receive queues and targets; by the loop inside
//! the host, and by the card.

use std::fs::File;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;

use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control::{self, ConnectParams, Endpoint, Event};
use weft_hostdrv::unstable::queues::{Payload, SendWqe, Wqe, WqeOpcode};
use weft_hostdrv::verbs::*;
use weft_share::{Client, Limits};
use weft_tests::clients::{broker_scene, Scene};
use weft_tests::ends::{no_faults, pattern, PORT};
use weft_tests::left_out_on_card;
use weft_tests::lent_program::{two_programs, until, Program};

const BYTES: usize = 20_000;
/// Receives of a queue.
const RECEIVES: u32 = 4;
/// Their memory: a place for each.
const ALL: usize = RECEIVES as usize * BYTES;

/// A shared receive queue of a domain, with receives in it.
struct Receiver {
    srq: Srq,
    mr: Mr,
    pd: Pd,
}

impl Receiver {
    /// In a protection domain of its own.
    fn new(program: &Program, xrcd: &Xrcd) -> Self {
        let pd = program.device.alloc_pd().expect("a domain");
        let init = SrqInit {
            max_wr: RECEIVES,
            ..SrqInit::default()
        };
        let receiver = Self {
            srq: pd.create_xrc_srq(xrcd, &program.cq, &init).expect("lent"),
            mr: pd.alloc_mr(ALL, Access::LOCAL_WRITE).expect("lent"),
            pd,
        };
        for wr_id in 0..RECEIVES {
            receiver.post(wr_id.into());
        }
        receiver
    }

    fn post(&self, wr_id: u64) {
        let sge = self.mr.sge(wr_id * BYTES as u64, BYTES as u32);
        let wr = RecvWr::new(wr_id).sge(sge);
        self.srq.post_recv(wr).expect("room");
    }

    /// A message with this pattern comes next, to this target.
    fn gets(&self, program: &Program, salt: u8, target: Option<u32>) -> u32 {
        let wc = program.next();
        assert_eq!((wc.status, wc.byte_len), (WcStatus::Success, BYTES as u32));
        assert!(target.is_none_or(|target| target == wc.qp_num));
        let at = wc.wr_id as usize * BYTES;
        let there = self.mr.to_vec(at, BYTES).expect("inside");
        assert!(there == pattern(BYTES, salt), "not what was sent");
        self.post(wc.wr_id);
        wc.qp_num
    }

    fn end(self, program: &Program) {
        self.srq.destroy().expect("nobody has it");
        // Receives that waited end without completion.
        assert!(program.cq.poll_one().expect("it works").is_none());
        self.mr.dereg().expect("nobody uses it");
        drop(self.pd);
    }
}

/// A file that names a domain, beside the broker's socket.
fn file(path: &Path) -> File {
    let name = path.with_extension("domain");
    let mut options = File::options();
    let opened = options.create(true).append(true).open(name);
    opened.expect("a file")
}

/// Accepts an initiator with a target of the domain.
fn accept(program: &Program, xrcd: &Xrcd) -> CmId {
    let request = program.wanted(CmEventType::ConnectRequest);
    assert!(request.xrc);
    let made = request.id.create_qp(&program.pd, &xrcd.target());
    made.expect("lent");
    request.id.accept(&ConnParam::default()).expect("possible");
    program.wanted(CmEventType::Established);
    request.id
}

/// Sends a pattern to a queue of the peer's.
fn send(id: &CmId, mr: &Mr, (salt, to): (u8, u32)) {
    mr.write(0, &pattern(BYTES, salt)).expect("inside");
    let send = SendWr::send(9).sge(mr.sge(0, BYTES as u32));
    let qp = id.qp().expect("has one");
    qp.post_send(send.to_srq(to).signaled()).expect("room");
}

/// One client has an initiator, and a shared receive queue of the domain; the other one has the target. The initiator's Sends go to the queues of both.
#[test]
fn two_clients_have_a_domain() {
    if left_out_on_card("two_clients_have_a_domain", "it has a broker") {
        return;
    }
    let (tell, told) = channel();
    let (done, over) = channel();
    let server = move |path: PathBuf| {
        let program = Program::open(&path);
        let none = program.device.open_xrcd(file(&path), XrcdOpen::Existing);
        assert_eq!(none.err(), Some(VerbsError::NoSuchXrcd));
        let xrcd = program.device.open_xrcd(file(&path), XrcdOpen::New);
        let xrcd = xrcd.expect("lent");
        let receiver = Receiver::new(&program, &xrcd);
        let listener = program.listen(PORT);
        tell.send(receiver.srq.srq_num()).expect("a client");
        let id = accept(&program, &xrcd);
        let target = id.qp().expect("a target").qp_num();
        for salt in [1, 3, 5] {
            receiver.gets(&program, salt, Some(target));
        }
        tell.send(target).expect("a client");
        program.wanted(CmEventType::Disconnected);
        drop((id, listener));
        receiver.end(&program);
        drop(xrcd);
        tell.send(0).expect("a client");
        over.recv().expect("a client");
    };
    let client = move |path: PathBuf| {
        let program = Program::open(&path);
        let theirs = told.recv().expect("a server");
        let again = program.device.open_xrcd(file(&path), XrcdOpen::New);
        assert_eq!(again.err(), Some(VerbsError::XrcdExists));
        let xrcd = program.device.open_xrcd(file(&path), XrcdOpen::OrNew);
        let xrcd = xrcd.expect("lent");
        let receiver = Receiver::new(&program, &xrcd);
        assert_eq!(receiver.srq.query().expect("asked").waiting, RECEIVES);
        let own = receiver.srq.srq_num();
        let to = SocketAddrV4::new(program.device.ip(), PORT);
        let sends = program.device.create_cq(16, None).expect("a queue");
        let id = program.resolved(to, &QpInit::new(&sends).initiator());
        id.connect(&ConnParam::default()).expect("possible");
        program.wanted(CmEventType::Established);
        let mr = program.pd.alloc_mr(BYTES, Access::LOCAL_WRITE);
        let mr = mr.expect("lent");
        let mut by = Vec::new();
        for (salt, to) in [(1, theirs), (2, own), (3, theirs), (4, own), (5, theirs)] {
            send(&id, &mr, (salt, to));
            let wc = until(|| sends.poll_one().expect("it works"));
            assert_eq!((wc.wr_id, wc.status), (9, WcStatus::Success));
            if to == own {
                by.push(receiver.gets(&program, salt, None));
            }
        }
        // The other client's target, by the number that it has there.
        let target = told.recv().expect("a server");
        assert_eq!(by, [target; 2]);
        id.disconnect().expect("possible");
        program.wanted(CmEventType::Disconnected);
        // Whoever made the domain has left it: it is there as long as somebody has it.
        assert_eq!(told.recv().expect("a server"), 0);
        let second = Program::open(&path);
        let open = |how| second.device.open_xrcd(file(&path), how);
        drop(open(XrcdOpen::Existing).expect("this one has it"));
        drop(id);
        receiver.end(&program);
        drop(xrcd);
        let gone = until(|| open(XrcdOpen::New).ok());
        assert!(open(XrcdOpen::OrNew).expect("there").is(&gone));
        done.send(()).expect("a server");
    };
    two_programs(94, server, client);
}

/// A connection inside the host goes on when who accepted it has gone, as long as another client has the target.
#[test]
fn a_target_inside_outlives_who_accepted() {
    if left_out_on_card("a_target_inside_outlives_who_accepted", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(96, Limits::default());
    let open = |scene: &mut Scene| {
        let path = scene.path.clone();
        scene.with(move || {
            let client = Client::connect(&path).expect("a broker");
            let xrcd = client.open_xrcd("inside", XrcdOpen::OrNew);
            (client, xrcd.expect("allowed"))
        })
    };
    let ((asks, _), (accepts, own), (stays, theirs)) =
        (open(&mut scene), open(&mut scene), open(&mut scene));
    let (mut asks, mut initiator) = scene.with(move || {
        let initiator = asks.create_initiator(QpCap::default(), 64);
        (asks, initiator.expect("allowed"))
    });
    let (mut accepts, target) = scene.with(move || {
        let target = accepts.create_target(own).expect("allowed");
        (accepts, target)
    });
    let (stays, mut srq) = scene.with(move || {
        let opened = stays.open_target(theirs, target.qp_num);
        assert_eq!(opened.expect("it is there").qp_num, target.qp_num);
        let srq = stays.create_xrc_srq(theirs, 8, 1, 8).expect("allowed");
        (stays, srq)
    });
    let listen = control::listen(PORT, 4);
    scene.command(&mut accepts, &listen).expect("free");
    let params = ConnectParams {
        remote: Endpoint {
            ip: scene.bench.ip(0).octets(),
            port: PORT,
        },
        ..ConnectParams::default()
    };
    let connect = control::connect(initiator.id, &params);
    scene.command(&mut asks, &connect).expect("its own");
    let request = scene.until(|_| accepts.control().take_event());
    let Event::ConnectRequest { conn, xrc, .. } = request else {
        panic!("{request:?}");
    };
    assert!(xrc);
    let accept = control::accept(conn, target.id, &Default::default());
    scene.command(&mut accepts, &accept).expect("its own");
    let event = scene.until(|_| asks.control().take_event());
    assert!(matches!(event, Event::Established { .. }), "{event:?}");
    let mut sends = |scene: &mut Scene, accepter: &str| {
        srq.post_recv(&[]).expect("room");
        let send = Wqe {
            opcode: WqeOpcode::XrcSend,
            flags: SendWqe::SIGNALED,
            to: 0,
            stag: srq.terms().srq_num,
            payload: Payload::Sges(&[]),
        };
        initiator.queues.post_send(&send).expect("room");
        for _ in 0..2_000 {
            scene.turn();
            if let Some(cqe) = srq.poll() {
                assert_eq!((cqe.status, cqe.qp_num), (0, target.qp_num));
                return;
            }
        }
        panic!("nothing came, and the accepter is {accepter}");
    };
    sends(&mut scene, "there");
    drop(accepts);
    scene.until(|scene| (scene.broker.clients() == 2).then_some(()));
    sends(&mut scene, "gone");
    assert_eq!(asks.control().take_event(), None);
    drop(stays);
    let event = scene.until(|_| asks.control().take_event());
    assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
    drop((asks, srq));
    scene.nothing_is_left();
    no_faults(&scene.bench);
}

/// A peer on another card, and a domain without a name.
#[test]
fn a_peer_reaches_a_lent_domain() {
    if left_out_on_card("a_peer_reaches_a_lent_domain", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(95, Limits::default());
    let path = scene.path.clone();
    let (tell, told) = channel();
    let server = thread::spawn(move || {
        let program = Program::open(&path);
        // As many domains as a client may have, and again: what it has left it may have anew.
        for round in 0..3 {
            let mut many = Vec::new();
            let refused = loop {
                match program.device.alloc_xrcd() {
                    Ok(xrcd) => many.push(xrcd),
                    Err(refused) => break refused,
                }
            };
            assert!(many.len() > 10, "{round}: {}: {refused}", many.len());
        }
        let [foreign, xrcd] = [(); 2].map(|()| program.device.alloc_xrcd().expect("lent"));
        let others = Receiver::new(&program, &foreign);
        let receiver = Receiver::new(&program, &xrcd);
        let _listener = program.listen(PORT);
        let numbers = [&receiver, &others].map(|one| one.srq.srq_num());
        tell.send(numbers).expect("a peer");
        let id = accept(&program, &xrcd);
        let target = id.qp().expect("a target").qp_num();
        receiver.gets(&program, 1, Some(target));
        receiver.gets(&program, 2, Some(target));
        // A limit is told of once.
        receiver.srq.modify(RECEIVES).expect("possible");
        let srq_num = receiver.srq.srq_num();
        receiver.gets(&program, 3, Some(target));
        let limit = AsyncEvent::SrqLimitReached { srq_num };
        until(|| {
            program.device.progress().expect("it works");
            (program.device.get_async_event().as_ref() == Some(&limit)).then_some(())
        });
        // A queue of another domain is out of reach.
        program.wanted(CmEventType::Disconnected);
        assert_eq!(others.srq.query().expect("asked").waiting, RECEIVES);
    });
    let [own, foreign] = scene.until(|_| told.try_recv().ok());
    let id = scene.peer.channel.create_id();
    let to = SocketAddrV4::new(scene.bench.ip(0), PORT);
    id.resolve_addr(to).expect("possible");
    id.resolve_route().expect("possible");
    let init = QpInit::new(&scene.peer.cq).initiator();
    id.create_qp(&scene.peer.pd, &init).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    scene.until(|scene| {
        let event = scene.peer_event()?;
        assert_eq!(event.event, CmEventType::Established);
        Some(())
    });
    for (salt, to) in [(1, own), (2, own), (3, own), (4, foreign)] {
        send(&id, &scene.peer.mr, (salt, to));
        let cq = scene.peer.cq.clone();
        let wc = scene.until(|_| cq.poll_one().expect("it works"));
        // One that is out of reach may be done before its Terminate comes.
        assert!(wc.status == WcStatus::Success || to == foreign, "{wc:?}");
    }
    scene.until(|_| server.is_finished().then_some(()));
    server.join().expect("it works");
    drop(id);
    scene.nothing_is_left();
    no_faults(&scene.bench);
}
