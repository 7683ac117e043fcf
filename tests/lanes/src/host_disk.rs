//! The disk that carries files of the host into a guest: `/host`, read-only.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file for the guest: where it is here, and its name below `/host`.
#[derive(Debug, Clone)]
pub struct HostFile {
    /// Here.
    pub from: PathBuf,
    /// Its path below `/host` in the guest.
    pub to: String,
}

/// The disk could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HostDiskError {
    /// A file cannot be copied.
    #[error("{file} for the guest: {error}")]
    Copy {
        /// Which.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// mke2fs did not run, or failed.
    #[error("mke2fs (Debian: e2fsprogs): {0}")]
    Mke2fs(String),
}

/// Makes a disk image with these files, in `folder`.
pub fn make(folder: &Path, files: &[HostFile]) -> Result<PathBuf, HostDiskError> {
    let tree = folder.join("host");
    let mut size = 0;
    for file in files {
        let failed = |error| HostDiskError::Copy {
            file: file.from.clone(),
            error,
        };
        let to = tree.join(&file.to);
        std::fs::create_dir_all(to.parent().unwrap_or(&tree)).map_err(failed)?;
        size += std::fs::copy(&file.from, to).map_err(failed)?;
    }
    let image = folder.join("host.ext4");
    let size = format!("{}M", (size >> 20) * 9 / 8 + 4);
    let made = Command::new("mke2fs")
        .args([
            "-q",
            "-t",
            "ext4",
            "-O",
            "^has_journal",
            "-m",
            "0",
            "-L",
            "host",
            "-d",
        ])
        .args([&tree, &image])
        .arg(size)
        .output()
        .map_err(|error| HostDiskError::Mke2fs(error.to_string()))?;
    if !made.status.success() {
        return Err(HostDiskError::Mke2fs(
            String::from_utf8_lossy(&made.stderr).trim().to_owned(),
        ));
    }
    // The copies are in the image; a left-over folder would only cost space until the guest ends.
    let _ = std::fs::remove_dir_all(tree);
    Ok(image)
}
