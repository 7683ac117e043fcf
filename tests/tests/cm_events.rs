//! An event channel of a program that does not take its events: peers cannot make it grow.

use weft_hostdrv::cm::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{next_event, End};
use weft_watchdog::Watchdog;

const SECOND: u64 = 1_000_000_000;

/// Lets a while pass in which nobody looks at the server's events.
fn pass(bench: &Bench, time: u64) {
    let end = bench.device(0).now() + time;
    let passed = bench.run_until("time", 10 * time, || {
        for device in bench.devices() {
            device.progress().expect("it works");
        }
        (bench.device(0).now() >= end).then_some(())
    });
    passed.expect("time passes");
}

/// Peers that ask, and are gone before anybody took their request: neither the request nor its end stays.
#[test]
fn requests_of_peers_that_left_do_not_stay() {
    let _limit = Watchdog::usual("seed 1");
    let bench = Bench::new(&Way::Sim, 1).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    for n in 0..100 {
        let client = a.client(&bench, &ConnParam::default());
        bench
            .run_until("the request", SECOND, || {
                for device in bench.devices() {
                    device.progress().expect("it works");
                }
                (b.channel.waiting() == 1).then_some(())
            })
            .unwrap_or_else(|e| panic!("{n}: {e:?}"));
        // Aborted: RST.
        drop(client);
        pass(&bench, SECOND / 1000);
        assert_eq!(b.channel.waiting(), 0, "after {n}");
    }
    // Somebody who stays is heard.
    let _client = a.client(&bench, &ConnParam::default());
    next_event(&bench, &b.channel, CmEventType::ConnectRequest);
}

/// A request beyond the limit is rejected, those before it wait, and when they are taken there is room again.
#[test]
fn a_request_beyond_the_limit_is_rejected() {
    let _limit = Watchdog::usual("seed 2");
    let bench = Bench::new(&Way::Sim, 2).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    b.channel.limit_waiting(3);
    let mut clients = Vec::new();
    for n in 1..=3 {
        clients.push(a.client(&bench, &ConnParam::default()));
        pass(&bench, SECOND / 100);
        assert_eq!((b.channel.waiting(), a.channel.waiting()), (n, 0));
    }
    let late = a.client(&bench, &ConnParam::default());
    let no = next_event(&bench, &a.channel, CmEventType::Rejected);
    assert!(no.id.is(&late) && no.private_data.is_empty());
    assert_eq!(b.channel.waiting(), 3);
    let taken = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    clients.push(a.client(&bench, &ConnParam::default()));
    pass(&bench, SECOND / 100);
    assert_eq!((b.channel.waiting(), a.channel.waiting()), (3, 0));
    drop(taken);
}
