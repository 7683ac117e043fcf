//! The book's table of environment variables names all that the sources use, and no others.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PREFIXES: [&str; 2] = ["WEFT_", "RTL_SIM_"];
/// SystemVerilog and shell words of that form which are no variables of the environment.
const OTHERS: [&str; 1] = ["WEFT_FAULT_PKG"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && !["target", ".git", "docs"].contains(&name.as_ref()) {
            sources(&path, found);
        }
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let script = ["Makefile", "run", "init", "device-only"].contains(&name.as_ref());
        if path.is_file() && (script || ["rs", "sh", "py"].contains(&kind)) {
            found.push(path);
        }
    }
}

/// Words of a text with one of the prefixes, that stand alone: the whole name in quotes, or as a shell or a comment has it.
fn names(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| {
            PREFIXES
                .iter()
                .any(|p| word.starts_with(p) && word.len() > p.len())
        })
        .filter(|word| !word.contains(char::is_lowercase))
        .collect()
}

#[test]
fn the_page_names_every_variable_and_no_other() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    assert!(files.len() > 100, "the sources are elsewhere");
    let mut used = BTreeMap::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        for name in names(&text) {
            if !OTHERS.contains(&name) {
                used.entry(name.to_owned()).or_insert(file.clone());
            }
        }
    }
    let page = fs::read_to_string(root().join("docs/environment.md")).expect("the page");
    let described = names(&page);
    for (name, file) in &used {
        assert!(
            described.contains(&name.as_str()),
            "{name} ({}) is not in docs/environment.md",
            file.display()
        );
    }
    for name in described {
        assert!(
            used.contains_key(name),
            "docs/environment.md has {name}, which nothing reads"
        );
    }
}
