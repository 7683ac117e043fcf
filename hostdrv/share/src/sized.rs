//! A structure that says its own size, piece by piece over the socket: it may be longer than an answer is, and longer than its reader knows.

use std::io;

use super::packet::{words, Words, ANSWER};

/// Words of an answer behind the first, which says how many bytes there are in all.
const PIECE: usize = 8 * (ANSWER - 1);
/// No structure is longer.
const MOST: u64 = 1 << 16;

/// The piece of `whole` from byte `from` on.
pub(super) fn piece(whole: &[u8], from: u64) -> Result<Words, String> {
    let rest = usize::try_from(from)
        .ok()
        .and_then(|from| whole.get(from..));
    let rest = rest.ok_or_else(|| format!("byte {from} of {}", whole.len()))?;
    let mut said = vec![whole.len() as u64];
    for bytes in rest.chunks(8).take(ANSWER - 1) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        said.push(u64::from_le_bytes(word));
    }
    Ok(words(&said))
}

/// All of it, by asking for the piece from each byte on.
pub(super) fn whole(mut ask: impl FnMut(u64) -> io::Result<Words>) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let [length, piece @ ..] = ask(whole.len() as u64)?;
        let left = length.checked_sub(whole.len() as u64);
        let Some(left) = left.filter(|_| length <= MOST) else {
            let what = format!("a structure of {length} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        };
        let bytes = piece.iter().flat_map(|word| word.to_le_bytes());
        whole.extend(bytes.take(PIECE.min(left as usize)));
        if whole.len() as u64 == length {
            return Ok(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_any_length() {
        for length in [0, 1, 7, 8, 119, 120, 121, 240, 1000] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let mut asked = 0;
            let read = whole(|from| {
                asked += 1;
                piece(&bytes, from).map_err(io::Error::other)
            });
            assert_eq!(read.ok(), Some(bytes));
            assert_eq!(asked, (length as usize).div_ceil(PIECE).max(1));
        }
        assert!(piece(&[0; 8], 9).is_err());
        assert!(piece(&[0; 8], u64::MAX).is_err());
    }

    /// A broker that says one length and then another, or none that can be.
    #[test]
    fn whoever_lies_is_not_asked_for_ever() {
        for (first, then) in [(MOST + 1, 0), (u64::MAX, 0), (500, 1), (500, 0)] {
            let mut next = first;
            let read = whole(|_| Ok(words(&[std::mem::replace(&mut next, then)])));
            assert!(read.is_err(), "{first} {then}");
        }
        let mut grows = 200;
        let read = whole(|_| {
            grows += 1000;
            Ok(words(&[grows]))
        });
        assert!(read.is_err());
    }
}
