//! siw under load: long Read Responses, which it sends without a copy: header, pages and CRC are given to its TCP one by one, and segments end between
//! them, inside FPDUs. How much of it the card places, with FPDUs carried over the ends of segments and without.

use std::path::Path;

use serde::Deserialize;

use crate::steps::{ensure, NoPass};

use super::pace::not_on_card;
use super::rping::{siw_is_client, Run};
use super::{Capture, Scenario, Session, Siw};

/// Pings, and bytes of each: the most that rping has.
const PINGS: u32 = 100;
const SIZE: u32 = 65_535;
/// rping tells by a Send where its memory is, to be read and to be written to.
const TOLD: u32 = 2 * 16;
/// The least that the card places of siw's bytes if it carries, in percent.
const LEAST: f64 = 99.0;

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![Scenario {
        name: "load, siw is client: with carried FPDUs and without".to_owned(),
        siw: Siw::STOCK,
        capture: Capture::Clean,
        run: Box::new(|session| {
            not_on_card("the card replays what is cut")?;
            let [without, with] = [load(session, "off")?, load(session, "on")?];
            let told = format!("placed by the card: {with} with carried FPDUs, {without} without");
            ensure(
                with.share() >= LEAST,
                format!("{told}: less than {LEAST} %"),
            )?;
            Ok(told)
        }),
    }]
}

/// What `--counts` writes: the part that is looked at.
#[derive(Deserialize)]
struct Counts {
    engine: OfEngine,
    card: OfCard,
}

#[derive(Deserialize)]
struct OfEngine {
    segments_raw: u64,
    segments_carried: u64,
    fpdus_card: u64,
    fpdus_software: u64,
    attaches: u64,
}

#[derive(Deserialize)]
struct OfCard {
    /// Left out where it is 0.
    #[serde(default)]
    rx_place_bytes: u64,
}

impl Counts {
    fn read(file: &Path) -> Result<Self, NoPass> {
        let text = std::fs::read_to_string(file)?;
        serde_json::from_str(&text)
            .map_err(|why| NoPass::Fail(format!("{}: {why}", file.display())))
    }

    /// Percent of siw's bytes that the card has placed.
    fn share(&self) -> f64 {
        let bytes = PINGS * (SIZE + TOLD);
        100.0 * self.card.rx_place_bytes as f64 / f64::from(bytes)
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (share, engine) = (self.share(), &self.engine);
        write!(
            f,
            "{share:.1} % (FPDUs: card {}, engine {}; segments: raw {}, carried {}; attached {} times)",
            engine.fpdus_card,
            engine.fpdus_software,
            engine.segments_raw,
            engine.segments_carried,
            engine.attaches,
        )
    }
}

/// The load, with a device that carries or does not.
fn load(session: &mut Session<'_>, carry: &str) -> Result<Counts, NoPass> {
    let file = session.card.logs.join(format!("counts-{carry}.json"));
    let ours = format!(
        "--rung placement --carry {carry} --counts {}",
        file.display()
    );
    let run = Run {
        count: PINGS,
        size: SIZE,
        ours: ours.into(),
    };
    siw_is_client(session, &run)?;
    Counts::read(&file)
}
