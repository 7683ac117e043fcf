//! A file that is whole, or as it was before.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io, process};

/// Writes a file. One that was there stays as it was until the new one is whole, so a full disk costs nothing that was there.
///
/// # Errors
/// What the system says.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link keeps leading where it does. A pipe or a terminal takes bytes and cannot be replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (Some(name), false) = (target.file_name(), target.exists() && !target.is_file()) else {
        return fs::write(path, bytes);
    };
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", process::id()));
    let beside = target.with_file_name(beside);
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // The reason is told. That nothing is left over would be good, and is no condition.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_where_the_new_one_cannot_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("page.html");
        replace(&page, b"old").expect("is written");
        // Where the new one would be made there is a folder.
        let beside = folder.path().join(format!(".page.html.{}", process::id()));
        fs::create_dir(&beside).expect("is made");
        replace(&page, b"new").expect_err("cannot be written");
        assert_eq!(fs::read(&page).expect("is there"), b"old");
        fs::remove_dir(&beside).expect("is empty");
        replace(&page, b"new").expect("is written");
        assert_eq!(fs::read(&page).expect("is there"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("is a folder").count(), 1);
    }

    #[test]
    fn a_link_leads_where_it_did_and_a_device_takes_the_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let [page, link] = ["page.html", "link.html"].map(|name| folder.path().join(name));
        fs::write(&page, "old").expect("is written");
        std::os::unix::fs::symlink(&page, &link).expect("is made");
        replace(&link, b"new").expect("is written");
        assert_eq!(fs::read(&page).expect("is there"), b"new");
        assert!(link.is_symlink());
        replace(Path::new("/dev/null"), b"new").expect("takes all");
        replace(folder.path(), b"new").expect_err("is a folder");
    }
}
