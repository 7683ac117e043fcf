//! Many who come at once, and many who cannot be closed: those who are there are served meanwhile, and those who come afterwards.

use std::os::fd::AsFd;

use weft_share::Limits;
use weft_tests::clients::{broker_scene, RawClient};
use weft_tests::left_out_on_card;
use weft_tests::lingering::lingering;

const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");

/// A turn of the broker lets a few in, however many are at the door.
#[test]
fn a_crowd_takes_its_turns() {
    if left_out_on_card("a_crowd_takes_its_turns", "it has a broker") {
        return;
    }
    let mut scene = broker_scene(107, Limits::default());
    let crowd: Vec<_> = (0..100).map(|_| RawClient::connect(&scene.path)).collect();
    let mut seen = 0;
    while seen < 100 {
        let before = scene.broker.report();
        let handled = scene.broker.turn().expect("it works");
        let now = scene.broker.report();
        let came = now.came + now.turned_away - before.came - before.turned_away;
        assert!(came <= 16 && handled as u64 >= came, "{came} of {handled}");
        seen += came;
        std::thread::yield_now();
    }
    drop(crowd);
    scene.nothing_is_left();
}

/// More strangers than there are threads to close them, each with a descriptor that does not close, keep nobody out.
#[test]
fn strangers_keep_nobody_out() {
    if left_out_on_card("strangers_keep_nobody_out", "it has a broker") {
        return;
    }
    let limits = Limits {
        clients: 1,
        ..Limits::default()
    };
    let mut scene = broker_scene(108, limits);
    if let Err(error) = scene.broker.refuse_descriptors() {
        println!("descriptors are not refused here, and keep those out who come: {error}");
        return;
    }
    let only = RawClient::connect(&scene.path);
    scene.turn();
    let mut held = Vec::new();
    for _ in 0..12 {
        let (socket, other) = lingering();
        held.push(other);
        let stranger = RawClient::connect(&scene.path);
        stranger.send(&[HELLO], &[socket.as_fd()]);
        // Whoever lets go last may wait.
        std::thread::spawn(move || drop(socket));
        for _ in 0..10 {
            scene.turn();
        }
    }
    drop(only);
    scene.nothing_is_left();
    let honest = RawClient::connect(&scene.path);
    let (status, ..) = scene.ask(&honest, &[HELLO], &[]).expect("served");
    assert_eq!(status, 0);
    drop((honest, held));
    scene.nothing_is_left();
}
