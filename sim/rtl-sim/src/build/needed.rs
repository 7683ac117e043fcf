//! Which files of a tree a design needs, found by the names in its text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files that module `top` needs of those in `folders` and below: packages first, each file behind those that it names.
///
/// A module, interface or package is looked for in the file of its name. What merely bears the name of one brings its file in as well.
///
/// # Panics
/// If there is no such module, or a folder or a file cannot be read, as a build script should.
pub fn needed(top: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = BTreeMap::new();
    for folder in folders {
        collect(folder, &mut files);
    }
    let file = files.get(top).cloned();
    let file = file.unwrap_or_else(|| panic!("no {top}.sv below {folders:?}"));
    let mut search = Search {
        files,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    search.visit(&file);
    let (mut found, others): (Vec<_>, Vec<_>) = search
        .found
        .into_iter()
        .filter(|file| !is_included(file))
        .partition(|file| name(file).ends_with("_pkg"));
    found.extend(others);
    found
}

fn name(file: &Path) -> &str {
    file.file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("")
}

/// A file of macros: no file of a design, but it may name some.
fn is_included(file: &Path) -> bool {
    file.extension().is_some_and(|ext| ext == "svh")
}

/// All `.sv` and `.svh` below a folder, by the name of what they hold.
fn collect(folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "sv") || is_included(&path) {
            files.insert(name(&path).to_owned(), path);
        }
    }
}

struct Search {
    files: BTreeMap<String, PathBuf>,
    seen: BTreeSet<PathBuf>,
    found: Vec<PathBuf>,
}

impl Search {
    fn visit(&mut self, file: &Path) {
        if !self.seen.insert(file.to_owned()) {
            return;
        }
        let text = fs::read_to_string(file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for word in identifiers(&text) {
            if let Some(other) = self.files.get(word).cloned() {
                self.visit(&other);
            }
        }
        self.found.push(file.to_owned());
    }
}

/// The identifiers of a text, without its line comments.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .flat_map(|code| code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_and_what_it_names() {
        let root = std::env::temp_dir().join(format!("rtl-sim-needed-{}", std::process::id()));
        let below = root.join("below");
        fs::create_dir_all(&below).expect("a folder");
        let write = |path: &Path, text: &str| {
            fs::write(path, text).expect("a file");
            path.to_owned()
        };
        let top = write(
            &root.join("top.sv"),
            "module top import a_pkg::*; (); // not_me\n  leaf #(.W(1)) u_leaf ();\nendmodule",
        );
        let leaf = write(
            &below.join("leaf.sv"),
            "`include \"macros.svh\"\nmodule leaf import b_pkg::T; ();\nendmodule",
        );
        write(
            &root.join("macros.svh"),
            "`define RULES rules u_rules ();\n",
        );
        let rules = write(&root.join("rules.sv"), "module rules;\nendmodule");
        let first = write(&below.join("a_pkg.sv"), "package a_pkg;\nendpackage");
        // A parameter that bears a module's name must not bring the package behind that module.
        let second = write(
            &below.join("b_pkg.sv"),
            "package b_pkg; import a_pkg::*; parameter int leaf = 1;\nendpackage",
        );
        write(&root.join("not_me.sv"), "module not_me;\nendmodule");

        let files = needed("top", std::slice::from_ref(&root));
        fs::remove_dir_all(&root).expect("removed");
        assert_eq!(files, [first, second, rules, leaf, top]);
    }
}
