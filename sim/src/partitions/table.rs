//! Tables of the book that examples make: printed, or written into its page.

use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::workload::Load;
use super::PartitionsError;

/// The rows of a load.
pub type Rows = Box<dyn Fn(&Load) -> Result<String, PartitionsError>>;

/// A table of a page.
pub struct Table {
    /// The page, by its file's name in `docs`.
    pub page: &'static str,
    /// It stands between `<!-- mark -->` and `<!-- end of mark -->`.
    pub mark: &'static str,
    /// Above the rows.
    pub head: String,
    /// The loads, in their order.
    pub loads: Vec<Load>,
    /// The rows of each.
    pub rows: Rows,
}

impl Table {
    /// Prints it, of the loads that the arguments name, or of all. With `--write` behind them it goes into its page.
    pub fn by_arguments(self, mut names: Vec<String>) -> Result<(), Box<dyn Error>> {
        let write = names.last().is_some_and(|last| last == "--write");
        if write {
            names.pop();
        }
        let is_there = |name: &String| self.loads.iter().any(|load| load.name == *name);
        if let Some(name) = names.iter().find(|name| !is_there(name)) {
            return Err(format!("no load `{name}`").into());
        }
        if write && !names.is_empty() {
            return Err("the page has all loads".into());
        }
        let mut table = self.head.clone();
        print!("{}", self.head);
        for load in &self.loads {
            if names.is_empty() || names.contains(&load.name) {
                let rows = (self.rows)(load)?;
                print!("{rows}");
                table += &rows;
            }
        }
        if write {
            self.write(&table)?;
        }
        Ok(())
    }

    fn write(&self, table: &str) -> Result<(), Box<dyn Error>> {
        let page = self.path();
        let mut text = std::fs::read_to_string(&page)?;
        let place = self.place(&text)?;
        text.replace_range(place, table);
        std::fs::write(&page, text)?;
        Ok(())
    }

    fn path(&self) -> PathBuf {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        docs.join(self.page)
    }

    /// Between its marks.
    fn place(&self, text: &str) -> Result<Range<usize>, &'static str> {
        let begin = format!("<!-- {} -->\n", self.mark);
        let end = format!("<!-- end of {} -->", self.mark);
        let from = text.find(&begin).ok_or("no mark")? + begin.len();
        let to = text.find(&end).ok_or("no end")?;
        text.get(from..to).ok_or("the end is before the mark")?;
        Ok(from..to)
    }

    /// Whether the page has its head, a place for each load, and the rows of those that `is_in` names; what it has not.
    ///
    /// # Errors
    /// There is no page, no mark in it, or a load fails.
    pub fn stale(&self, is_in: impl Fn(&Load) -> bool) -> Result<Vec<String>, Box<dyn Error>> {
        let text = std::fs::read_to_string(self.path())?;
        let text = &text[self.place(&text)?];
        let mut stale = Vec::new();
        if !text.starts_with(&self.head) {
            stale.push(self.head.clone());
        }
        for load in self.loads.iter().filter(|load| is_in(load)) {
            let rows = (self.rows)(load)?;
            if !text.contains(&rows) {
                stale.push(rows);
            }
        }
        Ok(stale)
    }
}
