//! The guest's console: a log file that QEMU writes.

use std::path::{Path, PathBuf};

/// The log of a guest's console.
#[derive(Debug, Clone)]
pub struct Console {
    path: PathBuf,
}

/// What a kernel says when it cannot go on, or when something in it is broken.
const BAD_NEWS: [&str; 7] = [
    "Kernel panic",
    "BUG: ",
    "Oops: ",
    "general protection fault",
    "watchdog: BUG",
    "blocked for more than",
    "rcu: INFO: rcu_",
];

impl Console {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of it, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.path).unwrap_or_default()).replace('\r', "")
    }

    /// Its last lines.
    pub fn tail(&self, lines: usize) -> String {
        let text = self.text();
        let all: Vec<_> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// The first line in which the kernel says that something is broken.
    pub fn bad_news(&self) -> Option<String> {
        let text = self.text();
        text.lines()
            .find(|line| BAD_NEWS.iter().any(|news| line.contains(news)))
            .map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_and_the_bad_news() {
        let folder = tempfile::tempdir().unwrap();
        let console = Console::new(folder.path().join("console"));
        assert_eq!(
            (console.tail(3), console.bad_news()),
            (String::new(), None),
            "not there yet"
        );
        std::fs::write(
            console.path(),
            "one\r\ntwo\r\n[1.0] Kernel panic - not syncing\r\nfour\r\n",
        )
        .unwrap();
        assert_eq!(console.tail(2), "[1.0] Kernel panic - not syncing\nfour");
        assert_eq!(
            console.bad_news().as_deref(),
            Some("[1.0] Kernel panic - not syncing")
        );
    }
}
