//! Nobody pays for another: who connects and says nothing gives way, and who asks is answered (RFC 4987, RFC 9293 §3.10.7.4).
#![allow(missing_docs)]

use crate::bench;

use bench::crowd::{Came, Crowd, Says};
use bench::script::Script;
use bench::*;
use weft_engine::*;

const SECOND: u64 = 1000 * MS;
const PORT: u16 = 7000;

fn request() -> Vec<u8> {
    Script::request(RtrKinds::READ, b"honest")
}

/// The engine as a host has it, and as the card has it.
const PLACES: [fn(&mut EngineConfig); 2] = [
    |_| (),
    |config| {
        let record = on_card::record(&EngineConfig {
            rung: Rung::Firmware,
            ..EngineConfig::default()
        })
        .expect("usual");
        let there = on_card::configuration(&record).expect("usual");
        *config = EngineConfig {
            mac: config.mac,
            ip: config.ip,
            num_flows: 64,
            num_stags: 64,
            rung: Rung::Placement,
            on_card: false,
            ..there
        };
    },
];

/// What strangers say: nothing, a request but for its last octet, its first.
fn says(kind: usize) -> Says {
    let request = request();
    match kind {
        0 => Says::Nothing,
        1 => Says::These(request[..request.len() - 1].to_vec()),
        _ => Says::These(request[..1].to_vec()),
    }
}

/// 200 silent connections at once and 40 more a second: an honest client a second is served within two, at once and after.
#[test]
fn silent_connections_keep_nobody_out() {
    // So many of them are kept: rows, and connections.
    let kept = [[128, 24], [16, 8]];
    for (place, kept) in PLACES.into_iter().zip(kept) {
        for kind in 0..3 {
            let mut c = Crowd::new(&place);
            c.engine.listen(PORT, 3).unwrap();
            let stranger = |c: &mut Crowd, n: u32| {
                let name = (
                    [10, 0, 0, 100 + (n / 50_000) as u8],
                    2000 + (n % 50_000) as u16,
                );
                c.call(name, PORT, says(kind))
            };
            for n in 0..200 {
                stranger(&mut c, n);
            }
            let most = kept[usize::from(kind > 0)];
            assert_eq!(c.count(|came| *came == Came::On), most, "kind {kind}");
            let mut honest = Vec::new();
            for second in 0..20_u32 {
                let name = c.call(
                    ([10, 0, 0, 9], 5000 + second as u16),
                    PORT,
                    Says::These(request()),
                );
                honest.push((name, c.now));
                for n in 0..40 {
                    c.wait(25 * MS);
                    stranger(&mut c, 200 + second * 40 + n);
                }
            }
            // The strangers stay away; it goes on as well.
            c.wait(2 * SECOND);
            let name = c.call(([10, 0, 0, 9], 6000), PORT, Says::These(request()));
            honest.push((name, c.now));
            c.wait(2 * SECOND);
            for (name, from) in honest {
                let came = c.came(name).clone();
                let Came::Taken(at) = came else {
                    panic!(
                        "kind {kind}: {name:?} from {from}: {came:?} {:?}",
                        c.engine.stats()
                    );
                };
                assert!(
                    at <= from + 2 * SECOND,
                    "kind {kind}: {name:?} waits {} ms",
                    (at - from) / MS
                );
            }
            let stats = *c.engine.stats();
            assert!(stats.strangers_gave_way > 500, "kind {kind}: {stats:?}");
            // Nothing of them stays, and each has heard that.
            c.wait(100 * SECOND);
            assert_eq!(c.count(|came| *came == Came::On), 0, "kind {kind}");
            assert_eq!(c.engine.next_deadline(), None, "kind {kind}");
        }
    }
}

/// The silent ones of one listener take nothing from those of another.
#[test]
fn who_is_silent_at_another_listener_stays() {
    let mut c = Crowd::new(&|_| ());
    c.engine.listen(PORT, 4).unwrap();
    c.engine.listen(PORT + 1, 4).unwrap();
    // Slow, and honest: it asks after a second.
    let slow = ([10, 0, 0, 9], 5000);
    c.call(slow, PORT + 1, Says::Nothing);
    for n in 0..2000_u32 {
        c.call(
            ([10, 0, 0, 100], 2000 + n as u16),
            PORT,
            says(n as usize % 3),
        );
        c.wait(MS / 2);
    }
    let now = c.now;
    c.callers.get_mut(&slow).unwrap().ask(now, request());
    c.wait(SECOND);
    assert!(matches!(c.came(slow), Came::Taken(_)), "{:?}", c.came(slow));
}

/// A server with room for one request, and 16 that ask at once: all are served, and at once.
#[test]
fn sixteen_at_once_to_a_backlog_of_one() {
    for backlog in [0, 1, 2] {
        let mut c = Crowd::new(&|_| ());
        c.engine.listen(PORT, backlog).unwrap();
        for n in 0..16 {
            c.call(([10, 0, 0, 9], 5000 + n), PORT, Says::These(request()));
        }
        c.wait(SECOND);
        let soon = |came: &Came| matches!(came, Came::Taken(at) if *at < 100 * MS);
        assert_eq!(c.count(soon), 16, "backlog {backlog}");
    }
}

/// Who looks after half a second serves all that asked before then.
#[test]
fn eight_to_one_who_looks_late() {
    for backlog in [0, 1, 3] {
        let mut c = Crowd::new(&|_| ());
        c.engine.listen(PORT, backlog).unwrap();
        c.looks_from = 500 * MS;
        for n in 0..8 {
            c.call(([10, 0, 0, 9], 5000 + n), PORT, Says::These(request()));
        }
        c.wait(4 * SECOND);
        let soon = |came: &Came| matches!(came, Came::Taken(at) if *at < 600 * MS);
        assert_eq!(c.count(soon), 8, "backlog {backlog}");
        // In the order in which they asked.
        let asked: Vec<u16> = c.events.iter().filter_map(port_of).collect();
        assert_eq!(asked, (5000..5008).collect::<Vec<_>>());
        // Of so many the program could have heard at once.
        assert_eq!(c.most_events >= 8, backlog == 0);
    }
}

fn port_of(event: &Event) -> Option<u16> {
    match event {
        Event::ConnectRequest { remote, .. } => Some(remote.port),
        _ => None,
    }
}

/// A program that does not look: whoever asks hears within ten seconds that it is busy, and nothing grows; when it looks, all is well.
#[test]
fn who_asks_a_program_that_does_not_look_hears_so() {
    for place in PLACES {
        let mut c = Crowd::new(&place);
        c.engine.listen(PORT, 2).unwrap();
        c.looks_from = 60 * SECOND;
        for n in 0..400_u32 {
            c.call(
                ([10, 0, 0, 9], 3000 + n as u16),
                PORT,
                Says::These(request()),
            );
            c.wait(50 * MS);
        }
        c.wait(c.looks_from - MS - c.now);
        let busy = |came: &Came| matches!(came, Came::Rejected(_, data) if data == BUSY);
        assert_eq!(c.count(busy), 398);
        assert_eq!(
            c.count(|came| *came == Came::On),
            2,
            "the program has these"
        );
        assert_eq!(c.engine.stats().requests_rejected, 398);
        c.wait(SECOND);
        assert!(c.most_events <= 8, "{}", c.most_events);
        let late = c.call(([10, 0, 0, 9], 5000), PORT, Says::These(request()));
        c.wait(SECOND);
        assert!(matches!(c.came(late), Came::Taken(_)));
    }
}

/// Who was not accepted has room for a start-up frame behind what was taken of his, however much he sends.
#[test]
fn a_stranger_has_room_for_a_start_up_frame() {
    for whole in [false, true] {
        let mut s = Script::new(false);
        s.open(Default::default());
        let first = s.seq;
        let request = Script::request(RtrKinds::READ, &[1; 508]);
        let cut = if whole {
            request.len()
        } else {
            request.len() - 1
        };
        s.data(&request[..cut]);
        for n in 0..60 {
            // In order, but for the octet that is missing.
            s.data(&vec![n; 1400]);
            s.wait(MS);
        }
        let acked = s.sent.iter().map(|sent| sent.ack.wrapping_sub(first)).max();
        let most = if whole { request.len() + 532 } else { 532 };
        assert!(
            acked.is_some_and(|acked| acked as usize <= most),
            "{acked:?}"
        );
    }
}

/// How long somebody was silent says nothing of the way there: a reply that is lost goes again as soon as ever.
#[test]
fn silence_is_no_round_trip() {
    let mut s = Script::new(false);
    let qp = s.qp();
    s.open(Default::default());
    s.wait(5 * SECOND);
    s.auto_ack = false;
    s.data(&request());
    let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
        panic!("{:?}", s.events);
    };
    let params = AcceptParams::default();
    let accepted = s.engine.accept(s.now, conn, qp, &params, &mut s.card);
    accepted.unwrap();
    s.work();
    s.sent.clear();
    s.wait(SECOND);
    assert!(s.sent.iter().any(|sent| !sent.payload.is_empty()));
}
