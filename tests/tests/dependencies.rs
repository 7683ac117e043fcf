//! What the workspace depends on: only crates of the registry, under licences that Apache-2.0 goes together with, and for the crates
//! that a user builds none that wants a newer compiler than they say.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Licences that ask for no more than to be named.
const LICENCES: [&str; 9] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--all-features",
        ])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The crates that a user builds: the workspace's, but for tests and what is of no use alone.
fn published(metadata: &Value) -> Vec<&Value> {
    let packages = list(&metadata["packages"]).iter();
    let own = packages.filter(|package| package["source"].is_null());
    own.filter(|package| package["publish"].is_null()).collect()
}

/// At the registry `weft` is another project's.
#[test]
fn what_is_published_has_a_name_of_its_own() {
    let metadata = metadata();
    let names: Vec<_> = published(&metadata)
        .into_iter()
        .map(|package| text(&package["name"]))
        .collect();
    assert!(names.contains(&"weft-hostdrv"));
    for name in names {
        assert!(name.starts_with("weft-") || name == "rtl-sim", "{name}");
    }
}

/// Can it be had under licences of the list? `A OR B`, `A AND B`, parentheses; the old `A/B`.
fn is_fine(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // AND first, though it binds closer: where there are no parentheses that can only refuse more.
    let parts = split(&expression, " AND ");
    if parts.len() > 1 {
        return parts.into_iter().all(is_fine);
    }
    let inner = expression.trim();
    if let Some(inner) = inner.strip_prefix('(').and_then(|i| i.strip_suffix(')')) {
        return is_fine(inner);
    }
    let choices = split(inner, " OR ");
    if choices.len() > 1 {
        return choices.into_iter().any(is_fine);
    }
    LICENCES.contains(&inner)
}

/// Splits outside of parentheses.
fn split<'a>(text: &'a str, at: &str) -> Vec<&'a str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    for (n, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ if depth == 0 && n >= from && text[n..].starts_with(at) => {
                parts.push(&text[from..n]);
                from = n + at.len();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[test]
fn licences_are_read_as_they_are_meant() {
    for fine in [
        "MIT/Apache-2.0",
        "(MIT OR GPL-3.0) AND ISC",
        "LGPL-2.1-or-later OR MIT",
    ] {
        assert!(is_fine(fine), "{fine}");
    }
    for not in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(GPL-3.0 OR LGPL-3.0) AND MIT",
        "",
    ] {
        assert!(!is_fine(not), "{not}");
    }
}

#[test]
fn every_crate_comes_from_the_registry_under_a_known_licence() {
    let metadata = metadata();
    let packages = list(&metadata["packages"]);
    assert!(packages.len() > 100);
    for package in packages {
        let name = text(&package["name"]);
        let licence = text(&package["license"]);
        assert!(is_fine(licence), "{name}: `{licence}`");
        let own = package["source"].is_null();
        assert!(
            own || text(&package["source"]).starts_with("registry+"),
            "{name}"
        );
    }
}

/// `1.85.1` as numbers.
fn version(text: &str) -> Vec<u32> {
    let mut numbers: Vec<_> = text.split('.').map(|n| n.parse().unwrap_or(0)).collect();
    numbers.resize(3, 0);
    numbers
}

#[test]
fn what_a_user_builds_needs_no_newer_compiler_than_it_says() {
    let metadata = metadata();
    let packages: BTreeMap<_, _> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let nodes: BTreeMap<_, _> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| (text(&node["id"]), node))
        .collect();
    let mut wanted: Vec<_> = published(&metadata)
        .into_iter()
        .map(|package| text(&package["id"]))
        .collect();
    let said = version(text(&packages[wanted[0]]["rust_version"]));
    let mut seen = Vec::new();
    while let Some(id) = wanted.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let needs = version(packages[id]["rust_version"].as_str().unwrap_or("1.0"));
        assert!(
            needs <= said,
            "{id} needs Rust {needs:?}, and {said:?} is promised"
        );
        for dep in list(&nodes[id]["deps"]) {
            // Tests of these crates may want more.
            if list(&dep["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"] != "dev")
            {
                wanted.push(text(&dep["pkg"]));
            }
        }
    }
}
