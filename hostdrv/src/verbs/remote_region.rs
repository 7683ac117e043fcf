//! How a peer knows a region.

/// What a peer must know of a region to read or write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteRegion {
    /// Address (tagged offset) of the first byte.
    pub addr: u64,
    /// The region's STag.
    pub rkey: u32,
    /// Bytes.
    pub length: u64,
}

impl RemoteRegion {
    /// Bytes of its form on the wire.
    pub const SIZE: usize = 20;

    /// The part that begins `offset` bytes in.
    pub fn offset(self, offset: u64) -> Self {
        Self {
            addr: self.addr.wrapping_add(offset),
            length: self.length.saturating_sub(offset),
            ..self
        }
    }

    /// As bytes to send to the peer, big-endian: address, STag, length.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.addr.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        bytes[12..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }

    /// Reads them back.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| -> [u8; 8] { std::array::from_fn(|i| bytes[at + i]) };
        Self {
            addr: u64::from_be_bytes(word(0)),
            rkey: u32::from_be_bytes(std::array::from_fn(|i| bytes[8 + i])),
            length: u64::from_be_bytes(word(12)),
        }
    }
}
