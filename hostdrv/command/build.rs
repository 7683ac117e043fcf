//! Which revision of the sources this is: of the repository around it, or the one that `cargo package` wrote down.

use std::path::Path;
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// In a package: `{"git": {"sha1": "..."}, ...}`.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let sha1 = rest.split('"').nth(1)?;
    Some(sha1.get(..12).unwrap_or(sha1).to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A package may lie inside some other repository: what it says of itself goes first.
    let revision = packaged().or_else(|| {
        for name in ["HEAD", "logs/HEAD"] {
            if let Some(path) = git(&["rev-parse", "--git-path", name]) {
                if Path::new(&path).exists() {
                    println!("cargo:rerun-if-changed={path}");
                }
            }
        }
        // Only if this file is the repository's own.
        git(&["ls-files", "--error-unmatch", "build.rs"])?;
        git(&["rev-parse", "--short=12", "HEAD"])
    });
    println!(
        "cargo:rustc-env=WEFT_REVISION={}",
        revision.as_deref().unwrap_or("unknown revision")
    );
}
