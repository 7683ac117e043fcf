//! A Read Response lands only where a Read of this side has asked for it.
#![allow(missing_docs)]

mod bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};

const IOVA: u64 = card::MEMORY + 0x1000;

struct Setup {
    s: Script,
    qp: QpId,
    stag: u32,
}

/// A connection that stands, and a region that Reads may fill; by the card's hands or the engine's.
fn standing(no_attach: bool) -> Setup {
    let mut s = Script::new(no_attach);
    let qp = s.qp();
    let access = Access::LOCAL_WRITE | Access::READ_SINK;
    let stag = s
        .engine
        .register(s.pd, 0x1000, IOVA, 1000, access, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let write = DdpHeader::tagged(true, control(opcode::WRITE), 1, 0);
    s.data(&message(&write, &[]));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    s.wait(100 * US);
    Setup { s, qp, stag }
}

fn response(stag: u32, at: u64, last: bool, payload: &[u8]) -> Vec<u8> {
    let header = DdpHeader::tagged(last, control(opcode::READ_RESPONSE), stag, 0x1000 + at);
    message(&header, payload)
}

impl Setup {
    fn read(&mut self, id: u64, at: u64, length: u32) {
        let sges = [sge(self.stag, at, length)];
        let wr = read(id, 7 << 8, 0, &sges);
        let now = self.s.now;
        self.s
            .engine
            .post_send(now, self.qp, &wr, &mut self.s.card)
            .unwrap();
        self.s.work();
    }

    fn memory(&mut self) -> Vec<u8> {
        self.s.card.bytes(IOVA, 1000).unwrap().to_vec()
    }

    #[track_caller]
    fn ends_by(&mut self, code: u16) {
        self.s.wait(MS);
        assert_eq!(self.s.terminate().map(|t| t.0), Some(code));
        assert_eq!(self.s.engine.stats().responses_unasked, 1);
    }
}

#[test]
fn without_a_read_nothing_lands() {
    for no_attach in [false, true] {
        // Before the first Read, and after the last one.
        for reads in 0..3u64 {
            let mut t = standing(no_attach);
            for n in 0..reads {
                t.read(n, 100 * n, 50);
            }
            for n in 0..reads {
                let unit = response(t.stag, 100 * n, true, &[7; 50]);
                t.s.data(&unit);
            }
            assert_eq!(t.s.completions.len() as u64, reads);
            let before = t.memory();
            let unit = response(t.stag, 500, true, &[0xbd; 100]);
            t.s.data(&unit);
            let note = format!("no_attach {no_attach}, {reads} Reads");
            assert!(t.memory() == before, "{note}");
            t.ends_by(0x0102);
        }
    }
}

/// While a Read is under way the engine places nothing but what it asked for.
#[test]
fn the_engine_places_what_was_asked_for() {
    for (at, length, code) in [(99, 50, 0x1101), (100, 51, 0x1101)] {
        let mut t = standing(true);
        t.read(1, 100, 50);
        let unit = response(t.stag, at, true, &vec![0xbd; length]);
        t.s.data(&unit);
        assert!(t.memory() == [0; 1000]);
        t.ends_by(code);
    }
}

/// The card judges by the region: it is open for the two Reads together, and closed behind the last.
#[test]
fn the_right_is_there_as_long_as_a_read_is() {
    let mut t = standing(false);
    let open = |t: &Setup| t.s.card.stag_row(t.stag).access & 8 != 0;
    assert!(!open(&t));
    t.read(1, 0, 50);
    t.read(2, 100, 50);
    assert!(open(&t));
    let unit = response(t.stag, 0, false, &[1; 20]);
    t.s.data(&unit);
    let unit = response(t.stag, 20, true, &[1; 30]);
    t.s.data(&unit);
    assert_eq!(t.s.completions.len(), 1);
    assert!(open(&t));
    let unit = response(t.stag, 100, true, &[2; 50]);
    t.s.data(&unit);
    assert_eq!(t.s.completions.len(), 2);
    assert!(!open(&t));
    // A Read that is never answered closes with its queue pair.
    t.read(3, 0, 50);
    assert!(open(&t));
    t.s.engine.destroy_qp(t.s.now, t.qp, &mut t.s.card).unwrap();
    assert!(!open(&t));
    t.s.engine
        .deregister(t.s.now, t.stag, &mut t.s.card)
        .unwrap();
}

/// A job ring without room leaves no right behind, nor does it take one away.
#[test]
fn a_full_job_ring_counts_nothing() {
    let mut t = standing(false);
    let open = |t: &Setup| t.s.card.stag_row(t.stag).access & 8 != 0;
    let ring = std::mem::replace(&mut t.s.card.ring, 0);
    t.read(1, 0, 50);
    assert!(t.s.engine.stats().jobs_full > 0);
    assert!(!open(&t));
    t.s.card.ring = ring;
    t.s.wait(MS);
    assert!(open(&t));
    let unit = response(t.stag, 0, true, &[1; 50]);
    t.s.data(&unit);
    assert_eq!(t.s.completions.len(), 1);
    assert!(!open(&t));
}
