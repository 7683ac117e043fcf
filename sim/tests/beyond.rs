//! Segments beyond a gap, of a flow whose FLOW_RX row lets the card place them there, on every kind of card that keeps islands.

use std::ops::Range;

use weft_layout::{fpdu_verdict, reg, table, AttachRow, Counter, FlowRxRow};
use weft_sim::model::ethernet::flag;

use crate::receive::setup::{each, Heard, Setup, ATTACHED, FLOW, PLAIN, SEQ, TIMED};
use crate::receive::stretch::{pattern, response, stretch, tagged, untagged, Stretch};

pub const BEYOND: u8 = PLAIN | FlowRxRow::MARKERS | FlowRxRow::BEYOND;
/// Islands that a flow may have.
const ISLANDS: usize = 8;
/// Octets of a Write: so many that a marker is in each.
pub const LONG: usize = 600;
/// What no marker is in, in the place behind a long one.
const SHORT: usize = 64;

/// A segment report's flags: nothing raw, and the flow is the card's.
const PLACED: (bool, bool, u8) = (false, true, 0);
const LEFT: (bool, bool, u8) = (true, false, 0);

/// These FPDUs, with markers from `SEQ` on.
pub fn marked(ulpdus: &[Vec<u8>]) -> Stretch {
    stretch(Some(SEQ), ulpdus)
}

/// So many Writes, one behind the other in memory.
fn writes(count: usize) -> Stretch {
    let one = |i| tagged(i * LONG, &pattern(LONG, i));
    marked(&(0..count).map(one).collect::<Vec<_>>())
}

/// The card keeps islands.
fn keeps_islands(s: &mut Setup) -> bool {
    let most = s.bench.read(reg::ISLANDS).unwrap();
    assert!(most == 0 || most as usize == ISLANDS, "{most}");
    most > 0
}

/// On each card that keeps islands, with markers from `SEQ` on.
pub fn beyond(flags: u8, attach: AttachRow, test: impl Fn(&mut Setup)) {
    each(flags, attach, |s| {
        if keeps_islands(s) {
            s.begin(flags);
            test(s);
        }
    });
}

impl Setup {
    /// At `SEQ` again, with nothing placed, and a row with these flags.
    pub fn begin(&mut self, flags: u8) {
        let row = FlowRxRow {
            flags,
            marker_base: SEQ,
            ..self.rx
        };
        let (table, flow) = (table::FLOW_RX, FLOW.into());
        let written = self.bench.write_table(table, flow, &row.to_bytes());
        assert!(written.unwrap());
        self.again();
    }

    pub fn again(&mut self) {
        let row = AttachRow {
            raw_seen: self.bench.raw_seen(),
            ..ATTACHED
        };
        self.attach(&row);
        self.memory.write(0, &[0; 24 * LONG]).unwrap();
    }

    /// These FPDUs of a stretch, as a segment.
    pub fn part(&mut self, of: &Stretch, these: Range<usize>) -> Heard {
        self.octets(of, of.ends[these.start]..of.ends[these.end])
    }

    fn octets(&mut self, of: &Stretch, these: Range<usize>) -> Heard {
        let seq = SEQ.wrapping_add(these.start as u32);
        self.data(seq, &of.octets[these])
    }

    fn with_flags(&mut self, flags: u8, of: &Stretch, these: Range<usize>) -> Heard {
        let (from, to) = (of.ends[these.start], of.ends[these.end]);
        let seq = SEQ.wrapping_add(from as u32);
        let frame = self.segment(seq, flag::ACK | flags, None, &of.octets[from..to]);
        self.hear(&frame)
    }

    /// It is placed as a whole.
    #[track_caller]
    pub fn placed(&mut self, of: &Stretch, these: Range<usize>) {
        let length = of.ends[these.end] - of.ends[these.start];
        let count = these.len();
        let heard = self.part(of, these.clone());
        let (raw, attached, status, done) = heard.outcome();
        assert_eq!((raw, attached, status), PLACED, "{these:?}");
        assert_eq!(usize::from(done), length, "{these:?}");
        assert!(!heard.segment.duplicate(), "{these:?}");
        assert_eq!(heard.fpdus.len(), count, "{these:?}");
        for fpdu in &heard.fpdus {
            assert_eq!(fpdu.verdict, fpdu_verdict::PLACED, "{these:?}");
        }
    }

    /// It goes up raw, so many octets of it done, and the flow is the engine's.
    #[track_caller]
    pub fn left(&mut self, heard: &Heard, done: usize) {
        let (raw, attached, status, is_done) = heard.outcome();
        assert_eq!((raw, attached, status), LEFT);
        assert_eq!(usize::from(is_done), done);
        assert!(!self.position().attached());
    }

    fn stands_at(&mut self, of: &Stretch, at: usize) {
        let position = self.position();
        assert!(position.attached());
        assert_eq!(position.rcv_nxt, of.seq(at), "not at {at}");
    }

    /// The memory has the Writes of these numbers.
    fn has(&self, these: Range<usize>) {
        for i in these {
            let got = self.memory.read(i * LONG, LONG).unwrap();
            assert!(got == pattern(LONG, i), "Write {i}");
        }
    }

    fn counted(&mut self, counter: Counter) -> u32 {
        self.bench.counter(counter).unwrap()
    }
}

/// What lies beyond a gap is placed at once, and passed when the gap is filled.
#[test]
fn a_gap_is_filled() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(7);
        s.placed(&of, 0..1);
        s.placed(&of, 2..3);
        s.has(2..3);
        s.stands_at(&of, 1);
        s.placed(&of, 3..4);
        s.placed(&of, 5..6);
        s.placed(&of, 1..2);
        s.stands_at(&of, 4);
        s.placed(&of, 4..5);
        s.stands_at(&of, 6);
        s.placed(&of, 6..7);
        s.stands_at(&of, 7);
        s.has(0..7);
        assert_eq!(s.counted(Counter::RxSegmentsBeyond), 3);
        assert_eq!(s.counted(Counter::RxSegmentsPlaced), 7);
        assert_eq!(s.counted(Counter::RxDetachGap), 0);
    });
}

/// Several FPDUs in a segment beyond a gap; and a segment in order that ends where an island does not begin.
#[test]
fn several_fpdus_in_a_segment() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(6);
        s.placed(&of, 3..5);
        s.placed(&of, 0..1);
        s.stands_at(&of, 1);
        s.placed(&of, 1..3);
        s.stands_at(&of, 5);
        s.placed(&of, 5..6);
        s.has(0..6);
    });
}

/// As many islands as the card keeps; those that touch are one; one more is the engine's.
#[test]
fn islands_are_counted() {
    beyond(BEYOND, ATTACHED, |s| {
        let most = 2 * ISLANDS;
        let of = writes(most + 6);
        for i in 0..ISLANDS {
            s.placed(&of, 2 * i + 1..2 * i + 2);
        }
        // Behind one, and between two.
        s.placed(&of, most..most + 1);
        s.placed(&of, 2..3);
        // There is room again.
        s.placed(&of, most + 3..most + 4);
        // Before one.
        s.placed(&of, most + 2..most + 3);
        assert_eq!(s.counted(Counter::RxIslandsFull), 0);
        let heard = s.part(&of, most + 5..most + 6);
        s.left(&heard, 0);
        assert_eq!(s.counted(Counter::RxIslandsFull), 1);
        assert_eq!(s.counted(Counter::RxDetachGap), 1);
        // Islands of before are forgotten.
        s.again();
        for i in 0..ISLANDS {
            s.placed(&of, 2 * i + 2..2 * i + 3);
        }
        s.placed(&of, 0..1);
        s.stands_at(&of, 1);
        s.placed(&of, 1..2);
        s.stands_at(&of, 3);
        // An island that was passed makes room for another.
        s.placed(&of, most + 4..most + 5);
        for i in (3..most).step_by(2) {
            s.placed(&of, i..i + 1);
        }
        s.stands_at(&of, most + 1);
        s.placed(&of, most + 1..most + 4);
        s.stands_at(&of, most + 5);
        s.has(0..most + 5);
    });
}

/// What lies in an island is old; what meets one in part is the engine's, beyond the gap and in order.
#[test]
fn what_was_placed_comes_again() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(6);
        s.placed(&of, 2..4);
        for these in [2..3, 3..4, 2..4] {
            let heard = s.part(&of, these);
            assert_eq!(heard.outcome(), (false, true, 0, 0));
            assert!(heard.segment.duplicate());
        }
        let inside = s.octets(&of, of.ends[2] + 4..of.ends[4] - 4);
        assert!(inside.segment.duplicate());
        assert_eq!(s.counted(Counter::RxSegmentsDuplicate), 4);
        for these in [3..5, 1..3, 1..5, 0..3, 0..5] {
            s.again();
            s.placed(&of, 2..4);
            let heard = s.part(&of, these);
            s.left(&heard, 0);
        }
        assert_eq!(s.counted(Counter::RxIslandsFull), 0);
    });
}

/// Before an FPDU that the card must not place there the walk ends, and what is before it was placed.
#[test]
fn what_may_not_be_early() {
    beyond(BEYOND, ATTACHED, |s| {
        let long = |i: usize| tagged(i * LONG, &pattern(LONG, i));
        // For the first one no receive is posted; the others are no messages of queue 0.
        let mut others = vec![
            untagged(0, 2, 0, true, &pattern(LONG, 9)),
            untagged(1, 1, 0, true, &pattern(LONG, 9)),
        ];
        for (at, octet) in [(0, 0x40), (1, 0x03), (1, 0x47), (9, 4)] {
            let mut wrong = untagged(0, 1, 0, true, &pattern(LONG, 9));
            wrong[at] = octet;
            others.push(wrong);
        }
        for other in others {
            let of = marked(&[long(0), long(1), other.clone(), long(3)]);
            let heard = s.part(&of, 2..4);
            s.left(&heard, 0);
            assert_eq!(heard.fpdus.len(), 0);
            s.again();
            let heard = s.part(&of, 1..4);
            s.left(&heard, of.ends[2] - of.ends[1]);
            assert_eq!(heard.fpdus.len(), 1);
            s.has(1..2);
            assert_eq!(s.position().rcv_nxt, SEQ);
            s.again();
        }
        // No marker in the segment's first FPDU: where it begins is not sure. Behind it that is, and behind an island.
        let of = marked(&[long(0), tagged(LONG, &pattern(SHORT, 1)), long(2)]);
        let heard = s.part(&of, 1..2);
        s.left(&heard, 0);
        s.again();
        let heard = s.part(&of, 1..3);
        s.left(&heard, 0);
        s.again();
        let of = marked(&[long(0), long(1), tagged(2 * LONG, &pattern(SHORT, 2))]);
        s.placed(&of, 1..3);
        assert_eq!(s.memory.read(2 * LONG, SHORT).unwrap(), pattern(SHORT, 2));
        s.again();
        s.placed(&of, 1..2);
        s.placed(&of, 2..3);
        assert_eq!(s.memory.read(2 * LONG, SHORT).unwrap(), pattern(SHORT, 2));
    });
}

/// Read Responses are placed there as Writes are, where their sink is open.
#[test]
fn responses() {
    beyond(BEYOND, ATTACHED, |s| {
        let long = |i: usize| response(i * LONG, &pattern(LONG, i));
        let write = |i: usize| tagged(i * LONG, &pattern(LONG, i));
        let of = marked(&[long(0), long(1), write(2), long(3)]);
        let heard = s.part(&of, 2..4);
        s.left(&heard, of.ends[3] - of.ends[2]);
        assert_eq!(heard.fpdus[1].terminate, 0x0102);
        s.opens_sink();
        s.again();
        s.placed(&of, 1..2);
        s.placed(&of, 2..4);
        s.has(1..4);
        s.placed(&of, 0..1);
        s.stands_at(&of, 4);
        s.has(0..4);
    });
}

/// Where both ends have agreed that segments begin with FPDUs, a row has no markers, and needs none. What begins inside one is an error of its CRC.
#[test]
fn without_markers_segments_begin_with_fpdus() {
    beyond(BEYOND & !FlowRxRow::MARKERS, ATTACHED, |s| {
        let short = |i: usize| tagged(i * LONG, &pattern(SHORT, i));
        let of = stretch(None, &(0..5).map(short).collect::<Vec<_>>());
        s.placed(&of, 3..5);
        s.placed(&of, 1..2);
        for i in [1, 3, 4] {
            let got = s.memory.read(i * LONG, SHORT).unwrap();
            assert_eq!(got, pattern(SHORT, i));
        }
        s.placed(&of, 2..3);
        s.placed(&of, 0..1);
        s.stands_at(&of, 5);
        s.again();
        let inside = s.octets(&of, of.ends[1] + 16..of.ends[3]);
        s.left(&inside, 0);
        s.again();
        let cut = s.octets(&of, of.ends[1]..of.ends[3] - 4);
        s.left(&cut, of.ends[2] - of.ends[1]);
    });
}

/// A segment that begins or ends inside an FPDU, and FPDUs with an error.
#[test]
fn what_is_not_whole_or_not_right() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(4);
        let cut = s.octets(&of, of.ends[1]..of.ends[3] - 8);
        s.left(&cut, of.ends[2] - of.ends[1]);
        s.has(1..2);
        s.again();
        // The marker's pointer does not lead to where it begins.
        let shifted = s.octets(&of, of.ends[1] + 8..of.ends[3]);
        assert!(!shifted.segment.attached() && shifted.segment.done_len == 0);
        let mut bad = writes(4);
        let last = bad.ends[3] - 1;
        bad.octets[last] ^= 1;
        s.again();
        let heard = s.part(&bad, 1..4);
        s.left(&heard, bad.ends[2] - bad.ends[1]);
        let verdicts: Vec<u8> = heard.fpdus.iter().map(|f| f.verdict).collect();
        assert_eq!(verdicts, [fpdu_verdict::PLACED, fpdu_verdict::ERROR]);
        assert!(heard.fpdus[1].terminate == 0x2002);
        s.has(1..2);
        assert_eq!(s.memory.read(2 * LONG, LONG).unwrap(), [0; LONG]);
    });
}

/// A FIN or URG beyond a gap is the engine's. So are rows that lack the bit, carry, or only check.
#[test]
fn who_keeps_no_islands() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(3);
        for flags in [flag::FIN, flag::URG] {
            let heard = s.with_flags(flags, &of, 2..3);
            s.left(&heard, 0);
            s.again();
        }
        let rows = [
            BEYOND & !FlowRxRow::BEYOND,
            BEYOND | FlowRxRow::CARRY,
            BEYOND | FlowRxRow::CHECK_ONLY,
        ];
        for flags in rows {
            s.begin(flags);
            let heard = s.part(&of, 2..3);
            s.left(&heard, 0);
        }
        assert_eq!(s.counted(Counter::RxSegmentsBeyond), 0);
    });
}

/// An ATTACH forgets what was placed, one that freshens does not.
#[test]
fn attach_forgets() {
    beyond(BEYOND, ATTACHED, |s| {
        let of = writes(3);
        s.placed(&of, 1..2);
        s.again();
        s.placed(&of, 0..1);
        s.stands_at(&of, 1);
        s.again();
        s.placed(&of, 1..2);
        s.attach(&AttachRow::default().with_freshen(true));
        s.placed(&of, 0..1);
        s.stands_at(&of, 2);
    });
}

/// The newest timestamp in order counts, and a FIN in order is behind the island that it meets.
#[test]
fn timestamps_and_the_fin() {
    let flags = TIMED | FlowRxRow::MARKERS | FlowRxRow::BEYOND;
    beyond(flags, ATTACHED, |s| {
        let of = writes(4);
        let stamped = |s: &mut Setup, value, flags, at: usize| {
            let octets = &of.octets[of.ends[at]..of.ends[at + 1]];
            let frame = s.segment(of.seq(at), flag::ACK | flags, Some(value), octets);
            let heard = s.hear(&frame);
            assert!(heard.segment.attached() && !heard.segment.raw());
        };
        stamped(s, 100, 0, 0);
        stamped(s, 120, 0, 2);
        assert_eq!(s.position().ts_recent, 100);
        stamped(s, 110, 0, 1);
        let position = s.position();
        assert_eq!((position.ts_recent, position.rcv_nxt), (110, of.seq(3)));
        stamped(s, 130, flag::FIN, 3);
        assert_eq!(s.position().rcv_nxt, of.seq(4).wrapping_add(1));
    });
}
