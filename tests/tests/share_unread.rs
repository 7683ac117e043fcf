//! A client that asks for files and reads no answer: descriptors under way count, as the system counts them, and others are served.

use std::path::Path;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::thread::{capabilities, set_capabilities, CapabilitySet};
use weft_hostdrv::verbs::QpCap;
use weft_share::{Client, Limits};
use weft_tests::clients::{broker_scene, RawClient, Scene};
use weft_tests::left_out_on_card;

const HELLO: u64 = u64::from_be_bytes(*b"weft-sh1");
/// A page, with its file.
const MEMORY: [u64; 8] = [2, 4096, 1, 0, 0, 0, 0, 0];

/// Somebody who asks for memory again and again, until the broker has had enough.
fn never_reads(scene: &mut Scene) -> RawClient {
    // Who went before has gone.
    for _ in 0..10 {
        scene.turn();
        std::thread::yield_now();
    }
    let raw = RawClient::connect(&scene.path);
    raw.send(&[HELLO, 1, 6, 0, 0, 0, 0, 0], &[]);
    let went = scene.broker.report();
    for _ in 0..1000 {
        raw.send(&MEMORY, &[]);
        for _ in 0..3 {
            scene.turn();
            std::thread::yield_now();
        }
        let now = scene.broker.report();
        if now.went > went.went || now.turned_away > went.turned_away {
            return raw;
        }
    }
    panic!("the broker writes to it without end");
}

/// A few answers wait for who reads none; as long as they do, it is a client.
#[test]
fn who_reads_nothing_is_ended_and_stays_counted() {
    if left_out_on_card(
        "who_reads_nothing_is_ended_and_stays_counted",
        "it has a broker",
    ) {
        return;
    }
    let mut scene = broker_scene(105, Limits::default());
    let raw = never_reads(&mut scene);
    for _ in 0..2000 {
        scene.turn();
    }
    let clients = |scene: &Scene| {
        let used = scene.broker.in_use();
        let clients = used.iter().find(|(name, _)| *name == "clients");
        clients.map_or(0, |(_, count)| *count)
    };
    assert_eq!(clients(&scene), 1, "{:?}", scene.broker.in_use());
    // It reads what there is.
    let mut waited = 0;
    while let Ok(Some(_)) = raw.answer() {
        waited += 1;
    }
    assert!((1..20).contains(&waited), "{waited} answers waited");
    scene.until(|scene| (clients(scene) == 0).then_some(()));
    let raw = never_reads(&mut scene);
    drop(raw);
    scene.nothing_is_left();
}

fn serves(scene: &mut Scene, path: &Path) {
    let path = path.to_owned();
    let served = scene.with(move || {
        let client = Client::connect(&path)?;
        client.create_qp(QpCap::default(), 64).map(|_| ())
    });
    served.expect("an honest client is served");
}

/// In a process of its own, which has no right to more than its limit. Other processes of the user share it.
#[test]
fn descriptors_under_way_hold_nobody() {
    if left_out_on_card("descriptors_under_way_hold_nobody", "it has a broker") {
        return;
    }
    let status = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "share_unread::few_files", "--ignored"])
        .stdout(std::process::Stdio::null())
        .status()
        .expect("a process");
    assert!(status.success(), "few_files: {status}");
}

/// Not a test: that process.
#[test]
#[ignore = "a process of the test descriptors_under_way_hold_nobody"]
fn few_files() {
    // The test has one user, and an honest client is to have a place.
    let limits = Limits {
        user_share: 100,
        ..Limits::default()
    };
    let mut scene = broker_scene(106, limits);
    let before = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(3000),
        ..before
    };
    setrlimit(Resource::Nofile, few).expect("fewer");
    // The thread that answers clients is nobody special, as of a broker that a user has.
    let mut rights = capabilities(None).expect("asked");
    rights.effective -= CapabilitySet::SYS_RESOURCE | CapabilitySet::SYS_ADMIN;
    set_capabilities(None, rights).expect("fewer");
    let path = scene.path.clone();
    serves(&mut scene, &path);
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(never_reads(&mut scene));
    }
    serves(&mut scene, &path);
}
