//! The services over plain TCP, with lwIP for a peer: a small stack, without SACK and without timestamps. Skipped where it is not installed.
#![allow(missing_docs)]

use crate::bench;
use crate::peer;

use bench::path::To;
use bench::site::{pattern, RING};
use bench::MS;
use peer::options::{Seen, MSS, TIMESTAMPS, WINDOW_SCALE};
use peer::{EchoClient, Meeting};
use weft_engine::services::chargen;
use weft_engine::*;
use weft_lwip::Failure;

/// Sends a pattern to the echo service and takes it back; then both have ended in order.
#[track_caller]
fn echo(meeting: &mut Meeting, note: &str, length: usize, room: Option<usize>) {
    let mut client = EchoClient::new(meeting.connect(7, 50_000), length);
    if let Some(room) = room {
        client.socket.narrow(room);
    }
    meeting.until(note, |_| client.step());
    client.check(note);
    assert_eq!(meeting.end(), DisconnectReason::Peer, "{note}");
}

/// What lwIP has not offered is not used, and no segment is longer than it takes.
#[track_caller]
fn only_what_lwip_offers(seen: &Seen, scaled: bool) {
    let offer: Vec<u8> = seen.syn(To::Ours).keys().copied().collect();
    let answer: Vec<u8> = seen.syn(To::Peer).keys().copied().collect();
    let agreed = if scaled {
        vec![MSS, WINDOW_SCALE]
    } else {
        vec![MSS]
    };
    assert_eq!((&offer, &answer), (&agreed, &agreed));
    assert_eq!(seen.syn(To::Ours)[&MSS], 1460u16.to_be_bytes());
    assert!(seen.segments > 10 && seen.longest <= 1460);
    assert!(seen.later.is_empty(), "{:?}", seen.later);
}

#[test]
fn echo_of_a_megabyte() {
    let Some(mut meeting) = Meeting::new(1, 0, |_| ()) else {
        return;
    };
    echo(&mut meeting, "a megabyte", 1 << 20, None);
    let stats = meeting.ours.engine.stats();
    assert_eq!(stats.retransmits, 0, "{stats:?}");
    assert_eq!(stats.resets_sent + stats.challenge_acks, 0, "{stats:?}");
    only_what_lwip_offers(&meeting.seen, true);
    let answer = meeting.seen.syn(To::Peer);
    assert_eq!(answer[&MSS], 1460u16.to_be_bytes());
    assert!(answer[&WINDOW_SCALE][0] <= 14);
}

#[test]
fn echo_over_a_path_that_loses_reorders_and_duplicates() {
    for seed in 1..=20 {
        let Some(mut meeting) = Meeting::new(seed, 20, |_| ()) else {
            return;
        };
        echo(&mut meeting, &format!("seed {seed}"), 200_000, None);
        let stats = meeting.ours.engine.stats();
        assert!(stats.retransmits > 0, "seed {seed}: {stats:?}");
        only_what_lwip_offers(&meeting.seen, true);
    }
}

/// As lwIP is where nobody chose its options: 64 KiB and no scale.
#[test]
fn echo_without_any_option_but_the_mss() {
    for seed in 1..=10 {
        let Some(mut meeting) = Meeting::new(seed, 20, |_| ()) else {
            return;
        };
        meeting.unscaled = true;
        echo(&mut meeting, &format!("seed {seed}"), 200_000, None);
        only_what_lwip_offers(&meeting.seen, false);
    }
}

/// Timestamps wanted here, and cookies, in which lwIP's offer has to survive.
#[test]
fn echo_with_timestamps_wanted_and_by_a_syn_cookie() {
    for seed in 1..=10 {
        let meeting = Meeting::new(seed, 20, |config| {
            config.timestamps = true;
            config.syn_cache = 0;
        });
        let Some(mut meeting) = meeting else {
            return;
        };
        echo(&mut meeting, &format!("seed {seed}"), 100_000, None);
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.syn_cookies_taken, 1, "seed {seed}: {stats:?}");
        assert!(meeting.seen.later.is_empty(), "{:?}", meeting.seen.later);
        let answer = meeting.seen.syn(To::Peer);
        assert!(!answer.contains_key(&TIMESTAMPS), "{answer:?}");
    }
}

/// A seed is a run: neither stack has anything from elsewhere, be it another test that runs now.
#[test]
fn a_seed_says_all() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let Some(mut meeting) = Meeting::new(3, 50, |_| ()) else {
            return;
        };
        echo(&mut meeting, "a run", 50_000, None);
        let stats = format!("{:?}", meeting.ours.engine.stats());
        runs.push((meeting.now, meeting.seen.segments, stats));
    }
    assert_eq!(runs[0], runs[1]);
}

/// lwIP opens its window by whole segments only.
#[test]
fn echo_through_a_window_of_two_segments() {
    for (seed, faults) in [(1, 0), (2, 20), (3, 20)] {
        let small = |config: &mut EngineConfig| config.mtu = 576;
        let Some(mut meeting) = Meeting::new(seed, faults, small) else {
            return;
        };
        echo(&mut meeting, &format!("seed {seed}"), 100_000, Some(1100));
        assert_eq!(meeting.seen.syn(To::Peer)[&MSS], 536u16.to_be_bytes());
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.resets_sent, 0, "seed {seed}: {stats:?}");
    }
}

#[test]
fn discard_takes_everything() {
    let Some(mut meeting) = Meeting::new(4, 10, |_| ()) else {
        return;
    };
    let socket = meeting.connect(9, 50_000);
    let data = pattern(300_000);
    let mut sent = 0;
    meeting.until("all to be sent", |_| {
        sent += socket.write(&data[sent..]);
        sent == data.len()
    });
    meeting.until("room for the FIN", |_| socket.close());
    assert_eq!(meeting.end(), DisconnectReason::Peer);
    assert!(socket.at_end() && socket.failure().is_none());
    let counts = meeting.ours.services.counts();
    assert_eq!((counts.read, counts.written), (data.len() as u64, 0));
}

/// Who only takes fills the window, the ring and nothing else; it is probed; then it goes on where it was, and lwIP resets.
#[test]
fn chargen_waits_for_whoever_does_not_read() {
    for (seed, unscaled) in [(5, false), (6, true)] {
        let Some(mut meeting) = Meeting::new(seed, 0, |_| ()) else {
            return;
        };
        meeting.unscaled = unscaled;
        let socket = meeting.connect(19, 50_000);
        meeting.wait(20_000 * MS);
        // The window is 65,535, of which a scale by 2 cannot say the last byte.
        let held = socket.readable() as u64;
        assert!((65_534 - 1460..=65_535).contains(&held), "{held}");
        let counts = meeting.ours.services.counts();
        assert_eq!(counts.written, held + u64::from(RING));
        assert!(meeting.ours.engine.stats().window_probes > 3);
        let mut at = 0;
        meeting.until("a million characters", |_| {
            for byte in socket.read(3000) {
                assert_eq!(byte, chargen(at), "number {at}");
                at += 1;
            }
            at > 1_000_000
        });
        socket.abort();
        assert_eq!(socket.failure(), Some(Failure::Aborted));
        assert_eq!(meeting.end(), DisconnectReason::Reset);
    }
}

/// Half of the connection is closed for half a minute, and the other half carries on.
#[test]
fn a_half_that_is_closed_stays_so() {
    let Some(mut meeting) = Meeting::new(7, 0, |_| ()) else {
        return;
    };
    let socket = meeting.connect(7, 50_000);
    let data = pattern(60_000);
    meeting.until("the connection", |_| socket.stands());
    assert_eq!(socket.write(&data), data.len());
    assert!(socket.close());
    // It reads nothing, and what is echoed stays in flight and in the window.
    meeting.wait(30_000 * MS);
    assert_eq!(meeting.ours.services.counts().read, data.len() as u64);
    let mut got = Vec::new();
    meeting.until("the echo", |_| {
        got.extend(socket.read(1000));
        socket.at_end() && socket.readable() == 0
    });
    assert!(got == data);
    assert_eq!(meeting.end(), DisconnectReason::Peer);
}

/// This side ends the stream: in order, or by RST.
#[test]
fn our_end_comes_first() {
    for (faults, reset) in [(0, false), (20, false), (0, true)] {
        let Some(mut meeting) = Meeting::new(8 + faults, faults, |_| ()) else {
            return;
        };
        let socket = meeting.connect(9, 50_000);
        meeting.until("the connection", |meeting| {
            meeting.ours.services.streams() == 1 && socket.stands()
        });
        let established = meeting.ours.events.iter().find_map(|event| match event {
            Event::StreamEstablished { conn, .. } => Some(*conn),
            _ => None,
        });
        let conn = established.expect("it stands");
        meeting
            .call(|engine, now, card| match reset {
                true => engine.abort(now, conn, card),
                false => engine.disconnect(now, conn, card),
            })
            .unwrap();
        if reset {
            meeting.until("the reset", |_| socket.failure() == Some(Failure::Reset));
            assert_eq!(meeting.end(), DisconnectReason::Aborted);
            continue;
        }
        meeting.until("our FIN", |_| socket.at_end());
        assert!(socket.close());
        assert_eq!(meeting.end(), DisconnectReason::Local);
        assert_eq!(socket.failure(), None);
    }
}

/// Four at a time and no more; and forty one after the other, each between other ports.
#[test]
fn more_streams_than_there_are_places_for() {
    let Some(mut meeting) = Meeting::new(9, 0, |_| ()) else {
        return;
    };
    let sockets: Vec<_> = (0..6).map(|n| meeting.connect(7, 50_000 + n)).collect();
    meeting.until("four streams and two resets", |_| {
        let failed = sockets
            .iter()
            .filter(|socket| socket.failure() == Some(Failure::Reset));
        failed.count() == 2
    });
    assert_eq!(meeting.ours.services.streams(), 4);
    assert_eq!(meeting.ours.services.counts().refused, 2);
    for socket in &sockets {
        socket.close();
    }
    assert_eq!(meeting.end(), DisconnectReason::Peer);
    for round in 0..10 {
        let begin = 51_000 + round * 4;
        let mut clients: Vec<_> = (begin..begin + 4)
            .map(|local| EchoClient::new(meeting.connect(7, local), 5000 + usize::from(round)))
            .collect();
        meeting.path.faults = u64::from(round);
        meeting.until("four echoes", |_| {
            let steps = clients.iter_mut().map(EchoClient::step);
            steps.filter(|done| *done).count() == 4
        });
        for client in &clients {
            client.check("an echo of four");
        }
        assert_eq!(meeting.end(), DisconnectReason::Peer);
    }
    assert_eq!(meeting.ours.services.counts().streams, 44);
}

/// The path is cut: each gives the other up by itself.
#[test]
fn who_vanishes_is_given_up() {
    let Some(mut meeting) = Meeting::new(10, 0, |_| ()) else {
        return;
    };
    let socket = meeting.connect(19, 50_000);
    meeting.until("some bytes", |_| socket.readable() > 5000);
    // lwIP has to have something to say, or it waits for ever.
    assert_eq!(socket.write(b"hello?"), 6);
    meeting.path.faults = 1000;
    assert_eq!(meeting.end(), DisconnectReason::TimedOut);
    assert_eq!(socket.failure(), Some(Failure::Aborted));
}

/// What is silent for a while, for either side's timers, goes on when the path is back.
#[test]
fn a_path_that_comes_back() {
    let mut timeouts = 0;
    for seed in 1..=5 {
        let Some(mut meeting) = Meeting::new(seed, 0, |_| ()) else {
            return;
        };
        let mut client = EchoClient::new(meeting.connect(7, 50_000), 300_000);
        for cut in [10, 300, 3000] {
            let end = meeting.now + (1 + seed) * MS / 5;
            meeting.until("some of the echo", |meeting| {
                assert!(!client.step(), "seed {seed}: there is nothing left to cut");
                meeting.now > end
            });
            meeting.path.faults = 1000;
            meeting.wait(cut * MS);
            meeting.path.faults = 0;
        }
        meeting.until("the echo", |_| client.step());
        client.check(&format!("seed {seed}"));
        assert_eq!(meeting.end(), DisconnectReason::Peer, "seed {seed}");
        timeouts += meeting.ours.engine.stats().timeouts;
    }
    assert!(timeouts > 10, "{timeouts}");
}
