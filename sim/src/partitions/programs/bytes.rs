//! Bytes that say whose they are: each message has its own, and a wrong one is found.

/// The bytes that belong to a tag.
fn of(tag: u64) -> impl Iterator<Item = u8> {
    // An odd factor: no two tags have the same first eight bytes.
    let seed = tag.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..).flat_map(move |word: u64| (seed ^ word.wrapping_mul(0x0101_0101)).to_le_bytes())
}

/// So many of them.
pub(super) fn make(tag: u64, length: usize) -> Vec<u8> {
    of(tag).take(length).collect()
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
    }
}
