//! The message of rping.

use weft_hostdrv::verbs::RemoteRegion;

/// A buffer as a side advertises it; 16 bytes, big-endian. "Go ahead" is the same with any content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Address (tagged offset).
    pub buf: u64,
    /// STag.
    pub rkey: u32,
    /// Bytes.
    pub size: u32,
}

impl Info {
    /// Bytes on the wire.
    pub const SIZE: usize = 16;

    /// As it is sent.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.buf.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        bytes[12..].copy_from_slice(&self.size.to_be_bytes());
        bytes
    }

    /// Reads it back.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let [b0, b1, b2, b3, b4, b5, b6, b7, k0, k1, k2, k3, s0, s1, s2, s3] = *bytes;
        Self {
            buf: u64::from_be_bytes([b0, b1, b2, b3, b4, b5, b6, b7]),
            rkey: u32::from_be_bytes([k0, k1, k2, k3]),
            size: u32::from_be_bytes([s0, s1, s2, s3]),
        }
    }

    /// As the verbs want it.
    pub fn region(self) -> RemoteRegion {
        RemoteRegion {
            addr: self.buf,
            rkey: self.rkey,
            length: self.size.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_big_endian() {
        let info = Info {
            buf: 0x0102_0304_0506_0708,
            rkey: 0x1112_1314,
            size: 0x40,
        };
        let bytes = info.to_bytes();
        assert_eq!(bytes[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[8..], [0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0x40]);
        assert_eq!(Info::from_bytes(&bytes), info);
    }
}
