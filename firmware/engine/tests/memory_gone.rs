//! Memory that is no longer registered is not read: not by a Read Response, not by a retransmission. And memory
//! whose work request has completed is not read either.
#![allow(missing_docs)]

use crate::bench;

use std::collections::HashSet;

use bench::oracle::fpdu;
use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode, ReadRequest};
use weft_wire::terminate::Terminate;

const SIZE: u32 = 40_000;
const IOVA: u64 = card::MEMORY + 0x1000;
const OLD: u8 = 0x11;
const SECRET: u8 = 0xee;

struct Setup {
    s: Script,
    qp: QpId,
    stag: u32,
}

/// A connection that stands; the peer's Read of `SIZE` bytes has come, and `window` lets some of its response
/// out.
fn reading(window: u16) -> Setup {
    let mut s = Script::new(false);
    let qp = s.qp();
    let access = Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_INVALIDATE;
    let (pd, card) = (s.pd, &mut s.card);
    card.bytes(IOVA, SIZE as usize).unwrap().fill(OLD);
    let stag = s
        .engine
        .register(pd, 0x1000, IOVA, SIZE.into(), access, card)
        .unwrap();
    s.engine
        .post_recv(s.now, qp, &RecvWr { id: 1, sges: &[] }, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    s.auto_ack = false;
    s.window = window;
    let header = DdpHeader::untagged(true, control(opcode::READ_REQUEST), 0, 1, 1, 0);
    s.data(&message(&header, &request(stag, 0).to_bytes()));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    s.wait(100 * US);
    Setup { s, qp, stag }
}

fn request(stag: u32, sent: u32) -> ReadRequest {
    ReadRequest {
        sink_stag: 0x1234_5678,
        sink_to: 0x9000 + u64::from(sent),
        size: SIZE - sent,
        source_stag: stag,
        source_to: 0x1000 + u64::from(sent),
    }
}

impl Setup {
    /// The application takes its memory back and uses it for something else.
    fn take_back(&mut self) {
        self.s
            .engine
            .deregister(self.s.now, self.stag, &mut self.s.card)
            .unwrap();
        self.reuse();
    }

    fn reuse(&mut self) {
        // What was posted before is read before: the driver waits for that.
        self.s.work();
        self.s.card.bytes(IOVA, SIZE as usize).unwrap().fill(SECRET);
    }

    /// Everything sent so far is acknowledged.
    fn acknowledge(&mut self, window: u16) {
        let last = self.s.sent.iter().rfind(|s| !s.payload.is_empty()).unwrap();
        self.s.ack = last.seq.wrapping_add(last.payload.len() as u32);
        self.s.window = window;
        self.s.acknowledge();
    }

    /// Payload octets of the Read Responses sent so far that have this value; those of a segment that was sent again unchanged
    /// count once.
    fn told(&self, byte: u8) -> usize {
        let mut count = 0;
        let mut seen = HashSet::new();
        for sent in &self.s.sent {
            if !seen.insert((sent.seq, &sent.payload)) {
                continue;
            }
            for ulpdu in fpdu::ulpdus(&sent.payload) {
                let (header, payload) = DdpHeader::parse(&ulpdu).unwrap();
                if header.rdmap_control == control(opcode::READ_RESPONSE) {
                    count += payload.iter().filter(|b| **b == byte).count();
                }
            }
        }
        count
    }

    fn fatal(&self) -> Option<Option<u16>> {
        self.s.events.iter().find_map(|event| match event {
            Event::QpFatal { terminate, .. } => Some(terminate.map(|code| code.0)),
            _ => None,
        })
    }

    /// The code and the Read Request of the Terminate that was sent.
    fn terminate(&self) -> Option<(u16, Option<ReadRequest>)> {
        let sent = self.s.sent.iter();
        let mut ulpdus = sent.flat_map(|sent| fpdu::ulpdus(&sent.payload));
        ulpdus.find_map(|ulpdu| {
            let (header, payload) = DdpHeader::parse(&ulpdu)?;
            if header.rdmap_control != control(opcode::TERMINATE) {
                return None;
            }
            let found = Terminate::parse(payload)?;
            let request = found.read_request.and_then(ReadRequest::parse);
            assert!(found.ddp.is_some());
            Some((found.code.0, request))
        })
    }
}

#[test]
fn a_response_half_sent_stops_when_its_source_is_deregistered() {
    let mut t = reading(6000);
    let sent = t.told(OLD) as u32;
    assert!(sent > 1000 && sent < SIZE, "{sent}");
    t.take_back();
    t.acknowledge(60_000);
    t.s.wait(10 * MS);
    assert_eq!(t.told(SECRET), 0, "memory that is no longer registered");
    // RFC 5040 §4.8: the request as far as it has come.
    assert_eq!(t.terminate(), Some((0x0100, Some(request(t.stag, sent)))));
    assert_eq!(t.fatal(), Some(Some(0x0100)));
    assert_eq!(t.s.engine.stats().reads_revoked, 1);
}

#[test]
fn a_response_not_begun_neither() {
    let mut t = reading(0);
    assert_eq!(t.told(OLD), 0);
    t.take_back();
    t.s.window = 60_000;
    t.s.acknowledge();
    t.s.wait(10 * MS);
    assert_eq!((t.told(OLD), t.told(SECRET)), (0, 0));
    assert_eq!(t.terminate(), Some((0x0100, Some(request(t.stag, 0)))));
}

/// Wholly sent, but lost on the way: it cannot be sent again. Even if the STag means another region by now.
#[test]
fn a_response_that_was_lost_is_not_sent_again() {
    for reused in [false, true] {
        let mut t = reading(60_000);
        // The congestion window opens until everything is sent; the last of it is lost.
        while t.told(OLD) < SIZE as usize {
            t.acknowledge(60_000);
        }
        t.take_back();
        if reused {
            let other = t.s.engine.alloc_pd();
            let (engine, card) = (&mut t.s.engine, &mut t.s.card);
            let mut same = false;
            for _ in 0..200_000 {
                let stag = engine
                    .register(other, 0x1000, IOVA, SIZE.into(), Access::REMOTE_READ, card)
                    .unwrap();
                same = stag == t.stag;
                if same {
                    break;
                }
                engine.deregister(t.s.now, stag, card).unwrap();
            }
            assert!(same, "the STag comes back");
        }
        let before = t.s.sent.len();
        t.s.wait(10_000 * MS);
        assert_eq!(t.told(SECRET), 0, "reused {reused}");
        assert_eq!(t.fatal(), Some(None));
        assert!(t.s.sent[before..].iter().any(|s| s.flags & 4 != 0), "RST");
        assert_eq!(t.s.engine.stats().reads_revoked, 1);
        assert_eq!(t.s.engine.qp_state(t.qp), Ok(QpState::Error));
    }
}

/// What arrived needs no memory: the stream goes on.
#[test]
fn a_response_that_arrived_ends_nothing() {
    let mut t = reading(60_000);
    while t.told(OLD) < SIZE as usize {
        t.acknowledge(60_000);
    }
    t.take_back();
    t.acknowledge(60_000);
    t.s.wait(10_000 * MS);
    assert_eq!((t.fatal(), t.told(SECRET)), (None, 0));
    assert_eq!(t.s.engine.qp_state(t.qp), Ok(QpState::Rts));
}

/// The peer invalidates what it is still reading.
#[test]
fn an_invalidated_source_is_not_read_further() {
    let mut t = reading(6000);
    let sent = t.told(OLD) as u32;
    let send = DdpHeader::untagged(true, control(opcode::SEND_INVALIDATE), t.stag, 0, 1, 0);
    let unit = message(&send, &[]);
    t.s.data(&unit);
    assert_eq!(t.s.completions.len(), 1);
    assert_eq!(t.s.completions[0].invalidated, Some(t.stag));
    t.reuse();
    t.acknowledge(60_000);
    t.s.wait(10 * MS);
    assert_eq!(t.told(SECRET), 0);
    assert_eq!(t.terminate(), Some((0x0100, Some(request(t.stag, sent)))));
}

#[test]
fn own_work_keeps_its_regions() {
    let mut t = reading(60_000);
    let access = Access::LOCAL_WRITE | Access::READ_SINK;
    let (now, pd) = (t.s.now, t.s.pd);
    let engine = &mut t.s.engine;
    let mut stags = [0; 3];
    for stag in &mut stags {
        *stag = engine
            .register(pd, 0x1000, IOVA, 100, access, &mut t.s.card)
            .unwrap();
    }
    let sges = stags.map(|stag| [sge(stag, 0, 10)]);
    engine
        .post_send(now, t.qp, &write(1, 7, 0, &sges[0]), &mut t.s.card)
        .unwrap();
    engine
        .post_send(now, t.qp, &read(2, 7, 0, &sges[1]), &mut t.s.card)
        .unwrap();
    let recv = RecvWr {
        id: 3,
        sges: &sges[2],
    };
    engine.post_recv(now, t.qp, &recv, &mut t.s.card).unwrap();
    for stag in stags {
        assert_eq!(
            engine.deregister(now, stag, &mut t.s.card),
            Err(Error::InUse)
        );
    }
    engine.destroy_qp(now, t.qp, &mut t.s.card).unwrap();
    for stag in stags {
        engine.deregister(now, stag, &mut t.s.card).unwrap();
        let unknown = Err(Error::UnknownStag(stag));
        assert_eq!(engine.deregister(now, stag, &mut t.s.card), unknown);
    }
}

/// A Send is acknowledged while the card has not yet read its memory once more, for a retransmission that
/// turns out to be needless: it completes only when that is done.
#[test]
fn a_send_completes_when_its_last_job_is_done() {
    let mut t = reading(60_000);
    while t.told(OLD) < SIZE as usize {
        t.acknowledge(60_000);
    }
    t.acknowledge(60_000);
    let (now, pd) = (t.s.now, t.s.pd);
    let at = IOVA + 0x10_0000;
    t.s.card.bytes(at, 100).unwrap().fill(OLD);
    let stag =
        t.s.engine
            .register(pd, 0x1000, at, 100, Access::NONE, &mut t.s.card)
            .unwrap();
    t.s.engine
        .post_send(now, t.qp, &send(5, &[sge(stag, 0, 100)]), &mut t.s.card)
        .unwrap();
    t.s.work();
    // The timer expires; the job of the retransmission waits in the ring.
    // (A deadline of what was sent before may come first, for nothing.)
    for _ in 0..2 {
        if t.s.engine.stats().retransmits == 0 {
            t.s.now = t.s.engine.next_deadline().unwrap();
            t.s.engine.on_timer(t.s.now, &mut t.s.card);
        }
    }
    assert_eq!(t.s.engine.stats().retransmits, 1);
    // The acknowledgment of the first one comes.
    let last = t.s.sent.iter().rfind(|s| !s.payload.is_empty()).unwrap();
    t.s.ack = last.seq.wrapping_add(last.payload.len() as u32);
    let options = Default::default();
    let frame = t.s.frame(weft_wire::tcp::flag::ACK, t.s.seq, options, &[]);
    t.s.card.receive(&frame);
    let mut polled = 0;
    for _ in 0..3 {
        while let Some((report, raw)) = t.s.card.take_report() {
            t.s.engine
                .on_report(t.s.now, &report, raw.as_deref(), &mut t.s.card);
        }
        assert_eq!(
            t.s.engine.poll_completion(),
            None,
            "the card still reads it"
        );
        t.s.now = t.s.engine.next_deadline().unwrap();
        t.s.engine.on_timer(t.s.now, &mut t.s.card);
        polled += 1;
    }
    assert_eq!(polled, 3);
    let before = t.s.sent.len();
    t.s.wait(MS);
    assert_eq!(t.s.completions.len(), 1);
    t.s.card.bytes(at, 100).unwrap().fill(SECRET);
    t.s.wait(10_000 * MS);
    let again = &t.s.sent[before..];
    assert!(again.iter().any(|s| s.payload.contains(&OLD)));
    assert!(again.iter().all(|s| !s.payload.contains(&SECRET)));
}
