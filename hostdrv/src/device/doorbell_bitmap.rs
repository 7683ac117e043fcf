//! Which queue pairs have work that nobody has taken: one bit each, rung without any lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// Flows of a word.
const BITS: usize = 64;

/// A bit for each flow, and one for each word of them.
#[derive(Debug)]
pub(crate) struct DoorbellBitmap {
    words: Vec<AtomicU64>,
    summary: Vec<AtomicU64>,
}

impl DoorbellBitmap {
    pub(crate) fn new(flows: usize) -> Self {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        let words = flows.div_ceil(BITS);
        Self {
            words: zeros(words),
            summary: zeros(words.div_ceil(BITS)),
        }
    }

    /// This flow's queue pair has work.
    #[inline(always)]
    pub(crate) fn ring(&self, flow: u16) {
        let word = usize::from(flow) / BITS;
        let Some(bits) = self.words.get(word) else {
            return;
        };
        let bit = 1 << (usize::from(flow) % BITS);
        // Whoever finds it rung has somebody before him who has told the summary, or is about to.
        if bits.fetch_or(bit, Ordering::SeqCst) & bit == 0 {
            self.tell(word);
        }
    }

    /// A word has bits.
    #[inline(never)]
    fn tell(&self, word: usize) {
        if let Some(summary) = self.summary.get(word / BITS) {
            summary.fetch_or(1 << (word % BITS), Ordering::SeqCst);
        }
    }

    /// Has any?
    #[inline]
    pub(crate) fn is_rung(&self) -> bool {
        self.summary
            .iter()
            .any(|summary| summary.load(Ordering::SeqCst) != 0)
    }

    /// Takes one flow whose bell was rung.
    pub(crate) fn take(&self) -> Option<u16> {
        for (block, summary) in self.summary.iter().enumerate() {
            let words = summary.load(Ordering::SeqCst);
            if words == 0 {
                continue;
            }
            let word = block * BITS + words.trailing_zeros() as usize;
            let bits = self.words.get(word)?;
            let flow = bits.load(Ordering::SeqCst).trailing_zeros() as usize;
            if flow < BITS {
                bits.fetch_and(!(1 << flow), Ordering::SeqCst);
            }
            if bits.load(Ordering::SeqCst) == 0 {
                summary.fetch_and(!(1 << (word % BITS)), Ordering::SeqCst);
                // Rung between the two: then the summary says so again.
                if bits.load(Ordering::SeqCst) != 0 {
                    summary.fetch_or(1 << (word % BITS), Ordering::SeqCst);
                }
            }
            if flow < BITS {
                return Some((word * BITS + flow) as u16);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bell_is_taken_once() {
        let doorbells = DoorbellBitmap::new(4096);
        for flow in [4095, 0, 63, 64, 0, 1000] {
            doorbells.ring(flow);
        }
        let taken: Vec<_> = std::iter::from_fn(|| doorbells.take()).collect();
        assert_eq!(taken, [0, 63, 64, 1000, 4095]);
        assert!(!doorbells.is_rung());
    }

    /// Threads that ring and one that takes: no bell is lost.
    #[test]
    fn none_is_lost() {
        const ROUNDS: u32 = 20_000;
        let doorbells = DoorbellBitmap::new(130);
        let posted: Vec<AtomicU64> = (0..130).map(|_| AtomicU64::new(0)).collect();
        let mut seen = vec![0u64; 130];
        std::thread::scope(|scope| {
            for thread in 0..3u32 {
                let (doorbells, posted) = (&doorbells, &posted);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let flow = ((round * 7 + thread * 43) % 130) as u16;
                        posted[usize::from(flow)].fetch_add(1, Ordering::SeqCst);
                        doorbells.ring(flow);
                    }
                });
            }
            let all = || -> u64 {
                posted
                    .iter()
                    .map(|count| count.load(Ordering::SeqCst))
                    .sum()
            };
            while all() < u64::from(3 * ROUNDS) || doorbells.is_rung() {
                if let Some(flow) = doorbells.take() {
                    seen[usize::from(flow)] = posted[usize::from(flow)].load(Ordering::SeqCst);
                }
            }
        });
        while let Some(flow) = doorbells.take() {
            seen[usize::from(flow)] = posted[usize::from(flow)].load(Ordering::SeqCst);
        }
        for (flow, count) in posted.iter().enumerate() {
            assert_eq!(seen[flow], count.load(Ordering::SeqCst), "flow {flow}");
        }
    }
}
