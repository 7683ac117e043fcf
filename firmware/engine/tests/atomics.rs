//! Atomics (RFC 7306 §5): both ends, their order, and what is refused.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode, AtomicRequest, AtomicResponse};

const RIGHTS: Access = Access::REMOTE_ATOMIC;

fn atomic<'a>(id: u64, stag: u32, to: u64, atomic: Atomic, sink: &'a [Sge]) -> SendWr<'a> {
    SendWr {
        op: SendOp::Atomic { stag, to, atomic },
        ..send(id, sink)
    }
}

fn add(add: u64) -> Atomic {
    Atomic::FetchAdd { add, mask: 0 }
}

fn swap(compare: u64, swap: u64) -> Atomic {
    Atomic::CmpSwap {
        compare,
        compare_mask: u64::MAX,
        swap,
        swap_mask: u64::MAX,
    }
}

fn number(b: &mut Bench, host: usize, iova: u64) -> u64 {
    u64::from_le_bytes(b.memory(host, iova, 8).try_into().unwrap())
}

#[test]
fn they_change_memory_and_say_what_was_there() {
    for way in Way::ALL {
        for lossy in [false, true] {
            let mut b = Bench::by(way, 1);
            let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
            if lossy {
                b.faults.loss = 3000;
                b.faults.reorder = 5000;
            }
            let (s0, i0) = b.hosts[0].region(80, Access::LOCAL_WRITE);
            let (s1, i1) = b.hosts[1].region(64, RIGHTS | Access::LOCAL_WRITE);
            b.memory(1, i1 + 8, 8).copy_from_slice(&40u64.to_le_bytes());
            let steps = [
                (add(2), 40, 42),
                (swap(41, 9), 42, 42),
                (swap(42, 9), 42, 9),
                (add(u64::MAX), 9, 8),
                (swap(8, 0), 8, 0),
            ];
            // All at once: they are done in their order.
            for (n, (step, _, _)) in steps.iter().enumerate() {
                let sink = [sge(s0, 8 * n as u64, 8)];
                let wr = atomic(n as u64, s1, 0x1008, *step, &sink);
                b.post_send(0, pair.qps[0], &wr).unwrap();
            }
            let got = b.completions_of(0, steps.len(), 60_000 * MS);
            for (n, (step, before, _)) in steps.iter().enumerate() {
                let opcode = match step {
                    Atomic::FetchAdd { .. } => Opcode::FetchAdd,
                    Atomic::CmpSwap { .. } => Opcode::CmpSwap,
                };
                let told = (got[n].wr_id, got[n].status, got[n].opcode, got[n].byte_len);
                assert_eq!(told, (n as u64, Status::Success, opcode, 8));
                assert_eq!(number(&mut b, 0, i0 + 8 * n as u64), *before, "{way:?} {n}");
            }
            assert_eq!(number(&mut b, 1, i1 + 8), 0);
            assert_eq!(number(&mut b, 1, i1), 0, "and nothing beside it");
            assert_eq!(b.hosts[1].engine.stats().atomics, 5);
        }
    }
}

/// Two connections count on one number: nothing is lost. More of them are posted than may be in flight.
#[test]
fn they_are_atomic_among_themselves() {
    let mut b = Bench::new(2);
    let params = ConnectParams {
        ord: 2,
        ..ConnectParams::default()
    };
    let pairs = [(); 2].map(|()| b.connect(&params, &AcceptParams::default()));
    let (s0, i0) = b.hosts[0].region(800, Access::LOCAL_WRITE);
    let (s1, i1) = b.hosts[1].region(8, RIGHTS);
    for n in 0..100u64 {
        let sink = [sge(s0, 8 * n, 8)];
        let qp = pairs[n as usize % 2].qps[0];
        b.post_send(0, qp, &atomic(n, s1, 0x1000, add(1), &sink))
            .unwrap();
    }
    b.completions_of(0, 100, 60_000 * MS);
    assert_eq!(number(&mut b, 1, i1), 100);
    let mut seen: Vec<_> = (0..100).map(|n| number(&mut b, 0, i0 + 8 * n)).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..100), "each value once");
}

/// They go by the Reads' queue: a Read behind one sees what it has done, and a fence waits for it.
#[test]
fn reads_and_fences_keep_their_order() {
    let mut b = Bench::new(3);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let access = Access::LOCAL_WRITE | Access::READ_SINK;
    let (s0, i0) = b.hosts[0].region(64, access);
    let (s1, _) = b.hosts[1].region(8, RIGHTS | Access::REMOTE_READ | Access::REMOTE_WRITE);
    let (first, second, third) = ([sge(s0, 0, 8)], [sge(s0, 8, 8)], [sge(s0, 16, 8)]);
    let qp = pair.qps[0];
    b.post_send(0, qp, &atomic(1, s1, 0x1000, add(5), &first))
        .unwrap();
    b.post_send(0, qp, &read(2, s1, 0x1000, &second)).unwrap();
    b.post_send(0, qp, &atomic(3, s1, 0x1000, add(1), &third))
        .unwrap();
    let fenced = SendWr {
        fence: true,
        ..write(4, s1, 0x1000, &first)
    };
    b.post_send(0, qp, &fenced).unwrap();
    let got = b.completions_of(0, 4, 1000 * MS);
    assert!(got.iter().map(|c| c.wr_id).eq(1..=4));
    assert_eq!(number(&mut b, 0, i0 + 8), 5);
    assert_eq!(number(&mut b, 0, i0 + 16), 5);
}

/// A fence waits for an atomic also where no Read is: what it brought is what is sent.
#[test]
fn a_fence_waits_for_an_atomic_alone() {
    for way in Way::ALL {
        let mut b = Bench::by(way, 6);
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        let (s0, _) = b.hosts[0].region(64, Access::LOCAL_WRITE);
        let rights = RIGHTS | Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let (s1, i1) = b.hosts[1].region(16, rights);
        b.memory(1, i1, 8).copy_from_slice(&77u64.to_le_bytes());
        let sink = [sge(s0, 0, 8)];
        b.post_send(0, pair.qps[0], &atomic(1, s1, 0x1000, add(1), &sink))
            .unwrap();
        let fenced = SendWr {
            fence: true,
            ..write(2, s1, 0x1008, &sink)
        };
        b.post_send(0, pair.qps[0], &fenced).unwrap();
        let got = b.completions_of(0, 2, 1000 * MS);
        assert!(got.iter().all(|got| got.status == Status::Success));
        assert_eq!(number(&mut b, 1, i1 + 8), 77, "{way:?}");
    }
}

/// Who closes in order while atomics wait, for the answers or to be issued, on either side: all are answered first.
#[test]
fn a_close_waits_for_atomics() {
    for way in Way::ALL {
        for closer in 0..2 {
            let mut b = Bench::by(way, 7);
            let params = ConnectParams {
                ord: if closer == 0 { 1 } else { 4 },
                ..ConnectParams::default()
            };
            let pair = b.connect(&params, &AcceptParams::default());
            let taken = |b: &Bench| {
                let stats = b.hosts[1].engine.stats();
                stats.fpdus_card + stats.fpdus_software
            };
            let access = Access::LOCAL_WRITE | Access::READ_SINK;
            let (s0, i0) = b.hosts[0].region(30_000, access);
            let rights = RIGHTS | Access::LOCAL_WRITE | Access::REMOTE_READ;
            let (s1, i1) = b.hosts[1].region(30_000, rights);
            let before = taken(&b);
            // The first waits for the Read's response to be read from memory.
            let list = [sge(s0, 100, 20_000)];
            b.post_send(0, pair.qps[0], &read(0, s1, 0x1000, &list))
                .unwrap();
            let count = 4;
            for n in 1..count {
                let sink = [sge(s0, 8 * n, 8)];
                let wr = atomic(n, s1, 0x1000, add(5), &sink);
                b.post_send(0, pair.qps[0], &wr).unwrap();
            }
            if closer == 1 {
                b.until("the requests", 1000 * MS, |b| taken(b) >= before + count);
            }
            let conn = pair.conns[closer];
            b.call(closer, |e, now, card| e.disconnect(now, conn, card))
                .unwrap();
            let got = b.completions_of(0, count as usize, 10_000 * MS);
            assert!(
                got.iter().all(|got| got.status == Status::Success),
                "{way:?} {closer}: {got:?}"
            );
            for n in 1..count {
                assert_eq!(number(&mut b, 0, i0 + 8 * n), 5 * (n - 1), "{way:?}");
            }
            assert_eq!(number(&mut b, 1, i1), 5 * (count - 1));
            for n in 0..2 {
                let over = b.event_of(n, 100_000 * MS);
                assert!(matches!(over, Event::Disconnected { .. }), "{over:?}");
            }
        }
    }
}

#[test]
fn misuse_is_refused() {
    let mut b = Bench::new(4);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let (good, _) = b.hosts[0].region(64, Access::LOCAL_WRITE);
    let (sink, _) = b.hosts[0].region(64, Access::READ_SINK);
    let qp = pair.qps[0];
    for (list, error) in [
        (vec![], Error::AtomicPayload),
        (vec![sge(good, 0, 7)], Error::AtomicPayload),
        (vec![sge(good, 0, 4), sge(good, 4, 4)], Error::AtomicPayload),
        (vec![sge(sink, 0, 8)], Error::NeedsLocalWrite(sink)),
    ] {
        let refused = b.post_send(0, qp, &atomic(1, 1, 0, add(1), &list));
        assert_eq!(refused, Err(error));
    }
    let inline = SendWr {
        payload: Payload::Inline(&[0; 8]),
        ..atomic(1, 1, 0, add(1), &[])
    };
    assert_eq!(b.post_send(0, qp, &inline), Err(Error::InlineRead));
}

/// What the peer may not, by the code that RFC 7306 §8.2 and RFC 5040 §4.8 have for it.
#[test]
fn what_may_not_be_ends_the_stream() {
    for way in Way::ALL {
        for (stag, to, rights, status, code) in [
            (
                0,
                0x1000,
                Access::REMOTE_WRITE,
                Status::RemoteAccess,
                0x0102,
            ),
            (0, 0x1001, RIGHTS, Status::RemoteOperation, 0x0207),
            (0, 0x1040, RIGHTS, Status::RemoteAccess, 0x0101),
            (1, 0x1000, RIGHTS, Status::RemoteAccess, 0x0100),
        ] {
            let mut b = Bench::by(way, 5);
            let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
            let (s0, _) = b.hosts[0].region(64, Access::LOCAL_WRITE);
            let (s1, i1) = b.hosts[1].region(64, rights);
            let sink = [sge(s0, 0, 8)];
            let wr = atomic(1, s1 ^ stag, to, add(1), &sink);
            b.post_send(0, pair.qps[0], &wr).unwrap();
            assert_eq!(b.completions_of(0, 1, 1000 * MS)[0].status, status);
            let Event::QpFatal { terminate, .. } = b.event_of(1, 1000 * MS) else {
                panic!("{way:?} {code:x}");
            };
            assert_eq!(terminate.map(|code| code.0), Some(code), "{way:?}");
            assert!(b.memory(1, i1, 64).iter().all(|byte| *byte == 0));
        }
    }
}

fn request(msn: u32, request: &AtomicRequest, length: usize) -> Vec<u8> {
    let header = DdpHeader::untagged(true, control(opcode::ATOMIC_REQUEST), 0, 1, msn, 0);
    let mut bytes = request.to_bytes().to_vec();
    bytes.resize(length, 0);
    message(&header, &bytes)
}

/// A peer that knows masks, and one that sends what is none.
#[test]
fn a_scripted_peers_requests() {
    for way in Way::ALL {
        for (change, code) in [
            ("masked", None),
            ("short", Some(0x0207)),
            ("long", Some(0x1205)),
            ("unknown", Some(0x0207)),
            ("msn", Some(0x1203)),
        ] {
            let mut s = Script::by(way);
            let qp = s.qp();
            let iova = card::MEMORY + 0x1000;
            let stag = s
                .engine
                .register(s.pd, 0x1000, iova, 64, RIGHTS, &mut s.card)
                .unwrap();
            s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
            s.card
                .bytes(iova, 8)
                .unwrap()
                .copy_from_slice(&0x00ff_00ff_u64.to_le_bytes());
            let asked = AtomicRequest {
                identifier: 0x1234,
                stag,
                to: 0x1000,
                // Bytes by themselves.
                atomic: Atomic::FetchAdd {
                    add: 0x0101_0101,
                    mask: 0x8080_8080_8080_8080,
                },
            };
            let (msn, length) = match change {
                "msn" => (2, 52),
                "short" => (1, 51),
                "long" => (1, 53),
                _ => (1, 52),
            };
            let mut frame = request(msn, &asked, length);
            if change == "unknown" {
                // Behind ULPDU length and DDP header.
                frame[2 + 18 + 3] = 1;
                frame = fpdu_of(&[&frame[2..2 + 18 + 52]]);
            }
            s.data(&frame);
            s.wait(MS);
            assert_eq!(s.terminate().map(|t| t.0), code, "{change} {way:?}");
            let left = s.card.bytes(iova, 8).unwrap().to_vec();
            let after = match code {
                None => 0x0100_0100_u64,
                Some(_) => 0x00ff_00ff,
            };
            assert_eq!(left, after.to_le_bytes(), "{change}");
            if code.is_none() {
                let answer = AtomicResponse {
                    identifier: 0x1234,
                    value: 0x00ff_00ff,
                };
                let header =
                    DdpHeader::untagged(true, control(opcode::ATOMIC_RESPONSE), 0, 3, 1, 0);
                assert_eq!(s.stream, message(&header, &answer.to_bytes()));
            }
        }
    }
}

/// Answers to nothing, or to something else.
#[test]
fn a_scripted_peers_answers() {
    for way in Way::ALL {
        for (what, identifier, msn, length, code) in [
            ("right", 0, 1, 12, None),
            ("another request's", 1, 1, 12, Some(0x0207)),
            ("short", 0, 1, 11, Some(0x0207)),
            ("long", 0, 1, 13, Some(0x1205)),
            ("out of order", 0, 2, 12, Some(0x1203)),
            ("nobody asked", 0, 1, 12, Some(0x0206)),
            ("a Read's", 0, 1, 0, Some(0x0206)),
        ] {
            let mut s = Script::by(way);
            let qp = s.qp();
            let iova = card::MEMORY + 0x1000;
            let access = Access::LOCAL_WRITE;
            let stag = s
                .engine
                .register(s.pd, 0x1000, iova, 64, access, &mut s.card)
                .unwrap();
            s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
            // The first message of the peer's lets this side send.
            let write = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
            s.data(&message(&write, &[]));
            if what != "nobody asked" {
                let sink = [sge(stag, 8, 8)];
                let wr = atomic(1, 0x700, 0, add(1), &sink);
                s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
                s.work();
            }
            let mut answer = AtomicResponse {
                identifier,
                value: 77,
            }
            .to_bytes()
            .to_vec();
            answer.resize(length, 0);
            let header = match what {
                "a Read's" => DdpHeader::tagged(true, control(opcode::READ_RESPONSE), stag, 0x1008),
                _ => DdpHeader::untagged(true, control(opcode::ATOMIC_RESPONSE), 0, 3, msn, 0),
            };
            // Only what follows the request.
            s.stream.clear();
            s.data(&message(&header, &answer));
            s.wait(MS);
            assert_eq!(s.terminate().map(|t| t.0), code, "{what} {way:?}");
            let placed = s.card.bytes(iova + 8, 8).unwrap().to_vec();
            let expected = if code.is_none() { 77u64 } else { 0 };
            assert_eq!(placed, expected.to_le_bytes(), "{what} {way:?}");
        }
    }
}
