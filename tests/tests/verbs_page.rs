//! docs/verbs.md against the driver: what its rows name is there, and a search for a call of rdma-core in the API's documentation finds it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::house::{code, read, root};

/// What stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn is_call(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (name.starts_with("ibv_") || name.starts_with("rdma_")) && name.chars().all(word)
}

/// The first two cells of each row of the page's tables.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    rows.filter_map(|line| {
        let mut cells = line.trim_matches('|').split(" | ");
        Some((cells.next()?, cells.next()?))
    })
    .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// The driver's sources, without comments.
fn driver() -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["hostdrv/src", "hostdrv/share/src", "hostdrv/transport/src"] {
        sources(&root().join(folder), &mut files);
    }
    files.iter().map(|file| code(&read(file))).collect()
}

/// The names under which the API's documentation finds its items.
fn aliases(driver: &[String]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for text in driver {
        for (at, _) in text.match_indices("#[doc(alias") {
            let end = text[at..].find(']').map_or(text.len(), |end| at + end);
            found.extend(text[at..end].split('"').skip(1).step_by(2));
        }
    }
    found
}

#[test]
fn a_call_that_the_page_has_is_found_by_its_name() {
    let page = read(&root().join("docs/verbs.md"));
    let driver = driver();
    let aliases = aliases(&driver);
    let mut missing = Vec::new();
    let mut named = BTreeSet::new();
    for (theirs, here) in rows(&page) {
        let calls: Vec<_> = quoted(theirs).filter(|name| is_call(name)).collect();
        named.extend(calls.iter().copied());
        // What is only dropped, or is not there, has no item. A type is found by its own name.
        let has_item = quoted(here).any(|item| item.contains("::")) || here.starts_with("the same");
        if has_item && !here.starts_with("none") && !calls.iter().any(|c| aliases.contains(c)) {
            missing.extend(calls);
        }
    }
    assert!(
        missing.is_empty(),
        "no item has these as an alias: {missing:?}"
    );
    let strange: Vec<_> = aliases
        .iter()
        .filter(|alias| !named.contains(**alias))
        .collect();
    assert!(
        strange.is_empty(),
        "aliases that docs/verbs.md does not have: {strange:?}"
    );
    assert!(aliases.len() > 60, "only {} aliases", aliases.len());
}

#[test]
fn what_the_page_names_is_there() {
    let page = read(&root().join("docs/verbs.md"));
    let driver = driver();
    let mut missing = BTreeSet::new();
    let mut looked_for = 0;
    for (_, here) in rows(&page) {
        for item in quoted(here) {
            let Some((_, last)) = item.rsplit_once("::") else {
                continue;
            };
            let end = last.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let last = &last[..end.unwrap_or(last.len())];
            looked_for += 1;
            // A function or a field; or a variant.
            let item_of = [
                format!("fn {last}("),
                format!("fn {last}<"),
                format!("pub {last}: "),
            ];
            let there = |text: &String| match last.starts_with(|c: char| c.is_lowercase()) {
                true => item_of.iter().any(|of| text.contains(of)),
                false => text.contains(last),
            };
            if !driver.iter().any(there) {
                missing.insert(item.to_owned());
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/verbs.md names what is not there: {missing:?}"
    );
    assert!(looked_for > 70, "only {looked_for} items in docs/verbs.md");
}
