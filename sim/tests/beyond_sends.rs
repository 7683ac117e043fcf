//! Messages of queue 0 beyond a gap, on every kind of card that keeps islands.

use weft_layout::{fpdu_verdict, AttachRow, FlowRxRow, ReceiveElement, StagRow};

use crate::beyond::{beyond, marked, BEYOND, LONG};
use crate::receive::setup::{region_row, Setup, ATTACHED, BASE, SEQ, STAG};
use crate::receive::stretch::{pattern, stretch, tagged, untagged, Stretch};

/// What a receive has room for.
const ROOM: usize = 2 * LONG;
/// Behind what no island begins with: the card's position.
const NOWHERE: u32 = 1 << 30;
/// Where Writes go.
const WRITES: usize = 10 * LONG;

const LAST: bool = true;
const NOT_LAST: bool = false;

fn send(msn: u32, mo: usize, last: bool, salt: usize) -> Vec<u8> {
    untagged(0, msn, mo as u32, last, &pattern(LONG, salt))
}

fn write(salt: usize) -> Vec<u8> {
    tagged(WRITES, &pattern(LONG, salt))
}

impl Setup {
    /// Receives from this message on, in two pieces each, one behind the other in memory.
    fn posts(&mut self, flags: u8, first: u32) {
        self.rx.marker_base = SEQ;
        self.post(flags, first, |slot| {
            let to = BASE + u64::from(slot) * ROOM as u64;
            let cut = LONG as u32 - 100;
            ReceiveElement {
                sge0_to: to,
                sge0_length: cut,
                sge0_stag: STAG,
                sge1_to: to + u64::from(cut),
                sge1_length: ROOM as u32 - cut,
                sge1_stag: STAG,
                ..ReceiveElement::default()
            }
        });
    }

    /// In this place, of which a receive has two, is this.
    fn has_at(&self, place: usize, salt: usize) {
        let got = self.memory.read(place * LONG, LONG).unwrap();
        assert!(got == pattern(LONG, salt), "place {place}: {:?}", &got[..4]);
    }

    fn has_nothing_at(&self, place: usize) {
        let got = self.memory.read(place * LONG, LONG).unwrap();
        assert!(got.iter().all(|octet| *octet == 0), "place {place}");
    }

    /// Where the flow stands, and its queue 0.
    #[track_caller]
    fn expects(&mut self, of: &Stretch, at: usize, msn: u32, mo: usize) {
        let position = self.position();
        assert!(position.attached());
        assert_eq!(position.rcv_nxt, of.seq(at), "not at {at}");
        assert_eq!((position.msn, position.mo), (msn, mo as u32));
    }

    /// This segment is not placed at all, and costs the flow; then the flow is as it was.
    #[track_caller]
    fn refused(&mut self, of: &Stretch, at: usize) {
        let heard = self.part(of, at..at + 1);
        self.left(&heard, 0);
        assert_eq!(heard.fpdus.len(), 0, "it is partial");
        self.again();
    }
}

/// With markers, and where segments begin with FPDUs.
fn each_way(test: impl Fn(&mut Setup, &dyn Fn(&[Vec<u8>]) -> Stretch)) {
    beyond(BEYOND, ATTACHED, |s| {
        s.posts(BEYOND, 1);
        test(s, &marked);
    });
    let aligned = BEYOND & !FlowRxRow::MARKERS;
    beyond(aligned, ATTACHED, |s| {
        s.posts(aligned, 1);
        test(s, &|ulpdus| stretch(None, ulpdus));
    });
}

/// Sends of one FPDU and of two, over islands and what is lost between them.
#[test]
fn they_are_placed_and_passed() {
    each_way(|s, of| {
        let of = of(&[
            send(1, 0, LAST, 1),
            send(2, 0, NOT_LAST, 2),
            send(2, LONG, LAST, 3),
            write(4),
            send(3, 0, NOT_LAST, 5),
            send(3, LONG, LAST, 6),
        ]);
        s.placed(&of, 4..5);
        s.has_at(4, 5);
        s.expects(&of, 0, 1, 0);
        s.placed(&of, 1..2);
        s.has_at(2, 2);
        s.placed(&of, 0..1);
        s.has_at(0, 1);
        s.expects(&of, 2, 2, LONG);
        s.placed(&of, 2..4);
        s.expects(&of, 5, 3, LONG);
        s.placed(&of, 5..6);
        s.expects(&of, 6, 4, 0);
        for (place, salt) in [(0, 1), (2, 2), (3, 3), (4, 5), (5, 6)] {
            s.has_at(place, salt);
        }
        s.has_nothing_at(1);
    });
}

/// Whatever is joined with whatever, in any order: the edges are those of the outer parts.
#[test]
fn edges_of_islands_that_are_joined() {
    each_way(|s, of| {
        let sends = [
            send(1, 0, LAST, 1),
            send(2, 0, LAST, 2),
            send(3, 0, NOT_LAST, 3),
            send(3, LONG, LAST, 4),
        ];
        for without in 0..8 {
            // Writes in the place of some of the last three.
            let mut msn = 2;
            let mut ulpdus = vec![sends[0].clone()];
            for n in 0..3 {
                if without >> n & 1 != 0 {
                    ulpdus.push(write(n));
                } else {
                    ulpdus.push(send(msn, 0, LAST, n));
                    msn += 1;
                }
            }
            let of = of(&ulpdus);
            for order in [
                [1, 2, 3],
                [1, 3, 2],
                [2, 1, 3],
                [2, 3, 1],
                [3, 1, 2],
                [3, 2, 1],
            ] {
                order.iter().for_each(|n| s.placed(&of, *n..n + 1));
                s.expects(&of, 0, 1, 0);
                s.placed(&of, 0..1);
                s.expects(&of, 4, msn, 0);
                s.again();
            }
        }
        let of = of(&sends);
        for cut in [1, 2, 3] {
            if cut > 1 {
                s.placed(&of, 1..cut);
            }
            s.placed(&of, cut..4);
            s.placed(&of, 0..1);
            s.expects(&of, 4, 4, 0);
            s.again();
        }
    });
}

/// An island that is not what the stream goes on with: behind it nothing of queue 0 will do, and what is not of queue 0 will.
#[test]
fn what_does_not_fit() {
    each_way(|s, of| {
        let wrong_left = [(3, 0), (1, 0), (2, 8), (1, LONG)];
        for (msn, mo) in wrong_left {
            let of = of(&[
                send(1, 0, LAST, 1),
                send(msn, mo, LAST, 2),
                write(3),
                send(msn + 1, 0, LAST, 4),
            ]);
            s.placed(&of, 1..2);
            s.placed(&of, 0..1);
            s.expects(&of, 2, msn + 1 + NOWHERE, 0);
            s.placed(&of, 2..3);
            let heard = s.part(&of, 3..4);
            s.left(&heard, 0);
            assert_eq!(heard.fpdus[0].terminate, 0x1203);
            s.again();
        }
        // Two that are joined by what is between them, or at once.
        for (msn, mo) in [(2, 0), (4, 0), (3, 8)] {
            let of = of(&[
                send(1, 0, LAST, 1),
                send(2, 0, LAST, 2),
                write(3),
                send(msn, mo, NOT_LAST, 4),
            ]);
            for order in [[1..2, 3..4, 2..3], [3..4, 2..3, 1..2]] {
                order.into_iter().for_each(|these| s.placed(&of, these));
                s.placed(&of, 0..1);
                s.expects(&of, 4, msn + NOWHERE, mo + LONG);
                s.again();
            }
            s.placed(&of, 3..4);
            s.placed(&of, 1..3);
            s.placed(&of, 0..1);
            s.expects(&of, 4, msn + NOWHERE, mo + LONG);
            s.again();
        }
        // Torn once is torn: and all islands behind it do not fit.
        let of = of(&[
            write(0),
            send(1, 0, LAST, 1),
            send(1, 0, LAST, 2),
            send(2, 0, LAST, 3),
            write(4),
            send(3, 0, LAST, 5),
        ]);
        s.placed(&of, 2..3);
        s.placed(&of, 1..2);
        s.placed(&of, 3..4);
        s.placed(&of, 5..6);
        s.placed(&of, 0..1);
        s.expects(&of, 4, 3 + NOWHERE, 0);
        s.placed(&of, 4..5);
        s.expects(&of, 6, 4 + NOWHERE, 0);
    });
}

/// Behind what does not fit nothing is placed beyond a gap either, however far off it says that it is: the peer would choose by that which receive of
/// the queue it is, a completed one too.
#[test]
fn nothing_behind_what_does_not_fit() {
    each_way(|s, of| {
        for far in [0, 1, 1 << 29, 5 << 28, 7 << 28, (1 << 30) - 8] {
            for slot in 0..4 {
                let msn = 4 + NOWHERE + far + slot;
                let of = of(&[
                    send(1, 0, LAST, 1),
                    write(2),
                    send(3, 0, LAST, 3),
                    write(4),
                    send(msn, 0, LAST, 5),
                ]);
                s.placed(&of, 0..1);
                s.placed(&of, 2..3);
                s.placed(&of, 1..2);
                s.expects(&of, 3, 4 + NOWHERE, 0);
                let heard = s.part(&of, 4..5);
                s.left(&heard, 0);
                assert_eq!(heard.fpdus.len(), 0, "{msn:#x} is partial");
                for (place, salt) in [(0, 1), (4, 3)] {
                    s.has_at(place, salt);
                }
                s.has_nothing_at(2);
                s.has_nothing_at(6);
                s.again();
            }
        }
    });
}

/// What does not go on with the island before it, nor within its own segment, is not placed.
#[test]
fn what_does_not_go_on() {
    each_way(|s, of| {
        for (msn, mo) in [(2, 0), (1, 0), (4, 0), (3, 8)] {
            let of = of(&[write(0), send(2, 0, LAST, 1), send(msn, mo, LAST, 2)]);
            s.placed(&of, 1..2);
            s.refused(&of, 2);
            let heard = s.part(&of, 1..3);
            s.left(&heard, of.ends[2] - of.ends[1]);
            assert_eq!(heard.fpdus.len(), 1);
            s.has_at(2, 1);
            s.again();
            // In an island of its own it is: nothing is known of what is before it.
            s.placed(&of, 2..3);
            s.again();
        }
        // A Write before it, and an island without receives, say nothing.
        let of = of(&[write(0), write(1), write(2), send(4, LONG, LAST, 3)]);
        s.placed(&of, 1..2);
        s.placed(&of, 2..4);
        s.has_at(7, 3);
        s.placed(&of, 0..1);
        s.expects(&of, 4, 5 + NOWHERE, 0);
    });
}

/// A message that the stream has completed, or that no receive is posted for: it is not placed, wherever it says that it belongs.
#[test]
fn what_is_complete_and_what_is_not_posted() {
    each_way(|s, of| {
        for msn in [0, 1, 2, 5, u32::MAX, NOWHERE, 1 << 31] {
            let of = of(&[
                send(1, 0, LAST, 1),
                send(2, 0, LAST, 2),
                write(3),
                send(msn, 0, LAST, 4),
            ]);
            s.placed(&of, 0..2);
            s.refused_behind(&of, 3);
        }
        // Behind an island that the stream has overtaken.
        let of = of(&[
            send(1, 0, LAST, 1),
            send(2, 0, LAST, 2),
            write(3),
            send(1, 0, LAST, 4),
            send(2, 0, LAST, 5),
        ]);
        s.placed(&of, 3..4);
        s.has_at(0, 4);
        s.placed(&of, 0..2);
        s.refused_behind(&of, 4);
    });
}

impl Setup {
    /// The same where two messages are complete.
    #[track_caller]
    fn refused_behind(&mut self, of: &Stretch, at: usize) {
        self.has_at(0, 1);
        self.has_at(2, 2);
        let heard = self.part(of, at..at + 1);
        self.left(&heard, 0);
        assert_eq!(heard.fpdus.len(), 0, "it is partial");
        self.has_at(0, 1);
        self.has_at(2, 2);
        self.again();
    }
}

/// The last message that is posted, and the first one behind the wrap.
#[test]
fn across_the_wrap() {
    let attach = AttachRow {
        msn: u32::MAX,
        ..ATTACHED
    };
    beyond(BEYOND, ATTACHED, |s| {
        s.posts(BEYOND, u32::MAX);
        let row = AttachRow {
            raw_seen: s.bench.raw_seen(),
            ..attach
        };
        s.attach(&row);
        let of = marked(&[
            write(0),
            send(u32::MAX, 0, LAST, 1),
            send(0, 0, LAST, 2),
            send(1, 0, LAST, 3),
            send(2, 0, LAST, 4),
            send(3, 0, LAST, 5),
        ]);
        s.placed(&of, 3..5);
        s.placed(&of, 1..3);
        s.placed(&of, 0..1);
        s.expects(&of, 5, 3, 0);
        for (place, salt) in [(4, 1), (6, 2), (0, 3), (2, 4)] {
            s.has_at(place, salt);
        }
        let heard = s.part(&of, 5..6);
        assert_eq!(heard.fpdus[0].terminate, 0x1202);
    });
}

/// Errors beyond a gap are those in order, if the FPDU would be placed at all.
#[test]
fn errors() {
    each_way(|s, of| {
        let long = of(&[write(0), send(2, ROOM - LONG + 4, LAST, 1)]);
        let heard = s.part(&long, 1..2);
        s.left(&heard, 0);
        assert_eq!(heard.fpdus[0].verdict, fpdu_verdict::ERROR);
        assert_eq!(heard.fpdus[0].terminate, 0x1205);
        s.again();
        for (msn, terminates) in [(2, true), (0, false), (5, false)] {
            let mut bad = of(&[write(0), send(msn, 0, LAST, 1)]);
            let last = bad.ends[2] - 1;
            bad.octets[last] ^= 1;
            let heard = s.part(&bad, 1..2);
            s.left(&heard, 0);
            let codes: Vec<u16> = heard.fpdus.iter().map(|f| f.terminate).collect();
            let expected: &[u16] = if terminates { &[0x2002] } else { &[] };
            assert_eq!(codes, expected, "{msn}");
            s.again();
        }
        for place in 0..8 {
            s.has_nothing_at(place);
        }
        let row = StagRow {
            access: 0,
            ..region_row(&s.memory)
        };
        s.bench.stag(STAG, &row).unwrap();
        let of = of(&[send(1, 0, LAST, 1), send(2, 0, LAST, 2)]);
        let heard = s.part(&of, 1..2);
        s.left(&heard, 0);
        assert_eq!(heard.fpdus[0].terminate, 0x1000);
        s.bench.stag(STAG, &region_row(&s.memory)).unwrap();
    });
}

/// The markers decide whether the first FPDU of a segment is one, as of all that is placed there.
#[test]
fn a_short_one() {
    beyond(BEYOND, ATTACHED, |s| {
        s.posts(BEYOND, 1);
        let short = |msn, salt| untagged(0, msn, 0, LAST, &pattern(40, salt));
        let of = marked(&[write(0), short(1, 1), short(2, 2), send(3, 0, LAST, 3)]);
        let heard = s.part(&of, 1..2);
        s.left(&heard, 0);
        s.again();
        s.placed(&of, 3..4);
        let of = marked(&[write(0), send(1, 0, LAST, 1), short(2, 2), short(3, 3)]);
        s.again();
        s.placed(&of, 1..2);
        s.placed(&of, 2..3);
        s.placed(&of, 3..4);
        s.placed(&of, 0..1);
        s.expects(&of, 4, 4, 0);
        assert_eq!(s.memory.read(ROOM, 40).unwrap(), pattern(40, 2));
    });
}
