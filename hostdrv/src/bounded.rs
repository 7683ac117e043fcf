//! Files that a user names: read to their end if they have one near enough, which `/dev/zero` has not.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Bytes of such a file at most: tables, policies, firmware, what a demonstration moves.
pub const LONGEST: u64 = 16 << 20;

/// The whole of it. Errors: the system's, and `InvalidData` for one that is longer than [`LONGEST`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        0..=LONGEST => Ok(bytes),
        _ => {
            let reason = format!(
                "it is too long: such a file has at most {} MiB",
                LONGEST >> 20
            );
            Err(io::Error::new(ErrorKind::InvalidData, reason))
        }
    }
}

/// The same of text. Errors: those of [`read`], and `InvalidData` for what is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_not_read() {
        let refused = read(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(refused.kind(), ErrorKind::InvalidData);
        assert_eq!(read(Path::new("/dev/null")).expect("empty"), b"");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"text\xff").expect("written");
        assert_eq!(read(&path).expect("there"), b"text\xff");
        assert!(read_to_string(&path).is_err());
    }
}
