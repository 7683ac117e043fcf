//! `make test-vfio`: the driver under a guest kernel's VFIO.
//!
//! `vfio_lane [WORD...]`: only the steps whose name holds one of the words. `WEFT_TEST_CARD`: rtl128 (the default),
//! rtl512 or model. `WEFT_TEST_KILLS`, `WEFT_TEST_SEED`: how often processes are killed, and what decides when.

use std::path::Path;
use std::process::ExitCode;

use weft_lanes::accel::Accel;
use weft_lanes::images::{Images, Kernel};
use weft_lanes::process::build;
use weft_lanes::steps::Lane;
use weft_lanes::vfio::{self, Setting};

fn main() -> ExitCode {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/lanes/vfio");
    let report = logs.with_extension("json");
    let number = |name, default| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let card = std::env::var("WEFT_TEST_CARD").unwrap_or_else(|_| "rtl128".into());
    let mut lane = Lane::new("VFIO lane", std::env::args().skip(1).collect());
    let images = lane.always("images", || {
        let images = Images::build(&[Kernel::V6_1, Kernel::V6_12])?;
        let note = images.folder().display().to_string();
        Ok((images, note))
    });
    let edu = lane.always("the driver's edu example", || {
        Ok((
            build(
                &["build", "-p", "weft-card-transport", "--example", "edu"],
                "edu",
            )?,
            String::new(),
        ))
    });
    let (Some(images), Some(edu)) = (images, edu) else {
        return lane.finish(&report);
    };
    let suite = lane.step("test-suite of all transports, built", || {
        let test = [
            "test",
            "--no-run",
            "-p",
            "weft-tests",
            "--test",
            "transports",
        ];
        Ok((build(&test, "transports")?, String::new()))
    });
    let accel = lane.always("KVM or emulation", || {
        let (accel, why) = Accel::choose(&images);
        Ok((accel, format!("{accel:?}: {why}")))
    });
    let setting = Setting {
        images: &images,
        accel: accel.unwrap_or(Accel::Tcg),
        card: &card,
        logs: &logs,
        edu,
        suite,
        // Environment (tests): `WEFT_TEST_KILLS`: VFIO lane: how often. Without it: 10.
        kills: number("WEFT_TEST_KILLS", 10),
        // Environment (tests): `WEFT_TEST_SEED`: VFIO lane: what decides when programs are killed. Without it: 1.
        seed: number("WEFT_TEST_SEED", 1),
    };
    vfio::run(&mut lane, &setting);
    lane.finish(&report)
}
