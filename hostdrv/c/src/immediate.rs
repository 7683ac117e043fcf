//! Immediate data.
//!
//! iWARP's is a message of eight bytes (RFC 7306 §6), sent behind the Write. The first four are the program's word, as it has it in memory; so have other
//! implementations. In the other four a Weft peer says how many bytes the Write had, which the completion of the receive is to say.

/// The eight bytes, most significant first.
pub(crate) fn message(word: u32, length: u32) -> u64 {
    u64::from(u32::from_be(word)) << 32 | u64::from(length)
}

/// The program's word.
pub(crate) fn word(message: u64) -> u32 {
    ((message >> 32) as u32).to_be()
}

/// The Write's bytes; 0 from a peer that says nothing of it.
pub(crate) fn length(message: u64) -> u32 {
    message as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_bytes_come_first_as_they_lie_in_memory() {
        let word_in_memory = u32::from_ne_bytes([1, 2, 3, 4]);
        let sent = message(word_in_memory, 0x0506_0708);
        assert_eq!(sent.to_be_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((word(sent), length(sent)), (word_in_memory, 0x0506_0708));
    }
}
