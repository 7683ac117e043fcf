//! Two ends agree that each segment begins with an FPDU: who asks and who grants, and what they send then.
#![allow(missing_docs)]

use crate::bench;

use bench::middlebox::{Cuts, Middlebox};
use bench::script::*;
use bench::traffic::{long_writes, run_agreed};
use bench::*;
use weft_engine::*;
use weft_wire::mpa::{Extensions, FrameKind};

const ASKS: ConnectParams<'static> = ConnectParams {
    remote: Endpoint {
        ip: [10, 0, 0, 2],
        port: 4791,
    },
    local_port: None,
    private_data: &[],
    ird: 16,
    ord: 16,
    peer_to_peer: true,
    rtr: RtrKinds::READ,
    crc: true,
    markers: false,
    aligned: true,
    revision: Revision::Rev2,
    fall_back: false,
    route: None,
    tos: 0,
};

fn grants(aligned: bool) -> AcceptParams<'static> {
    AcceptParams {
        aligned,
        ..Default::default()
    }
}

/// What both ends know, which is the same.
#[track_caller]
fn agreed(b: &Bench, pair: &Pair) -> bool {
    let [a, c] = [0, 1].map(|n| {
        let info = b.hosts[n].engine.conn_info(pair.qps[n]).unwrap().unwrap();
        info.agreed.unwrap().aligned
    });
    assert_eq!((a, c), (pair.agreed.aligned, pair.agreed.aligned));
    a
}

#[test]
fn who_asks_and_who_grants() {
    for bits in 0..16u64 {
        let flag = |bit: u32| bits & 1 << bit != 0;
        let (asked, granted, markers) = (flag(0), flag(1), flag(2));
        let mut b = Bench::new(bits);
        let params = ConnectParams {
            aligned: asked,
            markers,
            ..ASKS
        };
        let accept = AcceptParams {
            crc: flag(3),
            ..grants(granted)
        };
        let pair = b.connect(&params, &accept);
        assert_eq!(agreed(&b, &pair), asked && granted, "{bits:04b}");
        for (n, has_markers) in [(0, markers), (1, false)] {
            let row = b.hosts[n].card.rx_row(pair.qps[n].flow());
            assert_eq!(row.markers(), has_markers);
            assert_eq!(row.beyond(), has_markers || asked && granted);
        }
    }
}

/// It needs a CRC and a revision that has extensions, and its four octets have to be there.
#[test]
fn what_makes_no_sense_is_refused() {
    let mut b = Bench::new(2);
    let qp = b.hosts[0].qp();
    let mut refused = |params: &ConnectParams<'_>| {
        let called = b.call(0, |e, now, card| e.connect(now, qp, params, card));
        called.unwrap_err()
    };
    let without_crc = ConnectParams { crc: false, ..ASKS };
    let old = ConnectParams {
        revision: Revision::Rev1,
        peer_to_peer: false,
        ..ASKS
    };
    for params in [without_crc, old] {
        let error = refused(&params);
        assert_eq!(error, Error::InvalidAligned);
        let says = error.to_string();
        assert!(
            says.contains("revision 2 and CRC32C: ask for both"),
            "{says}"
        );
    }
    let long = ConnectParams {
        private_data: &[7; 505],
        ..ASKS
    };
    let (given, limit) = (505, 504);
    assert_eq!(refused(&long), Error::PrivateDataTooLong { given, limit });
}

/// A peer that grants nothing is as good as any; one that grants what nobody has asked for is none.
#[test]
fn replies_to_who_asks() {
    let (aligned, xrc) = (Extensions::ALIGNED, Extensions::XRC);
    for (asks, granted, expected) in [
        (true, Extensions::NONE, Ok(false)),
        (true, aligned, Ok(true)),
        (true, xrc, Err(ConnectFailure::InvalidReply)),
        (true, aligned.union(xrc), Err(ConnectFailure::InvalidReply)),
        (false, aligned, Err(ConnectFailure::InvalidReply)),
    ] {
        let mut s = Script::new(false);
        let qp = s.qp();
        let params = ConnectParams {
            aligned: asks,
            ..ASKS
        };
        let (conn, request) = s.called_by(qp, &params);
        // Whoever does not know them takes these four for private data.
        let octets: &[u8] = if asks { b"wft\x04" } else { b"" };
        assert_eq!(&request[24..], octets);
        s.data(&extended(FrameKind::Reply, true, granted));
        s.wait(MS);
        let came = s.events.iter().find_map(|event| match event {
            Event::Established { agreed, .. } => Some(Ok(agreed.aligned)),
            Event::ConnectError { conn: c, reason } if *c == conn => Some(Err(*reason)),
            _ => None,
        });
        assert_eq!(came, Some(expected), "{asks} {granted:?}: {:?}", s.events);
    }
}

/// An initiator of XRC that asks for this as well goes on without this, and not without XRC.
#[test]
fn beside_xrc() {
    let (aligned, xrc) = (Extensions::ALIGNED, Extensions::XRC);
    for (granted, stands) in [
        (xrc, Some(false)),
        (xrc.union(aligned), Some(true)),
        (aligned, None),
    ] {
        let mut s = Script::new(false);
        let config = QpConfig {
            pd: s.pd,
            send_depth: 8,
            recv_depth: 0,
            max_sge: 1,
            rung: None,
        };
        let qp = s.engine.create_xrc_initiator(&config, &mut s.card).unwrap();
        let (_, request) = s.called_by(qp, &ASKS);
        assert_eq!(request[24..], b"wft\x05"[..]);
        s.data(&extended(FrameKind::Reply, true, granted));
        s.wait(MS);
        let came = s.events.iter().find_map(|event| match event {
            Event::Established { agreed, .. } => Some(agreed.aligned),
            _ => None,
        });
        assert_eq!(came, stands, "{granted:?}: {:?}", s.events);
    }
}

/// Without a CRC nothing is granted, whatever the request says.
#[test]
fn a_request_without_crc() {
    for (asked_crc, own_crc) in [(false, false), (false, true), (true, false)] {
        let mut s = Script::new(false);
        let qp = s.qp();
        let request = extended(FrameKind::Request, asked_crc, Extensions::ALIGNED);
        let accept = AcceptParams {
            crc: own_crc,
            ..grants(true)
        };
        s.accepted_by(qp, &request, &accept);
        let crc = asked_crc || own_crc;
        let info = s.engine.conn_info(qp).unwrap().unwrap();
        assert!(info.agreed.is_none_or(|agreed| agreed.aligned == crc));
        let row = s.card.rx_row(qp.flow());
        assert_eq!((row.crc(), row.beyond()), (crc, crc));
    }
}

/// The second try has no extensions.
#[test]
fn a_second_try_goes_without() {
    let mut b = Bench::new(12);
    let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
    b.call(1, |e, _, _| e.listen(4791, 4)).unwrap();
    let params = ConnectParams {
        fall_back: true,
        ..ASKS
    };
    b.call(0, |e, now, c| e.connect(now, qps[0], &params, c))
        .unwrap();
    let mut asked = Vec::new();
    let conn = loop {
        match b.event_of(1, 10_000 * MS) {
            Event::ConnectRequest { conn, revision, .. } => {
                asked.push(revision);
                if revision == 1 {
                    break conn;
                }
                // It closes instead of replying.
                b.call(1, |e, now, c| e.abort(now, conn, c)).unwrap();
            }
            Event::ConnectError { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asked, [2, 1]);
    b.call(1, |e, now, c| e.accept(now, conn, qps[1], &grants(true), c))
        .unwrap();
    let Event::Established { agreed, .. } = b.event_of(0, 10_000 * MS) else {
        panic!();
    };
    assert_eq!((agreed.revision, agreed.aligned), (1, false));
    assert!(!b.hosts[0].card.rx_row(qps[0].flow()).beyond());
}

/// Writes other windows into what hosts send behind the start-up: closed, smaller than an FPDU, a few of them, or as they are; and mends their checksum (RFC 1624).
fn windows(seed: u64) -> Tamper {
    let (mut random, mut left, mut most, mut begun) = (seed, 0, u16::MAX, false);
    Box::new(move |_, frame| {
        let is_tcp = frame[12..14] == [8, 0] && frame[23] == 6;
        if !is_tcp || frame[47] & 6 != 0 {
            return true;
        }
        let (end, offset) = (14 + usize::from(frame[17]), usize::from(frame[46] >> 4) * 4);
        let end = end + 256 * usize::from(frame[16]);
        let payload = &frame[34 + offset..end];
        begun |= !payload.is_empty() && !payload.starts_with(b"MPA ");
        if !begun {
            return true;
        }
        if left == 0 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
            let small = [0, 3, 20, 90, 400];
            let drawn = (random >> 33) as usize;
            most = small.get(drawn % 10).copied().unwrap_or(u16::MAX);
            left = 1 + drawn / 10 % 12;
        }
        left -= 1;
        let before = u16::from_be_bytes([frame[48], frame[49]]);
        let after = before.min(most);
        frame[48..50].copy_from_slice(&after.to_be_bytes());
        let sum = u16::from_be_bytes([frame[50], frame[51]]);
        let sum = u32::from(!sum) + u32::from(!before) + u32::from(after);
        let sum = (sum & 0xffff) + (sum >> 16);
        let sum = ((sum & 0xffff) + (sum >> 16)) as u16;
        frame[50..52].copy_from_slice(&(!sum).to_be_bytes());
        true
    })
}

/// Whatever is lost, late, twice, cut, refused or probed for, and whoever makes FPDUs, of whatever size: each segment behind the start-up is one of them.
#[test]
fn each_segment_is_one_fpdu() {
    let rungs = [Rung::Placement, Rung::Host, Rung::Crc, Rung::CrcSend];
    let (mut again, mut probes, mut tails, mut made, mut jobs) = (0, 0, 0, 0, 0);
    for seed in 0..96u64 {
        let change = |config: &mut EngineConfig| {
            let n = u64::from(config.ip[3]);
            config.rung = rungs[(seed + n * (seed / 4)) as usize % 4];
            config.timestamps = seed & 8 != 0;
            // A way that is narrower than either end's own.
            config.mtu = [1500, 620, 1500, 576][(seed / 3 % 4) as usize];
            config.fast_path = seed % 5 > 0;
            config.burst = [1, 8][(seed % 2) as usize];
        };
        let faults = match seed % 3 {
            0 => Faults::EVERYTHING,
            1 => Faults {
                loss: 2500,
                reorder: 3000,
                ..Default::default()
            },
            _ => Faults::default(),
        };
        let prepare = |b: &mut Bench| {
            if seed % 4 > 0 {
                b.tamper = Some(windows(seed));
            }
        };
        let mac = [2, 0, 0, 0, 0, 2];
        let params = ConnectParams {
            rtr: [RtrKinds::READ, RtrKinds::WRITE, RtrKinds::SEND][(seed % 3) as usize],
            route: (seed % 6 == 5).then_some(Route {
                next_hop: mac,
                mtu: 600,
            }),
            ..ASKS
        };
        let ways = (&params, &grants(true));
        let b = run_agreed(seed, faults, &change, &prepare, ways);
        for (n, host) in b.hosts.iter().enumerate() {
            let (fpdus, segments) = b.judged_aligned(n);
            let stats = host.engine.stats();
            again += segments - fpdus;
            probes += stats.window_probes;
            tails += stats.tail_probes;
            made += stats.fpdus_made;
            jobs += stats.jobs;
        }
    }
    eprintln!("{again} again, {probes} and {tails} probes, {made} made by software, {jobs} jobs");
    assert!(again > 500 && probes > 200 && tails > 40 && made > 10_000);
}

/// The judge sees what a box makes of it.
#[test]
#[should_panic(expected = "is no FPDU")]
fn a_box_that_cuts_is_seen() {
    let mut b = Bench::new(3);
    b.middlebox = Some(Middlebox::new(
        3,
        Cuts {
            sizes: (900, 1100),
            ends: false,
            fill: false,
            window: 1 << 20,
        },
    ));
    let pair = b.connect(&ASKS, &grants(true));
    long_writes(&mut b, &pair, 8);
    b.until("all Writes", 60_000 * MS, |b| {
        b.hosts[0].completions.len() == 8
    });
    b.judged_aligned(0);
}

/// The frame of 2007 is no FPDU, and has a segment of its own.
#[test]
fn behind_the_frame_of_2007() {
    for seed in 0..6 {
        let mut b = Bench::new(seed);
        b.faults.loss = [0, 3000][seed as usize % 2];
        let params = ConnectParams {
            rtr: RtrKinds::FRAME,
            ..ASKS
        };
        let accept = AcceptParams {
            rtr: RtrKinds::FRAME,
            ..grants(true)
        };
        let pair = b.connect(&params, &accept);
        assert!(agreed(&b, &pair));
        long_writes(&mut b, &pair, 8);
        b.until("all Writes", 60_000 * MS, |b| {
            b.hosts[0].completions.len() == 8
        });
        let (fpdus, segments) = b.judged_aligned(0);
        assert!(fpdus >= 8 * 45 && segments >= fpdus, "{fpdus}");
    }
}
