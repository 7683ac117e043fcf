//! What a page shows against what a command says.
//!
//! `…` in the page stands for anything within a line; alone on a line, for any lines. As many spaces as there are count as one.

/// Of small numbers no part of them is asked for: a count of 0.03 a message.
const SLACK: f64 = 0.2;

/// How far numbers may be from those of the page.
#[derive(Clone, Copy)]
pub enum Tolerance {
    Exact,
    /// By so many per cent.
    Within(f64),
    Any,
}

pub fn matches(shown: &str, said: &str, tolerance: Tolerance) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect()
    };
    lines_match(&lines(shown), &lines(said), tolerance)
}

fn lines_match(shown: &[String], said: &[String], tolerance: Tolerance) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return said.is_empty();
    };
    if first == "…" {
        return (0..=said.len()).any(|skipped| lines_match(rest, &said[skipped..], tolerance));
    }
    said.split_first().is_some_and(|(line, later)| {
        line_matches(first, line, tolerance) && lines_match(rest, later, tolerance)
    })
}

fn line_matches(shown: &str, said: &str, tolerance: Tolerance) -> bool {
    if shown.is_empty() || said.is_empty() {
        return shown == said || shown == "…";
    }
    if let Some(rest) = shown.strip_prefix('…') {
        let mut ends = said.char_indices().map(|(at, _)| at).chain([said.len()]);
        return ends.any(|at| line_matches(rest, &said[at..], tolerance));
    }
    if let (Some((a, shown_rest)), Some((b, said_rest))) = (number(shown), number(said)) {
        let same = match tolerance {
            Tolerance::Exact => {
                shown[..shown.len() - shown_rest.len()] == said[..said.len() - said_rest.len()]
            }
            Tolerance::Within(percent) => (a - b).abs() <= SLACK.max(a.abs() * percent / 100.0),
            Tolerance::Any => true,
        };
        return same && line_matches(shown_rest, said_rest, tolerance);
    }
    let (a, b) = (shown.chars().next(), said.chars().next());
    let next = |text: &str, c: Option<char>| c.map_or(0, char::len_utf8).min(text.len());
    a == b && line_matches(&shown[next(shown, a)..], &said[next(said, b)..], tolerance)
}

/// The decimal number at the front, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let digit = |c: char| c.is_ascii_digit();
    let whole = text.find(|c| !digit(c)).unwrap_or(text.len());
    if whole == 0 {
        return None;
    }
    let mut end = whole;
    if let Some(fraction) = text[whole..].strip_prefix('.') {
        let digits = fraction.find(|c| !digit(c)).unwrap_or(fraction.len());
        end += if digits > 0 { 1 + digits } else { 0 };
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[test]
fn tolerances() {
    use Tolerance::{Any, Exact, Within};
    assert!(matches("a  1\n", "a 1\n", Exact));
    assert!(!matches("a 1\n", "a 2\n", Exact));
    assert!(!matches("a 1\n", "a 1\nb\n", Exact));
    assert!(!matches("a 1.0\n", "a 1\n", Exact));
    assert!(matches("a 100 b\n", "a 104.9 b\n", Within(5.0)));
    assert!(!matches("a 100 b\n", "a 106 b\n", Within(5.0)));
    assert!(matches("a 0.05\n", "a 0.2\n", Within(5.0)));
    assert!(!matches("a 0.05\n", "a 0.3\n", Within(5.0)));
    assert!(matches("a 7 ms\n", "a 9.25 ms\n", Any));
    assert!(!matches("a 7 ms\n", "a 7 s\n", Any));
    assert!(!matches("a 7 ms\n", "a ms\n", Any));
    assert!(matches("a … c\n…\nz\n", "a b c\n1\n2\nz\n", Exact));
    assert!(matches("a\n…\n", "a\n", Exact));
    assert!(matches("a …\n", "a b\n", Exact));
    assert!(!matches("a … d\n", "a b c\n", Exact));
}
