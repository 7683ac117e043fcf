//! Steps, and which of several jobs does which.

use std::str::FromStr;

use crate::list::Entry;

/// A part of a result.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Of which result.
    pub entry: &'a Entry,
    /// The part's number, from 0.
    pub number: usize,
}

impl Step<'_> {
    /// What it is called for people.
    pub fn name(&self) -> String {
        match self.entry.parts.len() {
            1 => self.entry.name.clone(),
            all => format!("{} {}/{all}", self.entry.name, self.number + 1),
        }
    }

    /// The part.
    pub fn part(&self) -> &str {
        &self.entry.parts[self.number]
    }
}

/// All steps, in the order of the list.
pub fn steps(entries: &[Entry], sample: bool) -> Vec<Step<'_>> {
    let of = |entry| {
        let numbers = 0..Entry::chosen(entry, sample).len();
        numbers.map(move |number| Step { entry, number })
    };
    entries.iter().flat_map(of).collect()
}

/// One of so many jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is no share: 1/8 to 8/8, for instance")),
        }
    }
}

impl Shard {
    /// Its steps: each of all steps is one shard's.
    pub fn take<'a>(self, steps: &[Step<'a>]) -> Vec<Step<'a>> {
        let mine = steps.iter().skip(self.number - 1).step_by(self.of);
        mine.copied().collect()
    }
}
