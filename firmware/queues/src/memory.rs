//! The memory that queues lie in.

/// Memory that two sides share, as little-endian words of 8 bytes. All access to a word is atomic.
///
/// An access beyond the end reads 0 and writes nothing: a queue that was laid out for its memory makes none.
pub trait Memory {
    /// These words by themselves; `None` if they are not all there.
    fn part(&self, word: usize, words: usize) -> Option<&Self>;
    /// Reads a word, in no order.
    fn load(&self, word: usize) -> u64;
    /// Writes a word, in no order.
    fn store(&self, word: usize, value: u64);
    /// Reads a word before all that is read and written afterwards.
    fn load_first(&self, word: usize) -> u64;
    /// Reads two words that lie beside each other, each as [`load_first`](Self::load_first) does.
    #[inline(always)]
    fn load_first_two(&self, word: usize) -> [u64; 2] {
        [self.load_first(word), self.load_first(word + 1)]
    }
    /// These words will be loaded next, as they are now: where an access costs much, one may bring them all.
    #[inline(always)]
    fn expect(&self, _word: usize, _words: usize) {}
    /// Writes a word behind all that was read and written before.
    fn store_last(&self, word: usize, value: u64);
    /// Sets bits of a word. It and [`take`](Self::take) have one order; what was stored before comes before them, what is
    /// loaded afterwards behind them.
    fn set(&self, word: usize, bits: u64);
    /// Reads a word and leaves 0.
    fn take(&self, word: usize) -> u64;
}

#[cfg(target_has_atomic = "64")]
mod atomic {
    use core::sync::atomic::{fence, AtomicU64, Ordering};

    use super::Memory;

    impl Memory for [AtomicU64] {
        #[inline(always)]
        fn part(&self, word: usize, words: usize) -> Option<&Self> {
            self.get(word..word.checked_add(words)?)
        }
        #[inline(always)]
        fn load(&self, word: usize) -> u64 {
            let word = self.get(word);
            word.map_or(0, |word| u64::from_le(word.load(Ordering::Relaxed)))
        }
        #[inline(always)]
        fn store(&self, word: usize, value: u64) {
            if let Some(word) = self.get(word) {
                word.store(value.to_le(), Ordering::Relaxed);
            }
        }
        #[inline(always)]
        fn load_first(&self, word: usize) -> u64 {
            let word = self.get(word);
            word.map_or(0, |word| u64::from_le(word.load(Ordering::Acquire)))
        }
        #[inline(always)]
        fn store_last(&self, word: usize, value: u64) {
            if let Some(word) = self.get(word) {
                word.store(value.to_le(), Ordering::Release);
            }
        }
        #[inline(always)]
        fn set(&self, word: usize, bits: u64) {
            if let Some(word) = self.get(word) {
                fence(Ordering::SeqCst);
                word.fetch_or(bits.to_le(), Ordering::SeqCst);
                fence(Ordering::SeqCst);
            }
        }
        #[inline(always)]
        fn take(&self, word: usize) -> u64 {
            let Some(word) = self.get(word) else {
                return 0;
            };
            fence(Ordering::SeqCst);
            let before = u64::from_le(word.swap(0, Ordering::SeqCst));
            fence(Ordering::SeqCst);
            before
        }
    }
}
