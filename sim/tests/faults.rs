//! The whole stack over a link that loses, reorders, duplicates, corrupts and cuts frames.

use weft_hostdrv::cm::ConnParam;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::{Faults, LinkConfig};
use weft_sim::pair::{Operation, Pair};

fn transfer(card: CardKind, seed: u64, faults: Faults, len: usize) {
    let link = LinkConfig {
        faults,
        ..LinkConfig::default()
    };
    let config = FabricConfig {
        seed,
        cards: vec![card; 2],
        link,
        ..FabricConfig::default()
    };
    let run = || -> Result<(), Box<dyn std::error::Error>> {
        let fabric = Fabric::new(&config)?;
        let source: Vec<u8> = (0..len as u32 + 8).map(|i| (i ^ i >> 8) as u8).collect();
        let markers = ConnParam {
            markers: seed & 1 != 0,
            ..ConnParam::default()
        };
        let mut pair = Pair::connect(&fabric, 7471, &markers, &markers, &source, len + 8)?;
        pair.established()?;
        let mut images = [vec![0; len + 8], vec![0; len + 8]];
        for (number, operation) in Operation::ALL.into_iter().enumerate() {
            for from in [0, 1] {
                pair.transfer(operation, from, number, 5, len)?;
                pair.check_target(
                    operation,
                    1 - from,
                    &mut images[1 - from],
                    5,
                    &source[number..number + len],
                )?;
            }
        }
        pair.disconnect()?;
        Ok(())
    };
    run().unwrap_or_else(|e| panic!("{card}, seed {seed}, {faults:?}: {e}"));
}

#[test]
fn every_byte_arrives() {
    let each = [
        Faults {
            loss: 10_000,
            ..Faults::default()
        },
        Faults {
            duplicate: 50_000,
            ..Faults::default()
        },
        Faults {
            reorder: 20_000,
            ..Faults::default()
        },
        Faults {
            corrupt: 10_000,
            ..Faults::default()
        },
        Faults {
            resegment: 100_000,
            ..Faults::default()
        },
        Faults {
            loss: 3000,
            duplicate: 3000,
            reorder: 3000,
            corrupt: 3000,
            resegment: 10_000,
        },
    ];
    for card in CardKind::available() {
        let (seeds, len) = if card == CardKind::Model {
            (6, 200_000)
        } else {
            (1, 50_000)
        };
        for faults in each {
            for seed in 0..seeds {
                transfer(card, seed, faults, len);
            }
        }
    }
}
