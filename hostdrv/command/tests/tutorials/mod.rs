//! The commands that the book shows, the tutorials' and others', run as a reader runs them: each page from an empty folder, in one shell.
//!
//! `<!-- run -->` above a block of the console: its commands are run, and what they say is compared with what the page shows
//! ([`compare`] has the tolerances). `<!-- file NAME -->` above a block: the reader's file of that name. `WEFT_WRITE_PAGE=1` writes what
//! was said into the page wherever that is not what the page shows.
#![cfg(feature = "sim")]

mod compare;
mod page;
mod shell;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use compare::matches;
use page::{Block, Step};
use shell::Shell;

use crate::weft::{run, text};

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.canonicalize().expect("it is there")
}

/// An empty folder outside the repository, with the repository beside it as `weft`.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        // The same for each run from here: what was built of a project beside the repository is there the next time.
        let mut here = DefaultHasher::new();
        repository().hash(&mut here);
        let all = std::env::temp_dir().join(format!("weft-{name}-{:x}", here.finish()));
        let _ = fs::remove_dir_all(&all);
        fs::create_dir_all(all.join(name)).expect("a folder");
        symlink(repository(), all.join("weft")).expect("a link");
        Self(all)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is wrong with a page.
struct Followed {
    /// Commands that end as they should not.
    failed: Vec<String>,
    /// Outputs that are not those of the page.
    stale: Vec<String>,
    /// The page with the outputs of now.
    renewed: String,
}

/// Runs the page.
fn followed(name: &str, text: &str) -> Followed {
    let folder = Folder::new(name);
    let own = folder.0.join(name);
    let mut shell = Shell::start(&own);
    let (mut failed, mut stale) = (Vec::new(), Vec::new());
    let (mut renewed, mut commands) = (text.to_owned(), 0);
    for block in page::blocks(text) {
        let (tolerance, fails, steps) = match block {
            Block::File { name, text } => {
                let path = own.join(name);
                fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                fs::write(path, text).expect("written");
                continue;
            }
            Block::Run {
                tolerance,
                fails,
                steps,
            } => (tolerance, fails, steps),
        };
        let last = steps.len().saturating_sub(1);
        for (at, Step { command, shown }) in steps.into_iter().enumerate() {
            commands += 1;
            let (said, status) = shell.run(&command, |said| matches(&shown, said, tolerance));
            if (status != 0) != (fails && at == last) {
                failed.push(format!("{name}: `{command}` ends with {status}\n{said}"));
            }
            if matches(&shown, &said, tolerance) {
                continue;
            }
            stale.push(format!(
                "{name}: `{command}`\n-- the page shows\n{shown}\n-- it says\n{said}\n--"
            ));
            let before = format!("$ {command}\n{shown}");
            let after = format!("$ {command}\n{said}");
            assert!(renewed.contains(&before), "{name}: {command} has comments");
            renewed = renewed.replacen(&before, &after, 1);
        }
    }
    assert!(commands > 0, "{name} has no command that is run");
    Followed {
        failed,
        stale,
        renewed,
    }
}

/// All pages with commands that are run.
const PAGES: [&str; 8] = [
    "../README",
    "bring-up",
    "performance",
    "tcp",
    "tutorial-board",
    "tutorial-ci",
    "tutorial-five-minutes",
    "tutorial-research",
];

/// The simulated cards of this build.
fn cards() -> Vec<String> {
    let version = text(&run(&["--version"]).stdout);
    let cards = version
        .lines()
        .find_map(|line| line.strip_prefix("simulator: "));
    let cards = cards.expect("it has a simulator");
    cards.split(", ").map(str::to_owned).collect()
}

fn follow(name: &str) {
    assert!(PAGES.contains(&name), "{name}");
    let path = repository().join("docs").join(format!("{name}.md"));
    let text = fs::read_to_string(&path).expect("the page");
    if let Some(card) = page::missing(&text, &cards()) {
        eprintln!("{name} is left out: this build has no {card}");
        return;
    }
    let page = followed(name.trim_start_matches("../"), &text);
    if std::env::var_os("WEFT_WRITE_PAGE").is_some() {
        fs::write(path, page.renewed).expect("written");
    } else {
        let stale = page.stale.join("\n");
        assert!(
            stale.is_empty(),
            "{stale}\n(WEFT_WRITE_PAGE=1 make tutorials renews what is shown)"
        );
    }
    assert!(page.failed.is_empty(), "{}", page.failed.join("\n"));
}

#[test]
fn readme() {
    follow("../README");
}

#[test]
fn five_minutes() {
    follow("tutorial-five-minutes");
}

#[test]
fn on_a_board() {
    follow("tutorial-board");
}

#[test]
fn research() {
    follow("tutorial-research");
}

#[test]
#[ignore = "it builds a project of its own: make tutorials"]
fn in_ci() {
    follow("tutorial-ci");
}

#[test]
fn bring_up() {
    follow("bring-up");
}

#[test]
fn performance() {
    follow("performance");
}

#[test]
fn queues_that_mark() {
    follow("tcp");
}

#[test]
fn every_page_with_commands_is_followed() {
    let readme = fs::read_to_string(repository().join("README.md")).expect("a page");
    assert!(!page::blocks(&readme).is_empty());
    let mut found = vec!["../README".to_owned()];
    for entry in fs::read_dir(repository().join("docs")).expect("the book") {
        let path = entry.expect("a page").path();
        if path.extension().is_some_and(|kind| kind == "md") {
            let text = fs::read_to_string(&path).expect("a page");
            if !page::blocks(&text).is_empty() {
                let name = path.file_stem().expect("a name");
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    assert_eq!(found, PAGES);
}

#[test]
fn a_page_that_is_wrong_is_found() {
    let page = |shown: &str| format!("<!-- run -->\n```console\n$ echo one 2\n{shown}\n```\n");
    let found = |text: &str| {
        let page = followed("wrong", text);
        (page.failed.len(), page.stale.len())
    };
    assert_eq!(found(&page("one 2")), (0, 0));
    assert_eq!(found(&page("one 3")), (0, 1));
    assert_eq!(found("<!-- run -->\n```console\n$ false\n```\n"), (1, 0));
    assert_eq!(
        found("<!-- run: fails -->\n```console\n$ false\n```\n"),
        (0, 0)
    );
    assert_eq!(
        found("<!-- run: fails -->\n```console\n$ true\n```\n"),
        (1, 0)
    );
    let file =
        "<!-- file a/b -->\n```\ntext\n```\n<!-- run -->\n```console\n$ cat a/b\ntext\n```\n";
    assert_eq!(found(file), (0, 0));
}

#[test]
fn what_is_said_is_written() {
    let text = "<!-- run -->\n```console\n$ echo one\ntwo\n$ echo three\nthree\n```\n";
    let renewed = followed("renewed", text).renewed;
    assert_eq!(renewed, text.replace("\ntwo\n", "\none\n"));
}
