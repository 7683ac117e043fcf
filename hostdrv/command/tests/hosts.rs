//! `weft partitions` with simulated hosts, and over several seeds.
#![cfg(feature = "sim")]

use serde_json::Value;

use crate::weft;

use weft::{run, text};

/// One load at one rung.
fn partitions(options: &[&str]) -> std::process::Output {
    let load = ["partitions", "book", "--load", "4 KiB Writes, 1 % lost"];
    let rung = ["--card", "model", "--rung", "placement"];
    run(&[&load[..], &rung, options].concat())
}

fn json(options: &[&str]) -> Value {
    let output = partitions(&[&["--json"], options].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn software_takes_time_or_none() {
    let gbps = |options: &[&str]| {
        let figures = json(options);
        let figures = &figures["loads"][0]["rungs"][0]["figures"];
        let is_charged = figures["hosts"][1]["instructions"].as_f64() > Some(100_000.0);
        (figures["gbps"].as_f64().expect("a number"), is_charged)
    };
    let (free, none) = gbps(&["--host", "free"]);
    let (usual, charged) = gbps(&[]);
    assert!(free > 2.0 * usual && charged && !none, "{free} {usual}");
    assert_eq!(gbps(&["--host", "3ghz", "--cores", "1"]), (usual, charged));
    assert!(gbps(&["--ghz", "6"]).0 > usual);
    assert!(gbps(&["--ipc", "0.5"]).0 < usual);
    let said = text(&partitions(&["--cores", "2", "--sleep"]).stdout);
    for part in [
        "Hosts: 2 cores of 3 GHz, IPC 1, sleeping.",
        "--cores 2 --sleep",
        "cores, who posts",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let dear = partitions(&["--sleep", "--cost", "wake-up=5000,mmio-read=700"]);
    let said = text(&dear.stdout);
    for part in [
        "sleeping, mmio-read=700,wake-up=5000.",
        " --sleep --cost mmio-read=700,wake-up=5000",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let wrong = partitions(&["--cost", "wakeup=5000"]);
    assert_eq!(wrong.status.code(), Some(2));
    let names = "names are mmio-write, mmio-read, interrupt, wake-up, cache-miss, mapping";
    assert!(
        text(&wrong.stderr).contains(names),
        "{}",
        text(&wrong.stderr)
    );
    let why = text(&partitions(&["--cores", "5"]).stderr);
    assert!(
        why.contains("it is 1 to 4: one for the device's turns"),
        "{why}"
    );
    for wrong in [["--host", "fast"], ["--cores", "0"], ["--ghz", "0"]] {
        assert_eq!(partitions(&wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn several_seeds_have_a_median_and_an_interval() {
    let seed = |seed: &str| {
        let figures = json(&["--seed", seed]);
        let gbps = figures["loads"][0]["rungs"][0]["figures"]["gbps"].as_f64();
        gbps.expect("a number")
    };
    let mut alone = ["3", "4", "5", "6", "7", "8"].map(seed);
    alone.sort_by(f64::total_cmp);
    let over = json(&["--seed", "3", "--seeds", "6"]);
    let over = &over["loads"][0]["rungs"][0]["over_seeds"];
    assert_eq!(over["seeds"], 6);
    let figures = over["figures"].as_array().expect("a list");
    let gbps = figures.iter().find(|figure| figure["name"] == "gbps");
    let of = |what: &str| gbps.expect("Gb/s")[what].as_f64();
    assert_eq!(of("low"), Some(alone[0]));
    assert_eq!(of("high"), Some(alone[5]));
    // The mean of the two in the middle, but for rounding.
    let median = of("median").expect("a number");
    assert!(
        (median - (alone[2] + alone[3]) / 2.0).abs() < 1e-9,
        "{median}: {alone:?}"
    );
    let said = text(&partitions(&["--seed", "3", "--seeds", "6"]).stdout);
    let ends = format!("{:.2}..{:.2}", alone[0], alone[5]);
    assert!(said.contains(&ends), "{ends}: {said}");
    assert!(said.contains("seeds 3 to 8"), "{said}");
    let refused = partitions(&["--seeds", "3"]);
    let why = text(&refused.stderr);
    assert!(why.contains("fewer make no interval of 95 %"), "{why}");
}

#[test]
fn a_program_has_all_that_a_workload_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (html, figures) = (path("page.html"), path("figures"));
    let options = ["partitions", "key-value-rates", "--card", "model"];
    let more = [
        "--rung",
        "placement",
        "--html",
        &html,
        "--figures",
        &figures,
    ];
    let output = run(&[&options[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "key-value, 1 Write : 30 Read, 25000 a second (Poisson), 16 in flight on each of 4 connections, 4000 messages",
        "cores, who posts",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let read = |path: &str| std::fs::read_to_string(path).expect("a file");
    assert!(read(&html).contains("200,000 a second"));
    // Loads that differ by nothing but their rate: latency against load.
    assert_eq!(read(&format!("{figures}/load-p99.csv")).lines().count(), 8);
}
