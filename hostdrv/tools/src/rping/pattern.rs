//! The bytes of a ping.

/// The shortest ping that rping takes: room for the text with any number.
pub const MIN_SIZE: usize = 26;
/// The longest ping that rping takes.
pub const MAX_SIZE: usize = 65_535;

const FIRST: u64 = b'A' as u64;
/// Letters in the sequence: 'A' to 'z'.
const LETTERS: u64 = (b'z' - b'A' + 1) as u64;

/// Ping number `number` of `size` bytes: "rdma-ping-N: ", then the characters from 'A' to 'z' over and over, with each ping
/// one further, and a zero at the end.
pub fn expected(number: u64, size: usize) -> Vec<u8> {
    // rping counts in an int.
    let mut bytes = format!("rdma-ping-{}: ", number as i32).into_bytes();
    let letters = (number % LETTERS..).map(|n| (FIRST + n % LETTERS) as u8);
    bytes.extend(letters.take(size.saturating_sub(bytes.len())));
    bytes.truncate(size);
    if let Some(last) = bytes.last_mut() {
        *last = 0;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_rping_prints_it() {
        // What the loop in rping.c makes.
        let text = b"rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\0";
        assert_eq!(expected(0, 64), text);
        let text = b"rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs\0";
        assert_eq!(expected(1, 64), text);
        // 'A' follows 'z'; ping 58 begins with 'A' again.
        assert_eq!(&expected(57, 64)[14..18], b"zABC");
        assert_eq!(&expected(58, 64)[14..18], b"ABCD");
        assert_eq!(expected(5, MAX_SIZE).len(), MAX_SIZE);
    }
}
