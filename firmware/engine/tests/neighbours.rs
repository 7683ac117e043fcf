//! A neighbour's address moves once a second at most, whoever says so how often, and costs those behind it alone (RFC 826).
#![allow(missing_docs)]

mod bench;

use bench::script::*;
use bench::*;
use weft_engine::*;

const SECOND: u64 = 1000 * MS;
const OWN: [u8; 4] = [10, 0, 0, 1];

fn station(n: u32) -> [u8; 6] {
    [2, 9, 0, (n >> 16) as u8, (n >> 8) as u8, n as u8]
}

/// A gratuitous ARP.
fn announce(s: &mut Script, ip: [u8; 4], mac: [u8; 6]) {
    s.card.receive(&arp_request(mac, ip, ip));
}

/// A question for the engine's address.
fn ask(s: &mut Script, ip: [u8; 4], mac: [u8; 6]) {
    s.card.receive(&arp_request(mac, ip, OWN));
}

/// An engine as the card has it, and connections of the same peer that stand.
fn standing(count: u16) -> Script {
    let mut s = Script::with(false, &|config| {
        config.on_card = true;
        config.rung = Rung::Firmware;
        (config.num_flows, config.num_stags) = (16, 64);
        config.max_connections = Some(16);
    });
    for n in 0..count {
        s.peer_port = 5000 + n;
        let qp = s.qp();
        s.hello(PEER_MAC);
        s.accepted_again(qp, RtrKinds::NONE, &AcceptParams::default());
    }
    s.wait(MS);
    s
}

fn moves(s: &Script) -> usize {
    let moved = |event: &&Event| matches!(event, Event::Moved { .. });
    s.events.iter().filter(moved).count()
}

#[test]
fn ten_thousand_announcements_are_one_move_a_second() {
    for (apart, seconds) in [(0, 1), (MS / 10, 1), (MS, 10)] {
        let mut s = standing(8);
        let written = s.card.writes;
        for n in 0..10_000 {
            announce(&mut s, PEER_IP, station(n));
            s.quiet();
            s.now += apart;
            if s.engine.next_deadline().is_some_and(|at| at <= s.now) {
                s.engine.on_timer(s.now, &mut s.card);
            }
        }
        // Nobody has looked: one event a connection.
        s.work();
        assert_eq!(moves(&s), 8, "{apart}");
        let most = 8 * (seconds + 2);
        assert!(
            s.engine.address_moves() <= most,
            "{apart}: {}",
            s.engine.address_moves()
        );
        let rows = s.card.writes - written;
        assert!(rows <= 2 * most as usize, "{apart}: {rows} rows");
        let put_off = s.engine.stats().moves_put_off;
        assert!(put_off >= 10_000 - seconds - 2, "{apart}: {put_off}");
        // The last word counts in the end, and it is told.
        s.events.clear();
        s.wait(2 * SECOND);
        assert!(matches!(moves(&s), 0 | 8), "{apart}");
        for flow in 0..8 {
            assert_eq!(s.card.station_of(flow), station(9_999), "{apart}");
        }
        assert_eq!(
            s.engine.next_deadline().map_or(0, |at| at / (100 * SECOND)),
            3,
            "no timer of it stays"
        );
    }
}

/// One that goes over and says so once is followed at once, and one that goes back at once a second later.
#[test]
fn a_move_is_heeded_at_once_and_the_way_back_when_the_second_is_over() {
    let mut s = standing(2);
    announce(&mut s, PEER_IP, station(1));
    s.work();
    assert_eq!((s.engine.address_moves(), moves(&s)), (2, 2));
    announce(&mut s, PEER_IP, PEER_MAC);
    s.work();
    assert_eq!(s.engine.address_moves(), 2);
    s.wait(SECOND - 2 * MS);
    assert_eq!(s.engine.address_moves(), 2);
    s.wait(2 * MS);
    assert_eq!(s.engine.address_moves(), 4);
    // To and fro within the second: it stays where it is.
    s.wait(2 * SECOND);
    announce(&mut s, PEER_IP, station(1));
    announce(&mut s, PEER_IP, station(2));
    announce(&mut s, PEER_IP, station(1));
    s.work();
    s.wait(2 * SECOND);
    assert_eq!(s.engine.address_moves(), 6);
}

/// Strangers that introduce themselves put out nobody to whom something is sent, and so do not get around the second either.
#[test]
fn strangers_do_not_put_out_a_neighbour_in_use() {
    let mut s = standing(4);
    for n in 0..5_000_u32 {
        ask(&mut s, [10, 0, 0, 20 + (n % 200) as u8], station(n % 200));
        if n % 100 == 0 {
            ask(&mut s, PEER_IP, station(1000 + n));
        }
        s.work();
    }
    assert_eq!(s.engine.address_moves(), 4);
    assert_eq!(moves(&s), 4);
}
