//! `--figures`: each figure as SVG, PDF and CSV.
#![cfg(feature = "sim")]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::weft;

use weft::{run, text};

/// Names of the files of one kind, in order.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder was made");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let of_kind = paths.filter(|path| path.extension().is_some_and(|end| end == ending));
    let mut names: Vec<_> = of_kind
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_of_the_ladder_has_its_figures_in_three_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let figures = folder.path().join("made/by/it");
    let options = ["partitions", "book", "--load", "4 KiB Writes", "--card"];
    let more = ["model", "--rung", "host,placement", "--json", "--figures"];
    let place = [figures.to_str().expect("a name")];
    let output = run(&[&options[..], &more, &place].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    let expected = [
        "bytes-copied-by-hosts-per-byte",
        "bytes-of-crc-by-hosts-per-byte",
        "ccdf-4-kib-writes",
        "cdf-4-kib-writes",
        "cores",
        "dma-bytes-read-per-byte",
        "dma-bytes-written-per-byte",
        "dma-reads-per-message",
        "dma-writes-per-message",
        "goodput",
        "messages",
        "mmio-writes-per-message",
    ];
    for ending in ["svg", "pdf", "csv"] {
        assert_eq!(names(&figures, ending), expected, "{ending}");
    }
    let read = |name: &str| fs::read_to_string(figures.join(name)).expect("text");
    // The points are the run's.
    let steady = |rung: usize| &json["loads"][0]["rungs"][rung]["figures"]["steady"]["gbps"];
    let goodput = read("goodput.csv");
    for (n, rung) in ["host", "placement"].into_iter().enumerate() {
        let line = goodput.lines().nth(n + 1).expect("a line for each rung");
        let fields: Vec<_> = line.split(',').collect();
        assert_eq!(fields[..2], [rung, "4 KiB Writes"], "{goodput}");
        let written: f64 = fields[2].parse().expect("a number");
        let measured = steady(n).as_f64().expect("a number");
        assert!(
            (written / measured - 1.0).abs() < 1e-9,
            "{written} {measured}"
        );
    }
    // A CDF ends with all messages at the longest latency, a CCDF with none.
    let slowest = &json["loads"][0]["rungs"][1]["figures"]["latency_ns"][5];
    let last = |name: &str| read(name).lines().last().expect("lines").to_owned();
    let ends = |part| format!("placement,{slowest},{part},,");
    assert_eq!(last("cdf-4-kib-writes.csv"), ends(1));
    assert_eq!(last("ccdf-4-kib-writes.csv"), ends(0));
    // Who reads a figure is told what it shows and where it is from.
    let svg = read("goodput.svg");
    for part in [
        "goodput (Gb/s)",
        "placement",
        "weft partitions book --card model --seed 1",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    let pdf = fs::read(figures.join("goodput.pdf")).expect("a PDF");
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 1000);
}

#[test]
fn a_folder_that_cannot_be_made_is_told_of() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let name = file.path().to_str().expect("a name");
    let load = ["partitions", "book", "--load", "64 B Writes", "--card"];
    let output = run(&[&load[..], &["model", "--rung", "host", "--figures", name]].concat());
    assert_eq!(output.status.code(), Some(1));
    let why = text(&output.stderr);
    assert!(why.contains("cannot write") && why.contains(name), "{why}");
}
