//! Thirty days of connections that are idle, busy, closed and cut off, with hosts that sleep for hours: no timer is stuck, none comes for nothing, nothing
//! overflows (RFC 7323 §5.5, RFC 9293 §3.8.4).
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

const SECOND: u64 = 1000 * MS;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;

/// A Write of these octets arrives within a minute.
fn write_once(b: &mut Bench, pair: &Pair, (from, at): (u32, u64), (to, sink): (u32, u64), n: u64) {
    let data: Vec<u8> = (0..4000).map(|k| (k * 7 + n) as u8).collect();
    b.memory(0, at, 4000).copy_from_slice(&data);
    let sges = [sge(from, 0, 4000)];
    b.post_send(0, pair.qps[0], &bench::write(n, to, 0x1000, &sges))
        .unwrap();
    let done = b.completions_of(0, 1, 60 * SECOND);
    assert_eq!((done[0].wr_id, done[0].status), (n, Status::Success));
    assert_eq!(b.memory(1, sink, 4000), &data[..]);
}

fn alive(b: &Bench) {
    for host in &b.hosts {
        assert_eq!(host.engine.check_liveness(), Ok(()));
    }
}

/// A deadline that lies in the past has no reason to stay.
fn no_timer_is_stuck(b: &mut Bench) {
    b.run(SECOND);
    for host in &b.hosts {
        let at = host.engine.next_deadline();
        assert!(
            at.is_none_or(|at| at + SECOND > b.now),
            "{at:?} at {}",
            b.now
        );
    }
}

/// The peer says nothing any more: whoever sends, or looks whether it is there, finds out, and not later than it should.
fn cut_off(b: &mut Bench, pair: &Pair) {
    b.tamper = Some(Box::new(|from, _| from == 0));
    let from = b.now;
    let ended = |event: &Event| matches!(event, Event::Disconnected { .. });
    let limit = 2 * HOUR + 9 * 75 * SECOND + HOUR;
    b.until("the end of what is cut off", limit, |b| {
        b.hosts[0].events.iter().any(ended)
    });
    assert!(b.now - from >= 9 * 75 * SECOND);
    b.tamper = None;
    // The other one hears so from the first segment that comes through.
    b.until("the end of the other", limit, |b| {
        b.hosts[1].events.iter().any(ended)
    });
    for n in 0..2 {
        b.hosts[n].events.clear();
        b.hosts[n].completions.clear();
        b.call(n, |e, now, card| e.destroy_qp(now, pair.qps[n], card))
            .unwrap();
    }
}

fn close(b: &mut Bench, pair: &Pair) {
    let side = (b.random() % 2) as usize;
    b.call(side, |e, now, card| {
        e.disconnect(now, pair.conns[side], card)
    })
    .unwrap();
    for n in 0..2 {
        let event = b.event_of(n, 60 * SECOND);
        assert!(matches!(event, Event::Disconnected { .. }), "{event:?}");
        b.hosts[n].completions.clear();
        b.call(n, |e, now, card| e.destroy_qp(now, pair.qps[n], card))
            .unwrap();
    }
}

#[test]
fn thirty_days() {
    // From the start, over the wrap of a timestamp's milliseconds, over that of 2^54 ns (208 days), and after a hundred years.
    let starts = [
        0,
        (1 << 32) * MS - 10 * DAY,
        (1 << 54) - 15 * DAY,
        36_500 * DAY,
    ];
    for (seed, start) in (0..).zip(starts) {
        let mut b = Bench::with(seed, &|config| {
            config.timestamps = true;
            config.keepalive = Some(2 * HOUR);
        });
        b.now = start;
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let from = b.hosts[0].region(4000, access);
        let to = b.hosts[1].region(4000, access);
        let connect =
            |b: &mut Bench| b.connect(&ConnectParams::default(), &AcceptParams::default());
        let mut pair = connect(&mut b);
        let (mut n, mut ends) = (0, [0, 0]);
        while b.now < start + 30 * DAY {
            let pause = match b.random() % 8 {
                0 => SECOND,
                1 | 2 => 90 * SECOND,
                3 | 4 => 3 * HOUR,
                5 | 6 => 11 * HOUR,
                _ => 26 * HOUR,
            };
            match b.random() % 3 {
                // Both are asleep, and nobody looks at their timers.
                0 => {
                    b.now += pause.min(100 * SECOND);
                    b.run(SECOND);
                }
                _ => b.run(pause),
            }
            b.capture.clear();
            alive(&b);
            write_once(&mut b, &pair, from, to, n);
            n += 1;
            match b.random() % 8 {
                0 => {
                    close(&mut b, &pair);
                    ends[0] += 1;
                    pair = connect(&mut b);
                }
                1 => {
                    cut_off(&mut b, &pair);
                    ends[1] += 1;
                    pair = connect(&mut b);
                }
                _ => {}
            }
            no_timer_is_stuck(&mut b);
        }
        assert!(n > 40 && ends[0] > 3 && ends[1] > 3, "{n} {ends:?}");
        // Idle for as long as a timestamp means something, and longer (RFC 7323 §5.5).
        for days in [12, 13, 24, 25, 50] {
            b.run(days * DAY);
            b.capture.clear();
            write_once(&mut b, &pair, from, to, n);
            n += 1;
        }
        let stats = b.hosts.each_ref().map(|host| *host.engine.stats());
        assert_eq!(stats.map(|s| s.refused_timestamp), [0; 2]);
        close(&mut b, &pair);
        b.run(100 * SECOND);
        for host in &b.hosts {
            assert_eq!(host.engine.next_deadline(), None);
        }
    }
}
