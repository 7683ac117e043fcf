//! The book's tutorials, run as a reader runs them: each page from an empty folder, its commands one after the other, in one shell.
//!
//! `<!-- run -->` above a block of the console: its commands are run, and what they say is compared with what the page shows
//! ([`compare`] has the tolerances). `<!-- file NAME -->` above a block: the reader's file of that name. `WEFT_WRITE_PAGE=1` writes what
//! was said into the page wherever that is not what the page shows.
#![cfg(feature = "sim")]

mod compare;
mod page;
mod shell;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use compare::Tolerance;
use page::{Block, Step};
use shell::Shell;

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.canonicalize().expect("it is there")
}

/// An empty folder outside the repository, with the repository beside it as `weft`.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let all = std::env::temp_dir().join(format!("weft-{name}-{}", std::process::id()));
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

/// Runs the page; says what differs.
fn complaints(name: &str, text: &str) -> (Vec<String>, String) {
    let folder = Folder::new(name);
    let own = folder.0.join(name);
    let mut shell = Shell::start(&own);
    let (mut wrong, mut renewed, mut commands) = (Vec::new(), text.to_owned(), 0);
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
                wrong.push(format!("{name}: `{command}` ends with {status}\n{said}"));
            }
            if matches(&shown, &said, tolerance) {
                continue;
            }
            wrong.push(format!(
                "{name}: `{command}`\n-- the page shows\n{shown}\n-- it says\n{said}\n--"
            ));
            let before = format!("$ {command}\n{shown}");
            let after = format!("$ {command}\n{said}");
            assert!(renewed.contains(&before), "{name}: {command} has comments");
            renewed = renewed.replacen(&before, &after, 1);
        }
    }
    assert!(commands > 0, "{name} has no command that is run");
    (wrong, renewed)
}

fn matches(shown: &str, said: &str, tolerance: Tolerance) -> bool {
    compare::matches(shown, said, tolerance)
}

fn follow(name: &str) {
    let path = repository().join("docs").join(format!("{name}.md"));
    let text = fs::read_to_string(&path).expect("the page");
    let (wrong, renewed) = complaints(name, &text);
    if std::env::var_os("WEFT_WRITE_PAGE").is_some() {
        fs::write(path, renewed).expect("written");
        return;
    }
    assert!(
        wrong.is_empty(),
        "{}\n(WEFT_WRITE_PAGE=1 make tutorials renews what is shown)",
        wrong.join("\n")
    );
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
fn a_page_that_is_wrong_is_found() {
    let page = |shown: &str| format!("<!-- run -->\n```console\n$ echo one 2\n{shown}\n```\n");
    let found = |text: &str| complaints("wrong", text).0.len();
    assert_eq!(found(&page("one 2")), 0);
    assert_eq!(found(&page("one 3")), 1);
    assert_eq!(found("<!-- run -->\n```console\n$ false\n```\n"), 1);
    assert_eq!(found("<!-- run: fails -->\n```console\n$ false\n```\n"), 0);
    assert_eq!(found("<!-- run: fails -->\n```console\n$ true\n```\n"), 1);
    let file = "<!-- file a/b -->\n```\ntext\n```\n<!-- run -->\n```console\n$ cat a/b\ntext\n```\n";
    assert_eq!(found(file), 0);
}

#[test]
fn what_is_said_is_written() {
    let text = "<!-- run -->\n```console\n$ echo one\ntwo\n$ echo three\nthree\n```\n";
    let (_, renewed) = complaints("renewed", text);
    assert_eq!(renewed, text.replace("\ntwo\n", "\none\n"));
}
