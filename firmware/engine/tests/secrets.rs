//! Numbers that an attacker must not foresee: initial sequence numbers (RFC 6528), ports (RFC 6056), timestamps
//! (RFC 7323 §7.1), STag keys.
#![allow(missing_docs)]

use crate::bench;

use std::collections::BTreeSet;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::tcp::flag;

fn script(seed: u64) -> Script {
    let mut s = Script::with(false, &|c| {
        c.seed = seed.into();
        c.timestamps = true;
        c.num_stags = 256;
    });
    s.auto_ack = false;
    s.hello(PEER_MAC);
    s
}

/// The SYN of a new connection; then it is gone again.
fn syn(s: &mut Script, local_port: Option<u16>, remote_port: u16) -> (Vec<u8>, Sent) {
    let qp = s.qp();
    s.sent.clear();
    let params = ConnectParams {
        remote: Endpoint {
            ip: PEER_IP,
            port: remote_port,
        },
        local_port,
        ..Default::default()
    };
    s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
    s.card.run_jobs();
    let frame = s.card.out.last().unwrap().clone();
    s.work();
    let sent = s.sent.pop().unwrap();
    assert_eq!(sent.flags, flag::SYN);
    s.engine.destroy_qp(s.now, qp, &mut s.card).unwrap();
    s.work();
    (frame, sent)
}

fn port_of(frame: &[u8]) -> u16 {
    u16::from_be_bytes([frame[34], frame[35]])
}

#[test]
fn sequence_numbers_follow_a_clock_with_a_secret_offset() {
    let mut s = script(7);
    let (_, first) = syn(&mut s, Some(5000), 80);
    s.now += 1_000 * MS;
    let (_, second) = syn(&mut s, Some(5000), 80);
    assert_eq!(second.seq.wrapping_sub(first.seq), 250_000, "4 us a number");
    // Other addresses tell nothing about it.
    let near = |a: u32, b: u32| a.wrapping_sub(b).wrapping_add(1 << 20) < 1 << 21;
    let others: Vec<u32> = (81..97)
        .map(|port| syn(&mut s, Some(5000), port).1.seq)
        .collect();
    let close = others.iter().filter(|seq| near(**seq, second.seq)).count();
    assert!(close <= 1, "{others:x?}");
    // Nor do those of another engine.
    let (_, elsewhere) = syn(&mut script(8), Some(5000), 80);
    assert!(!near(elsewhere.seq, first.seq));
    let (_, again) = syn(&mut script(7), Some(5000), 80);
    assert_eq!(again.seq, first.seq, "the same seed");
    let value = |sent: &Sent| sent.options.timestamps.unwrap().0;
    assert!(!near(value(&elsewhere), value(&first)));
    assert_eq!(value(&second).wrapping_sub(value(&first)), 1000, "1 ms");
}

#[test]
fn ports_are_anywhere() {
    let mut s = script(3);
    let ports: BTreeSet<u16> = (0..64).map(|_| port_of(&syn(&mut s, None, 80).0)).collect();
    assert!(
        ports.len() >= 60 && ports.iter().all(|port| *port >= 49152),
        "{ports:?}"
    );
    let neighbours = ports
        .iter()
        .filter(|port| ports.contains(&(*port ^ 1)))
        .count();
    assert!(neighbours < 8, "{ports:?}");
}

#[test]
fn stag_keys_do_not_count() {
    let keys = |seed: u64| -> Vec<u8> {
        let mut s = script(seed);
        let access = Access::REMOTE_WRITE;
        let (pd, iova) = (s.pd, card::MEMORY);
        let mut last = [None; 256];
        (0..255 * 8)
            .map(|_| {
                let stag = s
                    .engine
                    .register(pd, 0, iova, 64, access, &mut s.card)
                    .unwrap();
                s.engine.deregister(s.now, stag, &mut s.card).unwrap();
                let (index, key) = ((stag >> 8) as usize, stag as u8);
                assert_ne!(last[index].replace(key), Some(key), "the same STag at once");
                key
            })
            .collect()
    };
    let (one, other) = (keys(1), keys(2));
    for keys in [&one, &other] {
        // Of one index, from one registration to the next.
        let steps: BTreeSet<u8> = (255..keys.len())
            .map(|n| keys[n].wrapping_sub(keys[n - 255]))
            .collect();
        assert!(steps.len() > 200, "{} different steps", steps.len());
    }
    assert_ne!(one, other);
    assert_eq!(one, keys(1));
}
