//! A sequence diagram in text.

use std::fmt::Write;

/// The lanes, from left to right.
const LANES: [&str; 6] = [
    "host A", "memory A", "card A", "card B", "memory B", "host B",
];
/// Columns from one lane to the next.
const SPACING: usize = 17;

/// Where something begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    HostA,
    MemoryA,
    CardA,
    CardB,
    MemoryB,
    HostB,
}

/// An arrow.
pub struct Step {
    /// When, in clock cycles.
    pub cycle: u64,
    /// Where it begins.
    pub from: Lane,
    /// Where it ends; the same lane: something happens there.
    pub to: Lane,
    /// What it is.
    pub what: String,
}

/// The diagram.
pub fn draw(steps: &[Step]) -> String {
    let mut text = String::from("  cycle  ");
    for name in LANES {
        let _ = write!(text, "{name:<SPACING$}");
    }
    text = text.trim_end().to_owned() + "\n";
    for step in steps {
        let width = SPACING * (LANES.len() - 1) + 1;
        let mut line: Vec<char> = vec![' '; width];
        for lane in 0..LANES.len() {
            line[lane * SPACING] = '│';
        }
        let (from, to) = (step.from as usize * SPACING, step.to as usize * SPACING);
        let label: Vec<char> = format!(" {} ", step.what).chars().collect();
        let start = if from == to {
            let room = width - from;
            line.resize(width.max(from + 2 + label.len()), ' ');
            line[from] = '●';
            if room > label.len() {
                from + 1
            } else {
                from - label.len()
            }
        } else {
            let (left, right) = (from.min(to), from.max(to));
            line[left + 1..right].fill('─');
            if from < to {
                line[right - 1] = '►';
            } else {
                line[left + 1] = '◄';
            }
            left + 1 + (right - left).saturating_sub(label.len() + 1) / 2
        };
        for (at, c) in label.into_iter().enumerate() {
            line[start + at] = c;
        }
        let line: String = line.into_iter().collect();
        let _ = writeln!(text, "{:>7}  {}", step.cycle, line.trim_end());
    }
    text
}
