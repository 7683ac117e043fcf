//! What the card of these rungs takes on a chip, as `make area` has recorded it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was recorded: UltraScale+, block by block, by parameters.
const RECORDED: &str = include_str!("../../rtl/syn/area.json");
/// Bytes of a block RAM: 36 Kbit.
const BLOCK_RAM: f64 = 36.0 * 1024.0 / 8.0;
/// The block that a card has only for rung `firmware`.
const PROCESSOR: &str = "control_clock";
/// The sizes that are compared: flows, with four STags each.
const FLOWS: [u32; 2] = [64, 4096];

#[derive(Clone, Copy, Default, Deserialize)]
struct Block {
    lut: f64,
    ff: f64,
    bram: f64,
}

/// A card on a chip. It has all rungs: one circuit, whichever a queue pair has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Area {
    /// Flows, a queue pair each; four STags for each.
    pub flows: u32,
    /// LUTs of all blocks.
    pub luts: f64,
    /// Their registers.
    pub registers: f64,
    /// Block RAMs of 36 Kbit.
    pub block_rams: f64,
    /// LUTs that only rungs from `crc` on use: framing, CRCs and checks of what comes, placement.
    pub walk_luts: f64,
    /// LUTs of the control processor, which only rung `firmware` needs: they are not in the others.
    pub processor_luts: f64,
    /// Its block RAMs, with 64 KiB.
    pub processor_block_rams: f64,
    /// LUTs that a queue pair more takes.
    pub luts_per_queue_pair: f64,
    /// Bytes of block RAM that it takes, with its four STags.
    pub bytes_per_queue_pair: f64,
}

/// The blocks of a size that are asked for.
fn sum(
    blocks: &BTreeMap<String, Block>,
    width: u32,
    flows: u32,
    wanted: impl Fn(&str) -> bool,
) -> Block {
    let fits = |name: &str| {
        let mut parts = name.split(' ');
        let ours = parts.next() == Some("xcup") && parts.next().is_some_and(&wanted);
        ours && parts.all(|parameter| match parameter.split_once('=') {
            Some(("DATA_W", value)) => value == width.to_string(),
            Some(("NUM_FLOWS", value)) => value == flows.to_string(),
            _ => true,
        })
    };
    let there = blocks.iter().filter(|(name, _)| fits(name));
    there.fold(Block::default(), |sum, (_, block)| Block {
        lut: sum.lut + block.lut,
        ff: sum.ff + block.ff,
        bram: sum.bram + block.bram,
    })
}

/// Of a card of this width in bits; `None`: none was recorded.
pub fn area(width: u32) -> Option<Area> {
    let blocks: BTreeMap<String, Block> = serde_json::from_str(RECORDED).ok()?;
    let [few, many] = FLOWS.map(|flows| sum(&blocks, width, flows, |block| block != PROCESSOR));
    let [walk, processor] =
        ["rx_walk", PROCESSOR].map(|name| sum(&blocks, width, FLOWS[0], |block| block == name));
    let more = f64::from(FLOWS[1] - FLOWS[0]);
    (walk.lut > 0.0).then(|| Area {
        flows: FLOWS[0],
        luts: few.lut,
        registers: few.ff,
        block_rams: few.bram,
        walk_luts: walk.lut,
        processor_luts: processor.lut,
        processor_block_rams: processor.bram,
        luts_per_queue_pair: (many.lut - few.lut) / more,
        bytes_per_queue_pair: (many.bram - few.bram) * BLOCK_RAM / more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_its_area() {
        for width in [128, 256, 512] {
            let area = area(width).unwrap();
            assert!(
                area.luts > 20_000.0 && area.walk_luts < area.luts,
                "{area:?}"
            );
            // Rows of a flow's and of four STags: some hundred bytes, and next to no logic.
            assert!(
                (50.0..1000.0).contains(&area.bytes_per_queue_pair),
                "{area:?}"
            );
            assert!(area.luts_per_queue_pair < 1.0, "{area:?}");
            // A small part of the card.
            assert!(
                (3_000.0..area.luts / 5.0).contains(&area.processor_luts),
                "{area:?}"
            );
        }
        assert_eq!(area(64), None);
    }
}
