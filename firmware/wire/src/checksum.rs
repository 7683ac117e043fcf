//! The Internet checksum (RFC 1071).

/// A sum under way. Pieces may be added in any order, but each must begin at an even offset of
/// what is summed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum(u32);

impl Checksum {
    /// Adds bytes; an odd last byte counts as the high half of a word.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut pairs = bytes.chunks_exact(2);
        for pair in &mut pairs {
            self = self.word(u16::from_be_bytes([pair[0], pair[1]]));
        }
        if let [last] = pairs.remainder() {
            self = self.word(u16::from_be_bytes([*last, 0]));
        }
        self
    }

    /// Adds one word.
    pub fn word(mut self, word: u16) -> Self {
        self.0 += u32::from(word);
        self.0 = (self.0 & 0xffff) + (self.0 >> 16);
        self
    }

    /// The checksum field: 0 over a correct header that includes its field.
    pub fn finish(self) -> u16 {
        let folded = (self.0 & 0xffff) + (self.0 >> 16);
        !(folded as u16)
    }
}
