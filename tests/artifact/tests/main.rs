//! Steps are done once, each by one job; a verdict says what is elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use weft_artifact::list::{self, Entry};
use weft_artifact::run::{Known, Place};
use weft_artifact::shard::{steps, Shard};
use weft_artifact::summary;
use weft_artifact::table::between;
use weft_artifact::verdict::{judge, Judged, Verdict};

/// Says its version and counts its runs; its output is its seed, as JSON and as a row of a table. With seed 3 it ends itself if a file says so.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "weft 1"; echo "simulator: model"; exit; fi
here=$(dirname "$0")
echo "$2" >> "$here/runs"
echo partly > "$3"
if [ "$2" = 3 ] && [ -e "$here/die" ]; then kill -9 $$; fi
case "$1" in
  json) echo "{\"all\": [{\"rung\": \"host\", \"gbps\": $2}]}" ;;
  *) printf '| seed | Gb/s |\n|---|---|\n| %s | %s0 |\n' "$2" "$2" ;;
esac
"#;

const PAGE: &str = "<!-- t -->\n| seed | Gb/s |\n|---|---|\n| 1 | 10 |\n| 2 | 20 |\n| 3 | 29 |\n<!-- end of t -->\n";

struct Bench {
    folder: TempDir,
    place: Place,
}

/// A program that is being written while another thread starts one cannot be started: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place {
            programs: folder.path().to_owned(),
            out: folder.path().join("out"),
        };
        let bench = Self { folder, place };
        bench.program(PROGRAM);
        fs::write(bench.path("page.md"), PAGE).expect("written");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another program.
    fn program(&self, text: &str) {
        let path = self.path("weft");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    }

    /// The parts that were run, in their order.
    fn ran(&self) -> String {
        let runs = fs::read_to_string(self.path("runs")).unwrap_or_default();
        runs.split_whitespace().collect()
    }

    fn run(&self, entries: &[Entry], shard: &str) -> bool {
        let shard: Shard = shard.parse().expect("a share");
        let mine = shard.take(&steps(entries, false));
        self.place.run_all(&mine, false, |_| ()).expect("it runs")
    }

    fn judge(&self, entry: &Entry) -> Judged {
        judge(&self.place, self.folder.path(), entry, false).expect("a verdict")
    }
}

/// A result with three seeds; one as JSON, one as a table.
fn entries(expected: &str, within: f64) -> Vec<Entry> {
    let common =
        "what = \"\"\npage = \"page.md\"\nparts = [\"1\", \"2\", \"3\"]\nseeds = \"1 to 3\"\n";
    let text = format!(
        "[[result]]\nname = \"numbers\"\ncommand = [\"weft\", \"json\", \"{{part}}\", \"{{out}}/made\", \"--json\"]\n{common}\
         values = [{{ at = \"all[rung=host].gbps\", {expected} }}]\n\
         [[result]]\nname = \"rows\"\ncommand = [\"weft\", \"table\", \"{{part}}\", \"{{out}}/made\"]\n{common}\
         tables = [{{ mark = \"t\", key = 1, within = {within} }}]\n\
         plot = {{ places = [\"seed\"], series = \"seed\", y = \"Gb/s\" }}\n"
    );
    list::read(&text).expect("a list")
}

#[test]
fn what_was_done_is_not_done_again_but_by_another_program() {
    let _alone = alone();
    let (bench, entries) = (Bench::new(), entries("low = 1, high = 3", 0.1));
    assert!(bench.run(&entries, "1/1"));
    assert_eq!(bench.ran(), "123123");
    assert!(bench.run(&entries, "1/1"));
    assert_eq!(bench.ran(), "123123");
    let all = steps(&entries, false);
    let version = bench.place.version(&entries[0]).expect("a version");
    let Known::Done(record) = bench.place.known(&all[2], &version) else {
        panic!("{:?}", bench.place.known(&all[2], &version));
    };
    let folder = ["weft", "json", "3", "{out}/made", "--json"];
    assert_eq!(
        (record.part.as_str(), record.command),
        ("3", folder.map(String::from).to_vec())
    );
    assert!(record.version.starts_with("weft 1, program ") && record.seeds == "1 to 3");
    // Wanted once more, or by another program, or by another command.
    bench
        .place
        .run_all(&all[..1], true, |_| ())
        .expect("it runs");
    assert_eq!(bench.ran(), "1231231");
    bench.program(&format!("{PROGRAM}# another\n"));
    assert_eq!(bench.judge(&entries[0]).verdict, Verdict::Missing);
    assert!(bench.run(&entries, "1/1"));
    assert_eq!(bench.ran(), "1231231123123");
    let mut other = entries.clone();
    other[1].command.push("more".to_owned());
    assert!(bench.run(&other, "1/1"));
    assert_eq!(bench.ran(), "1231231123123123");
}

/// A step that was ended half way has no record, whoever ended it, and what it left does not come into the next run's.
#[test]
fn a_step_that_was_killed_is_run_again() {
    let _alone = alone();
    let (bench, entries) = (Bench::new(), entries("low = 1, high = 3", 0.1));
    fs::write(bench.path("die"), "").expect("written");
    assert!(!bench.run(&entries[..1], "1/1"));
    let judged = bench.judge(&entries[0]);
    assert_eq!(judged.verdict, Verdict::Outside);
    assert!(judged.why[0].contains("status -1"), "{:?}", judged.why);
    fs::remove_file(bench.path("die")).expect("removed");
    // The job that ran it was ended as well: its folder has not got its name.
    let step = steps(&entries, false)[1];
    let folder = bench.place.of_step(&step);
    let unfinished = folder.with_extension("unfinished");
    fs::rename(&folder, &unfinished).expect("renamed");
    fs::write(unfinished.join("left"), "").expect("written");
    assert_eq!(bench.judge(&entries[0]).verdict, Verdict::Outside);
    assert!(bench.run(&entries[..1], "1/1"));
    assert_eq!(bench.ran(), "12323");
    assert_eq!(bench.judge(&entries[0]).verdict, Verdict::Within);
    assert!(!folder.join("left").exists() && !unfinished.exists());
    assert!(folder.join("made").exists());
}

#[test]
fn shares_together_are_the_whole() {
    let _alone = alone();
    let (whole, list) = (Bench::new(), entries("low = 1, high = 3", 0.1));
    whole.run(&list, "1/1");
    let seen = |bench: &Bench| {
        let judged = list.iter().map(|entry| bench.judge(entry));
        let judged: Vec<_> = judged
            .map(|one| {
                (
                    one.verdict,
                    one.why,
                    one.cells,
                    one.steps.len(),
                    one.figures,
                )
            })
            .collect();
        format!("{judged:?}")
    };
    for of in 1..=8 {
        let bench = Bench::new();
        for number in (1..=of).rev() {
            // Before the last one there is something missing.
            let last = number == 1 || bench.ran().len() == 6;
            let verdicts = || list.iter().map(|entry| bench.judge(entry).verdict);
            assert!(last || verdicts().any(|one| one == Verdict::Missing) || of == 1);
            bench.run(&list, &format!("{number}/{of}"));
        }
        let mut ran: Vec<char> = bench.ran().chars().collect();
        ran.sort_unstable();
        assert_eq!(ran.iter().collect::<String>(), "112233", "{of}");
        let same = seen(&bench).replace(&bench.folder.path().display().to_string(), "");
        assert_eq!(
            same,
            seen(&whole).replace(&whole.folder.path().display().to_string(), "")
        );
    }
    for wrong in ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn a_result_outside_is_told_of() {
    let _alone = alone();
    let bench = Bench::new();
    let (good, bad) = (
        entries("low = 2, high = 2", 0.05),
        entries("low = 2.1, high = 9", 0.01),
    );
    bench.run(&good, "1/1");
    for entry in &good {
        let judged = bench.judge(entry);
        assert_eq!(
            (judged.verdict, judged.why.len()),
            (Verdict::Within, 0),
            "{:?}",
            judged.why
        );
    }
    let found = bench.judge(&good[0]).numbers[0].found.expect("a number");
    assert_eq!((found.low, found.median, found.high), (1.0, 2.0, 3.0));
    let numbers = bench.judge(&bad[0]);
    assert_eq!(numbers.verdict, Verdict::Outside);
    assert!(
        numbers.why[0].contains("2.0000, expected 2.1 to 9"),
        "{:?}",
        numbers.why
    );
    let rows = bench.judge(&bad[1]);
    assert_eq!((rows.verdict, rows.cells), (Verdict::Outside, 3));
    assert_eq!(rows.why, ["3, Gb/s: 30, expected 29"]);
    for wanted in [
        "rows.csv",
        "figures/rows.svg",
        "figures/rows.pdf",
        "figures/rows.csv",
    ] {
        assert!(bench.path("out/rows").join(wanted).exists(), "{wanted}");
    }
    // Other rows, other columns, other numbers' names.
    let page = PAGE.replace("| 3 | 29 |", "| 4 | 30 |");
    fs::write(bench.path("page.md"), page).expect("written");
    let rows = bench.judge(&good[1]);
    assert_eq!(rows.why, ["the book has no row 3", "no row 4"]);
    assert_eq!(rows.verdict, Verdict::Outside);
    let mut nowhere = good[0].clone();
    nowhere.values[0].at = "all[rung=none].gbps".to_owned();
    assert_eq!(bench.judge(&nowhere).verdict, Verdict::Outside);
    // All of it on a page.
    let all = [bench.judge(&bad[0]), rows];
    summary::write(&bench.place.out, &good, &all).expect("a page");
    let html = fs::read_to_string(bench.path("out/index.html")).expect("the page");
    for part in ["OUTSIDE", "expected 2.1 to 9", "<svg", "weft 1, program"] {
        assert!(html.contains(part), "{part}");
    }
    assert!(summary::text(&all).ends_with("0 within, 2 not, 0 skipped\n"));
}

#[test]
fn what_a_build_cannot_make_is_skipped_with_the_reason() {
    let _alone = alone();
    let bench = Bench::new();
    let mut list = entries("low = 1, high = 3", 0.1);
    list[0].needs = Some(list::Needs::Rtl);
    assert!(bench.run(&list[..1], "1/1"));
    assert_eq!(bench.ran(), "");
    let judged = bench.judge(&list[0]);
    assert_eq!((judged.verdict, judged.why.len()), (Verdict::Skipped, 1));
    bench.program(&PROGRAM.replace("simulator: model", "simulator: rtl512, model"));
    assert_eq!(bench.judge(&list[0]).verdict, Verdict::Missing);
}

#[test]
fn a_list_that_is_wrong_is_refused() {
    let one = |name: &str, rest: &str| {
        format!("[[result]]\nname = \"{name}\"\nwhat = \"\"\npage = \"\"\nseeds = \"\"\n{rest}\n")
    };
    let command = "command = [\"weft\"]";
    assert!(list::read(&one("a", command)).is_ok());
    for wrong in [
        one("a/b", command),
        one("", command),
        one("a", command) + &one("a", command),
        one("a", "command = []"),
        one("a", &format!("{command}\nparts = []")),
        one("a", &format!("{command}\nother = 1")),
    ] {
        assert!(list::read(&wrong).is_err(), "{wrong}");
    }
}

/// Each result of the list is of a page, of a program and of tables that there are.
#[test]
fn the_books_list_names_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = list::book().expect("a list");
    assert!(entries.iter().any(|entry| entry.sample > 0));
    for entry in &entries {
        let name = &entry.name;
        let page = fs::read_to_string(root.join("docs").join(&entry.page)).expect("a page");
        match entry.command[0].strip_prefix("examples/") {
            None => assert_eq!(entry.command[0], "weft", "{name}"),
            Some(example) => {
                let of = |crates: &str| {
                    root.join(format!("{crates}/examples/{example}.rs"))
                        .exists()
                };
                assert!(of("tests") || of("sim"), "{name}");
            }
        }
        assert!(entry.sample <= entry.parts.len(), "{name}");
        let parts: BTreeSet<_> = entry.parts.iter().collect();
        assert_eq!(parts.len(), entry.parts.len(), "{name}: a part twice");
        let used = entry.command.iter().any(|word| word.contains(list::PART));
        assert_eq!(used, parts.len() > 1, "{name}: parts that no command has");
        for of_book in &entry.tables {
            let table = between(&page, &of_book.mark, of_book.key);
            assert!(table.is_some(), "{name}: no table `{}`", of_book.mark);
        }
        if let Some(plot) = &entry.plot {
            let first = &entry.tables[0];
            let table = between(&page, &first.mark, first.key).expect("a table");
            for column in plot.places.iter().chain([&plot.series, &plot.y]) {
                assert!(table.head.contains(column), "{name}: no column {column}");
            }
        }
        for value in &entry.values {
            assert!(value.low <= value.high, "{name}: {}", value.at);
            assert!(entry.is_json(), "{name}: numbers, and no JSON");
        }
    }
}
