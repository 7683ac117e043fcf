//! Exact boundaries: numbers far off, SGEs of no length, FPDUs that end at a marker, domains.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode, ReadRequest};

fn all_access() -> Access {
    Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK
}

fn standing(way: Way) -> (Script, QpId, u32) {
    let mut s = Script::by(way);
    let qp = s.qp();
    let stag = s
        .engine
        .register(s.pd, 0x1000, card::MEMORY, 1000, all_access(), &mut s.card)
        .unwrap();
    for id in 0..3 {
        let wr = RecvWr {
            id,
            sges: &[sge(stag, 0, 100)],
        };
        s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
    }
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let first = DdpHeader::untagged(true, control(opcode::SEND), 0, 0, 1, 0);
    s.data(&message(&first, &[]));
    s.wait(MS);
    assert_eq!(s.completions.len(), 1);
    s.completions.clear();
    (s, qp, stag)
}

/// A message number is right or wrong; there is no near.
#[test]
fn message_numbers_far_off() {
    let far = [
        1,
        2,
        15,
        16,
        255,
        0x7fff_fffe,
        0x7fff_ffff,
        1 << 31,
        (1 << 31) + 1,
        u32::MAX,
    ];
    for off in far {
        for way in Way::ALL {
            for queue in [0, 1] {
                let (mut s, _, stag) = standing(way);
                let header = |msn: u32| match queue {
                    0 => DdpHeader::untagged(true, control(opcode::SEND), 0, 0, msn, 0),
                    _ => DdpHeader::untagged(true, control(opcode::READ_REQUEST), 0, 1, msn, 0),
                };
                let request = ReadRequest {
                    sink_stag: 5,
                    source_stag: stag,
                    source_to: 0x1000,
                    size: 10,
                    ..Default::default()
                };
                let next = if queue == 0 { 2u32 } else { 1 };
                let payload = request.to_bytes();
                s.data(&message(&header(next.wrapping_add(off)), &payload));
                s.wait(MS);
                let note = format!("queue {queue}, {off:#x} off, {way:?}");
                assert_eq!(s.terminate().map(|t| t.0), Some(0x1203), "{note}");
                let received = s.completions.iter().any(|c| c.status == Status::Success);
                assert!(!received, "{note}");
                assert_eq!(s.card.bytes(card::MEMORY, 100).unwrap(), [0; 100], "{note}");
            }
        }
    }
}

/// MO has no near either.
#[test]
fn message_offsets_far_off() {
    for off in [1, 4, 0x7fff_ffff, 1 << 31, u32::MAX - 9, u32::MAX] {
        for way in Way::ALL {
            let (mut s, _, _) = standing(way);
            let part = |last, mo| DdpHeader::untagged(last, control(opcode::SEND), 0, 0, 2, mo);
            s.data(&message(&part(false, 0), &[7; 10]));
            s.data(&message(&part(true, 10u32.wrapping_add(off)), &[8; 10]));
            s.wait(MS);
            let note = format!("{off:#x} off, {way:?}");
            assert_eq!(s.terminate().map(|t| t.0), Some(0x1204), "{note}");
            let memory = s.card.bytes(card::MEMORY, 100).unwrap();
            assert!(!memory.contains(&8), "{note}");
        }
    }
}

/// Wherever the SGEs without length stand, they are not there.
#[test]
fn sges_without_length() {
    for way in Way::ALL {
        let lists: [&[(u64, u32)]; 6] = [
            &[(0, 0), (100, 30), (200, 20)],
            &[(100, 30), (0, 0), (200, 20)],
            &[(0, 0), (100, 30), (0, 0), (200, 20)],
            &[(0, 0), (0, 0), (0, 0), (100, 50)],
            &[(100, 50), (0, 0)],
            &[(100, 30), (200, 20), (0, 0), (0, 0)],
        ];
        for (case, list) in lists.into_iter().enumerate() {
            let mut b = Bench::by(way, 60 + case as u64);
            let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
            let (s0, i0) = b.hosts[0].region(2000, all_access());
            let (s1, i1) = b.hosts[1].region(2000, all_access());
            for (n, iova) in [(0, i0), (1, i1)] {
                for (i, byte) in b.memory(n, iova, 400).iter_mut().enumerate() {
                    *byte = (i + 100 * n) as u8;
                }
            }
            let sges = |stag: u32, far: u64| -> Vec<Sge> {
                let at = |&(at, length): &(u64, u32)| match length {
                    // Not even an STag is asked for.
                    0 => Sge::default(),
                    length => sge(stag, far + at, length),
                };
                list.iter().map(at).collect()
            };
            let gather = |memory: &[u8]| -> Vec<u8> {
                list.iter()
                    .flat_map(|&(at, length)| &memory[at as usize..at as usize + length as usize])
                    .copied()
                    .collect()
            };
            let note = format!("case {case}, {way:?}");
            b.post_recv(1, pair.qps[1], 9, &sges(s1, 1000)).unwrap();
            b.post_send(0, pair.qps[0], &send(1, &sges(s0, 0))).unwrap();
            let source = b.memory(0, i0, 400).to_vec();
            let got = b.completions_of(1, 1, 1000 * MS);
            assert_eq!(
                (got[0].status, got[0].byte_len),
                (Status::Success, 50),
                "{note}"
            );
            let found = b.memory(1, i1 + 1000, 400).to_vec();
            assert_eq!(gather(&found), gather(&source), "{note}");
            // A Read into them.
            b.post_send(0, pair.qps[0], &read(2, s1, 0x1000, &sges(s0, 1000)))
                .unwrap();
            let got = b.completions_of(0, 2, 1000 * MS);
            assert!(got.iter().all(|c| c.status == Status::Success), "{note}");
            let found = b.memory(0, i0 + 1000, 400).to_vec();
            assert_eq!(gather(&found), b.memory(1, i1, 50), "{note}");
            b.judge([false; 2]);
        }
    }
}

/// Every length near those with which an FPDU, its pad or its CRC ends at a marker.
#[test]
fn fpdus_that_end_at_a_marker() {
    for way in Way::ALL {
        let mut b = Bench::by(way, 70);
        let params = ConnectParams {
            markers: true,
            ..Default::default()
        };
        let accept = AcceptParams {
            markers: true,
            ..Default::default()
        };
        let pair = b.connect(&params, &accept);
        let (s0, i0) = b.hosts[0].region(3000, all_access());
        let (s1, i1) = b.hosts[1].region(3000, all_access());
        for (i, byte) in b.memory(0, i0, 3000).iter_mut().enumerate() {
            *byte = (i * 3 + i / 256) as u8 | 1;
        }
        // 14 or 18 octets of header, 2 of length and 4 of CRC: each of these walks over the markers' places.
        for length in (460..520).chain(960..1040) {
            b.memory(1, i1, 3000).fill(0);
            let from = [sge(s0, u64::from(length % 7), length)];
            b.post_recv(1, pair.qps[1], 1, &[sge(s1, 1500, 1500)])
                .unwrap();
            b.post_send(0, pair.qps[0], &write(1, s1, 0x1000, &from))
                .unwrap();
            b.post_send(0, pair.qps[0], &send(2, &from)).unwrap();
            let got = b.completions_of(1, 1, 1000 * MS);
            assert_eq!(got[0].byte_len, length);
            b.completions_of(0, 2, 1000 * MS);
            let at = i0 + u64::from(length % 7);
            let sent = b.memory(0, at, length as usize).to_vec();
            for place in [i1, i1 + 1500] {
                let note = format!("{length} octets, {way:?}");
                assert!(b.memory(1, place, length as usize) == &sent[..], "{note}");
                assert_eq!(b.memory(1, place + u64::from(length), 1), [0], "{note}");
            }
        }
        b.judge([true; 2]);
    }
}

/// A Send with Invalidate reaches the regions of its own domain only.
#[test]
fn invalidation_stays_in_its_domain() {
    for way in Way::ALL {
        let (mut s, _, _) = standing(way);
        let other = s.engine.alloc_pd();
        let access = all_access() | Access::REMOTE_INVALIDATE;
        let theirs = s
            .engine
            .register(other, 0x1000, card::MEMORY + 4096, 100, access, &mut s.card)
            .unwrap();
        let ours = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY + 4096, 100, access, &mut s.card)
            .unwrap();
        let send = |stag, msn| {
            DdpHeader::untagged(true, control(opcode::SEND_INVALIDATE), stag, 0, msn, 0)
        };
        s.data(&message(&send(ours, 2), &[]));
        assert_eq!(s.completions[0].invalidated, Some(ours));
        assert_eq!(s.card.stag_row(ours).valid, 0);
        s.data(&message(&send(theirs, 3), &[]));
        s.wait(MS);
        assert_eq!(s.terminate().map(|t| t.0), Some(0x0103), "{way:?}");
        assert_eq!(s.card.stag_row(theirs).valid, 1, "{way:?}");
        assert!(s.completions[1..].iter().all(|c| c.invalidated.is_none()));
        s.engine.deregister(s.now, theirs, &mut s.card).unwrap();
        s.engine.deregister(s.now, ours, &mut s.card).unwrap();
        s.engine.dealloc_pd(other).unwrap();
    }
}
