//! What comes while a flow is detached, copied and walked over again by the card: the same messages, every byte where it belongs, and fewer copied
//! where some are lost.
//! `cargo test -p weft-sim --test simulator replays -- --nocapture` prints how many; `WEFT_REPLAYS=book` runs the loads of `weft partitions replay` as
//! they are, and those of Writes that the book has.

use weft_hostdrv::Rung;
use weft_sim::host::HostConfig;
use weft_sim::kind::CardKind;
use weft_sim::partitions::run::{run, Place};
use weft_sim::partitions::workload::{self, Load};

/// Bytes copied by both hosts for each byte moved, and Gb/s.
fn measure(kind: CardKind, load: &Load) -> (f64, f64) {
    let place = Place {
        kind,
        seed: 1,
        mtu: 1500,
        gbps: kind.gbps(),
        host: HostConfig::free(),
    };
    let figures = run(place, Rung::Placement, load).unwrap();
    let copied = figures.per_byte.map_or(0.0, |each| each.bytes_copied);
    println!(
        "{kind}, {}: {copied:.3} bytes copied a byte, {:.2} Gb/s, {} bytes copied",
        load.name,
        figures.gbps,
        figures.ends[0].bytes_copied + figures.ends[1].bytes_copied
    );
    (copied, figures.gbps)
}

#[test]
fn fewer_bytes_are_copied() {
    // Environment (tests): `WEFT_REPLAYS`: replays: `book` measures all loads as they are, and those of the book. Without it: a part of them.
    let book = std::env::var("WEFT_REPLAYS").is_ok_and(|value| value == "book");
    let mut kinds = vec![CardKind::Model];
    kinds.extend(
        [CardKind::widest()]
            .into_iter()
            .filter(|k| *k != CardKind::Model),
    );
    for kind in kinds {
        let loads = workload::read("replay").unwrap();
        for pair in loads.chunks_exact(2) {
            let shorter = |load: &Load| Load {
                messages: if book { load.messages } else { 100 },
                ..load.clone()
            };
            let (copied, _) = measure(kind, &shorter(&pair[0]));
            let (replayed, _) = measure(kind, &shorter(&pair[1]));
            assert!(!pair[0].replay && pair[1].replay);
            // Without a gap what is cut is copied either way.
            let most = match (pair[1].loss, pair[1].resegmented) {
                (_, 0) => copied / 2.0,
                (0, _) => copied * 1.2,
                _ => copied,
            };
            assert!(
                replayed <= most,
                "{kind}, {}: {replayed} of {copied}",
                pair[1].name
            );
        }
        if book {
            for load in workload::read("book").unwrap() {
                for replay in [false, true] {
                    let load = Load {
                        replay,
                        ..load.clone()
                    };
                    measure(kind, &load);
                }
            }
        }
    }
}
