//! A device that its own thread drives: what the peer sees while the program does something else.

use std::net::SocketAddrV4;
use std::time::Duration;

use weft_hostdrv::cm::{ConnParam, DisconnectReason};
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig, Rung};
use weft_sim::fabric::{ip, mac, Fabric, FabricConfig};
use weft_tests::bench::{Bench, Cards, Way};
use weft_tests::ends::{completion, connected, pattern, End, Pair, PORT};
use weft_tests::left_out_on_card;

/// Nobody waits so long for anything.
const LIMIT: Option<Duration> = Some(Duration::from_secs(60));
/// Bytes of the Write.
const LEN: usize = 1 << 20;

/// Two connected ends, a region of each, and the target's as the peer names it.
fn scene(bench: Bench) -> (Pair, Mr, Mr, RemoteRegion) {
    let pair = connected(bench, &ConnParam::default(), &ConnParam::default());
    let rights = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
    let region = |pd: &Pd| pd.alloc_mr(LEN, rights).expect("a region");
    let (source, target) = (region(&pair.a.pd), region(&pair.b.pd));
    source.write(0, &pattern(LEN, 1)).expect("room");
    let remote = target.remote();
    (pair, source, target, remote)
}

fn post_both(pair: &Pair, source: &Mr, remote: RemoteRegion) {
    let qp = pair.client.qp().expect("has one");
    let write = SendWr::write(1, remote).sge(source.sge(0, LEN as u32));
    qp.post_send(write.signaled()).expect("room");
    qp.post_send(SendWr::read(2, remote).signaled())
        .expect("room");
}

/// 1 MiB written, and a Read of nothing behind it, to a target that does not call in. How often its program did, by the count of `progress`.
fn write_and_read(pair: &Pair, source: &Mr, remote: RemoteRegion) -> u64 {
    let calls = || pair.bench.device(1).host_stats().progress_calls;
    let before = calls();
    post_both(pair, source, remote);
    for n in 1..=2 {
        let wc = pair.a.cq.wait_success(LIMIT).expect("in time");
        assert_eq!(wc.wr_id, n);
    }
    calls() - before
}

/// The target computes: its program is this thread, which is in the client's calls.
#[test]
fn a_target_that_computes() {
    if left_out_on_card("a_target_that_computes", "the rungs are its own") {
        return;
    }
    for rung in [Rung::Host, Rung::Placement] {
        let bench = Bench::at(&Way::VfioUser, 1, [rung; 2]).expect("two devices come up");
        let (pair, source, target, remote) = scene(bench);
        let drive = pair.bench.device(1).drive().expect("a thread");
        let calls = write_and_read(&pair, &source, remote);
        assert_eq!(calls, 0, "{rung:?}: the target called in");
        assert_eq!(target.to_vec(0, LEN), Ok(pattern(LEN, 1)));
        drop(drive);
    }
}

/// A device drives itself from its program's first call that sleeps on, unless it is to be polled.
#[test]
fn a_program_that_has_waited_once() {
    let test = "a_program_that_has_waited_once";
    if left_out_on_card(test, "the rung is its own") {
        return;
    }
    let cards = Cards::open(&Way::VfioUser, 1).expect("two cards");
    let device = |n: usize| {
        let config = DeviceConfig::new(mac(n), ip(n)).seed(n as u64);
        Device::open(cards.transport(n).clone(), config).expect("it comes up")
    };
    let (a, b) = (device(0), device(1));
    let ends = [&a, &b].map(End::new);
    let _listener = ends[1].channel.listen(PORT, 1).expect("a port");
    let offer = ConnParam::with_private_data(ends[1].mr.remote().to_bytes());
    std::thread::scope(|scope| {
        let (told, over) = std::sync::mpsc::channel();
        let [near, far] = &ends;
        let server = scope.spawn(move || {
            let init = QpInit::new(&far.cq);
            let client = far.channel.accept(&far.pd, &init, [], &offer, LIMIT);
            let client = client.expect("it stands");
            // It computes until the client is done with it.
            over.recv().expect("it is told");
            client.closed(LIMIT).expect("it ends").reason
        });
        let (to, init) = (SocketAddrV4::new(ip(1), PORT), QpInit::new(&near.cq));
        let param = ConnParam::default();
        let client = near.channel.connect(to, &near.pd, &init, &param, LIMIT);
        let client = client.expect("it stands");
        let offer = client.private_data().first_chunk().expect("a region");
        let remote = RemoteRegion::from_bytes(offer);
        let write = SendWr::write(1, remote).sge(near.mr.sge(0, near.mr.len() as u32));
        client.post_send(write.signaled()).expect("room");
        client
            .post_send(SendWr::read(2, remote).signaled())
            .expect("room");
        for n in 1..=2 {
            assert_eq!(near.cq.wait_success(LIMIT).expect("in time").wr_id, n);
        }
        client.id().disconnect().expect("it stands");
        told.send(()).expect("it waits");
        client.closed(LIMIT).expect("both close");
        let reason = server.join().expect("no panic");
        assert_eq!(reason, Some(DisconnectReason::Peer));
    });
}

/// In simulated time, over a link that loses frames: it is over long before the target has slept for 30 s, and each time after the same time.
#[test]
fn a_target_that_computes_in_simulated_time() {
    let test = "a_target_that_computes_in_simulated_time";
    if left_out_on_card(test, "the rungs are its own") {
        return;
    }
    for rung in [Rung::Host, Rung::Placement] {
        let took = [(); 4].map(|()| {
            let mut config = FabricConfig {
                rungs: vec![rung; 2],
                ..FabricConfig::default()
            };
            config.link.faults.loss = 10_000;
            let bench = Bench::from(Fabric::new(&config).expect("two devices come up"));
            let (pair, source, _target, remote) = scene(bench);
            let begun = pair.bench.device(0).now();
            let _drive = pair.bench.device(1).drive().expect("a thread");
            let calls = write_and_read(&pair, &source, remote);
            assert_eq!(calls, 0, "{rung:?}: the target called in");
            pair.bench.device(0).now() - begun
        });
        assert!(took[0] < 30_000_000_000, "{rung:?}: {took:?}");
        assert!(
            took.iter().all(|again| *again == took[0]),
            "{rung:?}: {took:?}"
        );
    }
}

/// What a target that sleeps may add to the round trip of one that polls: what an interrupt may wait for more (`REPORT_GAP`). Host software takes no time here.
const WAKE_NS: u64 = 1_000;

/// The time of it, to a target that polls or that sleeps while its own thread drives it.
fn round_trip(rung: Rung, sleeps: bool) -> u64 {
    let config = FabricConfig {
        rungs: vec![rung; 2],
        ..FabricConfig::default()
    };
    let bench = Bench::from(Fabric::new(&config).expect("two devices come up"));
    let (pair, source, target, remote) = scene(bench);
    let begun = pair.bench.device(0).now();
    if sleeps {
        let _drive = pair.bench.device(1).drive().expect("a thread");
        assert_eq!(write_and_read(&pair, &source, remote), 0);
        return ended(&pair, &target, begun);
    }
    post_both(&pair, &source, remote);
    for n in 1..=2 {
        assert_eq!(completion(&pair.bench, &pair.a.cq).wr_id, n);
    }
    ended(&pair, &target, begun)
}

fn ended(pair: &Pair, target: &Mr, begun: u64) -> u64 {
    assert_eq!(target.to_vec(0, LEN), Ok(pattern(LEN, 1)));
    pair.bench.device(0).now() - begun
}

/// 1 MiB written, and a Read of nothing behind it: as fast to a program that sleeps as to one that polls.
#[test]
fn a_target_that_sleeps_is_as_fast_as_one_that_polls() {
    let test = "a_target_that_sleeps_is_as_fast_as_one_that_polls";
    if left_out_on_card(test, "the rungs are its own") {
        return;
    }
    for rung in [Rung::Host, Rung::Placement] {
        let [polls, sleeps] = [false, true].map(|sleeps| round_trip(rung, sleeps));
        println!("{rung:?}: {polls} ns to a target that polls, {sleeps} ns to one that sleeps");
        assert!(
            sleeps <= polls + WAKE_NS,
            "{rung:?}: {sleeps} for {polls} ns"
        );
    }
}

/// Who waits and who drives: each wakes by what it is for, however often the leader changes.
#[test]
fn a_program_that_waits_on_a_driven_device() {
    let bench = Bench::new(&Way::VfioUser, 1).expect("two devices come up");
    let pair = connected(bench, &ConnParam::default(), &ConnParam::default());
    let drives = [0, 1].map(|n| pair.bench.device(n).drive().expect("a thread"));
    let (near, far) = pair.qps();
    far.post_recv(RecvWr::new(0)).expect("room");
    let pause = |n: u64| {
        if n % 8 == 0 {
            std::thread::sleep(Duration::from_micros(20 * (n % 11)));
        }
    };
    std::thread::scope(|scope| {
        let (a, b, pair) = (&pair.a, &pair.b, &pair);
        let echo = scope.spawn(move || {
            for n in 0..300 {
                let came = b.cq.wait_success(LIMIT);
                let why = || pair.bench.device(1).get_async_event();
                assert!(came.is_ok(), "message {n}: {came:?}, {:?}", why());
                pause(n);
                far.post_recv(RecvWr::new(0)).expect("room");
                far.post_send(SendWr::send(1)).expect("room");
            }
        });
        for n in 0..300 {
            near.post_recv(RecvWr::new(0)).expect("room");
            near.post_send(SendWr::send(1)).expect("room");
            let came = a.cq.wait_success(LIMIT);
            let why = || pair.bench.device(0).get_async_event();
            assert!(came.is_ok(), "answer {n}: {came:?}, {:?}", why());
            pause(n + 3);
        }
        echo.join().expect("no panic");
    });
    drop(drives);
}
