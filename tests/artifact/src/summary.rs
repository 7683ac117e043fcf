//! All verdicts: for people, as a page, and as JSON.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use weft_sim::figures::{Page, Table};

use crate::list::Entry;
use crate::verdict::{Judged, Verdict};

/// For people.
pub fn text(all: &[Judged]) -> String {
    let mut out = String::new();
    for judged in all {
        let (name, verdict) = (&judged.name, judged.verdict.name());
        // Writing to a string does not fail.
        let _ = writeln!(out, "  {name:<22} {verdict:<8} {}", measure(judged));
        for why in &judged.why {
            let _ = writeln!(out, "  {:<22}   {why}", "");
        }
    }
    let good = all
        .iter()
        .filter(|judged| judged.verdict == Verdict::Within);
    let skipped = all
        .iter()
        .filter(|judged| judged.verdict == Verdict::Skipped);
    let (good, skipped) = (good.count(), skipped.count());
    let others = all.len() - good - skipped;
    let _ = writeln!(out, "{good} within, {others} not, {skipped} skipped");
    out
}

/// How much was compared, and how long it took.
fn measure(judged: &Judged) -> String {
    // A sum of none is -0.
    let seconds = judged
        .steps
        .iter()
        .fold(0.0, |all, record| all + record.seconds);
    let steps = judged.steps.len();
    match judged.verdict {
        Verdict::Skipped => String::new(),
        _ => format!(
            "{steps} steps, {seconds:.0} s; {} cells, {} numbers",
            judged.cells,
            judged.numbers.len()
        ),
    }
}

/// Writes `index.html` and `verdict.json`.
///
/// # Errors
/// What could not be drawn or written.
pub fn write(out: &Path, entries: &[Entry], all: &[Judged]) -> Result<(), String> {
    let cannot = |error| format!("cannot write in {}: {error}", out.display());
    fs::create_dir_all(out).map_err(cannot)?;
    let json = serde_json::to_string_pretty(all).map_err(|error| error.to_string())?;
    fs::write(out.join("verdict.json"), json + "\n").map_err(cannot)?;
    fs::write(out.join("index.html"), page(entries, all)?).map_err(cannot)
}

fn page(entries: &[Entry], all: &[Judged]) -> Result<String, String> {
    let mut page = Page::new("Weft: results of the book", "make artifact");
    let head = ["result", "page", "verdict", "measured", "why"];
    let mut table = Table::new("", &head);
    let of = |judged: &Judged| entries.iter().find(|entry| entry.name == judged.name);
    for judged in all {
        table.rows.push(vec![
            judged.name.clone(),
            of(judged).map_or(String::new(), |entry| entry.page.clone()),
            judged.verdict.name().to_owned(),
            measure(judged),
            judged.why.join("; "),
        ]);
    }
    page.table(&table);
    for judged in all
        .iter()
        .filter(|judged| judged.verdict != Verdict::Skipped)
    {
        page.heading(&judged.name);
        if let Some(entry) = of(judged) {
            page.paragraph(&format!("{}; seeds {}.", entry.what, entry.seeds));
            page.paragraph(&entry.command.join(" "));
        }
        let version = judged.steps.first();
        page.paragraph(version.map_or("", |record| &record.version));
        numbers(judged, &mut page);
        page.figures(&judged.figures)?;
    }
    Ok(page.html())
}

fn numbers(judged: &Judged, page: &mut Page) {
    let head = ["number", "median", "low", "high", "expected from", "to"];
    let mut table = Table::new("", &head);
    for number in &judged.numbers {
        let found = number.found;
        let found = found.map_or([f64::NAN; 3], |of| [of.median, of.low, of.high]);
        let mut row = vec![number.expected.at.clone()];
        row.extend(found.map(|value| format!("{value:.4}")));
        row.extend([number.expected.low, number.expected.high].map(|end| end.to_string()));
        table.rows.push(row);
    }
    if !table.rows.is_empty() {
        page.table(&table);
    }
}
