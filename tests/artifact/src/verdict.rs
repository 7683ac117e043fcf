//! Whether a result is where it is expected.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use weft_sim::figures::{self, Figure};
use weft_sim::partitions::Interval;

use crate::figure;
use crate::list::{Entry, Expected, OfBook};
use crate::path;
use crate::run::{Known, Place, Record};
use crate::shard::Step;
use crate::table::{agrees, between, tables, Table};

/// So many differences of a result are told.
const TOLD: usize = 8;

/// What is said of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All of it is where it is expected.
    Within,
    /// Something is elsewhere, or a step failed.
    Outside,
    /// Steps were not run, or by another program.
    Missing,
    /// This build cannot make it.
    Skipped,
}

impl Verdict {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Outside => "OUTSIDE",
            Self::Missing => "MISSING",
            Self::Skipped => "skipped",
        }
    }

    /// Nothing is wrong with it.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Within | Self::Skipped)
    }
}

/// A number over all parts, beside what is expected.
#[derive(Clone, Debug, Serialize)]
pub struct Number {
    /// Where it is, and between what it is expected.
    #[serde(flatten)]
    pub expected: Expected,
    /// What it is.
    pub found: Option<Interval>,
}

/// A result, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// Its name.
    pub name: String,
    /// What is said of it.
    pub verdict: Verdict,
    /// Why, if it is not within.
    pub why: Vec<String>,
    /// Cells of the book's tables that were compared.
    pub cells: usize,
    /// Its numbers.
    pub numbers: Vec<Number>,
    /// The records of its steps.
    pub steps: Vec<Record>,
    /// Its figures.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// Judges a result by the steps that there are, and writes its tables and figures into its folder. `docs` has the book's pages.
///
/// # Errors
/// A program that is not there, a folder that cannot be written.
pub fn judge(place: &Place, docs: &Path, entry: &Entry, sample: bool) -> Result<Judged, String> {
    let mut judged = Judged {
        name: entry.name.clone(),
        verdict: Verdict::Within,
        why: Vec::new(),
        cells: 0,
        numbers: Vec::new(),
        steps: Vec::new(),
        figures: Vec::new(),
    };
    if let Some(why) = place.lacks(entry)? {
        judged.verdict = Verdict::Skipped;
        judged.why.push(why);
        return Ok(judged);
    }
    let version = place.version(entry)?;
    let numbers = 0..entry.chosen(sample).len();
    let steps: Vec<Step> = numbers.map(|number| Step { entry, number }).collect();
    let mut done = Vec::new();
    for step in &steps {
        match place.known(step, &version) {
            Known::Done(record) => {
                judged.steps.push(record);
                done.push(*step);
            }
            Known::Failed(record) => {
                let status = record.status;
                judged.is(
                    Verdict::Outside,
                    format!("{} ended with status {status}", step.name()),
                );
                judged.steps.push(record);
                done.push(*step);
            }
            Known::Never => judged.is(Verdict::Missing, format!("{} was not run", step.name())),
            Known::Stale => {
                let why = format!("{} is of another program or command", step.name());
                judged.is(Verdict::Missing, why);
            }
        }
    }
    let outputs: Result<Vec<String>, _> = done.iter().map(|step| place.output(step)).collect();
    let outputs = outputs?;
    judged.values(entry, &outputs);
    let whole = !sample && done.len() == entry.parts.len();
    judged.book(place, docs, entry, &outputs, whole)?;
    judged.draw(place, entry, &done, &version)?;
    Ok(judged)
}

impl Judged {
    /// What is wrong outweighs what is missing.
    fn is(&mut self, verdict: Verdict, why: String) {
        if self.verdict != Verdict::Outside {
            self.verdict = verdict;
        }
        if self.why.len() < TOLD {
            self.why.push(why);
        }
    }

    /// The numbers of the JSON.
    fn values(&mut self, entry: &Entry, outputs: &[String]) {
        let json = outputs
            .iter()
            .map(|text| serde_json::from_str::<Value>(text));
        let json: Vec<Option<Value>> = json.map(Result::ok).collect();
        for expected in &entry.values {
            let found = json
                .iter()
                .map(|value| path::number(value.as_ref()?, &expected.at));
            let found: Option<Vec<f64>> = found.collect();
            let found = found.and_then(Interval::of);
            let Expected { at, low, high } = expected;
            match found {
                None if outputs.is_empty() => {}
                None => self.is(Verdict::Outside, format!("no number at {at}")),
                Some(of) if (*low..=*high).contains(&of.median) => {}
                Some(of) => {
                    let why = format!("{at} is {:.4}, expected {low} to {high}", of.median);
                    self.is(Verdict::Outside, why);
                }
            }
            let expected = expected.clone();
            self.numbers.push(Number { expected, found });
        }
    }

    /// The tables of the book. If the result is whole, no row of the book's may be missing.
    fn book(
        &mut self,
        place: &Place,
        docs: &Path,
        entry: &Entry,
        outputs: &[String],
        whole: bool,
    ) -> Result<(), String> {
        let page = docs.join(&entry.page);
        let cannot = |error| format!("{}: {error}", page.display());
        let text = match entry.tables.is_empty() || outputs.is_empty() {
            true => return Ok(()),
            false => fs::read_to_string(&page).map_err(cannot)?,
        };
        for (n, of_book) in entry.tables.iter().enumerate() {
            let Some(expected) = between(&text, &of_book.mark, of_book.key) else {
                let why = format!("{} has no table `{}`", entry.page, of_book.mark);
                self.is(Verdict::Outside, why);
                continue;
            };
            let measured = joined(outputs, of_book.key, &expected.head);
            self.compare(&expected, &measured, of_book, whole);
            let name = match n {
                0 => format!("{}.csv", entry.name),
                n => format!("{}-{}.csv", entry.name, n + 1),
            };
            let csv = place.of_result(entry).join(name);
            let cannot = |error| format!("cannot write {}: {error}", csv.display());
            fs::write(&csv, measured.csv()?).map_err(cannot)?;
            if let (0, Some(plot)) = (n, &entry.plot) {
                let source = format!("{}, seeds {}", entry.command.join(" "), entry.seeds);
                let what = &entry.what;
                let drawn = figure::of_table(&measured, plot, &entry.name, what, &source);
                self.figures.extend(drawn);
            }
        }
        Ok(())
    }

    fn compare(&mut self, book: &Table, measured: &Table, of: &OfBook, whole: bool) {
        let key = |row: &[String]| row.iter().take(of.key).cloned().collect::<Vec<_>>();
        for row in &measured.rows {
            let named = key(row).join(", ");
            let Some(wanted) = book.rows.iter().find(|wanted| key(wanted) == key(row)) else {
                self.is(Verdict::Outside, format!("the book has no row {named}"));
                continue;
            };
            if wanted.len() != row.len() {
                self.is(Verdict::Outside, format!("{named}: other columns"));
            }
            let cells = wanted.iter().zip(row).zip(&book.head).skip(of.key);
            for ((wanted, found), column) in cells {
                self.cells += 1;
                if !agrees(wanted, found, of.within) {
                    let why = format!("{named}, {column}: {found}, expected {wanted}");
                    self.is(Verdict::Outside, why);
                }
            }
        }
        for wanted in book.rows.iter().filter(|_| whole) {
            if !measured.rows.iter().any(|row| key(row) == key(wanted)) {
                self.is(
                    Verdict::Missing,
                    format!("no row {}", key(wanted).join(", ")),
                );
            }
        }
    }

    /// The figures of all parts as one.
    fn draw(
        &mut self,
        place: &Place,
        entry: &Entry,
        done: &[Step],
        version: &str,
    ) -> Result<(), String> {
        let of_steps = done.iter();
        let of_steps = of_steps.map(|step| figure::written(&place.of_step(step).join("figures")));
        let of_steps: Vec<Vec<Figure>> = of_steps.collect();
        let command = entry
            .command
            .iter()
            .take_while(|word| !word.starts_with("--json"));
        let command: Vec<&str> = command.map(String::as_str).collect();
        let parts: Vec<&str> = done.iter().map(Step::part).collect();
        let source = format!(
            "{}, parts {}; {version}",
            command.join(" "),
            parts.join(", ")
        );
        for first in of_steps.first().into_iter().flatten() {
            let same = of_steps.iter().flatten();
            let same: Vec<Figure> = same.filter(|one| one.name == first.name).cloned().collect();
            self.figures.extend(figure::over_seeds(&same, &source));
        }
        if !self.figures.is_empty() {
            figures::write(&self.figures, &place.of_result(entry).join("figures"))?;
        }
        Ok(())
    }
}

/// The rows of all outputs' tables with these columns.
fn joined(outputs: &[String], key: usize, head: &[String]) -> Table {
    let all = outputs.iter().flat_map(|text| tables(text, key));
    let mut joined = Table {
        head: head.to_vec(),
        rows: Vec::new(),
    };
    for row in all
        .filter(|table| table.head == head)
        .flat_map(|table| table.rows)
    {
        // What is in each part is there once.
        if !joined.rows.contains(&row) {
            joined.rows.push(row);
        }
    }
    joined
}
