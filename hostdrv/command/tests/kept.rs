//! What was there, and what was found out, outlives a file that cannot be written.
#![cfg(feature = "sim")]

use std::fs;

use weft_sim::capture;

use crate::weft;

use weft::{folder, run, text};

#[test]
fn a_second_run_into_one_folder_is_refused_and_spoils_nothing() {
    let folder = folder("one-folder");
    let path = folder.join("link0.pcapng");
    let first = capture::create(&path).expect("is begun");
    let out = folder.display().to_string();
    let demo = ["demo", "--card", "model", "--out", &out];
    let refused = run(&demo);
    assert_eq!(refused.status.code(), Some(1));
    let why = text(&refused.stderr);
    assert!(why.contains("link0.pcapng: another run writes it"), "{why}");
    assert!(!why.contains("replay"), "not a matter of the seed: {why}");
    assert_eq!(fs::read(&path).expect("is there"), b"");
    drop(first);
    assert!(run(&demo).status.success());
}

#[test]
fn what_was_found_out_is_told_where_its_file_cannot_be_had() {
    let folder = folder("no-file").display().to_string();
    let ladder = ["partitions", "echo", "--card", "model", "--rung", "host"];
    let perf = ["perf", "--card", "model"];
    let test = ["selftest", "--device", "sim:card=model"];
    for (command, option, told) in [
        (&test[..], "--report", "passed"),
        (&perf[..], "--html", "Gb/s"),
        (&ladder[..], "--html", "Gb/s"),
    ] {
        let output = run(&[command, &[option, &folder]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(text(&output.stdout).contains(told), "{command:?}");
        assert!(text(&output.stderr).contains(&folder), "{command:?}");
    }
}
