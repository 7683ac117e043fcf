//! Copies between shared words and bytes of this thread's own: a word in each step and nothing else, so that they run at the speed of memory.

use std::sync::atomic::{AtomicU64, Ordering};

use super::WORD;

/// Copies words out into as many bytes.
#[inline]
pub(super) fn load(from: &[AtomicU64], to: &mut [u8]) {
    for (word, bytes) in from.iter().zip(to.chunks_exact_mut(WORD)) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }
}

/// Copies as many bytes in.
#[inline]
pub(super) fn store(from: &[u8], to: &[AtomicU64]) {
    for (bytes, word) in from.chunks_exact(WORD).zip(to) {
        let mut value = [0; WORD];
        value.copy_from_slice(bytes);
        word.store(u64::from_ne_bytes(value), Ordering::Relaxed);
    }
}
