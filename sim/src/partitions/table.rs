//! Tables of the book that examples make: printed, or written into its page.

use std::error::Error;
use std::path::Path;

use super::workload::Load;
use super::PartitionsError;

/// A table of `docs/partitions.md`.
pub struct Table {
    /// It stands between `<!-- mark -->` and `<!-- end of mark -->`.
    pub mark: &'static str,
    /// Above the rows.
    pub head: &'static str,
    /// The loads, in their order.
    pub loads: Vec<Load>,
    /// The rows of each.
    pub rows: fn(&Load) -> Result<String, PartitionsError>,
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
        let mut table = self.head.to_owned();
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
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/partitions.md");
        let mut text = std::fs::read_to_string(&page)?;
        let begin = format!("<!-- {} -->\n", self.mark);
        let end = format!("<!-- end of {} -->", self.mark);
        let from = text.find(&begin).ok_or("no mark")? + begin.len();
        let to = text.find(&end).ok_or("no end")?;
        text.replace_range(from..to, table);
        std::fs::write(&page, text)?;
        Ok(())
    }
}
