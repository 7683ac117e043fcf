//! Acknowledgments beside data: the peer hears of a gap although there is always something to send.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};
use weft_wire::tcp::{flag, Options};

/// Each segment beyond the gap acknowledges new data, so that each is answered by more data.
#[test]
fn a_gap_is_told_while_data_goes_out() {
    for sack in [true, false] {
        let mut s = Script::with(false, &|config| config.burst = 1);
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let stag = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 1 << 20, access, &mut s.card)
            .unwrap();
        s.open(Options {
            mss: Some(1460),
            sack_permitted: sack,
            ..Default::default()
        });
        s.data(&Script::request(RtrKinds::NONE, b""));
        let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() else {
            panic!("{:?}", s.events);
        };
        s.engine
            .accept(s.now, conn, qp, &AcceptParams::default(), &mut s.card)
            .unwrap();
        s.work();
        let empty = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
        s.data(&message(&empty, &[]));
        s.wait(MS);
        s.auto_ack = false;
        let sges = [sge(stag, 0, 1 << 19)];
        s.sent.clear();
        let wr = write(1, 1 << 8, 0, &sges);
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
        s.work();
        // One segment is lost; five more arrive.
        let unit = |at: u64| {
            let header = DdpHeader::tagged(true, control(opcode::WRITE), stag, 0x1000 + at);
            message(&header, &[at as u8; 100])
        };
        let lost_at = s.seq;
        let lost = unit(0);
        s.seq = s.seq.wrapping_add(lost.len() as u32);
        let beyond = s.seq;
        for n in 1..6u64 {
            s.sent.retain(|s| !s.payload.is_empty());
            let first = s.sent.remove(0);
            s.ack = first.seq.wrapping_add(first.payload.len() as u32);
            let before = s.sent.len();
            s.data(&unit(n * 100));
            let note = format!("sack {sack}, segment {n}: {:?}", s.engine.stats());
            let data = s.sent[before..].iter().filter(|s| !s.payload.is_empty());
            assert!(data.count() > 0, "{note}");
            let pure: Vec<_> = s.sent.iter().filter(|s| s.payload.is_empty()).collect();
            assert_eq!(pure.len(), 1, "{note}");
            assert_eq!((pure[0].ack, pure[0].flags), (lost_at, flag::ACK), "{note}");
            let blocks = pure[0].options.sack;
            if sack {
                assert_eq!(blocks.as_slice(), &[(beyond, s.seq)], "{note}");
            } else {
                assert_eq!(blocks.as_slice(), &[], "{note}");
            }
        }
        assert_eq!(s.engine.stats().acks_beside_data, 5);
        // When it is filled, data alone says so.
        s.sent.retain(|s| !s.payload.is_empty());
        let first = s.sent.remove(0);
        s.ack = first.seq.wrapping_add(first.payload.len() as u32);
        let before = s.sent.len();
        s.send(flag::ACK, lost_at, Options::default(), &lost);
        assert!(s.sent[before..].iter().all(|s| !s.payload.is_empty()));
        assert!(s.sent[before..].iter().any(|sent| sent.ack == s.seq));
    }
}

/// The sender of a Write waits for its acknowledgment, and nobody here hears of it who would answer: it goes with what is due
/// when all that has come was handled. In the middle of a Write there may be company.
#[test]
fn the_end_of_a_write_is_acknowledged_promptly() {
    for (prompt_ack, fast_path) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut s = Script::with(false, &|config| {
            config.prompt_ack = prompt_ack;
            config.fast_path = fast_path;
        });
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let stag = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 1 << 20, access, &mut s.card)
            .unwrap();
        s.accepted(qp, RtrKinds::READ, &AcceptParams::default());
        s.wait(MS);
        let unit = |last: bool| {
            let header = DdpHeader::tagged(last, control(opcode::WRITE), stag, 0x1000);
            message(&header, &[7; 100])
        };
        for (last, soon) in [(false, false), (true, prompt_ack)] {
            s.sent.clear();
            s.data(&unit(last));
            s.wait(0);
            let note = format!("prompt {prompt_ack}, fast path {fast_path}, last {last}");
            assert_eq!(s.sent.len(), usize::from(soon), "{note}");
            s.wait(MS);
            assert_eq!(s.sent.len(), 1, "{note}");
            assert_eq!(s.sent[0].ack, s.seq, "{note}");
        }
    }
}

/// The same where software places it: a window of type 2 is for one queue pair, and the card knows nothing of it.
#[test]
fn the_end_of_a_write_by_a_window_is_acknowledged_promptly() {
    for prompt_ack in [true, false] {
        let mut s = Script::with(false, &|config| config.prompt_ack = prompt_ack);
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::BIND;
        let region = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 1 << 20, access, &mut s.card)
            .unwrap();
        s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
        // It stands with the first FPDU.
        let empty = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
        s.data(&message(&empty, &[]));
        s.wait(MS);
        let window = s.engine.alloc_stag(s.pd, StagKind::Window2).unwrap();
        let stag = window & !0xff | (window + 1) & 0xff;
        let bind = SendWr {
            op: SendOp::Bind(Binding {
                stag,
                base_to: 0,
                region,
                region_to: 0x1000,
                length: 1000,
                access: Access::REMOTE_WRITE,
            }),
            ..send(1, &[])
        };
        s.engine.post_send(s.now, qp, &bind, &mut s.card).unwrap();
        s.work();
        for (last, soon) in [(false, false), (true, prompt_ack)] {
            let header = DdpHeader::tagged(last, control(opcode::WRITE), stag, 0);
            s.sent.clear();
            let software = s.engine.stats().fpdus_software;
            s.data(&message(&header, &[7; 100]));
            s.wait(0);
            let note = format!("prompt {prompt_ack}, last {last}");
            assert_eq!(s.engine.stats().fpdus_software, software + 1, "{note}");
            assert_eq!(s.sent.len(), usize::from(soon), "{note}");
            s.wait(MS);
            assert_eq!(s.sent.len(), 1, "{note}");
            assert_eq!(s.sent[0].ack, s.seq, "{note}");
        }
    }
}

/// The sender of a Send waits as well, but here a program hears of it. An answer carries the acknowledgment; without one it goes
/// after a tenth of the time.
#[test]
fn the_end_of_a_send_is_acknowledged_soon() {
    const DELAYED: u64 = 20_000;
    for (prompt_ack, attached, answers) in [
        (true, true, false),
        (true, false, false),
        (true, true, true),
        (false, true, false),
    ] {
        let mut s = Script::with(false, &|config| {
            config.prompt_ack = prompt_ack;
            config.delayed_ack = DELAYED;
            config.attach = attached;
        });
        let qp = s.qp();
        for id in 0..2 {
            let wr = RecvWr { id, sges: &[] };
            s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
        }
        s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
        let send_of = |msn| DdpHeader::untagged(true, control(opcode::SEND), 0, 0, msn, 0);
        s.data(&message(&send_of(1), &[]));
        s.wait(MS);
        s.sent.clear();
        s.data(&message(&send_of(2), &[]));
        s.wait(DELAYED / 10 - 1);
        let note = format!("prompt {prompt_ack}, attached {attached}, answers {answers}");
        assert_eq!(s.sent.len(), 0, "{note}");
        if answers {
            s.engine
                .post_send(s.now, qp, &send(1, &[]), &mut s.card)
                .unwrap();
            s.work();
            assert_eq!(s.sent.len(), 1, "{note}");
            assert_eq!(s.sent[0].ack, s.seq, "{note}");
        }
        s.wait(1);
        assert_eq!(s.sent.len(), usize::from(prompt_ack), "{note}");
        s.wait(DELAYED);
        assert_eq!(s.sent.len(), 1, "{note}");
        assert_eq!(s.sent[0].ack, s.seq, "{note}");
    }
}

/// Who is about to sleep for longer than an acknowledgment may wait has it sent before; where nothing is owed nothing goes.
#[test]
fn what_is_owed_goes_when_the_caller_says_so() {
    for fast_path in [true, false] {
        let mut s = Script::with(false, &|config| config.fast_path = fast_path);
        let qp = s.qp();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let stag = s
            .engine
            .register(s.pd, 0x1000, card::MEMORY, 1 << 20, access, &mut s.card)
            .unwrap();
        s.accepted(qp, RtrKinds::READ, &AcceptParams::default());
        s.wait(MS);
        s.sent.clear();
        let header = DdpHeader::tagged(false, control(opcode::WRITE), stag, 0x1000);
        s.data(&message(&header, &[7; 100]));
        let flow = qp.flow();
        assert!(s.engine.acknowledge(s.now, flow, &mut s.card));
        assert!(!s.engine.acknowledge(s.now, flow, &mut s.card));
        assert!(!s.engine.acknowledge(s.now, flow + 1, &mut s.card));
        s.wait(MS);
        assert_eq!(s.sent.len(), 1, "the timer has nothing left to do");
        assert_eq!(s.sent[0].ack, s.seq);
    }
}
