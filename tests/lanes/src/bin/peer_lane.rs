//! `make test-peer`: Linux soft-iWARP in a guest against a simulated card.
//!
//! `peer_lane [WORD...]`: only the scenarios whose name holds one of the words. `WEFT_TEST_CARD`: rtl512 (the default),
//! rtl128 or model.

use std::path::Path;
use std::process::ExitCode;

use weft_lanes::accel::Accel;
use weft_lanes::images::{Images, Kernel};
use weft_lanes::peer::{self, PeerBench};
use weft_lanes::steps::Lane;

fn main() -> ExitCode {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/lanes/peer");
    let report = logs.with_extension("json");
    let card = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "rtl512".into());
    let only: Vec<_> = std::env::args().skip(1).collect();
    let mut lane = Lane::new("peer lane", only);
    let Some(images) = lane.always("images", || {
        let images = Images::build(&[Kernel::V6_1])?;
        let note = format!(
            "Linux {}, in {}",
            images.release(Kernel::V6_1),
            images.folder().display()
        );
        Ok((images, note))
    }) else {
        return lane.finish(&report);
    };
    let (accel, why) = Accel::choose(&images);
    let started = lane.always("guest with siw", || {
        let mut bench = PeerBench::start(&images, accel, &card, &logs)?;
        let note = format!(
            "{accel:?} ({why}); booted in {:.1} s; {}",
            bench.guest.boot_time().as_secs_f64(),
            bench.describe()?
        );
        Ok((bench, note))
    });
    let Some(mut bench) = started else {
        return lane.finish(&report);
    };
    for scenario in peer::all() {
        lane.check(&scenario.name, || bench.run(&scenario));
    }
    lane.finish(&report)
}
