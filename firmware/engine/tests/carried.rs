//! Segments that end inside an FPDU, of a flow whose card carries its octets to the next segment.
#![allow(missing_docs)]

use crate::bench;

use bench::card::MEMORY;
use bench::script::{message, Script};
use bench::traffic::{long_writes, run};
use bench::under::{Under, BASE, LENGTH};
use bench::*;
use weft_engine::*;
use weft_layout::SegmentReport;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode, ReadRequest};
use weft_wire::tcp::{flag, Options};
use weft_wire::terminate::TerminateCode;

/// Octets of a Write's FPDU.
const FPDU: usize = LENGTH + 20;
/// The card's last place, and what makes no word.
const CARRIED: usize = 4096 + 3;

/// An engine whose card carries, and has placed a Write.
fn carries() -> Under {
    carries_with(&|_| ())
}

fn carries_with(change: &dyn Fn(&mut EngineConfig)) -> Under {
    let mut t = Under::with(change);
    assert!(t.s.card.rx_row(0).carry(), "the row asks for it");
    t.arrives(0..1, 0);
    t.has(1);
    assert_eq!(t.s.card.attached(), 1);
    t
}

/// The card places everything, and the flow was attached once, at the start.
#[track_caller]
fn by_the_card(t: &mut Under, writes: usize) {
    t.has(writes);
    assert_eq!(t.s.card.placed_by_hand, 0, "by hand");
    assert_eq!(t.s.card.attached(), 1);
    assert_eq!(t.s.engine.stats().attaches, 1);
}

#[test]
fn two_writes_cut_at_every_octet() {
    for cut in FPDU + 1..3 * FPDU {
        let mut t = carries();
        t.piece(FPDU..cut, 0);
        let inside = (cut % FPDU > 0) as u64;
        assert_eq!(t.s.engine.stats().segments_carried, inside, "{cut}");
        assert_eq!(t.acked, t.start.wrapping_add(cut as u32), "{cut}");
        t.piece(cut..3 * FPDU, 0);
        assert_eq!(u64::from(t.s.card.carried), inside);
        t.arrives(3..4, 0);
        by_the_card(&mut t, 4);
        t.has_no_slot();
    }
}

#[test]
fn an_fpdu_of_many_segments() {
    for step in [1, 7, 250] {
        let mut t = carries();
        for at in (FPDU..2 * FPDU).step_by(step) {
            t.piece(at..(at + step).min(2 * FPDU), 0);
        }
        t.arrives(2..3, 0);
        by_the_card(&mut t, 3);
    }
}

/// The engine's row asks for nothing where the configuration says so.
#[test]
fn switched_off() {
    let mut t = Under::with(&|config| config.carry = false);
    for write in 0..3 {
        t.piece(write * FPDU..write * FPDU + 9, 0);
        t.piece(write * FPDU + 9..(write + 1) * FPDU, 0);
    }
    t.has(3);
    assert!(!t.s.card.rx_row(0).carry());
    assert_eq!(t.s.card.placed, 0);
}

/// What comes beyond a gap takes the flow away: the engine has kept what the card had carried.
#[test]
fn a_gap_behind_carried_octets() {
    for cut in [1, 16, 500, FPDU - 1] {
        let mut t = carries();
        t.piece(FPDU..FPDU + cut, 0);
        assert_eq!(t.s.card.attached(), 1);
        t.arrives(3..4, 0);
        assert_eq!(t.s.card.attached(), 0);
        t.piece(FPDU + cut..2 * FPDU, 0);
        t.arrives(2..3, 0);
        t.has(4);
        assert_eq!(t.s.card.attached(), 1, "behind the last");
        t.piece(4 * FPDU..4 * FPDU + cut, 0);
        t.piece(4 * FPDU + cut..5 * FPDU, 0);
        t.has(5);
        assert_eq!(t.s.card.attached(), 1);
        t.has_no_slot();
    }
}

#[test]
fn a_fin_behind_carried_octets() {
    for cut in [1, 500, FPDU - 1] {
        let mut t = carries();
        t.piece(FPDU..FPDU + cut, 0);
        t.piece(FPDU + cut..2 * FPDU, flag::FIN);
        t.has(2);
        assert_eq!(t.s.card.placed, 2 * LENGTH as u64);
        t.has_fin(t.at(2));
        // The FIN alone, in the middle of the Write: nobody places the half.
        let mut t = carries();
        t.piece(FPDU..FPDU + cut, 0);
        let at = t.start.wrapping_add((FPDU + cut) as u32);
        let fin = t.frame(flag::FIN, at, &[]);
        t.s.card.receive(&fin);
        t.host();
        t.has(1);
        t.has_fin(at);
    }
}

/// An engine on the card's processor leaves payload in order in slots: not what the card has carried on.
#[test]
fn carried_octets_stay_in_no_slot() {
    let mut t = Under::with(&|config| {
        config.on_card = true;
        config.rung = Rung::Firmware;
    });
    assert!(t.s.card.rx_row(0).carry(), "the row asks for it");
    t.piece(0..500, 0);
    assert_eq!((t.s.card.lent_out(), t.s.card.attached()), (0, 1));
    t.piece(500..FPDU, 0);
    t.has(1);
}

/// An FPDU that is longer than a place: the flow leaves the card, and the engine frames it.
#[test]
fn more_than_the_card_carries() {
    for (last, by_card) in [(CARRIED, true), (CARRIED + 1, false)] {
        let length = 5000;
        let mut t = carries();
        let header = DdpHeader::tagged(true, 0x40, t.stag, BASE);
        let long = message(&header, &vec![9; length]);
        let ends = [0, 1400, 2800, last, long.len()];
        for piece in ends.windows(2) {
            let seq = t.at(1).wrapping_add(piece[0] as u32);
            let frame = t.frame(0, seq, &long[piece[0]..piece[1]]);
            t.s.card.receive(&frame);
            t.host();
        }
        let placed = if by_card { length as u64 } else { 0 };
        assert_eq!(t.s.card.placed, LENGTH as u64 + placed);
        let sink = t.s.card.bytes(MEMORY, length).unwrap();
        assert!(sink.iter().all(|byte| *byte == 9));
        assert_eq!(t.s.card.attached(), 1);
    }
}

/// The engine's last timestamp is a bare acknowledgment's, later than the card's: what the card has taken is not old.
#[test]
fn a_timestamp_that_only_the_card_takes() {
    let mut s = Script::with(false, &|config| {
        config.timestamps = true;
        config.delayed_ack = 0;
    });
    s.ts_val = Some(100);
    let qp = s.qp();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let empty = message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]);
    s.data(&empty);
    s.wait(MS);
    let (first, rest) = empty.split_at(7);
    assert!(s.card.rx_row(0).carry());
    for value in [200, 300, 400] {
        s.ts_val = Some(value);
        s.acknowledge();
        s.ts_val = Some(value - 50);
        s.data(first);
        s.data(rest);
    }
    let stats = s.engine.stats();
    assert_eq!((stats.refused_timestamp, stats.segments_carried), (0, 3));
    assert_eq!((s.card.attached(), stats.fpdus_software), (1, 0));
    let acked = s.sent.last().map(|sent| sent.ack);
    assert_eq!(acked, Some(s.seq), "the engine has all of it");
}

/// An FPDU for which the engine has no memory: the card frames it, and the engine does not look at how long it is.
#[test]
fn longer_than_the_engine_can_frame() {
    let mut t = carries_with(&|config| config.memory.longest = 2000);
    let header = DdpHeader::tagged(true, 0x40, t.stag, BASE);
    let long = message(&header, &[9; 3000]);
    let start = t.at(1);
    for (n, piece) in long.chunks(1400).enumerate() {
        let frame = t.frame(0, start.wrapping_add(n as u32 * 1400), piece);
        t.s.card.receive(&frame);
        t.host();
    }
    let placed = (LENGTH + 3000) as u64;
    assert_eq!((t.s.card.placed, t.s.card.attached()), (placed, 1));
    assert_eq!(t.s.engine.stats().streams_without_memory, 0);
}

fn engine_dies_of(t: &mut Under) {
    t.s.wait(MS);
    let code = TerminateCode::RDMAP_LOCAL;
    assert!(
        matches!(
            t.s.events.first(),
            Some(Event::QpFatal { terminate: Some(c), received: false, .. }) if *c == code
        ),
        "{:?}",
        t.s.events
    );
}

/// The raw frame of a carried segment could not be written: the card goes on, and nobody has its octets.
#[test]
fn a_raw_frame_that_failed() {
    for fails in [false, true] {
        let mut t = carries();
        let at = t.at(1);
        let frame = t.frame(0, at, &t.writes(1..2)[..400]);
        t.s.card.receive(&frame);
        let (mut report, raw) = t.s.card.take_report().unwrap();
        if fails {
            report[SegmentReport::STATUS_AT] |= SegmentReport::RAW_FAILED;
        }
        let s = &mut t.s;
        s.engine
            .on_report(s.now, &report, raw.as_deref(), &mut s.card);
        if fails {
            engine_dies_of(&mut t);
        } else {
            t.piece(FPDU + 400..2 * FPDU, 0);
            t.has(2);
        }
    }
}

/// The FPDU is longer than what is received for certain, and there is no memory beyond that: the stream ends, and does not hang.
#[test]
fn no_memory_for_carried_octets() {
    let mut t = carries_with(&|config| {
        config.reassembly_memory = 0;
        config.memory.reserve = 2048;
    });
    let header = DdpHeader::tagged(true, 0x40, t.stag, BASE);
    let long = message(&header, &[9; 3900]);
    let start = t.at(1);
    for (n, piece) in long.chunks(1400).take(2).enumerate() {
        let frame = t.frame(0, start.wrapping_add(n as u32 * 1400), piece);
        t.s.card.receive(&frame);
        t.host();
    }
    assert_eq!(t.s.engine.stats().streams_without_memory, 1);
    engine_dies_of(&mut t);
}

/// Read Requests, which are the engine's, over the ends of segments, some with a Write before or behind.
#[test]
fn read_requests_cut_at_every_octet() {
    let mut s = Script::with(false, &|config| config.delayed_ack = 0);
    let qp = s.qp();
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
    let stag = s
        .engine
        .register(s.pd, BASE, MEMORY, 4096, access, &mut s.card)
        .unwrap();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let write = message(&DdpHeader::tagged(true, 0x40, stag, BASE), &[7; 10]);
    s.data(&write);
    s.wait(MS);
    assert!(s.card.rx_row(0).carry());
    // Its FPDU.
    const REQUEST: usize = 2 + 18 + 28 + 4;
    let mut msn = 1;
    let mut read = || {
        let request = ReadRequest {
            sink_stag: 1,
            sink_to: 0,
            size: 20,
            source_stag: stag,
            source_to: BASE,
        };
        let header = DdpHeader::untagged(true, control(opcode::READ_REQUEST), 0, 1, msn, 0);
        msn += 1;
        message(&header, &request.to_bytes())
    };
    let mut answers = 0;
    for before in [false, true] {
        for cut in 1..2 * REQUEST + write.len() - 1 {
            let mut stream = if before { write.clone() } else { Vec::new() };
            stream.extend(read());
            if !before {
                stream.extend(&write);
            }
            stream.extend(read());
            s.stream.clear();
            for piece in [&stream[..cut], &stream[cut..cut + 1], &stream[cut + 1..]] {
                s.data(piece);
            }
            s.wait(MS);
            answers += 2;
            let fatal = |e: &Event| matches!(e, Event::QpFatal { .. });
            assert!(!s.events.iter().any(fatal), "{cut}: {:?}", s.events);
            assert_eq!(bench::oracle::fpdu::ulpdus(&s.stream).len(), 2, "{cut}");
        }
    }
    let stats = s.engine.stats();
    assert_eq!((stats.attaches, s.card.attached()), (1, 1), "{answers}");
    assert_eq!(stats.fpdus_software, 0);
    assert!(stats.segments_carried > 500, "{stats:?}");
}

/// A stream of which one segment in ten is cut, from its first octet on, stays the card's.
#[test]
fn one_segment_in_ten_cut() {
    for carry in [true, false] {
        let mut b = Bench::with(3, &|config| config.carry = carry);
        b.keep_capture = false;
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        b.faults.split = 6554;
        long_writes(&mut b, &pair, 40);
        let stats = *b.hosts[1].engine.stats();
        if carry {
            assert_eq!(stats.attaches, 1 + stats.attaches_refused, "{stats:?}");
            assert!(stats.fpdus_software <= 1, "{stats:?}");
            assert!(stats.segments_carried > 100, "{stats:?}");
        } else {
            assert!(stats.fpdus_software > 1000, "{stats:?}");
            assert_eq!(stats.segments_carried, 0);
        }
    }
}

/// Cuts beside everything else that goes wrong, with markers and without: every octet is right, and far fewer FPDUs go by hand.
#[test]
fn cuts_and_losses() {
    for (faults, part) in [
        (
            Faults {
                split: 6554,
                loss: 200,
                ..Default::default()
            },
            2,
        ),
        (Faults::EVERYTHING, 3),
    ] {
        let (mut with, mut without) = (0, 0);
        for seed in 0..30 {
            for (carry, sum) in [(true, &mut with), (false, &mut without)] {
                let b = run(seed, faults, &|config| {
                    config.carry = carry;
                    config.replay = if seed & 4 == 0 { 0 } else { 4096 };
                });
                for host in &b.hosts {
                    assert_eq!(host.card.lent_out(), 0, "seed {seed}: a slot is lost");
                    *sum += host.engine.stats().fpdus_software;
                    let carried = host.engine.stats().segments_carried;
                    assert_eq!(carried, u64::from(host.card.carried), "seed {seed}");
                }
            }
        }
        eprintln!("{with} of {without} by hand");
        assert!(3 * with < part * without, "{with} of {without}");
    }
}

/// A FIN's own segment is never carried over: what is missing of its FPDU never comes.
#[test]
fn half_a_write_with_a_fin() {
    let mut t = carries();
    t.piece(FPDU..FPDU + 40, 0);
    t.piece(FPDU + 40..FPDU + 500, flag::FIN);
    t.has(1);
    assert_eq!(t.s.card.attached(), 0);
    let fin = t.start.wrapping_add((FPDU + 500) as u32);
    t.has_fin(fin);
    let again = t.s.frame(flag::ACK, fin, Options::default(), &[1]);
    t.s.card.receive(&again);
    t.host();
    t.has(1);
}
