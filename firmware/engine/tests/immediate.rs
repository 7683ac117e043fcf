//! Immediate Data (RFC 7306 §6): 8 bytes in the next receive and in its completion.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};

const DATA: u64 = 0x0123_4567_89ab_cdef;

fn immediate<'a>(id: u64, solicited: bool, data: u64) -> SendWr<'a> {
    SendWr {
        op: SendOp::Immediate { solicited, data },
        ..send(id, &[])
    }
}

#[test]
fn it_follows_a_write_and_arrives_with_its_value() {
    let mut b = Bench::new(1);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let (s0, i0) = b.hosts[0].region(100, Access::NONE);
    let (s1, i1) = b.hosts[1].region(200, access);
    b.memory(0, i0, 100).fill(0x77);
    // In two pieces, the second one longer than it needs to be.
    let element = [sge(s1, 150, 3), sge(s1, 160, 20)];
    b.post_recv(1, pair.qps[1], 1, &element).unwrap();
    b.post_recv(1, pair.qps[1], 2, &[sge(s1, 180, 8)]).unwrap();
    b.post_recv(1, pair.qps[1], 3, &[]).unwrap();
    let source = [sge(s0, 0, 100)];
    b.post_send(0, pair.qps[0], &write(10, s1, 0x1000, &source))
        .unwrap();
    b.post_send(0, pair.qps[0], &immediate(11, false, DATA))
        .unwrap();
    b.post_send(0, pair.qps[0], &immediate(12, true, !DATA))
        .unwrap();
    b.post_send(0, pair.qps[0], &send(13, &[])).unwrap();
    let got = b.completions_of(1, 3, 1000 * MS);
    let told: Vec<_> = got
        .iter()
        .map(|c| (c.wr_id, c.status, c.byte_len, c.solicited, c.immediate))
        .collect();
    assert_eq!(
        told,
        [
            (1, Status::Success, 8, false, Some(DATA)),
            (2, Status::Success, 8, true, Some(!DATA)),
            (3, Status::Success, 0, false, None),
        ]
    );
    assert!(b.memory(1, i1, 100).iter().all(|byte| *byte == 0x77));
    assert_eq!(b.memory(1, i1 + 150, 3), &DATA.to_be_bytes()[..3]);
    assert_eq!(b.memory(1, i1 + 160, 5), &DATA.to_be_bytes()[3..]);
    assert_eq!(b.memory(1, i1 + 180, 8), (!DATA).to_be_bytes());
    let sent = b.completions_of(0, 4, 1000 * MS);
    assert!(sent
        .iter()
        .all(|c| (c.status, c.immediate) == (Status::Success, None)));
    assert_eq!(sent[1].opcode, Opcode::Send);
}

#[test]
fn it_has_no_other_payload() {
    let mut b = Bench::new(2);
    let qp = b.hosts[0].qp();
    let (stag, _) = b.hosts[0].region(100, Access::NONE);
    let sges = [sge(stag, 0, 8)];
    for payload in [Payload::Sges(&sges), Payload::Inline(b"x")] {
        let wr = SendWr {
            payload,
            ..immediate(1, false, DATA)
        };
        assert_eq!(b.post_send(0, qp, &wr), Err(Error::NoPayloadAllowed));
    }
}

/// What a peer may send is checked: exactly 8 bytes, and room for them.
#[test]
fn another_length_and_a_small_receive_end_the_stream() {
    for way in Way::ALL {
        for solicited in [false, true] {
            let opcode = match solicited {
                false => opcode::IMMEDIATE,
                true => opcode::IMMEDIATE_SE,
            };
            for (length, room, code) in [
                (8usize, 8, None),
                (0, 8, Some(0x0207)),
                (7, 8, Some(0x0207)),
                (9, 16, Some(0x0207)),
                (8, 7, Some(0x1205)),
                (8, 0, Some(0x1205)),
            ] {
                let mut s = Script::by(way);
                let qp = s.qp();
                let iova = card::MEMORY + 0x1000;
                let stag = s
                    .engine
                    .register(s.pd, 0x1000, iova, 100, Access::LOCAL_WRITE, &mut s.card)
                    .unwrap();
                let sges = [sge(stag, 0, room)];
                let wr = RecvWr { id: 1, sges: &sges };
                s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
                s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
                let header = DdpHeader::untagged(true, control(opcode), 0, 0, 1, 0);
                s.data(&message(&header, &DATA.to_le_bytes().repeat(2)[..length]));
                s.wait(MS);
                let what = format!("{length} bytes into {room}, {way:?}");
                assert_eq!(s.terminate().map(|t| t.0), code, "{what}");
                let got = s.completions.iter().find(|c| c.status == Status::Success);
                let got = got.map(|c| (c.wr_id, c.solicited, c.immediate));
                let expected = (1, solicited, Some(DATA.swap_bytes()));
                assert_eq!(got, code.is_none().then_some(expected), "{what}");
            }
        }
    }
}
