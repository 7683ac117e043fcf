//! A stream's state handed over: taken apart at any moment, put together in an engine that has never heard of it, and every byte goes on.
#![allow(missing_docs)]

use crate::bench;
use crate::smoltcp_peer;

use bench::site::Site;
use bench::MS;
use smoltcp::socket::tcp::State;
use smoltcp_peer::{stamped, EchoClient, Meeting};
use weft_engine::*;

/// Echoes as far as it goes now, by hand; true: it has closed.
fn serve(site: &mut Site, now: u64, conn: ConnId) -> bool {
    let (engine, card) = (&mut site.engine, &mut site.card);
    loop {
        // It has no state yet while the neighbour is asked for.
        let Ok(state) = engine.stream_state(conn) else {
            return false;
        };
        let mut buffer = [0; 3000];
        let count = state.readable.min(state.writable).min(buffer.len());
        let buffer = &mut buffer[..count];
        assert_eq!(engine.read_stream(now, conn, buffer, card), Ok(count));
        assert_eq!(engine.write_stream(now, conn, buffer, card), Ok(count));
        if state.at_end && state.readable == 0 {
            engine.disconnect(now, conn, card).unwrap();
            return true;
        }
        if count == 0 {
            return false;
        }
    }
}

struct Moves {
    /// States that had bytes in flight, bytes not sent, bytes not read, the peer's FIN.
    seen: [u32; 4],
    states: Vec<StreamHandover>,
}

/// Echoes `length` bytes of smoltcp's; about every `every` steps the stream moves into a fresh engine.
fn roam(seed: u64, length: usize, every: u64, faults: u64, change: fn(&mut EngineConfig)) -> Moves {
    let mut meeting = Meeting::new(seed, faults, change);
    meeting.ours.asleep = true;
    let handle = meeting.connect(7, 50_000, 8_000);
    let mut client = EchoClient::new(length);
    let (mut conn, mut closed, mut over) = (None, false, false);
    let mut moves = Moves {
        seen: [0; 4],
        states: Vec::new(),
    };
    let mut random = seed;
    meeting.until("the echo", |meeting| {
        client.step(meeting.socket(handle));
        let now = meeting.now;
        for event in meeting.ours.events.drain(..) {
            match event {
                Event::StreamEstablished { conn: new, .. } => conn = Some(new),
                Event::StreamClosed { reason, .. } => {
                    assert_eq!(reason, DisconnectReason::Peer, "seed {seed}");
                    over = true;
                }
                _ => {}
            }
        }
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
        let site = &mut meeting.ours;
        if let (Some(old), true) = (conn, !closed) {
            if (random >> 33) % every == 0 {
                if let Ok(state) = site.engine.hand_over(now, old, &mut site.card) {
                    let tcp = &state.tcp;
                    tcp.check().unwrap();
                    let unsent = tcp.unacknowledged.len() as u32 > tcp.flight();
                    let flags = [
                        tcp.flight() > 0,
                        unsent,
                        !tcp.unread.is_empty(),
                        tcp.peer_closed,
                    ];
                    for (count, is) in moves.seen.iter_mut().zip(flags) {
                        *count += u32::from(is);
                    }
                    let gone = site.engine.stream_state(old);
                    assert_eq!(gone, Err(Error::UnknownConnection));
                    let number = moves.states.len() as u64 + 1;
                    *site = Site::new(|config| {
                        config.seed = (seed * 1000 + number).into();
                        change(config);
                    });
                    site.asleep = true;
                    let (qp, ring) = site.places[0];
                    let (engine, card) = (&mut site.engine, &mut site.card);
                    conn = Some(engine.adopt(now, qp, &ring, &state, card).unwrap());
                    moves.states.push(state);
                }
            } else if (random >> 40) % 3 > 0 {
                // Now and then it is busy with something else, so that unread bytes lie there.
                closed = serve(site, now, old);
            }
        }
        client.is_done(meeting.socket(handle))
    });
    client.check(seed);
    meeting.until("the end", |meeting| {
        let closed = |event: &Event| matches!(event, Event::StreamClosed { .. });
        over |= meeting.ours.events.iter().any(closed);
        let state = meeting.socket(handle).state();
        over && matches!(state, State::Closed | State::TimeWait)
    });
    moves
}

#[test]
fn a_stream_that_moves_at_any_moment_under_loss_loses_nothing() {
    let mut seen = [0; 4];
    let mut count = 0;
    for seed in 1..=300 {
        let moves = roam(seed, 60_000, 40, 20, |_| ());
        count += moves.states.len();
        for (all, these) in seen.iter_mut().zip(moves.seen) {
            *all += these;
        }
    }
    assert!(count > 500, "{count}");
    assert!(seen.iter().all(|times| *times > 5), "{seen:?} of {count}");
}

/// Timestamps go on where they were: a peer refuses older ones, and this side refuses the peer's.
#[test]
fn clocks_move_with_it() {
    let moves = roam(7, 200_000, 60, 0, stamped);
    let clocks = moves.states.iter().map(|state| state.tcp.timestamps);
    let clocks: Vec<_> = clocks.map(|clocks| clocks.unwrap()).collect();
    assert!(clocks.len() > 1);
    for two in clocks.windows(2) {
        assert!(two[0].recent <= two[1].recent, "{two:?}");
        let ahead = two[1].now.wrapping_sub(two[0].now);
        assert!(ahead < 1000, "milliseconds: {two:?}");
    }
}

#[test]
fn what_cannot_be_adopted_is_refused_and_changes_nothing() {
    let mut site = Site::new(|_| ());
    let (qp, ring) = site.places[0];
    let local = Endpoint {
        ip: site.engine.config().ip,
        port: 7,
    };
    let remote = Endpoint {
        ip: [10, 0, 0, 2],
        port: 5,
    };
    let state = StreamHandover {
        local,
        remote,
        tcp: Handover {
            mss: 1000,
            ..Handover::default()
        },
    };
    let mut adopt = |change: &dyn Fn(&mut StreamHandover)| {
        let mut state = state.clone();
        change(&mut state);
        let (engine, card) = (&mut site.engine, &mut site.card);
        engine.adopt(MS, qp, &ring, &state, card)
    };
    let impossible = |why| Err(Error::InvalidHandover(why));
    assert_eq!(adopt(&|s| s.tcp.mss = 0), impossible(Impossible::Mss));
    assert_eq!(adopt(&|s| s.tcp.snd_nxt = 1), impossible(Impossible::Sent));
    assert_eq!(adopt(&|s| s.local.ip[3] = 77), Err(Error::InvalidAddress));
    assert_eq!(adopt(&|s| s.remote.ip[3] = 1), Err(Error::InvalidAddress));
    let long = |s: &mut StreamHandover| s.tcp.unacknowledged = vec![0; ring.length as usize + 1];
    assert_eq!(adopt(&long), Err(Error::NoMemory));
    let unread = |s: &mut StreamHandover| s.tcp.unread = vec![0; 20 << 20];
    assert_eq!(adopt(&unread), Err(Error::NoMemory));
    let conn = adopt(&|_| ()).expect("it is fine");
    assert_eq!(adopt(&|_| ()), Err(Error::WrongQpState));
    // It does not stand before the neighbour is known, and is given up if nobody is there.
    assert!(site.engine.stream_state(conn).is_err());
    assert!(site.engine.hand_over(MS, conn, &mut site.card).is_err());
    for second in 0..10 {
        site.timers(second * 1000 * MS);
    }
    let last = site.events.last();
    assert!(matches!(last, Some(Event::ConnectError { .. })), "{last:?}");
}
