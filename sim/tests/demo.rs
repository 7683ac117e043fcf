//! The demonstration, on every kind of card: all bytes right, and the same seed makes the same capture.

use std::fs;
use std::path::PathBuf;

use weft_sim::demo::{run, Plan, Report};
use weft_sim::kind::CardKind;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for captures");
    folder
}

fn demo(card: CardKind, seed: u64, name: &str) -> (Report, Vec<u8>) {
    let file = (0..3000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let plan = Plan {
        seed,
        card,
        file,
        out: Some(folder(name)),
        mtu: 1500,
        waves: None,
    };
    let report = run(&plan, |_, _| {}).unwrap_or_else(|e| panic!("{card}, seed {seed}: {e}"));
    let capture = fs::read(&report.captures[0]).expect("the capture is there");
    (report, capture)
}

#[test]
fn the_same_seed_makes_the_same_capture() {
    for card in CardKind::available() {
        let (first, a) = demo(card, 5, &format!("{card}-a"));
        let (_, b) = demo(card, 5, &format!("{card}-b"));
        assert!(a == b, "{card}: two runs of one seed differ");
        assert_eq!(first.ways.len(), 12);
        assert!(
            first
                .ladder
                .iter()
                .any(|line| line.contains("Read Request of 0")),
            "{:#?}",
            first.ladder
        );
    }
}

#[test]
fn another_seed_makes_another_capture() {
    let (_, a) = demo(CardKind::Model, 6, "seed-6");
    let (_, b) = demo(CardKind::Model, 7, "seed-7");
    assert!(a != b);
}
