//! Bytes that say whose they are: each message has its own, and a wrong one is found.

/// The bytes that belong to a tag.
fn of(tag: u64) -> impl Iterator<Item = u8> {
    // An odd factor: no two tags have the same first eight bytes.
    let seed = tag.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..).flat_map(move |word: u64| (seed ^ word.wrapping_mul(0x0101_0101)).to_le_bytes())
}

/// So many of them.
pub(super) fn make(tag: u64, length: usize) -> Vec<u8> {
    let made: Vec<u8> = of(tag).take(length).collect();
    #[cfg(test)]
    let made = spoils::spoiled(made);
    made
}

/// For tests: one call of [`make`] makes wrong bytes.
#[cfg(test)]
pub(super) mod spoils {
    use std::cell::Cell;

    thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// The one after so many others.
    pub(in super::super) fn after(calls: usize) {
        LEFT.set(Some(calls));
    }

    /// Whether it has not come.
    pub(in super::super) fn is_left() -> bool {
        LEFT.get().is_some()
    }

    /// The last byte is wrong, if it is that call's.
    pub(super) fn spoiled(mut made: Vec<u8>) -> Vec<u8> {
        let left = LEFT.get();
        LEFT.set(left.and_then(|left| left.checked_sub(1)));
        if let (Some(0), Some(last)) = (left, made.last_mut()) {
            *last ^= 1;
        }
        made
    }
}

/// Whether these are the tag's, all of them.
pub(super) fn belong(bytes: &[u8], tag: u64) -> bool {
    bytes.iter().copied().eq(of(tag).take(bytes.len()))
}

/// A number of a message, which begins `at` bytes in; 0 beyond its end.
pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u64::from_le_bytes(word.copied().unwrap_or_default())
}

/// Adds words of four bytes.
pub(super) fn add(to: &mut [u8], other: &[u8]) {
    for (to, other) in to.chunks_exact_mut(4).zip(other.chunks_exact(4)) {
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let sum = word(to).wrapping_add(word(other));
        to.copy_from_slice(&sum.to_le_bytes());
    }
}

/// Numbers as bytes of a message.
pub(super) fn numbers(all: &[u64]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_found_wherever_it_is() {
        let right = make(7, 100);
        assert!(belong(&right, 7) && !belong(&right, 8) && belong(&[], 9));
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 0x10;
            assert!(!belong(&wrong, 7), "{at}");
        }
        assert_eq!(number(&[9; 8], 0), 0x0909_0909_0909_0909);
        assert_eq!((number(&[9; 8], 1), number(&[], 4)), (0, 0));
        assert_eq!(number(&numbers(&[5, 6]), 8), 6);
        let mut sum = vec![255, 0, 0, 0, 1, 2, 255, 255];
        add(&mut sum, &[1, 0, 0, 0, 1, 1, 0, 1]);
        assert_eq!(sum, [0, 1, 0, 0, 2, 3, 255, 0]);
    }
}
