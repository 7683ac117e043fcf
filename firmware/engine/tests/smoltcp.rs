//! The services over plain TCP, with smoltcp for a peer: another stack, which nobody here wrote.
#![allow(missing_docs)]

use crate::bench;
use crate::smoltcp_peer;

use bench::site::{pattern, RING};
use bench::MS;
use smoltcp::socket::tcp::State;
use smoltcp_peer::{stamped, EchoClient, Meeting};
use weft_engine::services::chargen;
use weft_engine::*;

/// Sends a pattern to the echo service and takes it back, closes, and waits until both sides are through.
fn echo(
    seed: u64,
    length: usize,
    room: usize,
    faults: u64,
    change: impl Fn(&mut EngineConfig),
) -> Meeting {
    let mut meeting = Meeting::new(seed, faults, change);
    let handle = meeting.connect(7, 50_000, room);
    let mut client = EchoClient::new(length);
    meeting.until("the echo", |meeting| {
        client.step(meeting.socket(handle));
        client.is_done(meeting.socket(handle))
    });
    client.check(seed);
    meeting.until("the end", |meeting| {
        let closed = matches!(
            meeting.socket(handle).state(),
            State::Closed | State::TimeWait
        );
        closed && meeting.ours.services.streams() == 0
    });
    let last = meeting.ours.events.last();
    let peer = DisconnectReason::Peer;
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == peer),
        "seed {seed}: {last:?}"
    );
    meeting
}

#[test]
fn echo_over_a_path_that_loses_reorders_and_duplicates() {
    for seed in 1..=20 {
        let meeting = echo(seed, 200_000, 20_000, 20, |_| ());
        let stats = meeting.ours.engine.stats();
        assert!(stats.retransmits > 0, "seed {seed}: {stats:?}");
    }
}

#[test]
fn echo_through_a_window_of_a_few_hundred_bytes() {
    let meeting = echo(2, 20_000, 700, 0, |_| ());
    let stats = meeting.ours.engine.stats();
    assert_eq!(stats.resets_sent, 0, "{stats:?}");
    echo(3, 20_000, 700, 20, |_| ());
}

#[test]
fn echo_without_selective_acknowledgments_by_a_syn_cookie() {
    for seed in 1..=5 {
        let meeting = echo(seed, 100_000, 20_000, 20, |config| config.syn_cache = 0);
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.syn_cookies_taken, 1, "seed {seed}: {stats:?}");
    }
}

#[test]
fn discard_takes_everything() {
    let mut meeting = Meeting::new(4, 10, |_| ());
    let handle = meeting.connect(9, 50_000, 30_000);
    let data = pattern(300_000);
    let mut sent = 0;
    meeting.until("all to be sent", |meeting| {
        let socket = meeting.socket(handle);
        if socket.can_send() && sent < data.len() {
            sent += socket.send_slice(&data[sent..]).unwrap();
        }
        sent == data.len()
    });
    meeting.socket(handle).close();
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let counts = meeting.ours.services.counts();
    assert_eq!((counts.read, counts.written), (data.len() as u64, 0));
}

/// Who only takes fills the window, the ring and nothing else; then it goes on where it was.
#[test]
fn chargen_waits_for_whoever_does_not_read() {
    let mut meeting = Meeting::new(5, 0, |_| ());
    let handle = meeting.connect(19, 50_000, 10_000);
    meeting.until("a full buffer", |meeting| {
        meeting.socket(handle).recv_queue() == 10_000
    });
    let end = meeting.now + 20_000 * MS;
    meeting.until("some time", |meeting| meeting.now > end);
    let counts = meeting.ours.services.counts();
    assert_eq!(counts.written, 10_000 + u64::from(RING));
    assert!(meeting.ours.engine.stats().window_probes > 3);
    let mut at = 0;
    meeting.until("a million characters", |meeting| {
        let mut buffer = [0; 3000];
        let count = meeting.socket(handle).recv_slice(&mut buffer).unwrap();
        for byte in &buffer[..count] {
            assert_eq!(*byte, chargen(at), "number {at}");
            at += 1;
        }
        at > 1_000_000
    });
    meeting.socket(handle).abort();
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let reset = DisconnectReason::Reset;
    let last = meeting.ours.events.last();
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == reset),
        "{last:?}"
    );
}

#[test]
fn more_streams_than_there_are_places_for() {
    let mut meeting = Meeting::new(6, 0, |_| ());
    let handles: Vec<_> = (0..6)
        .map(|n| meeting.connect(7, 50_000 + n, 1000))
        .collect();
    meeting.until("four streams and two refusals", |meeting| {
        let refused = meeting.ours.services.counts().refused;
        let state = |meeting: &mut Meeting, n: usize| meeting.socket(handles[n]).state();
        let states = (0..6).map(|n| state(meeting, n));
        let standing = states.filter(|state| *state == State::Established).count();
        refused == 2 && standing == 4
    });
    // Each place is there for others when its stream is over.
    for handle in &handles {
        meeting.socket(*handle).close();
    }
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    for round in 0..6 {
        let handle = meeting.connect(7, 51_000 + round, 1000);
        meeting.until("the echo of one byte", |meeting| {
            let socket = meeting.socket(handle);
            if socket.can_send() && socket.send_queue() == 0 && !socket.can_recv() {
                socket.send_slice(b"x").unwrap();
            }
            socket.can_recv()
        });
        meeting.socket(handle).close();
        meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    }
    assert_eq!(meeting.ours.services.counts().streams, 10);
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    let mut meeting = Meeting::new(7, 0, |_| ());
    let handle = meeting.connect(19, 50_000, 10_000);
    meeting.until("some bytes", |meeting| {
        meeting.socket(handle).recv_queue() > 5000
    });
    meeting.path.faults = 1000;
    meeting.until("the end", |meeting| meeting.ours.services.streams() == 0);
    let late = DisconnectReason::TimedOut;
    let last = meeting.ours.events.last();
    assert!(
        matches!(last, Some(Event::StreamClosed { reason, .. }) if *reason == late),
        "{last:?}"
    );
}

#[test]
fn echo_of_a_megabyte() {
    let meeting = echo(1, 1 << 20, 65_535, 0, |_| ());
    let stats = meeting.ours.engine.stats();
    assert_eq!(stats.retransmits, 0, "{stats:?}");
    assert_eq!(stats.resets_sent + stats.challenge_acks, 0, "{stats:?}");
}

#[test]
fn echo_with_timestamps() {
    for seed in 1..=10 {
        let meeting = echo(seed, 100_000, 20_000, 20, stamped);
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.refused_no_timestamp, 0, "seed {seed}: {stats:?}");
    }
}
