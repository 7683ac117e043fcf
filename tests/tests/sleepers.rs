//! Threads asleep on one device: each is woken by what it waits for, and none sleeps to its deadline.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{self, CardConfig, ServeConfig};
use weft_sim::world::World;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{next_event, End, PORT};
use weft_tests::fault_injection::Mortal;
use weft_tests::left_out_on_card;

/// Wake-ups of a run: all sleepers together.
const WAKE_UPS: u64 = 10_000;
/// A sleeper that reaches it was not woken.
const DEADLINE: Duration = Duration::from_secs(20);

/// Two devices of the functional model: what sleeps here is threads.
fn bench(way: &Way) -> Bench {
    if *way == Way::Sim {
        return Bench::from(Fabric::new(&FabricConfig::default()).expect("two devices come up"));
    }
    Bench::new(way, 1).expect("two devices come up")
}

/// One connection of several between two devices, with a completion queue of its own at either end.
struct Lane {
    near: (CmId, Qp, Cq, Mr),
    far: (CmId, Qp, Cq, Mr),
}

/// So many connections.
fn lanes(bench: &Bench, a: &End, b: &End, count: usize) -> Vec<Lane> {
    let _listener = b.listen(bench);
    let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
    (0..count)
        .map(|_| {
            let mr = |end: &End| end.pd.alloc_mr(64, all).expect("a region");
            let cq = |device: &Device| device.create_cq(64, None).expect("a queue");
            let (near_cq, far_cq) = (cq(bench.device(0)), cq(bench.device(1)));
            let client = a.channel.create_id();
            client
                .resolve_addr(
                    (bench.ip(1).to_string() + &format!(":{PORT}"))
                        .parse()
                        .expect("an address"),
                )
                .expect("possible");
            client.resolve_route().expect("possible");
            for wanted in [CmEventType::AddrResolved, CmEventType::RouteResolved] {
                next_event(bench, &a.channel, wanted);
            }
            let near_qp = client
                .create_qp(&a.pd, &QpInit::new(&near_cq))
                .expect("a queue pair");
            client.connect(&ConnParam::default()).expect("possible");
            let server = next_event(bench, &b.channel, CmEventType::ConnectRequest).id;
            let far_qp = server
                .create_qp(&b.pd, &QpInit::new(&far_cq))
                .expect("a queue pair");
            server.accept(&ConnParam::default()).expect("possible");
            next_event(bench, &a.channel, CmEventType::Established);
            next_event(bench, &b.channel, CmEventType::Established);
            Lane {
                near: (client, near_qp, near_cq, mr(a)),
                far: (server, far_qp, far_cq, mr(b)),
            }
        })
        .collect()
}

/// Each sleeper of the first device waits for messages that one thread of the second sends to them in turn. Lookers take
/// interrupts there, and never sleep.
fn many_asleep(way: &Way, sleepers: usize, lookers: usize) {
    let bench = bench(way);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let lanes = lanes(&bench, &a, &b, sleepers);
    let (late, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let longest = AtomicU64::new(0);
    let rounds = WAKE_UPS / sleepers as u64;
    let start = Instant::now();
    // A simulated world leaps over idle time unless it knows of a thread that is awake: all have to have been there once.
    let known = Barrier::new(sleepers + lookers + 1);
    thread::scope(|scope| {
        let (woken, told) = mpsc::channel();
        for _ in 0..lookers {
            let (device, done, known) = (bench.device(0), &done, &known);
            scope.spawn(move || {
                device.progress().expect("the device works");
                known.wait();
                while !done.load(Ordering::Relaxed) {
                    device.wait(Some(0)).expect("the device works");
                    device.progress().expect("the device works");
                    thread::sleep(Duration::from_micros(20));
                }
            });
        }
        for (n, lane) in lanes.iter().enumerate() {
            let (_, qp, cq, mr) = &lane.near;
            let (woken, late, done, device) = (woken.clone(), &late, &done, bench.device(0));
            let (longest, known) = (&longest, &known);
            qp.post_recv(RecvWr::new(0).sge(mr.sge(0, 64)))
                .expect("room");
            scope.spawn(move || {
                device.progress().expect("the device works");
                known.wait();
                for round in 0..rounds {
                    let begun = Instant::now();
                    let wc = loop {
                        match cq.wait_one(Some(DEADLINE)).expect("the device works") {
                            Some(wc) => break wc,
                            None => late.fetch_add(1, Ordering::Relaxed),
                        };
                    };
                    assert_eq!((wc.wr_id, wc.status), (round, WcStatus::Success));
                    longest.fetch_max(begun.elapsed().as_millis() as u64, Ordering::Relaxed);
                    qp.post_recv(RecvWr::new(round + 1).sge(mr.sge(0, 64)))
                        .expect("room");
                    woken.send(n).expect("somebody listens");
                }
                // A device has no thread of its own: the last message is acknowledged by who is in a call.
                while !done.load(Ordering::Relaxed) {
                    let soon = device.now() + 1_000_000;
                    device
                        .wait_for(Some(soon), || None::<()>)
                        .expect("the device works");
                }
            });
        }
        known.wait();
        for round in 0..rounds {
            for (n, lane) in lanes.iter().enumerate() {
                let (_, qp, cq, _) = &lane.far;
                qp.post_send(SendWr::send(round).inline(b"wake up").signaled())
                    .expect("room");
                let wc = cq.wait_one(Some(DEADLINE)).expect("the device works");
                match wc {
                    Some(wc) => assert_eq!(wc.status, WcStatus::Success),
                    None => {
                        late.fetch_add(1, Ordering::Relaxed);
                    }
                }
                assert_eq!(told.recv().expect("a sleeper wakes"), n);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let late = late.load(Ordering::Relaxed);
    println!(
        "{way}: {sleepers} asleep, {} wake-ups in {:?}, the longest sleep {} ms, {late} deadlines reached",
        rounds * sleepers as u64,
        start.elapsed(),
        longest.load(Ordering::Relaxed)
    );
    assert_eq!(
        late, 0,
        "{way}, {sleepers} sleepers: deadlines were reached"
    );
}

#[test]
fn two_asleep_over_a_socket() {
    if left_out_on_card(
        "two_asleep_over_a_socket",
        "ten thousand wake-ups take too long",
    ) {
        return;
    }
    many_asleep(&Way::VfioUser, 2, 0);
}

#[test]
fn sixteen_asleep_over_a_socket() {
    if left_out_on_card(
        "sixteen_asleep_over_a_socket",
        "ten thousand wake-ups take too long",
    ) {
        return;
    }
    many_asleep(&Way::VfioUser, 16, 0);
}

#[test]
fn who_only_looks_wakes_the_others_over_a_socket() {
    if left_out_on_card(
        "who_only_looks_wakes_the_others_over_a_socket",
        "ten thousand wake-ups take too long",
    ) {
        return;
    }
    many_asleep(&Way::VfioUser, 2, 1);
}

#[test]
fn who_only_looks_wakes_the_others_in_one_world() {
    many_asleep(&Way::Sim, 2, 1);
}

#[test]
fn two_asleep_in_one_world() {
    many_asleep(&Way::Sim, 2, 0);
}

#[test]
fn sixteen_asleep_in_one_world() {
    many_asleep(&Way::Sim, 16, 0);
}

/// A thread sleeps with nothing to wait for but an event; what another thread begins meanwhile needs timers.
fn a_timer_of_anothers(way: &Way) {
    let bench = bench(way);
    let device = bench.device(0);
    let channel = device.create_event_channel();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let found = device.wait_for(None, || done.load(Ordering::Relaxed).then_some(()));
            found.expect("the device works");
        });
        thread::sleep(Duration::from_millis(50));
        let pd = device.alloc_pd().expect("a domain");
        let cq = device.create_cq(4, None).expect("a queue");
        let id = channel.create_id();
        // Nobody has this address: the question for it is asked again and again.
        id.resolve_addr("10.0.0.99:4791".parse().expect("an address"))
            .expect("possible");
        id.resolve_route().expect("possible");
        id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
        id.connect(&ConnParam::default()).expect("possible");
        let start = Instant::now();
        while device.host_stats().frames_sent < 3 {
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "{way}: the sleeper sleeps past the timer: {:?}",
                device.host_stats()
            );
            thread::sleep(Duration::from_millis(1));
        }
        done.store(true, Ordering::Relaxed);
        // An event: the sleeper looks at its condition.
        channel
            .create_id()
            .resolve_addr("0.0.0.0:1".parse().expect("an address"))
            .expect("by event");
    });
}

#[test]
fn a_timer_of_anothers_over_a_socket() {
    if left_out_on_card(
        "a_timer_of_anothers_over_a_socket",
        "the host does not see what firmware sends",
    ) {
        return;
    }
    a_timer_of_anothers(&Way::VfioUser);
}

#[test]
fn a_timer_of_anothers_in_one_world() {
    a_timer_of_anothers(&Way::Sim);
}

/// Threads asleep in every blocking call there is, and pollers, of a device whose card goes away by `kill`.
fn all_are_told(device: &Device, how: &str, kill: impl FnOnce()) {
    let comp = device.create_comp_channel();
    let cq = device.create_cq(4, Some(&comp)).expect("a queue");
    let channel = device.create_event_channel();
    let polls = AtomicU64::new(0);
    let begun = Barrier::new(19);
    let told = thread::scope(|scope| {
        let mut threads = Vec::new();
        for n in 0..18 {
            let (comp, cq, channel, polls, begun) = (&comp, &cq, &channel, &polls, &begun);
            threads.push(scope.spawn(move || {
                begun.wait();
                let error = match n % 6 {
                    0 => cq.wait_one(None).expect_err("it is gone").to_string(),
                    1 => comp.get_event(None).expect_err("it is gone").to_string(),
                    2 => channel.get_event(None).expect_err("it is gone").to_string(),
                    3 => loop {
                        if let Err(error) = device.wait(None) {
                            break error.to_string();
                        }
                    },
                    4 => loop {
                        polls.fetch_add(1, Ordering::Relaxed);
                        if let Err(error) = cq.poll_one() {
                            break error.to_string();
                        }
                    },
                    _ => loop {
                        polls.fetch_add(1, Ordering::Relaxed);
                        if let Err(error) = channel.try_get_event() {
                            break error.to_string();
                        }
                    },
                };
                (Instant::now(), n % 6, error)
            }));
        }
        begun.wait();
        thread::sleep(Duration::from_millis(50));
        let before = polls.load(Ordering::Relaxed);
        let killed = Instant::now();
        kill();
        let told = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        let told: Vec<_> = told.collect();
        let late = |of: &dyn Fn(usize) -> bool| {
            let those = told.iter().filter(|(_, n, _)| of(*n));
            those
                .map(|(at, _, _)| at.saturating_duration_since(killed))
                .max()
        };
        println!(
            "{how}: 12 sleepers told after {:?}, 6 pollers after {:?} and {} polls: {}",
            late(&|n| n < 4).expect("some"),
            late(&|n| n >= 4).expect("some"),
            polls.load(Ordering::Relaxed) - before,
            told[0].2
        );
        told
    });
    for (_, _, error) in &told {
        assert_eq!(error, &told[0].2, "all are told the same");
    }
    let fault = device.progress().expect_err("it stays so");
    assert!(fault.is_gone(), "{fault}");
    assert_eq!(
        device.get_async_event(),
        Some(AsyncEvent::DeviceFatal(fault))
    );
}

#[test]
fn all_are_told_of_a_server_that_died() {
    let folder = tempfile::tempdir().expect("a directory");
    let socket = folder.path().join("card.sock");
    let config = ServeConfig {
        cards: vec![CardConfig {
            kind: CardKind::Model,
            port: PortSpec::None,
            socket: socket.clone(),
            capture: None,
        }],
        seed: 1,
        link: LinkConfig::default(),
    };
    let served = serve::start(&config).expect("it is served");
    let transport = transport::open(&format!("vfio-user:{}", socket.display())).expect("a card");
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into());
    let device = Device::open(transport, config).expect("it comes up");
    all_are_told(&device, "vfio-user", || drop(served));
}

#[test]
fn all_are_told_of_a_card_that_is_gone_in_one_world() {
    let mut world = World::new(1);
    world.add_card(CardKind::Model.build(1, 0));
    let world = Arc::new(Mutex::new(world));
    let mortal = Arc::new(Mortal::new(&world, 0));
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).keepalive(None);
    let device = Device::open(mortal.clone(), config).expect("it comes up");
    all_are_told(&device, "one world", || mortal.kill());
}
