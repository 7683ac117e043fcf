//! A `Device` whose engine is on the card (rung `firmware`): the verbs and connections of any other, against the usual engine on other cards.
#![cfg(ibex)]

use std::error::Error;

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::Rung;
use weft_processor_tests::firmware_with_engine;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::pair::{Operation, Pair};

const PORT: u16 = 4791;

/// Two devices, of these rungs: where the first one's is `firmware`, the second card is the functional model.
fn fabric(seed: u64, cards: [CardKind; 2], rungs: [Rung; 2]) -> Result<Fabric, Box<dyn Error>> {
    // What is wrong with the firmware is better said here.
    let _ = firmware_with_engine();
    Ok(Fabric::new(&FabricConfig {
        seed,
        cards: cards.to_vec(),
        rungs: rungs.to_vec(),
        link: LinkConfig::default(),
        ..FabricConfig::default()
    })?)
}

/// Random operations both ways, each byte of both targets compared.
fn transfers(
    pair: &mut Pair<'_>,
    source: &[u8],
    targets: &mut [Vec<u8>; 2],
    sizes: &[usize],
    rng: &mut fastrand::Rng,
) -> Result<(), Box<dyn Error>> {
    for &len in sizes {
        for from in 0..2 {
            for operation in Operation::ALL {
                let at = rng.usize(..=source.len() - len);
                let to = rng.usize(..=targets[0].len() - len);
                pair.transfer(operation, from, at, to, len)?;
                let bytes = &source[at..at + len];
                pair.check_target(operation, 1 - from, &mut targets[1 - from], to, bytes)?;
            }
        }
    }
    Ok(())
}

/// Moves messages of all kinds between two devices of these rungs.
fn talk(seed: u64, cards: [CardKind; 2], rungs: [Rung; 2]) -> Result<(), Box<dyn Error>> {
    const BYTES: usize = 1 << 14;
    let mut rng = fastrand::Rng::with_seed(seed);
    let fabric = fabric(seed, cards, rungs)?;
    let mut source = vec![0; BYTES];
    source.fill_with(|| rng.u8(..));
    let params = ConnParam::default();
    let mut pair = Pair::connect(&fabric, PORT, &params, &params, &source, BYTES)?;
    for (end, rung) in pair.ends.iter().zip(rungs) {
        assert_eq!(end.qp.query()?.rung, rung);
    }
    let mut targets = [vec![0; BYTES], vec![0; BYTES]];
    let sizes = [0, 1, 64, 1460, 5000, 16_000];
    transfers(&mut pair, &source, &mut targets, &sizes, &mut rng)?;
    pair.established()?;
    for (number, rung) in rungs.into_iter().enumerate() {
        let stats = fabric.device(number).engine_stats();
        let here = rung != Rung::Firmware;
        assert_eq!(stats.fpdus_card + stats.bytes_copied > 0, here, "{stats:?}");
    }
    Ok(pair.disconnect()?)
}

#[test]
fn firmware_talks_to_placement() -> Result<(), Box<dyn Error>> {
    talk(
        31,
        [CardKind::Rtl128, CardKind::Model],
        [Rung::Firmware, Rung::Placement],
    )
}

#[test]
fn host_talks_to_firmware() -> Result<(), Box<dyn Error>> {
    talk(
        32,
        [CardKind::Model, CardKind::Rtl128],
        [Rung::Host, Rung::Firmware],
    )
}

#[test]
fn firmware_talks_to_crc() -> Result<(), Box<dyn Error>> {
    talk(
        33,
        [CardKind::Rtl128, CardKind::Model],
        [Rung::Firmware, Rung::Crc],
    )
}

#[test]
fn firmware_talks_to_firmware() -> Result<(), Box<dyn Error>> {
    talk(34, [CardKind::Rtl128; 2], [Rung::Firmware; 2])
}
