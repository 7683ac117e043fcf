//! TCP by the letter of the RFCs: scripts of packets (`tests/scripts`), run against the engine's TCP in stream mode.
#![allow(missing_docs)]

use crate::packets;

use std::fs;
use std::path::Path;

use packets::line::Script;
use packets::run::run;

/// Every script does what it says; those that are known to fail still fail.
#[test]
fn every_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "pkt"))
        .collect();
    files.sort();
    assert!(files.len() >= 40, "{} scripts", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let script = match Script::parse(&fs::read_to_string(&path).unwrap()) {
            Ok(script) => script,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        match (run(&script), &script.fails) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(error), None) => wrong.push(format!("{name}: {error}")),
            (Ok(()), Some(why)) => wrong.push(format!("{name} passes, and was to fail: {why}")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn verdict(text: &str) -> Result<(), String> {
    run(&Script::parse(text)?)
}

/// The runner finds what is wrong.
#[test]
fn a_script_can_fail() {
    let start = "+0 listen\n+0 < S 0:0(0) win 1000 <mss 1460>\n";
    let good = format!("{start}+0 > S. 0:0(0) ack 1 <mss 1460>\n");
    assert_eq!(verdict(&good), Ok(()));
    for bad in [
        "+0 > S. 0:0(0) ack 2",
        "+0 > S. 0:0(0) ack 1 <mss 1400>",
        "+0 > S. 0:0(0) ack 1 <mss 1460,sackOK>",
        "+0 > S. 0:0(0) ack 1 <>",
        "+0 > S. 0:0(0) ack 1 win 17",
        "+0 > S. 0:10(10) ack 1",
        "+0 > SE. 0:0(0) ack 1",
        "+1 > S. 0:0(0) ack 1",
        "+0.1 quiet",
        "+0 > S. 0:0(0) ack 1\n+0 > . 1:1(0) ack 1",
        "+0 > S. 0:0(0) ack 1\n+0 read 1",
        "+0 > S. 0:0(0) ack 1\n+0 over peer",
    ] {
        assert!(verdict(&format!("{start}{bad}\n")).is_err(), "{bad}");
    }
}
