//! What a program of the host's crates can name: nothing of the engine or of queues that is not meant to last, and no two types of one name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::house::{code, page, paths_after, root, sources, table};

/// Whose names are not to be handed on, but for those of the page's table.
const INSIDE: [&str; 2] = ["weft_engine", "weft_queues"];

/// The words of a piece of code.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// What stands before its matching bracket, which follows the first one.
fn body(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return &text[..at],
            '}' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// An item that says `pub`: of whom it is, and what of it others see.
struct Item<'a> {
    of: &'a str,
    seen: &'a str,
}

/// The items of a file that say `pub`, its unit tests left out.
fn items(code: &str) -> Vec<Item<'_>> {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or(code);
    let mut items = Vec::new();
    let mut of = "";
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let rest = &code[at..];
        at += line.len();
        if line.starts_with("impl") {
            let head = line.split_once('{').map_or(line, |(head, _)| head);
            let head = head.rsplit(" for ").next().unwrap_or(head);
            let head = head.strip_prefix("impl").unwrap_or(head);
            let head = match head.strip_prefix('<') {
                Some(generic) => generic.split_once("> ").map_or(head, |(_, head)| head),
                None => head,
            };
            of = words(head).next().unwrap_or_default();
        }
        let Some(item) = line.trim_start().strip_prefix("pub ") else {
            continue;
        };
        if !line.starts_with(' ') {
            of = words(item).nth(1).unwrap_or_default();
        }
        let seen = match words(item).next() {
            Some("enum" | "trait") => body(rest),
            Some("use") => continue,
            Some("fn" | "const" | "struct" | "type" | "mod") => {
                &rest[..rest.find(['{', ';', '=']).unwrap_or(rest.len())]
            }
            // A field, whose type ends with its line.
            _ => line,
        };
        items.push(Item { of, seen });
    }
    items
}

/// Names that this file has from the engine or from queues, those that it gives them included.
fn inside_names(code: &str) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = INSIDE.map(str::to_owned).into();
    for krate in INSIDE {
        for path in paths_after(code, &format!("use {krate}::")) {
            names.extend(path.last().cloned());
        }
    }
    for (at, _) in code.match_indices(" as ") {
        let (before, behind) = (&code[..at], &code[at + 4..]);
        let (old, new) = (words(before).last(), words(behind).next());
        if let (Some(old), Some(new)) = (old, new) {
            let of_inside = before.rsplit(';').next().is_some_and(|using| {
                INSIDE
                    .iter()
                    .any(|krate| using.trim_start().starts_with(&format!("use {krate}")))
            });
            if of_inside && (names.remove(old) || old == "self") {
                names.insert(new.to_owned());
            }
        }
    }
    names
}

/// What leaks out of a file: whose item, and the name.
fn leaks(code: &str, lasting: &BTreeSet<String>, unstable: &BTreeSet<String>) -> Vec<String> {
    let inside = inside_names(code);
    let mut leaks = BTreeSet::new();
    for item in items(code).iter().filter(|i| !unstable.contains(i.of)) {
        let mut before = "";
        for name in words(item.seen) {
            // `weft_engine::Access` is `Access`.
            let of_inside = INSIDE.contains(&before) || name != "self" && inside.contains(name);
            if of_inside && !INSIDE.contains(&name) && !lasting.contains(name) {
                leaks.insert(format!("{}: {name}", item.of));
            }
            before = name;
        }
    }
    for krate in INSIDE {
        for path in paths_after(code, &format!("pub use {krate}::")) {
            let name = path.last().cloned().unwrap_or_default();
            if !lasting.contains(&name) {
                leaks.insert(format!("use: {name}"));
            }
        }
    }
    leaks.into_iter().collect()
}

fn names_of(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| name.to_string()).collect()
}

#[test]
fn the_driver_hands_on_of_engine_and_queues_what_the_page_says() {
    let rows = table(&page(), "What lasts of the engine");
    let lasting: BTreeSet<String> = rows.iter().flat_map(|row| row[0].clone()).collect();
    let src = root().join("hostdrv/src");
    let read = |path| code(&fs::read_to_string(path).expect("a source"));
    let by_unstable = read(src.join("unstable.rs"));
    let unstable: BTreeSet<String> = paths_after(&by_unstable, "pub use crate::")
        .into_iter()
        .filter_map(|path| path.last().cloned())
        .collect();
    assert!(unstable.len() >= 4, "{unstable:?}");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for file in files.iter().filter(|file| !file.ends_with("unstable.rs")) {
        let text = read(file.clone());
        used.extend(INSIDE.iter().flat_map(|krate| {
            let paths = paths_after(&text, &format!("pub use {krate}::"));
            paths.into_iter().filter_map(|path| path.last().cloned())
        }));
        let name = file.strip_prefix(&src).expect("below it").display();
        let leaks = leaks(&text, &lasting, &unstable);
        found.extend(leaks.into_iter().map(|leak| format!("{name}: {leak}")));
    }
    assert!(found.is_empty(), "not meant to last: {found:#?}");
    let idle: Vec<_> = lasting.difference(&used).collect();
    assert!(idle.is_empty(), "in the table, and not handed on: {idle:?}");
}

#[test]
fn a_leak_is_found() {
    let text = "use weft_engine::{self as engine, Access, Event, commands::Refusal as Refused};
        pub struct Said {
            pub event: Event,
            hidden: Event,
        }
        impl<T> Said {
            pub fn access(&self) -> Access { Access::NONE }
            pub fn why(
                &self,
            ) -> Result<(), Refused> { Ok(()) }
            pub(crate) fn inner(&self) -> Event { self.event }
        }
        pub enum All {
            One(weft_queues::Wqe),
        }
        pub use weft_engine::{Access as Rights, QpId};
        pub fn engine(of: engine::Engine) {}
        impl Apart {
            pub fn event(&self) -> Event {}
        }"
    .replace("\n        ", "\n");
    let found = leaks(
        &text,
        &names_of(&["Access", "Rights"]),
        &names_of(&["Apart"]),
    );
    assert_eq!(
        found,
        [
            "All: Wqe",
            "Said: Event",
            "Said: Refused",
            "engine: engine",
            "use: QpId"
        ]
    );
}

/// Crates whose types stand side by side in a program.
const HOST: [&str; 5] = [
    "transport/src",
    "src",
    "debug/src",
    "share/src",
    "tools/src",
];

#[test]
fn no_two_public_types_of_the_hosts_crates_have_one_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for krate in HOST {
        let mut files = Vec::new();
        sources(&root().join("hostdrv").join(krate), &mut files);
        for file in files {
            let text = code(&fs::read_to_string(&file).expect("a source"));
            for line in text.lines().filter_map(|line| line.strip_prefix("pub ")) {
                let mut said = words(line);
                if let (Some("struct" | "enum" | "trait" | "type" | "union"), Some(name)) =
                    (said.next(), said.next())
                {
                    let file = file.display().to_string();
                    places.entry(name.to_owned()).or_default().push(file);
                }
            }
        }
    }
    assert!(places.len() > 200, "{}", places.len());
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "two of one name: {places:#?}");
}
