//! Waiting by file descriptors: poll, an async runtime, and who else is asleep meanwhile.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use weft_hostdrv::cm::{CmEventType, ConnParam};
use weft_hostdrv::device::Readiness;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{connected, Pair};
use weft_tests::fewer_on_card;

#[path = "../../hostdrv/examples/async_ping.rs"]
mod async_ping;

/// Nobody waits so long for anything.
const LIMIT: Duration = Duration::from_secs(20);

fn bench() -> Bench {
    Bench::new(&Way::VfioUser, 1).expect("two devices come up")
}

/// Waits for the file; false: in vain.
fn readable(file: &Readiness, limit: Duration) -> bool {
    let limit = Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: limit.subsec_nanos().into(),
    };
    poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&limit)).expect("it polls") > 0
}

/// Asks until there is something, and waits for the file in between.
fn by_file<T>(file: &Readiness, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        let left = end.saturating_duration_since(Instant::now());
        assert!(readable(file, left), "the file did not become readable");
    }
}

#[test]
fn a_program_of_an_async_runtime() {
    let bench = bench();
    let count = fewer_on_card(500, 20);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let took = runtime.block_on(async {
        let ping = async_ping::ping(bench.device(0), bench.device(1), count);
        tokio::time::timeout(LIMIT, ping).await
    });
    let took = took.expect("in time").expect("it works");
    println!("{count} messages there and back in {took:?}");
}

/// The order of `ibv_req_notify_cq`, a hundred times, while another thread sleeps on the same device.
#[test]
fn a_completion_channel_by_poll() {
    let pair = connected(bench(), &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    let file = b.comp.readiness().expect("a file");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // It takes interrupts, too.
        scope.spawn(|| {
            let device = bench.device(1);
            while !done.load(Ordering::Relaxed) {
                let soon = device.now() + 5_000_000;
                device.wait_for(Some(soon), || None::<()>).expect("works");
            }
        });
        for n in 0..100 {
            sq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 8)))
                .expect("room");
            b.cq.req_notify(Notify::Any).expect("it has a channel");
            assert_eq!(b.cq.poll_one(), Ok(None));
            cq.post_send(SendWr::send(n).inline(b"by file").signaled())
                .expect("room");
            let told = by_file(&file, || b.comp.try_get_event().expect("works"));
            assert!(told.is(&b.cq));
            assert_eq!(
                b.cq.poll_one().expect("works").expect("it was told").wr_id,
                n
            );
            let end = bench.device(0).now() + LIMIT.as_nanos() as u64;
            let wc = bench
                .device(0)
                .wait_for(Some(end), || a.cq.poll_one().expect("works"));
            assert_eq!(wc.expect("works").expect("in time").wr_id, n);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn connection_and_asynchronous_events_by_poll() {
    let bench = bench();
    let (a, b) = (bench.device(0), bench.device(1));
    let (ours, theirs) = (a.create_event_channel(), b.create_event_channel());
    let files = [&ours, &theirs].map(|channel| channel.readiness().expect("a file"));
    let failures = b.async_readiness().expect("a file");
    let listener = theirs.create_id();
    listener
        .bind_addr((b.ip().to_string() + ":4791").parse().expect("an address"))
        .expect("possible");
    listener.listen(1).expect("possible");

    let id = ours.create_id();
    id.resolve_addr((b.ip().to_string() + ":4791").parse().expect("an address"))
        .expect("possible");
    assert!(readable(&files[0], Duration::ZERO), "an event is there");
    id.resolve_route().expect("possible");
    let pds = [a, b].map(|device| device.alloc_pd().expect("a domain"));
    let cqs = [a, b].map(|device| device.create_cq(8, None).expect("a queue"));
    let qp = id
        .create_qp(&pds[0], &QpInit::new(&cqs[0]))
        .expect("a queue pair");
    let event = |n: usize, wanted| {
        let channel = [&ours, &theirs][n];
        let event = by_file(&files[n], || channel.try_get_event().expect("works"));
        assert_eq!(event.event, wanted, "{event:?}");
        event
    };
    event(0, CmEventType::AddrResolved);
    event(0, CmEventType::RouteResolved);
    id.connect(&ConnParam::default()).expect("possible");
    // Each side does its part only when its file says so.
    let request = thread::scope(|scope| {
        let request = scope.spawn(|| {
            let request = event(1, CmEventType::ConnectRequest);
            request
                .id
                .create_qp(&pds[1], &QpInit::new(&cqs[1]))
                .expect("a queue pair");
            request.id.accept(&ConnParam::default()).expect("possible");
            event(1, CmEventType::Established);
            request.id
        });
        event(0, CmEventType::Established);
        request.join().expect("no panic")
    });
    let server = request.qp().expect("has one");
    let told = by_file(&failures, || b.get_async_event());
    assert_eq!(
        told,
        AsyncEvent::CommEstablished {
            qp_num: server.qp_num()
        }
    );
    // A Write to an STag that the server has not.
    let nowhere = RemoteRegion {
        addr: 0,
        rkey: 0x1234,
        length: 8,
    };
    qp.post_send(SendWr::write(1, nowhere).inline(b"nowhere!").signaled())
        .expect("room");
    let told = by_file(&failures, || {
        b.progress().expect("works");
        b.get_async_event()
    });
    assert!(matches!(told, AsyncEvent::QpFatal { .. }), "{told:?}");
    assert!(matches!(
        b.get_async_event(),
        Some(AsyncEvent::QpAccessError { .. })
    ));
}

#[test]
fn a_world_on_simulated_time_has_no_file() {
    let fabric = weft_sim::fabric::Fabric::new(&Default::default()).expect("two devices");
    let error = fabric.device(0).readiness().expect_err("no file");
    assert!(error.to_string().contains("not supported"), "{error}");
    assert!(bench()
        .device(0)
        .readiness()
        .expect("a file")
        .as_fd()
        .try_clone_to_owned()
        .is_ok());
}
