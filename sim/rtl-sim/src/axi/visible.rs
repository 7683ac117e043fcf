//! When the other side of a memory sees what was written: all that AXI4 and PCI Express leave open between the last beat and
//! the moment at which a program there finds the bytes.

use super::{Fault, Memory};
use crate::axis::keep;
use fastrand::Rng;
use std::collections::VecDeque;

/// What becomes visible when. In bursts whose AWUSER bit 0 is clear the beats of an aligned block of 64 bytes become visible front to
/// back; the beats of all others, and all blocks, in any order that is not excluded here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visible {
    /// Each beat when it was taken.
    #[default]
    AtOnce,
    /// In any order, by the response at the latest: what AXI4 promises of memory (A6.3). Writes to the same bytes keep their order.
    Answered,
    /// Posted writes without relaxed ordering: long after the response, in the order given. Errors are lost.
    Posted,
    /// Posted writes, relaxed ordering where AWUSER bit 0 is set: those pass all others, and each other, even to the same bytes; none of
    /// the others passes anything (PCI Express 2.4.1, table 2-40, A2a and A2b). Errors are lost.
    Relaxed,
    /// The least that a master can rely on whose AWUSER bit 0 stands for writes without any order: one of the others becomes visible
    /// behind all writes that were answered before it was shown. Errors are lost.
    Weakest,
    /// The same, but a block of 64 bytes becomes visible in parts of 16, in any order. A master that has its word that something is valid in the block's
    /// last byte, and its host, have to fail with it.
    Torn,
    /// Less than that: in any order, long after the response. Errors are lost. A master and its host have to fail with it.
    Unordered,
}

impl Visible {
    /// All that keep what [`Visible::Weakest`] promises.
    pub const LAWFUL: [Visible; 5] = [
        Visible::AtOnce,
        Visible::Answered,
        Visible::Posted,
        Visible::Relaxed,
        Visible::Weakest,
    ];
}

/// What had been written at some moment: see [`MemorySlave::mark`](super::MemorySlave::mark).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    answers: u64,
    bursts: u64,
}

/// Beats that become visible one after the other.
struct Piece {
    burst: u64,
    relaxed: bool,
    /// Responses before the burst was shown.
    after: u64,
    due: u64,
    bytes: std::ops::Range<u64>,
    beats: VecDeque<(u64, Vec<u8>, u128)>,
}

struct Burst {
    number: u64,
    id: u32,
    resp: u8,
    /// All beats are here.
    whole: bool,
    /// The number of its response.
    answer: Option<u64>,
    /// Pieces that are not visible.
    pieces: usize,
}

/// Beats that may wait; then WREADY goes low.
const ROOM: usize = 256;
/// Bytes of a part of a torn block.
const PART: usize = 16;
/// Beats that become visible in one cycle.
const RATE: usize = 4;

/// What was written and is not visible.
pub(super) struct Hidden {
    mode: Visible,
    longest: u32,
    rng: Rng,
    pieces: VecDeque<Piece>,
    /// In the order given, as long as they have pieces or want an answer.
    bursts: VecDeque<Burst>,
    waiting: usize,
    answers: u64,
    whole: u64,
    lost: u64,
    written: u64,
}

impl Hidden {
    pub(super) fn new(mode: Visible, longest: u32, rng: Rng) -> Hidden {
        Hidden {
            mode,
            longest,
            rng,
            pieces: VecDeque::new(),
            bursts: VecDeque::new(),
            waiting: 0,
            answers: 0,
            whole: 0,
            lost: 0,
            written: 0,
        }
    }

    pub(super) fn is_used(&self) -> bool {
        self.mode != Visible::AtOnce
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.bursts.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting >= ROOM
    }

    /// Responses so far.
    pub(super) fn answers(&self) -> u64 {
        self.answers
    }

    /// Bytes that became visible and beats that were refused.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.written, self.lost)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            answers: self.answers,
            bursts: self.whole,
        }
    }

    /// Is all visible that what was asked at `mark` may not overtake?
    pub(super) fn is_seen(&self, mark: Mark) -> bool {
        match self.mode {
            Visible::AtOnce | Visible::Answered => true,
            Visible::Posted | Visible::Relaxed => {
                self.pieces.iter().all(|piece| piece.burst >= mark.bursts)
            }
            Visible::Weakest | Visible::Torn | Visible::Unordered => !self.hides(mark.answers),
        }
    }

    /// Is there a burst with pieces among those that had one of the first so many responses?
    fn hides(&self, answers: u64) -> bool {
        self.bursts
            .iter()
            .any(|burst| burst.pieces > 0 && burst.answer.is_some_and(|number| number < answers))
    }

    /// Beats of burst `number` (0, 1, ...), which was shown after so many responses.
    pub(super) fn begin(&mut self, number: u64, id: u32, resp: u8) {
        self.bursts.push_back(Burst {
            number,
            id,
            resp,
            whole: false,
            answer: None,
            pieces: 0,
        });
    }

    /// A beat of the burst begun last.
    pub(super) fn beat(
        &mut self,
        now: u64,
        relaxed: bool,
        after: u64,
        addr: u64,
        bytes: &[u8],
        strobe: u128,
    ) {
        let torn = self.mode == Visible::Torn;
        if torn && bytes.len() > PART {
            for (n, part) in bytes.chunks(PART).enumerate() {
                let at = n * PART;
                let strobe = strobe >> at & keep(part.len());
                self.beat(now, relaxed, after, addr + at as u64, part, strobe);
            }
            return;
        }
        let Some(burst) = self.bursts.back_mut() else {
            return;
        };
        self.waiting += 1;
        let end = addr + bytes.len() as u64;
        let beat = (addr, bytes.to_vec(), strobe);
        if let Some(last) = self.pieces.back_mut() {
            let same = last.burst == burst.number && last.bytes.start / 64 == addr / 64;
            if same && !relaxed && !torn {
                last.bytes.end = end;
                last.beats.push_back(beat);
                return;
            }
        }
        burst.pieces += 1;
        let longest = [self.longest / 64, self.longest / 8, self.longest][self.rng.usize(0..3)];
        self.pieces.push_back(Piece {
            burst: burst.number,
            relaxed,
            after,
            due: now + u64::from(self.rng.u32(0..=longest)),
            bytes: addr..end,
            beats: VecDeque::from([beat]),
        });
    }

    /// The burst begun last has all its beats. May it be answered now, or when `answerable` says so?
    pub(super) fn end(&mut self) -> bool {
        self.whole += 1;
        if let Some(burst) = self.bursts.back_mut() {
            burst.whole = true;
        }
        self.mode != Visible::Answered
    }

    /// A burst that may be answered now: its number, ID and response, in the order given.
    pub(super) fn answerable(&mut self) -> Option<(u64, u32, u8)> {
        let burst = self.bursts.front()?;
        (self.mode == Visible::Answered && burst.whole && burst.pieces == 0).then_some(())?;
        let burst = self.bursts.pop_front()?;
        Some((burst.number, burst.id, burst.resp))
    }

    /// The response of a burst was taken.
    pub(super) fn answered(&mut self, number: u64) {
        if let Some(burst) = self.bursts.iter_mut().find(|b| b.number == number) {
            burst.answer = Some(self.answers);
        }
        self.answers += 1;
        self.forget();
    }

    fn forget(&mut self) {
        if self.mode != Visible::Answered {
            self.bursts
                .retain(|burst| burst.pieces > 0 || burst.answer.is_none());
        }
    }

    fn may_be_seen(&self, at: usize) -> bool {
        let piece = &self.pieces[at];
        let same_bytes = || {
            self.pieces.iter().take(at).any(|other| {
                other.bytes.start < piece.bytes.end && piece.bytes.start < other.bytes.end
            })
        };
        match self.mode {
            Visible::AtOnce => true,
            Visible::Answered | Visible::Unordered => !same_bytes(),
            Visible::Posted => at == 0,
            Visible::Relaxed => at == 0 || piece.relaxed,
            Visible::Weakest | Visible::Torn => {
                piece.relaxed || !(self.hides(piece.after) || same_bytes())
            }
        }
    }

    /// One cycle: some become visible.
    pub(super) fn cycle(&mut self, now: u64, memory: &mut impl Memory) {
        let mut seen = 0;
        let mut at = 0;
        while at < self.pieces.len() && seen < RATE {
            if self.pieces[at].due > now || !self.may_be_seen(at) {
                at += 1;
                continue;
            }
            let piece = &mut self.pieces[at];
            let Some((addr, bytes, strobe)) = piece.beats.front() else {
                return;
            };
            let fault = match memory.write(*addr, bytes, *strobe) {
                Ok(()) => None,
                Err(Fault::NotYet) => return,
                Err(fault) => Some(fault),
            };
            self.written += match fault {
                None => u64::from(strobe.count_ones()),
                Some(_) => 0,
            };
            self.lost += u64::from(fault.is_some() && self.mode != Visible::Answered);
            seen += 1;
            self.waiting -= 1;
            let number = piece.burst;
            piece.beats.pop_front();
            let done = piece.beats.is_empty();
            if done {
                self.pieces.remove(at);
            } else {
                // The host may look in between.
                piece.due = now + 1 + u64::from(self.rng.u32(0..=self.longest / 64));
                at += 1;
            }
            if let Some(burst) = self.bursts.iter_mut().find(|b| b.number == number) {
                burst.pieces -= usize::from(done);
                if let (Some(fault), super::resp::OKAY) = (fault, burst.resp) {
                    burst.resp = fault.resp();
                }
            }
        }
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ram;
    use super::*;
    use crate::Seed;

    /// Gives these bursts, each of two blocks of its own, answers each before the next, and says in which order the blocks became
    /// visible. `true`: a burst with AWUSER.
    fn order(mode: Visible, seed: u64, bursts: &[bool]) -> Vec<u64> {
        let mut ram = Ram::new(0, 0x1000);
        let mut hidden = Hidden::new(mode, 400, Seed(seed).rng("hidden"));
        let mut order = Vec::new();
        let mut look = |ram: &Ram| {
            for block in 0..2 * bursts.len() as u64 {
                if ram.bytes[block as usize * 64] != 0 && !order.contains(&block) {
                    order.push(block);
                }
            }
        };
        let mut now = 0;
        for (number, relaxed) in bursts.iter().enumerate() {
            let number = number as u64;
            let after = hidden.answers();
            hidden.begin(number, 0, 0);
            for block in [2 * number, 2 * number + 1] {
                let data = [block as u8 + 1; 64];
                hidden.beat(
                    now,
                    *relaxed,
                    after,
                    block * 64,
                    &data,
                    u128::from(u64::MAX),
                );
            }
            let mut answer = hidden.end();
            while !answer {
                hidden.cycle(now, &mut ram);
                now += 1;
                look(&ram);
                answer = hidden.answerable().is_some();
            }
            hidden.answered(number);
        }
        let mark = hidden.mark();
        while !hidden.is_empty() {
            hidden.cycle(now, &mut ram);
            look(&ram);
            now += 1;
        }
        assert!(hidden.is_seen(mark));
        assert_eq!(order.len(), 2 * bursts.len());
        order
    }

    #[test]
    fn each_mode_reorders_what_it_may_and_nothing_else() {
        let bursts = [true, false, true, true, false, false];
        let kinds =
            |mode| -> Vec<Vec<u64>> { (0..200).map(|seed| order(mode, seed, &bursts)).collect() };
        let first = |order: &[u64], block| order.iter().position(|b| *b == block);
        let ordered = |order: &Vec<u64>| order.windows(2).all(|w| w[0] < w[1]);
        assert!(kinds(Visible::Posted).iter().all(ordered));
        for mode in [Visible::Answered, Visible::Relaxed, Visible::Weakest] {
            let all = kinds(mode);
            assert!(!all.iter().all(ordered), "{mode:?}");
            for order in &all {
                for (number, relaxed) in bursts.iter().enumerate() {
                    // All that was answered before a burst without AWUSER is visible before it.
                    let at =
                        first(order, 2 * number as u64).min(first(order, 2 * number as u64 + 1));
                    let before = (0..2 * number as u64).all(|b| first(order, b) < at);
                    assert!(*relaxed || before, "{mode:?}: {order:?}");
                    assert!(mode != Visible::Answered || before, "{order:?}");
                }
            }
        }
        let broken = |order: &Vec<u64>| (0..8).any(|b| first(order, b) > first(order, 8));
        assert!(kinds(Visible::Unordered).iter().any(broken));
    }

    #[test]
    fn a_block_becomes_visible_front_to_back() {
        for seed in 0..50 {
            let mut ram = Ram::new(0, 64);
            let mut hidden = Hidden::new(Visible::Unordered, 200, Seed(seed).rng("hidden"));
            hidden.begin(0, 0, 0);
            for beat in 0..4 {
                hidden.beat(beat, false, 0, beat * 16, &[1; 16], 0xffff);
            }
            assert!(hidden.end());
            hidden.answered(0);
            for now in 4.. {
                hidden.cycle(now, &mut ram);
                let front = ram.bytes.iter().take_while(|b| **b == 1).count();
                assert!(ram.bytes[front..].iter().all(|b| *b == 0));
                if hidden.is_empty() {
                    break;
                }
            }
            assert_eq!((ram.bytes[63], hidden.totals()), (1, (64, 0)));
        }
    }
}
