//! What two cards say to each other, judged by Wireshark; and that the same seed says it twice.

use std::path::{Path, PathBuf};

use weft_sim::demo::{run, Plan, Report};
use weft_sim::kind::CardKind;
use weft_tests::{cards, has, tshark};

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weft-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The twelve ways of `weft demo`.
fn demo(card: CardKind, seed: u64, mtu: u16, out: &Path) -> Report {
    let file = (0..50_000u32).map(|n| ((n * n) >> 3) as u8).collect();
    let plan = Plan {
        seed,
        card,
        file,
        out: Some(out.to_owned()),
        mtu,
        waves: None,
    };
    run(&plan, |_, _| {}).expect("the demonstration")
}

fn decodes(card: CardKind, seed: u64, mtu: u16) {
    let folder = Folder::new(&format!("decode-{card}-{seed}-{mtu}"));
    let report = demo(card, seed, mtu, &folder.0);
    assert_eq!(report.ways.len(), 12);
    for capture in &report.captures {
        let decoded = tshark::decode(capture).expect("tshark");
        assert_eq!(
            decoded.complaints,
            Vec::<String>::new(),
            "{card}, seed {seed}, MTU {mtu}"
        );
        assert_eq!(decoded.mpa_start_up, 24, "a request and a reply each way");
        assert!(
            decoded.fpdus > 1000 && decoded.good_crcs > 1000,
            "{decoded:?}"
        );
    }
}

#[test]
fn wireshark_finds_nothing_wrong() {
    decodes(cards()[0], 3, 1500);
}

#[test]
fn wireshark_finds_nothing_wrong_in_jumbo_frames() {
    decodes(cards()[0], 4, 9000);
}

#[test]
fn wireshark_finds_nothing_wrong_at_128_bits() {
    if has(CardKind::Rtl128) {
        decodes(CardKind::Rtl128, 5, 1500);
    }
}

#[test]
fn the_same_seed_gives_the_same_capture_byte_for_byte() {
    let folders = ["a", "b", "other"].map(|n| Folder::new(&format!("same-{n}")));
    let captures = [(0, 7), (1, 7), (2, 8)].map(|(n, seed): (usize, u64)| {
        let report = demo(cards()[0], seed, 1500, &folders[n].0);
        std::fs::read(&report.captures[0]).expect("capture")
    });
    assert!(captures[0].len() > 1_000_000);
    assert!(captures[0] == captures[1], "two runs of seed 7 differ");
    assert!(captures[0] != captures[2], "seeds 7 and 8 do not differ");
}
