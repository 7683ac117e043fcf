//! The list of results: what makes each, and where it is expected to be.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// In a command: the part that a step has.
pub const PART: &str = "{part}";
/// In a command: the folder of the step.
pub const OUT: &str = "{out}";

/// A result of the book.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name, and its folder's.
    pub name: String,
    /// What it says.
    pub what: String,
    /// The page of the book that has it.
    pub page: String,
    /// What makes it: `weft`, or `examples/NAME`, with its arguments; [`PART`] and [`OUT`] stand for what a step has.
    pub command: Vec<String>,
    /// What it is split into; each is a step.
    #[serde(default = "whole")]
    pub parts: Vec<String>,
    /// Which seeds are in it, in words.
    pub seeds: String,
    /// So many of its parts, from the first on, are in the sample.
    #[serde(default)]
    pub sample: usize,
    /// What a build has to have.
    #[serde(default)]
    pub needs: Option<Needs>,
    /// Tables of the page that its output has as well.
    #[serde(default)]
    pub tables: Vec<OfBook>,
    /// Numbers of its JSON, and where each is expected: its median over all parts.
    #[serde(default)]
    pub values: Vec<Expected>,
    /// A figure of the first table.
    #[serde(default)]
    pub plot: Option<Plot>,
}

/// What not every build has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// Verilated cards.
    Rtl,
}

/// A table of the book, between its marks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfBook {
    /// The mark.
    pub mark: String,
    /// So many columns, from the first on, name a row.
    pub key: usize,
    /// How far a number may be from the book's, as a part of it. 0: all text is the same.
    pub within: f64,
}

/// A number, and where it is expected.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Its path in the JSON: names with dots between, `list[3]`, `list[name=host;loss=0]`.
    pub at: String,
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

/// Bars of a table's column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Columns that name a place.
    pub places: Vec<String>,
    /// The column that names a series.
    pub series: String,
    /// The column that is drawn.
    pub y: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    result: Vec<Entry>,
}

fn whole() -> Vec<String> {
    vec![String::new()]
}

/// The results of the book.
///
/// # Errors
/// See [`read`].
pub fn book() -> Result<Vec<Entry>, String> {
    read(include_str!("../results.toml"))
}

/// Reads a list.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut names = HashSet::new();
    for entry in &file.result {
        let name = &entry.name;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(is_name) || !names.insert(name.clone()) {
            return Err(format!(
                "`{name}`: a name of small letters that no other has"
            ));
        }
        if entry.command.is_empty() || entry.parts.is_empty() {
            return Err(format!("`{name}` has no command, or no part"));
        }
    }
    Ok(file.result)
}

impl Entry {
    /// The parts that are run: all, or those of the sample.
    pub fn chosen(&self, sample: bool) -> &[String] {
        match sample {
            true => &self.parts[..self.sample.min(self.parts.len())],
            false => &self.parts,
        }
    }

    /// The command of a part; [`OUT`] is left in it.
    pub fn command_of(&self, part: &str) -> Vec<String> {
        let words = self.command.iter();
        words.map(|word| word.replace(PART, part)).collect()
    }

    /// Its output is one JSON value.
    pub fn is_json(&self) -> bool {
        self.command.iter().any(|word| word == "--json")
    }
}
