//! Nothing waits without something that wakes it.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};
use weft_wire::tcp::{flag, Options};

/// An established connection whose send queue holds so much; the peer has sent its first message.
fn standing(send_depth: u32) -> (Script, QpId, u32) {
    let mut s = Script::new(false);
    let config = QpConfig {
        pd: s.pd,
        send_depth,
        recv_depth: 16,
        max_sge: 4,
        rung: None,
    };
    let qp = s.engine.create_qp(&config, &mut s.card).unwrap();
    let access = Access::LOCAL_WRITE | Access::REMOTE_READ | Access::READ_SINK;
    let stag = s
        .engine
        .register(s.pd, 0x1000, card::MEMORY, 10_000, access, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let write = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
    s.data(&message(&write, &[]));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    s.wait(US * 100);
    (s, qp, stag)
}

/// More small messages than segments may be in flight; all of them are acknowledged while the card still has
/// the retransmission of the oldest one to do.
#[test]
fn a_deep_queue_behind_a_slow_retransmission() {
    const COUNT: u64 = 300;
    let (mut s, qp, stag) = standing(512);
    s.auto_ack = false;
    for id in 0..COUNT {
        let sges = [sge(stag, 0, 1)];
        let wr = write(id, 1 << 8, 0, &sges);
        s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
        s.card.run_jobs();
    }
    s.work();
    let sent = |s: &Script| s.sent.iter().filter(|s| !s.payload.is_empty()).count();
    assert_eq!(sent(&s), 256, "as many segments as there may be");
    // Probes go, then the timer expires; the card takes its time.
    while s.engine.stats().timeouts == 0 {
        s.now = s.engine.next_deadline().unwrap();
        s.engine.on_timer(s.now, &mut s.card);
    }
    assert!(s.engine.stats().tail_probes > 0);
    // Meanwhile everything is acknowledged.
    let last = s.sent.iter().rfind(|s| !s.payload.is_empty()).unwrap();
    s.ack = last.seq.wrapping_add(last.payload.len() as u32);
    let frame = s.frame(flag::ACK, s.seq, Options::default(), &[]);
    s.card.receive(&frame);
    while let Some((report, raw)) = s.card.take_report() {
        s.engine
            .on_report(s.now, &report, raw.as_deref(), &mut s.card);
    }
    assert!(s.completions.is_empty());
    s.auto_ack = true;
    s.wait(10_000 * MS);
    assert_eq!(s.completions.len() as u64, COUNT, "{:?}", s.engine.stats());
}
