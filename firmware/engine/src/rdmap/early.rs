//! Read Responses that the card has placed beyond a gap. A Read is complete in the order of the stream (RFC 5040 §5.5): they wait until it comes to them.

use alloc::vec::Vec;

use weft_tcp::seq;
use weft_wire::ddp::DdpHeader;

/// FPDUs of one response, whose payload is one range of its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where the first one begins, and the last one.
    pub seqs: (u32, u32),
    /// ULPDU of the first one: its length, and its header.
    pub ulpdu: (u16, DdpHeader),
    /// STag of the sink.
    pub stag: u32,
    /// Tagged offset of the first byte.
    pub to: u64,
    /// Bytes of all of them.
    pub length: u32,
    /// The last one ends the response.
    pub last: bool,
}

impl Run {
    /// `next` goes on with it.
    fn goes_on(&self, next: &Self) -> bool {
        !self.last
            && self.stag == next.stag
            && self.to.wrapping_add(self.length.into()) == next.to
            && self.length.checked_add(next.length).is_some()
    }

    fn append(&mut self, next: &Self) {
        self.seqs.1 = next.seqs.1;
        self.length += next.length;
        self.last = next.last;
    }
}

/// Those of a connection, in the stream's order.
#[derive(Debug, Default)]
pub struct Early(Vec<Run>);

impl Early {
    /// One FPDU more. False: these are more than `most`.
    pub fn add(&mut self, run: Run, most: usize) -> bool {
        let at = self
            .0
            .partition_point(|there| seq::lt(there.seqs.0, run.seqs.0));
        let (before, behind) = self.0.split_at_mut(at);
        if let Some(there) = before.last_mut().filter(|there| there.goes_on(&run)) {
            there.append(&run);
            if let Some(next) = behind.first().filter(|next| there.goes_on(next)) {
                there.append(next);
                self.0.remove(at);
            }
            return true;
        }
        if let Some(next) = behind.first_mut().filter(|next| run.goes_on(next)) {
            let mut whole = run;
            whole.append(next);
            *next = whole;
            return true;
        }
        if self.0.len() >= most {
            return false;
        }
        self.0.insert(at, run);
        true
    }

    /// The next one that lies before `next`, where the stream has come to.
    pub fn passed(&mut self, next: u32) -> Option<Run> {
        let first = self.0.first()?;
        seq::lt(first.seqs.1, next).then(|| self.0.remove(0))
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nobody waits for them any more.
    pub fn forget(&mut self) {
        self.0 = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seq: u32, to: u64, last: bool) -> Run {
        Run {
            seqs: (seq, seq),
            ulpdu: (114, DdpHeader::tagged(last, 0x42, 7, to)),
            stag: 7,
            to,
            length: 100,
            last,
        }
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
            assert_eq!(early.passed(fpdus[3].seqs.0), None);
            let passed = early.passed(fpdus[3].seqs.0.wrapping_add(1));
            let whole = Run {
                seqs: (fpdus[0].seqs.0, fpdus[3].seqs.0),
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
        let other = Run {
            stag: 8,
            ..run(300, 200, false)
        };
        for one in [
            run(100, 0, true),
            run(200, 100, false),
            other,
            run(500, 900, false),
        ] {
            assert!(early.add(one, 4));
        }
        assert!(!early.add(run(600, 0, false), 4));
        assert!(early.add(run(700, 1000, false), 4));
        let passed: Vec<_> = core::iter::from_fn(|| early.passed(600)).collect();
        let begins: Vec<_> = passed.iter().map(|run| run.seqs.0).collect();
        assert_eq!(begins, [100, 200, 300]);
        assert!(!early.is_empty());
        early.forget();
        assert!(early.is_empty());
    }
}
