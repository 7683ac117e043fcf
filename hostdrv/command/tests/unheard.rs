//! An option that another one makes meaningless is refused, and the refusal says what to do: a figure without it would answer another question.
#![cfg(feature = "sim")]

use std::fs;

use crate::weft;

use weft::{folder, run, text};

/// A command, and words of its refusal.
type Row<'a> = (&'a [&'a str], &'a [&'a str]);

const PARTITIONS: [&str; 5] = ["partitions", "echo", "--card", "model", "--rung=host"];
const FREE: [&str; 2] = ["--host free: software takes no time there", "leave it out"];
const POLLS: [&str; 2] = ["costs of hosts that sleep", "sleep = true"];
const NO_TIME: [&str; 3] = ["would change nothing", "leave it out", "host = \"3ghz\""];

fn refused(rows: &[Row<'_>], before: &[&str]) {
    for (options, says) in rows {
        let output = run(&[before, options].concat());
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{options:?} is not refused");
        for word in *says {
            assert!(said.contains(word), "{options:?}: no `{word}` in: {said}");
        }
    }
}

#[test]
fn what_a_free_host_does_not_have_is_refused() {
    let costs: Row<'_> = (&["--host=free", "--cost", "mmio-write=100"], &FREE);
    refused(
        &[
            costs,
            (&["--host=free", "--cores=2"], &FREE),
            (&["--host=free", "--ipc=2"], &FREE),
            (&["--host=free", "--sleep"], &FREE),
            (
                &["--host=free", "--ghz=2"],
                &["'--ghz <GHZ>'", "'--host <HOST>'"],
            ),
            (
                &["--host=2ghz", "--ghz=2"],
                &["'--ghz <GHZ>'", "'--host <HOST>'"],
            ),
            (
                &["--cost", "wake-up=5000"],
                &["each load polls", "add --sleep"],
            ),
            (
                &["--cost", "interrupt=5000"],
                &["each load polls", "add --sleep"],
            ),
        ],
        &PARTITIONS,
    );
}

/// A load of its own, with these lines, and a run of it with these options.
fn load(name: &str, lines: &str, options: &[&str]) -> std::process::Output {
    // A folder of its own: it is made anew.
    let file = folder(&format!("unheard-{name}")).join("load.toml");
    let load = "[[load]]\nname = \"l\"\nwrite = 1\nsizes = [64]\nmessages = 1\n";
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(&file, format!("{load}{lines}\n")).expect("written");
    let path = file.display().to_string();
    let run_of = [
        "partitions",
        &path,
        "--card",
        "model",
        "--rung",
        "host",
        "--json",
    ];
    run(&[&run_of[..], options].concat())
}

#[test]
fn what_each_load_says_itself_is_not_said_by_options() {
    let rows: [(&str, &[&str], &[&str]); 14] = [
        (
            "host = \"free\"",
            &["--host=2ghz"],
            &["--host would change nothing: each load has its own"],
        ),
        (
            "host = \"2ghz\"",
            &["--ghz=3"],
            &["--ghz would change nothing"],
        ),
        (
            "host = \"free\"",
            &["--ipc=2"],
            &["--ipc would change nothing"],
        ),
        (
            "host = \"free\"",
            &["--cost=mapping=1"],
            &["--cost mapping=1 would change nothing"],
        ),
        (
            "cores = 1",
            &["--cores=2"],
            &["--cores would change nothing"],
        ),
        (
            "sleep = false",
            &["--sleep"],
            &["--sleep would change nothing"],
        ),
        (
            "costs = { mapping = 7 }",
            &["--cost=mapping=1"],
            &["--cost mapping=1 would change nothing"],
        ),
        (
            "rto_min_us = 5",
            &["--rto-min=9"],
            &["--rto-min 9 would change nothing"],
        ),
        ("cores = 2", &["--host=free"], &NO_TIME),
        ("costs = { mapping = 7 }", &["--host=free"], &NO_TIME),
        ("host = \"free\"\ncores = 2", &[], &NO_TIME),
        ("host = \"free\"\nsleep = true", &[], &NO_TIME),
        ("costs = { wake-up = 7 }", &[], &POLLS),
        (
            "costs = { interrupt = 7 }\nsleep = false",
            &["--sleep"],
            &POLLS,
        ),
    ];
    for (number, (lines, options, says)) in rows.into_iter().enumerate() {
        let output = load(&format!("refused-{number}"), lines, options);
        let said = text(&output.stderr);
        assert!(
            !output.status.success(),
            "{lines} {options:?} is not refused"
        );
        for word in says {
            assert!(
                said.contains(word),
                "{lines} {options:?}: no `{word}` in: {said}"
            );
        }
    }
}

#[test]
fn what_a_load_leaves_open_is_said_by_options() {
    let rows: [(&str, &[&str]); 5] = [
        (
            "host = \"2ghz\"",
            &["--cores=2", "--ipc=2", "--sleep", "--cost=wake-up=9"],
        ),
        ("cores = 1", &["--cost=mmio-write=1", "--ghz=1"]),
        ("costs = { wake-up = 7 }", &["--sleep"]),
        ("sleep = true", &["--cost=interrupt=9"]),
        ("", &["--host=3ghz", "--cores=1", "--rto-min=9"]),
    ];
    for (number, (lines, options)) in rows.into_iter().enumerate() {
        let output = load(&format!("heard-{number}"), lines, options);
        assert!(
            output.status.success(),
            "{lines} {options:?}: {}",
            text(&output.stderr)
        );
    }
    // They take effect: a load's own clock has the run's instructions a cycle.
    let ns = |options: &[&str]| -> f64 {
        let output = load("clock", "host = \"2ghz\"", options);
        let figures: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let figures = &figures["loads"][0]["rungs"][0]["figures"];
        figures["time_ns"].as_f64().expect("a time")
    };
    assert!(ns(&["--ipc", "4"]) < 0.8 * ns(&[]));
}

#[test]
fn modes_of_perf_have_their_own_options_alone() {
    let timed = ["required", "--loss|--scale|--queue"];
    let mtu = ["cannot be used with '--mtu <MTU>'"];
    refused(
        &[
            (&["--milliseconds=5"], &timed),
            (&["--mixed", "--milliseconds=5"], &["cannot be used with"]),
            (&["--pcie", "--milliseconds=5"], &["cannot be used with"]),
            (&["--mixed", "--mtu=9000"], &["'--mtu <MTU>'", "'--mixed'"]),
            (&["--pcie=3x16", "--mtu=9000"], &mtu),
            (&["--out=there"], &["unexpected argument '--out'"]),
            (&["--markers"], &["--loss"]),
            (&["--aligned"], &["--loss"]),
            (
                &["--loss", "--markers", "--aligned"],
                &["'--markers'", "cannot be used with", "'--aligned'"],
            ),
            (&["--scale", "--aligned"], &["cannot be used with"]),
            (&["--queue", "--aligned"], &["cannot be used with"]),
            (&["--scale", "--congestion=reno"], &["cannot be used with"]),
            (&["--queue", "--write-bytes=64"], &["cannot be used with"]),
            (&["--queue", "--scale"], &["cannot be used with"]),
            (&["--mixed", "--loss"], &["cannot be used with"]),
        ],
        &["perf"],
    );
}

#[test]
fn a_projection_has_only_what_it_reckons_with() {
    let rung = ["would change nothing", "host and placement", "--rung"];
    refused(
        &[
            (&["--rung=crc", "--cores=2"], &rung),
            (&["--rung=crc", "--ghz=2"], &rung),
            (&["--rung=crc", "--ipc=2"], &rung),
            (
                &["--queue-pairs=1,8", "--memory-ns=9"],
                &["--memory-ns would change nothing", "--queue-pairs"],
            ),
            (&["rto"], &["has loss"]),
        ],
        &["project", "--card", "rtl128"],
    );
    for lines in [
        "host = \"3ghz\"",
        "cores = 2",
        "sleep = true",
        "costs = { mapping = 1 }",
    ] {
        let file = folder("projected").join("own.toml");
        let load = "[[load]]\nname = \"l\"\nwrite = 1\nsizes = [64]\nmessages = 1\n";
        fs::write(&file, format!("{load}{lines}\n")).expect("written");
        let output = run(&["project", &file.display().to_string(), "--card", "rtl128"]);
        let said = text(&output.stderr);
        let (key, _) = lines.split_once(" =").expect("a key");
        assert!(!output.status.success(), "{lines}");
        let why = format!("load `l` has {key}: the card is measured without hosts");
        assert!(said.contains(&why), "{lines}: {said}");
    }
}
