//! The rows of `weft perf --mixed`: that they are there, and that no frame of theirs is unaccounted for. How fast they are is no test's matter.

use weft_sim::kind::CardKind;
use weft_sim::perf::mixed::{self, Fates, MixedTable};

/// Frames of each row: more than a card stores.
const FRAMES: usize = 200;

fn table(kind: CardKind) -> MixedTable {
    let mut heard = Vec::new();
    let table = mixed::run(kind, 1, FRAMES, |what| heard.push(what.to_owned())).expect("a card");
    let names: Vec<_> = table.rows.iter().map(|row| row.name.clone()).collect();
    assert_eq!(names, heard, "each is told before it is measured");
    assert_eq!(names.len() as u64, mixed::rows());
    for row in &table.rows {
        assert!(row.cycles.is_some_and(|cycles| cycles > 0.0), "{row:?}");
        let Some(fates) = row.at_pace else { continue };
        assert_eq!(fates.frames, FRAMES, "{row:?}");
        let Fates {
            placed,
            acknowledgments,
            raw,
            dropped,
            ..
        } = fates;
        assert_eq!(
            placed + acknowledgments + raw + dropped,
            FRAMES,
            "{row:?}: each frame has one fate"
        );
    }
    table
}

#[test]
fn every_row_of_mixed_frames_is_there_and_every_frame_has_one_fate() {
    let table = table(CardKind::widest());
    for what in [
        "1440-byte Writes, every 2nd frame an ACK",
        "512-byte Writes, every 3rd frame an ACK",
        "64-byte Sends of 9 flows in turn, reads 1000 ns",
        "64-byte Sends of 256 flows in turn, reads 400 ns",
        "three 1440-byte Writes and a 64-byte Send of one of 16 flows",
        "64-byte Writes of two flows in turn",
        "64-byte Writes received",
        "1460-byte segments received",
    ] {
        let row = table.rows.iter().find(|row| row.name == what);
        assert!(row.is_some_and(|row| row.at_pace.is_some()), "{what}");
    }
    for what in [
        "64-byte Writes sent",
        "1460-byte segments sent",
        "64-byte Write, wire to memory",
    ] {
        assert!(table.rows.iter().any(|row| row.name == what), "{what}");
    }
}

/// The functional model does what a card may do at best: it places all, whatever is between.
#[test]
fn the_model_places_all_of_the_mixed_frames() {
    for row in table(CardKind::Model).rows {
        let Some(fates) = row.at_pace else { continue };
        assert_eq!((fates.raw, fates.dropped), (0, 0), "{}", row.name);
        assert_eq!(fates.placed + fates.acknowledgments, FRAMES, "{}", row.name);
    }
}
