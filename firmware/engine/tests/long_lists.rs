//! Work requests with more SGEs and inline bytes than a job of the card has: up to 16 and 256, in any sizes, through a link that loses.
#![allow(missing_docs)]

use crate::bench;

use bench::{read, send, sge, write, Bench, Faults, MS};
use weft_engine::*;

/// Bytes of a region.
const REGION: usize = 200_000;

/// A scattered list: where each SGE begins and how long it is; not one byte is in two of them.
fn scattered(b: &mut Bench, stag: u32, longest: u32) -> Vec<Sge> {
    let count = 1 + b.random() % MAX_SGE as u32;
    let mut at = 0;
    (0..count)
        .map(|_| {
            at += b.random() % 100;
            let length = b.random() % longest;
            let piece = sge(stag, at.into(), length);
            at += length;
            piece
        })
        .collect()
}

/// The bytes that a list names, of a host's region at `iova`.
fn gathered(b: &mut Bench, host: usize, iova: u64, list: &[Sge]) -> Vec<u8> {
    let piece = |sge: &Sge| {
        let at = iova + (sge.to - 0x1000);
        b.memory(host, at, sge.length as usize).to_vec()
    };
    list.iter().flat_map(piece).collect()
}

fn run(seed: u64, faults: Faults, mtu: u16, markers: bool) {
    let mut b = Bench::with(seed, &|config| config.mtu = mtu);
    b.faults = faults;
    let qps = [0, 1].map(|n: usize| {
        let host = &mut b.hosts[n];
        let config = QpConfig {
            pd: host.pd,
            send_depth: 64,
            recv_depth: 64,
            max_sge: MAX_SGE as u8,
            rung: None,
        };
        host.engine.create_qp(&config, &mut host.card).unwrap()
    });
    let params = ConnectParams {
        ird: 4,
        ord: 4,
        markers,
        ..Default::default()
    };
    let accept = AcceptParams {
        ird: 4,
        ord: 4,
        markers,
        ..Default::default()
    };
    let pair = b.connect_qps(qps, &params, &accept);
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
    let regions = [0, 1].map(|n: usize| b.hosts[n].region(REGION as u64, access));
    for round in 0..12u64 {
        for (n, (_, iova)) in regions.iter().enumerate() {
            let fresh: Vec<u8> = (0..REGION).map(|_| b.random() as u8).collect();
            b.memory(n, *iova, REGION).copy_from_slice(&fresh);
        }
        let longest = [8, 100, 1500, 3000][round as usize % 4];
        let list = scattered(&mut b, regions[0].0, longest);
        let bytes = gathered(&mut b, 0, regions[0].1, &list);
        let length = bytes.len() as u32;
        let inline: Vec<u8> = (0..b.random() as usize % (MAX_INLINE + 1))
            .map(|at| (at * 7) as u8)
            .collect();
        let (local, remote) = (regions[0], regions[1]);
        let room = [sge(remote.0, 0, REGION as u32 / 2)];
        for id in [100, 101] {
            b.post_recv(1, pair.qps[1], id, &room).unwrap();
        }
        let quarter = REGION as u64 / 4;
        // A Write and a Send of the list, an inline Write and an inline Send: each to a quarter of its own, but for the Sends.
        let writes = [
            write(1, remote.0, 0x1000 + 2 * quarter, &list),
            SendWr {
                payload: Payload::Inline(&inline),
                ..write(2, remote.0, 0x1000 + 3 * quarter, &[])
            },
        ];
        for wr in &writes {
            b.post_send(0, pair.qps[0], wr).unwrap();
        }
        b.completions_of(0, 2, 600_000 * MS);
        let placed = b.memory(1, remote.1 + 2 * quarter, bytes.len()).to_vec();
        assert!(placed == bytes, "seed {seed}, round {round}: Write");
        let placed = b.memory(1, remote.1 + 3 * quarter, inline.len()).to_vec();
        assert_eq!(placed, inline, "seed {seed}, round {round}: inline Write");

        for (id, wr) in [(1, send(1, &list)), (2, send(2, &[]))] {
            let wr = match id {
                1 => wr,
                _ => SendWr {
                    payload: Payload::Inline(&inline),
                    ..wr
                },
            };
            b.post_send(0, pair.qps[0], &wr).unwrap();
            let received = b.completions_of(1, 1, 600_000 * MS)[0];
            let sent = if id == 1 { &bytes } else { &inline };
            assert_eq!(
                (received.status, received.byte_len as usize),
                (Status::Success, sent.len())
            );
            let placed = b.memory(1, remote.1, sent.len()).to_vec();
            assert!(placed == *sent, "seed {seed}, round {round}: Send {id}");
        }
        b.completions_of(0, 2, 600_000 * MS);

        // And back: a Read into the list.
        let source = b.memory(1, remote.1 + 7, bytes.len()).to_vec();
        b.post_send(0, pair.qps[0], &read(3, remote.0, 0x1007, &list))
            .unwrap();
        let done = b.completions_of(0, 1, 600_000 * MS)[0];
        assert_eq!(
            (done.status, done.byte_len),
            (Status::Success, length),
            "seed {seed}, round {round}"
        );
        let came = gathered(&mut b, 0, local.1, &list);
        assert!(came == source, "seed {seed}, round {round}: Read");
    }
    // Each round fills the regions anew, and what is sent again of a Read that is done is what lies there by then.
    if faults.loss == 0 {
        b.judge([markers; 2]);
    }
}

#[test]
fn sixteen_pieces_and_many_bytes_inline() {
    for seed in 0..10 {
        run(seed, Faults::default(), 1500, false);
    }
}

#[test]
fn likewise_with_losses() {
    for seed in 0..20 {
        let faults = Faults {
            loss: 2000,
            reorder: 2000,
            ..Default::default()
        };
        run(seed, faults, [576, 1500][seed as usize % 2], seed % 3 == 0);
    }
}
