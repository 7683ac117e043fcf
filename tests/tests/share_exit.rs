//! A broker's client that closes its connection and is gone: the peer hears of it in order, with all that was posted before.

use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use weft_hostdrv::cm::*;
use weft_hostdrv::unstable::control;
use weft_hostdrv::verbs::*;
use weft_share::Limits;
use weft_tests::clients::{broker_scene, Honest, PeersEnd, Scene};
use weft_tests::ends::{pattern, LEN, PORT};
use weft_tests::left_out_on_card;
use weft_tests::lent_program::Program;

/// Writes that a client posts before it goes: far more than a first flight.
const WRITES: u64 = 32;

/// The next event of the peer's, which accepts who comes.
fn peer_hears(scene: &mut Scene, accepted: &mut Vec<CmId>) -> Option<CmEvent> {
    let event = scene.peer_event()?;
    if event.event == CmEventType::ConnectRequest {
        accepted.push(scene.peer.accept(event.id, &ConnParam::default()));
        return None;
    }
    (event.event == CmEventType::Disconnected).then_some(event)
}

/// Commands the end of its connection and is gone, as a process that exits: the broker has not seen the command. The peer's end stays.
fn disconnect_and_exit(mut honest: Honest) -> PeersEnd {
    let disconnect = control::disconnect(honest.conn);
    let control = honest.client.control();
    control.post(&disconnect, &[]).expect("room");
    honest.exit()
}

/// Writes all of the peer's region, closes the connection and drops all it has. It waits for nothing.
fn write_and_leave(path: &Path, to: SocketAddrV4, there: RemoteRegion) {
    let program = Program::open(path);
    let Program {
        channel, pd, cq, ..
    } = &program;
    let mr = pd.alloc_mr(LEN, Access::LOCAL_WRITE).expect("a region");
    mr.write(0, &pattern(LEN, 5)).expect("inside");
    let (init, param) = (QpInit::new(cq), ConnParam::default());
    let server = channel.connect(to, pd, &init, &param, None);
    let server = server.expect("it stands");
    let write = SendWr::write(1, there).sge(mr.sge(0, LEN as u32));
    server.post_send(write).expect("room");
    server.id().disconnect().expect("it stands");
}

/// The client's program gives all back, in its order.
#[test]
fn a_lent_device_that_goes_closes_first() {
    if left_out_on_card("a_lent_device_that_goes_closes_first", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(91, Limits::default());
    let listener = scene.peer.listen(&scene.bench);
    let to = SocketAddrV4::new(scene.bench.ip(1), PORT);
    let (path, there) = (scene.path.clone(), scene.peer.mr.remote());
    let client = thread::spawn(move || write_and_leave(&path, to, there));
    let mut accepted = Vec::new();
    let end = scene.until(|scene| peer_hears(scene, &mut accepted));
    assert_eq!(end.reason, Some(DisconnectReason::Peer));
    assert_eq!(scene.peer.mr.to_vec(0, LEN), Ok(pattern(LEN, 5)));
    scene.until(|_| client.is_finished().then_some(()));
    client.join().expect("no panic");
    drop((end, accepted));
    scene.nothing_is_left();
    drop(listener);
}

/// It gives nothing back, as a process that exits; the broker has seen neither its posts nor its command before.
#[test]
fn a_client_that_exits_closes_first() {
    if left_out_on_card("a_client_that_exits_closes_first", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(92, Limits::default());
    let mut honest = scene.honest();
    let (rkey, addr) = (scene.peer.mr.rkey(), scene.peer.mr.addr());
    honest.work(&mut scene);
    let mut words = 0;
    for word in honest.region.words() {
        words += 1;
        word.store(words, SeqCst);
    }
    let octets = 8 * words;
    for at in (0..WRITES).map(|n| n * octets) {
        honest
            .post_from(0, octets as u32, rkey, addr + at)
            .expect("room");
    }
    let _peers_end = disconnect_and_exit(honest);
    let end = scene.until(|scene| peer_hears(scene, &mut Vec::new()));
    assert_eq!(end.reason, Some(DisconnectReason::Peer));
    let there = scene.peer.mr.to_vec(0, (WRITES * octets) as usize);
    let there = there.expect("inside");
    for (word, at) in there.chunks(8).zip(0..) {
        assert_eq!(word, (at % words + 1).to_ne_bytes(), "word {at}");
    }
    scene.nothing_is_left();
}

/// The peer's host is away: the connection is cut off when its time is over, and nothing is left.
#[test]
fn a_client_that_is_gone_closes_within_a_limit() {
    let test = "a_client_that_is_gone_closes_within_a_limit";
    if left_out_on_card(test, "it has a broker") {
        return;
    }
    let mut scene = broker_scene(93, Limits::default());
    let mut honest = scene.honest();
    honest.work(&mut scene);
    honest.post(&scene).expect("room");
    let _peers_end = disconnect_and_exit(honest);
    let device = scene.bench.device(0).clone();
    // Another thread reads its socket, in its own time.
    while scene.broker.clients() > 0 {
        scene.broker.turn().expect("it works");
        std::thread::yield_now();
    }
    let begun = device.now();
    let mut turn = || {
        device.progress().expect("it works");
        scene.broker.turn().expect("it works");
        device
            .wait(Some(device.now() + 1_000_000))
            .expect("it works");
        scene.broker.in_use().is_empty()
    };
    while device.now() < begun + 900_000_000 {
        assert!(!turn(), "over after {} ns", device.now() - begun);
    }
    while device.now() < begun + 1_100_000_000 {
        turn();
    }
    assert!(turn(), "{:?}", scene.broker.in_use());
}
