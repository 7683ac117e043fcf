//! SYN flood (RFC 4987): a process of its own, since memory is measured.
#![allow(missing_docs)]

mod bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::tcp::{flag, Options};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }
}

/// Pages of memory in use.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

/// 10^5 SYNs from everywhere: no connection is made for them, and who means it gets through, while it lasts and after.
#[test]
fn a_flood_of_syns_costs_a_table_and_keeps_nobody_out() {
    let mut s = Script::new(false);
    s.engine.listen(s.port, 4).unwrap();
    let honest = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Default::default()
    };
    let (port, request) = (s.peer_port, Script::request(RtrKinds::READ, b"honest"));
    let mut random = Random(3);
    let mut before = 0;
    for n in 0..100_000u32 {
        if n == 11_000 {
            before = resident();
        }
        s.peer_port = 1024 + (n % 60_000) as u16;
        s.peer_ip = [10, 0, 0, 10 + (n / 60_000) as u8];
        let frame = s.frame(flag::SYN, random.next(), honest, &[]);
        s.card.receive(&frame);
        if n % 1000 == 999 {
            s.work();
            s.sent.clear();
            s.now += MS;
        }
        if n % 20_000 == 10_500 {
            (s.peer_port, s.peer_ip) = (port, PEER_IP);
            s.seq = n;
            s.auto_ack = true;
            s.work();
            s.sent.clear();
            s.open_again(honest);
            s.data(&request);
            let Some(Event::ConnectRequest {
                conn, private_data, ..
            }) = s.events.pop()
            else {
                panic!("the honest client waits at {n}");
            };
            assert_eq!(&private_data[..], b"honest");
            s.engine.abort(s.now, conn, &mut s.card).unwrap();
            s.work();
            s.events.clear();
            s.auto_ack = false;
        }
        assert!(s.events.is_empty());
    }
    let grown = resident().saturating_sub(before) * 4;
    assert!(grown < 1024, "{grown} KiB");
    let stats = *s.engine.stats();
    assert!(stats.syn_cookies_sent > 90_000, "{stats:?}");
    assert!(stats.syn_cookies_taken >= 4, "{stats:?}");
    // It is over, and nothing stays.
    s.wait(1_000_000 * MS);
    assert_eq!(s.engine.next_deadline(), None);
    assert!(s.engine.stats().half_open_forgotten >= 256);
    (s.peer_port, s.peer_ip, s.auto_ack) = (port, PEER_IP, true);
    s.sent.clear();
    s.open_again(honest);
    s.data(&request);
    assert!(matches!(s.events.pop(), Some(Event::ConnectRequest { .. })));
}
