//! Who knows whom (docs/house.md): the modules of the driver use what the page allows them and nothing else, and no crate has a circle of
//! modules but for the edges that the page owns up to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Edges = BTreeSet<(String, String)>;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text without comments.
pub(crate) fn code(text: &str) -> String {
    let lines = text.lines().map(|line| match line.find("//") {
        Some(at) => &line[..at],
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths behind `prefix`: one, or those of a list in braces.
pub(crate) fn paths_after(code: &str, prefix: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        use_tree(&code[at + prefix.len()..], &[], &mut paths);
    }
    paths
}

/// Takes one path, or a list of them, from the front of the code; what is left.
fn use_tree<'a>(code: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = code.trim_start();
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            rest = list.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let left = use_tree(rest, &path, paths);
                let next = left.find([',', '}']).unwrap_or(left.len());
                rest = left[next..].trim_start_matches(',').trim_start();
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(more) if end > 0 => rest = more,
            _ => break,
        }
    }
    if path.len() > before.len() {
        paths.push(path);
    }
    rest
}

pub(crate) fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a file declares.
fn declared(text: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for line in text.split([';', '{', '}']) {
        let words: Vec<_> = line.split_whitespace().collect();
        if let [.., "mod", name] = words[..] {
            modules.insert(name.to_owned());
        }
    }
    modules
}

/// What a file exports by `pub use` of modules that it declares: name and path.
fn exported(text: &str, modules: &BTreeSet<String>) -> BTreeMap<String, Vec<String>> {
    let mut exported = BTreeMap::new();
    for path in paths_after(text, "pub use ") {
        if let (true, Some(name)) = (modules.contains(&path[0]), path.last()) {
            exported.insert(name.clone(), path);
        }
    }
    exported
}

/// The modules of a crate, and which of them uses which. At depth 1 those at its top, at depth 2 the modules of its folders,
/// `folder/module`.
fn modules(src: &Path, depth: usize) -> (BTreeSet<String>, Edges) {
    let lib = code(&read(&src.join("lib.rs")));
    let tops = declared(&lib);
    let exported_by_crate = exported(&lib, &tops);
    let mut modules = tops.clone();
    let mut exported_by_folder = BTreeMap::new();
    if depth > 1 {
        modules.clear();
        for top in &tops {
            let text = code(&read(&src.join(top).join("mod.rs")));
            let below = declared(&text);
            modules.extend(below.iter().map(|name| format!("{top}/{name}")));
            exported_by_folder.insert(top.clone(), exported(&text, &below));
        }
    }
    let mut files = Vec::new();
    sources(src, &mut files);
    let mut edges = Edges::new();
    for file in files {
        let inside = file.strip_prefix(src).expect("below it");
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        let own: Vec<_> = parts
            .iter()
            .map(|part| part.trim_end_matches(".rs"))
            .collect();
        let from = own[..depth.min(own.len())].join("/");
        if !modules.contains(&from) {
            continue;
        }
        let is_mod = own.last().is_some_and(|name| *name == "mod");
        // What `super` is, as often as it may be said.
        let within = own.len() - usize::from(is_mod);
        let text = code(&read(&file));
        let mut paths = paths_after(&text, "crate::");
        for ups in 1..=within {
            let above = own[..within - ups].iter().map(|name| name.to_string());
            let above: Vec<_> = above.collect();
            for path in paths_after(&text, &"super::".repeat(ups)) {
                if path[0] != "super" {
                    paths.push([above.clone(), path].concat());
                }
            }
        }
        for mut path in paths {
            if let Some(whole) = exported_by_crate.get(&path[0]) {
                path = whole.clone();
            }
            if let (Some(folder), Some(name)) = (exported_by_folder.get(&path[0]), path.get(1)) {
                if let Some(below) = folder.get(name) {
                    path = [vec![path[0].clone()], below.clone()].concat();
                }
            }
            let to = path[..depth.min(path.len())].join("/");
            if to != from && modules.contains(&to) {
                edges.insert((from.clone(), to));
            }
        }
    }
    (modules, edges)
}

/// Modules that reach themselves, by way of others.
fn circle(edges: &Edges) -> BTreeSet<String> {
    let reached = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(at) = open.pop() {
            for (_, to) in edges.iter().filter(|(from, _)| *from == at) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let all = edges.iter().map(|(from, _)| from);
    all.filter(|module| reached(module).contains(*module))
        .cloned()
        .collect()
}

/// The rows of the table behind this heading of the page: each cell's words in backticks.
pub(crate) fn table(page: &str, heading: &str) -> Vec<Vec<Vec<String>>> {
    let (_, section) = page
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("the page has no section {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let ticked = |cell: &str| -> Vec<String> {
        let odd = cell.split('`').skip(1).step_by(2);
        odd.map(str::to_owned).collect()
    };
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(ticked).collect())
        .collect()
}

pub(crate) fn page() -> String {
    read(&root().join("docs/house.md"))
}

/// Each module has a row in the table behind this heading, and uses what the row allows it; the edges that there are.
fn check_rows(src: &str, heading: &str) -> Edges {
    let (modules, edges) = modules(&root().join(src), 1);
    let mut allowed = BTreeMap::new();
    for row in table(&page(), heading) {
        let [names, uses] = &row[..] else {
            panic!("a row has two cells: {row:?}");
        };
        allowed.insert(names[0].clone(), uses.clone());
    }
    let rows: BTreeSet<_> = allowed.keys().cloned().collect();
    assert_eq!(modules, rows, "modules of {src}, and rows of the page");
    assert!(edges.len() > 30, "the sources were not read: {edges:?}");
    for (from, to) in &edges {
        let may = &allowed[from];
        assert!(may.contains(to), "{from} uses {to}; it may use {may:?}");
    }
    edges
}

#[test]
fn each_module_of_the_driver_uses_what_the_page_allows_it() {
    check_rows("hostdrv/src", "The driver's modules");
}

#[test]
fn each_folder_of_the_engine_uses_what_the_page_allows_it() {
    let mut edges = check_rows("firmware/engine/src", "The engine's folders");
    // A connection has the state of all layers; without it they lie above one another.
    edges.retain(|(from, _)| from != "connection");
    let left = circle(&edges);
    assert!(left.is_empty(), "folders in a circle: {left:?}");
}

/// What the host's side consists of: each crate, and where it is.
const HOST: [(&str, &str); 7] = [
    ("weft-card-transport", "hostdrv/transport"),
    ("weft-hostdrv", "hostdrv"),
    ("weft-debug", "hostdrv/debug"),
    ("weft-rdma", "hostdrv/c"),
    ("weft-share", "hostdrv/share"),
    ("weft-tools", "hostdrv/tools"),
    ("weft-command", "hostdrv/command"),
];

/// The project's crates that this manifest has as dependencies, those for tests left out.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let (_, section) = manifest
        .split_once("\n[dependencies]\n")
        .expect("a crate has dependencies");
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.split_once(" = "));
    let names = names.filter(|(name, _)| name.starts_with("weft-"));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn each_crate_of_the_host_uses_what_the_page_allows_it() {
    let rows = table(&page(), "The host's crates");
    assert_eq!(rows.len(), HOST.len(), "{rows:?}");
    let driver = modules(&root().join("hostdrv/src"), 1).0;
    for ((name, path), row) in HOST.iter().zip(rows) {
        let [named, uses, of_driver] = &row[..] else {
            panic!("a row has three cells: {row:?}");
        };
        assert_eq!(named, &[*name]);
        let manifest = read(&root().join(path).join("Cargo.toml"));
        let uses: BTreeSet<_> = uses.iter().cloned().collect();
        assert_eq!(dependencies(&manifest), uses, "what {name} depends on");
        let mut files = Vec::new();
        sources(&root().join(path).join("src"), &mut files);
        let used = files.iter().flat_map(|file| {
            let paths = paths_after(&code(&read(file)), "weft_hostdrv::");
            let names = paths.into_iter().filter_map(|path| path.into_iter().next());
            names.filter(|used| driver.contains(used))
        });
        let used: BTreeSet<_> = used.collect();
        let allowed: BTreeSet<_> = of_driver.iter().cloned().collect();
        assert_eq!(used, allowed, "modules of the driver that {name} uses");
    }
}

#[test]
fn no_circle_of_modules() {
    let mut known: BTreeMap<String, Edges> = BTreeMap::new();
    for row in table(&page(), "Circles") {
        let [of, edge, ..] = &row[..] else {
            panic!("a row has a crate and an edge: {row:?}");
        };
        let edge = (edge[0].clone(), edge[1].clone());
        known.entry(of[0].clone()).or_default().insert(edge);
    }
    for (name, src, depth) in [
        ("weft-hostdrv", "hostdrv/src", 1),
        ("weft-card-transport", "hostdrv/transport/src", 1),
        ("weft-debug", "hostdrv/debug/src", 1),
        ("weft-share", "hostdrv/share/src", 1),
        ("weft-tools", "hostdrv/tools/src", 1),
        ("weft-engine", "firmware/engine/src", 2),
        ("weft-tcp", "firmware/tcp/src", 1),
        ("weft-queues", "firmware/queues/src", 1),
        ("weft-wire", "firmware/wire/src", 1),
        ("weft-sim", "sim/src", 1),
    ] {
        let (_, edges) = modules(&root().join(src), depth);
        let known = known.remove(name).unwrap_or_default();
        let rest: Edges = edges.difference(&known).cloned().collect();
        let left = circle(&rest);
        let within: Vec<_> = rest
            .iter()
            .filter(|(from, to)| left.contains(from) && left.contains(to))
            .collect();
        assert!(left.is_empty(), "{name} has a circle: {within:?}");
        // The list only shrinks: what is in it is still so, and still closes a circle.
        for edge in known {
            let mut with = rest.clone();
            with.insert(edge.clone());
            let closes = edges.contains(&edge) && !circle(&with).is_empty();
            assert!(closes, "{name}: {edge:?} is no circle any more");
        }
    }
    assert!(known.is_empty(), "no such crates: {known:?}");
}

#[test]
fn a_circle_is_found() {
    let edges = |list: &[(&str, &str)]| -> Edges {
        let owned = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        list.iter().map(owned).collect()
    };
    let line = edges(&[("a", "b"), ("b", "c"), ("a", "c")]);
    assert!(circle(&line).is_empty());
    let round = edges(&[("a", "b"), ("b", "c"), ("c", "b")]);
    assert_eq!(circle(&round), BTreeSet::from(["b".into(), "c".into()]));
    let used = paths_after(
        "use crate::{a::{x, y as z}, b};\ncrate::c::d(); mycrate::e",
        "crate::",
    );
    let used: Vec<_> = used.iter().map(|path| path.join("/")).collect();
    assert_eq!(used, ["a/x", "a/y", "b", "c/d"]);
}

/// Crates of the workspace: folders with a manifest.
fn crates(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if !path.is_dir() || name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if path.join("Cargo.toml").exists() {
            found.push(path.clone());
        }
        crates(&path, found);
    }
}

#[test]
fn each_file_of_tests_is_a_module_of_a_program() {
    let mut all = Vec::new();
    crates(&root(), &mut all);
    let mut forgotten = Vec::new();
    let mut modules = 0;
    for path in all.iter().filter(|path| path.join("tests").is_dir()) {
        let manifest = read(&path.join("Cargo.toml"));
        let tests = path.join("tests");
        let main = fs::read_to_string(tests.join("main.rs")).unwrap_or_default();
        let mut programs = 0;
        for entry in fs::read_dir(&tests).expect("a folder of tests").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let file = match name.strip_suffix(".rs") {
                _ if entry.path().join("main.rs").exists() => format!("{name}/main.rs"),
                _ if entry.path().join("mod.rs").exists() => name.clone(),
                Some(_) => name.clone(),
                None => continue,
            };
            let module = name.trim_end_matches(".rs");
            if main.lines().any(|line| line == format!("mod {module};")) {
                modules += 1;
            } else if manifest.contains(&format!("path = \"tests/{file}\"")) {
                programs += 1;
            } else if manifest.contains("autotests = false") {
                forgotten.push(format!("{}/tests/{name}", path.display()));
            } else {
                programs += usize::from(file.ends_with(".rs"));
            }
        }
        // More than one has to say what wants a process of its own.
        if programs > 1 && !manifest.contains("autotests = false") {
            forgotten.push(format!("{}: `autotests = false`", path.display()));
        }
    }
    assert!(forgotten.is_empty(), "in no program: {forgotten:#?}");
    assert!(modules > 150, "{modules}");
}
