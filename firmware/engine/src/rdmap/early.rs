//! What the card has placed beyond a gap and means something: Read Responses, and messages of queue 0. A message is complete in the order of the stream
//! (RFC 5040 §5.5): they wait until it comes to them.

use alloc::collections::VecDeque;

use weft_layout::FpduReport;
use weft_tcp::seq;
use weft_wire::ddp::{self, DdpHeader, Target};
use weft_wire::fpdu::Markers;
use weft_wire::rdmap::queue;

/// A list that is this small grows at once.
const SMALL: usize = 4;
/// One with room for more gives it back when it is empty: the receives that it had it for are complete then.
const KEPT: usize = 3 * SMALL;

/// FPDUs of one message, one behind the other in the stream, whose payload is one range of its sink or of its receive. A processor on the card has memory
/// for few octets of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where the first one begins.
    seq: u32,
    /// Where the last one ends.
    end: u32,
    /// Bytes of payload of all of them.
    pub length: u32,
    /// Of the first one, and of the last one.
    parts: (u16, u16),
    /// Control octets of the first one.
    control: (u8, u8),
    /// The last one ends the message.
    pub last: bool,
    place: Place,
}

/// STag and TO of the first FPDU; or its MSN and MO, and RsvdULP of the first one and the last one.
type Place = [u32; 4];

fn place_of(target: Target) -> Place {
    match target {
        Target::Tagged { stag, to } => [stag, (to >> 32) as u32, to as u32, 0],
        Target::Untagged {
            rsvd_ulp, msn, mo, ..
        } => [msn, mo, rsvd_ulp, rsvd_ulp],
    }
}

impl Run {
    /// An FPDU by itself.
    pub fn of(report: &FpduReport, header: &DdpHeader, markers: Markers) -> Self {
        let length = markers.fpdu_length(report.seq, report.ulpdu_len.into());
        let part = report.payload_len as u16;
        Run {
            seq: report.seq,
            end: report.seq.wrapping_add(length as u32),
            length: report.payload_len,
            parts: (part, part),
            control: (header.control, header.rdmap_control),
            last: header.is_last(),
            place: place_of(header.target),
        }
    }

    /// Its first FPDU's ULPDU has so many octets, and this header.
    pub fn front(&self) -> (usize, DdpHeader) {
        let [first, high, low, _] = self.place;
        let target = match self.control.0 & ddp::TAGGED != 0 {
            true => Target::Tagged {
                stag: first,
                to: u64::from(high) << 32 | u64::from(low),
            },
            false => Target::Untagged {
                rsvd_ulp: low,
                qn: queue::SEND,
                msn: first,
                mo: high,
            },
        };
        let header = DdpHeader {
            control: self.control.0,
            rdmap_control: self.control.1,
            target,
        };
        (header.length() + usize::from(self.parts.0), header)
    }

    /// The same of its last one, of a message of queue 0.
    pub fn back(&self) -> (usize, DdpHeader) {
        let (_, mut header) = self.front();
        header.control |= if self.last { ddp::LAST } else { 0 };
        if let Target::Untagged { rsvd_ulp, mo, .. } = &mut header.target {
            *rsvd_ulp = self.place[3];
            *mo = mo.wrapping_add(self.length.wrapping_sub(self.parts.1.into()));
        }
        (header.length() + usize::from(self.parts.1), header)
    }

    /// `next` goes on with it, and nothing is between them: that has its turn before `next`.
    fn goes_on(&self, next: &Self) -> bool {
        let same = match (self.front().1.target, next.front().1.target) {
            (Target::Tagged { stag, to }, Target::Tagged { stag: s, to: t }) => {
                stag == s && to.wrapping_add(self.length.into()) == t
            }
            (Target::Untagged { msn, mo, .. }, Target::Untagged { msn: n, mo: o, .. }) => {
                let opcode = self.control.1 == next.control.1;
                opcode && msn == n && mo.wrapping_add(self.length) == o
            }
            _ => false,
        };
        let behind = self.end == next.seq && !self.last;
        same && behind && self.length.checked_add(next.length).is_some()
    }

    fn append(&mut self, next: &Self) {
        self.end = next.end;
        self.parts.1 = next.parts.1;
        self.length += next.length;
        self.last = next.last;
        self.place[3] = next.place[3];
    }
}

/// Those of a connection, in the stream's order.
#[derive(Debug, Default)]
pub struct Early(VecDeque<Run>);

impl Early {
    /// One FPDU more. False: these are more than `most`.
    pub fn add(&mut self, run: Run, most: usize) -> bool {
        let at = self.0.partition_point(|there| seq::lt(there.seq, run.seq));
        let next = self.0.get(at).copied();
        let before = at.checked_sub(1).and_then(|before| self.0.get_mut(before));
        if let Some(there) = before.filter(|there| there.goes_on(&run)) {
            there.append(&run);
            if let Some(next) = next.filter(|next| there.goes_on(next)) {
                there.append(&next);
                self.0.remove(at);
            }
            return true;
        }
        if let Some(next) = self.0.get_mut(at).filter(|next| run.goes_on(next)) {
            let mut whole = run;
            whole.append(next);
            *next = whole;
            return true;
        }
        let there = self.0.len();
        if there >= most {
            return false;
        }
        if there == self.0.capacity() {
            let room = most.min(2 * there + SMALL);
            self.0.reserve_exact(room - there);
        }
        self.0.insert(at, run);
        true
    }

    /// The next one that lies before `next`, where the stream has come to.
    pub fn passed(&mut self, next: u32) -> Option<Run> {
        let first = self.0.front()?;
        if !seq::le(first.end, next) {
            return None;
        }
        let passed = self.0.pop_front();
        if self.0.is_empty() && self.0.capacity() > KEPT {
            self.forget();
        }
        passed
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nobody waits for them any more.
    pub fn forget(&mut self) {
        self.0 = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn of(seq: u32, header: DdpHeader) -> Run {
        let report = FpduReport {
            seq,
            ulpdu_len: header.length() as u16 + 100,
            payload_len: 100,
            ..FpduReport::default()
        };
        Run::of(&report, &header, Markers::OFF)
    }

    fn run(seq: u32, to: u64, last: bool) -> Run {
        of(seq, DdpHeader::tagged(last, 0x42, 7, to))
    }

    /// Of a Send that invalidates.
    fn send(seq: u32, msn: u32, mo: u32, last: bool) -> Run {
        let rsvd_ulp = if last { 0x700 } else { 0 };
        of(seq, DdpHeader::untagged(last, 0x44, rsvd_ulp, 0, msn, mo))
    }

    /// In whichever order the four FPDUs of a response come, they are one run, which begins with the first; across the wrap of sequence numbers.
    #[test]
    fn a_response_is_one_run() {
        let fpdus = [0, 1, 2, 3u32].map(|n| {
            let seq = 0xffff_ff00_u32.wrapping_add(n * 120);
            run(seq, u64::from(n) * 100, n == 3)
        });
        let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [3, 0, 2, 1]];
        for order in orders {
            let mut early = Early::default();
            for n in order {
                assert!(early.add(fpdus[n], 2));
            }
            assert_eq!(early.passed(fpdus[3].end.wrapping_sub(1)), None);
            let passed = early.passed(fpdus[3].end);
            let whole = Run {
                end: fpdus[3].end,
                length: 400,
                last: true,
                ..fpdus[0]
            };
            assert_eq!(passed, Some(whole));
            assert!(early.is_empty());
        }
    }

    /// Ends of responses, other sinks and holes make runs of their own, and there are no more than may be.
    #[test]
    fn there_are_not_more_than_may_be() {
        let mut early = Early::default();
        let other = of(340, DdpHeader::tagged(false, 0x42, 8, 200));
        for one in [
            run(100, 0, true),
            run(220, 100, false),
            other,
            run(500, 900, false),
        ] {
            assert!(early.add(one, 4));
        }
        assert!(!early.add(run(600, 0, false), 4));
        assert!(early.add(run(620, 1000, false), 4));
        let passed: Vec<_> = core::iter::from_fn(|| early.passed(620)).collect();
        let begins: Vec<_> = passed.iter().map(|run| run.seq).collect();
        assert_eq!(begins, [100, 220, 340]);
        assert!(!early.is_empty());
        early.forget();
        assert!(early.is_empty());
    }
    /// FPDUs of a Send are one run if nothing is between them; it ends as the last one says.
    #[test]
    fn a_send_is_one_run() {
        // Length field, header, payload, CRC.
        let at = |n: u32| 0xffff_ff80_u32.wrapping_add(n * 124);
        let fpdus = [0, 1, 2].map(|n| send(at(n), 5, n * 100, n == 2));
        for order in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [2, 0, 1]] {
            let mut early = Early::default();
            for n in order {
                assert!(early.add(fpdus[n], 2));
            }
            let whole = early.passed(at(3)).unwrap();
            assert!(early.is_empty());
            assert_eq!((whole.length, whole.end), (300, at(3)));
            assert_eq!(whole.front(), (118, fpdus[0].front().1));
            assert_eq!(whole.back(), (118, fpdus[2].front().1));
        }
        let apart = [
            send(at(2), 5, 100, true),
            send(at(1), 6, 100, true),
            send(at(1), 5, 101, true),
            of(at(1), DdpHeader::untagged(true, 0x43, 0, 0, 5, 100)),
            run(at(1), 100, true),
        ];
        for other in apart {
            let mut early = Early::default();
            assert!(early.add(fpdus[0], 2) && early.add(other, 2));
            assert_eq!(early.passed(at(3)), Some(fpdus[0]));
            assert_eq!(early.passed(at(3)), Some(other));
        }
    }

    /// What lies between two parts of a response is passed before the second one.
    #[test]
    fn a_response_goes_over_nothing() {
        let (first, send) = (run(100, 0, false), send(220, 5, 0, true));
        for length in [0, 100] {
            let second = Run {
                length,
                ..run(500, length.into(), false)
            };
            let first = Run { length, ..first };
            for order in [[first, second, send], [second, first, send]] {
                let mut early = Early::default();
                assert!(order.into_iter().all(|run| early.add(run, 3)));
                assert_eq!(early.passed(send.end), Some(first));
                assert_eq!(early.passed(send.end), Some(send));
                assert_eq!(early.passed(send.end), None);
            }
        }
    }

    /// Of many none costs what the others do, from whichever end they come; and the memory of many does not stay.
    #[test]
    fn there_may_be_many() {
        const MANY: u32 = 20_000;
        let at = |n: u32| send(n * 1000, n, 0, true);
        let mut early = Early::default();
        for n in (0..MANY).rev() {
            assert!(early.add(at(n), MANY as usize));
        }
        for n in 0..MANY {
            assert_eq!(early.passed(MANY * 1000), Some(at(n)));
        }
        assert!(early.is_empty());
        assert_eq!(early.0.capacity(), 0);
        // That of few does.
        assert!(early.add(at(1), 100) && early.passed(4000).is_some());
        assert_eq!(early.0.capacity(), SMALL);
    }
}
