//! A program that is written once: on a device of its own, and on one that a broker lends. It has several queue pairs on one completion queue, a shared receive
//! queue, windows, several threads, and memory of its own registered where it lies.

use std::net::SocketAddrV4;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::NonNull;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::dma::{page_size, Pages};
use weft_hostdrv::verbs::*;
use weft_hostdrv::Device;
use weft_share::{Client, Limits};
use weft_tests::clients::{broker_scene, Scene};
use weft_tests::ends::{no_faults, pattern, PORT};
use weft_tests::left_out_on_card;
use weft_tests::lent_program::until;

/// Writes of each thread.
const WRITES: u64 = 60;
/// Bytes of each.
const BYTES: usize = 3000;
/// Connections: two of queue pairs with receives of their own, and two of a shared queue.
const CONNECTIONS: usize = 4;

/// What the program asks the peer to do.
enum Errand {
    /// Sends these bytes by the connection of this number.
    Send(usize, Vec<u8>),
    /// Writes these bytes there, by that connection.
    Write(usize, RemoteRegion, Vec<u8>),
}

/// The other side, in the thread of the test.
struct Peer {
    errands: Receiver<Errand>,
    connections: Vec<CmId>,
    done: u64,
}

impl Peer {
    fn turn(&mut self, scene: &mut Scene) {
        scene.turn();
        while let Some(event) = scene.peer_event() {
            if event.event == CmEventType::ConnectRequest {
                let accepted = scene.peer.accept(event.id, &ConnParam::default());
                self.connections.push(accepted);
            }
        }
        while let Some(wc) = scene.peer.cq.poll_one().expect("it works") {
            assert_eq!(wc.status, WcStatus::Success);
            self.done += 1;
        }
        while let Ok(errand) = self.errands.try_recv() {
            let mr = &scene.peer.mr;
            let (at, bytes) = match &errand {
                Errand::Send(at, bytes) | Errand::Write(at, _, bytes) => (*at, bytes),
            };
            mr.write(200_000, bytes).expect("inside");
            let wr = match &errand {
                Errand::Send(..) => SendWr::send(1),
                Errand::Write(_, to, _) => SendWr::write(1, *to),
            };
            let qp = self.connections[at].qp().expect("connected");
            let wr = wr.sge(mr.sge(200_000, bytes.len() as u32)).signaled();
            qp.post_send(wr).expect("room");
            let done = self.done;
            while self.done == done {
                self.turn(scene);
            }
        }
    }
}

fn next(cq: &Cq) -> Wc {
    let wc = until(|| cq.poll_one().expect("it works"));
    assert_eq!(wc.status, WcStatus::Success, "{wc:?}");
    wc
}

fn event(channel: &EventChannel, wanted: CmEventType) -> CmEvent {
    let event = until(|| channel.try_get_event().expect("it works"));
    assert_eq!(event.event, wanted);
    event
}

fn connect(channel: &EventChannel, pd: &Pd, init: &QpInit, to: SocketAddrV4) -> CmId {
    let id = channel.create_id();
    id.resolve_addr(to).expect("possible");
    event(channel, CmEventType::AddrResolved);
    id.resolve_route().expect("possible");
    event(channel, CmEventType::RouteResolved);
    id.create_qp(pd, init).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    event(channel, CmEventType::Established);
    id
}

/// The program. It names no type of a broker's.
fn program(device: &Device, to: SocketAddrV4, there: RemoteRegion, peer: &Sender<Errand>) {
    let pd = device.alloc_pd().expect("a domain");
    let cq = device.create_cq(512, None).expect("a queue");
    let channel = device.create_event_channel();
    let rights = [Access::LOCAL_WRITE, Access::REMOTE_WRITE, Access::BIND];
    let rights = rights.into_iter().fold(Access::NONE, |a, b| a | b);
    let mr = pd.alloc_mr(100 << 10, rights).expect("a region");
    let srq = pd.create_srq(&SrqInit::default()).expect("a shared queue");
    let own = QpInit::new(&cq);
    let shared = QpInit::new(&cq).srq(&srq);
    let ids: Vec<CmId> = [&own, &own, &shared, &shared]
        .into_iter()
        .map(|init| connect(&channel, &pd, init, to))
        .collect();
    let qps: Vec<Qp> = ids.iter().map(|id| id.qp().expect("connected")).collect();
    assert_eq!(qps[0].state().expect("asked"), QpState::Rts);
    assert_eq!(qps.len(), CONNECTIONS);

    // Two threads post, one polls: one completion queue for both.
    let bytes = pattern(2 * BYTES, 7);
    mr.write(0, &bytes).expect("inside");
    thread::scope(|scope| {
        for (number, qp) in (0..).zip(&qps[..2]) {
            let (mr, at) = (&mr, number * BYTES);
            let there = RemoteRegion {
                addr: there.addr + at as u64,
                ..there
            };
            scope.spawn(move || {
                for wr_id in 0..WRITES {
                    let sge = mr.sge(at as u64, BYTES as u32);
                    let write = || SendWr::write(wr_id, there).sge(sge).signaled();
                    until(|| qp.post_send(write()).ok());
                }
            });
        }
        let mut done = [0; 2];
        while done.iter().sum::<u64>() < 2 * WRITES {
            let wc = next(&cq);
            let number = usize::from(wc.qp_num == qps[1].qp_num());
            assert_eq!(wc.qp_num, qps[number].qp_num());
            assert_eq!(wc.wr_id, done[number], "in order");
            done[number] += 1;
        }
    });

    // Receives: of a queue pair's own, and of the shared queue by whichever connection a message comes.
    let recv = |wr_id, at| RecvWr::new(wr_id).sge(mr.sge(at, 1000));
    qps[0].post_recv(recv(70, 8000)).expect("room");
    for wr_id in [80, 81] {
        srq.post_recv(recv(wr_id, 1000 * wr_id)).expect("room");
    }
    assert_eq!(
        srq.query().expect("asked").max_wr,
        SrqInit::default().max_wr
    );
    for (at, salt) in [(0, 1), (3, 2), (2, 3)] {
        let sent = pattern(500, salt);
        peer.send(Errand::Send(at, sent.clone())).expect("a peer");
        let wc = next(&cq);
        assert_eq!((wc.qp_num, wc.byte_len), (qps[at].qp_num(), 500));
        let place = match wc.wr_id {
            70 => 8000,
            wr_id => 1000 * wr_id as usize,
        };
        assert_eq!(at == 0, wc.wr_id == 70);
        assert_eq!(mr.to_vec(place, 500).expect("inside"), sent);
    }

    // A window, by which the peer writes, and which is closed again.
    let mw = pd.alloc_mw(MwType::Type2).expect("a window");
    for salt in [4, 5] {
        let part = BindWr::new(90, mr.sge(20_000, 600), Access::REMOTE_WRITE).signaled();
        let open = qps[1].bind_mw(&mw, part).expect("room");
        assert_eq!(next(&cq).wr_id, 90);
        let sent = pattern(600, salt);
        peer.send(Errand::Write(1, open, sent.clone()))
            .expect("a peer");
        until(|| (mr.to_vec(20_000, 600).ok()? == sent).then_some(()));
        let close = InvalidateWr::new(91, open.rkey).signaled();
        qps[1].local_invalidate(close).expect("room");
        assert_eq!(next(&cq).wr_id, 91);
    }
    drop(mw);

    // Memory of the program's, where it lies.
    let pages = Pages::new(3 * page_size()).expect("memory");
    let whole = pages.memory();
    whole
        .write(0, &pattern(3 * page_size(), 9))
        .expect("inside");
    let first = NonNull::new(whole.as_ptr().wrapping_add(100)).expect("an address");
    // SAFETY: the pages outlive the region, and are accessed by way of it and of `SharedMemory` alone.
    let own = unsafe { pd.reg_raw(first, page_size(), Access::LOCAL_WRITE) };
    let own = own.expect("a region");
    assert_eq!(own.addr(), first.as_ptr() as u64);
    let write = SendWr::write(95, there).sge(own.sge(0, 4000)).signaled();
    qps[0].post_send(write).expect("room");
    assert_eq!(next(&cq).wr_id, 95);
    own.dereg().expect("nobody uses it");
    let still = whole.to_vec(0, 3 * page_size()).expect("inside");
    assert_eq!(still, pattern(3 * page_size(), 9));

    for id in &ids {
        id.disconnect().expect("possible");
        event(&channel, CmEventType::Disconnected);
    }
    drop((qps, ids, shared));
    srq.destroy().expect("nobody has it");
    mr.dereg().expect("nobody uses it");
}

/// Runs the program on a device that `open` gives it; what the peer has of it.
fn run(scene: &mut Scene, open: impl FnOnce() -> Device + Send + 'static) {
    let listener = scene.peer.listen(&scene.bench);
    let to = SocketAddrV4::new(scene.bench.ip(1), PORT);
    let there = scene.peer.mr.remote();
    let (errands, peer) = channel();
    let runs = thread::spawn(move || program(&open(), to, there, &errands));
    let mut peer = Peer {
        errands: peer,
        connections: Vec::new(),
        done: 0,
    };
    while !runs.is_finished() {
        peer.turn(scene);
        thread::yield_now();
    }
    runs.join().expect("the program works");
    let expected = pattern(2 * BYTES, 7)[4000..].to_vec();
    let second = scene.peer.mr.to_vec(4000, 2 * BYTES - 4000);
    assert_eq!(second.expect("inside"), expected);
    let own = pattern(3 * page_size(), 9)[100..4100].to_vec();
    let first = scene.peer.mr.to_vec(0, 4000).expect("inside");
    assert_eq!(first, own);
    scene.peer.mr.fill(0, 2 * BYTES, 0).expect("inside");
    drop((peer.connections, listener));
}

#[test]
fn a_program_is_written_once() {
    if left_out_on_card("a_program_is_written_once", "it has a broker beside it") {
        return;
    }
    let mut scene = broker_scene(81, Limits::default());
    let device = scene.bench.device(0).clone();
    run(&mut scene, move || device);
    let path = scene.path.clone();
    run(&mut scene, move || weft_share::open(&path).expect("lent"));
    scene.nothing_is_left();
    no_faults(&scene.bench);
}

/// Who waits sleeps until the broker rings, and hears that it is gone; a broker that has nothing to do sleeps, too.
#[test]
fn a_lent_device_sleeps_and_is_told_of_the_end() {
    if left_out_on_card(
        "a_lent_device_sleeps_and_is_told_of_the_end",
        "it has a broker",
    ) {
        return;
    }
    let mut scene = broker_scene(82, Limits::default());
    let listener = scene.peer.listen(&scene.bench);
    let to = SocketAddrV4::new(scene.bench.ip(1), PORT);
    let there = scene.peer.mr.remote();
    let path = scene.path.clone();
    let (tell, told) = channel();
    let borrower = thread::spawn(move || {
        let device = weft_share::open(&path).expect("lent");
        let pd = device.alloc_pd().expect("a domain");
        let cq = device.create_cq(64, None).expect("a queue");
        let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE).expect("a region");
        let channel = device.create_event_channel();
        let id = connect(&channel, &pd, &QpInit::new(&cq), to);
        let qp = id.qp().expect("connected");
        let limit = Some(Duration::from_secs(100));
        let looks = device.host_stats().progress_calls;
        for wr_id in 0..20 {
            let wr = SendWr::write(wr_id, there).sge(mr.sge(0, 100)).signaled();
            qp.post_send(wr).expect("room");
            let wc = cq.wait_one(limit).expect("it works").expect("in time");
            assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
        }
        let looks = device.host_stats().progress_calls - looks;
        tell.send(looks).expect("a test");
        // Nothing comes any more: only the end is told of.
        let end = cq.wait_one(limit).expect_err("the broker is gone");
        let wr = SendWr::write(1, there).sge(mr.sge(0, 100));
        let refused = qp.post_send(wr).expect_err("nobody would do it");
        [end.to_string(), refused.to_string()]
    });
    let mut accepted = Vec::new();
    let looks = scene.until(|scene| {
        while let Some(event) = scene.peer_event() {
            if event.event == CmEventType::ConnectRequest {
                accepted.push(scene.peer.accept(event.id, &ConnParam::default()));
            }
        }
        thread::sleep(Duration::from_micros(200));
        told.try_recv().ok()
    });
    // It does not poll: a few looks a message, however long that takes.
    assert!(looks < 20 * 40, "{looks} calls of progress for 20 messages");
    let Scene {
        broker,
        peer,
        bench,
        ..
    } = scene;
    drop(broker);
    for said in borrower.join().expect("it ends") {
        assert!(said.contains("the broker of the card is gone"), "{said}");
    }
    drop((accepted, listener, peer, bench));
}

/// A child made by fork looks at what it has inherited, drops it, and is another program then. The parent's.
fn dropped_by_a_child<T: Send + Sync + 'static>(thing: T, look: fn(&T)) -> T {
    let held = Arc::new(Mutex::new(Some(thing)));
    let inherited = held.clone();
    let mut child = Command::new("true");
    let work = move || {
        let thing = inherited.try_lock().ok().and_then(|mut held| held.take());
        look(&thing.expect("nobody else has it"));
        Ok(())
    };
    // SAFETY: the child drops what nobody has locked, and is another program then.
    unsafe { child.pre_exec(work) };
    assert!(child.status().expect("a child").success());
    drop(child);
    let thing = held.lock().expect("no panic").take();
    thing.expect("the parent's")
}

/// A child that drops what it has inherited ends nothing of its parent's: a device, which is nothing there, and a client, which is a socket and a line.
#[test]
fn a_child_ends_nothing_of_its_parent_s() {
    if left_out_on_card("a_child_ends_nothing_of_its_parent_s", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(83, Limits::default());
    let (path, same) = (scene.path.clone(), scene.path.clone());
    let device = scene.with(move || weft_share::open(&path).expect("lent"));
    let device = dropped_by_a_child(device, |device| assert!(device.alloc_pd().is_err()));
    let pd = scene.with(move || device.alloc_pd().map(|_| ()));
    assert_eq!(pd, Ok(()));
    let client = scene.with(move || Client::connect(&same).expect("a client"));
    let client = dropped_by_a_child(client, |_| {});
    let opened = scene.with(move || client.open_xrcd("x", XrcdOpen::New).map(|_| ()));
    assert!(opened.is_ok(), "{opened:?}");
}
