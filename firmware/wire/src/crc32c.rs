//! CRC32C (Castagnoli), as MPA (RFC 5044 §4.4) and iSCSI use it.

use crc::{Crc, Table, CRC_32_ISCSI};

static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The finished CRC of the bytes. On the wire of an FPDU its low byte comes first.
pub fn crc32c(bytes: &[u8]) -> u32 {
    CRC32C.checksum(bytes)
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn check_value() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }
}
