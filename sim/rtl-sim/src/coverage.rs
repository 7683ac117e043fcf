//! Coverage of lines and of `cover` statements: collects what models wrote, and says what was never reached.
//!
//! Models built with coverage (`Design::coverage`, or `RTL_SIM_COVERAGE=1` for the build) write a file each into the folder
//! `RTL_SIM_COVERAGE_DIR` when they are dropped. `rtl-coverage FOLDER TOP` prints the summary, with the points of one design.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The next file for a model's counters, if the environment asks for them.
pub(crate) fn next_file(model: &str) -> Option<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // Environment (tests): `RTL_SIM_COVERAGE_DIR`: folder for coverage counters. Without it: not kept.
    let folder = PathBuf::from(std::env::var_os("RTL_SIM_COVERAGE_DIR")?);
    fs::create_dir_all(&folder).ok()?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Some(folder.join(format!("{model}-{}-{number}.dat", std::process::id())))
}

/// How often each line was reached: by file, then by line. And how often each `cover` statement was met: by its place in the design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    files: BTreeMap<String, BTreeMap<u32, u64>>,
    points: BTreeMap<String, u64>,
}

impl Coverage {
    /// Adds all files `*.dat` of a folder.
    pub fn read_folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "dat") {
                self.read(&fs::read_to_string(path)?);
            }
        }
        Ok(())
    }

    /// Adds the text of one file of counters, as Verilator writes it: `C '<key><value>...' <count>`, where keys begin with
    /// the character 1 and values with the character 2.
    pub fn read(&mut self, text: &str) {
        for line in text.lines() {
            let Some((point, count)) = line
                .strip_prefix("C '")
                .and_then(|rest| rest.rsplit_once("' "))
            else {
                continue;
            };
            let value = |key: &str| {
                let mut pairs = point
                    .split('\u{1}')
                    .filter_map(|pair| pair.split_once('\u{2}'));
                pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
            };
            let Some(file) = value("f") else { continue };
            let count: u64 = count.trim().parse().unwrap_or(0);
            if value("page").is_some_and(|page| page.starts_with("v_user")) {
                let place = value("h").unwrap_or_default();
                // Verilator's name for all of the model comes first: `top.weft_card.u_core...`.
                let place = place.split_once('.').map_or(place, |(_, inside)| inside);
                let place = place.replace("__BRA__", "[").replace("__KET__", "]");
                *self.points.entry(place).or_default() += count;
                continue;
            }
            // Models are built in folders at several depths; the file is the same.
            let file = file.trim_start_matches("../").to_string();
            let lines = self.files.entry(file).or_default();
            // `S` lists all lines of the block, `3-5,8`; `l` is its first.
            for range in value("S").or(value("l")).unwrap_or_default().split(',') {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
                    for line in first..=last.min(first.saturating_add(100_000)) {
                        *lines.entry(line).or_default() += count;
                    }
                }
            }
        }
    }

    /// The lines of a file that were never reached.
    pub fn missed(&self, file: &str) -> Vec<u32> {
        let lines = self.files.get(file).into_iter().flatten();
        lines
            .filter(|(_, count)| **count == 0)
            .map(|(line, _)| *line)
            .collect()
    }

    /// The `cover` statements of the design with this top module, and how often each was met. Models of several sizes make one list.
    pub fn points<'a>(&'a self, top: &'a str) -> impl Iterator<Item = (&'a str, u64)> {
        self.points.iter().filter_map(move |(place, count)| {
            let inside = place.strip_prefix(top)?.strip_prefix('.')?;
            Some((inside, *count))
        })
    }

    /// How often a point of an instance was met where its module is simulated by itself: `top` as the instance `instance`.
    pub fn met_alone(&self, top: &str, instance: &str, point: &str) -> u64 {
        let inside = point
            .strip_prefix(instance)
            .and_then(|rest| rest.strip_prefix('.'));
        let count = inside.and_then(|inside| self.points.get(&format!("{top}.{inside}")));
        count.copied().unwrap_or(0)
    }

    /// The files with their lines reached and all their lines.
    pub fn files(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.files.iter().map(|(file, lines)| {
            let reached = lines.values().filter(|count| **count > 0).count();
            (file.as_str(), reached, lines.len())
        })
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut all_reached, mut all) = (0, 0);
        for (file, reached, lines) in self.files() {
            writeln!(
                f,
                "{:>6.1} %  {reached:>5} of {lines:<5} {file}",
                percent(reached, lines)
            )?;
            let missed = self.missed(file);
            if !missed.is_empty() {
                writeln!(f, "          not reached: {}", ranges(&missed))?;
            }
            all_reached += reached;
            all += lines;
        }
        writeln!(
            f,
            "{:>6.1} %  {all_reached:>5} of {all:<5} in all",
            percent(all_reached, all)
        )
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn ranges(lines: &[u32]) -> String {
    let mut text: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = lines[at];
        while at + 1 < lines.len() && lines[at + 1] == lines[at] + 1 {
            at += 1;
        }
        text.push(if lines[at] == first {
            first.to_string()
        } else {
            format!("{first}-{}", lines[at])
        });
        at += 1;
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_and_names_missed_lines() {
        let point = |lines: &str, count: u32| {
            format!("C '\u{1}f\u{2}a.sv\u{1}l\u{2}3\u{1}page\u{2}v_line/a\u{1}S\u{2}{lines}\u{1}h\u{2}top.a' {count}\n")
        };
        let mut coverage = Coverage::default();
        coverage.read(&(point("3-5,8", 1) + &point("10-12", 0) + &point("20", 0)));
        assert_eq!(coverage.missed("a.sv"), [10, 11, 12, 20]);
        coverage.read(&point("20", 4));
        assert_eq!(coverage.files().collect::<Vec<_>>(), [("a.sv", 5, 8)]);
        assert!(coverage.to_string().contains("not reached: 10-12\n"));
        coverage.read(&point("11", 1).replace("a.sv", "../../a.sv"));
        assert_eq!(coverage.missed("a.sv"), [10, 12]);
    }

    #[test]
    fn points_are_those_of_one_design() {
        let point = |place: &str, count: u32| {
            format!("C '\u{1}f\u{2}a.sv\u{1}l\u{2}3\u{1}page\u{2}v_user/a\u{1}o\u{2}met\u{1}S\u{2}3\u{1}h\u{2}top.{place}' {count}\n")
        };
        let mut coverage = Coverage::default();
        coverage.read(&(point("card.u_a.gen__BRA__3__KET__.met", 2) + &point("card.idle", 0)));
        coverage.read(&(point("card.u_a.gen__BRA__3__KET__.met", 1) + &point("cards.idle", 7)));
        let points: Vec<_> = coverage.points("card").collect();
        assert_eq!(points, [("idle", 0), ("u_a.gen[3].met", 3)]);
        assert_eq!(coverage.files().count(), 0);
        coverage.read(&(point("b.u_c.met", 1) + &point("b.idle", 0)));
        assert_eq!(coverage.met_alone("b", "u_b", "u_b.u_c.met"), 1);
        assert_eq!(coverage.met_alone("b", "u_b", "u_b.idle"), 0);
        assert_eq!(coverage.met_alone("b", "u", "u_b.u_c.met"), 0);
    }
}
