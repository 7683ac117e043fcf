//! The thinnest path: ARP, TCP, MPA with the 0-byte Read, a Send, a Write, a Read, close.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

fn all_access() -> Access {
    Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK
}

#[test]
fn connect_send_write_read_close() {
    let mut b = Bench::new(1);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    assert_eq!(pair.agreed.rtr, Some(RtrKinds::READ));
    assert!(pair.agreed.crc);
    let (stag0, iova0) = b.hosts[0].region(100_000, all_access());
    let (stag1, iova1) = b.hosts[1].region(100_000, all_access());
    let pattern: Vec<u8> = (0..100_000u32).map(|i| (i * 7 + i / 251) as u8).collect();

    // Send, the responder's first.
    b.memory(1, iova1, 5000).copy_from_slice(&pattern[..5000]);
    b.post_recv(0, pair.qps[0], 1, &[sge(stag0, 0, 6000)])
        .unwrap();
    b.post_send(1, pair.qps[1], &send(2, &[sge(stag1, 0, 5000)]))
        .unwrap();
    let got = b.completions_of(0, 1, 100 * MS);
    assert_eq!(
        (got[0].wr_id, got[0].byte_len, got[0].status),
        (1, 5000, Status::Success)
    );
    assert_eq!(b.memory(0, iova0, 5000), &pattern[..5000]);
    let sent = b.completions_of(1, 1, 100 * MS);
    assert_eq!((sent[0].wr_id, sent[0].opcode), (2, Opcode::Send));

    // Write, with several SGEs.
    b.memory(0, iova0, 50_000)
        .copy_from_slice(&pattern[..50_000]);
    let sges = [
        sge(stag0, 1, 20_000),
        sge(stag0, 20_001, 3),
        sge(stag0, 20_004, 19_996),
    ];
    b.post_send(0, pair.qps[0], &write(3, stag1, 0x1000 + 10, &sges))
        .unwrap();
    let sent = b.completions_of(0, 1, 100 * MS);
    assert_eq!(
        (sent[0].wr_id, sent[0].opcode, sent[0].byte_len),
        (3, Opcode::Write, 39_999)
    );
    assert_eq!(b.memory(1, iova1 + 10, 39_999), &pattern[1..40_000]);

    // Read.
    b.memory(1, iova1, 100_000).copy_from_slice(&pattern);
    let sges = [sge(stag0, 0, 30_000), sge(stag0, 40_000, 7)];
    b.post_send(0, pair.qps[0], &read(4, stag1, 0x1000 + 5, &sges))
        .unwrap();
    let sent = b.completions_of(0, 1, 100 * MS);
    assert_eq!(
        (sent[0].wr_id, sent[0].opcode, sent[0].byte_len),
        (4, Opcode::Read, 30_007)
    );
    assert_eq!(b.memory(0, iova0, 30_000), &pattern[5..30_005]);
    assert_eq!(b.memory(0, iova0 + 40_000, 7), &pattern[30_005..30_012]);

    // Close.
    b.post_recv(0, pair.qps[0], 9, &[]).unwrap();
    b.call(0, |e, now, card| e.disconnect(now, pair.conns[0], card))
        .unwrap();
    assert!(matches!(
        b.event_of(0, 100 * MS),
        Event::Disconnected {
            reason: DisconnectReason::Local,
            ..
        }
    ));
    assert!(matches!(
        b.event_of(1, 100 * MS),
        Event::Disconnected {
            reason: DisconnectReason::Peer,
            ..
        }
    ));
    let flushed = b.completions_of(0, 1, MS);
    assert_eq!((flushed[0].wr_id, flushed[0].status), (9, Status::Flushed));
    // The card has framed nearly everything.
    for host in &b.hosts {
        let stats = host.engine.stats();
        assert!(stats.fpdus_software <= 2, "{stats:?}");
        assert_eq!(stats.retransmits, 0, "{stats:?}");
        assert_eq!(stats.terminates_sent + stats.resets_sent, 0, "{stats:?}");
    }
    b.judge([false; 2]);
    b.run(5_000 * MS);
    assert_eq!(b.hosts[0].engine.next_deadline(), None);
    assert_eq!(b.hosts[1].engine.next_deadline(), None);
}
