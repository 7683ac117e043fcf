//! What engine and card have counted, by name.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Serialize, Serializer};
use weft_hostdrv::Device;

/// Names and values, in the order in which they are to be read.
pub type Counters = Vec<(String, u64)>;

/// As a JSON object.
pub fn object<S: Serializer>(counters: &Counters, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counters.iter().map(|(name, n)| (name, n)))
}

/// These, by name.
pub fn named<const N: usize>(counters: [(&str, u64); N]) -> Counters {
    counters.map(|(name, n)| (name.to_owned(), n)).to_vec()
}

/// The card's counters that are not 0; nothing if they cannot be read.
pub fn of_card(device: &Device) -> Counters {
    let counters = device.counters().ok();
    counters
        .iter()
        .flat_map(|counters| counters.iter())
        .filter(|(_, n)| *n != 0)
        .map(|(name, n)| (name.to_owned(), n.into()))
        .collect()
}

/// Who has done how much of what came in.
#[derive(Serialize)]
struct Counts {
    #[serde(serialize_with = "object")]
    engine: Counters,
    #[serde(serialize_with = "object")]
    card: Counters,
}

/// Writes a file of them.
pub fn write(device: &Device, file: &Path) -> io::Result<()> {
    let engine = device.engine_stats();
    let counts = Counts {
        engine: named([
            ("segments", engine.segments),
            ("segments_raw", engine.segments_raw),
            ("segments_carried", engine.segments_carried),
            ("segments_beyond", engine.segments_beyond),
            ("fpdus_card", engine.fpdus_card),
            ("fpdus_software", engine.fpdus_software),
            ("bytes_copied", engine.bytes_copied),
            ("bytes_replayed", engine.bytes_replayed),
            ("attaches", engine.attaches),
        ]),
        card: of_card(device),
    };
    fs::write(file, serde_json::to_vec_pretty(&counts)?)
}
