//! Hosts that are behind their cards: bulk both ways with hosts 0 to 64 reports behind, over ways that cut and lose, and how much of it the card
//! places.
//!
//! The campaign: `WEFT_LATE_SEEDS` seeds, from `WEFT_LATE_FROM` on; each thousand seeds it says how far it is.
//! `docs/handover.md` quotes the table (`UPDATE_HANDOVER=1` renews it).
#![allow(missing_docs)]

use crate::bench;

use bench::bulk::{run, Plan};
use bench::late::Late;
use bench::middlebox::{Cuts, Middlebox};
use bench::*;
use weft_engine::*;

fn number(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(usual)
}

/// No run hangs, and no octet is wrong.
#[test]
fn bulk_both_ways() {
    // Environment (tests): `WEFT_LATE_FROM`: the first of these seeds. Without it: 0.
    let from = number("WEFT_LATE_FROM", 0);
    // Environment (tests): `WEFT_LATE_SEEDS`: bulk to hosts that are behind (`late_hosts`): how many seeds. Without it: 60.
    let end = from + number("WEFT_LATE_SEEDS", 60);
    for seed in from..end {
        if seed > from && seed % 1000 == 0 {
            eprintln!("{seed} of {end}");
        }
        run(&Plan::drawn(seed));
    }
}

/// What goes wrong on the way.
#[derive(Clone, Copy)]
enum Lost {
    /// One frame, at the beginning.
    One,
    /// One in a hundred.
    OnePercent,
}

/// Writes of 64 KiB to a host that is so many reports behind, sixteen in flight: which part of the FPDUs the card has placed, in percent. With
/// `cuts` they come through a box.
fn share_of_card(behind: usize, lost: Lost, replay: u16, cuts: Option<Cuts>) -> f64 {
    const LENGTH: u32 = 1 << 16;
    let mut b = Bench::with(7, &|c| {
        c.replay = replay;
        c.receive_window = cuts.map_or(1 << 20, |cuts| cuts.window);
    });
    b.middlebox = cuts.map(|cuts| Middlebox::new(7, cuts));
    b.keep_capture = false;
    b.hosts[1].card.raw_slots(4096);
    b.hosts[1].card.reports_on_way = true;
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    b.late[1] = Late::fixed(behind);
    let fpdus = match lost {
        Lost::One => {
            let mut left = 20;
            b.tamper = Some(Box::new(move |from, _| {
                left -= i32::from(from == 0);
                from != 0 || left != 0
            }));
            FPDUS
        }
        Lost::OnePercent => {
            b.faults.loss = 655;
            5000
        }
    };
    let (source, _) = b.hosts[0].region(LENGTH.into(), Access::LOCAL_WRITE);
    let (sink, _) = b.hosts[1].region(LENGTH.into(), Access::REMOTE_WRITE);
    let taken = |b: &Bench| {
        let stats = b.hosts[1].engine.stats();
        (stats.fpdus_card, stats.fpdus_card + stats.fpdus_software)
    };
    for id in 0.. {
        if taken(&b).1 >= fpdus {
            break;
        }
        let sges = [sge(source, 0, LENGTH)];
        b.post_send(0, pair.qps[0], &write(id, sink, 0x1000, &sges))
            .unwrap();
        b.until("a completion", 60_000 * MS, |b| {
            b.hosts[0].completions.len() as u64 + 16 > id
        });
    }
    if cuts.is_none() && matches!(lost, Lost::One) {
        assert_eq!(b.hosts[1].card.attached(), 1, "{behind} behind");
    }
    let (card, all) = taken(&b);
    100.0 * card as f64 / all as f64
}

/// FPDUs of a long run.
const FPDUS: u64 = 20_004;

/// A sender that fills the window to the octet pauses inside an FPDU: the window opens to its end, and the card has the flow again.
#[test]
fn a_window_that_is_filled_to_the_octet() {
    // Each window ends inside an FPDU, so that it takes the flow away again.
    for (window, least) in [(1 << 17, 50.0), (1 << 18, 85.0)] {
        let cuts = Cuts {
            sizes: (2000, 2000),
            ends: true,
            fill: true,
            window,
        };
        let share = share_of_card(1, Lost::One, 0, Some(cuts));
        assert!(
            share >= least,
            "a window of {window}: {share} % by the card"
        );
    }
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/handover.md");
const MARKS: [&str; 2] = ["<!-- shares -->\n", "<!-- end of shares -->\n"];

/// A host that is behind has its flow back soon, and the page says how much goes by hand until then.
#[test]
fn the_card_places_nearly_all() {
    let columns = [
        (Lost::One, 0),
        (Lost::One, 4096),
        (Lost::OnePercent, 0),
        (Lost::OnePercent, 4096),
    ];
    let mut table = String::from(
        "| reports behind | one frame lost | the same, replays | 1 % lost | the same, replays |\n|---|---|---|---|---|\n",
    );
    for behind in [0, 1, 2, 4, 8, 16, 64] {
        table += &format!("| {behind} |");
        for (lost, replay) in columns {
            let share = share_of_card(behind, lost, replay, None);
            if matches!(lost, Lost::One) {
                assert!(share >= 95.0, "{behind} behind: {share} % by the card");
            }
            table += &format!(" {share:.1} % |");
        }
        table += "\n";
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let from = page.find(MARKS[0]).expect("the mark") + MARKS[0].len();
    let to = page.find(MARKS[1]).expect("the other mark");
    // Environment (tests): `UPDATE_HANDOVER`: `late_hosts`: `1` writes its table into docs/handover.md. Without it: the page is compared.
    if std::env::var_os("UPDATE_HANDOVER").is_some() {
        let page = format!("{}{table}{}", &page[..from], &page[to..]);
        std::fs::write(PAGE, page).expect("writable");
        return;
    }
    assert!(
        page[from..to] == table,
        "docs/handover.md is stale: UPDATE_HANDOVER=1 cargo test -p weft-engine --test engine late_hosts\n{table}"
    );
}
