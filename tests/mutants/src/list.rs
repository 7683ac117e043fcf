//! The list of faults: `tests/mutants/faults/*.toml`.

use std::collections::HashSet;
use std::path::Path;

use serde::Deserialize;

/// What a fault is like: the kinds that the first suite let live, and plain ones.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A table, a doorbell or a register is used while packets are in the walk.
    TableUnderTraffic,
    /// Segments of one or of two flows behind one another in the walk.
    Chained,
    /// Rings and buffers that are full, or one short of it.
    BackPressure,
    /// Host memory answers with an error.
    BusError,
    /// Sequence numbers, counts and addresses that wrap.
    Wrap,
    /// The last value that is right, or the first that is wrong.
    Boundary,
    /// Reset, drain, late answers.
    Reset,
    /// Something is counted, kept or freed at the wrong moment.
    Accounting,
    /// Memory that is no longer registered.
    Invalidation,
    /// A rule of an RFC or of the card's contract.
    Rule,
    /// A thread sleeps, or a queue rests, past its event.
    Wake,
    /// From one clock to another.
    Crossing,
}

/// One planted fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name.
    pub name: String,
    /// The source that it is in.
    pub file: String,
    /// What it is like.
    pub kind: Kind,
    /// Text that stands once in the file: an expression, or whole statements.
    pub find: String,
    /// What stands there instead when the fault shows.
    pub plant: String,
    /// `find` is one or more whole statements.
    #[serde(default)]
    pub statement: bool,
    /// Tests that catch it, the quickest first: `package/test-target`, with `:filter` behind it; `lib` is the package's unit tests.
    pub catch: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    fault: Vec<Fault>,
}

/// Reads all files of a folder, in the order of their names. A fault's number is its place in this list, from 1.
pub fn read(folder: &Path) -> Result<Vec<Fault>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut faults = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file: File =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        faults.extend(file.fault);
    }
    let mut names = HashSet::new();
    for fault in &faults {
        if !names.insert(&fault.name) {
            return Err(format!("two faults are called {}", fault.name));
        }
        if fault.catch.is_empty() {
            return Err(format!("{}: no test is named", fault.name));
        }
        // A choice between two blocks ends the life of a name that either makes.
        if fault.statement && fault.find.starts_with("let ") {
            return Err(format!(
                "{}: what follows could not see a name that a let makes: its expression has to be found",
                fault.name
            ));
        }
    }
    Ok(faults)
}
