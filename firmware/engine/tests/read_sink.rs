//! A Read Response lands only where a Read of this side has asked for it.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_layout::StagRow;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};
use weft_wire::tcp::{flag, Options};

const IOVA: u64 = card::MEMORY + 0x1000;

struct Setup {
    s: Script,
    qp: QpId,
    stag: u32,
}

/// A connection that stands, and a region that Reads may fill; by the card's hands or the engine's.
fn standing(way: Way) -> Setup {
    standing_with(way, Access::LOCAL_WRITE | Access::READ_SINK)
}

fn standing_with(way: Way, access: Access) -> Setup {
    let mut s = Script::by(way);
    let qp = s.qp();
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
    for way in Way::ALL {
        // Before the first Read, and after the last one.
        for reads in 0..3u64 {
            let mut t = standing(way);
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
            let note = format!("{way:?}, {reads} Reads");
            assert!(t.memory() == before, "{note}");
            t.ends_by(0x0102);
        }
    }
}

/// A Response that comes twice ends the stream by one code, however late the engine is: before it has seen the first, the card's row is
/// open for the second as well. The same where another Read is in flight by then, of another region.
#[test]
fn a_response_twice_ends_by_one_code_whoever_finds_it() {
    for way in Way::ALL {
        for late in [false, true] {
            for another in [false, true] {
                let mut t = standing(way);
                t.read(1, 100, 50);
                if another {
                    let access = Access::LOCAL_WRITE | Access::READ_SINK;
                    let (pd, iova) = (t.s.pd, IOVA + 1000);
                    let card = &mut t.s.card;
                    let region = t.s.engine.register(pd, 0x1000, iova, 1000, access, card);
                    let first = std::mem::replace(&mut t.stag, region.unwrap());
                    t.read(2, 0, 50);
                    t.stag = first;
                }
                let unit = response(t.stag, 100, true, &[7; 50]);
                for _ in 0..2 {
                    let frame = t.s.frame(flag::ACK, t.s.seq, Options::default(), &unit);
                    t.s.seq = t.s.seq.wrapping_add(unit.len() as u32);
                    t.s.card.receive(&frame);
                    if !late {
                        t.s.work();
                    }
                }
                t.s.work();
                assert_eq!(t.s.completions.first().map(|done| done.wr_id), Some(1));
                t.ends_by(0x0102);
            }
        }
    }
}

/// One without data names no memory: what is wrong with it is that it comes.
#[test]
fn a_response_of_nothing_that_nobody_asked_for() {
    for way in Way::ALL {
        let mut t = standing(way);
        let unit = response(1, 0, true, &[]);
        t.s.data(&unit);
        t.ends_by(0x0206);
    }
}

/// While a Read is in flight the engine places nothing but what it asked for.
#[test]
fn the_engine_places_what_was_asked_for() {
    for (at, length, code) in [(99, 50, 0x1101), (100, 51, 0x1101)] {
        let mut t = standing(Way::ByHand);
        t.read(1, 100, 50);
        let unit = response(t.stag, at, true, &vec![0xbd; length]);
        t.s.data(&unit);
        assert!(t.memory() == [0; 1000]);
        t.ends_by(code);
    }
}

/// Behind the card's back the engine judges all the same: what was not asked for ends the stream with the code that says why. The
/// message has to be in order, and of the length that was asked for.
#[test]
fn what_the_card_placed_is_judged_by_the_read() {
    for way in Way::ALL {
        for (at, length, last, code) in [
            (99, 50, true, 0x1101),
            (101, 49, true, 0x1101),
            (100, 51, true, 0x1101),
            (100, 49, true, 0x1101),
            (500, 50, true, 0x1101),
        ] {
            let mut t = standing(way);
            t.read(1, 100, 50);
            let unit = response(t.stag, at, last, &vec![0xbd; length]);
            t.s.data(&unit);
            t.s.wait(MS);
            let note = format!("{way:?}: {length} at {at}");
            assert_eq!(t.s.terminate().map(|t| t.0), Some(code), "{note}");
        }
        // The second half before the first one.
        let mut t = standing(way);
        t.read(1, 100, 50);
        let unit = response(t.stag, 125, true, &[0xbd; 25]);
        t.s.data(&unit);
        t.ends_by(0x1101);
    }
}

/// A region that only Reads may fill is open no further than they reach: what lies beside that is not even placed.
#[test]
fn a_region_for_reads_alone_opens_as_far_as_they_reach() {
    for (at, length) in [(99, 10), (150, 1), (149, 2), (0, 10), (990, 10), (95, 60)] {
        let mut t = standing_with(Way::Card, Access::READ_SINK | Access::REMOTE_READ);
        let range = |t: &Setup| {
            let row = t.s.card.stag_row(t.stag);
            let open = row.access & StagRow::READ_SINK != 0;
            (open, row.base, row.length, row.iova)
        };
        let closed = (false, 0x1000, 1000, IOVA);
        assert_eq!(range(&t), closed);
        // Two at a time: from the first to the last of what they ask for.
        t.read(1, 700, 50);
        assert_eq!(range(&t), (true, 0x1000 + 700, 50, IOVA + 700));
        t.read(2, 600, 10);
        assert_eq!(range(&t), (true, 0x1000 + 600, 150, IOVA + 600));
        let unit = response(t.stag, 700, true, &[1; 50]);
        t.s.data(&unit);
        assert_eq!(range(&t), (true, 0x1000 + 600, 150, IOVA + 600));
        let unit = response(t.stag, 600, true, &[2; 10]);
        t.s.data(&unit);
        assert_eq!(t.s.completions.len(), 2);
        assert_eq!(range(&t), closed);
        // One: exactly that.
        t.read(3, 100, 50);
        assert_eq!(range(&t), (true, 0x1000 + 100, 50, IOVA + 100));
        let before = t.memory();
        let unit = response(t.stag, at, true, &vec![0xbd; length]);
        t.s.data(&unit);
        assert!(t.memory() == before, "{length} at {at}");
        t.s.wait(MS);
        assert_eq!(t.s.terminate().map(|t| t.0), Some(0x1101));
        assert_eq!(t.s.engine.stats().fpdus_software, 1);
    }
}

/// The card judges by the region: it is open for the two Reads together, and closed behind the last.
#[test]
fn the_right_is_there_as_long_as_a_read_is() {
    let mut t = standing(Way::Card);
    let open = |t: &Setup| t.s.card.stag_row(t.stag).access & StagRow::READ_SINK != 0;
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
    let mut t = standing(Way::Card);
    let open = |t: &Setup| t.s.card.stag_row(t.stag).access & StagRow::READ_SINK != 0;
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
